//! Matrices for smoothing, whose entries are rounded so far that they can be
//! [compressed](gpu_kernels::spmv::compressed).

use std::ops::Range;

use crate::parallel::*;
use arithmetic::compression::{Compression, reach_of_row};
use cuda_std::Real;

use super::{Csr, Format, Target, choose, place};
use crate::vectors::in_widest_vectors;

/// Which entry of a row is kept, and receives what the others lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pivot {
    /// The diagonal's, of a square matrix.
    Diagonal,
    /// The first of those that are largest in f32.
    Largest,
}

in_widest_vectors! {
    /// Where a row has its pivot, if it has one.
    fn place_of_pivot<T: Real>(pivot: Pivot, diagonal: u32, columns: &[u32], values: &[T]) -> Option<usize> {
        match pivot {
            Pivot::Diagonal => place(columns, diagonal),
            Pivot::Largest => {
                let magnitude = |v: &T| (v.to_f64() as f32).abs();
                let larger = |most: f32, m: f32| if m > most { m } else { most };
                let largest = values.iter().map(magnitude).fold(-1.0, larger);
                // The first where none is a number.
                let k = values.iter().position(|v| magnitude(v) == largest).unwrap_or(0);
                (k < columns.len()).then_some(k)
            }
        }
    }
}

/// A matrix in f32 whose entries are rounded, except for the pivots. A row's pivot gets what the others lose,
/// as [`gpu_kernels::setup::convert::compress`] has it.
pub(crate) struct Rounding<'a, T> {
    a: &'a Csr<T>,
    compression: Compression,
    /// Where each row has its pivot; [`ABSENT`] where it has none.
    places: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl<'a, T: Real> Rounding<'a, T> {
    /// `None` where a GPU would not hold `a` in reduced SELL, or columns are too far from the pivots'.
    pub(crate) fn of(a: &'a Csr<T>, pivot: Pivot) -> Option<Self> {
        if choose(a, Target::Gpu).format != Format::Sell {
            return None;
        }
        let (places, reach) = pivots(a, pivot, |i| Some(i as u32), |j| j);
        Some(Rounding { a, compression: Compression::reaching(reach)?, places })
    }

    /// The same for some rows of a matrix, so far: the diagonal entry of row i is in column `diagonal(i)`, of
    /// which there is none for other rows.
    pub(crate) fn of_rows(
        a: &'a Csr<T>,
        pivot: Pivot,
        diagonal: impl Fn(usize) -> Option<u32> + Sync,
        compression: Compression,
    ) -> Self {
        Rounding { a, compression, places: pivots(a, pivot, diagonal, |j| j).0 }
    }

    /// The matrix that is rounded.
    pub(crate) fn matrix(&self) -> &Csr<T> {
        self.a
    }

    /// The values of some rows.
    pub(crate) fn values<S: Real>(&self, rows: Range<usize>, values: &mut [S]) {
        round(self.a, self.compression, &self.places, rows, values)
    }
}

/// Where rows have their pivots, and how far columns are from the pivots' at most. The diagonal entry of row
/// i is in column `diagonal(i)`, and column j has the number `number(j)` in the whole matrix. Rows without a
/// diagonal are not looked at.
pub(crate) fn pivots<T: Real>(
    a: &Csr<T>,
    pivot: Pivot,
    diagonal: impl Fn(usize) -> Option<u32> + Sync,
    number: impl Fn(u32) -> u32 + Sync,
) -> (Vec<u32>, u32) {
    const BLOCK: usize = 4096;
    let pivot_and_reach = |i: usize| {
        let Some(diagonal) = diagonal(i) else { return (ABSENT, 0) };
        let (columns, values) = a.row(i);
        let place = place_of_pivot(pivot, diagonal, columns, values);
        let column = number(place.map_or(diagonal, |k| columns[k]));
        let reach = match columns {
            &[first, .., last] => reach_of_row(column, number(first), number(last)),
            &[only] => reach_of_row(column, number(only), number(only)),
            [] => 0,
        };
        (place.map_or(ABSENT, |k| k as u32), reach)
    };
    let rows = (0..a.n_rows()).into_par_iter().with_min_len(BLOCK);
    let (places, reaches): (Vec<u32>, Vec<u32>) = rows.map(pivot_and_reach).unzip();
    (places, reaches.into_iter().max().unwrap_or(0))
}

in_widest_vectors! {
    fn round<T: Real, S: Real>(a: &Csr<T>, compression: Compression, places: &[u32], rows: Range<usize>, values: &mut [S]) {
        let first = a.row_ptr()[rows.start];
        for (rounded, v) in values.iter_mut().zip(&a.values()[first..]) {
            *rounded = S::from_f64(compression.round(v.to_f64() as f32).into());
        }
        let mut left = values;
        for (i, &place) in rows.clone().zip(&places[rows]) {
            let entries = a.row(i).1;
            let row;
            (row, left) = left.split_at_mut(entries.len());
            if place != ABSENT {
                let k = place as usize;
                let lost = |sum: f32, k: usize| sum + (entries[k].to_f64() as f32 - row[k].to_f64() as f32);
                // From left to right, as on a GPU.
                let lost = (k + 1..entries.len()).fold((0..k).fold(0.0, lost), lost);
                row[k] = S::from_f64((entries[k].to_f64() as f32 + lost).into());
            }
        }
    }
}
