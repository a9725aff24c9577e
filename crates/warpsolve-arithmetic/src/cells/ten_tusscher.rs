//! Ten Tusscher and Panfilov 2006, "Alternans and spiral breakup in a human ventricular tissue model" (Am. J.
//! Physiol. Heart 291:H1088), epicardial cell; equations that it leaves as they were are in ten Tusscher,
//! Noble, Noble and Panfilov 2004 (286:H1573).
//!
//! Potentials in mV, time in ms, concentrations in mmol/l, currents in pA/pF = uA/uF = mV/ms, conductances in
//! nS/pF. The names are the paper's. Three choices are ours:
//!
//! - The time constant of f2 is that of the paper and of its authors' program, `600 exp(-(V + 25)^2 / 170) +
//!   ..`; the CellML repository has another.
//! - The stimulus charges the membrane and brings no potassium: in tissue it stands for a current between
//!   cells.
//! - Calcium that is bound is in equilibrium with the free at the end of each step: the amount of both
//!   changes, and a quadratic equation divides it (as in the authors' program), so that no calcium is lost to
//!   the step's length.

use cuda_std::Real;

use super::elementary::{exp, ln};
use super::model::{CellModel, relax};

// R T / F in mV, with R = 8314.472 mJ/(K mol), T = 310 K and F = 96485.3415 C/mol.
const FARADAY: f64 = 96_485.341_5;
const RT_F: f64 = 8_314.472 * 310.0 / FARADAY;

// Concentrations outside of the cell.
const K_O: f64 = 5.4;
const NA_O: f64 = 140.0;
const CA_O: f64 = 2.0;

// Conductances, and maximal currents of pumps. K_O is 5.4, for which the factor sqrt(K_O / 5.4) of two of
// them is 1.
const G_NA: f64 = 14.838;
const G_K1: f64 = 5.405;
const G_TO: f64 = 0.294;
const G_KR: f64 = 0.153;
const G_KS: f64 = 0.392;
const G_P_K: f64 = 0.0146;
const G_B_NA: f64 = 0.00029;
const G_B_CA: f64 = 0.000592;
/// In cm^3/(uF s).
const G_CAL: f64 = 3.98e-5;
const G_P_CA: f64 = 0.1238;
const K_P_CA: f64 = 0.0005;
const P_NAK: f64 = 2.724;
const K_M_K: f64 = 1.0;
const K_M_NA: f64 = 40.0;
const K_NACA: f64 = 1000.0;
const K_M_NAI: f64 = 87.5;
const K_M_CA: f64 = 1.38;
const K_SAT: f64 = 0.1;
const ALPHA: f64 = 2.5;
const GAMMA: f64 = 0.35;
/// Permeability of the slow potassium channels to sodium, relative to potassium.
const P_KNA: f64 = 0.03;

// Calcium: release from and uptake into the sarcoplasmic reticulum, exchange with the subspace; rates in
// 1/ms.
const V_REL: f64 = 0.102;
const V_XFER: f64 = 0.0038;
const V_LEAK: f64 = 0.00036;
const V_MAX_UP: f64 = 0.006375;
const K_UP: f64 = 0.00025;
const K1_PRIME: f64 = 0.15;
const K2_PRIME: f64 = 0.045;
const K3: f64 = 0.06;
const K4: f64 = 0.005;
const EC: f64 = 1.5;
const MAX_SR: f64 = 2.5;
const MIN_SR: f64 = 1.0;

// Buffers: amount and half-saturation.
const BUF_C: (f64, f64) = (0.2, 0.001);
const BUF_SR: (f64, f64) = (10.0, 0.3);
const BUF_SS: (f64, f64) = (0.4, 0.00025);

// Volumes in nl, and the capacitance over F: what a current in pA/pF makes of a concentration in 1 nl, in
// 1/ms.
const V_C: f64 = 0.016404;
const V_SR: f64 = 0.001094;
const V_SS: f64 = 0.00005468;
const C_F: f64 = 0.185 / FARADAY;

