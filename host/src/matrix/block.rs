//! Matrices of blocks, and their compressed row storage: one column index for b x b values, with b unknowns a
//! node.
//!
//! The bidomain equations have two unknowns a node, the extracellular potential and the transmembrane voltage
//! (Rosenberger and Haase 2017, section 8); elasticity has three. Unknown `b i + k` is the k-th of node i.

use super::csr::row_pointer_bytes;
use super::format::Format;
use super::lanes::prefetch;
use super::padding::sell_padding_of;
use super::stored::Stored;
use super::{Csr, Padding, SLICE};
use crate::error::{Error, Result};
use crate::parallel::*;
use cuda_std::Real;

/// The block sizes that there are kernels for.
pub const BLOCK_SIZES: std::ops::RangeInclusive<usize> = 2..=3;

/// Block rows of one task.
const CHUNK: usize = 512;

/// A block matrix in compressed row storage; b^2 values a block, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockCsr<T> {
    block: usize,
    n_rows: usize,
    n_cols: usize,
    row_ptr: Vec<usize>,
    col_idx: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> BlockCsr<T> {
    /// The blocks of `a` with an entry stored; the other values of such a block are 0.
    ///
    /// [`Error::Option`] for a block size beyond [`BLOCK_SIZES`], [`Error::Matrix`] where the rows or columns
    /// are not whole blocks.
    pub fn from_csr(a: &Csr<T>, block: usize) -> Result<Self> {
        let lengths = block_lengths(a, block)?;
        let (n_rows, n_cols) = (a.n_rows() / block, a.n_cols() / block);
        let mut row_ptr = vec![0; n_rows + 1];
        for (i, &length) in lengths.iter().enumerate() {
            row_ptr[i + 1] = row_ptr[i] + length as usize;
        }
        let mut col_idx = vec![0; row_ptr[n_rows]];
        let mut values = vec![T::ZERO; col_idx.len() * block * block];
        for_each_block_row(block, &row_ptr, &mut col_idx, &mut values, |i, columns, values| {
            let mut merged = Merged::of(a, block, i);
            for (column, values) in columns.iter_mut().zip(values.chunks_exact_mut(block * block)) {
                let next = merged.next(|k, l, v| values[k * block + l] = v);
                *column = next.expect("a block for each that was counted");
            }
        });
        Ok(BlockCsr { block, n_rows, n_cols, row_ptr, col_idx, values })
    }

    /// The block matrix of b^2 matrices of one pattern, [plane](Self::plane) after plane, values rounded to
    /// `T`.
    pub(crate) fn from_planes<U: Real, M: AsRef<Csr<U>> + Sync>(planes: &[M]) -> Self {
        let block = planes.len().isqrt();
        let first = planes[0].as_ref();
        let (row_ptr, mut col_idx) = (first.row_ptr().to_vec(), first.col_idx().to_vec());
        let mut values = vec![T::ZERO; col_idx.len() * block * block];
        for_each_block_row(block, &row_ptr, &mut col_idx, &mut values, |i, _, values| {
            for (kl, plane) in planes.iter().enumerate() {
                for (place, v) in plane.as_ref().row(i).1.iter().enumerate() {
                    values[place * block * block + kl] = T::from_f64(v.to_f64());
                }
            }
        });
        BlockCsr { block, n_rows: first.n_rows(), n_cols: first.n_cols(), row_ptr, col_idx, values }
    }

    /// Back to CRS, all values of every block.
    pub fn to_csr(&self) -> Csr<T> {
        let b = self.block;
        Csr::from_rows(
            b * self.n_rows,
            b * self.n_cols,
            |row| b * (self.row_ptr[row / b + 1] - self.row_ptr[row / b]),
            |row, columns, values| {
                let (block_columns, blocks) = self.row(row / b);
                for (place, &j) in block_columns.iter().enumerate() {
                    for l in 0..b {
                        columns[place * b + l] = j * b as u32 + l as u32;
                        values[place * b + l] = blocks[(place * b + row % b) * b + l];
                    }
                }
            },
        )
    }

    /// The matrix of the (k, l) entries of the blocks.
    pub fn plane(&self, k: usize, l: usize) -> Csr<T> {
        let b = self.block;
        let values = self.values.par_chunks(b * b).with_min_len(CHUNK).map(|v| v[k * b + l]).collect();
        let (row_ptr, col_idx) = (self.row_ptr.clone(), self.col_idx.clone());
        Csr::from_valid_parts(self.n_rows, self.n_cols, row_ptr, col_idx, values)
    }

    /// Unknowns a node.
    pub fn block(&self) -> usize {
        self.block
    }
    /// Block rows.
    pub fn block_rows(&self) -> usize {
        self.n_rows
    }
    /// Block columns.
    pub fn block_cols(&self) -> usize {
        self.n_cols
    }
    /// Stored blocks.
    pub fn blocks(&self) -> usize {
        self.col_idx.len()
    }
    /// Where each block row starts; one more than block rows.
    pub fn row_ptr(&self) -> &[usize] {
        &self.row_ptr
    }
    /// Block column of each block.
    pub fn col_idx(&self) -> &[u32] {
        &self.col_idx
    }
    /// The values, b^2 a block.
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// Block columns and values of block row `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.row_ptr[i]..self.row_ptr[i + 1];
        let square = self.block * self.block;
        (&self.col_idx[range.clone()], &self.values[square * range.start..square * range.end])
    }
}

