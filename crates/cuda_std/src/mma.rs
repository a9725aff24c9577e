//! Products of small matrices that a warp computes together: the tensor cores' from compute capability 8.0
//! on, and shuffles and multiply-adds before.
//!
//! Each lane holds some elements of A, B, C and D = A B + C, as NVIDIA's manual has it (PTX ISA, mma): with
//! `g = lane / 4` and `t = lane % 4`, as the functions say. All 32 lanes call together.
//!
//! ```
//! use cuda_std::{kernel, memory::*, mma, sim, thread};
//!
//! /// D = A B, of 8 x 4 and 4 x 8 elements row by row.
//! #[kernel]
//! pub unsafe fn product(a: *const f64, b: *const f64, d: *mut f64) {
//!     let lane = thread::thread_idx_x() as usize;
//!     let (g, t) = (lane / 4, lane % 4);
//!     let of_lane = mma::m8n8k4_f64(a.ld(4 * g + t), b.ld(8 * t + g), [0.0; 2]);
//!     d.st(8 * g + 2 * t, of_lane[0]);
//!     d.st(8 * g + 2 * t + 1, of_lane[1]);
//! }
//!
//! let (a, b, mut d) = ([0.5; 32], Vec::from_iter((0..32).map(f64::from)), vec![0.0; 64]);
//! // SAFETY: a warp, and matrices of these sizes.
//! unsafe { sim::launch!(product<<<1, 32>>>(a.as_ptr(), b.as_ptr(), d.as_mut_ptr())) }?;
//! // Half of what is in column 3.
//! assert_eq!(d[8 * 5 + 3], 0.5 * (3.0 + 11.0 + 19.0 + 27.0));
//! # Ok::<(), sim::Fault>(())
//! ```

#[cfg(not(all(target_arch = "nvptx64", target_feature = "sm_80")))]
use crate::lanes::{FULL_MASK, Shuffle, WARP_SIZE};
use crate::platform;
#[cfg(feature = "half")]
use half::bf16;

/// Matrices of 8 x 4, 4 x 8 and 8 x 8 elements: a is `A[g][t]`, b is `B[t][g]`, c and the result are columns
/// `2 t` and `2 t + 1` of row g.
///
/// `d = fma(a_3, b_3, fma(a_2, b_2, fma(a_1, b_1, fma(a_0, b_0, c))))` in the simulator and where there are
/// no tensor cores. The test `device` of `examples/worked-kernels` compares those of a GPU to the same bits.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::mma;
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// // All elements of A are 1, of B 0.5, of C 3.
/// assert_eq!(mma::m8n8k4_f64(1.0, 0.5, [3.0; 2]), [4.0 * 0.5 + 3.0; 2]);
/// # }).unwrap();
/// ```
///
/// # Safety
/// All lanes of the warp call together, and none has exited.
#[inline(always)]
#[track_caller]
pub unsafe fn m8n8k4_f64(a: f64, b: f64, c: [f64; 2]) -> [f64; 2] {
    // SAFETY: the caller's promise.
    unsafe { platform::mma_f64(a, b, c) }
}

/// Matrices of 16 x 16, 16 x 8 and 16 x 8 elements, of `bf16` but for C and D: a is two neighbours `A[g][2
/// t..]`, two of the row `g + 8`, and the same four of columns `2 t + 8`; b is `B[2 t][g]`, `B[2 t + 1][g]`,
/// and the same of rows `2 t + 8`; c and the result are columns `2 t` and `2 t + 1` of row g, and of row `g +
/// 8`.
///
/// In the simulator, and before compute capability 8.0, a result is the sum in f64, rounded. Tensor cores add
/// with fewer bits than that, and do not round to the nearest: results differ in the last places.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::mma;
/// # sim::call("example", Configuration::new(1, 32), || unsafe {
/// use cuda_std::bf16;
/// // All elements of A are 1, of B 0.5, of C 3.
/// let (a, b) = ([bf16::ONE; 8], [bf16::from_f32(0.5); 4]);
/// assert_eq!(mma::m16n8k16_bf16(a, b, [3.0; 4]), [16.0 * 0.5 + 3.0; 4]);
/// # }).unwrap();
/// ```
///
/// # Safety
/// All lanes of the warp call together, and none has exited.
#[cfg(feature = "half")]
#[inline(always)]
#[track_caller]
pub unsafe fn m16n8k16_bf16(a: [bf16; 8], b: [bf16; 4], c: [f32; 4]) -> [f32; 4] {
    let pair = |low: bf16, high: bf16| u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16;
    let a = [pair(a[0], a[1]), pair(a[2], a[3]), pair(a[4], a[5]), pair(a[6], a[7])];
    // SAFETY: the caller's promise.
    unsafe { platform::mma_bf16(a, [pair(b[0], b[1]), pair(b[2], b[3])], c) }
}

