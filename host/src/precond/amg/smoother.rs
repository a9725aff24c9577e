//! Smoothers. Each is a sequence of sweeps `x += w_k d .* (b - A x)` with one diagonal, or its inverted blocks, and given
//! weights, so that one kernel per sweep does all of them.

use crate::backend::Memory;
use crate::backend::Then;
use cuda_std::Real;

use super::params::{Params, Smoother};
use super::spectrum::Spectrum;
use crate::backend::Backend;
use crate::backend::algebra::{Algebra, Blocks, Mixed, RowWeight, Size};
use crate::error::{Error, Result};

/// The share of the spectrum of `D^-1 A` that the Chebyshev smoother damps: from an eighth of its upper end on.
const CHEBYSHEV_RATIO: f64 = 8.0;
/// Lanczos's method finds a radius that is a little too small.
const SAFETY: f64 = 1.05;

/// The degree of the Chebyshev smoother unless another is asked for.
const DEGREE: u32 = 2;
/// The same where rows have fewer than [`SHORT_ROW`] entries in the mean: a sweep costs little there beside the
/// vectors of an iteration.
const DEGREE_OF_SHORT_ROWS: u32 = 3;
const SHORT_ROW: usize = 6;

/// The degree for a matrix of this size.
pub fn chebyshev_degree(finest: Size) -> u32 {
    if finest.nnz < SHORT_ROW * finest.n_rows { DEGREE_OF_SHORT_ROWS } else { DEGREE }
}

/// A smoother of one level.
pub struct Sweeps<S: Real, B: Backend<S>> {
    d: B::Vector,
    weights: Vec<S>,
}

impl<S: Real, B: Backend<S>> Sweeps<S, B> {
    /// The smoother that `params` names, for the matrix `a`, and what [`super::spectrum::diagonal`] says of it.
    pub fn setup<T: Real>(
        backend: &B,
        a: &Blocks<<B as Algebra<T>>::Csr>,
        (d, spectrum): (&<B as Memory<T>>::Vector, Spectrum),
        params: &Params,
    ) -> Result<Self>
    where
        B: Mixed<T, S>,
    {
        let of_rows = |weight| match a.block() {
            1 => Algebra::<T>::row_weights(backend, a.first(), weight),
            _ => Err(Error::Option(format!(
                "the smoother {} is not there for blocks; use chebyshev or jacobi",
                params.smoother
            ))),
        };
        let of_its_own = match params.smoother {
            Smoother::Jacobi | Smoother::Chebyshev => None,
            Smoother::L1Jacobi => Some(of_rows(RowWeight::InverseL1)?),
            Smoother::Spai0 => Some(of_rows(RowWeight::Spai0)?),
        };
        let in_t = of_its_own.as_ref().unwrap_or(d);
        let size = Algebra::<T>::size(backend, a.first());
        let weights = match (params.smoother, params.omega) {
            (Smoother::Chebyshev, _) => chebyshev_weights(spectrum, params.degree.unwrap_or(DEGREE)),
            (_, Some(omega)) => vec![omega],
            (Smoother::Jacobi, None) => vec![4.0 / 3.0 / spectrum.radius],
            (Smoother::L1Jacobi | Smoother::Spai0, None) => vec![1.0],
        };
        let mut d = Memory::<S>::zeros(backend, a.planes().len() * size.n_rows)?;
        Mixed::<T, S>::cast(backend, in_t, &mut d)?;
        Ok(Sweeps { d, weights: weights.into_iter().map(S::from_f64).collect() })
    }

    /// The first sweep from zero, `x = w_0 d .* b`: it needs no matrix.
    pub fn first(&self) -> (S, &B::Vector) {
        (self.weights[0], &self.d)
    }

    /// The last weight, with which the sweeps after a coarser level begin, and the diagonal.
    pub fn last(&self) -> (S, &B::Vector) {
        (self.weights[self.weights.len() - 1], &self.d)
    }

    /// The weights of `steps` steps.
    pub fn weights(&self, steps: u32) -> impl Iterator<Item = S> + '_ {
        (0..steps).flat_map(|_| self.weights.iter().copied())
    }

    /// `x += w d .* (b - A x)` for each of `weights`; `y` is a vector to work with.
    pub fn smooth(
        &self,
        backend: &B,
        a: &B::Matrix,
        b: &B::Vector,
        x: &mut B::Vector,
        y: &mut B::Vector,
        weights: impl Iterator<Item = S>,
    ) -> Result<()> {
        for weight in weights {
            backend.multiply(a, x, Then::Sweep { omega: weight, d: &self.d, b, y })?;
            std::mem::swap(x, y);
        }
        Ok(())
    }
}

/// The inverse roots of the Chebyshev polynomial of this degree over `[r / CHEBYSHEV_RATIO, r]`, `r = SAFETY radius`: its sweeps
/// together are `x += p(D^-1 A) D^-1 (b - A x)` (Adams, Brezina, Hu, Tuminaro 2003).
///
/// Where eigenvalues are complex they are in an ellipse around that interval, and the polynomial is that between its foci,
/// which damps all of the ellipse about best (Manteuffel 1977). Foci above and below the centre c, at a distance f, would ask
/// for complex weights; the real one for which the largest `|1 - w z|` on such an ellipse is least is `w = c / (c^2 + f^2)`.
fn chebyshev_weights(spectrum: Spectrum, degree: u32) -> Vec<f64> {
    let upper = SAFETY * spectrum.radius;
    let lower = upper / CHEBYSHEV_RATIO;
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
