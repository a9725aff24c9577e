//! What every model of a cell does.

use super::elementary::exp;

/// A model of one cell.
pub trait CellModel: 'static {
    /// Authors and year.
    const NAME: &'static str;
    /// The variables beside v, at rest, in the order that [`CellModel::step`] has them in.
    const INITIAL: &'static [f64];
    /// v at rest, in mV.
    const REST: f64;
    /// The number of variables beside v.
    const STATES: usize = Self::INITIAL.len();
    /// `[f64; STATES]`.
    type State: Copy + Default + AsRef<[f64]> + AsMut<[f64]>;

    /// One step of `dt` ms from `v` in mV under a `stimulus` in mV/ms: changes `state` and returns the new v.
    fn step(v: f64, state: &mut Self::State, dt: f64, stimulus: f64) -> f64;
}

/// `y` after a step of `dy/dt = (y_inf - y) / tau` with constant coefficients, `dt_over_tau` long (Rush and
/// Larsen 1978).
#[inline(always)]
pub(super) fn relax(y: f64, y_inf: f64, dt_over_tau: f64) -> f64 {
    y_inf + (y - y_inf) * exp(-dt_over_tau)
}
