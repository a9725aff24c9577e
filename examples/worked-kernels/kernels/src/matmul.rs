//! C = A B, by tiles

// ANCHOR: kernel
use cuda_std::{intrinsics::fmaf, kernel, memory::*, shared::dynamic_shared, thread};

/// Blocks are squares of so many threads a side.
pub const TILE: u32 = 16;
/// A tile of A and one of B.
pub const SHARED_BYTES: u32 = 2 * TILE * TILE * 4;

/// `C = A B`: A has m rows and k columns, B has k rows and n columns, row by row. x counts columns.
#[kernel]
pub unsafe fn matmul(m: u32, n: u32, k: u32, a: *const f32, b: *const f32, c: *mut f32) {
    const T: usize = TILE as usize;
    let (m, n, k) = (m as usize, n as usize, k as usize);
    let (tx, ty) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (col, row) = (thread::block_idx_x() as usize * T + tx, thread::block_idx_y() as usize * T + ty);
    // The tile of A and behind it that of B: where this thread's row begins, and its column.
    let tiles = dynamic_shared::<f32>();
    let (tile_a, tile_b) = (ty * T, T * T + tx);
    let mut sum = 0.0;
    for first in (0..k).step_by(T) {
        let in_a = row < m && first + tx < k;
        let in_b = col < n && first + ty < k;
        tiles.set(tile_a + tx, if in_a { a.ld_nc(row * k + first + tx) } else { 0.0 });
        tiles.set(tile_b + ty * T, if in_b { b.ld_nc((first + ty) * n + col) } else { 0.0 });
        thread::sync_threads();
        for l in 0..T {
            sum = fmaf(tiles.get(tile_a + l), tiles.get(tile_b + l * T), sum);
        }
        thread::sync_threads();
    }
    if row < m && col < n {
        c.st(row * n + col, sum);
    }
}
// ANCHOR_END: kernel

/// In f64.
#[cfg(not(target_arch = "nvptx64"))]
pub fn on_host(m: usize, n: usize, k: usize, a: &[f32], b: &[f32]) -> Vec<f64> {
    let mut c = vec![0.0; m * n];
    for i in 0..m {
        let row = &mut c[i * n..][..n];
        for l in 0..k {
            let a_il = f64::from(a[i * k + l]);
            row.iter_mut().zip(&b[l * n..]).for_each(|(c, &b)| *c += a_il * f64::from(b));
        }
    }
    c
}
