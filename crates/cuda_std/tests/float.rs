//! Mathematical functions against the host's, and against equations where the host has none.

use cuda_std::float::approx;
use cuda_std::{FloatExt, GpuFloat};

/// Numbers of all sizes, of both signs.
fn numbers() -> Vec<f64> {
    let sizes = (-40..40).flat_map(|e| [1.0, 1.3, 1.7].map(|m| m * f64::from(e).exp2()));
    sizes.flat_map(|x| [x, -x]).chain([0.0, -0.0, 0.5, 1.0, 2.0, 3.5, f64::INFINITY, f64::NAN]).collect()
}

/// How many numbers of the type are between a and b, about.
fn ulps(a: f64, b: f64, epsilon: f64) -> f64 {
    match (a - b).abs() {
        _ if a == b || (a.is_nan() && b.is_nan()) => 0.0,
        difference if difference.is_finite() => difference / (b.abs().max(f64::MIN_POSITIVE) * epsilon),
        _ => f64::INFINITY,
    }
}

/// Compares the trait's method with `std`'s of the same name, in both precisions.
macro_rules! as_std {
    ($($name:ident($($argument:expr),*) $limit:literal;)*) => {$({
        for x in numbers() {
            let (ours, stds) = (GpuFloat::$name(x, $($argument),*), f64::$name(x, $($argument),*));
            assert!(ulps(ours, stds, f64::EPSILON) <= $limit, "{} of {x}: {ours} {stds}", stringify!($name));
            let single = x as f32;
            let ours = f64::from(GpuFloat::$name(single, $($argument as f32),*));
            let stds = f64::from(f32::$name(single, $($argument as f32),*));
            let far = ulps(ours, stds, f32::EPSILON.into());
            assert!(far <= $limit, "{} of {single}: {ours} {stds}", stringify!($name));
        }
    })*};
}

#[test]
fn methods_are_those_of_std() {
    as_std! {
        floor() 0.0; ceil() 0.0; round() 0.0; trunc() 0.0; fract() 0.0; abs() 0.0; signum() 0.0; sqrt() 0.0;
        copysign(-2.5) 0.0; mul_add(1.5, -0.25) 0.0; rem_euclid(0.75) 1.0; div_euclid(-0.75) 1.0;
        exp() 2.0; exp2() 2.0; ln() 2.0; log2() 2.0; log10() 2.0; log(3.0) 4.0; cbrt() 2.0; hypot(2.5) 2.0;
        sin() 2.0; cos() 2.0; tan() 2.0; asin() 2.0; acos() 2.0; atan() 2.0; atan2(-0.7) 2.0;
        exp_m1() 2.0; ln_1p() 2.0; sinh() 4.0; cosh() 4.0; tanh() 4.0; asinh() 4.0; acosh() 4.0; atanh() 4.0;
        powf(2.5) 2.0; powf(-0.3) 2.0;
    }
    for n in [-7, -1, 0, 1, 2, 13] {
        for x in numbers() {
            let (ours, stds) = (GpuFloat::powi(x, n), x.powi(n));
            assert!(ulps(ours, stds, f64::EPSILON) <= 16.0, "{x} to {n}: {ours} {stds}");
        }
    }
    for x in numbers() {
        let ((sin, cos), expected) = (GpuFloat::sin_cos(x), x.sin_cos());
        assert!(ulps(sin, expected.0, f64::EPSILON) <= 2.0 && ulps(cos, expected.1, f64::EPSILON) <= 2.0);
    }
}

/// Values of the functions from tables (Abramowitz and Stegun; computed with 30 digits).
#[test]
fn special_functions_have_their_values() {
    let close = |name: &str, ours: f64, expected: f64, limit: f64| {
        assert!(ulps(ours, expected, f64::EPSILON) <= limit, "{name}: {ours:e} {expected:e}");
    };
    close("erf(0.5)", 0.5.error_function(), 0.520_499_877_813_046_5, 2.0);
    close("erfc(2)", 2.0.complementary_error_function(), 0.004_677_734_981_047_266, 4.0);
    close("erfcx(2)", 2.0.scaled_complementary_error_function(), 0.255_395_676_310_505_7, 4.0);
    close("erfcx(30)", 30.0.scaled_complementary_error_function(), 0.018_795_888_861_416_75, 4.0);
    close("erfcx(-1)", (-1.0).scaled_complementary_error_function(), 5.008_980_080_762_283, 4.0);
    close("normcdf(-1)", (-1.0).norm_cdf(), 0.158_655_253_931_457_05, 4.0);
    close("normcdf(-20)", (-20.0).norm_cdf(), 2.753_624_118_606_233_6e-89, 8.0);
    close("normcdfinv(0.975)", 0.975.inv_norm_cdf(), 1.959_963_984_540_054, 4.0);
    close("erfcinv(0.5)", 0.5.inv_complementary_error_function(), 0.476_936_276_204_469_9, 4.0);
    close("j0(2.5)", 2.5.j0(), -0.048_383_776_468_198, 8.0);
    close("j1(2.5)", 2.5.j1(), 0.497_094_102_464_274_05, 4.0);
    close("jn(2, 2.5)", 2.5.jn(2), 0.446_059_058_439_617_2, 8.0);
    close("y0(2.5)", 2.5.y0(), 0.498_070_359_615_231_9, 8.0);
    close("y1(2.5)", 2.5.y1(), 0.145_918_137_966_785_8, 8.0);
    close("yn(2, 2.5)", 2.5.yn(2), -0.381_335_849_241_803_2, 16.0);
    close("gamma(4.5)", 4.5.gamma(), 11.631_728_396_567_448, 4.0);
    close("lgamma(10)", 10.0.log_gamma(), 12.801_827_480_081_47, 4.0);
    close("rcbrt(27)", 27.0.rcbrt(), 1.0 / 3.0, 2.0);
    close("log1p(1e-9)", 1e-9.log1p(), 9.999_999_995e-10, 2.0);
}

