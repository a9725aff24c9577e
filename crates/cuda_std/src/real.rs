//! The floating-point types a kernel can be written over.

use crate::math;
use crate::memory::Word;
use crate::warp::WarpShuffleValue;
use core::fmt::{Debug, Display, LowerExp};
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A real scalar, `f32` or `f64`, on the host and on the device alike.
///
/// Only what kernels and solvers need; everything else is the inherent method of the type.
///
/// ```
/// # use cuda_std::Real;
/// /// sqrt((x, x)) in the precision of x.
/// fn norm<T: Real>(x: &[T]) -> T {
///     x.iter().map(|&x| x * x).sum::<T>().sqrt()
/// }
///
/// assert_eq!(norm(&[3.0_f32, 4.0]), 5.0);
/// assert_eq!(norm(&[3.0_f64, 4.0]), 5.0);
/// ```
pub trait Real:
    Copy
    + Debug
    + Default
    + Display
    + LowerExp
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + Sum
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + SubAssign
    + Mul<Output = Self>
    + MulAssign
    + Div<Output = Self>
    + DivAssign
    + Neg<Output = Self>
    + Word
    + WarpShuffleValue
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The distance from 1 to the next larger number.
    const EPSILON: Self;
    /// `"f32"` or `"f64"`.
    const NAME: &'static str;

    /// The nearest number of this type.
    ///
    /// ```
    /// # use cuda_std::Real;
    /// assert_eq!(<f32 as Real>::from_f64(0.1), 0.1_f32);
    /// ```
    fn from_f64(value: f64) -> Self;
    /// The same number in double precision.
    ///
    /// ```
    /// # use cuda_std::Real;
    /// assert_eq!(Real::to_f64(0.5_f32), 0.5_f64);
    /// ```
    fn to_f64(self) -> f64;
    /// `self * a + b`, rounded once.
    ///
    /// One instruction on the device; a library call on a host built without FMA.
    ///
    /// ```
    /// # use cuda_std::Real;
    /// assert_eq!(Real::mul_add(2.0, 3.0, 4.0), 10.0);
    /// ```
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The square root, rounded correctly.
    ///
    /// ```
    /// # use cuda_std::Real;
    /// assert_eq!(Real::sqrt(2.25), 1.5);
    /// ```
    fn sqrt(self) -> Self;
    /// The absolute value.
    ///
    /// ```
    /// # use cuda_std::Real;
    /// assert_eq!(Real::abs(-1.5), 1.5);
    /// ```
    fn abs(self) -> Self;
    /// Neither infinite nor NaN.
    ///
    /// ```
    /// # use cuda_std::Real;
    /// assert!(!Real::is_finite(1.0 / 0.0));
    /// ```
    fn is_finite(self) -> bool;

    /// The larger of two numbers; NaN if either is NaN, so that a maximum never hides one.
    ///
    /// ```
    /// # use cuda_std::Real;
    /// assert_eq!(1.5.max_nan(2.5), 2.5);
    /// assert!(1.5.max_nan(f64::NAN).is_nan());
    /// ```
    fn max_nan(self, other: Self) -> Self {
        #[allow(clippy::eq_op)]
        if self != self || self > other { self } else { other }
    }
}

macro_rules! real {
    ($t:ident, $precision:ident) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const EPSILON: Self = $t::EPSILON;
            const NAME: &'static str = stringify!($t);

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                math::$precision::fma(self, a, b)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                math::$precision::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                <$t>::is_finite(self)
            }
        }
    };
}

real!(f32, single);
real!(f64, double);
