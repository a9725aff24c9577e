//! Deterministic reductions: sums over a whole grid in one launch.
//!
//! Every block reduces its threads' contributions to one partial value; the block that finishes last adds
//! the partial values, always in the order of the blocks. The result depends on grid and block size alone.

use cuda_std::{
    Real, atomic, kernel,
    memory::*,
    shared,
    shared::Shared,
    thread,
    warp::{self, FULL_MASK, WARP_SIZE},
};

use crate::monitor::Guard;
use crate::sizes::BLOCK;
use crate::unroll::unroll;

/// Warps in a block.
const WARPS: usize = (BLOCK / WARP_SIZE) as usize;
/// Partial values that a thread of the last block has in flight.
const PARTIALS: usize = 8;

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

/// Combines `value` over the `width` first lanes of the warp; lane 0 gets the result.
#[inline(always)]
unsafe fn warp_reduce<T: Real, C: Combine<T>>(value: T, width: u32) -> T {
    let mut value = value;
    let mut delta = width / 2;
    while delta > 0 {
        // SAFETY: all lanes of the warp are here.
        value = C::combine(value, unsafe { warp::warp_shuffle_down(FULL_MASK, value, delta, WARP_SIZE) });
        delta /= 2;
    }
    value
}

/// Combines `values` over the block; thread 0 gets the results, the others something else.
///
/// `scratch` has `WARPS` elements for each value and is used for nothing else. Every thread of the block
/// must call this.
#[inline(always)]
pub(crate) unsafe fn block_reduce<T: Real, C: Combine<T>, const K: usize>(
    values: [T; K],
    scratch: Shared<T>,
) -> [T; K] {
    let lane = thread::thread_idx_x() % WARP_SIZE;
    let warp_of_thread = (thread::thread_idx_x() / WARP_SIZE) as usize;
    let mut values = values;
    // SAFETY: all threads of the block are here, and the scratch is large enough.
    unsafe {
        unroll::<K>(|k| {
            let value = warp_reduce::<T, C>(values[k], WARP_SIZE);
            if lane == 0 {
                scratch.set(k * WARPS + warp_of_thread, value);
            }
        });
        thread::sync_threads();
        if warp_of_thread == 0 {
            unroll::<K>(|k| {
                let value = scratch.get(k * WARPS + lane as usize % WARPS);
                values[k] = warp_reduce::<T, C>(value, WARPS as u32);
            });
        }
    }
    values
}

/// Combines `values` over the grid into `reduction.out`; `last` is then called by one thread with them.
///
/// # Safety
/// Every thread of the grid calls this, in blocks of [`BLOCK`] threads; `reduction` is valid for this
/// grid and `K <= 2` sums.
#[inline(always)]
pub unsafe fn grid_reduce<T: Real, C: Combine<T>, const K: usize>(
    values: [T; K],
    reduction: Reduction<T>,
    last: impl FnOnce([T; K]),
) {
    // One for each of the two steps, so that no barrier is needed between them.
    let blocks_scratch = shared![T; 16];
    let grid_scratch = shared![T; 16];
    let flag = shared![u32; 1];
    let grid = thread::grid_dim_x() as usize;
    let t = thread::thread_idx_x() as usize;
    // SAFETY: the caller's promise.
    unsafe {
        let values = block_reduce::<T, C, K>(values, blocks_scratch);
        if t == 0 {
            unroll::<K>(|k| reduction.partials.st(k * grid + thread::block_idx_x() as usize, values[k]));
            // The partial values are out before the block is counted.
            thread::device_fence();
            // Wraps to 0 at the last block, ready for the next launch.
            let done = atomic::atomic_inc_u32(reduction.counter, grid as u32 - 1);
            thread::device_fence();
            flag.set(0, (done == grid as u32 - 1) as u32);
        }
        thread::sync_threads();
        if flag.get(0) == 0 {
            return;
        }
        // Several partial values are asked for before the first is used: fewer trips to the cache.
        let mut totals = [C::ZERO; K];
        let mut first = t;
        while first < grid {
            let mut partials = [[C::ZERO; PARTIALS]; K];
            unroll::<K>(|k| {
                unroll::<PARTIALS>(|j| {
                    let b = first + j * BLOCK as usize;
                    if b < grid {
                        partials[k][j] = reduction.partials.ld_volatile(k * grid + b);
                    }
                })
            });
            unroll::<K>(|k| unroll::<PARTIALS>(|j| totals[k] = C::combine(totals[k], partials[k][j])));
            first += PARTIALS * BLOCK as usize;
        }
        let totals = block_reduce::<T, C, K>(totals, grid_scratch);
        if t == 0 {
            unroll::<K>(|k| reduction.out.st(k, totals[k]));
            last(totals);
        }
    }
}

