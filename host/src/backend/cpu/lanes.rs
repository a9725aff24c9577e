//! The inner step of products: eight rows side by side.

use cuda_std::Real;

/// Rows side by side: a vector register of f64 with AVX-512, two with AVX2.
pub(super) const LANES: usize = 8;
/// Bytes ahead of the entry in use that are fetched: a few hundred nanoseconds' worth. Hardware does not
/// look as far.
const AHEAD: usize = 1024;

/// Asks for what lies [`AHEAD`] of `entry`.
#[inline(always)]
pub(super) fn prefetch<E>(entry: &E) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which reads nothing and may name any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const *entry).cast::<i8>().wrapping_add(AHEAD)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = entry;
}

/// `sums_l += v_l x(c_l)` for every lane.
///
/// # Safety
/// Every column is less than `x.len()`.
#[inline(always)]
pub(super) unsafe fn add_gathered<T: Real>(sums: &mut [T; LANES], v: &[T; LANES], c: &[u32; LANES], x: &[T]) {
    for l in 0..LANES {
        // SAFETY: the caller's promise. A check costs as much as the multiplication.
        sums[l] += v[l] * unsafe { *x.get_unchecked(c[l] as usize) };
    }
}
