//! The first 128 bytes: what is in the file, and where.

use super::checksum::checksum;
use super::fault::{Fault, Section, VERSION};
use crate::io::summary::Symmetry;

/// The first bytes. Like PNG's, they change when a transfer treats the file as text.
pub(super) const MAGIC: [u8; 8] = *b"\x89WSM\r\n\x1a\n";
/// Bytes of the header.
pub(super) const SIZE: usize = 128;
/// Every section starts at a multiple of this.
pub(super) const ALIGN: u64 = 64;
/// The sections behind the header, in their order.
pub(super) const SECTIONS: [Section; 4] =
    [Section::RowPtr, Section::ColIdx, Section::Values, Section::Comment];

/// Value type 1 (f64), 8 bytes a row pointer, 4 a column.
const TYPES: [u8; 3] = [1, 8, 4];
/// In the order of their codes.
const SYMMETRIES: [Symmetry; 3] = [Symmetry::General, Symmetry::Symmetric, Symmetry::Skew];

// Where the fields are.
const AT_VERSION: usize = 8;
const AT_SYMMETRY: usize = 12;
const AT_TYPES: usize = 13;
const AT_SIZES: usize = 16;
const AT_OFFSETS: usize = 40;
const AT_COMMENT_LEN: usize = 72;
const AT_FILE_LEN: usize = 80;
const AT_CHECKSUMS: usize = 88;
const AT_OWN_CHECKSUM: usize = 124;

/// The fields of a header from which the others follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub symmetry: Symmetry,
    pub n_rows: u64,
    pub n_cols: u64,
    pub nnz: u64,
    pub comment_len: u64,
    /// One for each section.
    pub checksums: [u32; 4],
}

/// Where sections are, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// Where each starts.
    pub offsets: [u64; 4],
    /// Where each ends, before its padding.
    pub ends: [u64; 4],
    /// The length of the file.
    pub file_len: u64,
}

impl Header {
    /// Where the sections are; `None` beyond 2^64 bytes.
    pub fn layout(&self) -> Option<Layout> {
        let lengths = [
            self.n_rows.checked_add(1)?.checked_mul(8)?,
            self.nnz.checked_mul(4)?,
            self.nnz.checked_mul(8)?,
            self.comment_len,
        ];
        let (mut offsets, mut ends, mut next) = ([0; 4], [0; 4], SIZE as u64);
        for (k, length) in lengths.into_iter().enumerate() {
            offsets[k] = next;
            ends[k] = next.checked_add(length)?;
            next = ends[k].checked_next_multiple_of(ALIGN)?;
        }
        Some(Layout { offsets, ends, file_len: next })
    }

    /// The header's bytes, for a file of this layout.
    pub fn to_bytes(&self, layout: &Layout) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC);
        put(AT_VERSION, &VERSION.to_le_bytes());
        let code = SYMMETRIES.iter().position(|&symmetry| symmetry == self.symmetry);
        put(AT_SYMMETRY, &[code.unwrap_or_default() as u8]);
        put(AT_TYPES, &TYPES);
        for (k, size) in [self.n_rows, self.n_cols, self.nnz].into_iter().enumerate() {
            put(AT_SIZES + 8 * k, &size.to_le_bytes());
        }
        for k in 0..SECTIONS.len() {
            put(AT_OFFSETS + 8 * k, &layout.offsets[k].to_le_bytes());
            put(AT_CHECKSUMS + 4 * k, &self.checksums[k].to_le_bytes());
        }
        put(AT_COMMENT_LEN, &self.comment_len.to_le_bytes());
        put(AT_FILE_LEN, &layout.file_len.to_le_bytes());
        let own = checksum(&bytes[..AT_OWN_CHECKSUM]).finalize();
        bytes[AT_OWN_CHECKSUM..].copy_from_slice(&own.to_le_bytes());
        bytes
    }

    /// Reads the header of a file of `length` bytes. `bytes` are the first [`SIZE`] of them, or all where
    /// there are fewer.
    pub fn read(bytes: &[u8], length: u64) -> Result<(Header, Layout), Fault> {
        if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) {
            return Err(Fault::Format);
        }
        let Some(bytes) = bytes.first_chunk::<SIZE>() else {
            return Err(Fault::Truncated { expected: SIZE as u64, found: length });
        };
        let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|k| bytes[at + k]));
        let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| bytes[at + k]));
        // Another version may have anything behind its number.
        if u32_at(AT_VERSION) != VERSION {
            return Err(Fault::Version(u32_at(AT_VERSION)));
        }
        if checksum(&bytes[..AT_OWN_CHECKSUM]).finalize() != u32_at(AT_OWN_CHECKSUM) {
            return Err(Fault::Checksum(Section::Header));
        }

        let contradiction = |what: String| Err(Fault::Sizes(what));
        let code = bytes[AT_SYMMETRY];
        let Some(&symmetry) = SYMMETRIES.get(usize::from(code)) else {
            return contradiction(format!("symmetry {code}; 0 to 2 are known"));
        };
        if bytes[AT_TYPES..AT_TYPES + 3] != TYPES {
            let [value, row_ptr, col_idx] = std::array::from_fn(|k| bytes[AT_TYPES + k]);
            return contradiction(format!(
                "values of type {value}, {row_ptr} bytes a row pointer and {col_idx} a column, not 1, 8 and 4"
            ));
        }
        let header = Header {
            symmetry,
            n_rows: u64_at(AT_SIZES),
            n_cols: u64_at(AT_SIZES + 8),
            nnz: u64_at(AT_SIZES + 16),
            comment_len: u64_at(AT_COMMENT_LEN),
            checksums: std::array::from_fn(|k| u32_at(AT_CHECKSUMS + 4 * k)),
        };
        let Header { n_rows, n_cols, nnz, .. } = header;
        if n_rows.max(n_cols) > u32::MAX as u64 {
            return contradiction(format!("{n_rows} x {n_cols}: more than 32-bit indices reach"));
        }
        if symmetry != Symmetry::General && n_rows != n_cols {
            return contradiction(format!("{n_rows} x {n_cols}, but {}", symmetry.word()));
        }
        let offsets = std::array::from_fn(|k| u64_at(AT_OFFSETS + 8 * k));
        match header.layout() {
            Some(layout) if layout.offsets == offsets && layout.file_len == u64_at(AT_FILE_LEN) => {
                match length {
                    found if found < layout.file_len => {
                        Err(Fault::Truncated { expected: layout.file_len, found })
                    }
                    found if found > layout.file_len => {
                        contradiction(format!("{} bytes behind its end", found - layout.file_len))
                    }
                    _ => Ok((header, layout)),
                }
            }
            _ => {
                contradiction(format!("its sections are not where {n_rows} rows and {nnz} entries put them"))
            }
        }
    }
}
