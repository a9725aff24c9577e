//! An element at a time: the sum of two vectors, and of a function's values.

use arithmetic::pi::height;
use cuda_std::{kernel, memory::*, thread};

use crate::reduce::{Add, Reduction, grid_reduce};

/// `z = x + y`
#[kernel]
pub unsafe fn vadd(n: u64, x: *const f64, y: *const f64, z: *mut f64) {
    let mut i = thread::index_x();
    while i < n as usize {
        // SAFETY: the launcher's vectors have n elements.
        unsafe { z.st_cs(i, x.ld_cs(i) + y.ld_cs(i)) };
        i += thread::stride();
    }
}

/// `out = sum_i 4 / (1 + x_i^2)` over the middles `x_i` of `n` intervals of [0, 1].
#[kernel]
pub unsafe fn pi_sum(n: u64, step: f64, reduction: Reduction<f64>) {
    let mut sum = 0.0;
    let mut i = thread::index_x();
    while i < n as usize {
        sum += height(i, step);
        i += thread::stride();
    }
    // SAFETY: every thread is here; the launcher's reduction is valid for this grid.
    unsafe { grid_reduce::<f64, Add, 1>([sum], reduction, |_| ()) };
}
