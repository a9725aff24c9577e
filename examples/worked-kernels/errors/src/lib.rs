//! How far functions of `f32` are from the truth, over all numbers there are.
//!
//! The truth is the same function in f64, whose own error of a unit in its last place is 2^-29 of one here.
#![allow(clippy::missing_safety_doc, improper_ctypes_definitions)]

use core::f32::consts::PI;
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::AtomicU64;
use cuda_std::float::approx;
use cuda_std::{FloatExt, GpuFloat, kernel, thread};

pub const BLOCK: u32 = 256;

/// A function, and the numbers it is measured on.
pub struct Measured {
    /// The kernel.
    pub kernel: &'static str,
    /// As it is called.
    pub function: &'static str,
    /// The largest magnitude that is looked at.
    pub up_to: f32,
    /// Whether errors of results below 1 are in units of 2^-23, and not in units in their last place.
    pub absolute: bool,
    /// The largest error of all numbers, by `cargo run --release --bin errors` on an H200, to three places.
    pub largest: f32,
    /// The function as the host computes it,
    pub found: fn(f32) -> f32,
    /// and the truth.
    pub truth: fn(f64) -> f64,
}

/// The distance from `truth` of `found`, in units in the last place of the `f32` nearest to the truth, or, if
/// `absolute`, of 2^-23 where the truth is below 1. It is 0 where both are NaN or round to the same infinity,
/// infinite where one is.
#[inline]
pub fn error(found: f32, truth: f64, absolute: bool) -> f32 {
    let rounded = truth as f32;
    if found == rounded && found.is_infinite() || found.is_nan() && rounded.is_nan() {
        return 0.0;
    }
    // Beyond the largest number the place of its last bit goes on to be that of an infinity's neighbour.
    let value = if rounded.is_infinite() { f64::from(f32::MAX).copysign(truth) } else { truth };
    let distance = GpuFloat::abs(f64::from(found) - value);
    let exponent = (value.to_bits() >> 52 & 0x7FF) as i64 - 1023;
    let last = exponent.max(if absolute { 0 } else { -126 }) - 23;
    let scaled = distance * f64::from_bits(((1023 - last) as u64) << 52);
    if scaled.is_nan() { f32::INFINITY } else { scaled as f32 }
}

/// The larger of two errors, each with the bits of the number it was found at below its own: those of numbers
/// that are not negative have their order.
#[inline]
pub fn with_place(error: f32, bits: u32) -> u64 {
    u64::from(error.to_bits()) << 32 | u64::from(bits)
}

macro_rules! measured {
    ($($kernel:ident: $function:literal, |$x:ident| $found:expr, |$y:ident| $truth:expr, to $up_to:expr,
       $(absolute $absolute:literal,)? largest $largest:expr;)*) => {
        $(
            /// Adds to `worst` the largest of `count` numbers from the one with the bits `first` on.
            #[kernel]
            pub unsafe fn $kernel(first: u32, count: u32, up_to: f32, absolute: u32, worst: *const AtomicU64) {
                let (mut i, mut most) = (thread::index_x() as u64, 0);
                while i < u64::from(count) {
                    let bits = first.wrapping_add(i as u32);
                    let $x = f32::from_bits(bits);
                    if $x.abs() <= up_to {
                        let $y = f64::from($x);
                        most = most.max(with_place(error($found, $truth, absolute != 0), bits));
                    }
                    i += thread::stride() as u64;
                }
                (*worst).fetch_max(most, Relaxed);
            }
        )*

        /// All that are measured.
        #[cfg(not(target_arch = "nvptx64"))]
        pub const MEASURED: &[Measured] = &[$(Measured {
            kernel: stringify!($kernel),
            function: $function,
            up_to: $up_to,
            absolute: false $(|| $absolute)?,
            largest: $largest,
            found: |$x| $found,
            truth: |$y| $truth,
        }),*];
    };
}

