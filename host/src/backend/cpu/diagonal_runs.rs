//! A copy of a CRS matrix with fewer bytes and vector loads, for matrices with diagonals or with short rows.
//!
//! Where unknowns are numbered along the lines of a grid, or of a mesh made from one, the neighbours of row
//! `i + 1` are those of row `i`, plus one. A *diagonal run* is eight such entries, `a(i, c), a(i + 1, c + 1),
//! ..., a(i + 7, c + 7)` of the rows of one slice: eight values, one column, and one load for the eight
//! elements of `x`. It is the diagonal format (Saad 2003, section 3.4) by pieces, as CSX (Kourtis et al.,
//! PPoPP 2011) has it among others. What is in no diagonal run is *scattered*: eight columns with eight
//! values, as in SELL-8.

use std::ops::Range;

use crate::parallel::*;
use cuda_std::Real;

use super::entry::Entry;
use super::pages::Pages;
use crate::matrix::lanes::LANES;
use crate::matrix::{Csr, place};
use crate::pages::in_large_pages;
use crate::vectors::in_widest_vectors;

mod slice;
#[cfg(test)]
mod tests;

use slice::{Counts, slice};

/// Rows of a block, at which products begin.
const ROWS: usize = super::CHUNK;
/// The copy is made only if its products move at most this share of the bytes that they would move with the
/// matrix: it costs memory and a tenth of a second.
const WORTHWHILE: f64 = 0.9;
/// The end of a row in CRS is a branch that cannot be predicted: bytes that are read in the time it costs.
const ROW_END: usize = 24;

/// One of this many slices is looked at first.
const SAMPLED: usize = 16;
/// Fewer diagonal runs than this share of what is scattered are not worth the search.
const FEW: f64 = 0.05;
/// Slices of a task.
const LEAST: usize = ROWS / LANES;

/// The matrix in slices of [`LANES`] rows, entries stored as V.
#[derive(Debug)]
pub(super) struct DiagonalRuns<T, V = T> {
    n_rows: usize,
    n_cols: usize,
    slices: Vec<Counts>,
    /// Of a slice: a column for each diagonal run (its first), then one for each scattered entry.
    columns: Pages<u32>,
    /// Of a slice: the diagonal runs, then the scattered entries; one lane for each row.
    values: Pages<[V; LANES]>,
    /// The part of each row's diagonal entry that V cannot hold; empty if V holds all of it.
    rests: Vec<T>,
    /// Where each block begins in `columns` and in `values`; then where the last one ends.
    starts: Vec<[usize; 2]>,
    /// Why the matrix is copied.
    reason: String,
}

/// Columns and values of the rows `first..first + LANES`; none of rows behind the last.
fn rows<T: Real>(a: &Csr<T>, first: usize) -> [(&[u32], &[T]); LANES] {
    std::array::from_fn(|l| if first + l < a.n_rows() { a.row(first + l) } else { (&[][..], &[][..]) })
}

/// Walks over the diagonal runs of a slice, then over what is left of each row: `diagonal run(j)` gets the
/// place of the diagonal run in each row, `scattered(lane, j)` that of another entry.
fn walk<T: Real>(
    rows: &[(&[u32], &[T]); LANES],
    mut run: impl FnMut([usize; LANES]),
    mut scattered: impl FnMut(usize, usize),
) {
    let rows = rows.map(|(columns, _)| columns);
    // Columns ascend: each row is passed once, along with the first.
    let mut at = [0; LANES];
    for j in 0..rows[0].len() {
        let mut complete = true;
        for l in 1..LANES {
            let column = rows[0][j] as usize + l;
            while at[l] < rows[l].len() && (rows[l][at[l]] as usize) < column {
                scattered(l, at[l]);
                at[l] += 1;
            }
            complete &= at[l] < rows[l].len() && rows[l][at[l]] as usize == column;
        }
        at[0] = j;
        if complete {
            run(at);
            at.iter_mut().for_each(|at| *at += 1);
        } else {
            scattered(0, j);
        }
    }
    for l in 1..LANES {
        (at[l]..rows[l].len()).for_each(|j| scattered(l, j));
    }
}

