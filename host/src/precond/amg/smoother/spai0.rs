//! SPAI-0: Jacobi with the diagonal approximate inverse of least Frobenius norm (Broeker and Grote 2002).

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
    let d = input.row_weights(RowWeight::Spai0)?;
    Sweeps::new(input, &d, vec![input.params.omega.unwrap_or(1.0)])
}
