//! Deterministic reductions: sums over a whole grid in one launch.
//!
//! Every block reduces its threads' contributions to one partial value; the block that finishes last adds
//! the partial values, always in the order of the blocks. The result depends on grid and block size alone.

use cuda_std::{
    Real, atomic, kernel, memory::*, shared::Shared, shared_array, thread,
    warp::{self, FULL_MASK, WARP_SIZE},
};

use crate::monitor::Guard;
use crate::unroll::unroll;

/// Where a reduction's pieces and result go.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Reduction<T> {
    /// One partial value per block and sum: sum `k` of block `b` at `k * grid + b`.
    pub partials: *mut T,
    /// Blocks done so far; 0 before and after.
    pub counter: *mut u32,
    /// The results, one per sum.
    pub out: *mut T,
}

/// How two values combine.
pub trait Combine<T> {
    /// The neutral element.
    const ZERO: T;
    /// The combination; associative and commutative up to rounding.
    fn combine(a: T, b: T) -> T;
}

/// Addition.
pub struct Add;
/// The maximum; NaN if any value is.
pub struct Max;

impl<T: Real> Combine<T> for Add {
    const ZERO: T = T::ZERO;
    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        a + b
    }
}

impl<T: Real> Combine<T> for Max {
    const ZERO: T = T::ZERO; // of absolute values
    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        a.max_nan(b)
    }
}

/// Combines `value` over the block; thread 0 gets the result, the others something else.
///
/// `scratch` has one element per warp. Every thread of the block must call this.
#[inline(always)]
unsafe fn block_reduce<T: Real, C: Combine<T>>(value: T, scratch: Shared<T>) -> T {
    // SAFETY: all threads of the block are here, and scratch has 32 elements.
    unsafe {
        let mut value = value;
        let mut delta = WARP_SIZE / 2;
        while delta > 0 {
            value = C::combine(value, warp::warp_shuffle_down(FULL_MASK, value, delta, WARP_SIZE));
            delta /= 2;
        }
        let lane = thread::thread_idx_x() % WARP_SIZE;
        let warp_of_thread = thread::thread_idx_x() / WARP_SIZE;
        // The scratch may still be read by the reduction before this one.
        thread::sync_threads();
        if lane == 0 {
            scratch.set(warp_of_thread as usize, value);
        }
        thread::sync_threads();
        let warps = thread::block_dim_x() / WARP_SIZE;
        if warp_of_thread == 0 {
            value = if lane < warps { scratch.get(lane as usize) } else { C::ZERO };
            let mut delta = WARP_SIZE / 2;
            while delta > 0 {
                value = C::combine(value, warp::warp_shuffle_down(FULL_MASK, value, delta, WARP_SIZE));
                delta /= 2;
            }
        }
        value
    }
}

/// Combines `values` over the grid into `reduction.out`; `last` is then called by one thread with them.
///
/// # Safety
/// Every thread of the grid calls this, in blocks of a multiple of 32 threads; `reduction` is valid for
/// this grid and `K` sums.
#[inline(always)]
pub unsafe fn grid_reduce<T: Real, C: Combine<T>, const K: usize>(
    values: [T; K],
    reduction: Reduction<T>,
    last: impl FnOnce([T; K]),
) {
    let scratch = shared_array![T; 32];
    let flag = shared_array![u32; 1];
    let grid = thread::grid_dim_x() as usize;
    let block = thread::block_idx_x() as usize;
    // SAFETY: the caller's promise.
    unsafe {
        unroll::<K>(|k| {
            let value = block_reduce::<T, C>(values[k], scratch);
            if thread::thread_idx_x() == 0 {
                reduction.partials.st(k * grid + block, value);
            }
        });
        if thread::thread_idx_x() == 0 {
            thread::device_fence();
            // Wraps to 0 at the last block, ready for the next launch.
            let done = atomic::atomic_inc_u32(reduction.counter, grid as u32 - 1);
            flag.set(0, (done == grid as u32 - 1) as u32);
        }
        thread::sync_threads();
        if flag.get(0) == 0 {
            return;
        }
        thread::device_fence();
        let mut results = [C::ZERO; K];
        unroll::<K>(|k| {
            let mut value = C::ZERO;
            let mut b = thread::thread_idx_x() as usize;
            while b < grid {
                value = C::combine(value, reduction.partials.ld_volatile(k * grid + b));
                b += thread::block_dim_x() as usize;
            }
            results[k] = block_reduce::<T, C>(value, scratch);
        });
        if thread::thread_idx_x() == 0 {
            unroll::<K>(|k| reduction.out.st(k, results[k]));
            last(results);
        }
    }
}

/// `out = (x, y)`.
#[kernel(T = [f32, f64])]
pub unsafe fn dot<T: Real>(n: u64, x: *const T, y: *const T, reduction: Reduction<T>, guard: Guard) {
    // SAFETY: the launcher's arguments are valid for n elements.
    unsafe {
        if guard.stopped() {
            return;
        }
        let mut sum = T::ZERO;
        let mut i = thread::index();
        while i < n as usize {
            sum = x.ld(i).mul_add(y.ld(i), sum);
            i += thread::stride();
        }
        grid_reduce::<T, Add, 1>([sum], reduction, |_| ());
    }
}

/// `out = sum_i x_i`.
#[kernel(T = [f32, f64])]
pub unsafe fn sum<T: Real>(n: u64, x: *const T, reduction: Reduction<T>, guard: Guard) {
    // SAFETY: the launcher's arguments are valid for n elements.
    unsafe {
        if guard.stopped() {
            return;
        }
        let mut sum = T::ZERO;
        let mut i = thread::index();
        while i < n as usize {
            sum += x.ld(i);
            i += thread::stride();
        }
        grid_reduce::<T, Add, 1>([sum], reduction, |_| ());
    }
}

/// `out = max_i |x_i|`, NaN if any element is.
#[kernel(T = [f32, f64])]
pub unsafe fn norm_max<T: Real>(n: u64, x: *const T, reduction: Reduction<T>, guard: Guard) {
    // SAFETY: the launcher's arguments are valid for n elements.
    unsafe {
        if guard.stopped() {
            return;
        }
        let mut max = T::ZERO;
        let mut i = thread::index();
        while i < n as usize {
            max = max.max_nan(x.ld(i).abs());
            i += thread::stride();
        }
        grid_reduce::<T, Max, 1>([max], reduction, |_| ());
    }
}
