//! Dense vectors side by side, `v_k` at `k leading`: Gram-Schmidt and the Jacobi iteration.

use cuda_std::{Real, Shared, kernel, memory::*, shared, thread};

use crate::monitor::Monitor;
use crate::reduce::{Add, Reduction, block_reduce, grid_reduce};
use crate::sizes::BLOCK;
use crate::unroll::unroll;

/// Elements of each vector that a thread has in flight.
const IN_FLIGHT: usize = 8;
/// Vectors of a block of [`dense_dots()`].
pub const VECTORS: usize = 4;
/// Elements of each of them that a thread has in flight.
const EACH: usize = 4;
/// Rows of a block in [`dense_subtract_sum()`].
pub const TILE: usize = 16;
/// Threads of a block that share such a row.
const GROUPS: usize = BLOCK as usize / TILE;
/// Most parts of [`dense_partial_sums()`].
pub const MAX_PARTS: usize = OF_A_THREAD * GROUPS;
/// Parts that a thread of [`dense_subtract_sum`] adds up at most.
const OF_A_THREAD: usize = 4;

/// `(x, y)` over this block, in its first thread.
#[inline(always)]
unsafe fn product(n: usize, x: *const f64, y: *const f64, scratch: Shared<f64>) -> f64 {
    let mut sums = [0.0; IN_FLIGHT];
    let mut first = thread::thread_idx_x() as usize;
    // SAFETY: the caller's promise.
    unsafe {
        while first < n {
            let (mut a, mut b) = ([0.0; IN_FLIGHT], [0.0; IN_FLIGHT]);
            unroll::<IN_FLIGHT>(|k| {
                let i = first + k * BLOCK as usize;
                if i < n {
                    (a[k], b[k]) = (x.ld_nc(i), y.ld_nc(i));
                }
            });
            unroll::<IN_FLIGHT>(|k| sums[k] = Real::mul_add(a[k], b[k], sums[k]));
            first += IN_FLIGHT * BLOCK as usize;
        }
        let mut sum = 0.0;
        unroll::<IN_FLIGHT>(|k| sum += sums[k]);
        let [sum] = block_reduce::<f64, Add, 1>([sum], scratch);
        sum
    }
}

/// `h_k = (v_k, w) / s_k` for k < count, a block for [`VECTORS`] of them: w is loaded once for all.
#[kernel]
pub unsafe fn dense_dots(
    n: u64,
    leading: u64,
    count: u32,
    v: *const f64,
    w: *const f64,
    s: *const f64,
    h: *mut f64,
) {
    let scratch = shared![f64; 32]; // VECTORS for each warp
    let (n, leading, count) = (n as usize, leading as usize, count as usize);
    let first = thread::block_idx_x() as usize * VECTORS;
    let mut sums = [0.0; VECTORS];
    let mut start = thread::thread_idx_x() as usize;
    // SAFETY: the launcher's arguments are valid for n elements and count vectors.
    unsafe {
        while start < n {
            let (mut a, mut b) = ([[0.0; EACH]; VECTORS], [0.0; EACH]);
            unroll::<EACH>(|l| {
                let i = start + l * BLOCK as usize;
                if i < n {
                    b[l] = w.ld_nc(i);
                    unroll::<VECTORS>(|k| {
                        if first + k < count {
                            a[k][l] = v.ld_cs((first + k) * leading + i);
                        }
                    });
                }
            });
            unroll::<EACH>(|l| unroll::<VECTORS>(|k| sums[k] = Real::mul_add(a[k][l], b[l], sums[k])));
            start += EACH * BLOCK as usize;
        }
        let dots = block_reduce::<f64, Add, VECTORS>(sums, scratch);
        if thread::thread_idx_x() == 0 {
            unroll::<VECTORS>(|k| {
                if first + k < count {
                    h.st(first + k, dots[k] / s.ld(first + k));
                }
            });
        }
    }
}

