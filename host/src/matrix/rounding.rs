//! Matrices for smoothing, whose entries are rounded so far that they can be [packed](gpu_kernels::spmv::packed).

use cuda_std::Real;
use gpu_kernels::spmv::packed::{Packing, reach_of_row};
use rayon::prelude::*;

use super::{Csr, Format, Target, choose};

/// How the square matrix `a` is packed: none where a GPU would not hold it in reduced SELL, or columns are too far from
/// their rows.
pub(crate) fn packing<T: Real>(a: &Csr<T>) -> Option<Packing> {
    const BLOCK: usize = 4096;
    let of_row = |i: usize| match a.row(i).0 {
        &[first, .., last] => reach_of_row(i as u32, first, last),
        &[only] => reach_of_row(i as u32, only, only),
        [] => 0,
    };
    let reach = (0..a.n_rows()).into_par_iter().with_min_len(BLOCK).map(of_row).max();
    let packing = Packing::reaching(reach.unwrap_or(0))?;
    (choose(a, Target::Gpu).format == Format::Sell).then_some(packing)
}

/// `a` in f32 with rounded entries off the diagonal and, on it, what that loses of each row, as
/// [`gpu_kernels::setup::convert::pack`] has it. The diagonal is stored.
pub(crate) fn rounded<T: Real, S: Real>(a: &Csr<T>, packing: Packing) -> Csr<S> {
    Csr::from_rows(
        a.n_rows(),
        a.n_cols(),
        |i| a.row_len(i),
        |i, columns, values| {
            let (of_row, entries) = a.row(i);
            columns.copy_from_slice(of_row);
            let (mut on_diagonal, mut lost, mut place) = (0.0, 0.0, None);
            for (k, (&j, v)) in of_row.iter().zip(entries).enumerate() {
                let value = v.to_f64() as f32;
                if j as usize == i {
                    (on_diagonal, place) = (value, Some(k));
                } else {
                    let rounded = packing.round(value);
                    lost += value - rounded;
                    values[k] = S::from_f64(rounded.into());
                }
            }
            if let Some(k) = place {
                values[k] = S::from_f64((on_diagonal + lost).into());
            }
        },
    )
}
