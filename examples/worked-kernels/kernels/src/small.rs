//! Numbers of 1 and 2 bytes.

use cuda_std::memory::{GlobalLoad, GlobalStore, Word};
use cuda_std::{bf16, f16, kernel, shared, thread};

pub const BLOCK: u32 = 64;

/// Each block turns its 64 numbers round.
#[kernel(T = [u8, i8, bool, u16, i16, f16, bf16])]
pub unsafe fn turn<T: Word>(x: *mut T) {
    let (tile, t) = (shared![T; 64], thread::thread_idx_x() as usize);
    let i = thread::index_x();
    tile.set(t, x.ld(i));
    thread::sync_threads();
    x.st(i, tile.get(63 - t));
}

/// Of each four bytes the sum, and of the last two the product, in f16 and in bf16.
#[kernel]
pub unsafe fn fours(x: *const u8, sums: *mut u16, products: *mut f16, short: *mut bf16) {
    let i = thread::index_x();
    let ([a, b, ..], [c, d]) = (x.ld_nc_x4(4 * i), x.ld_nc_x2(4 * i + 2));
    let [a, b, c, d] = [a, b, c, d].map(u16::from);
    sums.st(i, a + b + c + d);
    let [c, d] = [c, d].map(|byte| 0.37 * f32::from(byte));
    products.st(i, f16::from_f32(c) * f16::from_f32(d));
    short.st(i, bf16::from_f32(c) * bf16::from_f32(d));
}

#[cfg(not(target_arch = "nvptx64"))]
pub fn turn_on_host<T: Copy>(x: &[T]) -> Vec<T> {
    x.chunks(64).flat_map(|block| block.iter().rev().copied()).collect()
}

#[cfg(not(target_arch = "nvptx64"))]
pub fn fours_on_host(x: &[u8]) -> Vec<(u16, f16, bf16)> {
    let of = |bytes: &[u8]| {
        let [c, d] = [bytes[2], bytes[3]].map(|byte| 0.37 * f32::from(byte));
        let sum = bytes.iter().map(|&byte| u16::from(byte)).sum();
        (sum, f16::from_f32(c) * f16::from_f32(d), bf16::from_f32(c) * bf16::from_f32(d))
    };
    x.chunks(4).map(of).collect()
}
