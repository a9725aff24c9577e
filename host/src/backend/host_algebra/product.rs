//! Sparse products and transposes: Gustavson's algorithm, a row of the result at a time.

use std::sync::Arc;

use cuda_std::Real;
use rayon::prelude::*;

use super::interpolate::Damping;
use super::rows::{collect_rows, for_each_row, for_each_row_with};
use crate::backend::algebra::{Blocks, NO_AGGREGATE};
use crate::matrix::{AnyMatrix, BlockCsr, Csr};
use crate::vectors::in_widest_vectors;

/// See [`crate::backend::Algebra::multiply`].
pub(super) fn multiply<T: Real>(a: &Csr<T>, b: &Csr<T>) -> Csr<T> {
    assert_eq!(a.n_cols(), b.n_rows());
    let n_cols = b.n_cols();
    collect_rows(
        a.n_rows(),
        n_cols,
        || Sum::new(n_cols),
        |sum, i, columns, values| row_of_product(sum, a.row(i), b, i as u32 + 1, columns, values),
    )
}

in_widest_vectors! {
    /// Appends a row of A times B, which is the `number`th.
    fn row_of_product<T: Real>(
        sum: &mut Sum<T>,
        row: (&[u32], &[T]),
        b: &Csr<T>,
        number: u32,
        columns: &mut Vec<u32>,
        values: &mut Vec<T>,
    ) {
        let count = sum.list_products(row, b);
        sum.add_up(count, number, columns, values);
    }
}

/// See [`crate::backend::Algebra::aggregated`], and where there is a `damping`, omega and the outlying rows,
/// [`crate::backend::Algebra::damped_and_aggregated`].
pub(super) fn aggregated<T: Real>(
    s: &Csr<T>,
    aggregates: &[u32],
    n_aggregates: usize,
    damping: Option<(T, Option<&Vec<T>>)>,
) -> Csr<T> {
    collect_rows(
        s.n_rows(),
        n_aggregates,
        || Sum::new(n_aggregates),
        |sum, i, columns, values| row_of_aggregated(sum, i, s.row(i), damping, aggregates, columns, values),
    )
}

in_widest_vectors! {
    /// Appends row `i` of [`aggregated`].
    fn row_of_aggregated<T: Real>(
        sum: &mut Sum<T>,
        i: usize,
        row: (&[u32], &[T]),
        damping: Option<(T, Option<&Vec<T>>)>,
        aggregates: &[u32],
        columns: &mut Vec<u32>,
        values: &mut Vec<T>,
    ) {
        let damping = damping.and_then(|(omega, outlying)| Damping::of_row(i, row, omega, outlying));
        let count = match damping {
            Some(damping) => sum.list_members(row, aggregates, |k, v| damping.damped(k, v)),
            None => sum.list_members(row, aggregates, |_, v| v),
        };
        sum.add_up(count, i as u32 + 1, columns, values);
    }
}

/// Space to add up a row of a product.
struct Sum<T> {
    /// For each column the sum, 0 between rows, and the row that was there last, counted from 1.
    of_columns: Vec<(T, u32)>,
    /// The columns and values of all `a_ik b_kj`, and room behind them.
    columns: Vec<u32>,
    products: Vec<T>,
}

/// So many entries of a row of B are copied at once. Where rows end cannot be predicted, which would cost more time than
/// what is copied beyond their ends.
const AT_ONCE: usize = 8;

impl<T: Real> Sum<T> {
    fn new(n_cols: usize) -> Self {
        Sum { of_columns: vec![(T::ZERO, 0); n_cols], columns: vec![], products: vec![] }
    }

    /// Makes room for so many products and [`AT_ONCE`] more.
    fn make_room(&mut self, count: usize) {
        if self.columns.len() < count + AT_ONCE {
            self.columns.resize(count + AT_ONCE, 0);
            self.products.resize(count + AT_ONCE, T::ZERO);
        }
    }

