//! [`Diagonals`] as they are defined.

use std::sync::Arc;

use arithmetic::blocks::inverse_or_diagonal;
use arithmetic::noise::scaled_noise;
use arithmetic::smoothing::Limits;
use cuda_std::Real;

use super::{Diagonals, RowWeight, SmoothingDiagonal};
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::matrix::Blocks;
use crate::setup::sequential::entries;

impl<T: Real> Diagonals<T> for Reference {
    fn row_weights(&self, a: &Arc<Csr<T>>, weight: RowWeight) -> Result<Vec<T>> {
        let number = |i: usize| {
            let diagonal = a.get(i, i).unwrap_or(T::ZERO);
            let absolute = entries(a, i).fold(T::ZERO, |sum, (_, v)| sum + v.abs());
            let square = entries(a, i).fold(T::ZERO, |sum, (_, v)| sum + v * v);
            match weight {
                RowWeight::InverseDiagonal => T::ONE / diagonal,
                RowWeight::InverseL1 if diagonal < T::ZERO => -T::ONE / absolute,
                RowWeight::InverseL1 => T::ONE / absolute,
                RowWeight::Spai0 => diagonal / square,
                RowWeight::GershgorinRadius => absolute / diagonal.abs(),
            }
        };
        Ok((0..a.n_rows()).map(number).collect())
    }

    fn invert_diagonal(&self, a: &Blocks<Arc<Csr<T>>>) -> Result<Vec<T>> {
        match a.block() {
            1 => self.row_weights(a.first(), RowWeight::InverseDiagonal),
            2 => Ok(invert_blocks::<T, 2>(a)),
            _ => Ok(invert_blocks::<T, 3>(a)),
        }
    }

    fn smoothing_diagonal(
        &self,
        a: &Arc<Csr<T>>,
        g: &Vec<T>,
        d: &Vec<T>,
        Limits { bound, large }: Limits<T>,
    ) -> Result<SmoothingDiagonal<Vec<T>>> {
        let (quarter, third) = (T::from_f64(0.25), T::from_f64(1.0 / 3.0));
        let usual = |i: usize| if g[i] > bound { d[i] * (bound / g[i]) } else { d[i] };
        let is_sliver = |i: usize| {
            let is_coupled = entries(a, i).any(|(j, v)| g[j] > large && (v * d[i]).abs() >= quarter);
            let largest =
                entries(a, i).map(|(j, _)| d[j].abs()).fold(T::ZERO, |x, y| if y > x { y } else { x });
            large.is_finite() && is_coupled && usual(i).abs() < third * largest
        };
        let n = a.n_rows();
        Ok(SmoothingDiagonal {
            inverse: (0..n).map(|i| if is_sliver(i) { d[i] / g[i] } else { usual(i) }).collect(),
            slivers: (0..n).map(|i| if is_sliver(i) { d[i] / g[i] } else { T::ZERO }).collect(),
            n_slivers: (0..n).filter(|&i| is_sliver(i)).count(),
        })
    }

    fn noise(&self, _: &Arc<Csr<T>>, d: &Vec<T>, n: usize) -> Result<Vec<T>> {
        let block = d.len() / n.max(1);
        Ok((0..n).map(|i| scaled_noise(i as u32, d[block * i + i % block])).collect())
    }
}

fn invert_blocks<T: Real, const B: usize>(a: &Blocks<Arc<Csr<T>>>) -> Vec<T> {
    let inverse = |i: usize| {
        let entry = |k: usize, l: usize| a.plane(k, l).get(i, i).unwrap_or(T::ZERO);
        inverse_or_diagonal::<T, B>(std::array::from_fn(|k| std::array::from_fn(|l| entry(k, l))))
    };
    (0..a.first().n_rows()).flat_map(inverse).flatten().collect()
}
