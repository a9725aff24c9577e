//! More functions than `std` has.

use super::special;

/// Functions that `f32` and `f64` do not have in `std`.
///
/// Those of `f32` that `libm` does not have are computed in double precision and rounded.
///
/// ```
/// # use cuda_std::FloatExt;
/// assert_eq!((100.5_f64.sinpi(), 0.125_f64.rcbrt()), (1.0, 2.0));
/// ```
pub trait FloatExt: Sized + super::private::Sealed {
    /// The cosine of `self * pi`.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert_eq!(0.5_f64.cospi(), 0.0);
    /// ```
    fn cospi(self) -> Self;
    /// The error function, `2/sqrt(pi) * integral from 0 to self of exp(-t^2)`.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert!((1.0_f64.error_function() - 0.842_700_792_9).abs() < 1e-10);
    /// ```
    fn error_function(self) -> Self;
    /// 1 less the error function.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// // 1 less the error function would be 0.
    /// assert!((6.0_f64.complementary_error_function() / 2.151_973_67e-17 - 1.0).abs() < 1e-8);
    /// ```
    fn complementary_error_function(self) -> Self;
    /// The x whose complementary error function is this, from 0 to 2.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// let x = 0.5_f64.inv_complementary_error_function();
    /// assert!((x.complementary_error_function() - 0.5).abs() < 1e-15);
    /// ```
    fn inv_complementary_error_function(self) -> Self;
    /// `exp(self^2)` times the complementary error function.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// // About 1 / (x sqrt(pi)) for large numbers, whose square would overflow the exponential.
    /// let x = 1e6_f64.scaled_complementary_error_function();
    /// assert!((x * 1e6 * std::f64::consts::PI.sqrt() - 1.0).abs() < 1e-10);
    /// ```
    fn scaled_complementary_error_function(self) -> Self;
    /// f and n for which this is `f * 2^n`, f from 0.5 to below 1 (or 0).
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert_eq!(12.0_f64.frexp(), (0.75, 4));
    /// ```
    fn frexp(self) -> (Self, i32);
    /// The exponent n for which this is from `2^n` to below `2^(n+1)`.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert_eq!(12.0_f64.unbiased_exp(), 3);
    /// ```
    fn unbiased_exp(self) -> i32;
    /// The Bessel function of the first kind of order 0.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert_eq!(0.0_f64.j0(), 1.0);
    /// ```
    fn j0(self) -> Self;
    /// The Bessel function of the first kind of order 1.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert!((1.0_f64.j1() - 0.440_050_585_7).abs() < 1e-10);
    /// ```
    fn j1(self) -> Self;
    /// The Bessel function of the first kind.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert!((1.0_f64.jn(2) - 0.114_903_484_9).abs() < 1e-10);
    /// ```
    fn jn(self, order: i32) -> Self;
    /// `self * 2^exp`.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert_eq!(0.75_f64.ldexp(4), 12.0);
    /// ```
    fn ldexp(self, exp: i32) -> Self;
    /// The natural logarithm of the gamma function's absolute value.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// // gamma(101) is 100!, and gamma(200) is too large for a number.
    /// assert!((200.0_f64.log_gamma() - 857.933_669_8).abs() < 1e-6);
    /// ```
    fn log_gamma(self) -> Self;
    /// `ln(1 + self)`.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert_eq!(1e-20_f64.log1p(), 1e-20);
    /// ```
    fn log1p(self) -> Self;
    /// The distribution function of the standard normal distribution.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert!((1.96_f64.norm_cdf() - 0.975).abs() < 1e-5);
    /// ```
    fn norm_cdf(self) -> Self;
    /// Its inverse, for numbers between 0 and 1.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert!((0.975_f64.inv_norm_cdf() - 1.959_963_985).abs() < 1e-9);
    /// ```
    fn inv_norm_cdf(self) -> Self;
    /// 1 over the cube root.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert_eq!(8.0_f64.rcbrt(), 0.5);
    /// ```
    fn rcbrt(self) -> Self;
    /// The nearest number from 0 to 1; 0 for NaN.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert_eq!([-0.5, 0.5, 1.5].map(f32::saturate), [0.0, 0.5, 1.0]);
    /// ```
    fn saturate(self) -> Self;
    /// `self * 2^exp`.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert_eq!(0.75_f64.scale_by_n(4), 12.0);
    /// ```
    fn scale_by_n(self, exp: i32) -> Self;
    /// Sine and cosine of `self * pi`.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert_eq!(1.0_f64.sincospi(), (0.0, -1.0));
    /// ```
    fn sincospi(self) -> (Self, Self);
    /// The sine of `self * pi`.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert_eq!(0.5_f64.sinpi(), 1.0);
    /// ```
    fn sinpi(self) -> Self;
    /// The gamma function.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert_eq!(5.0_f64.gamma(), 24.0);
    /// ```
    fn gamma(self) -> Self;
    /// The Bessel function of the second kind of order 0.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert!((1.0_f64.y0() - 0.088_256_964_2).abs() < 1e-10);
    /// ```
    fn y0(self) -> Self;
    /// The Bessel function of the second kind of order 1.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert!((1.0_f64.y1() + 0.781_212_821_3).abs() < 1e-10);
    /// ```
    fn y1(self) -> Self;
    /// The Bessel function of the second kind.
    ///
    /// ```
    /// # use cuda_std::FloatExt;
    /// assert!((1.0_f64.yn(2) + 1.650_682_606_8).abs() < 1e-10);
    /// ```
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
