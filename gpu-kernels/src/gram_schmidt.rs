//! Orthogonalisation and the small dense problem of GMRES (Saad and Schultz 1986).
//!
//! Classical Gram-Schmidt done twice (Giraud, Langou, Rozloznik 2005) needs the dot products of one vector
//! with all basis vectors at once, and an update by all of them at once. [`gram_schmidt()`] does the update
//! of one pass and the dot products of the next while each basis vector is in registers, so that two full
//! passes read the basis three times rather than four.

use arithmetic::gmres::SINGULAR;
use arithmetic::status;
use cuda_std::{Real, kernel, memory::*, shared, thread, warp::WARP_SIZE};

use crate::monitor::{Guard, Monitor};
use crate::reduce::{grid_sums, warp_sum};
use crate::unroll::unroll;

/// One pass over at most `W` basis vectors `v_j = basis[j * leading ..]`, `j < count`:
///
/// ```text
/// w -= sum_j update_j v_j                      where update is not null
/// dots_j = (v_j, w),  h_j = dots_j (+ h_j)     where dots is not null; + where accumulate is 1
/// norm2 = (w, w)                               where norm2 is not null
/// ```
///
/// `partials` has `(W + 1) * grid` elements; sums are added in the order of blocks.
#[kernel(T = [f32, f64], W = [8, 16, 32])]
pub unsafe fn gram_schmidt<T: Real, const W: usize>(
    n: u64,
    basis: *const T,
    leading: u64,
    count: u32,
    update: *const T,
    w: *mut T,
    dots: *mut T,
    h: *mut T,
    accumulate: u32,
    norm2: *mut T,
    partials: *mut T,
    counter: *mut u32,
    guard: Guard,
) {
    let scratch = shared![T; 264]; // WARPS * (32 + 1)
    // In shared memory, because the sums and the vectors already fill the registers.
    let coefficients = shared![T; 32];
    // SAFETY: the launcher's arguments are valid for n rows and count <= W vectors.
    unsafe {
        if guard.stopped() {
            return;
        }
        let count = count as usize;
        let t = thread::thread_idx_x() as usize;
        if t < W {
            coefficients.set(t, if t < count && !update.is_null() { -update.ld(t) } else { T::ZERO });
        }
        thread::sync_threads();
        let mut sums = [T::ZERO; W];
        let mut square = T::ZERO;
        let mut i = thread::index_x();
        while i < n as usize {
            let mut v = [T::ZERO; W];
            unroll::<W>(|j| {
                if j < count {
                    v[j] = basis.ld_nc(j * leading as usize + i);
                }
            });
            let mut value = w.ld(i);
            if !update.is_null() {
                unroll::<W>(|j| value = coefficients.get(j).mul_add(v[j], value));
                w.st(i, value);
            }
            if !dots.is_null() {
                unroll::<W>(|j| sums[j] = v[j].mul_add(value, sums[j]));
            }
            square = value.mul_add(value, square);
            i += thread::stride();
        }
        if dots.is_null() && norm2.is_null() {
            return;
        }

        let lane = thread::thread_idx_x() % WARP_SIZE;
        let warp_of_thread = (thread::thread_idx_x() / WARP_SIZE) as usize;
        unroll::<W>(|j| {
            let value = warp_sum(sums[j]);
            if lane == 0 {
                scratch.set(warp_of_thread * (W + 1) + j, value);
            }
        });
        let value = warp_sum(square);
        if lane == 0 {
            scratch.set(warp_of_thread * (W + 1) + W, value);
        }
        grid_sums(W + 1, scratch, partials, counter, |j, value| {
            if j < count && !dots.is_null() {
                dots.st(j, value);
                h.st(j, if accumulate == 1 { h.ld(j) + value } else { value });
            }
            if j == W && !norm2.is_null() {
                norm2.st(0, value);
            }
        });
    }
}

/// Starts a GMRES cycle: `beta = sqrt(norm2)`, `g = beta e_1`, no columns yet. One block.
#[kernel(T = [f32, f64])]
pub unsafe fn gmres_start<T: Real>(norm2: *const T, beta: *mut T, g: *mut T, columns: *mut T, guard: Guard) {
    // SAFETY: the launcher's arguments are valid.
    unsafe {
        if guard.stopped() || thread::index_x() != 0 {
            return;
        }
        let value = norm2.ld(0).sqrt();
        beta.st(0, value);
        g.st(0, value);
        columns.st(0, T::ZERO);
    }
}

