//! Ranks: elements that others need, and entries in columns of others.

use cuda_std::{Real, kernel, memory::*, thread};

use crate::monitor::Guard;

/// `out_k = x[places_k]`.
#[kernel(T = [f32, f64])]
pub unsafe fn gather<T: Real>(n: u64, places: *const u32, x: *const T, out: *mut T, guard: Guard) {
    // SAFETY: the launcher's arguments are valid for n elements, and the places are those of elements of x.
    unsafe {
        if guard.stopped() {
            return;
        }
        let mut k = thread::index_x();
        while k < n as usize {
            out.st(k, x.ld(places.ld_nc(k) as usize));
            k += thread::stride();
        }
    }
}

/// `y_i += a d_i sum_k e_k x_k` over the entries of n rows, row k of which is `i = rows[k]`; d may be null,
/// which means 1.
#[kernel(T = [f32, f64])]
pub unsafe fn add_border<T: Real>(
    n: u64,
    rows: *const u32,
    row_ptr: *const u64,
    columns: *const u32,
    values: *const T,
    x: *const T,
    a: T,
    d: *const T,
    y: *mut T,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments are valid: n rows and n + 1 row pointers, rows of y, columns of x.
    unsafe {
        if guard.stopped() {
            return;
        }
        let mut k = thread::index_x();
        while k < n as usize {
            let i = rows.ld_nc(k) as usize;
            let mut sum = T::ZERO;
            let mut e = row_ptr.ld_nc(k) as usize;
            let end = row_ptr.ld_nc(k + 1) as usize;
            while e < end {
                sum = values.ld_nc(e).mul_add(x.ld(columns.ld_nc(e) as usize), sum);
                e += 1;
            }
            let weight = if d.is_null() { a } else { a * d.ld(i) };
            y.st(i, y.ld(i) + weight * sum);
            k += thread::stride();
        }
    }
}
