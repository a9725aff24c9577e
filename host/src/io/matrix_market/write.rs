//! Writing: numbers as the shortest decimals that read back to the same bits.

use std::io::{self, Write};
use std::path::Path;

use crate::parallel::*;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::Symmetry;
use crate::error::{Error, Result};
use crate::io::atomic::write_atomically;
use crate::matrix::Csr;
use cuda_std::Real;

/// Entries formatted (and compressed) by one task.
const BLOCK_ENTRIES: usize = 1 << 15;

/// Writes a matrix in coordinate format, gzip-compressed when the name ends in `.gz`.
///
/// Single precision is widened, which is exact, so reading gives back the same numbers either way.
/// `comment` goes below the banner, a `%` before each of its lines. The file appears when it is complete.
///
/// # Errors
/// [`Error::Matrix`] when the matrix does not have the `symmetry` asked for (see [`symmetry_of`]);
/// [`Error::Io`] when the file cannot be written.
pub fn write_matrix<T: Real>(path: &Path, a: &Csr<T>, symmetry: Symmetry, comment: &str) -> Result<()> {
    if symmetry != Symmetry::General
        && let Some((i, j)) = first_unmirrored(a, symmetry)
    {
        return Err(Error::Matrix(format!(
            "{}: the matrix is not {}: entry ({}, {}) has no equal across the diagonal; write it as general",
            path.display(),
            symmetry.word(),
            i + 1,
            j as u64 + 1
        )));
    }
    // Of row i, only the first `stored(i)` entries are written.
    let stored = |i: usize| match symmetry {
        Symmetry::General => a.row_len(i),
        Symmetry::Symmetric => a.row(i).0.partition_point(|&j| j as usize <= i),
        Symmetry::Skew => a.row(i).0.partition_point(|&j| (j as usize) < i),
    };
    let n_stored: usize = (0..a.n_rows()).into_par_iter().map(stored).sum();
    let mut head = format!("%%MatrixMarket matrix coordinate real {}\n", symmetry.word());
    comment.lines().for_each(|line| head += &format!("% {line}\n"));
    head += &format!("{} {} {n_stored}\n", a.n_rows(), a.n_cols());

    let blocks = row_blocks(a.row_ptr());
    write_blocks(path, head, blocks.len(), |block, text| {
        let mut line = Line::default();
        for i in blocks[block].clone() {
            let (cols, values) = a.row(i);
            for (&j, &value) in cols.iter().zip(values).take(stored(i)) {
                line.index(i as u64 + 1, text);
                line.index(j as u64 + 1, text);
                line.value(value, text);
            }
        }
    })
}

/// Writes a vector as an array of one column, gzip-compressed when the name ends in `.gz`.
///
/// Values that are not finite are written as `NaN` and `inf`, which [`super::read_vector`] refuses.
///
/// # Errors
/// [`Error::Io`] when the file cannot be written.
pub fn write_vector<T: Real>(path: &Path, x: &[T]) -> Result<()> {
    write_columns(path, &[x])
}

