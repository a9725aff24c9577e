//! Ways to get at memory, good and bad: what `sim::explain` and ncu count of them is in the book

// ANCHOR: kernel
use cuda_std::{kernel, memory::*, shared, thread};

/// Threads of a block, for all but [`transpose`].
pub const BLOCK: u32 = 256;
/// The side of a tile of [`transpose`], whose blocks are squares.
pub const TILE: u32 = 32;

/// `y_i = x_(stride i + shift)`
#[kernel]
pub unsafe fn gather(n: u32, stride: u32, shift: u32, x: *const f32, y: *mut f32) {
    let i = thread::index_x();
    if i < n as usize {
        y.st(i, x.ld_nc(stride as usize * i + shift as usize));
    }
}

/// Moves particles whose coordinates x, y, z are side by side.
#[kernel]
pub unsafe fn drift_structures(n: u32, by: f32, coordinates: *mut f32) {
    let i = thread::index_x();
    if i < n as usize {
        for k in 0..3 {
            coordinates.st(3 * i + k, coordinates.ld(3 * i + k) + by);
        }
    }
}

/// Moves particles of which all x come first, then all y, and then all z.
#[kernel]
pub unsafe fn drift_arrays(n: u32, by: f32, coordinates: *mut f32) {
    let (i, n) = (thread::index_x(), n as usize);
    if i < n {
        for k in 0..3 {
            coordinates.st(k * n + i, coordinates.ld(k * n + i) + by);
        }
    }
}

/// `Y = X^T`, n a multiple of 32. A row of a tile takes `width` places of shared memory: with 32, columns lie
/// in one bank.
#[kernel]
pub unsafe fn transpose(n: u32, width: u32, x: *const f32, y: *mut f32) {
    let tile = shared![f32; 1056];
    let (n, width) = (n as usize, width as usize);
    let (i, j) = (thread::thread_idx_y() as usize, thread::thread_idx_x() as usize);
    let (row, column) = (thread::block_idx_y() as usize * 32, thread::block_idx_x() as usize * 32);
    tile.set(i * width + j, x.ld_nc((row + i) * n + column + j));
    thread::sync_threads();
    y.st((column + i) * n + row + j, tile.get(j * width + i));
}

/// `y_i` is the sum of row i, whose entries are those from `row_ptr_i` to `row_ptr_(i + 1)`.
#[kernel]
pub unsafe fn sum_rows(n: u32, row_ptr: *const u32, values: *const f32, y: *mut f32) {
    let i = thread::index_x();
    if i < n as usize {
        let mut sum = 0.0;
        let (mut k, end) = (row_ptr.ld_nc(i) as usize, row_ptr.ld_nc(i + 1) as usize);
        while k < end {
            sum += values.ld_nc(k);
            k += 1;
        }
        y.st(i, sum);
    }
}
// ANCHOR_END: kernel
