//! A Chebyshev polynomial in `D^-1 A` over the upper part of its spectrum (Adams, Brezina, Hu, Tuminaro
//! 2003), as sweeps with its roots' inverses for weights.

use cuda_std::Real;

use super::input::Input;
use super::step::Sweeps;
use super::uses::Uses;
use crate::error::Result;
use crate::precond::amg::cast::Cast;
use crate::precond::amg::spectrum::Spectrum;
use crate::setup::{Algebra, Size};

/// The share of the spectrum of `D^-1 A` that is damped: from an eighth of its upper end on.
const RATIO: f64 = 8.0;
/// Lanczos's method finds a radius that is a little too small.
const SAFETY: f64 = 1.05;

/// The degree unless another is asked for.
const DEGREE: u32 = 2;
/// The same where rows of the finest matrix have fewer than [`SHORT_ROW`] entries in the mean: a sweep costs
/// little there compared with the vectors of an iteration.
const DEGREE_OF_SHORT_ROWS: u32 = 3;
const SHORT_ROW: usize = 6;

pub(super) const USES: Uses = Uses { degree: true, spectral_radius: |_| true, ..Uses::NOTHING };

pub(super) fn setup<T: Real, S: Real, B: Algebra<T> + Cast<T, S>>(
    input: &Input<T, B>,
) -> Result<Sweeps<S, B>> {
    let Size { n_rows, nnz, .. } = input.finest;
    let suited = if nnz < SHORT_ROW * n_rows { DEGREE_OF_SHORT_ROWS } else { DEGREE };
    let weights = weights(input.diagonal.spectrum, input.params.degree.unwrap_or(suited));
    Sweeps::new(input, &input.diagonal.inverse, weights)
}

/// The inverse roots of the polynomial of this degree over `[r / RATIO, r]`, `r = SAFETY radius`: its sweeps
/// together are `x += p(D^-1 A) D^-1 (b - A x)`.
///
/// Where eigenvalues are complex they are in an ellipse around that interval, and the polynomial is that
/// between its foci, which damps all of the ellipse about best (Manteuffel 1977). Foci above and below the
/// centre c, at a distance f, would ask for complex weights; the real one for which the largest `|1 - w z|`
/// on such an ellipse is least is `w = c / (c^2 + f^2)`.
fn weights(spectrum: Spectrum, degree: u32) -> Vec<f64> {
    let upper = SAFETY * spectrum.radius;
    let lower = upper / RATIO;
    let centre = 0.5 * (upper + lower);
    let focus_squared = (0.5 * (upper - lower)).powi(2) * spectrum.eccentricity_squared();
    let weight = |k: u32| {
        let angle = std::f64::consts::PI * (2 * k + 1) as f64 / (2 * degree) as f64;
        if focus_squared < 0.0 {
            centre / (centre.powi(2) - focus_squared)
        } else {
            1.0 / (centre + focus_squared.sqrt() * angle.cos())
        }
    };
    (0..degree.max(1)).map(weight).collect()
}
