//! A crate of kernels.
// ANCHOR: kernel
#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]

use cuda_std::{kernel, memory::*, shared, thread};

/// Threads of a block.
pub const BLOCK: u32 = 128;
/// A block's elements, and one more on either side.
const TILE: usize = BLOCK as usize + 2;

/// `y_i = (x_{i-1} + 2 x_i + x_{i+1}) / 4` for `i` below `n`, where x is 0 outside.
///
/// # Safety
/// x and y have n elements and do not overlap; blocks have [`BLOCK`] threads.
#[kernel]
pub unsafe fn smooth(n: u32, x: *const f64, y: *mut f64) {
    let (n, i, t) = (n as usize, thread::index_x(), thread::thread_idx_x() as usize);
    let tile = shared![f64; TILE];
    tile.set(t + 1, if i < n { x.ld_nc(i) } else { 0.0 });
    if t == 0 {
        tile.set(0, if i > 0 { x.ld_nc(i - 1) } else { 0.0 });
    }
    if t == TILE - 3 {
        tile.set(TILE - 1, if i + 1 < n { x.ld_nc(i + 1) } else { 0.0 });
    }
    thread::sync_threads();
    if i < n {
        y.st(i, 0.25 * (tile.get(t) + 2.0 * tile.get(t + 1) + tile.get(t + 2)));
    }
}
// ANCHOR_END: kernel
