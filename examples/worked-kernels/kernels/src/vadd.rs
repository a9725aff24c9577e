//! c = a + b

// ANCHOR: kernel
use cuda_std::{kernel, memory::*, thread};

pub const BLOCK: u32 = 256;

/// `c_i = a_i + b_i` for i below n
#[kernel]
pub unsafe fn vadd(n: u32, a: *const f32, b: *const f32, c: *mut f32) {
    let i = thread::index_x();
    if i < n as usize {
        c.st(i, a.ld_nc(i) + b.ld_nc(i));
    }
}
// ANCHOR_END: kernel

#[cfg(not(target_arch = "nvptx64"))]
pub fn on_host(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}