/// Whether the rows of a slice have nothing but diagonal runs: the columns of the first row, shifted by one
/// from row to row.
fn is_all_runs<T>(rows: &[(&[u32], &[T]); LANES]) -> bool {
    let first = rows[0].0;
    rows.iter().zip(0..).all(|((columns, _), l)| {
        // Without an end before the last column, so that several are compared at once.
        let differences = columns.iter().zip(first).fold(0, |d, (&c, &f)| d | (c ^ f.wrapping_add(l)));
        columns.len() == first.len() && differences == 0
    })
}

impl<T: Real, V: Entry<T>> DiagonalRuns<T, V> {
    /// The copy of `a` with other values, or `None` where it would not be much faster than the matrix in T.
    /// `row_values(rows, values)` writes the values of some rows; off the diagonal V must be able to hold
    /// them.
    pub(super) fn from_csr<S: Real>(
        a: &Csr<S>,
        row_values: impl Fn(Range<usize>, &mut [T]) + Sync,
    ) -> Option<Self> {
        let mut has_runs = true;
        let count = |has_runs: bool, s: usize| {
            let rows = rows(a, s * LANES);
            if !has_runs {
                let longest = rows.iter().map(|(columns, _)| columns.len()).max().unwrap_or(0);
                return Counts { runs: 0, scattered: longest as u32 };
            }
            if is_all_runs(&rows) {
                return Counts { runs: rows[0].0.len() as u32, scattered: 0 };
            }
            let (mut runs, mut scattered) = (0, [0; LANES]);
            walk(&rows, |_| runs += 1, |l, _| scattered[l] += 1);
            Counts { runs, scattered: scattered.into_iter().max().unwrap_or(0) }
        };
        let (entry, column) = (LANES * size_of::<V>(), size_of::<u32>());
        let copy = |counts: &Counts| {
            let (runs, scattered) = (counts.runs as usize, counts.scattered as usize);
            size_of::<Counts>() + runs * (entry + column) + scattered * (entry + LANES * column)
        };
        let original = |rows: Range<usize>| {
            let nnz = a.row_ptr()[rows.end] - a.row_ptr()[rows.start];
            nnz * (size_of::<T>() + column) + rows.len() * (size_of::<usize>() + ROW_END)
        };
        let n_slices = a.n_rows().div_ceil(LANES);
        if n_slices > 64 * SAMPLED {
            // A sample of the matrix decides.
            let sample = (0..n_slices.div_ceil(SAMPLED)).into_par_iter().with_min_len(LEAST);
            let slice_counts = |k: usize| {
                let s = k * SAMPLED;
                let rows = s * LANES..((s + 1) * LANES).min(a.n_rows());
                let counts = count(true, s);
                let larger = copy(&counts) as isize - original(rows) as isize;
                (larger, counts.runs as usize, counts.scattered as usize)
            };
            let sum = |a: (isize, usize, usize), b: (isize, usize, usize)| (a.0 + b.0, a.1 + b.1, a.2 + b.2);
            let (larger, runs, scattered) = sample.map(slice_counts).reduce(|| (0, 0, 0), sum);
            if larger > 0 {
                return None;
            }
            has_runs = runs as f64 > FEW * scattered as f64;
        }
        let slices = (0..n_slices).into_par_iter().with_min_len(LEAST);
        let slices: Vec<Counts> = slices.map(|s| count(has_runs, s)).collect();
        let stored: usize = slices.par_iter().with_min_len(LEAST).map(copy).sum();
        if stored as f64 > WORTHWHILE * original(0..a.n_rows()) as f64 {
            return None;
        }
        let mut starts = vec![[0, 0]];
        for block in slices.chunks(ROWS / LANES) {
            let [mut column, mut entry] = starts[starts.len() - 1];
            for s in block {
                column += s.runs as usize + LANES * s.scattered as usize;
                entry += s.runs as usize + s.scattered as usize;
            }
            starts.push([column, entry]);
        }
        let [columns, entries] = starts[starts.len() - 1];
        let (mut columns, mut values) = (Pages::zeros(columns).ok()?, Pages::zeros(entries).ok()?);
        let mut rests = in_large_pages(vec![T::ZERO; if V::IS_EXACT { 0 } else { a.n_rows() }]);
        let mut blocks = Vec::new();
        let (mut c_left, mut v_left) = (columns.as_mut_slice(), values.as_mut_slice());
        let mut r_left = &mut rests[..];
        for (block, ends) in slices.chunks(ROWS / LANES).zip(starts.windows(2)) {
            let (c, v, r);
            (c, c_left) = c_left.split_at_mut(ends[1][0] - ends[0][0]);
            (v, v_left) = v_left.split_at_mut(ends[1][1] - ends[0][1]);
            (r, r_left) = r_left.split_at_mut(r_left.len().min(ROWS));
            blocks.push((block, c, v, r));
        }
        blocks
            .into_par_iter()
            .enumerate()
            .for_each(|(b, (slices, c, v, r))| fill(a, &row_values, b * ROWS, slices, c, v, r));
        let reason = reason::<T>(a, &slices, stored);
        Some(DiagonalRuns {
            n_rows: a.n_rows(),
            n_cols: a.n_cols(),
            slices,
            columns,
            values,
            rests,
            starts,
            reason,
        })
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(super) fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Why the matrix is copied: the bytes beside those in CRS.
    pub(super) fn reason(&self) -> &str {
        &self.reason
    }

    /// Entries, padding included.
    pub(super) fn stored(&self) -> usize {
        LANES * self.values.as_slice().len()
    }

    /// What a product reads of the matrix.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.slices[..])
            + size_of_val(self.columns.as_slice())
            + size_of_val(self.values.as_slice())
            + size_of_val(&self.rests[..])
    }