/// The diagonal blocks of a matrix in CRS, `block^2` values each; 0 where no entry is stored.
pub fn diagonal_blocks<T: Real>(a: &Csr<T>, block: usize) -> Vec<T> {
    let mut blocks = vec![T::ZERO; a.n_rows() / block * block * block];
    blocks.par_chunks_mut(block).with_min_len(CHUNK).enumerate().for_each(|(i, row)| {
        let first = i - i % block;
        let (columns, values) = a.row(i);
        let start = columns.partition_point(|&j| (j as usize) < first);
        for (&j, &v) in columns[start..].iter().zip(&values[start..]) {
            let Some(place) = row.get_mut(j as usize - first) else { break };
            *place = v;
        }
    });
    blocks
}

/// [`Error::Option`] and [`Error::Matrix`] as [`BlockCsr::from_csr`] says.
pub fn check_block<T: Real>(a: &Csr<T>, block: usize) -> Result<()> {
    check_sizes((a.n_rows(), a.n_cols()), block)
}

/// The same of so many rows and columns.
pub(crate) fn check_sizes((n_rows, n_cols): (usize, usize), block: usize) -> Result<()> {
    if !BLOCK_SIZES.contains(&block) {
        return Err(Error::Option(format!(
            "block size {block}; there are kernels for 2 and 3 unknowns a node"
        )));
    }
    for (n, what) in [(n_rows, "rows"), (n_cols, "columns")] {
        if !n.is_multiple_of(block) {
            return Err(Error::Matrix(format!(
                "{n} {what} are not whole blocks of {block}; number the unknowns node by node, {block} a node"
            )));
        }
    }
    Ok(())
}

/// The values that a format of blocks stores, and the nonzeros of `a` among them. The others are zeros within
/// blocks and, with `sigma`, the padding of reduced SELL. Errors are those of [`check_block`] and
/// [`sell_padding`](super::sell_padding).
pub fn block_padding<T: Real>(a: &Csr<T>, block: usize, sigma: Option<usize>) -> Result<Padding> {
    let lengths = block_lengths(a, block)?;
    let blocks = blocks_in(&lengths);
    let stored = match sigma {
        None => blocks,
        Some(sigma) => sell_padding_of(lengths, blocks, sigma)?.stored,
    };
    Ok(Padding { stored: stored * (block * block) as u64, nnz: a.nnz() as u64 })
}

/// Blocks of each block row with an entry stored. Errors are those of [`check_block`].
pub(crate) fn block_lengths<T: Real>(a: &Csr<T>, block: usize) -> Result<Vec<u32>> {
    check_block(a, block)?;
    let length = |i: usize| {
        let mut merged = Merged::of(a, block, i);
        std::iter::from_fn(|| merged.next(|_, _, _| ())).count() as u32
    };
    Ok((0..a.n_rows() / block).into_par_iter().with_min_len(CHUNK).map(length).collect())
}

/// Blocks of all block rows.
pub(crate) fn blocks_in(lengths: &[u32]) -> u64 {
    lengths.iter().map(|&length| u64::from(length)).sum()
}

/// What is left of the rows of a block row, whose entries are merged into blocks.
struct Merged<'a, T> {
    block: usize,
    rows: [(&'a [u32], &'a [T]); *BLOCK_SIZES.end()],
}

impl<'a, T: Real> Merged<'a, T> {
    fn of(a: &'a Csr<T>, block: usize, i: usize) -> Self {
        let row = |k: usize| if k < block { a.row(block * i + k) } else { (&[][..], &[][..]) };
        Merged { block, rows: std::array::from_fn(row) }
    }

    /// The column of the next block, whose entries `put(k, l, value)` gets.
    fn next(&mut self, mut put: impl FnMut(usize, usize, T)) -> Option<u32> {
        let block = self.block as u32;
        let column = self.rows.iter().filter_map(|(columns, _)| columns.first()).min()? / block;
        for (k, (columns, values)) in self.rows.iter_mut().enumerate() {
            while let Some(&j) = columns.first().filter(|&&j| j - column * block < block) {
                put(k, (j - column * block) as usize, values[0]);
                (*columns, *values) = (&columns[1..], &values[1..]);
            }
        }
        Some(column)
    }
}

