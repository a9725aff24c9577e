//! Sparse products and transposes: Gustavson's algorithm, a row of the result at a time.

use std::sync::Arc;

use cuda_std::Real;
use rayon::prelude::*;

use super::rows::{collect_rows, for_each_row, for_each_row_with};
use crate::backend::algebra::Blocks;
use crate::matrix::{AnyMatrix, BlockCsr, Csr};

/// See [`crate::backend::Algebra::multiply`].
pub(super) fn multiply<T: Real>(a: &Csr<T>, b: &Csr<T>) -> Csr<T> {
    assert_eq!(a.n_cols(), b.n_rows());
    let n_cols = b.n_cols();
    let (row_ptr, col_idx, entries) = (b.row_ptr(), b.col_idx(), b.values());
    // For each column the sum, 0 between rows, and the row that was there last, counted from 1. One column more is written to
    // `found` than there are.
    let space = || (vec![(T::ZERO, 0); n_cols], vec![0; n_cols + 1]);
    collect_rows(a.n_rows(), n_cols, space, |(sums, found), i, columns, values| {
        let row = i as u32 + 1;
        let (sums, found) = (&mut sums[..], &mut found[..]);
        let mut count = 0;
        for (&k, &a_ik) in a.row(i).0.iter().zip(a.row(i).1) {
            let of_row = row_ptr[k as usize]..row_ptr[k as usize + 1];
            for (&j, &b_kj) in col_idx[of_row.clone()].iter().zip(&entries[of_row]) {
                let (sum, last) = &mut sums[j as usize];
                *sum += a_ik * b_kj;
                // Without a branch: whether a column is new cannot be predicted.
                found[count] = j;
                count += (*last != row) as usize;
                *last = row;
            }
        }
        let found = &mut found[..count];
        found.sort_unstable();
        columns.extend_from_slice(found);
        values.extend(found.iter().map(|&j| std::mem::take(&mut sums[j as usize].0)));
    })
}

/// See [`crate::backend::Algebra::multiply_values`] and, with `accumulate`, [`crate::backend::Algebra::add_product`].
pub(super) fn values<T: Real>(a: &Csr<T>, b: &Csr<T>, c: &mut Csr<T>, accumulate: bool) {
    for_each_row_with(
        c,
        || vec![T::ZERO; b.n_cols()],
        |sums, i, columns, values| {
            for (&j, &value) in columns.iter().zip(&*values) {
                sums[j as usize] = if accumulate { value } else { T::ZERO };
            }
            for (&k, &a_ik) in a.row(i).0.iter().zip(a.row(i).1) {
                for (&j, &b_kj) in b.row(k as usize).0.iter().zip(b.row(k as usize).1) {
                    sums[j as usize] += a_ik * b_kj;
                }
            }
            for (&j, value) in columns.iter().zip(values) {
                *value = sums[j as usize];
            }
        },
    );
}

/// See [`crate::backend::Algebra::transpose_values`].
pub(super) fn transpose_values<T: Real>(a: &Csr<T>, at: &mut Csr<T>) {
    for_each_row(at, |j, columns, values| {
        for (&i, v) in columns.iter().zip(values) {
            *v = a.get(i as usize, j).expect("the pattern is that of the transpose");
        }
    });
}

/// `A` in CRS, or CRS of blocks.
pub(super) fn in_crs<T: Real>(a: &Blocks<Arc<Csr<T>>>) -> AnyMatrix<T> {
    match a.block() {
        1 => AnyMatrix::Crs(a.first().clone()),
        _ => AnyMatrix::BlockCrs(BlockCsr::from_planes(a.planes())),
    }
}

/// `y = x`, rounded to S.
pub(super) fn cast<T: Real, S: Real>(x: &[T], y: &mut [S]) {
    y.par_iter_mut().with_min_len(1 << 14).zip(x).for_each(|(y, &x)| *y = S::from_f64(x.to_f64()));
}
