//! y = a x + y

// ANCHOR: kernel
use cuda_std::{intrinsics::fmaf, kernel, thread};

pub const BLOCK: u32 = 256;

/// `y_i = a x_i + y_i` for each i of the slice x
#[kernel]
pub unsafe fn saxpy(a: f32, x: &[f32], y: *mut f32) {
    let i = thread::index_x();
    if i < x.len() {
        let y = &mut *y.add(i);
        *y = fmaf(a, x[i], *y);
    }
}
// ANCHOR_END: kernel

#[cfg(not(target_arch = "nvptx64"))]
pub fn on_host(a: f32, x: &[f32], y: &[f32]) -> Vec<f32> {
    x.iter().zip(y).map(|(&x, &y)| a.mul_add(x, y)).collect()
}
