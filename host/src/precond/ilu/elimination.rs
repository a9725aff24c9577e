//! Factors on a pattern that is known, row by row.

use crate::parallel::*;

use super::factors::Factors;
use crate::matrix::Csr;
use arithmetic::pivots::Pivots;

/// L and U while they are computed, in one pattern with its diagonal: the rows before one that is eliminated.
pub(super) struct Done<'a> {
    row_ptr: &'a [usize],
    columns: &'a [u32],
    /// Places of the diagonal.
    diagonal: &'a [usize],
    values: &'a [f64],
}

impl Done<'_> {
    /// Row k of U right of its diagonal.
    fn upper(&self, k: usize) -> (&[u32], &[f64]) {
        let range = self.diagonal[k] + 1..self.row_ptr[k + 1];
        (&self.columns[range.clone()], &self.values[range])
    }
    fn pivot(&self, k: usize) -> f64 {
        self.values[self.diagonal[k]]
    }
}

/// A row that is eliminated: its columns, and its values, those of A at first.
pub(super) struct Row<'a> {
    i: usize,
    columns: &'a [u32],
    values: &'a mut [f64],
    /// Where the diagonal is.
    diagonal: usize,
}

/// No place in the row.
const NONE: u32 = u32::MAX;

/// Row i of `L U` (Saad 2003, algorithm 10.4). `places` has a number for each column, all `NONE`.
pub(super) fn eliminate_row(row: &mut Row, done: &Done, places: &mut [u32]) {
    row.columns.iter().enumerate().for_each(|(at, &j)| places[j as usize] = at as u32);
    for at in 0..row.diagonal {
        let k = row.columns[at] as usize;
        let factor = row.values[at] / done.pivot(k);
        row.values[at] = factor;
        let (columns, values) = done.upper(k);
        for (&j, &u) in columns.iter().zip(values) {
            let place = places[j as usize];
            if place != NONE {
                row.values[place as usize] -= factor * u;
            }
        }
    }
    row.columns.iter().for_each(|&j| places[j as usize] = NONE);
}

/// The same without fill, and without changes off the diagonal.
pub(super) fn eliminate_pivot(row: &mut Row, done: &Done, _: &mut [u32]) {
    let mut pivot = row.values[row.diagonal];
    for at in 0..row.diagonal {
        let k = row.columns[at] as usize;
        row.values[at] /= done.pivot(k);
        let (columns, values) = done.upper(k);
        if let Ok(place) = columns.binary_search(&(row.i as u32)) {
            pivot -= row.values[at] * values[place];
        }
    }
    row.values[row.diagonal] = pivot;
}

/// Rows that a task takes.
const ROWS: usize = 256;

/// Factors on the pattern of `whole`, which has a diagonal. Rows that do not depend on each other are
/// computed at once; whether they are changes no bit.
pub(super) fn on_pattern(
    mut whole: Csr<f64>,
    pivots: Pivots,
    eliminate: fn(&mut Row, &Done, &mut [u32]),
) -> Factors {
    let n = whole.n_rows();
    let (row_ptr, columns, values) = whole.parts_mut();
    let place = |i: usize| {
        let row = row_ptr[i]..row_ptr[i + 1];
        row.start + columns[row].partition_point(|&j| (j as usize) < i)
    };
    let diagonal: Vec<usize> = (0..n).into_par_iter().map(place).collect();
    let mut changed = 0;
    let mut start = 0;
    while start < n {
        let end = independent(start, row_ptr, columns, &diagonal);
        let (before, rest) = values.split_at_mut(row_ptr[start]);
        let done = Done { row_ptr, columns, diagonal: &diagonal, values: before };
        let task = |(first, mut values): (usize, &mut [f64]), places: &mut Vec<u32>| {
            places.resize(n.max(places.len()), NONE);
            let mut changed = 0;
            for i in first..(first + ROWS).min(end) {
                let (own, others) = values.split_at_mut(row_ptr[i + 1] - row_ptr[i]);
                values = others;
                let columns = &columns[row_ptr[i]..row_ptr[i + 1]];
                let mut row = Row { i, columns, values: own, diagonal: diagonal[i] - row_ptr[i] };
                let most = row.values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
                let entry = row.values[row.diagonal];
                eliminate(&mut row, &done, places);
                let pivot = &mut row.values[row.diagonal];
                let (usable, is_changed) = pivots.checked(*pivot, entry, most);
                *pivot = usable;
                changed += usize::from(is_changed);
            }
            changed
        };
        let tasks = in_tasks(start, end, row_ptr, rest);
        changed += match tasks.len() {
            1 => SCRATCH.with_borrow_mut(|places| tasks.into_iter().map(|t| task(t, places)).sum::<usize>()),
            _ => tasks
                .into_par_iter()
                .map(|t| SCRATCH.with_borrow_mut(|places| task(t, places)))
                .sum::<usize>(),
        };
        start = end;
    }
    Factors { whole, diagonal, changed, shift: pivots.shift }
}

thread_local! {
    /// A place for each column, all of them `NONE` between rows.
    static SCRATCH: std::cell::RefCell<Vec<u32>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// The end of the rows from `start` on that do not depend on each other.
fn independent(start: usize, row_ptr: &[usize], columns: &[u32], diagonal: &[usize]) -> usize {
    let depends = |i: usize| columns[row_ptr[i]..diagonal[i]].last().is_some_and(|&j| j as usize >= start);
    (start + 1..diagonal.len()).find(|&i| depends(i)).unwrap_or(diagonal.len())
}

/// The values of the rows in pieces of [`ROWS`], each with its first row.
fn in_tasks<'a>(
    start: usize,
    end: usize,
    row_ptr: &[usize],
    mut values: &'a mut [f64],
) -> Vec<(usize, &'a mut [f64])> {
    let mut tasks = Vec::with_capacity((end - start).div_ceil(ROWS));
    for first in (start..end).step_by(ROWS) {
        let count = row_ptr[(first + ROWS).min(end)] - row_ptr[first];
        let (own, others) = values.split_at_mut(count);
        tasks.push((first, own));
        values = others;
    }
    tasks
}
