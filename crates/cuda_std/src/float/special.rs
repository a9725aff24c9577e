//! Special functions that `libm` does not have, in double precision.

use crate::math::double::{fma, round_ties_even, sqrt};
use core::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI};

/// 1/sqrt(2) less its nearest number.
const FRAC_1_SQRT_2_LOW: f64 = -4.833646656726457e-17;

/// sin(pi x) and cos(pi x) for the x that is `quarters / 2` away, at most a quarter.
fn reduced(x: f64) -> (f64, i64) {
    let quarters = round_ties_even(2.0 * x);
    // Exact: both are multiples of the last digit of x.
    (PI * fma(-0.5, quarters, x), libm::fmod(quarters, 4.0) as i64 & 3)
}

/// sin(pi x).
pub fn sinpi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    // Whole numbers have the sign of x.
    if libm::trunc(x) == x {
        return 0.0_f64.copysign(x);
    }
    let (angle, quarters) = reduced(x);
    match quarters {
        0 => libm::sin(angle),
        1 => libm::cos(angle),
        2 => -libm::sin(angle),
        _ => -libm::cos(angle),
    }
}

/// cos(pi x).
pub fn cospi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let (angle, quarters) = reduced(x);
    match quarters {
        // Zeros are positive.
        1 | 3 if angle == 0.0 => 0.0,
        0 => libm::cos(angle),
        1 => -libm::sin(angle),
        2 => -libm::cos(angle),
        _ => libm::sin(angle),
    }
}

/// exp(x^2) (1 + correction), x^2 with its rounding error.
fn exp_of_square(x: f64, sign: f64) -> f64 {
    let square = x * x;
    let rest = fma(x, x, -square);
    let power = libm::exp(sign * square);
    fma(power, sign * rest, power)
}

/// exp(x^2) erfc(x).
pub fn erfcx(x: f64) -> f64 {
    if x < 0.5 {
        return if x < -27.0 { f64::INFINITY } else { exp_of_square(x, 1.0) * libm::erfc(x) };
    }
    if x < 8.0 {
        return exp_of_square(x, 1.0) * libm::erfc(x);
    }
    // Laplace's continued fraction, 1/sqrt(pi) / (x + (1/2) / (x + (2/2) / (x + ...))).
    let mut tail = x;
    for k in (1..=20).rev() {
        tail = x + 0.5 * f64::from(k) / tail;
    }
    0.5 * FRAC_2_SQRT_PI / tail
}

/// The distribution function of the standard normal distribution, erfc(-x / sqrt(2)) / 2.
pub fn normcdf(x: f64) -> f64 {
    let t = -x * FRAC_1_SQRT_2;
    // What was rounded away from the argument matters where erfc falls steeply.
    let rest = fma(-x, FRAC_1_SQRT_2, -t) - x * FRAC_1_SQRT_2_LOW;
    let value = libm::erfc(t);
    let slope = if t.abs() < 27.0 { FRAC_2_SQRT_PI * exp_of_square(t, -1.0) } else { 0.0 };
    0.5 * fma(-slope, rest, value)
}

/// c_0 + c_1 x + ...
fn polynomial<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, &c| fma(sum, x, c))
}

/// The x for which [`normcdf`] is p: M. J. Wichura, Algorithm AS 241 (PPND16), Applied Statistics 37 (1988).
pub fn normcdfinv(p: f64) -> f64 {
    match p {
        0.0 => return f64::NEG_INFINITY,
        1.0 => return f64::INFINITY,
        p if !(p > 0.0 && p < 1.0) => return f64::NAN,
        _ => {}
    }
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = fma(-q, q, 0.180625);
        return q * polynomial(&CENTRE.0, r) / polynomial(&CENTRE.1, r);
    }
    from_tail(p.min(1.0 - p)).copysign(q)
}

/// The x above which the normal distribution has `tail`, less than 0.075.
fn from_tail(tail: f64) -> f64 {
    let r = sqrt(-libm::log(tail));
    let (parts, r) = if r <= 5.0 { (&MIDDLE, r - 1.6) } else { (&FAR, r - 5.0) };
    polynomial(&parts.0, r) / polynomial(&parts.1, r)
}

/// The x for which erfc(x) is y.
pub fn erfcinv(y: f64) -> f64 {
    if !(0.0..=2.0).contains(&y) {
        return f64::NAN;
    }
    // Near 1 the difference is exact, and p near 1/2 would not be.
    let x = if (y - 1.0).abs() <= 0.85 {
        let q = 0.5 * (1.0 - y);
        let r = fma(-q, q, 0.180625);
        q * polynomial(&CENTRE.0, r) / polynomial(&CENTRE.1, r)
    } else if y < 1.0 {
        if y == 0.0 { f64::INFINITY } else { from_tail(0.5 * y) }
    } else if y == 2.0 {
        f64::NEG_INFINITY
    } else {
        -from_tail(0.5 * (2.0 - y))
    };
    x * FRAC_1_SQRT_2
}

/// Numerator and denominator of a rational approximation.
type Rational = ([f64; 8], [f64; 8]);

const CENTRE: Rational = (
    [
        3.387_132_872_796_366_5e0,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
);

const MIDDLE: Rational = (
    [
        1.423_437_110_749_683_5e0,
        4.630_337_846_156_546e0,
        5.769_497_221_460_691e0,
        3.647_848_324_763_204_5e0,
        1.270_458_252_452_368_4e0,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759e0,
        1.676_384_830_183_803_8e0,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

const FAR: Rational = (
    [
        6.657_904_643_501_103e0,
        5.463_784_911_164_114e0,
        1.784_826_539_917_291_3e0,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);
