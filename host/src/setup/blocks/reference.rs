//! [`BlockMatrices`] as they are defined.

use std::array::from_fn;
use std::collections::BTreeSet;
use std::sync::Arc;

use arithmetic::blocks::is_regular;
use cuda_std::Real;

use super::BlockMatrices;
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::matrix::Csr;
use crate::matrix::block::check_block;
use crate::setup::matrix::Blocks;
use crate::setup::sequential::{entries, from_entries};

impl<T: Real> BlockMatrices<T> for Reference {
    fn count_blocks(&self, a: &Arc<Csr<T>>, block: usize) -> Result<usize> {
        check_block(a, block)?;
        Ok((0..a.n_rows() / block).map(|i| block_columns(a, block, i).len()).sum())
    }

    fn merged(&self, a: &Arc<Csr<T>>, block: usize) -> Result<Blocks<Arc<Csr<T>>>> {
        check_block(a, block)?;
        let plane = |kl: usize| {
            let value = |i: usize, j: usize| a.get(block * i + kl / block, block * j + kl % block);
            let row = |i: usize| {
                let columns = block_columns(a, block, i).into_iter();
                columns.map(move |j| (j, value(i, j).unwrap_or(T::ZERO)))
            };
            Arc::new(from_entries(a.n_cols() / block, (0..a.n_rows() / block).map(row)))
        };
        Ok(Blocks::from_planes((0..block * block).map(plane).collect()))
    }

    fn singular_blocks(&self, a: &Blocks<Arc<Csr<T>>>) -> Result<usize> {
        let value = |i: usize, k: usize, l: usize| a.plane(k, l).get(i, i).unwrap_or(T::ZERO);
        let is_invertible = |i: usize| match a.block() {
            2 => is_regular::<T, 2>(from_fn(|k| from_fn(|l| value(i, k, l)))),
            _ => is_regular::<T, 3>(from_fn(|k| from_fn(|l| value(i, k, l)))),
        };
        Ok((0..a.first().n_rows()).filter(|&i| !is_invertible(i)).count())
    }

    fn norms(&self, a: &Blocks<Arc<Csr<T>>>) -> Result<Arc<Csr<T>>> {
        let value = |i: usize, j: usize| {
            let square =
                a.planes().iter().filter_map(|plane| plane.get(i, j)).fold(T::ZERO, |sum, v| sum + v * v);
            if i == j { square.sqrt() } else { -square.sqrt() }
        };
        let first = a.first();
        let row = |i: usize| entries(first, i).map(move |(j, _)| (j, value(i, j)));
        Ok(Arc::new(from_entries(first.n_cols(), (0..first.n_rows()).map(row))))
    }

    fn damp_blocks(&self, s: &mut Blocks<Arc<Csr<T>>>, d: &Vec<T>, omega: T) -> Result<()> {
        let (b, old) = (s.block(), s.clone());
        for (kl, plane) in s.planes_mut().iter_mut().enumerate() {
            let (k, l) = (kl / b, kl % b);
            let value = |i: usize, j: usize| {
                let term = |m: usize| d[(i * b + k) * b + m] * old.plane(m, l).get(i, j).unwrap_or(T::ZERO);
                let identity = if i == j && k == l { T::ONE } else { T::ZERO };
                identity - omega * (0..b).fold(T::ZERO, |sum, m| sum + term(m))
            };
            let pattern = old.first();
            let row = |i: usize| entries(pattern, i).map(move |(j, _)| (j, value(i, j)));
            *plane = Arc::new(from_entries(pattern.n_cols(), (0..pattern.n_rows()).map(row)));
        }
        Ok(())
    }
}

/// The block columns of node `i`.
fn block_columns<T: Real>(a: &Csr<T>, block: usize, i: usize) -> BTreeSet<usize> {
    (block * i..block * (i + 1)).flat_map(|row| entries(a, row)).map(|(j, _)| j / block).collect()
}
