//! What can be wrong with a file.

use std::fmt;

/// The version that is written and read.
pub(super) const VERSION: u32 = 1;

/// A part of a file with a checksum of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Sizes, offsets and checksums.
    Header,
    /// Where each row starts.
    RowPtr,
    /// The column of each entry.
    ColIdx,
    /// The value of each entry.
    Values,
    /// Where the matrix is from.
    Comment,
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Section::Header => "the header",
            Section::RowPtr => "the row pointers",
            Section::ColIdx => "the columns",
            Section::Values => "the values",
            Section::Comment => "the comment",
        })
    }
}

/// Why a file is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// It starts with other bytes.
    #[error("not a binary matrix: it does not start as files of `warpsolve convert` and `gen` do")]
    Format,
    /// It is of another version of the format.
    #[error(
        "a binary matrix of version {0}, but this program reads version {VERSION}; convert its source again"
    )]
    Version(u32),
    /// It ends too early.
    #[error("cut short: {found} bytes of at least {expected}; copy or convert it again")]
    Truncated {
        /// Bytes that it should have.
        expected: u64,
        /// Bytes that it has.
        found: u64,
    },
    /// Something was changed after it was written.
    #[error("damaged: the checksum of {0} does not agree; copy or convert it again")]
    Checksum(Section),
    /// The header contradicts itself, or the file.
    #[error("not a valid binary matrix: {0}; convert its source again")]
    Sizes(String),
    /// The arrays do not make a matrix of finite numbers.
    #[error("not a valid matrix: {0}; convert its source again")]
    Structure(String),
}
