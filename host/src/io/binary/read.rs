//! Reading: every thread reads pieces, and computes a piece's checksum while it is in the cache.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use bytemuck::Pod;
use bytemuck::allocation::try_zeroed_vec;
use crc32fast::Hasher;
use rayon::prelude::*;

use super::checksum::{CHUNK, checksum, joined};
use super::fault::Fault;
use super::header::{self, Header, SECTIONS};
use crate::error::{Error, Result};
use crate::io::summary::{Field, Summary, Symmetry};
use crate::matrix::Csr;
use crate::matrix::check::{self, check_finite};
use crate::pages::in_large_pages;

/// Bytes between two reports of progress.
const BATCH: usize = 128 * CHUNK;

/// What goes wrong within a file.
pub(super) enum Failure {
    Io(io::Error),
    Fault(Fault),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Failure::Fault(fault)
    }
}

/// Reads a matrix. `progress(bytes done, bytes in all)` is called now and then.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read, or is larger than the memory; [`Error::Binary`] when it is not
/// what [`write_matrix`](super::write_matrix) wrote.
pub fn read_matrix(path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(Csr<f64>, Summary)> {
    read(path, progress).map_err(|failure| failure.of(path))
}

impl Failure {
    /// The error of a file.
    pub fn of(self, path: &Path) -> Error {
        match self {
            Failure::Io(source) => Error::io("read", path, source),
            Failure::Fault(fault) => Error::Binary { path: path.into(), fault },
        }
    }
}

/// A file and its header, which agrees with its length.
pub(super) fn open(path: &Path) -> std::result::Result<(File, Header, header::Layout), Failure> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut start = [0; header::SIZE];
    let start = &mut start[..length.min(header::SIZE as u64) as usize];
    file.read_exact_at(start, 0)?;
    let (header, layout) = Header::read(start, length)?;
    Ok((file, header, layout))
}

/// Fills `bytes` with those from `at` on, and gives their checksum.
pub(super) fn fill(file: &File, bytes: &mut [u8], at: u64) -> io::Result<Hasher> {
    let chunks = bytes.par_chunks_mut(CHUNK).enumerate().map(|(c, chunk)| {
        file.read_exact_at(chunk, at + (c * CHUNK) as u64)?;
        Ok::<_, io::Error>(checksum(chunk))
    });
    chunks.try_reduce(Hasher::new, |first, second| Ok(joined(first, second)))
}

/// The checksum of a section that ends there and of its padding.
pub(super) fn padded(mut sum: Hasher, file: &File, end: u64) -> io::Result<Hasher> {
    let mut padding = [0; header::ALIGN as usize];
    let padding = &mut padding[..(end.next_multiple_of(header::ALIGN) - end) as usize];
    file.read_exact_at(padding, end)?;
    sum.update(padding);
    Ok(sum)
}

/// So many elements, in large pages, to be filled.
pub(super) fn elements<T: Pod>(count: usize) -> io::Result<Vec<T>> {
    let elements = try_zeroed_vec(count).map_err(|()| io::Error::from(io::ErrorKind::OutOfMemory))?;
    Ok(in_large_pages(elements))
}

fn read(
    path: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> std::result::Result<(Csr<f64>, Summary), Failure> {
    let (file, header, layout) = open(path)?;
    let length = layout.file_len;
    let mut sections = Sections { file, header: &header, layout, progress: &mut *progress };
    let row_ptr = sections.read(0)?;
    let col_idx = sections.read(1)?;
    let values = sections.read(2)?;
    let comment = sections.read(3)?;
    progress(length, length);

    let invalid = |what: String| Fault::Structure(what);
    let (n_rows, n_cols) = (header.n_rows as usize, header.n_cols as usize);
    let matrix =
        Csr::new(n_rows, n_cols, row_ptr, col_idx, values).map_err(|error| invalid(error.to_string()))?;
    check_finite(&matrix).map_err(|error| invalid(error.to_string()))?;
    check_symmetry(&matrix, header.symmetry).map_err(invalid)?;
    let comment = String::from_utf8(comment).map_err(|_| invalid("the comment is not UTF-8".into()))?;
    let summary = Summary {
        layout: None,
        field: Field::Real,
        symmetry: header.symmetry,
        entries_in_file: header.nnz,
        duplicates: 0,
        explicit_zeros: matrix.values().par_iter().with_min_len(CHUNK).filter(|&&v| v == 0.0).count() as u64,
        bytes: length,
        comment,
    };
    Ok((matrix, summary))
}

/// What contradicts the symmetry that a header claims, to the last bit.
fn check_symmetry(a: &Csr<f64>, claimed: Symmetry) -> std::result::Result<(), String> {
    let fault = match claimed {
        Symmetry::General => return Ok(()),
        Symmetry::Symmetric => match a.is_symmetric(0.0) {
            check::Symmetry::Symmetric => return Ok(()),
            fault => fault.to_string(),
        },
        Symmetry::Skew => {
            let differs = |i: usize, j: u32, v: f64| a.get(j as usize, i).unwrap_or(0.0) != -v;
            let of_row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).any(|(&j, &v)| differs(i, j, v));
            match (0..a.n_rows()).into_par_iter().with_min_len(CHUNK).find_first(|&i| of_row(i)) {
                None => return Ok(()),
                Some(i) => format!("row {} is not that of the negative transpose", i + 1),
            }
        }
    };
    Err(format!("{}, but {fault}", claimed.word()))
}

/// The sections behind the header.
struct Sections<'a> {
    file: File,
    header: &'a Header,
    layout: header::Layout,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl Sections<'_> {
    /// Reads section `k`.
    fn read<T: Pod>(&mut self, k: usize) -> std::result::Result<Vec<T>, Failure> {
        let header::Layout { offsets, ends, file_len } = self.layout;
        let (start, end) = (offsets[k], ends[k]);
        let mut elements = elements((end - start) as usize / size_of::<T>())?;
        let (mut at, mut sum) = (start, Hasher::new());
        for batch in bytemuck::cast_slice_mut::<T, u8>(&mut elements).chunks_mut(BATCH) {
            sum = joined(sum, fill(&self.file, batch, at)?);
            at += batch.len() as u64;
            (self.progress)(at, file_len);
        }
        let sum = padded(sum, &self.file, end)?;
        if sum.finalize() != self.header.checksums[k] {
            return Err(Fault::Checksum(SECTIONS[k]).into());
        }
        Ok(elements)
    }
}
