//! Twins on the CPU: those of A are multiplied together, and with them those of B, so that a column is looked
//! up once and not for each of their products. The sums are those of Gustavson's algorithm, to the same bits.

use std::ops::Range;

use cuda_std::Real;
use gpu_kernels::setup::twins::sampled;

use super::{SAMPLES, are_many, step};
use crate::matrix::Csr;
use crate::parallel::*;
use crate::setup::product::sort::sort;
use crate::setup::rows::{Chunk, collect_runs};
use crate::vectors::in_widest_vectors;

/// Twins that are multiplied together, at most.
const TOGETHER: usize = 4;

/// Whether row `i` has the columns of the row before.
fn is_twin<T: Real>(a: &Csr<T>, i: usize) -> bool {
    i > 0 && a.row(i).0 == a.row(i - 1).0
}

/// Whether many rows are twins.
fn has_many<T: Real>(a: &Csr<T>) -> bool {
    let samples = SAMPLES.min(a.n_rows());
    are_many((0..samples).filter(|&k| is_twin(a, sampled(k, step(a.n_rows())))).count(), samples)
}

/// Which rows of B are twins.
pub(in crate::setup::product) struct Twins(Vec<bool>);

impl Twins {
    /// Nothing where neither A nor B has many.
    pub(in crate::setup::product) fn of<T: Real>(a: &Csr<T>, b: &Csr<T>) -> Option<Twins> {
        (has_many(a) || has_many(b)).then(|| {
            let rows = (0..b.n_rows()).into_par_iter().with_min_len(1 << 12);
            Twins(rows.map(|i| is_twin(b, i)).collect())
        })
    }

    /// `A B`.
    pub(in crate::setup::product) fn product<T: Real>(&self, a: &Csr<T>, b: &Csr<T>) -> Csr<T> {
        let new = || Sums { totals: vec![([T::ZERO; TOGETHER], 0); b.n_cols()], columns: vec![] };
        collect_runs(a.n_rows(), b.n_cols(), new, |sums, rows, chunk| {
            rows_of_product(sums, rows, a, b, self, chunk);
        })
    }

    /// How many of these rows, which follow one another from the first on, are twins of it, with itself.
    #[inline(always)]
    fn run(&self, rows: &[u32]) -> usize {
        let first = rows[0] as usize;
        (1..rows.len().min(TOGETHER))
            .take_while(|&q| rows[q] as usize == first + q && self.0[first + q])
            .count()
            + 1
    }
}

/// Space to add up rows of a product.
struct Sums<T> {
    /// For each column a sum for each row, 0 between rows, and the rows that were there last, counted from 1.
    totals: Vec<([T; TOGETHER], u32)>,
    /// The columns that are there, and room behind them.
    columns: Vec<u32>,
}

in_widest_vectors! {
    /// Appends the first of these rows of A B, and its twins.
    fn rows_of_product<T: Real>(
        sums: &mut Sums<T>,
        rows: Range<usize>,
        a: &Csr<T>,
        b: &Csr<T>,
        twins: &Twins,
        chunk: &mut Chunk<T>,
    ) {
        let (first, inner) = (rows.start, a.row(rows.start).0);
        let last = rows.end.min(first + TOGETHER);
        let count = 1 + (first + 1..last).take_while(|&i| a.row(i).0 == inner).count();
        let starts: [usize; TOGETHER] = std::array::from_fn(|r| a.row_ptr()[first + r.min(count - 1)]);
        let found = sums.add_up((inner, starts, a.values()), b, twins, first as u32 + 1);
        sums.append(found, count, chunk);
    }
}

impl<T: Real> Sums<T> {
    /// Adds up the products of rows of A, which have these columns and begin at `starts` of `values`; returns
    /// how many columns they reach.
    #[inline(always)]
    fn add_up(
        &mut self,
        (inner, starts, values): (&[u32], [usize; TOGETHER], &[T]),
        b: &Csr<T>,
        twins: &Twins,
        number: u32,
    ) -> usize {
        let (mut found, mut p) = (0, 0);
        while p < inner.len() {
            let run = twins.run(&inner[p..]);
            let k = inner[p] as usize;
            let columns = b.row(k).0;
            if self.columns.len() < found + columns.len() {
                self.columns.resize(found + columns.len(), 0);
            }
            let of_a = |q: usize| starts.map(|start| values[start + p + q]);
            let of_b = |q: usize| &b.row(k + q).1[..columns.len()];
            found = match run {
                1 => self.add(number, found, columns, [of_a(0)], [of_b(0)]),
                2 => self.add(number, found, columns, [0, 1].map(of_a), [0, 1].map(of_b)),
                3 => self.add(number, found, columns, [0, 1, 2].map(of_a), [0, 1, 2].map(of_b)),
                _ => self.add(number, found, columns, [0, 1, 2, 3].map(of_a), [0, 1, 2, 3].map(of_b)),
            };
            p += run;
        }
        found
    }

    /// Adds the products of these entries of A with K rows of B, which have these columns; how many are there
    /// after `found` were.
    #[inline(always)]
    fn add<const K: usize>(
        &mut self,
        number: u32,
        mut found: usize,
        columns: &[u32],
        a: [[T; TOGETHER]; K],
        b: [&[T]; K],
    ) -> usize {
        let b = b.map(|row| &row[..columns.len()]);
        for (p, &j) in columns.iter().enumerate() {
            let (totals, last) = &mut self.totals[j as usize];
            let mut sums = *totals;
            for q in 0..K {
                let b_kj = b[q][p];
                for (sum, a_ik) in sums.iter_mut().zip(a[q]) {
                    *sum += a_ik * b_kj;
                }
            }
            *totals = sums;
            // Without a branch: whether a column is new cannot be predicted.
            self.columns[found] = j;
            found += (*last != number) as usize;
            *last = number;
        }
        found
    }

    /// Appends `count` rows with the first `found` columns.
    #[inline(always)]
    fn append(&mut self, found: usize, count: usize, Chunk { ends, columns, values }: &mut Chunk<T>) {
        let start = columns.len();
        columns.extend_from_slice(&self.columns[..found]);
        sort(&mut columns[start..], &mut self.columns);
        for r in 0..count {
            if r > 0 {
                columns.extend_from_within(start..start + found);
            }
            values.extend(columns[start..start + found].iter().map(|&j| self.totals[j as usize].0[r]));
            ends.push(columns.len());
        }
        for &j in &columns[start..start + found] {
            self.totals[j as usize].0 = [T::ZERO; TOGETHER];
        }
    }
}
