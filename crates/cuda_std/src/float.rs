//! Mathematical functions, of which `core` has few.
//!
//! Whatever is not exact comes from the crate `libm`, on the device and on the host, so that the simulator
//! gives the device's bits. (A method of the same name that the type itself has on the host comes first
//! there: `x.sin()` for an `f32` is `std`'s. Generic kernels take the trait's.)

pub mod approx;
mod extension;
mod special;

pub use extension::FloatExt;

use crate::math;

/// The methods that `f32` and `f64` have in `std`, for kernels.
pub trait GpuFloat: Copy + PartialOrd + private::Sealed {
    /// The largest integer up to this.
    fn floor(self) -> Self;
    /// The smallest integer from this on.
    fn ceil(self) -> Self;
    /// The nearest integer; of two, the one away from 0.
    fn round(self) -> Self;
    /// The integer part.
    fn trunc(self) -> Self;
    /// The part behind the point, with the sign.
    fn fract(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// 1 with the sign of this; NaN for NaN.
    fn signum(self) -> Self;
    /// This with another's sign.
    fn copysign(self, sign: Self) -> Self;
    /// `self * a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The integer q for which `self = q * rhs + r` with r from 0 up to below `|rhs|`.
    fn div_euclid(self, rhs: Self) -> Self;
    /// That r.
    fn rem_euclid(self, rhs: Self) -> Self;
    /// The power with an integer exponent, by squaring.
    fn powi(self, n: i32) -> Self;
    /// The power.
    fn powf(self, n: Self) -> Self;
    /// The square root, rounded correctly.
    fn sqrt(self) -> Self;
    /// e to this.
    fn exp(self) -> Self;
    /// 2 to this.
    fn exp2(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The logarithm to a base.
    fn log(self, base: Self) -> Self;
    /// The logarithm to base 2.
    fn log2(self) -> Self;
    /// The logarithm to base 10.
    fn log10(self) -> Self;
    /// The cube root.
    fn cbrt(self) -> Self;
    /// `sqrt(self^2 + other^2)`.
    fn hypot(self, other: Self) -> Self;
    /// The sine.
    fn sin(self) -> Self;
    /// The cosine.
    fn cos(self) -> Self;
    /// The tangent.
    fn tan(self) -> Self;
    /// The arc sine.
    fn asin(self) -> Self;
    /// The arc cosine.
    fn acos(self) -> Self;
    /// The arc tangent.
    fn atan(self) -> Self;
    /// The angle of the point (`other`, `self`).
    fn atan2(self, other: Self) -> Self;
    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);
    /// `exp(self) - 1`, right also where this is small.
    fn exp_m1(self) -> Self;
    /// `ln(1 + self)`, right also where this is small.
    fn ln_1p(self) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The inverse of the hyperbolic sine.
    fn asinh(self) -> Self;
    /// The inverse of the hyperbolic cosine.
    fn acosh(self) -> Self;
    /// The inverse of the hyperbolic tangent.
    fn atanh(self) -> Self;
}

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Functions of one number.
macro_rules! functions {
    ($($name:ident $path:path;)*) => {$(
        #[inline]
        fn $name(self) -> Self {
            $path(self)
        }
    )*};
}

macro_rules! gpu_float {
    ($t:ident, $precision:ident, [$fmod:ident $pow:ident $hypot:ident $atan2:ident $sincos:ident $acosh:ident],
     { $($functions:tt)* }) => {
        impl GpuFloat for $t {
            functions! {
                floor math::$precision::floor;
                ceil math::$precision::ceil;
                round math::$precision::round;
                trunc math::$precision::trunc;
                sqrt math::$precision::sqrt;
                abs $t::abs;
                signum $t::signum;
                $($functions)*
            }

            #[inline]
            fn fract(self) -> Self {
                self - math::$precision::trunc(self)
            }
            #[inline]
            fn copysign(self, sign: Self) -> Self {
                $t::copysign(self, sign)
            }
            #[inline]
            fn mul_add(self, a: Self, b: Self) -> Self {
                math::$precision::fma(self, a, b)
            }
            #[inline]
            fn div_euclid(self, rhs: Self) -> Self {
                let q = math::$precision::trunc(self / rhs);
                match libm::$fmod(self, rhs) < 0.0 {
                    true if rhs > 0.0 => q - 1.0,
                    true => q + 1.0,
                    false => q,
                }
            }
            #[inline]
            fn rem_euclid(self, rhs: Self) -> Self {
                let r = libm::$fmod(self, rhs);
                if r < 0.0 { r + $t::abs(rhs) } else { r }
            }
            #[inline]
            fn powi(self, n: i32) -> Self {
                let (mut power, mut left, mut result) = (self, n.unsigned_abs(), 1.0);
                while left != 0 {
                    if left % 2 == 1 {
                        result *= power;
                    }
                    power *= power;
                    left /= 2;
                }
                if n < 0 { 1.0 / result } else { result }
            }
            #[inline]
            fn powf(self, n: Self) -> Self {
                libm::$pow(self, n)
            }
            #[inline]
            fn log(self, base: Self) -> Self {
                GpuFloat::ln(self) / GpuFloat::ln(base)
            }
            #[inline]
            fn hypot(self, other: Self) -> Self {
                libm::$hypot(self, other)
            }
            #[inline]
            fn atan2(self, other: Self) -> Self {
                libm::$atan2(self, other)
            }
            #[inline]
            fn acosh(self) -> Self {
                // Of numbers below 1 `libm` does not always say NaN.
                if self < 1.0 { $t::NAN } else { libm::$acosh(self) }
            }
            #[inline]
            fn sin_cos(self) -> (Self, Self) {
                libm::$sincos(self)
            }
        }
    };
}

gpu_float!(f32, single, [fmodf powf hypotf atan2f sincosf acoshf], {
    exp libm::expf;
    exp2 libm::exp2f;
    ln libm::logf;
    log2 libm::log2f;
    log10 libm::log10f;
    cbrt libm::cbrtf;
    sin libm::sinf;
    cos libm::cosf;
    tan libm::tanf;
    asin libm::asinf;
    acos libm::acosf;
    atan libm::atanf;
    exp_m1 libm::expm1f;
    ln_1p libm::log1pf;
    sinh libm::sinhf;
    cosh libm::coshf;
    tanh libm::tanhf;
    asinh libm::asinhf;
    atanh libm::atanhf;
});

gpu_float!(f64, double, [fmod pow hypot atan2 sincos acosh], {
    exp libm::exp;
    exp2 libm::exp2;
    ln libm::log;
    log2 libm::log2;
    log10 libm::log10;
    cbrt libm::cbrt;
    sin libm::sin;
    cos libm::cos;
    tan libm::tan;
    asin libm::asin;
    acos libm::acos;
    atan libm::atan;
    exp_m1 libm::expm1;
    ln_1p libm::log1p;
    sinh libm::sinh;
    cosh libm::cosh;
    tanh libm::tanh;
    asinh libm::asinh;
    atanh libm::atanh;
});
