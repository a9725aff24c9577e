//! More functions than `std` has.

use super::special;

/// Functions that `f32` and `f64` do not have in `std`.
///
/// Those of `f32` that `libm` does not have are computed in double precision and rounded.
pub trait FloatExt: Sized + super::private::Sealed {
    /// The cosine of `self * pi`.
    fn cospi(self) -> Self;
    /// The error function, `2/sqrt(pi) * integral from 0 to self of exp(-t^2)`.
    fn error_function(self) -> Self;
    /// 1 less the error function.
    fn complementary_error_function(self) -> Self;
    /// The x whose complementary error function is this, from 0 to 2.
    fn inv_complementary_error_function(self) -> Self;
    /// `exp(self^2)` times the complementary error function.
    fn scaled_complementary_error_function(self) -> Self;
    /// f and n for which this is `f * 2^n`, f from 0.5 to below 1 (or 0).
    fn frexp(self) -> (Self, i32);
    /// The exponent n for which this is from `2^n` to below `2^(n+1)`.
    fn unbiased_exp(self) -> i32;
    /// The Bessel function of the first kind of order 0.
    fn j0(self) -> Self;
    /// The Bessel function of the first kind of order 1.
    fn j1(self) -> Self;
    /// The Bessel function of the first kind.
    fn jn(self, order: i32) -> Self;
    /// `self * 2^exp`.
    fn ldexp(self, exp: i32) -> Self;
    /// The natural logarithm of the gamma function's absolute value.
    fn log_gamma(self) -> Self;
    /// `ln(1 + self)`.
    fn log1p(self) -> Self;
    /// The distribution function of the standard normal distribution.
    fn norm_cdf(self) -> Self;
    /// Its inverse, for numbers between 0 and 1.
    fn inv_norm_cdf(self) -> Self;
    /// 1 over the cube root.
    fn rcbrt(self) -> Self;
    /// The nearest number from 0 to 1; 0 for NaN.
    fn saturate(self) -> Self;
    /// `self * 2^exp`.
    fn scale_by_n(self, exp: i32) -> Self;
    /// Sine and cosine of `self * pi`.
    fn sincospi(self) -> (Self, Self);
    /// The sine of `self * pi`.
    fn sinpi(self) -> Self;
    /// The gamma function.
    fn gamma(self) -> Self;
    /// The Bessel function of the second kind of order 0.
    fn y0(self) -> Self;
    /// The Bessel function of the second kind of order 1.
    fn y1(self) -> Self;
    /// The Bessel function of the second kind.
    fn yn(self, order: i32) -> Self;
}

macro_rules! float_ext {
    (
        $t:ident: $($name:ident $libm:ident,)*;
        [$frexp:ident $ilogb:ident $jn:ident $yn:ident $ldexp:ident $scalbn:ident]
    ) => {
        impl FloatExt for $t {
            $(
                #[inline]
                fn $name(self) -> Self {
                    libm::$libm(self)
                }
            )*
            #[inline]
            fn frexp(self) -> (Self, i32) {
                libm::$frexp(self)
            }
            #[inline]
            fn unbiased_exp(self) -> i32 {
                libm::$ilogb(self)
            }
            #[inline]
            fn jn(self, order: i32) -> Self {
                libm::$jn(order, self)
            }
            #[inline]
            fn yn(self, order: i32) -> Self {
                libm::$yn(order, self)
            }
            #[inline]
            fn ldexp(self, exp: i32) -> Self {
                libm::$ldexp(self, exp)
            }
            #[inline]
            fn scale_by_n(self, exp: i32) -> Self {
                libm::$scalbn(self, exp)
            }
            #[inline]
            fn saturate(self) -> Self {
                if self > 0.0 { self.min(1.0) } else { 0.0 }
            }
            #[inline]
            fn cospi(self) -> Self {
                special::cospi(self.into()) as $t
            }
            #[inline]
            fn sinpi(self) -> Self {
                special::sinpi(self.into()) as $t
            }
            #[inline]
            fn sincospi(self) -> (Self, Self) {
                (self.sinpi(), self.cospi())
            }
            #[inline]
            fn inv_complementary_error_function(self) -> Self {
                special::erfcinv(self.into()) as $t
            }
            #[inline]
            fn scaled_complementary_error_function(self) -> Self {
                special::erfcx(self.into()) as $t
            }
            #[inline]
            fn norm_cdf(self) -> Self {
                special::normcdf(self.into()) as $t
            }
            #[inline]
            fn inv_norm_cdf(self) -> Self {
                special::normcdfinv(self.into()) as $t
            }
            #[inline]
            fn rcbrt(self) -> Self {
                (1.0 / libm::cbrt(self.into())) as $t
            }
        }
    };
}

float_ext! {
    f32:
    error_function erff,
    complementary_error_function erfcf,
    j0 j0f,
    j1 j1f,
    y0 y0f,
    y1 y1f,
    log_gamma lgammaf,
    gamma tgammaf,
    log1p log1pf,;
    [frexpf ilogbf jnf ynf ldexpf scalbnf]
}

float_ext! {
    f64:
    error_function erf,
    complementary_error_function erfc,
    j0 j0,
    j1 j1,
    y0 y0,
    y1 y1,
    log_gamma lgamma,
    gamma tgamma,
    log1p log1p,;
    [frexp ilogb jn yn ldexp scalbn]
}
