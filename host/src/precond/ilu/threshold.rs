//! ILUT(tau, p): entries are kept by their size (Saad 1994; 2003, algorithm 10.6).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::factors::Factors;
use super::params::Params;
use crate::matrix::Csr;
use arithmetic::pivots::Pivots;

/// A factor that grows row by row.
struct Rows {
    row_ptr: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    fn new() -> Self {
        Rows { row_ptr: vec![0], columns: Vec::new(), values: Vec::new() }
    }

    fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> {
        let range = self.row_ptr[i]..self.row_ptr[i + 1];
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// Appends a row of the `most` largest of `entries`; of equal ones those with the smaller column.
    fn push(&mut self, entries: &mut Vec<(u32, f64)>, most: usize) {
        if entries.len() > most {
            entries.select_nth_unstable_by(most, |a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
            entries.truncate(most);
        }
        entries.sort_unstable_by_key(|entry| entry.0);
        self.columns.extend(entries.iter().map(|entry| entry.0));
        self.values.extend(entries.iter().map(|entry| entry.1));
        self.row_ptr.push(self.columns.len());
    }

    fn into_csr(self) -> Csr<f64> {
        let n = self.row_ptr.len() - 1;
        Csr::from_valid_parts(n, n, self.row_ptr, self.columns, self.values)
    }
}

/// `L U` in one, from L without its diagonal, the pivots, and U without its diagonal; with positive pivots
/// `U = D L^T`.
fn joined(lower: Rows, pivots: Vec<f64>, upper: Rows, is_symmetric: bool) -> (Csr<f64>, Vec<usize>) {
    let lower = lower.into_csr();
    let upper = if is_symmetric { lower.transpose() } else { upper.into_csr() };
    let n = pivots.len();
    let whole = Csr::from_rows(
        n,
        n,
        |i| lower.row_len(i) + 1 + upper.row_len(i),
        |i, columns, values| {
            let ((left, l), (right, u)) = (lower.row(i), upper.row(i));
            let at = left.len();
            columns[..at].copy_from_slice(left);
            values[..at].copy_from_slice(l);
            (columns[at], values[at]) = (i as u32, pivots[i]);
            columns[at + 1..].copy_from_slice(right);
            let factor = if is_symmetric { pivots[i] } else { 1.0 };
            values[at + 1..].iter_mut().zip(u).for_each(|(value, u)| *value = factor * u);
        },
    );
    let diagonal = (0..n).map(|i| whole.row_ptr()[i] + lower.row_len(i)).collect();
    (whole, diagonal)
}

/// The factors of `a`, row by row; `None` as soon as a pivot is changed that may not be.
pub(super) fn factors(a: &Csr<f64>, params: &Params, pivots: Pivots, may_change: bool) -> Option<Factors> {
    let n = a.n_rows();
    let side = (a.nnz() as f64 / n.max(1) as f64 / 2.0).max(1.0);
    let most = (params.growth * side).ceil() as usize;
    let (mut lower, mut upper) = (Rows::new(), Rows::new());
    let (mut diagonal, mut changed) = (Vec::with_capacity(n), 0);
    // The row that is eliminated: its values, and its columns on both sides of the diagonal.
    let (mut w, mut is_in) = (vec![0.0; n], vec![false; n]);
    let mut left = BinaryHeap::new();
    let mut right: Vec<u32> = Vec::new();
    let (mut kept, mut rest) = (Vec::new(), Vec::new());
    for i in 0..n {
        let (columns, values) = a.row(i);
        let norm = values.iter().map(|v| v * v).sum::<f64>().sqrt();
        let least = params.drop * norm;
        let mut enter = |j: u32, left: &mut BinaryHeap<Reverse<u32>>, is_in: &mut [bool]| {
            if !std::mem::replace(&mut is_in[j as usize], true) {
                if (j as usize) < i { left.push(Reverse(j)) } else { right.push(j) }
            }
        };
        enter(i as u32, &mut left, &mut is_in);
        for (&j, &v) in columns.iter().zip(values) {
            enter(j, &mut left, &mut is_in);
            w[j as usize] = v;
        }
        while let Some(Reverse(k)) = left.pop() {
            let value = std::mem::take(&mut w[k as usize]);
            is_in[k as usize] = false;
            // As an entry of the row it is small; so is what it would bring. What overflowed is no number.
            if value.abs() <= least || !value.is_finite() {
                continue;
            }
            let factor = value / diagonal[k as usize];
            kept.push((k, factor));
            for (j, u) in upper.row(k as usize) {
                enter(j, &mut left, &mut is_in);
                w[j as usize] -= factor * u;
            }
        }
        for j in right.drain(..) {
            let value = std::mem::take(&mut w[j as usize]);
            is_in[j as usize] = false;
            if j as usize == i {
                let most = values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
                let (pivot, is_changed) = pivots.checked(value, a.get(i, i).unwrap_or(0.0), most);
                diagonal.push(pivot);
                if is_changed && !may_change {
                    return None;
                }
                changed += usize::from(is_changed);
            } else if value.abs() > least && value.is_finite() {
                rest.push((j, value));
            }
        }
        lower.push(&mut kept, most);
        upper.push(&mut rest, most);
        kept.clear();
        rest.clear();
    }
    let (whole, diagonal) = joined(lower, diagonal, upper, pivots.are_positive);
    Some(Factors { whole, diagonal, changed, shift: pivots.shift })
}
