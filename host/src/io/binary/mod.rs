//! Binary matrix files (`.wsm`): the arrays of compressed rows as they lie in memory, checksummed, so that reading is
//! little more than copying. docs/binary-matrix.md describes every byte.
//!
//! Nothing is allocated before the sizes in the header agree with one another and with the length of the file. What is
//! read is checked as [`Csr::new`](crate::matrix::Csr::new) checks it, whatever the checksums say.

mod header;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crc32fast::Hasher;

use header::{MAGIC, VERSION};

pub use read::read_matrix;
pub use write::write_matrix;

// The arrays are read and written as they are.
const _: () = assert!(cfg!(target_endian = "little") && size_of::<usize>() == 8);

/// Bytes that one task reads or checks: they stay in the L2 cache meanwhile.
const CHUNK: usize = 1 << 18;

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
    /// The arrays are no matrix of finite numbers.
    #[error("not a valid matrix: {0}; convert its source again")]
    Structure(String),
}

/// Whether a file is to be read as binary: by its first bytes, or by its name where they say nothing.
pub fn is_binary(path: &Path) -> bool {
    has_its_name(path) || starts_with_magic(path)
}

/// Whether a name ends in `.wsm`.
pub fn has_its_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("wsm"))
}

/// What cannot be read at a position, as pipes, has no magic.
fn starts_with_magic(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    path.is_file()
        && File::open(path).is_ok_and(|file| file.read_exact_at(&mut start, 0).is_ok())
        && start == MAGIC
}

/// The checksum of some bytes.
fn checksum(bytes: &[u8]) -> Hasher {
    let mut sum = Hasher::new();
    sum.update(bytes);
    sum
}

/// The checksum of what two sums were made of, one after the other.
fn joined(mut first: Hasher, second: Hasher) -> Hasher {
    first.combine(&second);
    first
}
