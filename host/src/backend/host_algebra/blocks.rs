//! Matrices of blocks, as planes: norms, inverses of diagonal blocks, damping.

use std::sync::Arc;

use arithmetic::blocks::{damped, inverse_or_diagonal, norm};
use cuda_std::Real;
use rayon::prelude::*;

use super::rows::for_each_row;
use crate::backend::algebra::Blocks;
use crate::matrix::Csr;

/// Block rows of one task.
const CHUNK: usize = 512;

type Planes<T> = Blocks<Arc<Csr<T>>>;

fn block<T: Real, const B: usize>(a: &Planes<T>, e: usize) -> [[T; B]; B] {
    std::array::from_fn(|k| std::array::from_fn(|l| a.planes()[k * B + l].values()[e]))
}

/// See [`crate::backend::Algebra::norms`].
pub(super) fn norms<T: Real>(a: &Planes<T>) -> Csr<T> {
    let mut norms = (*a.planes()[0]).clone();
    let first = a.planes()[0].clone();
    for_each_row(&mut norms, |i, columns, values| {
        for ((e, v), &j) in (first.row_ptr()[i]..).zip(values).zip(columns) {
            let norm = norm(a.planes().iter().map(|plane| plane.values()[e]));
            *v = if j as usize == i { norm } else { -norm };
        }
    });
    norms
}

/// See [`crate::backend::Algebra::invert_diagonal`].
pub(super) fn invert_diagonal<T: Real, const B: usize>(a: &Planes<T>) -> Vec<T> {
    let pattern = &a.planes()[0];
    let mut d = vec![T::ZERO; B * B * pattern.n_rows()];
    d.par_chunks_mut(B * B).with_min_len(CHUNK).enumerate().for_each(|(i, d)| {
        let start = pattern.row_ptr()[i];
        if let Ok(place) = pattern.row(i).0.binary_search(&(i as u32)) {
            let inverse = inverse_or_diagonal(block::<T, B>(a, start + place));
            d.copy_from_slice(inverse.as_flattened());
        }
    });
    d
}

/// See [`crate::backend::Algebra::damp_blocks`].
pub(super) fn damp<T: Real, const B: usize>(s: &mut Planes<T>, d: &[T], omega: T) {
    let old = s.clone();
    let pattern = old.planes()[0].clone();
    for (kl, plane) in s.planes_mut().iter_mut().enumerate() {
        for_each_row(Arc::make_mut(plane), |i, columns, values| {
            let d = std::array::from_fn(|k| std::array::from_fn(|l| d[(i * B + k) * B + l]));
            for ((e, v), &j) in (pattern.row_ptr()[i]..).zip(values).zip(columns) {
                *v = damped(d, block::<T, B>(&old, e), omega, j as usize == i)[kl / B][kl % B];
            }
        });
    }
}
