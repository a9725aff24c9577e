//! exp and ln as straight-line code: `core` has neither, and with a call of a library's no loop over cells
//! would become vector instructions. Errors stay below one unit in the last place.

use core::f64::consts::{LOG2_E, SQRT_2};

use cuda_std::Real;

/// ln 2 = `LN_2_HIGH + LN_2_LOW`; the high part has 32 bits, so that its products with exponents are exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Bits of the mantissa.
const MANTISSA: u32 = f64::MANTISSA_DIGITS - 1;
const ONE: u64 = 1f64.to_bits();

/// 1.5 2^52: what is added to it is rounded to an integer, which stands in the sum's last bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// 2^52: an integer below it, in its mantissa, makes the sum of both.
const INTEGER: f64 = 4_503_599_627_370_496.0;

/// The smallest and the largest x whose e^x is a normal number.
const LOWEST: f64 = -708.396_418_532_264_1;
const HIGHEST: f64 = 709.782_712_893_384;

/// `c_0 + x (c_1 + x (c_2 + ..))`.
macro_rules! polynomial {
    ($x:expr; $c:expr) => { $c };
    ($x:expr; $c:expr, $($rest:expr),+) => { Real::mul_add(polynomial!($x; $($rest),+), $x, $c) };
}

/// e^x; 0 where that is no normal number any more (below -708), infinite above 709.78.
///
/// `x = k ln 2 + r` with an integer k and `|r| <= ln 2 / 2` (Cody and Waite 1980), Taylor's polynomial for
/// e^r, and k added to the exponent.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let shifted = Real::mul_add(x, LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = Real::mul_add(-k, LN_2_LOW, Real::mul_add(-k, LN_2_HIGH, x));
    // r^14 / 14! < 5e-18
    let e_r = polynomial!(
        r; 1.0, 1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5_040.0, 1.0 / 40_320.0,
        1.0 / 362_880.0, 1.0 / 3_628_800.0, 1.0 / 39_916_800.0, 1.0 / 479_001_600.0, 1.0 / 6_227_020_800.0
    );
    let scaled = f64::from_bits(e_r.to_bits().wrapping_add(shifted.to_bits() << MANTISSA));
    let scaled = if x < LOWEST { 0.0 } else { scaled };
    // Infinite for large x, NaN for NaN.
    if x <= HIGHEST { scaled } else { x + f64::INFINITY }
}

/// ln x; minus infinity for 0 and numbers so small that they are not normal, NaN for negative ones.
///
/// `x = 2^k (1 + f)` with `1 + f` between the roots of 1/2 and 2, and `ln(1 + f) = 2 artanh(s)` with `s = f /
/// (2 + f)`, written as `f - s (f - 2 (s^2/3 + s^4/5 + ..))` so that the largest term is exact.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    const ROOT: u64 = (SQRT_2 / 2.0).to_bits();
    // Exponents change at the root of 1/2 instead of at 1.
    let bits = x.to_bits().wrapping_add(ONE - ROOT);
    let k = f64::from_bits(INTEGER.to_bits() | bits >> MANTISSA) - (INTEGER + 1023.0);
    let f = f64::from_bits((bits & ((1 << MANTISSA) - 1)) + ROOT) - 1.0;
    let s = f / (2.0 + f);
    let s2 = s * s;
    // 2 s^22 / 23 < 2e-18
    let rest = s2
        * polynomial!(
            s2; 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0, 2.0 / 13.0, 2.0 / 15.0, 2.0 / 17.0, 2.0 / 19.0,
            2.0 / 21.0
        );
    let ln_1_f = f - Real::mul_add(s, f - rest, -k * LN_2_LOW);
    let result = Real::mul_add(k, LN_2_HIGH, ln_1_f);
    let result = if x < f64::MIN_POSITIVE { f64::NEG_INFINITY } else { result };
    let result = if x < 0.0 { f64::NAN } else { result };
    // Infinity and NaN are their own logarithms.
    if x <= f64::MAX { result } else { x }
}
