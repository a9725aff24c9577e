//! A triangle of a factor in the order in which its unknowns can be solved for: level after level, those of a
//! level at once (Saad 2003, section 11.6.3).

use std::ops::Range;

use crate::parallel::*;
use cuda_std::Real;

use crate::matrix::Csr;

/// `y_p = d_p (r[source_p] - sum_q t_pq y_q)` for p from 0 on. The unknowns of a level have no entries in its
/// columns or later ones.
#[derive(Debug, Clone)]
pub struct Triangle<T> {
    /// The strict triangle t, each row's columns below the level of the row.
    pub(super) entries: Csr<T>,
    /// d.
    pub(super) diagonal: Vec<T>,
    /// Where the right-hand side of each unknown is.
    pub(super) source: Vec<u32>,
    /// Where each level begins, and the end.
    pub(super) level_ptr: Vec<u32>,
}

/// A triangle as it was computed, in the order of elimination.
pub(super) struct Unscheduled<'a> {
    /// L and U.
    pub factors: &'a Csr<f64>,
    /// Places of the entries of a row of the triangle, without its diagonal.
    pub row: &'a (dyn Fn(usize) -> Range<usize> + Sync),
    /// Whether it is above the diagonal, and solved from the last row on.
    pub is_upper: bool,
    /// What the rows are multiplied by: d.
    pub diagonal: &'a (dyn Fn(usize) -> f64 + Sync),
    /// What an entry of row i and column j is multiplied by.
    pub scale: &'a (dyn Fn(usize, usize) -> f64 + Sync),
}

impl<T: Real> Triangle<T> {
    /// Also the place of each row of the factor; `source` is of rows of the factor.
    pub(super) fn of(unscheduled: &Unscheduled, source: &[u32]) -> (Triangle<T>, Vec<u32>) {
        let Unscheduled { factors, row, diagonal, scale, .. } = unscheduled;
        let n = factors.n_rows();
        let (rows, level_ptr) = unscheduled.by_levels();
        let mut places = vec![0u32; n];
        rows.iter().enumerate().for_each(|(place, &i)| places[i as usize] = place as u32);
        let entries = Csr::from_rows(
            n,
            n,
            |p| row(rows[p] as usize).len(),
            |p, columns, values| {
                let i = rows[p] as usize;
                let range = row(i);
                let from = factors.col_idx()[range.clone()].iter().zip(&factors.values()[range]);
                for ((column, value), (&j, &v)) in columns.iter_mut().zip(&mut *values).zip(from) {
                    (*column, *value) = (places[j as usize], T::from_f64(v * scale(i, j as usize)));
                }
                sort_row(columns, values);
            },
        );
        let triangle = Triangle {
            entries,
            diagonal: rows.par_iter().map(|&i| T::from_f64(diagonal(i as usize))).collect(),
            source: rows.par_iter().map(|&i| source[i as usize]).collect(),
            level_ptr,
        };
        (triangle, places)
    }

    /// Unknowns.
    pub fn n(&self) -> usize {
        self.diagonal.len()
    }

    /// How many levels there are.
    pub fn levels(&self) -> usize {
        self.level_ptr.len() - 1
    }

    /// The unknowns of a level.
    pub(super) fn level(&self, level: usize) -> Range<usize> {
        self.level_ptr[level] as usize..self.level_ptr[level + 1] as usize
    }

    /// Bytes that it takes, with row pointers of 32 bits.
    pub fn bytes(&self) -> u64 {
        triangle_bytes::<T>(self.n(), self.entries.nnz())
    }
}

/// Bytes of a triangle of so many unknowns and entries.
pub(super) fn triangle_bytes<T>(n: usize, entries: usize) -> u64 {
    ((4 + size_of::<T>()) * entries + (8 + size_of::<T>()) * n) as u64
}

impl Unscheduled<'_> {
    /// The rows level by level, ascending within a level, and where each level begins.
    fn by_levels(&self) -> (Vec<u32>, Vec<u32>) {
        let n = self.factors.n_rows();
        let mut levels = vec![0u32; n];
        let mut counts: Vec<u32> = Vec::new();
        let mut visit = |i: usize| {
            let columns = &self.factors.col_idx()[(self.row)(i)];
            let level = columns.iter().map(|&j| levels[j as usize] + 1).max().unwrap_or(0);
            levels[i] = level;
            if level as usize == counts.len() {
                counts.push(0);
            }
            counts[level as usize] += 1;
        };
        match self.is_upper {
            true => (0..n).rev().for_each(&mut visit),
            false => (0..n).for_each(&mut visit),
        }
        let mut level_ptr = vec![0];
        for count in counts {
            level_ptr.push(level_ptr[level_ptr.len() - 1] + count);
        }
        let mut next = level_ptr.clone();
        let mut rows = vec![0u32; n];
        for (i, &level) in levels.iter().enumerate() {
            rows[next[level as usize] as usize] = i as u32;
            next[level as usize] += 1;
        }
        (rows, level_ptr)
    }
}

/// Sorts a row by its columns: in place where it is short, as most rows are.
pub(super) fn sort_row<T: Copy>(columns: &mut [u32], values: &mut [T]) {
    const SHORT: usize = 48;
    if columns.len() > SHORT {
        let mut row: Vec<(u32, T)> = columns.iter().copied().zip(values.iter().copied()).collect();
        row.sort_unstable_by_key(|entry| entry.0);
        for ((column, value), entry) in columns.iter_mut().zip(values).zip(row) {
            (*column, *value) = entry;
        }
        return;
    }
    for at in 1..columns.len() {
        let (column, value) = (columns[at], values[at]);
        let mut to = at;
        while to > 0 && columns[to - 1] > column {
            (columns[to], values[to]) = (columns[to - 1], values[to - 1]);
            to -= 1;
        }
        (columns[to], values[to]) = (column, value);
    }
}
