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
    fn from_f64(value: f64) -> Self;
    /// The same number in double precision.
    fn to_f64(self) -> f64;
    /// `self * a + b`, rounded once.
    ///
    /// One instruction on the device; a library call on a host built without FMA.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The square root, rounded correctly.
    fn sqrt(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;

    /// The larger of two numbers; NaN if either is NaN, so that a maximum never hides one.
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
