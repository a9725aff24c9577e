//! Arithmetic that is one instruction on the device and not in `core`.

use core::intrinsics;

/// sqrt(x), rounded to nearest.
#[inline(always)]
pub fn sqrt_f32(x: f32) -> f32 {
    intrinsics::sqrtf32(x)
}

/// sqrt(x), rounded to nearest.
#[inline(always)]
pub fn sqrt_f64(x: f64) -> f64 {
    intrinsics::sqrtf64(x)
}

/// a b + c, rounded once.
#[inline(always)]
pub fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
    intrinsics::fmaf32(a, b, c)
}

/// a b + c, rounded once.
#[inline(always)]
pub fn fma_f64(a: f64, b: f64, c: f64) -> f64 {
    intrinsics::fmaf64(a, b, c)
}
