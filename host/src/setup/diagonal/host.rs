//! [`Diagonals`] on the CPU.

use std::sync::Arc;

use crate::parallel::*;
use arithmetic::blocks::inverse_or_diagonal;
use arithmetic::noise::scaled_noise;
use arithmetic::smoothing::Limits;
use cuda_std::Real;

use super::{Diagonals, RowWeight, SmoothingDiagonal};
use crate::backend::cpu::Cpu;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::matrix::Blocks;

/// Rows of one task.
const CHUNK: usize = 1024;
/// Block rows of one task.
const BLOCK_CHUNK: usize = 512;

impl<T: Real> Diagonals<T> for Cpu {
    fn row_weights(&self, a: &Arc<Csr<T>>, weight: RowWeight) -> Result<Vec<T>> {
        // a_ii, sum_j |a_ij|, sum_j a_ij^2
        let sums = |i: usize| {
            let mut diagonal = T::ZERO;
            let (mut absolute, mut square) = (T::ZERO, T::ZERO);
            for (&j, &v) in a.row(i).0.iter().zip(a.row(i).1) {
                if j as usize == i {
                    diagonal = v;
                }
                absolute += v.abs();
                square += v * v;
            }
            (diagonal, absolute, square)
        };
        let number = |i: usize| match weight {
            // Without a look at the other entries.
            RowWeight::InverseDiagonal => T::ONE / a.get(i, i).unwrap_or(T::ZERO),
            RowWeight::InverseL1 => {
                let (diagonal, absolute, _) = sums(i);
                if diagonal < T::ZERO { -T::ONE / absolute } else { T::ONE / absolute }
            }
            RowWeight::Spai0 => {
                let (diagonal, _, square) = sums(i);
                diagonal / square
            }
            RowWeight::GershgorinRadius => {
                let (diagonal, absolute, _) = sums(i);
                absolute / diagonal.abs()
            }
        };
        Ok((0..a.n_rows()).into_par_iter().with_min_len(CHUNK).map(number).collect())
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
        limits: Limits<T>,
    ) -> Result<SmoothingDiagonal<Vec<T>>> {
        // The element of D^-1, and what it is in a row of a sliver.
        let elements = |i: usize| {
            let (columns, values) = a.row(i);
            let limited = limits.bounded(d[i], g[i]);
            let couples = |(&j, &v): (&u32, &T)| limits.is_large(g[j as usize]) && limits.couples(d[i], v);
            // Hardly any g is large.
            if limits.large.is_finite() && columns.iter().zip(values).any(couples) {
                let larger =
                    |most: T, &j: &u32| if d[j as usize].abs() > most { d[j as usize].abs() } else { most };
                if limits.is_small(limited, columns.iter().fold(T::ZERO, larger)) {
                    return (d[i] / g[i], d[i] / g[i]);
                }
            }
            (limited, T::ZERO)
        };
        let rows = (0..a.n_rows()).into_par_iter().with_min_len(CHUNK);
        let (inverse, slivers): (Vec<T>, Vec<T>) = rows.map(elements).unzip();
        let n_slivers = slivers.iter().filter(|&&element| element != T::ZERO).count();
        Ok(SmoothingDiagonal { inverse, slivers, n_slivers })
    }

    fn noise(&self, _: &Arc<Csr<T>>, d: &Vec<T>, n: usize) -> Result<Vec<T>> {
        Ok(noise_of(|node| node as u32, d, n))
    }
}

/// [`Diagonals::noise`] of nodes with these numbers.
pub(in crate::setup) fn noise_of<T: Real>(number: impl Fn(usize) -> u32 + Sync, d: &[T], n: usize) -> Vec<T> {
    let block = d.len() / n.max(1);
    let element = |i: usize| {
        let l = i % block;
        scaled_noise(number(i / block) * block as u32 + l as u32, d[block * i + l])
    };
    (0..n).into_par_iter().with_min_len(CHUNK).map(element).collect()
}

fn invert_blocks<T: Real, const B: usize>(a: &Blocks<Arc<Csr<T>>>) -> Vec<T> {
    let pattern = a.first();
    let mut d = vec![T::ZERO; B * B * pattern.n_rows()];
    d.par_chunks_mut(B * B).with_min_len(BLOCK_CHUNK).enumerate().for_each(|(i, d)| {
        let start = pattern.row_ptr()[i];
        if let Ok(place) = pattern.row(i).0.binary_search(&(i as u32)) {
            let inverse = inverse_or_diagonal(a.entry::<B>(start + place));
            d.copy_from_slice(inverse.as_flattened());
        }
    });
    d
}