/// `1 / (1 + e^x)`.
#[inline(always)]
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(x))
}

/// `e^(-x^2 / width)`.
#[inline(always)]
fn bell(x: f64, width: f64) -> f64 {
    exp(-(x * x) / width)
}

/// `x / (e^x - 1)`, also near 0, where e_x is e^x.
#[inline(always)]
fn over_expm1(x: f64, e_x: f64) -> f64 {
    let series = 1.0 - x * (0.5 - x / 12.0);
    if x > -1e-3 && x < 1e-3 { series } else { x / (e_x - 1.0) }
}

/// The free concentration after free and bound together grew by `change`.
#[inline(always)]
fn buffered(free: f64, change: f64, (buffer, k): (f64, f64)) -> f64 {
    // total = free + buffer free / (free + k)
    let total = free + buffer * free / (free + k) + change;
    let b = buffer + k - total;
    let root = Real::sqrt(b * b + 4.0 * k * total);
    // Whichever of the two equal quotients adds numbers of the same sign.
    let (num, den) = if b > 0.0 { (2.0 * k * total, b + root) } else { (root - b, 2.0) };
    num / den
}

/// The model: 18 variables beside V, in the order of [`CellModel::INITIAL`]'s comments.
///
/// Gates advance as if V and the concentrations stood still (Rush and Larsen), all else by forward Euler;
/// every rate is that of the step's beginning.
pub struct TenTusscher;