/// `sums_p = sum_k h_k v_k` over part p of the vectors, `part` of them in a row: a block for each [`BLOCK`]
/// rows of each part.
///
/// Successive threads read successive rows: pieces of 2 KiB. Few rows of many vectors would be a third as
/// fast.
#[kernel]
pub unsafe fn dense_partial_sums(
    n: u64,
    leading: u64,
    count: u32,
    part: u32,
    v: *const f64,
    h: *const f64,
    sums: *mut f64,
) {
    let (n, leading) = (n as usize, leading as usize);
    let tiles = (n as u32).div_ceil(BLOCK);
    let (tile, p) = (thread::block_idx_x() % tiles, thread::block_idx_x() / tiles);
    let i = (tile * BLOCK + thread::thread_idx_x()) as usize;
    if i >= n {
        return;
    }
    let mut sum = 0.0;
    let mut k = p * part;
    let end = count.min(k + part);
    // SAFETY: the launcher's arguments are valid for n elements, count vectors and as many sums as there are
    // parts.
    unsafe {
        while k < end {
            let (mut a, mut b) = ([0.0; IN_FLIGHT], [0.0; IN_FLIGHT]);
            unroll::<IN_FLIGHT>(|l| {
                let k = k as usize + l;
                if k < end as usize {
                    (a[l], b[l]) = (v.ld_cs(k * leading + i), h.ld_nc(k));
                }
            });
            unroll::<IN_FLIGHT>(|l| sum = Real::mul_add(a[l], b[l], sum));
            k += IN_FLIGHT as u32;
        }
        sums.st(p as usize * leading + i, sum);
    }
}

/// `w -= sum_{p < parts} sums_p`, `out = (w, w)`.
///
/// A block takes [`TILE`] rows at a time; its threads share the parts, and their sums are added in the order
/// of threads.
#[kernel]
pub unsafe fn dense_subtract_sum(
    n: u64,
    leading: u64,
    parts: u32,
    sums: *const f64,
    w: *mut f64,
    reduction: Reduction<f64>,
) {
    let scratch = shared![f64; 256]; // BLOCK
    let (n, leading, parts) = (n as usize, leading as usize, parts as usize);
    let t = thread::thread_idx_x() as usize;
    let (row, group) = (t % TILE, t / TILE);
    let mut square = 0.0;
    let mut first = thread::block_idx_x() as usize * TILE;
    // SAFETY: the launcher's arguments are valid for n elements and so many sums; every thread comes to all
    // barriers.
    unsafe {
        while first < n {
            let i = first + row;
            let mut sum = 0.0;
            if i < n {
                let mut a = [0.0; OF_A_THREAD];
                unroll::<OF_A_THREAD>(|l| {
                    let p = group + l * GROUPS;
                    if p < parts {
                        a[l] = sums.ld_nc(p * leading + i);
                    }
                });
                unroll::<OF_A_THREAD>(|l| sum += a[l]);
            }
            scratch.set(t, sum);
            thread::sync_threads();
            if group == 0 && i < n {
                let mut value = w.ld(i);
                for g in 0..GROUPS {
                    value -= scratch.get(g * TILE + row);
                }
                w.st(i, value);
                square = Real::mul_add(value, value, square);
            }
            thread::sync_threads();
            first += thread::grid_dim_x() as usize * TILE;
        }
        grid_reduce::<f64, Add, 1>([square], reduction, |_| ());
    }
}

/// `v_k /= sqrt(s_k)`, a block for each k.
#[kernel]
pub unsafe fn dense_normalise(n: u64, leading: u64, s: *const f64, v: *mut f64) {
    let k = thread::block_idx_x() as usize;
    // SAFETY: the launcher's arguments are valid for n elements and as many vectors as blocks.
    unsafe {
        let (v, norm) = (v.add(k * leading as usize), Real::sqrt(s.ld(k)));
        let mut i = thread::thread_idx_x() as usize;
        while i < n as usize {
            v.st(i, v.ld(i) / norm);
            i += BLOCK as usize;
        }
    }
}

/// A sweep of the Jacobi iteration, `y = x + D^-1 (b - A x)`, which also observes `||y - x||_2`. A block for
/// each row.
#[kernel]
pub unsafe fn dense_sweep_sum(
    n: u64,
    leading: u64,
    a: *const f64,
    b: *const f64,
    x: *const f64,
    y: *mut f64,
    reduction: Reduction<f64>,
    monitor: Monitor,
) {
    let scratch = shared![f64; 16];
    let n = n as usize;
    // SAFETY: the launcher's arguments are valid for n rows; every thread comes to all barriers or returns
    // here.
    unsafe {
        if monitor.guard.stopped() {
            return;
        }
        let mut square = 0.0;
        let mut i = thread::block_idx_x() as usize;
        while i < n {
            let row = a.add(i * leading as usize);
            let ax = product(n, row, x, scratch);
            if thread::thread_idx_x() == 0 {
                let change = (b.ld(i) - ax) / row.ld(i);
                y.st(i, x.ld(i) + change);
                square = Real::mul_add(change, change, square);
            }
            // The next row's sums use the same scratch memory.
            thread::sync_threads();
            i += thread::grid_dim_x() as usize;
        }
        grid_reduce::<f64, Add, 1>([square], reduction, |[square]| monitor.observe(Real::sqrt(square)));
    }
}
