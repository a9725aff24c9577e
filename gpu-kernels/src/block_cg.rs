//! Passes over blocks of vectors, and the small dense problem of block CG (O'Leary 1980, Dubrulle 2001).
//!
//! Matrices of a block's columns are in memory as [`arithmetic::block_cg`] has them: columns of [`MOST`].

use arithmetic::block_cg::{MOST, length, root, row, solve, solve_upper, times, unit, weighted};
use arithmetic::status;
use cuda_std::{Real, kernel, memory::*, shared, thread, warp::WARP_SIZE};

use crate::monitor::{Guard, Monitor};
use crate::reduce::{grid_sums, warp_sum};
use crate::unroll::unroll;

/// Up to K vectors; null where there is none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Block<T, const K: usize> {
    /// Their elements.
    pub columns: [*mut T; K],
}

// SAFETY: plain addresses; the kernels say who may use them when.
unsafe impl<T: Real, const K: usize> Send for Block<T, K> {}
// SAFETY: as above.
unsafe impl<T: Real, const K: usize> Sync for Block<T, K> {}

impl<T: Real, const K: usize> Block<T, K> {
    /// Row `i`, with 0 where there is no column.
    ///
    /// # Safety
    /// The columns have a row `i`, which nobody writes now.
    #[inline(always)]
    unsafe fn row(&self, i: usize) -> [T; K] {
        let mut row = [T::ZERO; K];
        unroll::<K>(|j| {
            if !self.columns[j].is_null() {
                // SAFETY: the caller's promise.
                row[j] = unsafe { self.columns[j].ld(i) };
            }
        });
        row
    }
}

/// Element `i` of `d`, where it is there, times a row.
///
/// # Safety
/// `d` is null, or has an element `i` that nobody writes now.
#[inline(always)]
unsafe fn scaled<T: Real, const K: usize>(d: *const T, i: usize, row: [T; K]) -> [T; K] {
    let mut scaled = row;
    if !d.is_null() {
        // SAFETY: the caller's promise.
        let factor = unsafe { d.ld(i) };
        unroll::<K>(|j| scaled[j] *= factor);
    }
    scaled
}

/// What watches a block: each column, and all of them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Watch<const K: usize> {
    /// Of each column; no more than `count` are read.
    pub columns: [Monitor; K],
    /// The largest threshold over that of a column.
    pub weights: [f64; K],
    /// Of the largest norm, each times its weight: it guards the block.
    pub whole: Monitor,
    /// The number of columns.
    pub count: u32,
}

impl<const K: usize> Watch<K> {
    /// Whether column `j` is there and its iteration goes on.
    ///
    /// # Safety
    /// The monitors are valid.
    #[inline(always)]
    unsafe fn runs(&self, j: usize) -> bool {
        // SAFETY: the caller's promise.
        j < self.count as usize && !unsafe { self.columns[j].guard.stopped() }
    }

    /// Stops all that runs. One thread calls it.
    ///
    /// # Safety
    /// The monitors are valid.
    #[inline(always)]
    unsafe fn raise(&self, status: u32) {
        unroll::<K>(|j| {
            // SAFETY: the caller's promise.
            unsafe {
                if self.runs(j) {
                    self.columns[j].guard.raise(status);
                }
            }
        });
        // SAFETY: the caller's promise.
        unsafe { self.whole.guard.raise(status) }
    }
}

/// The upper triangle of `X^T D Y`, `out[j * MOST + i] = (x_i, d .* y_j)`; D = I for null.
///
/// `partials` has `K (K + 1) / 2 * grid` elements; sums are added in the order of blocks.
#[kernel(T = [f32, f64], K = [4, 8])]
pub unsafe fn block_products<T: Real, const K: usize>(
    n: u64,
    x: Block<T, K>,
    d: *const T,
    y: Block<T, K>,
    out: *mut T,
    partials: *mut T,
    counter: *mut u32,
    guard: Guard,
) {
    let scratch = shared![T; 288]; // WARPS * K (K + 1) / 2
    // SAFETY: the launcher's arguments are valid for n rows.
    unsafe {
        if guard.stopped() {
            return;
        }
        let mut sums = [[T::ZERO; K]; K];
        let mut row = thread::index_x();
        while row < n as usize {
            let (x, y) = (x.row(row), scaled(d, row, y.row(row)));
            unroll::<K>(|j| {
                unroll::<K>(|i| {
                    if i <= j {
                        sums[j][i] = x[i].mul_add(y[j], sums[j][i]);
                    }
                })
            });
            row += thread::stride();
        }
        let lane = thread::thread_idx_x() % WARP_SIZE;
        let first = (thread::thread_idx_x() / WARP_SIZE) as usize * (K * (K + 1) / 2);
        unroll::<K>(|j| {
            unroll::<K>(|i| {
                if i <= j {
                    let value = warp_sum(sums[j][i]);
                    if lane == 0 {
                        scratch.set(first + j * (j + 1) / 2 + i, value);
                    }
                }
            })
        });
        grid_sums(K * (K + 1) / 2, scratch, partials, counter, |sum, value| {
            let mut j = 0;
            while (j + 1) * (j + 2) / 2 <= sum {
                j += 1;
            }
            out.st(j * MOST + sum - j * (j + 1) / 2, value);
        });
    }
}

