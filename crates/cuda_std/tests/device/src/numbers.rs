//! Mathematical functions, all of them.

use cuda_std::float::approx;
use cuda_std::intrinsics::*;
use cuda_std::prelude::*;
use cuda_std::{FloatExt, GpuFloat};

#[kernel]
pub unsafe fn approximations(x: f32, out: *mut [f32; 9]) {
    *out = [
        approx::ex2(x),
        approx::lg2(x),
        approx::sin(x),
        approx::cos(x),
        approx::rsqrt(x),
        approx::rcp(x),
        approx::sqrt(x),
        approx::div(x, 3.0),
        approx::tanh(x),
    ];
}

#[kernel]
pub unsafe fn exact(x: f32, y: f64, out: *mut [f64; 8]) {
    *out = [
        GpuFloat::floor(y),
        GpuFloat::ceil(y),
        GpuFloat::trunc(y),
        GpuFloat::sqrt(y),
        GpuFloat::mul_add(y, y, 1.0),
        GpuFloat::round(x).into(),
        GpuFloat::sqrt(x).into(),
        nearbyintf(x).into(),
    ];
}

/// Every method of the two traits.
unsafe fn all<T: GpuFloat + FloatExt>(x: T, out: *mut T) {
    let (sin, cos) = x.sin_cos();
    let (sinpi, cospi) = x.sincospi();
    let (part, exponent) = x.frexp();
    let values = [
        x.fract(), x.signum(), x.copysign(sin), x.div_euclid(sin), x.rem_euclid(sin), x.powi(3), x.powf(sin),
        x.exp(), x.exp2(), x.ln(), x.log(sin), x.log2(), x.log10(), x.cbrt(), x.hypot(sin), cos, x.tan(),
        x.asin(), x.acos(), x.atan(), x.atan2(sin), x.exp_m1(), x.ln_1p(), x.sinh(), x.cosh(), x.tanh(),
        x.asinh(), x.acosh(), x.atanh(), sinpi, cospi, part.ldexp(exponent), x.scale_by_n(x.unbiased_exp()),
        x.error_function(), x.complementary_error_function(), x.inv_complementary_error_function(),
        x.scaled_complementary_error_function(), x.norm_cdf(), x.inv_norm_cdf(), x.rcbrt(), x.saturate(),
        x.log_gamma(), x.gamma(), x.j0(), x.j1(), x.jn(2), x.y0(), x.y1(), x.yn(2),
    ];
    for (i, value) in values.into_iter().enumerate() {
        *out.add(i) = value;
    }
}

#[kernel]
pub unsafe fn all_single(x: f32, out: *mut f32) {
    all(x, out);
}

#[kernel]
pub unsafe fn all_double(x: f64, out: *mut f64) {
    all(x, out);
}

#[kernel]
pub unsafe fn rounding(x: f64, s: f32, i: i64, out: *mut f64) {
    *out.add(0) = dadd_rd(x, x);
    *out.add(1) = dmul_ru(x, x);
    *out.add(2) = ddiv_rz(x, 3.0);
    *out.add(3) = drcp_rn(x);
    *out.add(4) = dsqrt_rd(x);
    *out.add(5) = fma_rz(x, x, 1.0);
    *out.add(6) = fsub_ru(s, 1.0).into();
    *out.add(7) = ll2double_rz(i);
    *out.add(8) = double2float_rd(x).into();
    *out.add(9) = uint2float_ru(i as i32).into();
    *out.add(10) = f64::from(double2int_rd(x));
    *out.add(11) = float2ull_rn(s) as f64;
}

#[kernel]
pub unsafe fn integers(a: i32, b: i32, wide: i64, out: *mut i32) {
    let values = [
        popc(a), clz(a), brev(a), ffs(a), byte_perm(a, b, 0x1234), mulhi(a, b), umulhi(a, b), dp4a(a, b, 1),
        dp2a_lo(a, b, 1), dp2a_hi(a, b, 1), popcll(wide), clzll(wide), mul64hi(wide, wide) as i32, hadd(a, b),
        sad(a, b, 1), udp4a(a as u32, b as u32, 1) as i32,
    ];
    for (i, value) in values.into_iter().enumerate() {
        *out.add(i) = value;
    }
}

#[kernel]
pub unsafe fn halves(x: f16, y: cuda_std::bf16, out: *mut f32) {
    *out = x.to_f32() * y.to_f32();
}

#[cfg(feature = "vectors")]
#[kernel]
pub unsafe fn vectors(a: *mut cuda_std::glam::Vec3, b: *mut cuda_std::vek::Vec3<f32>) {
    *a = (*a).normalize();
    *b = (*b).normalized();
}

#[kernel]
pub unsafe fn products(a: [f64; 2], d: *mut [f64; 2], b: [f16; 2], s: *mut [f32; 4]) {
    use cuda_std::{bf16, mma};
    *d = mma::m8n8k4_f64(a[0], a[1], *d);
    let pair = b.map(|x| bf16::from_f32(x.to_f32()));
    *s = mma::m16n8k16_bf16([pair[0]; 8], [pair[1]; 4], *s);
}
