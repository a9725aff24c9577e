//! Reduced SELL of blocks.

use cuda_std::Real;

use super::format::Format;
use super::stored::Stored;
use super::{BlockCsr, Padding, SLICE, Sell};
use crate::error::Result;
use crate::parallel::*;

/// A block matrix in reduced SELL-32-sigma: b^2 arrays of values, one for each place in a block, of one
/// pattern.
///
/// Value (k, l) of entry e is at `(k b + l) stored + e`: the lanes of a warp load neighbouring values.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockSell<T> {
    block: usize,
    pattern: Sell<T>,
    values: Vec<T>,
}

/// Slices of a task.
const GROUP: usize = 16;

/// For each task its part of each plane.
fn groups_of_planes<'a, T>(values: &'a mut [T], slice_ptr: &[u64], planes: usize) -> Vec<Vec<&'a mut [T]>> {
    let ends: Vec<usize> =
        slice_ptr.iter().step_by(GROUP).chain(slice_ptr.last()).map(|&p| p as usize).collect();
    let mut groups: Vec<Vec<&mut [T]>> = ends.windows(2).map(|_| Vec::with_capacity(planes)).collect();
    let mut left = values;
    for _ in 0..planes {
        for (group, ends) in groups.iter_mut().zip(ends.windows(2)) {
            let part;
            (part, left) = left.split_at_mut(ends[1] - ends[0]);
            group.push(part);
        }
    }
    groups
}

impl<T: Real> BlockSell<T> {
    /// Converts; errors as [`Sell::from_csr`] has them, for the rows of blocks.
    pub fn from_blocks(a: &BlockCsr<T>, sigma: usize) -> Result<Self> {
        let b = a.block();
        let pattern = Sell::from_csr(&a.plane(0, 0), sigma)?;
        let mut values = vec![T::ZERO; pattern.stored() * b * b];
        let groups = groups_of_planes(&mut values, pattern.slice_ptr(), b * b);
        groups.into_par_iter().enumerate().for_each(|(group, mut planes)| {
            let first = pattern.slice_ptr()[group * GROUP] as usize;
            let rows = group * GROUP * SLICE..((group + 1) * GROUP * SLICE).min(a.block_rows());
            for position in rows {
                let row = pattern.permutation().map_or(position, |rows| rows[position] as usize);
                let start = pattern.slice_ptr()[position / SLICE] as usize - first + position % SLICE;
                for (entry, block) in a.row(row).1.chunks_exact(b * b).enumerate() {
                    for (plane, &value) in planes.iter_mut().zip(block) {
                        plane[start + SLICE * entry] = value;
                    }
                }
            }
        });
        Ok(BlockSell { block: b, pattern, values })
    }

    /// Unknowns a node.
    pub fn block(&self) -> usize {
        self.block
    }
    /// The (0, 0) values of the blocks: rows and columns are those of blocks.
    pub fn pattern(&self) -> &Sell<T> {
        &self.pattern
    }
    /// The values, b^2 planes.
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// Stored blocks, and those of the matrix.
    pub fn padding(&self) -> Padding {
        self.pattern.padding()
    }
}

impl<T: Real> Stored<T> for BlockSell<T> {
    fn format(&self) -> Format {
        Format::BlockSell(self.block)
    }
    fn sigma(&self) -> usize {
        self.pattern.sigma()
    }
    fn n_rows(&self) -> usize {
        self.block * self.pattern.n_rows()
    }
    fn n_cols(&self) -> usize {
        self.block * self.pattern.n_cols()
    }
    fn nnz(&self) -> usize {
        self.block.pow(2) * self.pattern.nnz()
    }
    fn stored(&self) -> usize {
        self.values.len()
    }
    fn pointer_bytes(&self) -> u64 {
        self.pattern.pointer_bytes()
    }
    fn for_each_row(&self, x: &[T], row: &mut dyn FnMut(usize, T)) {
        let (b, pattern) = (self.block, &self.pattern);
        for p in 0..pattern.n_rows() {
            let slice = p / SLICE;
            let entries =
                pattern.slice_ptr()[slice] as usize + p % SLICE..pattern.slice_ptr()[slice + 1] as usize;
            let i = pattern.permutation().map_or(p, |permutation| permutation[p] as usize);
            for k in 0..b {
                let mut sum = T::ZERO;
                for e in entries.clone().step_by(SLICE) {
                    for l in 0..b {
                        let value = self.values[(k * b + l) * pattern.stored() + e];
                        sum += value * x[pattern.col_idx()[e] as usize * b + l];
                    }
                }
                row(i * b + k, sum);
            }
        }
    }
    fn window(&self) -> usize {
        self.block * self.pattern.sigma().max(SLICE)
    }
    fn multiply(&self, x: &[T], first: usize, y: &mut [T]) {
        let (b, pattern) = (self.block, &self.pattern);
        for position in first / b..(first + y.len()) / b {
            let slice = position / SLICE;
            let entries = pattern.slice_ptr()[slice] as usize + position % SLICE
                ..pattern.slice_ptr()[slice + 1] as usize;
            let row = pattern.permutation().map_or(position, |rows| rows[position] as usize);
            let y = &mut y[row * b - first..][..b];
            y.fill(T::ZERO);
            for e in entries.step_by(SLICE) {
                let x = &x[pattern.col_idx()[e] as usize * b..][..b];
                for (k, y) in y.iter_mut().enumerate() {
                    for (l, &x) in x.iter().enumerate() {
                        *y += self.values[(k * b + l) * pattern.stored() + e] * x;
                    }
                }
            }
        }
    }
}
