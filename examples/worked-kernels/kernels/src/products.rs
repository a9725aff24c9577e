//! Products of small matrices by tensor cores, a warp each

use cuda_std::{bf16, kernel, memory::*, mma, thread};

/// D = A B + C for matrices of 8 x 4, 4 x 8 and 8 x 8 elements.
#[kernel]
pub unsafe fn product_f64(a: *const f64, b: *const f64, c: *const f64, d: *mut f64) {
    let (lane, warp) = (thread::thread_idx_x() as usize % 32, thread::index_x() / 32);
    let (g, t) = (lane / 4, lane % 4);
    let at = 64 * warp + 8 * g + 2 * t;
    let (a, b) = (a.ld(32 * warp + 4 * g + t), b.ld(32 * warp + 8 * t + g));
    let of_lane = mma::m8n8k4_f64(a, b, [c.ld(at), c.ld(at + 1)]);
    d.st(at, of_lane[0]);
    d.st(at + 1, of_lane[1]);
}

/// D = A B + C for matrices of 16 x 16, 16 x 8 and 16 x 8 elements, A and B rounded to bf16.
#[kernel]
pub unsafe fn product_bf16(a: *const f32, b: *const f32, c: *const f32, d: *mut f32) {
    let (lane, warp) = (thread::thread_idx_x() as usize % 32, thread::index_x() / 32);
    let (g, t) = (lane / 4, lane % 4);
    let of_a = |row: usize, column: usize| bf16::from_f32(unsafe { a.ld(256 * warp + 16 * row + column) });
    let of_b = |row: usize, column: usize| bf16::from_f32(unsafe { b.ld(128 * warp + 8 * row + column) });
    let a = core::array::from_fn(|i| of_a(g + 8 * (i / 2 % 2), 2 * t + i % 2 + 8 * (i / 4)));
    let b = core::array::from_fn(|i| of_b(2 * t + i % 2 + 8 * (i / 2), g));
    let place = |i: usize| 128 * warp + 8 * (g + 8 * (i / 2)) + 2 * t + i % 2;
    let of_lane = mma::m16n8k16_bf16(a, b, core::array::from_fn(|i| unsafe { c.ld(place(i)) }));
    d.st(place(0), of_lane[0]);
    d.st(place(1), of_lane[1]);
    d.st(place(2), of_lane[2]);
    d.st(place(3), of_lane[3]);
}

/// The elements of D, of f64 to the same bits.
#[cfg(not(target_arch = "nvptx64"))]
pub fn product_f64_on_host(a: &[f64], b: &[f64], c: &[f64]) -> Vec<f64> {
    let element = |i: usize| {
        let (warp, row, column) = (i / 64, i % 64 / 8, i % 8);
        (0..4).fold(c[i], |sum, k| a[32 * warp + 4 * row + k].mul_add(b[32 * warp + 8 * k + column], sum))
    };
    (0..c.len()).map(element).collect()
}

/// The elements of D in f64, and what rounding is measured by: the sum of the magnitudes of what is added.
#[cfg(not(target_arch = "nvptx64"))]
pub fn product_bf16_on_host(a: &[f32], b: &[f32], c: &[f32]) -> Vec<(f64, f64)> {
    let rounded = |x: f32| bf16::from_f32(x).to_f64();
    let element = |i: usize| {
        let (warp, row, column) = (i / 128, i % 128 / 8, i % 8);
        let term = |k| rounded(a[256 * warp + 16 * row + k]) * rounded(b[128 * warp + 8 * k + column]);
        let terms = (0..16).map(term).chain([f64::from(c[i])]);
        terms.fold((0.0, 0.0), |(sum, most), term| (sum + term, most + term.abs()))
    };
    (0..c.len()).map(element).collect()
}
