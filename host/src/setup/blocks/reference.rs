//! [`BlockMatrices`] as they are defined.

use std::sync::Arc;

use cuda_std::Real;

use super::BlockMatrices;
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::matrix::Blocks;
use crate::setup::sequential::{entries, from_entries};

impl<T: Real> BlockMatrices<T> for Reference {
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
