//! [`StrengthOfConnection`] as it is defined.

use std::sync::Arc;

use cuda_std::Real;

use super::{Strength, StrengthOfConnection};
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::sequential::{entries, from_entries};

impl<T: Real> StrengthOfConnection<T> for Reference {
    fn strength(&self, a: &Arc<Csr<T>>, strength: Strength) -> Result<Arc<Csr<T>>> {
        let row = |i: usize| entries(a, i).filter(move |&(j, v)| i == j || is_strong(a, strength, i, j, v));
        let mut s = Arc::new(from_entries(a.n_cols(), (0..a.n_rows()).map(row)));
        if let Strength::Symmetric { lumped: true, .. } = strength {
            self.strength_values(a, true, &mut s)?;
        }
        Ok(s)
    }

    fn strength_values(&self, a: &Arc<Csr<T>>, lumped: bool, s: &mut Arc<Csr<T>>) -> Result<()> {
        let value = |i: usize, j: usize| {
            let own = a.get(i, j).unwrap_or(T::ZERO);
            if i != j || !lumped {
                return own;
            }
            let weak = entries(a, i).filter(|&(j, _)| s.get(i, j).is_none());
            let sum = weak.fold(own, |sum, (_, v)| sum + v);
            if sum * own > T::ZERO { sum } else { own }
        };
        let row = |i: usize| entries(s, i).map(move |(j, _)| (j, value(i, j)));
        *s = Arc::new(from_entries(s.n_cols(), (0..s.n_rows()).map(row)));
        Ok(())
    }
}

/// Whether the off-diagonal entry `v` in row `i` and column `j` is strong.
fn is_strong<T: Real>(a: &Csr<T>, strength: Strength, i: usize, j: usize, v: T) -> bool {
    let diagonal = |i: usize| a.get(i, i).unwrap_or(T::ZERO);
    match strength {
        Strength::Symmetric { epsilon, .. } => {
            v != T::ZERO && v * v >= T::from_f64(epsilon) * (diagonal(i) * diagonal(j)).abs()
        }
        Strength::Classical { theta } => {
            let opposed = |v: T| if diagonal(i) < T::ZERO { v } else { -v };
            let others = entries(a, i).filter(|&(k, _)| k != i).map(|(_, v)| opposed(v));
            let largest = others.fold(T::ZERO, |most, v| if v > most { v } else { most });
            opposed(v) > T::ZERO && opposed(v) >= T::from_f64(theta) * largest
        }
    }
}
