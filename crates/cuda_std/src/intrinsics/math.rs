//! Mathematical functions.

use crate::float::{FloatExt, GpuFloat, approx};
use crate::math;

macro_rules! of_one {
    ($($(#[$note:meta])* $double:ident $single:ident: $function:path;)*) => {$(
        $(#[$note])*
        #[inline]
        pub fn $double(x: f64) -> f64 {
            $function(x)
        }
        $(#[$note])*
        #[inline]
        pub fn $single(x: f32) -> f32 {
            $function(x)
        }
    )*};
}

of_one! {
    /// The arc cosine.
    acos acosf: GpuFloat::acos;
    /// The inverse of the hyperbolic cosine.
    acosh acoshf: GpuFloat::acosh;
    /// The arc sine.
    asin asinf: GpuFloat::asin;
    /// The inverse of the hyperbolic sine.
    asinh asinhf: GpuFloat::asinh;
    /// The arc tangent.
    atan atanf: GpuFloat::atan;
    /// The inverse of the hyperbolic tangent.
    atanh atanhf: GpuFloat::atanh;
    /// The cube root.
    cbrt cbrtf: GpuFloat::cbrt;
    /// The smallest integer from x on.
    ceil ceilf: GpuFloat::ceil;
    /// The cosine.
    cos cosf: GpuFloat::cos;
    /// The hyperbolic cosine.
    cosh coshf: GpuFloat::cosh;
    /// The cosine of pi x.
    cospi cospif: FloatExt::cospi;
    /// The error function.
    erf erff: FloatExt::error_function;
    /// 1 less the error function.
    erfc erfcf: FloatExt::complementary_error_function;
    /// The inverse of erfc.
    erfcinv erfcinvf: FloatExt::inv_complementary_error_function;
    /// exp(x^2) erfc(x).
    erfcx erfcxf: FloatExt::scaled_complementary_error_function;
    /// e to x.
    exp expf: GpuFloat::exp;
    /// 2 to x.
    exp2 exp2f: GpuFloat::exp2;
    /// exp(x) - 1.
    expm1 expm1f: GpuFloat::exp_m1;
    /// |x|
    fabs fabsf: GpuFloat::abs;
    /// The largest integer up to x.
    floor floorf: GpuFloat::floor;
    /// The Bessel function of the first kind of order 0.
    j0 j0f: FloatExt::j0;
    /// The Bessel function of the first kind of order 1.
    j1 j1f: FloatExt::j1;
    /// The natural logarithm of the gamma function's absolute value.
    lgamma lgammaf: FloatExt::log_gamma;
    /// The natural logarithm.
    log logf: GpuFloat::ln;
    /// The logarithm to base 10.
    log10 log10f: GpuFloat::log10;
    /// ln(1 + x).
    log1p log1pf: GpuFloat::ln_1p;
    /// The logarithm to base 2.
    log2 log2f: GpuFloat::log2;
    /// The distribution function of the standard normal distribution.
    normcdf normcdff: FloatExt::norm_cdf;
    /// Its inverse.
    normcdfinv normcdfinvf: FloatExt::inv_norm_cdf;
    /// 1 over the cube root.
    rcbrt rcbrtf: FloatExt::rcbrt;
    /// The nearest integer; of two, the one away from 0.
    round roundf: GpuFloat::round;
    /// The sine.
    sin sinf: GpuFloat::sin;
    /// The hyperbolic sine.
    sinh sinhf: GpuFloat::sinh;
    /// The sine of pi x.
    sinpi sinpif: FloatExt::sinpi;
    /// The square root.
    sqrt sqrtf: GpuFloat::sqrt;
    /// The tangent.
    tan tanf: GpuFloat::tan;
    /// The hyperbolic tangent.
    tanh tanhf: GpuFloat::tanh;
    /// The gamma function.
    tgamma tgammaf: FloatExt::gamma;
    /// The integer part.
    trunc truncf: GpuFloat::trunc;
    /// The Bessel function of the second kind of order 0.
    y0 y0f: FloatExt::y0;
    /// The Bessel function of the second kind of order 1.
    y1 y1f: FloatExt::y1;
}

macro_rules! in_both {
    (
        $($(#[$note:meta])* $double:ident $single:ident($($x:ident: $kind:tt),*) -> $result:tt:
        |$precision:ident| $of_double:expr, $of_single:expr;)*
    ) => {$(
        $(#[$note])*
        #[inline]
        pub fn $double($($x: in_both!(@ f64 $kind)),*) -> in_both!(@ f64 $result) {
            #[allow(unused_imports)]
            use math::double as $precision;
            $of_double
        }
        $(#[$note])*
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
    atan2 atan2f(x: T, y: T) -> T: |p| GpuFloat::atan2(x, y), GpuFloat::atan2(x, y);
    /// x with the sign of y.
    copysign copysignf(x: T, y: T) -> T: |p| x.copysign(y), x.copysign(y);
    /// 10 to x.
    exp10 exp10f(x: T) -> T: |p| libm::exp10(x), libm::exp10f(x);
    /// x - y, or 0 if that is negative.
    fdim fdimf(x: T, y: T) -> T: |p| libm::fdim(x, y), libm::fdimf(x, y);
    /// x y + z, rounded once.
    fma fmaf(x: T, y: T, z: T) -> T: |p| p::fma(x, y, z), p::fma(x, y, z);
    /// The larger; a number rather than NaN.
    fmax fmaxf(x: T, y: T) -> T: |p| x.max(y), x.max(y);
    /// The smaller; a number rather than NaN.
    fmin fminf(x: T, y: T) -> T: |p| x.min(y), x.min(y);
    /// What is left of x divided by y, with the sign of x.
    fmod fmodf(x: T, y: T) -> T: |p| libm::fmod(x, y), libm::fmodf(x, y);
    /// sqrt(x^2 + y^2)
    hypot hypotf(x: T, y: T) -> T: |p| GpuFloat::hypot(x, y), GpuFloat::hypot(x, y);
    /// The exponent of x.
    ilogb ilogbf(x: T) -> i32: |p| x.unbiased_exp(), x.unbiased_exp();
    /// The Bessel function of the first kind.
    jn jnf(n: i32, x: T) -> T: |p| x.jn(n), x.jn(n);
    /// x 2^y
    ldexp ldexpf(x: T, y: i32) -> T: |p| x.ldexp(y), x.ldexp(y);
    /// The nearest integer; of two, the even one.
    llrint llrintf(x: T) -> i64: |p| p::round_ties_even(x) as i64, p::round_ties_even(x) as i64;
    /// The nearest integer; of two, the one away from 0.
    llround llroundf(x: T) -> i64: |p| p::round(x) as i64, p::round(x) as i64;
    /// The exponent of x, as a number of its type.
    logb logbf(x: T) -> T: |p| logarithm(x), logarithm(x.into()) as f32;
    /// The nearest integer; of two, the even one.
    nearbyint nearbyintf(x: T) -> T: |p| p::round_ties_even(x), p::round_ties_even(x);
    /// The next number from x towards y.
    nextafter nextafterf(x: T, y: T) -> T: |p| libm::nextafter(x, y), libm::nextafterf(x, y);
    /// x to y.
    pow powf(x: T, y: T) -> T: |p| GpuFloat::powf(x, y), GpuFloat::powf(x, y);
    /// x to y.
    powi powif(x: T, y: i32) -> T: |p| GpuFloat::powi(x, y), GpuFloat::powi(x, y);
    /// What is left of x divided by y, to the nearest multiple.
    remainder remainderf(x: T, y: T) -> T: |p| libm::remainder(x, y), libm::remainderf(x, y);
    /// The nearest integer; of two, the even one.
    rint rintf(x: T) -> T: |p| p::round_ties_even(x), p::round_ties_even(x);
    /// 1 / sqrt(x)
    rsqrt rsqrtf(x: T) -> T: |p| 1.0 / p::sqrt(x), (1.0 / math::double::sqrt(x.into())) as f32;
    /// x 2^y
    scalbn scalbnf(x: T, y: i32) -> T: |p| x.scale_by_n(y), x.scale_by_n(y);
    /// The Bessel function of the second kind.
    yn ynf(n: i32, x: T) -> T: |p| x.yn(n), x.yn(n);
    /// 1 if x is infinite, else 0.
    isinfd isinff(x: T) -> i32: |p| x.is_infinite().into(), x.is_infinite().into();
    /// 1 if x is NaN, else 0.
    isnand isnanf(x: T) -> i32: |p| x.is_nan().into(), x.is_nan().into();
    /// 1 if x is neither, else 0.
    isfinited finitef(x: T) -> i32: |p| x.is_finite().into(), x.is_finite().into();
    /// 1 if x is negative, or -0, else 0.
    signbitd signbitf(x: T) -> i32: |p| x.is_sign_negative().into(), x.is_sign_negative().into();
    /// The x for which erf(x) is y.
    erfinv erfinvf(y: T) -> T: |p| inverse_erf(y), inverse_erf(y.into()) as f32;
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
#[inline]
pub fn saturatef(x: f32) -> f32 {
    x.saturate()
}

macro_rules! through_pointers {
    (
        $t:ident: $frexp:ident $modf:ident $remquo:ident $sincos:ident $sincospi:ident $nan:ident,
        $libm_remquo:ident
    ) => {
        /// f of f 2^n; n is written to `b`.
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
        ///
        /// # Safety
        /// Both may be written.
        #[inline]
        pub unsafe fn $sincos(x: $t, sptr: *mut $t, cptr: *mut $t) {
            // SAFETY: the caller's promise.
            unsafe { (*sptr, *cptr) = GpuFloat::sin_cos(x) }
        }

        /// Writes sine and cosine of pi x.
        ///
        /// # Safety
        /// Both may be written.
        #[inline]
        pub unsafe fn $sincospi(x: $t, sptr: *mut $t, cptr: *mut $t) {
            // SAFETY: the caller's promise.
            unsafe { (*sptr, *cptr) = x.sincospi() }
        }

        /// NaN. The tag is not used.
        #[inline]
        pub fn $nan(_tagp: *mut i8) -> $t {
            $t::NAN
        }
    };
}

through_pointers!(f64: frexp modf remquo sincos sincospi nan, remquo);
through_pointers!(f32: frexpf modff remquof sincosf sincospif nanf, remquof);

/// sin(x), by [`approx::sin`].
#[inline]
pub fn fast_sinf(x: f32) -> f32 {
    approx::sin(x)
}

/// cos(x), by [`approx::cos`].
#[inline]
pub fn fast_cosf(x: f32) -> f32 {
    approx::cos(x)
}

/// Writes both.
///
/// # Safety
/// They may be written.
#[inline]
pub unsafe fn fast_sincosf(x: f32, sptr: *mut f32, cptr: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { (*sptr, *cptr) = (approx::sin(x), approx::cos(x)) }
}

/// tan(x), as the quotient of both.
#[inline]
pub fn fast_tanf(x: f32) -> f32 {
    approx::div(approx::sin(x), approx::cos(x))
}

/// e to x, by [`approx::ex2`].
#[inline]
pub fn fast_expf(x: f32) -> f32 {
    approx::ex2(x * core::f32::consts::LOG2_E)
}

/// 10 to x, by [`approx::ex2`].
#[inline]
pub fn fast_exp10f(x: f32) -> f32 {
    approx::ex2(x * core::f32::consts::LOG2_10)
}

/// The natural logarithm, by [`approx::lg2`].
#[inline]
pub fn fast_logf(x: f32) -> f32 {
    approx::lg2(x) * core::f32::consts::LN_2
}

/// The logarithm to base 10, by [`approx::lg2`].
#[inline]
pub fn fast_log10f(x: f32) -> f32 {
    approx::lg2(x) * core::f32::consts::LOG10_2
}

/// The logarithm to base 2: [`approx::lg2`].
#[inline]
pub fn fast_log2f(x: f32) -> f32 {
    approx::lg2(x)
}

/// x to y, by [`approx::ex2`] and [`approx::lg2`].
#[inline]
pub fn fast_powf(x: f32, y: f32) -> f32 {
    approx::ex2(y * approx::lg2(x))
}

/// x / y: [`approx::div`].
#[inline]
pub fn fast_fdividef(x: f32, y: f32) -> f32 {
    approx::div(x, y)
}
