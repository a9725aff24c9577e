//! The inner step of products on the host: eight rows, or eight entries of one, side by side.

use cuda_std::Real;

/// Rows side by side: a vector register of f64 with AVX-512, two with AVX2.
pub(crate) const LANES: usize = 8;
/// Bytes ahead of the entry in use that are fetched: a few hundred nanoseconds' worth. Hardware does not
/// look as far.
const AHEAD: usize = 1024;

/// Asks for what lies [`AHEAD`] of `entry`.
#[inline(always)]
pub(crate) fn prefetch<E: ?Sized>(entry: &E) {
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
pub(crate) unsafe fn add_gathered<T: Real>(sums: &mut [T; LANES], v: &[T; LANES], c: &[u32; LANES], x: &[T]) {
    for l in 0..LANES {
        // SAFETY: the caller's promise. A check costs as much as the multiplication.
        sums[l] += v[l] * unsafe { *x.get_unchecked(c[l] as usize) };
    }
}

/// The sum of all `v_l x(c_l)`, with the instructions for that where `WIDE` says that the processor has them:
/// LLVM would load the x one by one.
///
/// # Safety
/// Every column is less than `x.len()`. `WIDE` only where the processor has AVX2 and fused multiply-add.
#[inline(always)]
pub(crate) unsafe fn sum_gathered<T: Real, const WIDE: bool>(
    v: &[[T; LANES]],
    c: &[[u32; LANES]],
    x: &[T],
) -> T {
    if v.is_empty() {
        return T::ZERO;
    }
    let mut sums = [T::ZERO; LANES];
    #[cfg(target_arch = "x86_64")]
    if WIDE && x.len() <= i32::MAX as usize {
        use std::arch::x86_64::*;
        let x = x.as_ptr();
        // SAFETY: the caller's promise; T is f32 or f64, and pointers are those of arrays of it.
        unsafe {
            if size_of::<T>() == size_of::<f32>() {
                let mut sum = _mm256_setzero_ps();
                for (v, c) in v.iter().zip(c) {
                    prefetch(v);
                    prefetch(c);
                    let x = _mm256_i32gather_ps::<4>(x.cast(), _mm256_loadu_si256(c.as_ptr().cast()));
                    sum = _mm256_fmadd_ps(_mm256_loadu_ps(v.as_ptr().cast()), x, sum);
                }
                _mm256_storeu_ps(sums.as_mut_ptr().cast(), sum);
            } else {
                let mut sum = [_mm256_setzero_pd(); 2];
                for (v, c) in v.iter().zip(c) {
                    prefetch(v);
                    prefetch(c);
                    for (k, sum) in sum.iter_mut().enumerate() {
                        let c = _mm_loadu_si128(c.as_ptr().cast::<__m128i>().add(k));
                        let v = _mm256_loadu_pd(v.as_ptr().cast::<f64>().add(4 * k));
                        *sum = _mm256_fmadd_pd(v, _mm256_i32gather_pd::<8>(x.cast(), c), *sum);
                    }
                }
                _mm256_storeu_pd(sums.as_mut_ptr().cast(), sum[0]);
                _mm256_storeu_pd(sums.as_mut_ptr().cast::<f64>().add(4), sum[1]);
            }
        }
        return total(sums);
    }
    for (v, c) in v.iter().zip(c) {
        // SAFETY: the caller's promise.
        unsafe { add_gathered(&mut sums, v, c, x) };
    }
    total(sums)
}

/// The sum of the lanes, added in pairs.
#[inline(always)]
fn total<T: Real>([a, b, c, d, e, f, g, h]: [T; LANES]) -> T {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// The sums of the eight rows whose entries begin at `start` and follow each other in steps of `stride`.
#[inline(always)]
pub(super) fn sums_of_rows<T: Real>(
    columns: &[u32],
    values: &[T],
    x: &[T],
    start: usize,
    stride: usize,
    width: usize,
) -> [T; LANES] {
    let mut sums = [T::ZERO; LANES];
    for j in 0..width {
        let entries = start + j * stride..start + j * stride + LANES;
        let (c, v) = (&columns[entries.clone()], &values[entries]);
        let (Some(c), Some(v)) = (c.as_array(), v.as_array()) else { unreachable!("LANES of each") };
        prefetch(v);
        // SAFETY: construction made every column, of padding too, less than n_cols == x.len().
        unsafe { add_gathered(&mut sums, v, c, x) };
    }
    sums
}
