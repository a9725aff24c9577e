//! Sparse products and transposes: Gustavson's algorithm, a row of the result at a time.

use std::any::Any;
use std::sync::Arc;

use cuda_std::Real;
use rayon::prelude::*;

use super::rows::{collect_rows, for_each_row, with_positions};
use crate::backend::algebra::Blocks;
use crate::matrix::{AnyMatrix, BlockCsr, Csr};

/// A row in the making: columns and sums as they come, and space behind them.
#[derive(Default)]
struct Row<T> {
    columns: Vec<u32>,
    sums: Vec<T>,
}

/// See [`crate::backend::Algebra::multiply`].
pub(super) fn multiply<T: Real>(a: &Csr<T>, b: &Csr<T>) -> Csr<T> {
    assert_eq!(a.n_cols(), b.n_rows());
    collect_rows(a.n_rows(), b.n_cols(), |row: &mut Row<T>, i, columns, values| {
        with_positions(b.n_cols(), |positions| {
            let most: usize = a.row(i).0.iter().map(|&k| b.row_len(k as usize)).sum();
            if row.columns.len() < most {
                row.columns.resize(most, 0);
                row.sums.resize(most, T::ZERO);
            }
            let (found, sums) = (&mut row.columns[..], &mut row.sums[..]);
            let mut count = 0;
            for (&k, &a_ik) in a.row(i).0.iter().zip(a.row(i).1) {
                for (&j, &b_kj) in b.row(k as usize).0.iter().zip(b.row(k as usize).1) {
                    // Without a branch: whether a column is new cannot be predicted.
                    let position = positions[j as usize] as usize;
                    let is_new = (position >= count) | (found[position.min(most - 1)] != j);
                    let position = if is_new { count } else { position };
                    let sum = if is_new { T::ZERO } else { sums[position] };
                    positions[j as usize] = position as u32;
                    found[position] = j;
                    sums[position] = sum + a_ik * b_kj;
                    count += is_new as usize;
                }
            }
            let found = &mut found[..count];
            found.sort_unstable();
            columns.extend_from_slice(found);
            values.extend(found.iter().map(|&j| sums[positions[j as usize] as usize]));
        });
    })
}

/// See [`crate::backend::Algebra::multiply_values`] and, with `accumulate`, [`crate::backend::Algebra::add_product`].
pub(super) fn values<T: Real>(a: &Csr<T>, b: &Csr<T>, c: &mut Csr<T>, accumulate: bool) {
    for_each_row(c, |i, columns, values| {
        with_positions(b.n_cols(), |positions| {
            for (k, &j) in columns.iter().enumerate() {
                positions[j as usize] = k as u32;
            }
            if !accumulate {
                values.fill(T::ZERO);
            }
            for (&k, &a_ik) in a.row(i).0.iter().zip(a.row(i).1) {
                for (&j, &b_kj) in b.row(k as usize).0.iter().zip(b.row(k as usize).1) {
                    values[positions[j as usize] as usize] += a_ik * b_kj;
                }
            }
        });
    });
}

/// See [`crate::backend::Algebra::transpose_values`].
pub(super) fn transpose_values<T: Real>(a: &Csr<T>, at: &mut Csr<T>) {
    for_each_row(at, |j, columns, values| {
        for (&i, v) in columns.iter().zip(values) {
            *v = a.get(i as usize, j).expect("the pattern is that of the transpose");
        }
    });
}

/// `A` in CRS, or CRS of blocks, values rounded to S.
pub(super) fn in_crs<T: Real, S: Real>(a: &Blocks<Arc<Csr<T>>>) -> AnyMatrix<S> {
    if a.block() > 1 {
        return AnyMatrix::BlockCrs(BlockCsr::from_planes(a.planes()));
    }
    // The same type: nothing to copy.
    AnyMatrix::Crs(match (a.first() as &dyn Any).downcast_ref::<Arc<Csr<S>>>() {
        Some(same) => same.clone(),
        None => Arc::new(a.first().cast::<S>()),
    })
}

/// `y = x`, rounded to S.
pub(super) fn cast<T: Real, S: Real>(x: &[T], y: &mut [S]) {
    y.par_iter_mut().with_min_len(1 << 14).zip(x).for_each(|(y, &x)| *y = S::from_f64(x.to_f64()));
}
