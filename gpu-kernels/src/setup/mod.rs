//! Kernels that build a multigrid hierarchy: strength of connection, splittings, interpolation, sparse
//! products.
//!
//! Matrices are in CRS with 32-bit row pointers, columns ascending within a row, the diagonal stored. But for
//! [`inverse`] each kernel's result is defined to the last bit: sums run over a row's entries in order, and
//! multiplication and addition round separately (no fused multiply-add), as on the host.

pub mod aggregate;
pub mod blocks;
pub mod check;
pub mod columns;
pub mod convert;
pub mod dictionary;
pub mod independent_set;
pub mod interpolate;
pub mod inverse;
pub mod near_null;
pub mod numbering;
pub mod parts;
pub mod planes;
pub mod product;
pub mod rounding;
pub mod scan;
pub mod strength;
pub mod sub_warp;
pub mod survey;
pub mod transpose;
pub mod twins;

use arithmetic::noise::scaled_noise;
use cuda_std::{Real, kernel, memory::*, thread};

/// `x_i = scaled_noise(i, d_ii)`, D diagonal or with blocks on its diagonal: element `block i + l` of `d` is
/// the l-th of row i in its block. Where `numbers` is not null, it has the numbers of nodes of `block` rows,
/// by which their rows are numbered.
#[kernel(T = [f32, f64])]
pub unsafe fn noisy<T: Real>(n: u64, block: u32, numbers: *const u32, d: *const T, x: *mut T) {
    let size = block as usize;
    let mut i = thread::index_x();
    // SAFETY: the launcher's vector has n elements, d as many rows, and there is a number for each node.
    unsafe {
        while i < n as usize {
            let l = i % size;
            let number = match numbers.is_null() {
                true => i as u32,
                false => numbers.ld_nc(i / size) * block + l as u32,
            };
            x.st(i, scaled_noise(number, d.ld(size * i + l)));
            i += thread::stride();
        }
    }
}