measured! {
    sqrt: "sqrt", |x| GpuFloat::sqrt(x), |y| GpuFloat::sqrt(y), to f32::MAX, largest 0.500;
    cbrt: "cbrt", |x| GpuFloat::cbrt(x), |y| GpuFloat::cbrt(y), to f32::MAX, largest 0.500;
    exp: "exp", |x| GpuFloat::exp(x), |y| GpuFloat::exp(y), to f32::MAX, largest 0.910;
    exp2: "exp2", |x| GpuFloat::exp2(x), |y| GpuFloat::exp2(y), to f32::MAX, largest 0.501;
    exp_m1: "exp_m1", |x| GpuFloat::exp_m1(x), |y| GpuFloat::exp_m1(y), to f32::MAX, largest 0.813;
    ln: "ln", |x| GpuFloat::ln(x), |y| GpuFloat::ln(y), to f32::MAX, largest 0.835;
    ln_1p: "ln_1p", |x| GpuFloat::ln_1p(x), |y| GpuFloat::ln_1p(y), to f32::MAX, largest 0.835;
    log2: "log2", |x| GpuFloat::log2(x), |y| GpuFloat::log2(y), to f32::MAX, largest 0.864;
    log10: "log10", |x| GpuFloat::log10(x), |y| GpuFloat::log10(y), to f32::MAX, largest 0.832;
    sin: "sin", |x| GpuFloat::sin(x), |y| GpuFloat::sin(y), to f32::MAX, largest 0.501;
    cos: "cos", |x| GpuFloat::cos(x), |y| GpuFloat::cos(y), to f32::MAX, largest 0.501;
    tan: "tan", |x| GpuFloat::tan(x), |y| GpuFloat::tan(y), to f32::MAX, largest 0.800;
    asin: "asin", |x| GpuFloat::asin(x), |y| GpuFloat::asin(y), to f32::MAX, largest 0.743;
    acos: "acos", |x| GpuFloat::acos(x), |y| GpuFloat::acos(y), to f32::MAX, largest 0.918;
    atan: "atan", |x| GpuFloat::atan(x), |y| GpuFloat::atan(y), to f32::MAX, largest 0.852;
    sinh: "sinh", |x| GpuFloat::sinh(x), |y| GpuFloat::sinh(y), to f32::MAX, largest 1.827;
    cosh: "cosh", |x| GpuFloat::cosh(x), |y| GpuFloat::cosh(y), to f32::MAX, largest 1.353;
    tanh: "tanh", |x| GpuFloat::tanh(x), |y| GpuFloat::tanh(y), to f32::MAX, largest 2.189;
    asinh: "asinh", |x| GpuFloat::asinh(x), |y| GpuFloat::asinh(y), to f32::MAX, largest 1.778;
    acosh: "acosh", |x| GpuFloat::acosh(x), |y| GpuFloat::acosh(y), to f32::MAX, largest 2.000;
    atanh: "atanh", |x| GpuFloat::atanh(x), |y| GpuFloat::atanh(y), to f32::MAX, largest 1.722;
    sinpi: "sinpi", |x| FloatExt::sinpi(x), |y| FloatExt::sinpi(y), to f32::MAX, largest 0.500;
    cospi: "cospi", |x| FloatExt::cospi(x), |y| FloatExt::cospi(y), to f32::MAX, largest 0.500;
    rcbrt: "rcbrt", |x| FloatExt::rcbrt(x), |y| FloatExt::rcbrt(y), to f32::MAX, largest 0.500;
    error_function: "error_function", |x| FloatExt::error_function(x),
        |y| FloatExt::error_function(y), to f32::MAX, largest 0.968;
    complementary_error_function: "complementary_error_function", |x| FloatExt::complementary_error_function(x),
        |y| FloatExt::complementary_error_function(y), to f32::MAX, largest 3.299;
    scaled_complementary_error_function: "scaled_complementary_error_function", |x| FloatExt::scaled_complementary_error_function(x),
        |y| FloatExt::scaled_complementary_error_function(y), to f32::MAX, largest 0.500;
    inv_complementary_error_function: "inv_complementary_error_function", |x| FloatExt::inv_complementary_error_function(x),
        |y| FloatExt::inv_complementary_error_function(y), to f32::MAX, largest 0.500;
    norm_cdf: "norm_cdf", |x| FloatExt::norm_cdf(x), |y| FloatExt::norm_cdf(y), to f32::MAX, largest 0.500;
    inv_norm_cdf: "inv_norm_cdf", |x| FloatExt::inv_norm_cdf(x),
        |y| FloatExt::inv_norm_cdf(y), to f32::MAX, largest 0.500;
    gamma: "gamma", |x| FloatExt::gamma(x), |y| FloatExt::gamma(y), to f32::MAX, largest 0.500;
    log_gamma: "log_gamma", |x| FloatExt::log_gamma(x),
        |y| FloatExt::log_gamma(y), to f32::MAX, absolute true, largest 13.623;
    j0: "j0", |x| FloatExt::j0(x), |y| FloatExt::j0(y), to f32::MAX, absolute true, largest 1.054;
    j1: "j1", |x| FloatExt::j1(x), |y| FloatExt::j1(y), to f32::MAX, absolute true, largest 1.100;
    y0: "y0", |x| FloatExt::y0(x), |y| FloatExt::y0(y), to f32::MAX, absolute true, largest 4.479;
    y1: "y1", |x| FloatExt::y1(x), |y| FloatExt::y1(y), to f32::MAX, absolute true, largest 2.878;
    approx_ex2: "approx::ex2", |x| approx::ex2(x), |y| GpuFloat::exp2(y), to f32::MAX, largest 2.383;
    approx_lg2: "approx::lg2", |x| approx::lg2(x), |y| GpuFloat::log2(y), to f32::MAX, absolute true, largest 2.300;
    approx_sin: "approx::sin", |x| approx::sin(x), |y| GpuFloat::sin(y), to PI, absolute true, largest 2.915;
    approx_cos: "approx::cos", |x| approx::cos(x), |y| GpuFloat::cos(y), to PI, absolute true, largest 3.388;
    approx_tanh: "approx::tanh", |x| approx::tanh(x), |y| GpuFloat::tanh(y), to f32::MAX, largest 133.953;
    approx_rsqrt: "approx::rsqrt", |x| approx::rsqrt(x), |y| 1.0 / GpuFloat::sqrt(y), to f32::MAX, largest 1.514;
    approx_rcp: "approx::rcp", |x| approx::rcp(x), |y| 1.0 / y, to f32::MAX, largest 0.985;
    approx_sqrt: "approx::sqrt", |x| approx::sqrt(x), |y| GpuFloat::sqrt(y), to f32::MAX, largest 0.944;
}