#[test]
fn inverses_invert() {
    for i in 1..200 {
        let p = f64::from(i) / 200.0;
        assert!((p.inv_norm_cdf().norm_cdf() - p).abs() < 4e-16, "{p}");
        let y = 2.0 * p;
        let x = y.inv_complementary_error_function();
        assert!((x.complementary_error_function() - y).abs() < 8e-16, "{y}");
    }
    for e in 2..300 {
        let y = 10f64.powi(-e);
        let back = y.inv_complementary_error_function().complementary_error_function();
        assert!((back / y - 1.0).abs() < 1e-13 * f64::from(e), "{y:e}: {back:e}");
        let back = y.inv_norm_cdf().norm_cdf();
        assert!((back / y - 1.0).abs() < 1e-13 * f64::from(e), "{y:e}: {back:e}");
    }
    assert_eq!((0.0.inv_norm_cdf(), 1.0.inv_norm_cdf()), (f64::NEG_INFINITY, f64::INFINITY));
    assert!((-0.1_f64).inv_norm_cdf().is_nan() && 2.1_f64.inv_complementary_error_function().is_nan());
}

#[test]
fn half_turns_are_exact() {
    for i in -20..20 {
        let x = f64::from(i);
        assert_eq!(x.sinpi(), 0.0, "{x}");
        assert_eq!(x.cospi(), if i % 2 == 0 { 1.0 } else { -1.0 });
        assert_eq!((x + 0.5).cospi(), 0.0);
        assert_eq!((x + 0.5).sinpi(), if i % 2 == 0 { 1.0 } else { -1.0 });
        for part in [0.1, 0.25, 0.3, 0.77] {
            // The sum is rounded before it is multiplied.
            let y = x + part;
            let (sin, cos) = y.sincospi();
            let turned = (y - 2.0 * (0.5 * y).round()) * std::f64::consts::PI;
            assert!((sin - turned.sin()).abs() < 1e-15 && (cos - turned.cos()).abs() < 1e-15, "{y}");
        }
    }
    assert_eq!((1e22.sinpi(), 1e300.cospi()), (0.0, 1.0));
    assert!(f64::INFINITY.sinpi().is_nan());
    assert_eq!((0.25_f32.sinpi(), 1.5_f32.cospi()), (std::f32::consts::FRAC_1_SQRT_2, 0.0));
}

#[test]
fn parts_of_numbers() {
    for x in numbers().into_iter().filter(|x| x.is_finite()) {
        let (part, exponent) = x.frexp();
        assert_eq!(part.ldexp(exponent), x);
        assert!(x == 0.0 || (0.5..1.0).contains(&part.abs()));
        assert!(x == 0.0 || x.unbiased_exp() == exponent - 1);
        assert_eq!((x as f32).scale_by_n(3), x as f32 * 8.0);
        assert_eq!(x.saturate(), x.clamp(0.0, 1.0));
    }
    assert_eq!((f32::NAN.saturate(), f64::INFINITY.saturate()), (0.0, 1.0));
}

#[test]
fn approximations_are_the_rounded_function_in_the_simulator() {
    for x in numbers().into_iter().map(|x| x as f32).filter(|x| x.abs() < 10.0) {
        let exact = f64::from(x);
        assert_eq!(approx::ex2(x), exact.exp2() as f32);
        assert_eq!(approx::sin(x), exact.sin() as f32);
        assert_eq!(approx::cos(x), exact.cos() as f32);
        assert_eq!(approx::tanh(x), exact.tanh() as f32);
        assert_eq!(approx::rcp(x), 1.0 / x);
        assert_eq!(approx::div(x, 3.0), x / 3.0);
        if x > 0.0 {
            assert_eq!(approx::lg2(x), exact.log2() as f32);
            assert_eq!(approx::sqrt(x), x.sqrt());
            assert_eq!(approx::rsqrt(x), (1.0 / exact.sqrt()) as f32);
        }
    }
}
