//! [`SparseProducts`] on the CPU: Gustavson's algorithm, a row of the result at a time.

use std::sync::Arc;

use cuda_std::Real;

use super::SparseProducts;
use super::sort::sort;
use super::twins::Twins;
use crate::backend::cpu::Cpu;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::aggregation::NO_AGGREGATE;
use crate::setup::rows::{collect_rows, for_each_row_with};
use crate::vectors::in_widest_vectors;

impl<T: Real> SparseProducts<T> for Cpu {
    fn product(&self, a: &Arc<Csr<T>>, b: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
        assert_eq!(a.n_cols(), b.n_rows());
        let n_cols = b.n_cols();
        if let Some(twins) = Twins::of(a, b) {
            return Ok(Arc::new(twins.product(a, b)));
        }
        Ok(Arc::new(collect_rows(
            a.n_rows(),
            n_cols,
            || Sum::new(n_cols),
            |sum, i, columns, values| row_of_product(sum, a.row(i), b, i as u32 + 1, columns, values),
        )))
    }
    fn product_values(&self, a: &Arc<Csr<T>>, b: &Arc<Csr<T>>, c: &mut Arc<Csr<T>>) -> Result<()> {
        fill_values(a, b, Arc::make_mut(c), false);
        Ok(())
    }
    fn add_product(&self, a: &Arc<Csr<T>>, b: &Arc<Csr<T>>, c: &mut Arc<Csr<T>>) -> Result<()> {
        fill_values(a, b, Arc::make_mut(c), true);
        Ok(())
    }
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

/// `C = A B`, or `C = C + A B` to `accumulate`, in the pattern of C.
fn fill_values<T: Real>(a: &Csr<T>, b: &Csr<T>, c: &mut Csr<T>, accumulate: bool) {
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

/// Space to add up a row of a product.
pub(in crate::setup) struct Sum<T> {
    /// For each column the sum, 0 between rows, and the row that was there last, counted from 1.
    totals: Vec<(T, u32)>,
    /// The columns and values of all `a_ik b_kj`, and room behind them.
    columns: Vec<u32>,
    products: Vec<T>,
}

/// So many entries of a row of B are copied at once. Where rows end cannot be predicted, which would cost
/// more time than what is copied beyond their ends.
const AT_ONCE: usize = 8;

impl<T: Real> Sum<T> {
    pub(in crate::setup) fn new(n_cols: usize) -> Self {
        Sum { totals: vec![(T::ZERO, 0); n_cols], columns: vec![], products: vec![] }
    }

    /// Makes room for this many products and [`AT_ONCE`] more.
    fn make_room(&mut self, count: usize) {
        if self.columns.len() < count + AT_ONCE {
            self.columns.resize(count + AT_ONCE, 0);
            self.products.resize(count + AT_ONCE, T::ZERO);
        }
    }

    /// Lists the products of a row, of whose entries `value(k, v)` is taken, with the interpolation that is
    /// constant on aggregates, and returns their number.
    #[inline(always)]
    pub(in crate::setup) fn list_members(
        &mut self,
        (row, entries): (&[u32], &[T]),
        aggregates: &[u32],
        value: impl Fn(usize, T) -> T,
    ) -> usize {
        self.make_room(row.len());
        let mut count = 0;
        for (k, (&j, &v)) in row.iter().zip(entries).enumerate() {
            let aggregate = aggregates[j as usize];
            (self.columns[count], self.products[count]) = (aggregate, value(k, v));
            count += (aggregate != NO_AGGREGATE) as usize;
        }
        count
    }

    /// Lists the products of a row of A with the rows of B, k after k, and returns their number.
    #[inline(always)]
    fn list_products(&mut self, (inner, a): (&[u32], &[T]), b: &Csr<T>) -> usize {
        let (row_ptr, col_idx, values) = (b.row_ptr(), b.col_idx(), b.values());
        self.make_room(inner.iter().map(|&k| b.row_len(k as usize)).sum());
        // Rows that end so far in front of the last entry can be copied beyond their ends.
        let last = col_idx.len().saturating_sub(AT_ONCE);
        let mut count = 0;
        for (&k, &a_ik) in inner.iter().zip(a) {
            let (mut from, end) = (row_ptr[k as usize], row_ptr[k as usize + 1]);
            let mut to = count;
            while from < end && end <= last {
                // SAFETY: from + AT_ONCE is less than the number of entries, to + AT_ONCE at most the room
                // that was made. With bounds checked, all this takes three times as long.
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
    pub(in crate::setup) fn add_up(
        &mut self,
        count: usize,
        row: u32,
        columns: &mut Vec<u32>,
        values: &mut Vec<T>,
    ) {
        let mut found = 0;
        for (place, &product) in self.products[..count].iter().enumerate() {
            let j = self.columns[place];
            let (sum, last) = &mut self.totals[j as usize];
            *sum += product;
            // In front of what is still to be read, and without a branch: whether a column is new cannot be
            // predicted.
            self.columns[found] = j;
            found += (*last != row) as usize;
            *last = row;
        }
        let start = columns.len();
        columns.extend_from_slice(&self.columns[..found]);
        sort(&mut columns[start..], &mut self.columns);
        values.extend(columns[start..].iter().map(|&j| std::mem::take(&mut self.totals[j as usize].0)));
    }
}
