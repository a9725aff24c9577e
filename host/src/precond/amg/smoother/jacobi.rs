//! Weighted Jacobi: `x += omega D^-1 (b - A x)`, D the [smoothing
//! diagonal](super::super::spectrum::diagonal).

use cuda_std::Real;

use super::input::Input;
use super::step::Sweeps;
use super::uses::Uses;
use crate::error::Result;
use crate::precond::amg::cast::Cast;
use crate::setup::Algebra;

/// The weight over the spectral radius, unless another is asked for.
const OMEGA: f64 = 4.0 / 3.0;

pub(super) const USES: Uses =
    Uses { omega: true, degree: false, spectral_radius: |params| params.omega.is_none() };

pub(super) fn setup<T: Real, S: Real, B: Algebra<T> + Cast<T, S>>(
    input: &Input<T, B>,
) -> Result<Sweeps<S, B>> {
    let omega = input.params.omega.unwrap_or(OMEGA / input.diagonal.spectrum.radius);
    Sweeps::new(input, &input.diagonal.inverse, vec![omega])
}
