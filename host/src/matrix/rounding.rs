//! Matrices for smoothing, whose entries are rounded so far that they can be [packed](gpu_kernels::spmv::packed).

use cuda_std::Real;
use gpu_kernels::spmv::packed::{Packing, reach_of_row};
use rayon::prelude::*;

use super::{Csr, Format, Target, choose};

/// Which entry of a row is kept, and receives what the others lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pivot {
    /// The diagonal's, of a square matrix.
    Diagonal,
    /// The first of those that are largest in f32.
    Largest,
}

impl Pivot {
    /// Its column.
    fn column<T: Real>(self, i: usize, (columns, values): (&[u32], &[T])) -> u32 {
        match self {
            Pivot::Diagonal => i as u32,
            Pivot::Largest => {
                // The first where none is a number.
                let mut largest = (-1.0, columns.first().copied().unwrap_or(0));
                for (&j, v) in columns.iter().zip(values) {
                    let magnitude = (v.to_f64() as f32).abs();
                    if magnitude > largest.0 {
                        largest = (magnitude, j);
                    }
                }
                largest.1
            }
        }
    }
}

/// How `a` is packed: none where a GPU would not hold it in reduced SELL, or columns are too far from the pivots'.
pub(crate) fn packing<T: Real>(a: &Csr<T>, pivot: Pivot) -> Option<Packing> {
    const BLOCK: usize = 4096;
    if choose(a, Target::Gpu).format != Format::Sell {
        return None;
    }
    let of_row = |i: usize| match a.row(i) {
        row @ (&[first, .., last], _) => reach_of_row(pivot.column(i, row), first, last),
        row @ (&[only], _) => reach_of_row(pivot.column(i, row), only, only),
        (&[], _) => 0,
    };
    let reach = (0..a.n_rows()).into_par_iter().with_min_len(BLOCK).map(of_row).max();
    Packing::reaching(reach.unwrap_or(0))
}

/// `a` in f32, entries beside the pivots rounded and what that loses of a row added to its pivot, as
/// [`gpu_kernels::setup::convert::pack`] has it. The pivot is stored.
pub(crate) fn rounded<T: Real, S: Real>(a: &Csr<T>, packing: Packing, pivot: Pivot) -> Csr<S> {
    Csr::from_rows(
        a.n_rows(),
        a.n_cols(),
        |i| a.row_len(i),
        |i, columns, values| {
            let (of_row, entries) = a.row(i);
            columns.copy_from_slice(of_row);
            let pivot = pivot.column(i, (of_row, entries));
            let (mut of_pivot, mut lost, mut place) = (0.0, 0.0, None);
            for (k, (&j, v)) in of_row.iter().zip(entries).enumerate() {
                let value = v.to_f64() as f32;
                if j == pivot {
                    (of_pivot, place) = (value, Some(k));
                } else {
                    let rounded = packing.round(value);
                    lost += value - rounded;
                    values[k] = S::from_f64(rounded.into());
                }
            }
            if let Some(k) = place {
                values[k] = S::from_f64((of_pivot + lost).into());
            }
        },
    )
}
