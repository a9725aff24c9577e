//! Mitchell and Schaeffer 2003, "A two-current model for the dynamics of cardiac membrane" (Bull. Math. Biol.
//! 65:767).
//!
//! ```text
//! du/dt = h u^2 (1 - u) / tau_in - u / tau_out + s / (peak - rest)
//! dh/dt = (1 - h) / tau_open    where u < u_gate
//!         -h / tau_close        elsewhere
//! ```
//!
//! with `v = rest + (peak - rest) u`. An action potential from rest lasts about `tau_close ln(tau_out / (4
//! tau_in))`.

use super::model::{CellModel, relax};

/// v where u = 1, in mV.
const PEAK: f64 = 20.0;
/// ms.
const TAU_IN: f64 = 0.3;
/// ms.
const TAU_OUT: f64 = 6.0;
/// ms.
const TAU_OPEN: f64 = 120.0;
/// ms.
const TAU_CLOSE: f64 = 150.0;
/// Where the gate turns from opening to closing.
const U_GATE: f64 = 0.13;

/// The model: one variable beside v, the gate h of the inward current.
///
/// u advances by forward Euler, h exactly.
pub struct MitchellSchaeffer;

impl CellModel for MitchellSchaeffer {
    const NAME: &'static str = "Mitchell and Schaeffer 2003";
    const INITIAL: &'static [f64] = &[1.0];
    const REST: f64 = -80.0;
    type State = [f64; 1];

    #[inline(always)]
    fn step(v: f64, state: &mut [f64; 1], dt: f64, stimulus: f64) -> f64 {
        let [h] = *state;
        let u = (v - Self::REST) / (PEAK - Self::REST);
        let (h_inf, tau) = if u < U_GATE { (1.0, TAU_OPEN) } else { (0.0, TAU_CLOSE) };
        *state = [relax(h, h_inf, dt / tau)];
        let rate = h * u * u * (1.0 - u) / TAU_IN - u / TAU_OUT;
        v + dt * ((PEAK - Self::REST) * rate + stimulus)
    }
}
