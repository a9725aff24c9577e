//! A copy of a CRS matrix with fewer bytes and vector loads, for matrices with diagonals or with short rows.
//!
//! Where unknowns are numbered along the lines of a grid, or of a mesh made from one, the neighbours of row
//! `i + 1` are those of row `i`, plus one. A *stripe* is eight such entries, `a(i, c), a(i + 1, c + 1), ...,
//! a(i + 7, c + 7)` of the rows of one slice: eight values, one column, and one load for the eight elements
//! of `x`. It is the diagonal format (Saad 2003, section 3.4) by pieces, as CSX (Kourtis et al., PPoPP 2011)
//! has it among others. What is in no stripe is *scattered*: eight columns with eight values, as in SELL-8.

use std::ops::Range;

use cuda_std::Real;
use rayon::prelude::*;

use super::entry::Entry;
use super::pages::Pages;
use crate::matrix::lanes::{LANES, add_gathered, prefetch};
use crate::matrix::{Csr, in_large_pages, place};
use crate::vectors::in_widest_vectors;

/// Rows of a block, at which products begin.
const ROWS: usize = super::CHUNK;
/// The copy is made only if its products move at most this share of the bytes that they would move with the
/// matrix: it costs memory and a tenth of a second.
const WORTHWHILE: f64 = 0.9;
/// The end of a row in CRS is a branch that cannot be predicted: bytes that are read in the time it costs.
const ROW_END: usize = 24;

/// One of this many slices is looked at first.
const SAMPLED: usize = 16;
/// Fewer stripes than this share of what is scattered are not worth the search.
const FEW: f64 = 0.05;
/// Slices of a task.
const LEAST: usize = ROWS / LANES;

/// The matrix in slices of [`LANES`] rows, entries stored as V.
#[derive(Debug)]
pub(super) struct Stripes<T, V = T> {
    n_rows: usize,
    n_cols: usize,
    slices: Vec<Counts>,
    /// Of a slice: a column for each stripe (its first), then one for each scattered entry.
    columns: Pages<u32>,
    /// Of a slice: the stripes, then the scattered entries; one lane for each row.
    values: Pages<[V; LANES]>,
    /// The part of each row's diagonal entry that V cannot hold; empty if V holds all of it.
    rests: Vec<T>,
    /// Where each block begins in `columns` and in `values`; then where the last one ends.
    starts: Vec<[usize; 2]>,
}

/// What a slice of [`LANES`] rows holds.
#[derive(Debug, Clone, Copy)]
struct Counts {
    stripes: u32,
    /// Scattered entries of the row with the most of them; the others are padded with zeros.
    scattered: u32,
}

/// Columns and values of the rows `first..first + LANES`; none of rows behind the last.
fn rows<T: Real>(a: &Csr<T>, first: usize) -> [(&[u32], &[T]); LANES] {
    std::array::from_fn(|l| if first + l < a.n_rows() { a.row(first + l) } else { (&[][..], &[][..]) })
}

/// Walks over the stripes of a slice, then over what is left of each row:
/// `stripe(j)` gets the place of the stripe in each row, `scattered(lane, j)` that of another entry.
fn walk<T: Real>(
    rows: &[(&[u32], &[T]); LANES],
    mut stripe: impl FnMut([usize; LANES]),
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
            stripe(at);
            at.iter_mut().for_each(|at| *at += 1);
        } else {
            scattered(0, j);
        }
    }
    for l in 1..LANES {
        (at[l]..rows[l].len()).for_each(|j| scattered(l, j));
    }
}

/// Whether the rows of a slice have nothing but stripes: the columns of the first row, shifted by one from
/// row to row.
fn is_all_stripes<T>(rows: &[(&[u32], &[T]); LANES]) -> bool {
    let first = rows[0].0;
    rows.iter().zip(0..).all(|((columns, _), l)| {
        // Without an end before the last column, so that several are compared at once.
        let differences = columns.iter().zip(first).fold(0, |d, (&c, &f)| d | (c ^ f.wrapping_add(l)));
        columns.len() == first.len() && differences == 0
    })
}

