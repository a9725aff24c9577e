//! Functions: series where they converge well, and relations to others.

use super::{Double, GAMMA, LN_2, PI, double};

/// The sum of terms, each the one before times `next(n)`, until they are too small to count.
fn series(first: Double, next: impl Fn(f64) -> Double) -> Double {
    let (mut total, mut term) = (first, first);
    for n in 1..400 {
        term = term * next(f64::from(n));
        total = total + term;
        if term.high.abs() <= 1e-36 * total.high.abs() {
            break;
        }
    }
    total
}

fn one() -> Double {
    double(1.0)
}

pub fn exp_m1(x: Double) -> Double {
    if x.high.abs() < 0.35 {
        return series(x, |n| x / double(n + 1.0));
    }
    let power = (x.high / LN_2.high).round();
    let rest = x - LN_2 * double(power);
    (exp_m1(rest) + one()).scaled(power as i32) - one()
}

pub fn exp(x: Double) -> Double {
    let power = (x.high / LN_2.high).round();
    (exp_m1(x - LN_2 * double(power)) + one()).scaled(power as i32)
}

/// By a step of Newton's from the logarithm of the first part.
pub fn ln(x: Double) -> Double {
    if (x.high - 1.0).abs() < 0.1 {
        return ln_1p(x - one());
    }
    let y = double(x.high.ln());
    y + (x * exp(-y) - one())
}

/// ln((1 + t) / (1 - t)) = 2 (t + t^3/3 + ..), with t = x / (2 + x).
pub fn ln_1p(x: Double) -> Double {
    if x.high.abs() > 0.1 {
        return ln(x + one());
    }
    let t = x / (x + double(2.0));
    let square = t * t;
    let mut total = double(0.0);
    for k in (0..40).rev() {
        total = total * square + one() / double(f64::from(2 * k + 1));
    }
    (t * total).scaled(1)
}

pub fn exp2(x: Double) -> Double {
    exp(x * LN_2)
}

pub fn log2(x: Double) -> Double {
    ln(x) / LN_2
}

pub fn log10(x: Double) -> Double {
    ln(x) / ln(double(10.0))
}

