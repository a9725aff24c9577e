//! Ionic models: what the membrane of a heart cell does between two steps of the diffusion of its potential.
//!
//! ```text
//! dv/dt = -I_ion(v, w) + s,   dw/dt = g(v, w)
//! ```
//!
//! with the potential v in mV, time in ms, the current I_ion in uA/uF (which is mV/ms, and pA/pF), the
//! stimulus s in mV/ms, and the model's own variables w: gates, which are shares, and concentrations in
//! mmol/l. Cells know nothing of each other.
//!
//! A model is one function over numbers, [`CellModel::step`], without branches that matter and without calls:
//! a thread of a kernel runs it for one cell, and on a CPU the compiler makes vectors of several. Every
//! operation in it is rounded as IEEE 754 says, and what is fused says so, so that all of them give the same
//! bits.

pub mod elementary;
pub mod mitchell_schaeffer;
pub mod model;
pub mod ten_tusscher;
#[cfg(test)]
mod tests;

pub use mitchell_schaeffer::MitchellSchaeffer;
pub use model::CellModel;
pub use ten_tusscher::TenTusscher;

/// The activation time of a node that has not been activated; times are not negative.
pub const NOT_ACTIVATED: f64 = -1.0;

/// When a potential that went from `before` to `after` within `dt` from time `t` on first reached `threshold`
/// from below, on the straight line between them; `earlier` if it had done so already ([`NOT_ACTIVATED`] if
/// not), and if it did not.
#[inline(always)]
pub fn activation(earlier: f64, t: f64, dt: f64, threshold: f64, before: f64, after: f64) -> f64 {
    if earlier < 0.0 && before < threshold && after >= threshold {
        t + dt * ((threshold - before) / (after - before))
    } else {
        earlier
    }
}
