//! Reduced SELL-32-sigma of matrices with few different values: a column and the number of a value in 32
//! bits, for the 96 of plain entries. The product has the same bits as with those.
//!
//! So are stencils, Laplacians of graphs, and circuits of equal parts. What an iteration of a Krylov method
//! reads of a matrix is most of what it reads at all.

use arithmetic::coding::Coding;
use cuda_std::{Real, kernel, memory::*};

use crate::epilogue::{Accumulate, Epilogue, Product, ProductDot, ProductScaled, Residual, Sweep, SweepNorm};
use crate::monitor::Guard;
use crate::spmv::packed::{Packed, gather};
use crate::spmv::sell::by_slices;

/// The values by their numbers.
#[derive(Clone, Copy)]
pub(super) struct Coded<T> {
    pub coding: Coding,
    pub values: *const T,
}

impl<T: Real> Packed<T> for Coded<T> {
    const LOOKS_UP: bool = true;

    #[inline(always)]
    fn distance(self, entry: u32) -> i32 {
        self.coding.decode(entry).0
    }

    #[inline(always)]
    unsafe fn value(self, entry: u32) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.values.ld_nc(self.coding.decode(entry).1 as usize) }
    }
}

/// A x with the epilogue `e`. Positions as in [`spmv_sell`](fn@super::sell::spmv_sell); `values` has each
/// value once.
#[kernel(T = [f64], E = [Product<T>, Accumulate<T>, ProductScaled<T>, Residual<T>, Sweep<T>, SweepNorm<T>, ProductDot<T>])]
pub unsafe fn spmv_coded<T: Real, E: Epilogue<T>>(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    coding: Coding,
    entries: *const u32,
    values: *const T,
    x: *const T,
    e: E,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments describe a valid matrix.
    unsafe {
        if guard.stopped() {
            return;
        }
        by_slices(n_rows, slice_ptr, permutation, e, |row, start, width| {
            gather(Coded { coding, values }, entries, x, row, (start, width), T::ZERO)
        });
    }
}
