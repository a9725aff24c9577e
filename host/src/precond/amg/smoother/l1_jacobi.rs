//! l1-Jacobi: Jacobi with the rows' sums of absolute values in place of the diagonal (Baker, Falgout, Kolev,
//! Yang 2011).

use cuda_std::Real;

use super::input::Input;
use super::step::Sweeps;
use super::uses::Uses;
use crate::error::Result;
use crate::precond::amg::cast::Cast;
use crate::setup::{Algebra, RowWeight};

pub(super) const USES: Uses = Uses { omega: true, ..Uses::NOTHING };

pub(super) fn setup<T: Real, S: Real, B: Algebra<T> + Cast<T, S>>(
    input: &Input<T, B>,
) -> Result<Sweeps<S, B>> {
    let d = input.row_weights(RowWeight::InverseL1)?;
    Sweeps::new(input, &d, vec![input.params.omega.unwrap_or(1.0)])
}