fn sin_cos(x: Double) -> (Double, Double) {
    let quarters = (x.high / PI.scaled(-1).high).round();
    let r = x - PI.scaled(-1) * double(quarters);
    let square = -(r * r);
    let sin = series(r, |n| square / double(2.0 * n * (2.0 * n + 1.0)));
    let cos = series(one(), |n| square / double(2.0 * n * (2.0 * n - 1.0)));
    match quarters.rem_euclid(4.0) as u32 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

pub fn sin(x: Double) -> Double {
    sin_cos(x).0
}

pub fn cos(x: Double) -> Double {
    sin_cos(x).1
}

pub fn tan(x: Double) -> Double {
    sin(x) / cos(x)
}

pub fn sinpi(x: Double) -> Double {
    sin(PI * (x - double(2.0 * (0.5 * x.high).round())))
}

pub fn cospi(x: Double) -> Double {
    cos(PI * (x - double(2.0 * (0.5 * x.high).round())))
}

/// The angle from the arc tangent of the first part on.
pub fn atan(x: Double) -> Double {
    let y = double(x.high.atan());
    let (sin, cos) = sin_cos(y);
    y + (x * cos - sin) / (cos + x * sin)
}

pub fn asin(x: Double) -> Double {
    atan(x / ((one() - x) * (one() + x)).sqrt())
}

pub fn acos(x: Double) -> Double {
    atan(((one() - x) / (one() + x)).sqrt()).scaled(1)
}

pub fn sinh(x: Double) -> Double {
    let e = exp_m1(x);
    (e + e / (e + one())).scaled(-1)
}

pub fn cosh(x: Double) -> Double {
    (exp(x) + exp(-x)).scaled(-1)
}

pub fn tanh(x: Double) -> Double {
    let e = exp_m1(x.scaled(1));
    e / (e + double(2.0))
}

pub fn asinh(x: Double) -> Double {
    if x.high < 0.0 {
        return -asinh(-x);
    }
    let square = x * x;
    ln_1p(x + square / (one() + (one() + square).sqrt()))
}

pub fn acosh(x: Double) -> Double {
    let t = x - one();
    ln_1p(t + (t.scaled(1) + t * t).sqrt())
}

pub fn atanh(x: Double) -> Double {
    ln_1p(x.scaled(1) / (one() - x)).scaled(-1)
}

pub fn cbrt(x: Double) -> Double {
    let y = double(x.high.cbrt());
    y - (y * y * y - x) / (y * y * double(3.0))
}

pub fn rcbrt(x: Double) -> Double {
    one() / cbrt(x)
}

/// `2 / sqrt(pi) exp(-x^2)`, the derivative of the error function.
fn bell(x: Double) -> Double {
    exp(-(x * x)).scaled(1) / PI.sqrt()
}

pub fn erf(x: Double) -> Double {
    bell(x) * series(x, |n| (x * x).scaled(1) / double(2.0 * n + 1.0))
}

pub fn erfc(x: Double) -> Double {
    if x.high < 0.0 {
        return double(2.0) - erfc(-x);
    }
    if x.high < 2.0 { one() - erf(x) } else { bell(x) * far(x) }
}

/// `erfc(x) / bell(x)` for x from 2 on: a continued fraction (Abramowitz and Stegun, 7.1.14).
fn far(x: Double) -> Double {
    let mut fraction = x;
    for k in (1..300).rev() {
        fraction = x + double(0.5 * f64::from(k)) / fraction;
    }
    (one() / fraction).scaled(-1)
}

/// exp(x^2) erfc(x).
pub fn erfcx(x: Double) -> Double {
    if x.high < 2.0 { exp(x * x) * erfc(x) } else { far(x).scaled(1) / PI.sqrt() }
}

pub fn norm_cdf(x: Double) -> Double {
    erfc(-x / double(2.0).sqrt()).scaled(-1)
}

/// A step of Newton's from what was found.
pub fn erfcinv(x: Double, found: f64) -> Double {
    let y = double(found);
    y + (erfc(y) - x) / bell(y)
}

/// The same.
pub fn inv_norm_cdf(x: Double, found: f64) -> Double {
    let y = double(found);
    let density = exp(-(y * y).scaled(-1)) / PI.scaled(1).sqrt();
    y - (norm_cdf(y) - x) / density
}

/// Stirling's series, far enough out, for x above 0.
pub fn log_gamma(x: Double) -> Double {
    const BERNOULLI: [(f64, f64); 12] = [
        (1.0, 6.0),
        (-1.0, 30.0),
        (1.0, 42.0),
        (-1.0, 30.0),
        (5.0, 66.0),
        (-691.0, 2730.0),
        (7.0, 6.0),
        (-3617.0, 510.0),
        (43867.0, 798.0),
        (-174_611.0, 330.0),
        (854_513.0, 138.0),
        (-236_364_091.0, 2730.0),
    ];
    let (mut z, mut product) = (x, one());
    while z.high < 40.0 {
        product = product * z;
        z = z + one();
    }
    let mut total = double(0.0);
    for (k, (numerator, denominator)) in BERNOULLI.iter().enumerate().rev() {
        let k = 2.0 * (k as f64 + 1.0);
        let coefficient = double(*numerator) / (double(*denominator) * double(k * (k - 1.0)));
        total = total / (z * z) + coefficient;
    }
    let far = (z - double(0.5)) * ln(z) - z + ln(PI.scaled(1)).scaled(-1) + total / z;
    far - ln(product)
}

pub fn gamma(x: Double) -> Double {
    exp(log_gamma(x))
}

/// Ascending series, for x up to 20.
pub fn bessel_j(order: u32, x: Double) -> Double {
    let square = -(x * x).scaled(-2);
    let first = if order == 0 { one() } else { x.scaled(-1) };
    series(first, |n| square / double(n * (n + f64::from(order))))
}

pub fn bessel_y0(x: Double) -> Double {
    let square = -(x * x).scaled(-2);
    let (mut total, mut term, mut harmonic) = (double(0.0), one(), double(0.0));
    for n in 1..120 {
        let n = f64::from(n);
        term = term * square / double(n * n);
        harmonic = harmonic + one() / double(n);
        total = total - term * harmonic;
    }
    ((ln(x.scaled(-1)) + GAMMA) * bessel_j(0, x) + total).scaled(1) / PI
}

pub fn bessel_y1(x: Double) -> Double {
    let square = -(x * x).scaled(-2);
    let (mut term, mut harmonic) = (x.scaled(-1), double(0.0));
    let mut total = double(0.0);
    for n in 0..120 {
        let n = f64::from(n);
        let next = harmonic + one() / double(n + 1.0);
        total = total + term * (harmonic + next - GAMMA.scaled(1));
        term = term * square / double((n + 1.0) * (n + 2.0));
        harmonic = next;
    }
    (-double(2.0) / x + (ln(x.scaled(-1)) * bessel_j(1, x)).scaled(1) - total) / PI
}