/// `Y = D X A + Y B`, where X is there; D = I and B = I for null.
#[kernel(T = [f32, f64], K = [4, 8])]
pub unsafe fn block_combination<T: Real, const K: usize>(
    n: u64,
    d: *const T,
    x: Block<T, K>,
    a: *const T,
    y: Block<T, K>,
    b: *const T,
    guard: Guard,
) {
    // In shared memory, because a block's rows already fill the registers.
    let of_x = shared![T; 64];
    let of_y = shared![T; 64];
    // SAFETY: the launcher's arguments are valid for n rows.
    unsafe {
        if guard.stopped() {
            return;
        }
        let t = thread::thread_idx_x() as usize;
        if t < MOST * K {
            of_x.set(t, if a.is_null() { T::ZERO } else { a.ld(t) });
            of_y.set(t, if b.is_null() { T::ZERO } else { b.ld(t) });
        }
        thread::sync_threads();
        let mut row = thread::index_x();
        while row < n as usize {
            let (from, to) = (scaled(d, row, x.row(row)), y.row(row));
            unroll::<K>(|j| {
                let mut value = if b.is_null() { to[j] } else { T::ZERO };
                if !b.is_null() {
                    unroll::<K>(|i| value = of_y.get(j * MOST + i).mul_add(to[i], value));
                }
                if !a.is_null() {
                    unroll::<K>(|i| value = of_x.get(j * MOST + i).mul_add(from[i], value));
                }
                if !y.columns[j].is_null() {
                    y.columns[j].st(row, value);
                }
            });
            row += thread::stride();
        }
    }
}

/// A small matrix from memory.
///
/// # Safety
/// It is there, and nobody writes it now.
#[inline(always)]
unsafe fn load<T: Real, const K: usize>(a: *const T) -> [[T; K]; K] {
    let mut columns = [[T::ZERO; K]; K];
    // SAFETY: the caller's promise.
    unroll::<K>(|j| columns[j] = unsafe { load_column(a, j) });
    columns
}

/// Column `j` of a small matrix.
///
/// # Safety
/// It is there, and nobody writes it now.
#[inline(always)]
unsafe fn load_column<T: Real, const K: usize>(a: *const T, j: usize) -> [T; K] {
    let mut column = [T::ZERO; K];
    // SAFETY: the caller's promise.
    unroll::<K>(|i| column[i] = unsafe { a.ld(j * MOST + i) });
    column
}

/// Writes column `j` of a small matrix.
///
/// # Safety
/// It is there, and nobody else uses the column now.
#[inline(always)]
unsafe fn store<T: Real, const K: usize>(a: *mut T, j: usize, column: [T; K]) {
    // SAFETY: the caller's promise.
    unroll::<K>(|i| unsafe { a.st(j * MOST + i, column[i]) });
}

/// The step of each column: `E = (D^T A D)^-1 C` of x, and `-(D^T A D)^-1` of the residuals. One block.
#[kernel(T = [f32, f64], K = [4, 8])]
pub unsafe fn block_cg_lengths<T: Real, const K: usize>(
    d_ad: *const T,
    c: *const T,
    of_x: *mut T,
    of_r: *mut T,
    watch: Watch<K>,
) {
    // SAFETY: the launcher's arguments are valid.
    unsafe {
        let j = thread::index_x();
        if watch.whole.guard.stopped() || j >= K {
            return;
        }
        match root(&load::<T, K>(d_ad)) {
            Ok(r) => {
                store(of_x, j, solve(&r, load_column(c, j)));
                let mut negated = solve(&r, unit(j));
                unroll::<K>(|i| negated[i] = -negated[i]);
                store(of_r, j, negated);
            }
            Err(status) if j == 0 => watch.raise(status),
            Err(_) => (),
        }
    }
}

/// The residuals are `Q C` with `(q_i, M q_j)` in `q_mq` and `(q_i, q_j)` in `q_q`. Observes their norms, and
/// makes the columns of Q orthonormal: `Q = Q' R`, `C = R C`. Writes C, `R^-1` and `R^T`. One block.
#[kernel(T = [f32, f64], K = [4, 8])]
pub unsafe fn block_cg_residuals<T: Real, const K: usize>(
    q_mq: *const T,
    q_q: *const T,
    c: *mut T,
    r_inverse: *mut T,
    r_transposed: *mut T,
    watch: Watch<K>,
) {
    let norms = shared![f64; 8];
    let fault = shared![u32; 1];
    // SAFETY: the launcher's arguments are valid.
    unsafe {
        if watch.whole.guard.stopped() {
            return;
        }
        let j = thread::index_x();
        if j < K {
            let column: [T; K] = load_column(c, j);
            let norm = length(&load::<T, K>(q_q), column).to_f64();
            unroll::<K>(|k| {
                if k == j {
                    norms.set(k, weighted(norm, watch.weights[k]));
                }
            });
            let root = root(&load::<T, K>(q_mq));
            if j == 0 {
                fault.set(0, root.err().map_or(status::RUNNING, of_preconditioner));
            }
            if let Ok(r) = root {
                store(c, j, times(&r, column));
                store(r_inverse, j, solve_upper(&r, unit(j)));
                store(r_transposed, j, row(&r, j));
                unroll::<K>(|k| {
                    if k == j && watch.runs(k) {
                        watch.columns[k].observe(norm);
                    }
                });
            }
        }
        thread::sync_threads();
        if j == 0 && fault.get(0) != status::RUNNING {
            watch.raise(fault.get(0));
        } else if j == 0 {
            let mut largest = 0.0;
            for k in 0..watch.count as usize {
                largest = Real::max_nan(largest, norms.get(k));
            }
            watch.whole.observe(largest);
        }
    }
}

/// What a [`root`] has found, of a preconditioner.
fn of_preconditioner(fault: u32) -> u32 {
    if fault == status::INDEFINITE_OPERATOR { status::INDEFINITE_PRECONDITIONER } else { fault }
}