    /// `y = A x` for the rows from `first` on, which begin a block.
    pub(super) fn multiply(&self, x: &[T], first: usize, y: &mut [T]) {
        in_widest_vectors! {
            fn multiply<T: Real, V: Entry<T>>(runs: &DiagonalRuns<T, V>, x: &[T], first: usize, y: &mut [T]) {
                runs.multiply_any::<FMA>(x, first, y)
            }
        }
        assert!(x.len() >= self.n_cols && first.is_multiple_of(ROWS));
        multiply(self, x, first, y)
    }

    /// With fused multiply-add or, where that would be a call of a library, without.
    #[inline(always)]
    fn multiply_any<const FMA: bool>(&self, x: &[T], first: usize, y: &mut [T]) {
        let [column, entry] = self.starts[first / ROWS];
        let (mut columns, mut values) =
            (&self.columns.as_slice()[column..], &self.values.as_slice()[entry..]);
        let slices = &self.slices[first / LANES..];
        let (full, rest) = y.as_chunks_mut::<LANES>();
        for (counts, y) in slices.iter().zip(&mut *full) {
            // SAFETY: the columns are those of a valid matrix with at most x.len() columns.
            *y = unsafe { slice::<T, V, FMA>(counts, &mut columns, &mut values, x) };
        }
        if let Some(counts) = slices.get(full.len()).filter(|_| !rest.is_empty()) {
            // SAFETY: as above.
            let sums = unsafe { slice::<T, V, FMA>(counts, &mut columns, &mut values, x) };
            rest.copy_from_slice(&sums[..rest.len()]);
        }
        if !V::IS_EXACT {
            for ((y, &rest), &x) in y.iter_mut().zip(&self.rests[first..]).zip(&x[first..]) {
                *y = if FMA { rest.mul_add(x, *y) } else { *y + rest * x };
            }
        }
    }
}

