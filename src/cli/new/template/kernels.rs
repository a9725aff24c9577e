//! The GPU kernels.

use cuda_std::{kernel, thread};

/// Threads of a block.
pub const BLOCK: u32 = 256;

/// `y_i = a x_i + y_i`
///
/// # Safety
/// y has as many elements as x, and nobody else uses them meanwhile.
#[kernel]
#[allow(improper_ctypes_definitions)]
pub unsafe fn saxpy(a: f32, x: &[f32], y: *mut f32) {
    let i = thread::index_1d() as usize;
    if i < x.len() {
        // SAFETY: this thread alone has element i.
        let y = unsafe { &mut *y.add(i) };
        *y += a * x[i];
    }
}
