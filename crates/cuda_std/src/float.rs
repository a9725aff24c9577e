//! Mathematical functions, of which `core` has few.
//!
//! Whatever is not exact comes from the crate `libm`, on the device and on the host, so that the simulator
//! gives the device's bits. (A method of the same name that the type itself has on the host comes first
//! there: `x.sin()` for an `f32` is `std`'s. Generic kernels take the trait's.)
//!
//! ```
//! use cuda_std::GpuFloat;
//!
//! /// The length of a vector, in a kernel over f32 or f64.
//! fn length<T: GpuFloat>(x: T, y: T) -> T {
//!     x.hypot(y)
//! }
//!
//! assert_eq!(length(3.0_f32, 4.0), 5.0);
//! ```

pub mod approx;
mod extension;
mod special;

pub use extension::FloatExt;

use crate::math;

/// The methods that `f32` and `f64` have in `std`, for kernels.
///
/// ```
/// # use cuda_std::GpuFloat;
/// /// 1 / (1 + exp(-x))
/// fn logistic<T: GpuFloat + std::ops::Add<Output = T> + std::ops::Div<Output = T>>(x: T, one: T) -> T {
///     let e = x.exp();
///     e / (one + e)
/// }
///
/// assert_eq!(logistic(0.0_f32, 1.0), 0.5);
/// ```
pub trait GpuFloat: Copy + PartialOrd + private::Sealed {
    /// The largest integer up to this.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::floor(-1.5), -2.0);
    /// ```
    fn floor(self) -> Self;
    /// The smallest integer from this on.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::ceil(-1.5), -1.0);
    /// ```
    fn ceil(self) -> Self;
    /// The nearest integer; of two, the one away from 0.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!((GpuFloat::round(2.5), GpuFloat::round(-2.5)), (3.0, -3.0));
    /// ```
    fn round(self) -> Self;
    /// The integer part.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::trunc(-1.5), -1.0);
    /// ```
    fn trunc(self) -> Self;
    /// The part behind the point, with the sign.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::fract(-1.5), -0.5);
    /// ```
    fn fract(self) -> Self;
    /// The absolute value.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::abs(-1.5), 1.5);
    /// ```
    fn abs(self) -> Self;
    /// 1 with the sign of this; NaN for NaN.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!((GpuFloat::signum(-1.5), GpuFloat::signum(0.0)), (-1.0, 1.0));
    /// ```
    fn signum(self) -> Self;
    /// This with another's sign.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::copysign(1.5, -7.0), -1.5);
    /// ```
    fn copysign(self, sign: Self) -> Self;
    /// `self * a + b`, rounded once.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::mul_add(2.0, 3.0, 4.0), 10.0);
    /// ```
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The integer q for which `self = q * rhs + r` with r from 0 up to below `|rhs|`.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::div_euclid(-7.0, 4.0), -2.0);
    /// ```
    fn div_euclid(self, rhs: Self) -> Self;
    /// That r.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::rem_euclid(-7.0, 4.0), 1.0);
    /// ```
    fn rem_euclid(self, rhs: Self) -> Self;
    /// The power with an integer exponent, by squaring.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::powi(2.0, -3), 0.125);
    /// ```
    fn powi(self, n: i32) -> Self;
    /// The power.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::powf(4.0, 1.5), 8.0);
    /// ```
    fn powf(self, n: Self) -> Self;
    /// The square root, rounded correctly.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::sqrt(2.25), 1.5);
    /// ```
    fn sqrt(self) -> Self;
    /// e to this.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::exp(1.0_f32) - std::f32::consts::E).abs() < 1e-6);
    /// ```
    fn exp(self) -> Self;
    /// 2 to this.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::exp2(3.0), 8.0);
    /// ```
    fn exp2(self) -> Self;
    /// The natural logarithm.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::ln(2.0_f32) - std::f32::consts::LN_2).abs() < 1e-6);
    /// ```
    fn ln(self) -> Self;
    /// The logarithm to a base.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::log(8.0, 2.0) - 3.0_f64).abs() < 1e-15);
    /// ```
    fn log(self, base: Self) -> Self;
    /// The logarithm to base 2.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::log2(8.0), 3.0);
    /// ```
    fn log2(self) -> Self;
    /// The logarithm to base 10.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::log10(1000.0), 3.0);
    /// ```
    fn log10(self) -> Self;
    /// The cube root.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::cbrt(-27.0), -3.0);
    /// ```
    fn cbrt(self) -> Self;
    /// `sqrt(self^2 + other^2)`.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::hypot(3.0, 4.0), 5.0);
    /// // No square overflows.
    /// assert_eq!(GpuFloat::hypot(3e300, 4e300), 5e300);
    /// ```
    fn hypot(self, other: Self) -> Self;
    /// The sine.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::sin(std::f32::consts::FRAC_PI_6) - 0.5).abs() < 1e-6);
    /// ```
    fn sin(self) -> Self;
    /// The cosine.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::cos(std::f32::consts::FRAC_PI_3) - 0.5).abs() < 1e-6);
    /// ```
    fn cos(self) -> Self;
    /// The tangent.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::tan(std::f32::consts::FRAC_PI_4) - 1.0).abs() < 1e-6);
    /// ```
    fn tan(self) -> Self;
    /// The arc sine.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::asin(0.5) - std::f32::consts::FRAC_PI_6).abs() < 1e-6);
    /// ```
    fn asin(self) -> Self;
    /// The arc cosine.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::acos(0.5) - std::f32::consts::FRAC_PI_3).abs() < 1e-6);
    /// ```
    fn acos(self) -> Self;
    /// The arc tangent.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::atan(1.0) - std::f32::consts::FRAC_PI_4).abs() < 1e-6);
    /// ```
    fn atan(self) -> Self;
    /// The angle of the point (`other`, `self`).
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// // The point (-1, 1) is half of the way from the y axis to the negative x axis.
    /// assert!((GpuFloat::atan2(1.0, -1.0) - 0.75 * std::f32::consts::PI).abs() < 1e-6);
    /// ```
    fn atan2(self, other: Self) -> Self;
    /// Sine and cosine.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// let (sine, cosine) = GpuFloat::sin_cos(0.0_f32);
    /// assert_eq!((sine, cosine), (0.0, 1.0));
    /// ```
    fn sin_cos(self) -> (Self, Self);
    /// `exp(self) - 1`, right also where this is small.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::exp_m1(1e-20), 1e-20);
    /// ```
    fn exp_m1(self) -> Self;
    /// `ln(1 + self)`, right also where this is small.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert_eq!(GpuFloat::ln_1p(1e-20), 1e-20);
    /// ```
    fn ln_1p(self) -> Self;
    /// The hyperbolic sine.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::sinh(1.0_f32) - 1.175_201_2).abs() < 1e-6);
    /// ```
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::cosh(1.0_f32) - 1.543_080_6).abs() < 1e-6);
    /// ```
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::tanh(1.0_f32) - 0.761_594_2).abs() < 1e-6);
    /// ```
    fn tanh(self) -> Self;
    /// The inverse of the hyperbolic sine.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::asinh(1.175_201_2_f32) - 1.0).abs() < 1e-6);
    /// ```
    fn asinh(self) -> Self;
    /// The inverse of the hyperbolic cosine.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::acosh(1.543_080_6_f32) - 1.0).abs() < 1e-6);
    /// assert!(GpuFloat::acosh(0.5_f32).is_nan());
    /// ```
    fn acosh(self) -> Self;
    /// The inverse of the hyperbolic tangent.
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// assert!((GpuFloat::atanh(0.761_594_2_f32) - 1.0).abs() < 1e-6);
    /// ```
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
