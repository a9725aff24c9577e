//! Operations on vectors.

use cuda_std::Real;

use super::memory::Memory;
use super::scalars::{Coef, Slot};
use crate::error::Result;

/// Vector updates and reductions.
///
/// The vectors of a call have the same length, and its slots exist. Otherwise the call is an
/// [`Error::Length`](crate::Error::Length) and changes nothing. `d` stands for a matrix D that is cheap to
/// multiply by: with as many elements as rows it is diagonal, `d .* x`; with b times as many it has blocks of
/// b x b on its diagonal, row after row: element `b i + l` is the l-th of row i in its block.
///
/// Work is queued and carried out in order; nothing here waits.
pub trait Vectors<T: Real>: Memory<T> {
    /// `y = x`.
    #[track_caller]
    fn copy(&self, x: &Self::Vector, y: &mut Self::Vector) -> Result<()>;
    /// `x = value`.
    #[track_caller]
    fn fill(&self, value: T, x: &mut Self::Vector) -> Result<()>;
    /// `x = a x`.
    #[track_caller]
    fn scale(&self, s: &Self::Scalars, a: Coef, x: &mut Self::Vector) -> Result<()>;
    /// `y = a x + b y`.
    #[track_caller]
    fn axpby(
        &self,
        s: &Self::Scalars,
        a: Coef,
        x: &Self::Vector,
        b: Coef,
        y: &mut Self::Vector,
    ) -> Result<()>;
    /// `z = a x + b y + c z`.
    #[allow(clippy::too_many_arguments)]
    #[track_caller]
    fn axpbypcz(
        &self,
        s: &Self::Scalars,
        a: Coef,
        x: &Self::Vector,
        b: Coef,
        y: &Self::Vector,
        c: Coef,
        z: &mut Self::Vector,
    ) -> Result<()>;
    /// `p = D z + beta p`; `d = None` means D = I. p is read even if `beta` is 0.
    #[track_caller]
    fn direction(
        &self,
        s: &Self::Scalars,
        d: Option<&Self::Vector>,
        z: &Self::Vector,
        beta: Coef,
        p: &mut Self::Vector,
    ) -> Result<()>;
    /// `y = a D x`; with `d = 1 / diag(A)` the Jacobi iteration's first step from zero.
    #[track_caller]
    fn scale_rows(&self, a: T, d: &Self::Vector, x: &Self::Vector, y: &mut Self::Vector) -> Result<()>;

    /// `s[out] = (x, y)`.
    #[track_caller]
    fn dot(&self, x: &Self::Vector, y: &Self::Vector, s: &Self::Scalars, out: Slot) -> Result<()>;
    /// `s[out] = sum_i x_i`.
    #[track_caller]
    fn sum(&self, x: &Self::Vector, s: &Self::Scalars, out: Slot) -> Result<()>;
    /// `s[out] = max_i |x_i|`; NaN if any element is.
    #[track_caller]
    fn norm_max(&self, x: &Self::Vector, s: &Self::Scalars, out: Slot) -> Result<()>;
    /// `s[out] = omega` of the step `r - omega t` that leaves the least, made longer where r and t are nearly
    /// orthogonal ([`arithmetic::angle::step`]), from `(r, t)` and `(t, t)`, in turn from `dots` on, and
    /// `s[square] = (r, r)`.
    #[track_caller]
    fn angle_step(&self, s: &Self::Scalars, dots: Slot, square: Slot, out: Slot) -> Result<()>;
}
