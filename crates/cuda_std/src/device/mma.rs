//! Products of small matrices.

#[cfg(all(feature = "half", not(target_feature = "sm_80")))]
pub(crate) use crate::mma::by_shuffles_bf16 as mma_bf16;
#[cfg(not(target_feature = "sm_80"))]
pub(crate) use crate::mma::by_shuffles_f64 as mma_f64;

#[cfg(target_feature = "sm_80")]
#[repr(C)]
struct Two(f64, f64);

#[cfg(all(feature = "half", target_feature = "sm_80"))]
#[repr(C)]
struct Four(f32, f32, f32, f32);

#[cfg(target_feature = "sm_80")]
unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.mma.m8n8k4.row.col.f64"]
    fn m8n8k4(a: f64, b: f64, c0: f64, c1: f64) -> Two;
    #[cfg(feature = "half")]
    #[link_name = "llvm.nvvm.mma.m16n8k16.row.col.bf16"]
    fn m16n8k16(
        a0: u32,
        a1: u32,
        a2: u32,
        a3: u32,
        b0: u32,
        b1: u32,
        c0: f32,
        c1: f32,
        c2: f32,
        c3: f32,
    ) -> Four;
}

#[cfg(target_feature = "sm_80")]
#[inline(always)]
pub unsafe fn mma_f64(a: f64, b: f64, c: [f64; 2]) -> [f64; 2] {
    // SAFETY: the caller's promise.
    let Two(first, second) = unsafe { m8n8k4(a, b, c[0], c[1]) };
    [first, second]
}

#[cfg(all(feature = "half", target_feature = "sm_80"))]
#[inline(always)]
pub unsafe fn mma_bf16(a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
    // SAFETY: the caller's promise.
    let Four(d0, d1, d2, d3) =
        unsafe { m16n8k16(a[0], a[1], a[2], a[3], b[0], b[1], c[0], c[1], c[2], c[3]) };
    [d0, d1, d2, d3]
}
