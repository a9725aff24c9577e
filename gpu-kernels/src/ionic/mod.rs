//! Ionic models: what the membrane of a heart cell does between two steps of the diffusion of its potential.
//!
//! ```text
//! dv/dt = -I_ion(v, w) + s,   dw/dt = g(v, w)
//! ```
//!
//! with the potential v in mV, time in ms, the current I_ion in uA/uF (which is mV/ms, and pA/pF), the stimulus s in
//! mV/ms, and the model's own variables w: gates, which are shares, and concentrations in mmol/l. Cells know nothing
//! of each other.
//!
//! A model is one function over numbers, [`CellModel::step`], without branches that matter and without calls: a thread
//! of a kernel runs it for one cell, and on a CPU the compiler makes vectors of several. Every operation in it is
//! rounded as IEEE 754 says, and what is fused says so, so that all of them give the same bits.

pub mod elementary;
pub mod mitchell_schaeffer;
pub mod ten_tusscher;
#[cfg(test)]
mod tests;

pub use mitchell_schaeffer::MitchellSchaeffer;
pub use ten_tusscher::TenTusscher;

use cuda_std::{kernel, memory::*, thread};
use elementary::exp;

/// The activation time of a node that has not been activated; times are not negative.
pub const NOT_ACTIVATED: f64 = -1.0;

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

/// `y` after a step of `dy/dt = (y_inf - y) / tau` with constant coefficients, `dt_over_tau` long (Rush and Larsen 1978).
#[inline(always)]
fn relax(y: f64, y_inf: f64, dt_over_tau: f64) -> f64 {
    y_inf + (y - y_inf) * exp(-dt_over_tau)
}

/// `substeps` steps of `dt` ms for each of `n` cells. Variable k of cell i is `states[k n + i]`; the stimulus is
/// `scale stimulus[i]` in mV/ms, or none where the pointer is null.
#[kernel(M = [MitchellSchaeffer, TenTusscher])]
pub unsafe fn react<M: CellModel>(
    n: u64,
    dt: f64,
    substeps: u32,
    scale: f64,
    stimulus: *const f64,
    v: *mut f64,
    states: *mut f64,
) {
    let n = n as usize;
    let mut i = thread::index();
    while i < n {
        // SAFETY: the launcher's arguments are valid for n cells.
        unsafe {
            let mut state = M::State::default();
            for (k, x) in state.as_mut().iter_mut().enumerate() {
                *x = states.ld(k * n + i);
            }
            let stimulus = if stimulus.is_null() { 0.0 } else { scale * stimulus.ld_nc(i) };
            let mut potential = v.ld(i);
            for _ in 0..substeps {
                potential = M::step(potential, &mut state, dt, stimulus);
            }
            v.st(i, potential);
            for (k, &x) in state.as_ref().iter().enumerate() {
                states.st(k * n + i, x);
            }
        }
        i += thread::stride();
    }
}

/// When a potential that went from `before` to `after` within `dt` from time `t` on first reached `threshold` from
/// below, on the straight line between them; `earlier` if it had done so already ([`NOT_ACTIVATED`] if not), and if it
/// did not.
#[inline(always)]
pub fn activation(earlier: f64, t: f64, dt: f64, threshold: f64, before: f64, after: f64) -> f64 {
    if earlier < 0.0 && before < threshold && after >= threshold {
        t + dt * ((threshold - before) / (after - before))
    } else {
        earlier
    }
}

/// [`activation`] for each of `n` nodes; `times` starts as [`NOT_ACTIVATED`].
#[kernel]
pub unsafe fn activate(
    n: u64,
    t: f64,
    dt: f64,
    threshold: f64,
    before: *const f64,
    after: *const f64,
    times: *mut f64,
) {
    let mut i = thread::index();
    while i < n as usize {
        // SAFETY: the launcher's vectors have n elements.
        unsafe {
            let time = activation(times.ld(i), t, dt, threshold, before.ld_nc(i), after.ld_nc(i));
            times.st(i, time);
        }
        i += thread::stride();
    }
}