/// Takes column `j` of the Hessenberg matrix into the QR factorisation by Givens rotations. One block.
///
/// `h` holds `j + 1` entries and, at `j + 1`, receives `sqrt(norm2)`, the length of the new basis vector.
/// Earlier rotations `(cs, sn)` are applied, the new one is made, and `|g_{j+1}|`, the residual norm of the
/// least-squares problem, goes to the monitor. A column that becomes zero, but for rounding, raises the guard
/// (breakdown).
#[kernel(T = [f32, f64])]
pub unsafe fn gmres_rotate<T: Real>(
    j: u32,
    norm2: *const T,
    h: *mut T,
    length: *mut T,
    cs: *mut T,
    sn: *mut T,
    g: *mut T,
    columns: *mut T,
    monitor: Monitor,
) {
    let column = shared![T; 1024]; // MAX_RESTART
    let cosine = shared![T; 1024];
    let sine = shared![T; 1024];
    // SAFETY: the launcher's arguments are valid for column j < MAX_RESTART.
    unsafe {
        if monitor.guard.stopped() {
            return;
        }
        let j = j as usize;
        let t = thread::thread_idx_x() as usize;
        let mut i = t;
        while i <= j {
            column.set(i, h.ld(i));
            if i < j {
                cosine.set(i, cs.ld(i));
                sine.set(i, sn.ld(i));
            }
            i += thread::block_dim_x() as usize;
        }
        thread::sync_threads();
        if t == 0 {
            let below = norm2.ld(0).sqrt();
            length.st(0, below);
            // ||A M v_j||, which rotations keep.
            let mut square = below * below;
            for i in 0..=j {
                square = column.get(i).mul_add(column.get(i), square);
            }
            let rounding = T::from_f64(SINGULAR * T::EPSILON.to_f64()) * square.sqrt();
            let mut upper = column.get(0);
            for i in 0..j {
                let lower = column.get(i + 1);
                let (c, s) = (cosine.get(i), sine.get(i));
                column.set(i, c * upper + s * lower);
                upper = c * lower - s * upper;
            }
            let radius = (upper * upper + below * below).sqrt();
            column.set(j, radius);
            if radius > rounding && radius.is_finite() {
                let (c, s) = (upper / radius, below / radius);
                cs.st(j, c);
                sn.st(j, s);
                let last = g.ld(j);
                g.st(j, c * last);
                g.st(j + 1, -(s * last));
                columns.st(0, T::from_f64((j + 1) as f64));
                monitor.observe((s * last).abs().to_f64());
            } else {
                let fault = if radius.is_finite() { status::BREAKDOWN } else { status::NOT_FINITE };
                monitor.guard.raise(fault);
            }
        }
        thread::sync_threads();
        let mut i = t;
        while i <= j {
            h.st(i, column.get(i));
            i += thread::block_dim_x() as usize;
        }
    }
}

/// Solves `R y = g` for the columns done in this cycle. One block.
///
/// `r` holds column `j` at `j * leading`. The result's sign is turned: what [`gram_schmidt()`] subtracts.
#[kernel(T = [f32, f64])]
pub unsafe fn gmres_solve<T: Real>(columns: *const T, r: *const T, leading: u32, g: *const T, y: *mut T) {
    let rest = shared![T; 1024]; // MAX_RESTART
    let solved = shared![T; 1];
    // SAFETY: the launcher's arguments are valid for the columns done, at most MAX_RESTART.
    unsafe {
        let done = columns.ld(0).to_f64() as usize;
        let t = thread::thread_idx_x() as usize;
        let step = thread::block_dim_x() as usize;
        let mut i = t;
        while i < done {
            rest.set(i, g.ld(i));
            i += step;
        }
        let mut j = done;
        while j > 0 {
            j -= 1;
            let column = r.add(j * leading as usize);
            thread::sync_threads();
            if t == 0 {
                let value = rest.get(j) / column.ld(j);
                solved.set(0, value);
                y.st(j, -value);
            }
            thread::sync_threads();
            let value = solved.get(0);
            let mut i = t;
            while i < j {
                rest.set(i, (-value).mul_add(column.ld(i), rest.get(i)));
                i += step;
            }
        }
    }
}
