//! Interpolation from coarse unknowns: damping, averaging, and the greedy splitting of Mandel and Brezina.

use arithmetic::smoothing::damping;
use cuda_std::Real;

use super::rows::for_each_row;
use crate::matrix::{Csr, place};
use crate::vectors::in_widest_vectors;

/// See [`crate::backend::Algebra::damp`].
pub(super) fn damp<T: Real>(s: &mut Csr<T>, omega: T, outlying: Option<&Vec<T>>) {
    for_each_row(s, |i, columns, values| {
        let Some(damping) = Damping::of_row(i, (columns, &*values), omega, outlying) else { return };
        values.iter_mut().enumerate().for_each(|(k, v)| *v = damping.damped(k, *v));
    });
}

/// What [`damp`] makes of a row.
pub(super) struct Damping<T> {
    /// Where the diagonal entry is, and what it becomes.
    diagonal: (usize, T),
    /// What the others are multiplied by, and subtracted.
    scale: T,
}

impl<T: Real> Damping<T> {
    /// Of row `i`, which is `row`; `None` where it has no diagonal entry.
    #[inline(always)]
    pub(super) fn of_row(i: usize, row: (&[u32], &[T]), omega: T, outlying: Option<&Vec<T>>) -> Option<Self> {
        let k = place(row.0, i as u32)?;
        let (scale, on_diagonal) = damping(omega, row.1[k], outlying.map_or(T::ZERO, |of_rows| of_rows[i]));
        Some(Damping { diagonal: (k, on_diagonal), scale })
    }

    /// The `k`th entry, which is `v`.
    #[inline(always)]
    pub(super) fn damped(&self, k: usize, v: T) -> T {
        if k == self.diagonal.0 { self.diagonal.1 } else { -(self.scale * v) }
    }
}

/// See [`crate::backend::Algebra::subtract_scaled`].
pub(super) fn subtract_scaled<T: Real>(c: &mut Csr<T>, p: &Csr<T>, omega: T, d: &[T]) {
    for_each_row(c, |i, columns, values| {
        let scale = if d[i] == T::ZERO { T::ZERO } else { T::ONE / (omega * d[i]) };
        subtract_row(columns, values, p.row(i), scale);
    });
}

in_widest_vectors! {
    /// `c -= scale p`, where c has the columns of p.
    fn subtract_row<T: Real>(columns: &[u32], values: &mut [T], p: (&[u32], &[T]), scale: T) {
        for (&j, v) in p.0.iter().zip(p.1) {
            if let Some(k) = place(columns, j) {
                values[k] -= scale * *v;
            }
        }
    }
}

/// See [`crate::backend::Algebra::averaging`].
pub(super) fn averaging<T: Real>(s: &Csr<T>, coarse: &[u32]) -> Csr<T> {
    let mut number = vec![0; coarse.len()];
    let mut count = 0;
    for (number, &coarse) in number.iter_mut().zip(coarse) {
        *number = count;
        count += coarse;
    }
    let is_coarse = |&&j: &&u32| coarse[j as usize] == 1;
    let length = |i: usize| if coarse[i] == 1 { 1 } else { s.row(i).0.iter().filter(is_coarse).count() };
    Csr::from_rows(s.n_rows(), count as usize, length, |i, columns, values| {
        if coarse[i] == 1 {
            columns.fill(number[i]);
        } else {
            for (column, &j) in columns.iter_mut().zip(s.row(i).0.iter().filter(is_coarse)) {
                *column = number[j as usize];
            }
        }
        values.fill(T::ONE / T::from_f64(values.len() as f64));
    })
}

/// The splitting of Rosenberger and Haase 2017, section 9.3, unknown after unknown: one that is not decided yet is
/// coarse, and what is strongly connected to it is fine. 1 for coarse unknowns.
///
/// `s` has the strong entries of a matrix ([`crate::backend::algebra::Strength::Symmetric`]).
pub(crate) fn greedy_splitting<T: Real>(s: &Csr<T>) -> Vec<u32> {
    const UNDECIDED: u32 = 2;
    let mut coarse = vec![UNDECIDED; s.n_rows()];
    for i in 0..s.n_rows() {
        if coarse[i] == UNDECIDED {
            coarse[i] = 1;
            for &j in s.row(i).0 {
                let other = &mut coarse[j as usize];
                if *other == UNDECIDED {
                    *other = 0;
                }
            }
        }
    }
    coarse
}