impl CellModel for TenTusscher {
    const NAME: &'static str = "ten Tusscher and Panfilov 2006, epicardial";
    /// The state of the benchmark of Niederer et al. 2011 (Phil. Trans. R. Soc. A 369:4331).
    const INITIAL: &'static [f64] = &[
        0.00621,  // Xr1
        0.4712,   // Xr2
        0.0095,   // Xs
        0.00172,  // m
        0.7444,   // h
        0.7045,   // j
        3.373e-5, // d
        0.7888,   // f
        0.9755,   // f2
        0.9953,   // fCass
        0.999998, // s
        2.42e-8,  // r
        0.000126, // Ca_i
        3.64,     // Ca_SR
        0.00036,  // Ca_SS
        0.9073,   // R'
        8.604,    // Na_i
        136.89,   // K_i
    ];
    const REST: f64 = -85.23;
    type State = [f64; 18];

    #[inline(always)]
    fn step(v: f64, state: &mut [f64; 18], dt: f64, stimulus: f64) -> f64 {
        let [xr1, xr2, xs, m, h, j, d, f, f2, f_cass, s, r, ca_i, ca_sr, ca_ss, r_prime, na_i, k_i] = *state;

        // Reversal potentials.
        let e_na = RT_F * ln(NA_O / na_i);
        let e_k = RT_F * ln(K_O / k_i);
        let e_ks = RT_F * ln((K_O + P_KNA * NA_O) / (k_i + P_KNA * na_i));
        let e_ca = 0.5 * RT_F * ln(CA_O / ca_i);

        // Sodium.
        let i_na = G_NA * m * m * m * h * j * (v - e_na);
        let i_b_na = G_B_NA * (v - e_na);

        // Potassium.
        let w = v - e_k;
        let a_k1 = 0.1 * sigmoid(0.06 * (w - 200.0));
        let b_k1 = (3.0 * exp(0.0002 * (w + 100.0)) + exp(0.1 * (w - 10.0))) * sigmoid(-0.5 * w);
        let i_k1 = G_K1 * (a_k1 / (a_k1 + b_k1)) * w;
        let i_to = G_TO * r * s * w;
        let i_kr = G_KR * xr1 * xr2 * w;
        let i_ks = G_KS * xs * xs * (v - e_ks);
        let i_p_k = G_P_K * w * sigmoid((25.0 - v) / 5.98);

        // Calcium: I_CaL = G 4 (V - 15) F^2/RT gates (Ca_SS e^x / 4 - Ca_o) / (e^x - 1) with x = 2 (V - 15)
        // F/RT.
        let x = 2.0 * (v - 15.0) / RT_F;
        let e_x = exp(x);
        let i_cal =
            G_CAL * d * f * f2 * f_cass * (2.0 * FARADAY) * over_expm1(x, e_x) * (0.25 * ca_ss * e_x - CA_O);
        let i_b_ca = G_B_CA * (v - e_ca);
        let i_p_ca = G_P_CA * ca_i / (K_P_CA + ca_i);

        // The exchanger and the pump.
        let u = v / RT_F;
        let (forward, backward) = (exp(GAMMA * u), exp((GAMMA - 1.0) * u));
        const SATURATION: f64 = (K_M_NAI * K_M_NAI * K_M_NAI + NA_O * NA_O * NA_O) * (K_M_CA + CA_O);
        let i_naca = K_NACA
            * (forward * (na_i * na_i * na_i) * CA_O - backward * (NA_O * NA_O * NA_O) * ca_i * ALPHA)
            / (SATURATION * (1.0 + K_SAT * backward));
        let i_nak = P_NAK * (K_O / (K_O + K_M_K)) * na_i
            / ((na_i + K_M_NA) * (1.0 + 0.1245 * exp(-0.1 * u) + 0.0353 * exp(-u)));

        // Release, uptake, leak and transfer of calcium, in mmol/(l ms).
        let ca_ss2 = ca_ss * ca_ss;
        let ratio = EC / ca_sr;
        let k_casr = MAX_SR - (MAX_SR - MIN_SR) / (1.0 + ratio * ratio);
        let k1 = K1_PRIME / k_casr;
        let k2 = K2_PRIME * k_casr;
        let open = k1 * ca_ss2 * r_prime / (K3 + k1 * ca_ss2);
        let i_rel = V_REL * open * (ca_sr - ca_ss);
        let ca_i2 = ca_i * ca_i;
        let i_up = V_MAX_UP * ca_i2 / (ca_i2 + K_UP * K_UP);
        let i_leak = V_LEAK * (ca_sr - ca_i);
        let i_xfer = V_XFER * (ca_ss - ca_i);

        let d_ca_i =
            i_xfer + (i_leak - i_up) * (V_SR / V_C) - (i_b_ca + i_p_ca - 2.0 * i_naca) * (C_F / (2.0 * V_C));
        let d_ca_sr = i_up - i_rel - i_leak;
        let d_ca_ss = i_rel * (V_SR / V_SS) - i_xfer * (V_C / V_SS) - i_cal * (C_F / (2.0 * V_SS));
        let d_r_prime = K4 * (1.0 - r_prime) - k2 * ca_ss * r_prime;
        let d_na_i = -(i_na + i_b_na + 3.0 * i_nak + 3.0 * i_naca) * (C_F / V_C);
        let d_k_i = -(i_k1 + i_to + i_kr + i_ks - 2.0 * i_nak + i_p_k) * (C_F / V_C);
        let i_ion =
            i_na + i_b_na + i_k1 + i_to + i_kr + i_ks + i_p_k + i_cal + i_b_ca + i_p_ca + i_naca + i_nak;

        // Where gates tend to, and how fast.
        let xr1_inf = sigmoid((-26.0 - v) / 7.0);
        let tau_xr1 = 450.0 * sigmoid((-45.0 - v) / 10.0) * (6.0 * sigmoid((v + 30.0) / 11.5));
        let xr2_inf = sigmoid((v + 88.0) / 24.0);
        let tau_xr2 = 3.0 * sigmoid((-60.0 - v) / 20.0) * (1.12 * sigmoid((v - 60.0) / 20.0));
        let xs_inf = sigmoid((-5.0 - v) / 14.0);
        let tau_xs = 1400.0 / Real::sqrt(1.0 + exp((5.0 - v) / 6.0)) * sigmoid((v - 35.0) / 15.0) + 80.0;

        let root_m_inf = sigmoid((-56.86 - v) / 9.03);
        let tau_m = sigmoid((-60.0 - v) / 5.0)
            * (0.1 * sigmoid((v + 35.0) / 5.0) + 0.1 * sigmoid((v - 50.0) / 200.0));
        let root_h_inf = sigmoid((v + 71.55) / 7.43);
        let h_inf = root_h_inf * root_h_inf;
        let (rate_h, rate_j) = if v < -40.0 {
            let a_h = 0.057 * exp(-(v + 80.0) / 6.8);
            let b_h = 2.7 * exp(0.079 * v) + 3.1e5 * exp(0.3485 * v);
            let a_j = (-2.5428e4 * exp(0.2444 * v) - 6.948e-6 * exp(-0.04391 * v))
                * (v + 37.78)
                * sigmoid(0.311 * (v + 79.23));
            let b_j = 0.02424 * exp(-0.01052 * v) * sigmoid(-0.1378 * (v + 40.14));
            (a_h + b_h, a_j + b_j)
        } else {
            let b_h = 0.77 / 0.13 * sigmoid(-(v + 10.66) / 11.1);
            let b_j = 0.6 * exp(0.057 * v) * sigmoid(-0.1 * (v + 32.0));
            (b_h, b_j)
        };

        let d_inf = sigmoid((-8.0 - v) / 7.5);
        let tau_d = (1.4 * sigmoid((-35.0 - v) / 13.0) + 0.25) * (1.4 * sigmoid((v + 5.0) / 5.0))
            + sigmoid((50.0 - v) / 20.0);
        let f_inf = sigmoid((v + 20.0) / 7.0);
        let tau_f = 1102.5 * bell(v + 27.0, 225.0)
            + 200.0 * sigmoid((13.0 - v) / 10.0)
            + 180.0 * sigmoid((v + 30.0) / 10.0)
            + 20.0;
        let f2_inf = 0.67 * sigmoid((v + 35.0) / 7.0) + 0.33;
        let tau_f2 = 600.0 * bell(v + 25.0, 170.0)
            + 31.0 * sigmoid((25.0 - v) / 10.0)
            + 16.0 * sigmoid((v + 30.0) / 10.0);
        let bound = 1.0 / (1.0 + ca_ss2 / (0.05 * 0.05));
        let f_cass_inf = 0.6 * bound + 0.4;
        let tau_f_cass = 80.0 * bound + 2.0;

        let s_inf = sigmoid((v + 20.0) / 5.0);
        let tau_s = 85.0 * bell(v + 45.0, 320.0) + 5.0 * sigmoid((v - 20.0) / 5.0) + 3.0;
        let r_inf = sigmoid((20.0 - v) / 6.0);
        let tau_r = 9.5 * bell(v + 40.0, 1800.0) + 0.8;

        *state = [
            relax(xr1, xr1_inf, dt / tau_xr1),
            relax(xr2, xr2_inf, dt / tau_xr2),
            relax(xs, xs_inf, dt / tau_xs),
            relax(m, root_m_inf * root_m_inf, dt / tau_m),
            relax(h, h_inf, dt * rate_h),
            relax(j, h_inf, dt * rate_j),
            relax(d, d_inf, dt / tau_d),
            relax(f, f_inf, dt / tau_f),
            relax(f2, f2_inf, dt / tau_f2),
            relax(f_cass, f_cass_inf, dt / tau_f_cass),
            relax(s, s_inf, dt / tau_s),
            relax(r, r_inf, dt / tau_r),
            buffered(ca_i, dt * d_ca_i, BUF_C),
            buffered(ca_sr, dt * d_ca_sr, BUF_SR),
            buffered(ca_ss, dt * d_ca_ss, BUF_SS),
            r_prime + dt * d_r_prime,
            na_i + dt * d_na_i,
            k_i + dt * d_k_i,
        ];
        v + dt * (stimulus - i_ion)
    }
}
