//! Writing. Checksums are computed first, because they are in the header.

use std::path::Path;

use crate::parallel::*;
use crc32fast::Hasher;

use super::checksum::{CHUNK, checksum, joined};
use super::header::{ALIGN, Header};
use crate::error::{Error, Result};
use crate::io::atomic::write_atomically;
use crate::io::summary::Symmetry;
use crate::matrix::Csr;

/// Padding behind a section.
const ZEROS: [u8; ALIGN as usize] = [0; ALIGN as usize];

/// Writes a matrix in binary, with both triangles, its `symmetry` (see
/// [`symmetry_of`](crate::io::matrix_market::symmetry_of)) and a comment.
///
/// The file appears when it is complete.
///
/// # Errors
/// [`Error::Io`] when the file cannot be written.
pub fn write_matrix(path: &Path, a: &Csr<f64>, symmetry: Symmetry, comment: &str) -> Result<()> {
    let sections: [&[u8]; 4] = [
        bytemuck::cast_slice(a.row_ptr()),
        bytemuck::cast_slice(a.col_idx()),
        bytemuck::cast_slice(a.values()),
        comment.as_bytes(),
    ];
    let header = Header {
        symmetry,
        n_rows: a.n_rows() as u64,
        n_cols: a.n_cols() as u64,
        nnz: a.nnz() as u64,
        comment_len: comment.len() as u64,
        checksums: sections.map(padded_checksum),
    };
    let Some(layout) = header.layout() else {
        return Err(Error::Matrix("the matrix has more than 2^64 bytes".into()));
    };
    write_atomically(path, |file| {
        file.write_all(&header.to_bytes(&layout))?;
        for section in sections {
            file.write_all(section)?;
            file.write_all(padding(section.len()))?;
        }
        Ok(())
    })
}

/// The padding of a section of `length` bytes.
fn padding(length: usize) -> &'static [u8] {
    &ZEROS[..length.next_multiple_of(ZEROS.len()) - length]
}

/// The checksum of a section and its padding.
fn padded_checksum(section: &[u8]) -> u32 {
    let sum = section.par_chunks(CHUNK).map(checksum).reduce(Hasher::new, joined);
    joined(sum, checksum(padding(section.len()))).finalize()
}