/// Writes vectors of the same length as the columns of an array, as [`write_vector`] writes one.
///
/// # Errors
/// [`Error::Dimension`] where their lengths differ; [`Error::Io`] when the file cannot be written.
pub fn write_vectors<T: Real>(path: &Path, columns: &[Vec<T>]) -> Result<()> {
    let expected = columns.first().map_or(0, Vec::len);
    if let Some(other) = columns.iter().find(|column| column.len() != expected) {
        return Err(Error::Dimension { what: "column", found: other.len(), expected });
    }
    write_columns(path, &columns.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn write_columns<T: Real>(path: &Path, columns: &[&[T]]) -> Result<()> {
    let rows = columns.first().map_or(0, |column| column.len());
    write_atomically(path, |file| {
        let mut text = Text::new(path, file);
        text.head(head_of_array(rows, columns.len()))?;
        text.columns(columns)
    })
}

fn head_of_array(rows: usize, columns: usize) -> String {
    format!("%%MatrixMarket matrix array real general\n{rows} {columns}\n")
}

/// Writes a vector of `rows` elements that comes in parts, of which no more than one is held, as
/// [`write_vector`] writes one.
///
/// # Errors
/// [`Error::Io`] when the file cannot be written; that of a part that does not come.
pub fn write_parts(path: &Path, rows: usize, parts: impl Iterator<Item = Result<Vec<f64>>>) -> Result<()> {
    let mut missing = None;
    let written = write_atomically(path, |file| {
        let mut text = Text::new(path, file);
        text.head(head_of_array(rows, 1))?;
        for part in parts {
            match part {
                Ok(part) => text.columns(&[&part])?,
                Err(error) => {
                    missing = Some(error);
                    return Err(io::Error::other("a part of it is missing"));
                }
            }
        }
        Ok(())
    });
    missing.map_or(written, Err)
}

/// The strongest symmetry that holds exactly: symmetric, skew-symmetric, or general.
pub fn symmetry_of<T: Real>(a: &Csr<T>) -> Symmetry {
    let holds = |&symmetry: &Symmetry| first_unmirrored(a, symmetry).is_none();
    [Symmetry::Symmetric, Symmetry::Skew].into_iter().find(holds).unwrap_or(Symmetry::General)
}

/// The first entry whose mirror image is missing or different.
///
/// A skew-symmetric matrix must not store its diagonal, for which the file has no place.
fn first_unmirrored<T: Real>(a: &Csr<T>, symmetry: Symmetry) -> Option<(usize, u32)> {
    if a.n_rows() != a.n_cols() {
        return Some((0, 0));
    }
    let mirrored = |i: usize, j: u32, value: T| {
        let (cols, values) = a.row(j as usize);
        cols.binary_search(&(i as u32)).is_ok_and(|k| match symmetry {
            Symmetry::General => true,
            Symmetry::Symmetric => values[k] == value,
            Symmetry::Skew => values[k] == -value && i != j as usize,
        })
    };
    let fault = |i: usize| {
        let (cols, values) = a.row(i);
        cols.iter().zip(values).find(|&(&j, &value)| !mirrored(i, j, value)).map(|(&j, _)| (i, j))
    };
    (0..a.n_rows()).into_par_iter().find_map_first(fault)
}

/// Cuts the rows into blocks of about [`BLOCK_ENTRIES`] entries. An empty row counts as one entry.
fn row_blocks(row_ptr: &[usize]) -> Vec<std::ops::Range<usize>> {
    let n_rows = row_ptr.len() - 1;
    let (mut blocks, mut start) = (Vec::new(), 0);
    for end in 1..=n_rows {
        if end == n_rows || row_ptr[end] - row_ptr[start] + end - start >= BLOCK_ENTRIES {
            blocks.push(start..end);
            start = end;
        }
    }
    blocks
}

/// Writes `head` and the blocks in order.
fn write_blocks(
    path: &Path,
    head: String,
    n_blocks: usize,
    format: impl Fn(usize, &mut Vec<u8>) + Sync,
) -> Result<()> {
    write_atomically(path, |file| {
        let mut text = Text::new(path, file);
        text.head(head)?;
        text.blocks(n_blocks, format)
    })
}

/// A file of text that is being written.
///
/// Compressed, each block is a gzip member of its own. Members in a row make one gzip file (RFC 1952, 2.2).
struct Text<'a> {
    file: &'a mut dyn Write,
    gzip: bool,
}

impl<'a> Text<'a> {
    fn new(path: &Path, file: &'a mut dyn Write) -> Self {
        let gzip = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
        Text { file, gzip }
    }

    fn head(&mut self, head: String) -> io::Result<()> {
        let head = pack(head.into_bytes(), self.gzip)?;
        self.file.write_all(&head)
    }

    /// Writes blocks in order, formatting some at a time in parallel.
    fn blocks(&mut self, n_blocks: usize, format: impl Fn(usize, &mut Vec<u8>) + Sync) -> io::Result<()> {
        let (at_once, gzip) = (4 * rayon::current_num_threads(), self.gzip);
        for first in (0..n_blocks).step_by(at_once) {
            let texts = (first..n_blocks.min(first + at_once)).into_par_iter().map(|block| {
                let mut text = Vec::with_capacity(40 * BLOCK_ENTRIES);
                format(block, &mut text);
                pack(text, gzip)
            });
            for text in texts.collect() {
                self.file.write_all(&text?)?;
            }
        }
        Ok(())
    }

    /// Writes columns of an array, one after the other.
    fn columns<T: Real>(&mut self, columns: &[&[T]]) -> io::Result<()> {
        let blocks: Vec<&[T]> = columns.iter().flat_map(|column| column.chunks(BLOCK_ENTRIES)).collect();
        self.blocks(blocks.len(), |block, text| {
            let mut line = Line::default();
            blocks[block].iter().for_each(|&value| line.value(value, text));
        })
    }
}

fn pack(text: Vec<u8>, gzip: bool) -> io::Result<Vec<u8>> {
    if !gzip {
        return Ok(text);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&text)?;
    encoder.finish()
}

/// Buffers in which numbers are formatted.
#[derive(Default)]
struct Line {
    index: itoa::Buffer,
    value: zmij::Buffer,
}

impl Line {
    fn index(&mut self, index: u64, text: &mut Vec<u8>) {
        text.extend_from_slice(self.index.format(index).as_bytes());
        text.push(b' ');
    }
    /// The last field of a line.
    fn value<T: Real>(&mut self, value: T, text: &mut Vec<u8>) {
        text.extend_from_slice(self.value.format(value.to_f64()).as_bytes());
        text.push(b'\n');
    }
}
