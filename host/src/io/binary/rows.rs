//! Reading some rows alone. Whoever has the checksums of all rows' bytes knows those of the file.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use crc32fast::Hasher;

use super::checksum::{checksum, joined};
use super::fault::Fault;
use super::header::{Header, Layout, SECTIONS};
use super::read::{Failure, elements, fill, open, padded};
use crate::error::{Error, Result};
use crate::matrix::Csr;

/// Sections that have a part for each row.
const OF_ROWS: usize = 3;

/// A binary matrix, of which rows can be read.
pub struct RowFile {
    path: PathBuf,
    file: File,
    header: Header,
    layout: Layout,
}

/// Rows as they are in the file.
pub struct SomeRows {
    first: usize,
    n_cols: usize,
    row_ptr: Vec<usize>,
    col_idx: Vec<u32>,
    values: Vec<f64>,
}

/// The checksums of what some rows have in each section, and how many bytes that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sums(pub [(u32, u64); OF_ROWS]);

impl RowFile {
    /// Opens the file and reads its header.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be read; [`Error::Binary`] where it is no binary matrix.
    pub fn open(path: &Path) -> Result<RowFile> {
        let (file, header, layout) = open(path).map_err(|failure| failure.of(path))?;
        Ok(RowFile { path: path.into(), file, header, layout })
    }

    /// Rows of the matrix.
    pub fn n_rows(&self) -> usize {
        self.header.n_rows as usize
    }
    /// Columns of the matrix.
    pub fn n_cols(&self) -> usize {
        self.header.n_cols as usize
    }

    /// What tells this file from another: its sizes and checksums.
    pub fn fingerprint(&self) -> String {
        let Header { n_rows, n_cols, nnz, checksums, .. } = &self.header;
        let sum = checksum(bytemuck::cast_slice(checksums)).finalize();
        format!("{n_rows} x {n_cols} with {nnz} entries and checksum {sum:08x}")
    }

    /// How many entries each of these rows has.
    ///
    /// # Errors
    /// Those of [`RowFile::rows`].
    pub fn lengths(&self, rows: Range<usize>) -> Result<Vec<usize>> {
        let (pointers, _) = self.pointers(&rows).map_err(|failure| failure.of(&self.path))?;
        Ok(pointers.windows(2).map(|p| p[1] - p[0]).collect())
    }

    /// These rows, and the checksums of their bytes.
    ///
    /// # Errors
    /// [`Error::Io`] where they cannot be read, or are larger than the memory; [`Error::Binary`] where they
    /// are no rows.
    pub fn rows(&self, rows: Range<usize>) -> Result<(SomeRows, Sums)> {
        self.read(rows).map_err(|failure| failure.of(&self.path))
    }

    fn read(&self, rows: Range<usize>) -> std::result::Result<(SomeRows, Sums), Failure> {
        let (pointers, of_pointers) = self.pointers(&rows)?;
        let (begin, end) = (pointers[0], pointers[rows.len()]);
        let (col_idx, of_columns) = self.part(1, begin..end)?;
        let (values, of_values) = self.part(2, begin..end)?;
        let row_ptr = pointers.into_iter().map(|p| p - begin).collect();
        let (first, n_cols) = (rows.start, self.n_cols());
        Ok((SomeRows { first, n_cols, row_ptr, col_idx, values }, Sums([of_pointers, of_columns, of_values])))
    }

    /// Where these rows begin and the last one ends; the checksum leaves that end out.
    fn pointers(&self, rows: &Range<usize>) -> std::result::Result<(Vec<usize>, (u32, u64)), Failure> {
        let (mut pointers, sum) = self.part::<usize>(0, rows.clone())?;
        pointers.extend(self.part::<usize>(0, rows.end..rows.end + 1)?.0);
        let is_end = |&p: &usize| p as u64 <= self.header.nnz;
        match pointers.windows(2).position(|p| p[0] > p[1]) {
            None if pointers.last().is_some_and(is_end) => Ok((pointers, sum)),
            None => {
                Err(Fault::Structure(format!("row {}: row_ptr is beyond the last entry", rows.end)).into())
            }
            Some(k) => Err(Fault::Structure(format!("row {}: row_ptr decreases", rows.start + k + 1)).into()),
        }
    }

    /// Some elements of a section, and the checksum of their bytes.
    fn part<T: Pod>(
        &self,
        section: usize,
        which: Range<usize>,
    ) -> std::result::Result<(Vec<T>, (u32, u64)), Failure> {
        let mut part = elements::<T>(which.len())?;
        let at = self.layout.offsets[section] + (which.start * size_of::<T>()) as u64;
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut part);
        let count = bytes.len() as u64;
        let sum = fill(&self.file, bytes, at)?.finalize();
        Ok((part, (sum, count)))
    }

    /// Refuses the file where the checksums of all rows, in their order, are not those that it names.
    ///
    /// # Errors
    /// [`Error::Binary`] with the section.
    pub fn check(&self, sums: &[Sums]) -> Result<()> {
        let check = || {
            for (k, section) in SECTIONS.into_iter().enumerate().take(OF_ROWS) {
                let of_rows = sums.iter().map(|sums| sums.0[k]);
                let sum = of_rows.fold(Hasher::new(), |sum, (next, bytes)| {
                    joined(sum, Hasher::new_with_initial_len(next, bytes))
                });
                // Behind the row pointers is the end of the last row.
                let sum = match k {
                    0 => {
                        let (_, (last, bytes)) = self.part::<usize>(0, self.n_rows()..self.n_rows() + 1)?;
                        joined(sum, Hasher::new_with_initial_len(last, bytes))
                    }
                    _ => sum,
                };
                let sum = padded(sum, &self.file, self.layout.ends[k])?;
                if sum.finalize() != self.header.checksums[k] {
                    return Err(Failure::from(Fault::Checksum(section)));
                }
            }
            Ok(())
        };
        check().map_err(|failure| failure.of(&self.path))
    }

    /// The matrix that rows are.
    ///
    /// # Errors
    /// [`Error::Binary`] where columns do not ascend or are out of range.
    pub fn matrix(&self, rows: SomeRows) -> Result<Csr<f64>> {
        let SomeRows { first, n_cols, row_ptr, col_idx, values } = rows;
        Csr::new(row_ptr.len() - 1, n_cols, row_ptr, col_idx, values).map_err(|error| {
            let fault = Fault::Structure(format!("of the rows from {} on, {error}", first + 1));
            Error::Binary { path: self.path.clone(), fault }
        })
    }
}
