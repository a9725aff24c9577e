//! Mathematical functions.

use crate::float::{FloatExt, GpuFloat, approx};
use crate::math;

macro_rules! of_one {
    ($($(#[$note:meta])* $double:ident $single:ident: $function:path, $x:literal $near:tt $y:literal;)*) => {$(
        $(#[$note])*
        #[doc = example!($double $x; $near $y)]
        #[inline]
        pub fn $double(x: f64) -> f64 {
            $function(x)
        }
        $(#[$note])*
        #[doc = example!($single $x; $near $y)]
        #[inline]
        pub fn $single(x: f32) -> f32 {
            $function(x)
        }
    )*};
}

of_one! {
    /// The arc cosine.
    acos acosf: GpuFloat::acos, 0.5 ~ 1.0472;
    /// The inverse of the hyperbolic cosine.
    acosh acoshf: GpuFloat::acosh, 1.5431 ~ 1.0;
    /// The arc sine.
    asin asinf: GpuFloat::asin, 0.5 ~ 0.5236;
    /// The inverse of the hyperbolic sine.
    asinh asinhf: GpuFloat::asinh, 1.1752 ~ 1.0;
    /// The arc tangent.
    atan atanf: GpuFloat::atan, 1.0 ~ 0.7854;
    /// The inverse of the hyperbolic tangent.
    atanh atanhf: GpuFloat::atanh, 0.7616 ~ 1.0;
    /// The cube root.
    cbrt cbrtf: GpuFloat::cbrt, 27.0 = 3.0;
    /// The smallest integer from x on.
    ceil ceilf: GpuFloat::ceil, 1.5 = 2.0;
    /// The cosine.
    cos cosf: GpuFloat::cos, 0.5 ~ 0.8776;
    /// The hyperbolic cosine.
    cosh coshf: GpuFloat::cosh, 1.0 ~ 1.5431;
    /// The cosine of pi x.
    cospi cospif: FloatExt::cospi, 1.0 = -1.0;
    /// The error function.
    erf erff: FloatExt::error_function, 1.0 ~ 0.8427;
    /// 1 less the error function.
    erfc erfcf: FloatExt::complementary_error_function, 1.0 ~ 0.1573;
    /// The inverse of erfc.
    erfcinv erfcinvf: FloatExt::inv_complementary_error_function, 0.1573 ~ 1.0;
    /// exp(x^2) erfc(x).
    erfcx erfcxf: FloatExt::scaled_complementary_error_function, 1.0 ~ 0.4276;
    /// e to x.
    exp expf: GpuFloat::exp, 1.0 ~ 2.7183;
    /// 2 to x.
    exp2 exp2f: GpuFloat::exp2, 3.0 = 8.0;
    /// exp(x) - 1.
    expm1 expm1f: GpuFloat::exp_m1, 1.0 ~ 1.7183;
    /// |x|
    fabs fabsf: GpuFloat::abs, -1.5 = 1.5;
    /// The largest integer up to x.
    floor floorf: GpuFloat::floor, -1.5 = -2.0;
    /// The Bessel function of the first kind of order 0.
    j0 j0f: FloatExt::j0, 1.0 ~ 0.7652;
    /// The Bessel function of the first kind of order 1.
    j1 j1f: FloatExt::j1, 1.0 ~ 0.4401;
    /// The natural logarithm of the gamma function's absolute value.
    lgamma lgammaf: FloatExt::log_gamma, 5.0 ~ 3.1781;
    /// The natural logarithm.
    log logf: GpuFloat::ln, 2.0 ~ 0.6931;
    /// The logarithm to base 10.
    log10 log10f: GpuFloat::log10, 1000.0 = 3.0;
    /// ln(1 + x).
    log1p log1pf: GpuFloat::ln_1p, 1.0 ~ 0.6931;
    /// The logarithm to base 2.
    log2 log2f: GpuFloat::log2, 8.0 = 3.0;
    /// The distribution function of the standard normal distribution.
    normcdf normcdff: FloatExt::norm_cdf, 1.96 ~ 0.9750;
    /// Its inverse.
    normcdfinv normcdfinvf: FloatExt::inv_norm_cdf, 0.975 ~ 1.9600;
    /// 1 over the cube root.
    rcbrt rcbrtf: FloatExt::rcbrt, 8.0 = 0.5;
    /// The nearest integer; of two, the one away from 0.
    round roundf: GpuFloat::round, 2.5 = 3.0;
    /// The sine.
    sin sinf: GpuFloat::sin, 0.5 ~ 0.4794;
    /// The hyperbolic sine.
    sinh sinhf: GpuFloat::sinh, 1.0 ~ 1.1752;
    /// The sine of pi x.
    sinpi sinpif: FloatExt::sinpi, 0.5 = 1.0;
    /// The square root.
    sqrt sqrtf: GpuFloat::sqrt, 2.25 = 1.5;
    /// The tangent.
    tan tanf: GpuFloat::tan, 0.5 ~ 0.5463;
    /// The hyperbolic tangent.
    tanh tanhf: GpuFloat::tanh, 1.0 ~ 0.7616;
    /// The gamma function.
    tgamma tgammaf: FloatExt::gamma, 5.0 = 24.0;
    /// The integer part.
    trunc truncf: GpuFloat::trunc, -1.5 = -1.0;
    /// The Bessel function of the second kind of order 0.
    y0 y0f: FloatExt::y0, 1.0 ~ 0.0883;
    /// The Bessel function of the second kind of order 1.
    y1 y1f: FloatExt::y1, 1.0 ~ -0.7812;
}

macro_rules! in_both {
    (
        $($(#[$note:meta])* $double:ident $single:ident($($x:ident: $kind:tt),*) -> $result:tt:
        |$precision:ident| $of_double:expr, $of_single:expr, ($($at:expr),*) $near:tt $y:expr;)*
    ) => {$(
        $(#[$note])*
        #[doc = example!($double $($at),*; $near $y)]
        #[inline]
        pub fn $double($($x: in_both!(@ f64 $kind)),*) -> in_both!(@ f64 $result) {
            #[allow(unused_imports)]
            use math::double as $precision;
            $of_double
        }
        $(#[$note])*
        #[doc = example!($single $($at),*; $near $y)]
        #[inline]
        pub fn $single($($x: in_both!(@ f32 $kind)),*) -> in_both!(@ f32 $result) {
            #[allow(unused_imports)]
            use math::single as $precision;
            $of_single
        }
    )*};
    (@ $t:ident T) => { $t };
    (@ $t:ident $other:tt) => { $other };
}

in_both! {
    /// The angle of the point (y, x), the first argument being its ordinate.
    atan2 atan2f(x: T, y: T) -> T: |p| GpuFloat::atan2(x, y), GpuFloat::atan2(x, y), (1.0, -1.0) ~ 2.3562;
    /// x with the sign of y.
    copysign copysignf(x: T, y: T) -> T: |p| x.copysign(y), x.copysign(y), (1.5, -7.0) = -1.5;
    /// 10 to x.
    exp10 exp10f(x: T) -> T: |p| libm::exp10(x), libm::exp10f(x), (3.0) = 1000.0;
    /// x - y, or 0 if that is negative.
    fdim fdimf(x: T, y: T) -> T: |p| libm::fdim(x, y), libm::fdimf(x, y), (5.0, 3.0) = 2.0;
    /// x y + z, rounded once.
    fma fmaf(x: T, y: T, z: T) -> T: |p| p::fma(x, y, z), p::fma(x, y, z), (2.0, 3.0, 4.0) = 10.0;
    /// The larger; a number rather than NaN.
    fmax fmaxf(x: T, y: T) -> T: |p| x.max(y), x.max(y), (1.5, 2.5) = 2.5;
    /// The smaller; a number rather than NaN.
    fmin fminf(x: T, y: T) -> T: |p| x.min(y), x.min(y), (1.5, 2.5) = 1.5;
    /// What is left of x divided by y, with the sign of x.
    fmod fmodf(x: T, y: T) -> T: |p| libm::fmod(x, y), libm::fmodf(x, y), (-7.0, 4.0) = -3.0;
    /// sqrt(x^2 + y^2)
    hypot hypotf(x: T, y: T) -> T: |p| GpuFloat::hypot(x, y), GpuFloat::hypot(x, y), (3.0, 4.0) = 5.0;
    /// The exponent of x.
    ilogb ilogbf(x: T) -> i32: |p| x.unbiased_exp(), x.unbiased_exp(), (12.0) = 3;
    /// The Bessel function of the first kind.
    jn jnf(n: i32, x: T) -> T: |p| x.jn(n), x.jn(n), (2, 1.0) ~ 0.1149;
    /// x 2^y
    ldexp ldexpf(x: T, y: i32) -> T: |p| x.ldexp(y), x.ldexp(y), (0.75, 4) = 12.0;
    /// The nearest integer; of two, the even one.
    llrint llrintf(x: T) -> i64: |p| p::round_ties_even(x) as i64, p::round_ties_even(x) as i64, (2.5) = 2;
    /// The nearest integer; of two, the one away from 0.
    llround llroundf(x: T) -> i64: |p| p::round(x) as i64, p::round(x) as i64, (2.5) = 3;
    /// The exponent of x, as a number of its type.
    logb logbf(x: T) -> T: |p| logarithm(x), logarithm(x.into()) as f32, (12.0) = 3.0;
    /// The nearest integer; of two, the even one.
    nearbyint nearbyintf(x: T) -> T: |p| p::round_ties_even(x), p::round_ties_even(x), (2.5) = 2.0;
    /// The next number from x towards y.
    nextafter nextafterf(x: T, y: T) -> T: |p| libm::nextafter(x, y), libm::nextafterf(x, y), (2.0, 2.0) = 2.0;
    /// x to y.
    pow powf(x: T, y: T) -> T: |p| GpuFloat::powf(x, y), GpuFloat::powf(x, y), (4.0, 1.5) = 8.0;
    /// x to y.
    powi powif(x: T, y: i32) -> T: |p| GpuFloat::powi(x, y), GpuFloat::powi(x, y), (2.0, -3) = 0.125;
    /// What is left of x divided by y, to the nearest multiple.
    remainder remainderf(x: T, y: T) -> T: |p| libm::remainder(x, y), libm::remainderf(x, y), (7.0, 4.0) = -1.0;
    /// The nearest integer; of two, the even one.
    rint rintf(x: T) -> T: |p| p::round_ties_even(x), p::round_ties_even(x), (2.5) = 2.0;
    /// 1 / sqrt(x)
    rsqrt rsqrtf(x: T) -> T: |p| 1.0 / p::sqrt(x), (1.0 / math::double::sqrt(x.into())) as f32, (4.0) = 0.5;
    /// x 2^y
    scalbn scalbnf(x: T, y: i32) -> T: |p| x.scale_by_n(y), x.scale_by_n(y), (0.75, 4) = 12.0;
    /// The Bessel function of the second kind.
    yn ynf(n: i32, x: T) -> T: |p| x.yn(n), x.yn(n), (2, 1.0) ~ -1.6507;
    /// 1 if x is infinite, else 0.
    isinfd isinff(x: T) -> i32: |p| x.is_infinite().into(), x.is_infinite().into(), (-1.0 / 0.0) = 1;
    /// 1 if x is NaN, else 0.
    isnand isnanf(x: T) -> i32: |p| x.is_nan().into(), x.is_nan().into(), (0.0 / 0.0) = 1;
    /// 1 if x is neither, else 0.
    isfinited finitef(x: T) -> i32: |p| x.is_finite().into(), x.is_finite().into(), (1.5) = 1;
    /// 1 if x is negative, or -0, else 0.
    signbitd signbitf(x: T) -> i32: |p| x.is_sign_negative().into(), x.is_sign_negative().into(), (-1.5) = 1;
    /// The x for which erf(x) is y.
    erfinv erfinvf(y: T) -> T: |p| inverse_erf(y), inverse_erf(y.into()) as f32, (0.8427) ~ 1.0;
}

fn logarithm(x: f64) -> f64 {
    match x {
        0.0 => f64::NEG_INFINITY,
        x if x.is_finite() => f64::from(x.unbiased_exp()),
        x => x.abs(),
    }
}

fn inverse_erf(y: f64) -> f64 {
    let x = (1.0 - y).inv_complementary_error_function();
    if y.abs() > 0.5 {
        return x;
    }
    // A step of Newton's method: 1 - y is not exact, and erf is where it is small.
    let slope = core::f64::consts::FRAC_2_SQRT_PI * GpuFloat::exp(-x * x);
    x - (x.error_function() - y) / slope
}

/// The nearest number from 0 to 1; 0 for NaN.
#[doc = example!(saturatef 1.5; = 1.0)]
#[inline]
pub fn saturatef(x: f32) -> f32 {
    x.saturate()
}

/// An example: what stands before the function's name and behind it.
macro_rules! pointer_example {
    ($name:ident, $before:literal, $behind:literal) => {
        concat!("\n```\n", $before, stringify!($name), $behind, "\n```")
    };
}

macro_rules! through_pointers {
    (
        $t:ident: $frexp:ident $modf:ident $remquo:ident $sincos:ident $sincospi:ident $nan:ident,
        $libm_remquo:ident
    ) => {
        /// f of f 2^n; n is written to `b`.
        #[doc = pointer_example!($frexp, "let mut exponent = 0;\n// SAFETY: it may be written.\nlet part = unsafe { cuda_std::intrinsics::", "(12.0, &mut exponent) };\nassert_eq!((part, exponent), (0.75, 4));")]
        ///
        /// # Safety
        /// It may be written.
        #[inline]
        pub unsafe fn $frexp(x: $t, b: *mut i32) -> $t {
            let (part, exponent) = FloatExt::frexp(x);
            // SAFETY: the caller's promise.
            unsafe { *b = exponent };
            part
        }

        /// The part behind the point; the one before it is written to `b`.
        #[doc = pointer_example!($modf, "let mut whole = 0.0;\n// SAFETY: it may be written.\nlet part = unsafe { cuda_std::intrinsics::", "(-1.5, &mut whole) };\nassert_eq!((whole, part), (-1.0, -0.5));")]
        ///
        /// # Safety
        /// It may be written.
        #[inline]
        pub unsafe fn $modf(x: $t, b: *mut $t) -> $t {
            let whole = GpuFloat::trunc(x);
            // SAFETY: the caller's promise.
            unsafe { *b = whole };
            if x.is_infinite() { (0.0 as $t).copysign(x) } else { (x - whole).copysign(x) }
        }

        /// The remainder; the lower bits of the quotient are written to `quotient`.
        #[doc = pointer_example!($remquo, "let mut quotient = 0;\n// SAFETY: it may be written.\nlet rest = unsafe { cuda_std::intrinsics::", "(7.0, 4.0, &mut quotient) };\nassert_eq!((quotient, rest), (2, -1.0));")]
        ///
        /// # Safety
        /// It may be written.
        #[inline]
        pub unsafe fn $remquo(x: $t, y: $t, quotient: *mut i32) -> $t {
            let (rest, times) = libm::$libm_remquo(x, y);
            // SAFETY: the caller's promise.
            unsafe { *quotient = times };
            rest
        }

        /// Writes sine and cosine.
        #[doc = pointer_example!($sincos, "let (mut sine, mut cosine) = (0.0, 0.0);\n// SAFETY: both may be written.\nunsafe { cuda_std::intrinsics::", "(0.0, &mut sine, &mut cosine) };\nassert_eq!((sine, cosine), (0.0, 1.0));")]
        ///
        /// # Safety
        /// Both may be written.
        #[inline]
        pub unsafe fn $sincos(x: $t, sptr: *mut $t, cptr: *mut $t) {
            // SAFETY: the caller's promise.
            unsafe { (*sptr, *cptr) = GpuFloat::sin_cos(x) }
        }

        /// Writes sine and cosine of pi x.
        #[doc = pointer_example!($sincospi, "let (mut sine, mut cosine) = (0.0, 0.0);\n// SAFETY: both may be written.\nunsafe { cuda_std::intrinsics::", "(0.5, &mut sine, &mut cosine) };\nassert_eq!((sine, cosine), (1.0, 0.0));")]
        ///
        /// # Safety
        /// Both may be written.
        #[inline]
        pub unsafe fn $sincospi(x: $t, sptr: *mut $t, cptr: *mut $t) {
            // SAFETY: the caller's promise.
            unsafe { (*sptr, *cptr) = x.sincospi() }
        }

        /// NaN. The tag is not used.
        #[doc = pointer_example!($nan, "assert!(cuda_std::intrinsics::", "(std::ptr::null_mut()).is_nan());")]
        #[inline]
        pub fn $nan(_tagp: *mut i8) -> $t {
            $t::NAN
        }
    };
}

through_pointers!(f64: frexp modf remquo sincos sincospi nan, remquo);
through_pointers!(f32: frexpf modff remquof sincosf sincospif nanf, remquof);

/// sin(x), by [`approx::sin`].
#[doc = example!(fast_sinf 0.5; ~ 0.4794)]
#[inline]
pub fn fast_sinf(x: f32) -> f32 {
    approx::sin(x)
}

/// cos(x), by [`approx::cos`].
#[doc = example!(fast_cosf 0.5; ~ 0.8776)]
#[inline]
pub fn fast_cosf(x: f32) -> f32 {
    approx::cos(x)
}

/// Writes both.
///
/// ```
/// let (mut sine, mut cosine) = (0.0, 0.0);
/// // SAFETY: both may be written.
/// unsafe { cuda_std::intrinsics::fast_sincosf(0.5, &mut sine, &mut cosine) };
/// assert!((sine - 0.4794).abs() < 1e-4 && (cosine - 0.8776).abs() < 1e-4);
/// ```
///
/// # Safety
/// They may be written.
#[inline]
pub unsafe fn fast_sincosf(x: f32, sptr: *mut f32, cptr: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { (*sptr, *cptr) = (approx::sin(x), approx::cos(x)) }
}

/// tan(x), as the quotient of both.
#[doc = example!(fast_tanf 0.5; ~ 0.5463)]
#[inline]
pub fn fast_tanf(x: f32) -> f32 {
    approx::div(approx::sin(x), approx::cos(x))
}

/// e to x, by [`approx::ex2`].
#[doc = example!(fast_expf 1.0; ~ 2.7183)]
#[inline]
pub fn fast_expf(x: f32) -> f32 {
    approx::ex2(x * core::f32::consts::LOG2_E)
}

/// 10 to x, by [`approx::ex2`].
#[doc = example!(fast_exp10f 2.0; ~ 100.0)]
#[inline]
pub fn fast_exp10f(x: f32) -> f32 {
    approx::ex2(x * core::f32::consts::LOG2_10)
}

/// The natural logarithm, by [`approx::lg2`].
#[doc = example!(fast_logf 2.0; ~ 0.6931)]
#[inline]
pub fn fast_logf(x: f32) -> f32 {
    approx::lg2(x) * core::f32::consts::LN_2
}

/// The logarithm to base 10, by [`approx::lg2`].
#[doc = example!(fast_log10f 100.0; ~ 2.0)]
#[inline]
pub fn fast_log10f(x: f32) -> f32 {
    approx::lg2(x) * core::f32::consts::LOG10_2
}

/// The logarithm to base 2: [`approx::lg2`].
#[doc = example!(fast_log2f 8.0; ~ 3.0)]
#[inline]
pub fn fast_log2f(x: f32) -> f32 {
    approx::lg2(x)
}

/// x to y, by [`approx::ex2`] and [`approx::lg2`].
#[doc = example!(fast_powf 4.0, 1.5; ~ 8.0)]
#[inline]
pub fn fast_powf(x: f32, y: f32) -> f32 {
    approx::ex2(y * approx::lg2(x))
}

/// x / y: [`approx::div`].
#[doc = example!(fast_fdividef 3.0, 2.0; = 1.5)]
#[inline]
pub fn fast_fdividef(x: f32, y: f32) -> f32 {
    approx::div(x, y)
}