/// The sum over the warp, in lane 0.
///
/// # Safety
/// Every lane of the warp calls it.
#[inline(always)]
pub(crate) unsafe fn warp_sum<T: Real>(value: T) -> T {
    // SAFETY: the caller's promise.
    unsafe { warp_reduce::<T, Add>(value, WARP_SIZE) }
}

/// Adds `count` sums over the grid, of which warp w of each block has its own, sum j, at
/// `scratch[w * count + j]`. `write(j, sum)` is called for each by one thread of the last block.
///
/// # Safety
/// Every thread of the grid calls this, in blocks of [`BLOCK`] threads; `partials` has `count * grid`
/// elements, and `counter` is 0 before and after.
#[inline(always)]
pub(crate) unsafe fn grid_sums<T: Real>(
    count: usize,
    scratch: Shared<T>,
    partials: *mut T,
    counter: *mut u32,
    write: impl Fn(usize, T),
) {
    let flag = shared![u32; 1];
    let t = thread::thread_idx_x() as usize;
    let (lane, warp_of_thread) = (t % WARP_SIZE as usize, t / WARP_SIZE as usize);
    let grid = thread::grid_dim_x() as usize;
    // SAFETY: the caller's promise.
    unsafe {
        // Block: one thread a sum adds the warps.
        thread::sync_threads();
        if t < count {
            let mut value = T::ZERO;
            for w in 0..WARPS {
                value += scratch.get(w * count + t);
            }
            partials.st(t * grid + thread::block_idx_x() as usize, value);
            thread::device_fence();
        }
        thread::sync_threads();
        if t == 0 {
            let done = atomic::atomic_inc_u32(counter, grid as u32 - 1);
            flag.set(0, (done == grid as u32 - 1) as u32);
        }
        thread::sync_threads();
        if flag.get(0) == 0 {
            return;
        }

        // Grid: the last block adds the blocks' sums, one warp a sum.
        thread::device_fence();
        let mut j = warp_of_thread;
        while j < count {
            let mut value = T::ZERO;
            let mut b = lane;
            while b < grid {
                value += partials.ld_volatile(j * grid + b);
                b += WARP_SIZE as usize;
            }
            let value = warp_sum(value);
            if lane == 0 {
                write(j, value);
            }
            j += WARPS;
        }
    }
}

/// `out = (x, y)`, y rounded to `T`.
#[kernel(T = [f32, f64], S = [f32, f64], batched)]
pub unsafe fn dot<T: Real, S: Real>(n: u64, x: *const T, y: *const S, reduction: Reduction<T>, guard: Guard) {
    // SAFETY: the launcher's arguments are valid for n elements.
    unsafe {
        if guard.stopped() {
            return;
        }
        let mut sum = T::ZERO;
        let mut i = thread::index_x();
        while i < n as usize {
            sum = x.ld(i).mul_add(T::from_f64(y.ld(i).to_f64()), sum);
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
        let mut i = thread::index_x();
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
        let mut i = thread::index_x();
        while i < n as usize {
            max = max.max_nan(x.ld(i).abs());
            i += thread::stride();
        }
        grid_reduce::<T, Max, 1>([max], reduction, |_| ());
    }
}