impl<T: Real, V: Entry<T>> Stripes<T, V> {
    /// The copy of `a` with other values, or `None` where it would not be much faster than the matrix in T.
    /// `row_values(rows, values)` writes the values of some rows; off the diagonal V must be able to hold
    /// them.
    pub(super) fn from_csr<S: Real>(
        a: &Csr<S>,
        row_values: impl Fn(Range<usize>, &mut [T]) + Sync,
    ) -> Option<Self> {
        let mut has_stripes = true;
        let count = |has_stripes: bool, s: usize| {
            let rows = rows(a, s * LANES);
            if !has_stripes {
                let longest = rows.iter().map(|(columns, _)| columns.len()).max().unwrap_or(0);
                return Counts { stripes: 0, scattered: longest as u32 };
            }
            if is_all_stripes(&rows) {
                return Counts { stripes: rows[0].0.len() as u32, scattered: 0 };
            }
            let (mut stripes, mut scattered) = (0, [0; LANES]);
            walk(&rows, |_| stripes += 1, |l, _| scattered[l] += 1);
            Counts { stripes, scattered: scattered.into_iter().max().unwrap_or(0) }
        };
        let (entry, column) = (LANES * size_of::<V>(), size_of::<u32>());
        let copy = |counts: &Counts| {
            let (stripes, scattered) = (counts.stripes as usize, counts.scattered as usize);
            size_of::<Counts>() + stripes * (entry + column) + scattered * (entry + LANES * column)
        };
        let original = |rows: Range<usize>| {
            let nnz = a.row_ptr()[rows.end] - a.row_ptr()[rows.start];
            nnz * (size_of::<T>() + column) + rows.len() * (size_of::<usize>() + ROW_END)
        };
        let slices = (0..a.n_rows().div_ceil(LANES)).into_par_iter();
        if slices.len() > 64 * SAMPLED {
            // A sample of the matrix decides.
            let sample = slices.clone().step_by(SAMPLED).with_min_len(LEAST);
            let slice_counts = |s: usize| {
                let rows = s * LANES..((s + 1) * LANES).min(a.n_rows());
                let counts = count(true, s);
                let larger = copy(&counts) as isize - original(rows) as isize;
                (larger, counts.stripes as usize, counts.scattered as usize)
            };
            let sum = |a: (isize, usize, usize), b: (isize, usize, usize)| (a.0 + b.0, a.1 + b.1, a.2 + b.2);
            let (larger, stripes, scattered) = sample.map(slice_counts).reduce(|| (0, 0, 0), sum);
            if larger > 0 {
                return None;
            }
            has_stripes = stripes as f64 > FEW * scattered as f64;
        }
        let slices: Vec<Counts> = slices.with_min_len(LEAST).map(|s| count(has_stripes, s)).collect();
        let stored: usize = slices.par_iter().with_min_len(LEAST).map(copy).sum();
        if stored as f64 > WORTHWHILE * original(0..a.n_rows()) as f64 {
            return None;
        }
        let mut starts = vec![[0, 0]];
        for block in slices.chunks(ROWS / LANES) {
            let [mut column, mut entry] = starts[starts.len() - 1];
            for s in block {
                column += s.stripes as usize + LANES * s.scattered as usize;
                entry += s.stripes as usize + s.scattered as usize;
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
        Some(Stripes { n_rows: a.n_rows(), n_cols: a.n_cols(), slices, columns, values, rests, starts })
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(super) fn n_cols(&self) -> usize {
        self.n_cols
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
            fn multiply<T: Real, V: Entry<T>>(stripes: &Stripes<T, V>, x: &[T], first: usize, y: &mut [T]) {
                stripes.multiply_any::<FMA>(x, first, y)
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
        let (stripes, scattered) = (counts.stripes as usize, counts.scattered as usize);
        let (columns, lone_columns, values, lone_values);
        (columns, columns_left) = columns_left.split_at_mut(stripes);
        (lone_columns, columns_left) = columns_left.split_at_mut(LANES * scattered);
        (values, values_left) = values_left.split_at_mut(stripes);
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
        if rows.iter().all(|(columns, _)| columns.len() == stripes) {
            columns.copy_from_slice(rows[0].0);
            let values_of_rows = rows.map(|(_, values)| &values[..stripes]);
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
        if stripes == 0 {
            rows.iter().enumerate().for_each(|(l, (columns, _))| (0..columns.len()).for_each(|j| lone(l, j)));
        } else {
            let mut k = 0;
            let stripe = |at: [usize; LANES]| {
                (columns[k], values[k]) =
                    (rows[0].0[at[0]], std::array::from_fn(|l| V::of(rows[l].1[at[l]])));
                k += 1;
            };
            walk(&rows, stripe, lone);
        }
        // Padding is zero times the x of the row's last entry; of any x where there is none.
        for (l, (columns, _)) in rows.iter().enumerate() {
            let last = columns.last().copied().unwrap_or(0);
            lone_columns[found[l]..].iter_mut().for_each(|columns| columns[l] = last);
        }
    }
}

/// The products of the slice that `columns` and `values` begin with; moves them to the next.
///
/// # Safety
/// Every column of a scattered entry, and [`LANES`] from that of a stripe on, are less than `x.len()`.
#[inline(always)]
unsafe fn slice<T: Real, V: Entry<T>, const FMA: bool>(
    counts: &Counts,
    columns: &mut &[u32],
    values: &mut &[[V; LANES]],
    x: &[T],
) -> [T; LANES] {
    let (stripes, scattered) = (counts.stripes as usize, counts.scattered as usize);
    // Two running sums: the latency of an addition is longer than a load takes.
    let (mut even, mut odd) = ([T::ZERO; LANES], [T::ZERO; LANES]);
    let (c, v);
    (c, *columns) = columns.split_at(stripes);
    (v, *values) = values.split_at(stripes);
    let ((c, last_c), (v, last_v)) = (c.as_chunks::<2>(), v.as_chunks::<2>());
    for (c, v) in c.iter().zip(v) {
        // SAFETY: the caller's promise.
        unsafe {
            add_stripe::<T, V, FMA>(&mut even, &v[0], c[0], x);
            add_stripe::<T, V, FMA>(&mut odd, &v[1], c[1], x);
        }
    }
    for (&c, v) in last_c.iter().zip(last_v) {
        // SAFETY: the caller's promise.
        unsafe { add_stripe::<T, V, FMA>(&mut even, v, c, x) };
    }
    let mut sums: [T; LANES] = std::array::from_fn(|l| even[l] + odd[l]);
    if scattered > 0 {
        let (c, v);
        (c, *columns) = columns.split_at(LANES * scattered);
        (v, *values) = values.split_at(scattered);
        // SAFETY: the caller's promise.
        sums = unsafe { add_scattered(sums, v, c, x) };
    }
    sums
}

/// `sums_l += v_l x(c + l)` for every lane; `c + LANES` is at most `x.len()`.
#[inline(always)]
unsafe fn add_stripe<T: Real, V: Entry<T>, const FMA: bool>(
    sums: &mut [T; LANES],
    v: &[V; LANES],
    c: u32,
    x: &[T],
) {
    prefetch(v);
    // SAFETY: the caller's promise. Two branches for each entry cost a tenth of the product.
    let x = unsafe { x.get_unchecked(c as usize..c as usize + LANES) };
    let v = v.map(V::value);
    for l in 0..LANES {
        sums[l] = if FMA { v[l].mul_add(x[l], sums[l]) } else { sums[l] + v[l] * x[l] };
    }
}

/// Adds the scattered entries. Not inlined, so that it is compiled without AVX-512, with which
/// LLVM shuffles the columns through vector registers to gather.
///
/// # Safety
/// Every column is less than `x.len()`.
#[inline(never)]
unsafe fn add_scattered<T: Real, V: Entry<T>>(
    mut sums: [T; LANES],
    v: &[[V; LANES]],
    c: &[u32],
    x: &[T],
) -> [T; LANES] {
    for (v, c) in v.iter().zip(c.as_chunks().0) {
        prefetch(v);
        // SAFETY: the caller's promise.
        unsafe { add_gathered(&mut sums, &v.map(V::value), c, x) };
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::entry::Half;
    use super::*;
    use crate::matrix::Coo;
    use crate::matrix::rounding::{Pivot, Rounding};
    use crate::problem::{self, random};

    fn rounded<S: Real, T: Real>(a: &Csr<S>) -> Option<Stripes<T>> {
        Stripes::from_csr(a, |rows, values| a.round_rows(rows, values))
    }

    /// Every product, of all blocks and of the last, against the plain one.
    fn check<T: Real>(a: &Csr<T>) {
        check_products(a, &rounded::<T, T>(a).expect("has diagonals"));
    }

    fn check_products<T: Real, V: Entry<T>>(a: &Csr<T>, stripes: &Stripes<T, V>) {
        let x: Vec<T> = (0..a.n_cols()).map(|j| T::from_f64((0.7 * j as f64).sin() + 1.5)).collect();
        let expected = a.mul_vec(&x);
        let magnitude = a.map_values(T::abs).mul_vec(&x);
        let last = (a.n_rows() - 1) / ROWS * ROWS;
        type Version<'a, T> = &'a dyn Fn(usize, &mut [T]);
        let versions: [Version<T>; 2] = [&|first, y| stripes.multiply(&x, first, y), &|first, y| {
            stripes.multiply_any::<false>(&x, first, y)
        }];
        for multiply in versions {
            let mut y = vec![T::from_f64(f64::NAN); a.n_rows()];
            for (b, y) in y.chunks_mut(ROWS).enumerate() {
                multiply(b * ROWS, y);
            }
            for i in 0..a.n_rows() {
                let error = (y[i] - expected[i]).to_f64().abs();
                let bound = (a.row_len(i) + 2) as f64 * T::EPSILON.to_f64() * magnitude[i].to_f64();
                assert!(error <= bound, "row {i} of {}: {} is not {}", a.n_rows(), y[i], expected[i]);
            }
            let whole = y.clone();
            multiply(last, &mut y[last..]);
            assert!(y == whole);
        }
    }

    #[test]
    fn stripes_and_scattered_entries_add_up_to_the_product() {
        // Ends of lines inside slices; the last slice has 8, 2 and 6 rows.
        for n in [24, 27, 31] {
            check(&problem::tet(n, 3));
            check(&problem::tet(n, 3).cast::<f32>());
        }
    }

    #[test]
    fn gaps_empty_rows_and_more_columns_than_rows() {
        for n in [1, 8, 15, 2048, 4099] {
            let mut a = Coo::new(n, n + 40, 5 * n).unwrap();
            for i in 0..n {
                for offset in [0, 1, 7, 31, 40] {
                    if i % 97 != 50 && (i + offset) % 61 != 5 && i + offset < n + 40 {
                        a.push(i, i + offset, ((3 * i + offset) as f64).cos());
                    }
                }
            }
            let a: Csr<f64> = a.into_csr().0;
            if n < LANES {
                assert!(rounded::<f64, f64>(&a).is_none());
            } else {
                check(&a);
            }
        }
    }

    #[test]
    fn values_are_rounded_on_the_way() {
        let a = problem::tet(27, 3);
        let [rounded, cast] = [rounded::<f64, f32>(&a), rounded::<f32, f32>(&a.cast())].map(Option::unwrap);
        assert_eq!(rounded.columns.as_slice(), cast.columns.as_slice());
        assert_eq!(rounded.values.as_slice(), cast.values.as_slice());
    }

    #[test]
    fn halves_hold_what_rounding_leaves() {
        for n in [24, 27] {
            let a = problem::tet(n, 3);
            let rounding = Rounding::of(&a, Pivot::Diagonal).expect("has few entries far away");
            let row_values = |rows: Range<usize>, values: &mut [f32]| rounding.values(rows, values);
            let stripes: Stripes<f32, Half> = Stripes::from_csr(&a, row_values).expect("has diagonals");
            assert!(stripes.rests.iter().any(|&rest| rest != 0.0));
            check_products(&a.with_rows(row_values), &stripes);
            let exact: Stripes<f32> = Stripes::from_csr(&a, row_values).expect("has diagonals");
            assert!(exact.rests.is_empty() && 5 * stripes.bytes() < 4 * exact.bytes());
        }
    }

    #[test]
    fn short_rows_without_diagonals_are_scattered() {
        let n = 64 * SAMPLED * LANES + 5;
        let mut p = Coo::new(n, 1000, 0).unwrap();
        for i in 0..n as u64 {
            for k in 0..random::below(7, i, 5) {
                p.push(i as usize, random::below(k, i, 1000) as usize, random::uniform(k, i) - 0.5);
            }
        }
        let p: Csr<f64> = p.into_csr().0;
        let stripes = rounded::<f64, f64>(&p).expect("many rows for its entries");
        assert!(stripes.slices.iter().all(|counts| counts.stripes == 0));
        check_products(&p, &stripes);
    }

    #[test]
    fn a_matrix_without_diagonals_is_not_copied() {
        // Of the second, only a sample is looked at.
        for n in [500, 64 * SAMPLED * LANES + 5] {
            assert!(rounded::<f64, f64>(&problem::random_spd(n, 8, 1)).is_none());
        }
    }
}
