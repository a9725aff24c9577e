//! The length of a step of least residual, where what it takes away is nearly orthogonal to the residual.

use cuda_std::Real;

/// The cosine of the angle that is kept (Sleijpen and van der Vorst 1995).
pub const COSINE: f64 = 0.7;

/// omega of the step `r - omega t`, from `(r, t)`, `(t, t)` and `(r, r)`: `(r, t) / (t, t)`, which leaves the
/// least, made longer to `0.7 ||r|| / ||t||` where the cosine of the angle between r and t is less than that.
/// Infinite or NaN where t = 0.
///
/// ```
/// # use arithmetic::angle::step;
/// assert_eq!(step(3.0, 2.0, 6.0), 1.5);
/// assert_eq!(step(-1.0, 4.0, 16.0), -1.4);
/// ```
#[inline(always)]
pub fn step<T: Real>(r_t: T, t_t: T, r_r: T) -> T {
    let omega = r_t / t_t;
    let least = T::from_f64(COSINE) * Real::sqrt(r_r / t_t);
    match () {
        () if omega.abs() >= least || !least.is_finite() => omega,
        () if omega < T::ZERO => -least,
        () => least,
    }
}