/// By shuffles.
#[cfg(not(all(target_arch = "nvptx64", target_feature = "sm_80")))]
#[inline(always)]
#[track_caller]
pub(crate) unsafe fn by_shuffles_f64(a: f64, b: f64, c: [f64; 2]) -> [f64; 2] {
    let (g, t) = (platform::lane_id() / 4, platform::lane_id() % 4);
    let mut d = c;
    for k in 0..4 {
        // SAFETY: the caller's promise.
        let of = |x: f64, lane| f64::from_bits(unsafe { shuffle_64(x.to_bits(), lane) });
        let (a, b) = (of(a, 4 * g + k), [of(b, 8 * t + k), of(b, 8 * t + 4 + k)]);
        d = [crate::math::double::fma(a, b[0], d[0]), crate::math::double::fma(a, b[1], d[1])];
    }
    d
}

/// By shuffles, of pairs of elements.
#[cfg(all(feature = "half", not(all(target_arch = "nvptx64", target_feature = "sm_80"))))]
#[inline(always)]
#[track_caller]
pub(crate) unsafe fn by_shuffles_bf16(a: [u32; 4], b: [u32; 2], c: [f32; 4]) -> [f32; 4] {
    let d = c.map(f64::from);
    // SAFETY: the caller's promise.
    let d = unsafe { half_of_bf16([a[0], a[1]], b[0], d) };
    // SAFETY: as above.
    unsafe { half_of_bf16([a[2], a[3]], b[1], d) }.map(|d| d as f32)
}

/// Adds what eight columns of A and rows of B give.
#[cfg(all(feature = "half", not(all(target_arch = "nvptx64", target_feature = "sm_80"))))]
#[inline(always)]
#[track_caller]
unsafe fn half_of_bf16(rows: [u32; 2], column: u32, mut d: [f64; 4]) -> [f64; 4] {
    let (g, t) = (platform::lane_id() / 4, platform::lane_id() % 4);
    let dot = |row: [f64; 2], column: [f64; 2]| row[0] * column[0] + row[1] * column[1];
    for lane in 0..4 {
        // SAFETY: the caller's promise.
        let of = |x: u32, lane| elements(unsafe { shuffle_32(x, lane) });
        let (above, below) = (of(rows[0], 4 * g + lane), of(rows[1], 4 * g + lane));
        let (left, right) = (of(column, 8 * t + lane), of(column, 8 * t + 4 + lane));
        d = [
            d[0] + dot(above, left),
            d[1] + dot(above, right),
            d[2] + dot(below, left),
            d[3] + dot(below, right),
        ];
    }
    d
}

/// The two numbers of a pair, exactly.
#[cfg(all(feature = "half", not(all(target_arch = "nvptx64", target_feature = "sm_80"))))]
fn elements(pair: u32) -> [f64; 2] {
    [pair << 16, pair & 0xffff_0000].map(|bits| f64::from(f32::from_bits(bits)))
}

#[cfg(not(all(target_arch = "nvptx64", target_feature = "sm_80")))]
#[inline(always)]
#[track_caller]
unsafe fn shuffle_64(value: u64, lane: u32) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { platform::shuffle_64(Shuffle::Index, FULL_MASK, value, lane, WARP_SIZE) }
}

#[cfg(all(feature = "half", not(all(target_arch = "nvptx64", target_feature = "sm_80"))))]
#[inline(always)]
#[track_caller]
unsafe fn shuffle_32(value: u32, lane: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { platform::shuffle_32(Shuffle::Index, FULL_MASK, value, lane, WARP_SIZE) }
}
