//! Numbers that look random, the same on every machine.

use cuda_std::Real;

/// A permutation of the 32-bit numbers that looks random (the finaliser of MurmurHash3).
#[inline(always)]
pub fn hash(i: u32) -> u32 {
    let mut h = i ^ 0x9e37_79b9;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// The weight of row `i` in a choice of independent unknowns, at least 1: `measure` first (up to 255), then
/// chance.
#[inline(always)]
pub fn weight(i: u32, measure: Option<u32>) -> u32 {
    let weight = match measure {
        None => hash(i),
        Some(measure) => (if measure > 255 { 255 } else { measure }) << 24 | hash(i) >> 8,
    };
    if weight == 0 { 1 } else { weight }
}

/// Element `i` of a vector that looks random, in [-1/2, 1/2].
#[inline(always)]
pub fn noise(i: u32) -> f64 {
    hash(i) as f64 / u32::MAX as f64 - 0.5
}

/// `noise(i) / sqrt(|d|)`, or `noise(i)` where that is not finite.
#[inline(always)]
pub fn scaled_noise<T: Real>(i: u32, d: T) -> T {
    let scaled = noise(i) / Real::sqrt(d.to_f64().abs());
    T::from_f64(if scaled.is_finite() { scaled } else { noise(i) })
}