/// Calls `f(i, block columns, values)` for every block row, in parallel.
fn for_each_block_row<T: Real>(
    block: usize,
    row_ptr: &[usize],
    col_idx: &mut [u32],
    values: &mut [T],
    f: impl Fn(usize, &mut [u32], &mut [T]) + Sync,
) {
    let square = block * block;
    let n_rows = row_ptr.len() - 1;
    let (mut columns_left, mut values_left) = (col_idx, values);
    let mut chunks = Vec::with_capacity(n_rows.div_ceil(CHUNK));
    for start in (0..n_rows).step_by(CHUNK) {
        let end = (start + CHUNK).min(n_rows);
        let (columns, values);
        (columns, columns_left) = columns_left.split_at_mut(row_ptr[end] - row_ptr[start]);
        (values, values_left) = values_left.split_at_mut(square * (row_ptr[end] - row_ptr[start]));
        chunks.push((start..end, columns, values));
    }
    chunks.into_par_iter().for_each(|(rows, columns, values)| {
        let first = row_ptr[rows.start];
        for i in rows {
            let range = row_ptr[i] - first..row_ptr[i + 1] - first;
            let place = square * range.start..square * range.end;
            f(i, &mut columns[range], &mut values[place]);
        }
    });
}

impl<T: Real> Stored<T> for BlockCsr<T> {
    fn format(&self) -> Format {
        Format::BlockCrs(self.block)
    }
    fn n_rows(&self) -> usize {
        self.block * self.n_rows
    }
    fn n_cols(&self) -> usize {
        self.block * self.n_cols
    }
    fn nnz(&self) -> usize {
        self.values.len()
    }
    fn stored(&self) -> usize {
        self.values.len()
    }
    fn pointer_bytes(&self) -> u64 {
        row_pointer_bytes(&self.row_ptr)
    }
    fn for_each_row(&self, x: &[T], row: &mut dyn FnMut(usize, T)) {
        let b = self.block;
        for i in 0..b * self.n_rows {
            let (columns, values) = self.row(i / b);
            let mut sum = T::ZERO;
            for (place, &j) in columns.iter().enumerate() {
                let values = &values[(place * b + i % b) * b..][..b];
                sum = values.iter().zip(&x[j as usize * b..]).fold(sum, |sum, (&v, &x)| sum + v * x);
            }
            row(i, sum);
        }
    }
    fn window(&self) -> usize {
        self.block * SLICE
    }
    fn multiply(&self, x: &[T], first: usize, y: &mut [T]) {
        match self.block {
            2 => multiply_blocks::<T, 2>(self, x, first, y),
            _ => multiply_blocks::<T, 3>(self, x, first, y),
        }
    }
}

fn multiply_blocks<T: Real, const B: usize>(a: &BlockCsr<T>, x: &[T], first: usize, y: &mut [T]) {
    for (i, y) in (first / B..).zip(y.chunks_exact_mut(B)) {
        let (columns, values) = a.row(i);
        // A sum for each place in a block: as many independent ones as registers are wide.
        let mut sums = [[T::ZERO; B]; B];
        for (&c, v) in columns.iter().zip(values.chunks_exact(B * B)) {
            prefetch(&v[0]);
            // SAFETY: construction checked every block column against n_cols, B times which is x.len().
            let x = unsafe { x.get_unchecked(c as usize * B..(c as usize + 1) * B) };
            for k in 0..B {
                for l in 0..B {
                    sums[k][l] += v[k * B + l] * x[l];
                }
            }
        }
        for (y, sums) in y.iter_mut().zip(sums) {
            *y = sums.into_iter().sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::random::{below, uniform};

    /// Blocks that are full, half full, and with a value in one corner; an empty block row.
    fn sample(block: usize) -> Csr<f64> {
        let n = 23 * block;
        let stored = |i: usize, j: usize| {
            i / block != 7
                && (i == j || below(3, ((i / block) * n + j / block) as u64, 5) == 0 && (i + j) % 3 != 1)
        };
        let columns = |i: usize| (0..n).filter(move |&j| stored(i, j));
        Csr::from_rows(
            n,
            n,
            |i| columns(i).count(),
            |i, to, values| {
                for ((to, v), j) in to.iter_mut().zip(values).zip(columns(i)) {
                    (*to, *v) = (j as u32, uniform(1, (i * n + j) as u64) - 0.4);
                }
            },
        )
    }

    #[test]
    fn blocks_hold_every_entry_and_zeros() {
        for b in BLOCK_SIZES {
            let a = sample(b);
            let blocks = BlockCsr::from_csr(&a, b).unwrap();
            let back = blocks.to_csr();
            assert_eq!(blocks.blocks() * b * b, back.nnz());
            assert!(back.nnz() > a.nnz());
            for i in 0..a.n_rows() {
                for j in 0..a.n_cols() {
                    assert_eq!(back.get(i, j).unwrap_or(0.0), a.get(i, j).unwrap_or(0.0), "({i}, {j})");
                    let plane = blocks.plane(i % b, j % b);
                    assert_eq!(plane.get(i / b, j / b).unwrap_or(0.0), a.get(i, j).unwrap_or(0.0));
                }
            }
            let planes: Vec<std::sync::Arc<Csr<f64>>> =
                (0..b * b).map(|kl| std::sync::Arc::new(blocks.plane(kl / b, kl % b))).collect();
            assert_eq!(BlockCsr::from_planes(&planes), blocks);
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        let a = Csr::<f64>::identity(7);
        let message = |block| BlockCsr::from_csr(&a, block).unwrap_err().to_string();
        assert!(message(2).starts_with("7 rows are not whole blocks of 2"));
        assert!(message(4).starts_with("block size 4;") && message(0).starts_with("block size 0;"));
    }
}