/// The bytes of a copy beside those of `a` in CRS with values of T, and where they are saved.
fn reason<T: Real>(a: &Csr<impl Real>, slices: &[Counts], stored: usize) -> String {
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let in_crs = a.nnz() * (size_of::<T>() + size_of::<u32>()) + a.n_rows() * size_of::<usize>();
    let in_runs = slices.iter().map(|counts| LANES * counts.runs as usize).sum();
    format!(
        "diagonal runs: {:.0} % of the bytes in CRS, {:.0} % of the entries share a column index with others",
        percent(stored, in_crs),
        percent(in_runs, a.nnz())
    )
}

/// Writes the slices from row `first` on into the columns, values and rests of their block, which are zero.
fn fill<S: Real, T: Real, V: Entry<T>>(
    a: &Csr<S>,
    row_values: &impl Fn(Range<usize>, &mut [T]),
    first: usize,
    slices: &[Counts],
    columns: &mut [u32],
    values: &mut [[V; LANES]],
    rests: &mut [T],
) {
    let (mut columns_left, mut values_left) = (columns, values);
    let mut slice_values = Vec::new();
    for (s, counts) in slices.iter().enumerate() {
        let (runs, scattered) = (counts.runs as usize, counts.scattered as usize);
        let (columns, lone_columns, values, lone_values);
        (columns, columns_left) = columns_left.split_at_mut(runs);
        (lone_columns, columns_left) = columns_left.split_at_mut(LANES * scattered);
        (values, values_left) = values_left.split_at_mut(runs);
        (lone_values, values_left) = values_left.split_at_mut(scattered);
        let lone_columns = lone_columns.as_chunks_mut::<LANES>().0;

        let start = first + s * LANES;
        let end = a.n_rows().min(start + LANES);
        slice_values.resize(a.row_ptr()[end] - a.row_ptr()[start], T::ZERO);
        row_values(start..end, &mut slice_values);
        let mut left = &slice_values[..];
        let rows = rows(a, start).map(|(columns, _)| {
            let values;
            (values, left) = left.split_at(columns.len());
            (columns, values)
        });
        if !V::IS_EXACT {
            for (i, (columns, values)) in (start..end).zip(&rows) {
                debug_assert!(
                    columns.iter().zip(*values).all(|(&j, &v)| j as usize == i || V::of(v).value() == v),
                    "the others are rounded"
                );
                rests[i - first] =
                    place(columns, i as u32).map_or(T::ZERO, |k| values[k] - V::of(values[k]).value());
            }
        }
        if rows.iter().all(|(columns, _)| columns.len() == runs) {
            columns.copy_from_slice(rows[0].0);
            let values_of_rows = rows.map(|(_, values)| &values[..runs]);
            for (j, values) in values.iter_mut().enumerate() {
                *values = std::array::from_fn(|l| V::of(values_of_rows[l][j]));
            }
            continue;
        }
        let mut found = [0; LANES];
        let mut lone = |l: usize, j: usize| {
            let k = found[l];
            (lone_columns[k][l], lone_values[k][l]) = (rows[l].0[j], V::of(rows[l].1[j]));
            found[l] += 1;
        };
        if runs == 0 {
            rows.iter().enumerate().for_each(|(l, (columns, _))| (0..columns.len()).for_each(|j| lone(l, j)));
        } else {
            let mut k = 0;
            let run = |at: [usize; LANES]| {
                (columns[k], values[k]) =
                    (rows[0].0[at[0]], std::array::from_fn(|l| V::of(rows[l].1[at[l]])));
                k += 1;
            };
            walk(&rows, run, lone);
        }
        // Padding is zero times the x of the row's last entry; of any x where there is none.
        for (l, (columns, _)) in rows.iter().enumerate() {
            let last = columns.last().copied().unwrap_or(0);
            lone_columns[found[l]..].iter_mut().for_each(|columns| columns[l] = last);
        }
    }
}