    /// Lists the products of a row, of whose entries `of_entry(k, v)` is taken, with the interpolation that is constant on
    /// aggregates, and returns their number.
    #[inline(always)]
    fn list_members(
        &mut self,
        (of_row, entries): (&[u32], &[T]),
        aggregates: &[u32],
        of_entry: impl Fn(usize, T) -> T,
    ) -> usize {
        self.make_room(of_row.len());
        let mut count = 0;
        for (k, (&j, &v)) in of_row.iter().zip(entries).enumerate() {
            let aggregate = aggregates[j as usize];
            (self.columns[count], self.products[count]) = (aggregate, of_entry(k, v));
            count += (aggregate != NO_AGGREGATE) as usize;
        }
        count
    }

    /// Lists the products of a row of A with the rows of B, k after k, and returns their number.
    #[inline(always)]
    fn list_products(&mut self, (of_a, a): (&[u32], &[T]), b: &Csr<T>) -> usize {
        let (row_ptr, col_idx, values) = (b.row_ptr(), b.col_idx(), b.values());
        self.make_room(of_a.iter().map(|&k| b.row_len(k as usize)).sum());
        // Rows that end so far in front of the last entry can be copied beyond their ends.
        let last = col_idx.len().saturating_sub(AT_ONCE);
        let mut count = 0;
        for (&k, &a_ik) in of_a.iter().zip(a) {
            let (mut from, end) = (row_ptr[k as usize], row_ptr[k as usize + 1]);
            let mut to = count;
            while from < end && end <= last {
                // SAFETY: from + AT_ONCE is less than the number of entries, to + AT_ONCE at most the room that was made. With
                // bounds checked, all this takes three times as long.
                unsafe {
                    let j = &*col_idx.as_ptr().add(from).cast::<[u32; AT_ONCE]>();
                    let b_kj = &*values.as_ptr().add(from).cast::<[T; AT_ONCE]>();
                    *self.columns.as_mut_ptr().add(to).cast() = *j;
                    *self.products.as_mut_ptr().add(to).cast() = b_kj.map(|b_kj| a_ik * b_kj);
                }
                (from, to) = (from + AT_ONCE, to + AT_ONCE);
            }
            for (from, to) in (from..end).zip(to..) {
                (self.columns[to], self.products[to]) = (col_idx[from], a_ik * values[from]);
            }
            count += row_ptr[k as usize + 1] - row_ptr[k as usize];
        }
        count
    }

    /// Adds up the first `count` products, those of a column from left to right, and appends the sums.
    #[inline(always)]
    fn add_up(&mut self, count: usize, row: u32, columns: &mut Vec<u32>, values: &mut Vec<T>) {
        let mut found = 0;
        for (place, &product) in self.products[..count].iter().enumerate() {
            let j = self.columns[place];
            let (sum, last) = &mut self.of_columns[j as usize];
            *sum += product;
            // In front of what is still to be read, and without a branch: whether a column is new cannot be predicted.
            self.columns[found] = j;
            found += (*last != row) as usize;
            *last = row;
        }
        let start = columns.len();
        columns.extend_from_slice(&self.columns[..found]);
        sort(&mut columns[start..], &mut self.columns);
        values.extend(columns[start..].iter().map(|&j| std::mem::take(&mut self.of_columns[j as usize].0)));
    }
}

/// Sorts different numbers, few of them by counting the smaller ones of each.
#[inline(always)]
fn sort(numbers: &mut [u32], space: &mut [u32]) {
    const LANES: usize = 8;
    const REGISTERS: usize = 3;
    let n = numbers.len();
    if n > REGISTERS * LANES {
        return numbers.sort_unstable();
    }
    let (mut padded, mut ranks) = ([[0; LANES]; REGISTERS], [[0; LANES]; REGISTERS]);
    padded.as_flattened_mut()[..n].copy_from_slice(numbers);
    for (lanes, ranks) in padded.iter().zip(&mut ranks).take(n.div_ceil(LANES)) {
        for &other in &*numbers {
            for (rank, &number) in ranks.iter_mut().zip(lanes) {
                *rank += u32::from(other < number);
            }
        }
    }
    for (&rank, &number) in ranks.as_flattened().iter().zip(&*numbers) {
        space[rank as usize] = number;
    }
    numbers.copy_from_slice(&space[..n]);
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

/// See [`crate::backend::Algebra::scale_values`].
pub(super) fn scale<T: Real>(a: &mut Csr<T>, factor: T) {
    a.values_mut().par_iter_mut().for_each(|v| *v = factor * *v);
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
