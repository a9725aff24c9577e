//! C = alpha A B + beta C, by tiles that a block keeps in shared memory.

use core::mem::MaybeUninit;
use cuda_std::{address_space, kernel, thread};

#[kernel]
pub unsafe fn gemm_tiled(
    a: &[f32],
    b: &[f32],
    c: *mut f32,
    m: usize,
    n: usize,
    k: usize,
    alpha: f32,
    beta: f32,
) {
    const TILE: usize = 16;

    #[address_space(shared)]
    static mut TILE_A: [MaybeUninit<f32>; TILE * TILE] = [const { MaybeUninit::uninit() }; TILE * TILE];
    #[address_space(shared)]
    static mut TILE_B: [MaybeUninit<f32>; TILE * TILE] = [const { MaybeUninit::uninit() }; TILE * TILE];

    let (tx, ty) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let (col, row) = (thread::block_idx_x() as usize * TILE + tx, thread::block_idx_y() as usize * TILE + ty);
    let mut sum = 0.0f32;
    for tile in (0..k).step_by(TILE) {
        let a_ij = if row < m && tile + tx < k { a[row * k + tile + tx] } else { 0.0 };
        let b_ij = if col < n && tile + ty < k { b[(tile + ty) * n + col] } else { 0.0 };
        unsafe {
            TILE_A[ty * TILE + tx] = MaybeUninit::new(a_ij);
            TILE_B[ty * TILE + tx] = MaybeUninit::new(b_ij);
        }
        thread::sync_threads();
        for i in 0..TILE {
            sum += unsafe { TILE_A[ty * TILE + i].assume_init() * TILE_B[i * TILE + tx].assume_init() };
        }
        thread::sync_threads();
    }
    if row < m && col < n {
        let elem = unsafe { &mut *c.add(row * n + col) };
        *elem = alpha * sum + beta * *elem;
    }
}
