//! Vector updates.

use cuda_std::{Real, kernel, memory::*, thread};

use crate::coefficient::Coefficient;
use crate::monitor::Guard;
use arithmetic::status;

/// The coefficients' values, or `None` after raising the guard because one is not finite.
///
/// Every thread of the grid comes to the same answer; one of them stores it.
#[inline(always)]
pub(crate) unsafe fn values<T: Real, const K: usize>(
    coefficients: [Coefficient<T>; K],
    guard: Guard,
) -> Option<[T; K]> {
    // SAFETY: the callers' arguments are valid.
    unsafe {
        let mut values = [T::ZERO; K];
        let mut finite = true;
        for k in 0..K {
            values[k] = coefficients[k].value();
            finite &= values[k].is_finite();
        }
        if finite {
            return Some(values);
        }
        if thread::index_x() == 0 {
            guard.raise(status::BREAKDOWN);
        }
        None
    }
}

/// `x = value`.
#[kernel(T = [f32, f64], batched)]
pub unsafe fn fill<T: Real>(n: u64, value: T, x: *mut T, guard: Guard) {
    // SAFETY: the launcher's arguments are valid for n elements.
    unsafe {
        if guard.stopped() {
            return;
        }
        let mut i = thread::index_x();
        while i < n as usize {
            x.st(i, value);
            i += thread::stride();
        }
    }
}

/// `z = a x + b y`; where `b` is the constant 0, `y` is not read. `z` may be `x` or `y`.
///
/// A coefficient that is not finite raises the guard instead (breakdown).
#[kernel(T = [f32, f64], batched)]
pub unsafe fn axpby<T: Real>(
    n: u64,
    a: Coefficient<T>,
    x: *const T,
    b: Coefficient<T>,
    y: *const T,
    z: *mut T,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments are valid for n elements.
    unsafe {
        if guard.stopped() {
            return;
        }
        let Some([a, b]) = values([a, b], guard) else { return };
        let mut i = thread::index_x();
        while i < n as usize {
            let ax = a * x.ld(i);
            z.st(i, if b == T::ZERO { ax } else { b.mul_add(y.ld(i), ax) });
            i += thread::stride();
        }
    }
}

/// `z = a x + b y + c z`. A coefficient that is not finite raises the guard instead (breakdown).
#[kernel(T = [f32, f64])]
pub unsafe fn axpbypcz<T: Real>(
    n: u64,
    a: Coefficient<T>,
    x: *const T,
    b: Coefficient<T>,
    y: *const T,
    c: Coefficient<T>,
    z: *mut T,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments are valid for n elements.
    unsafe {
        if guard.stopped() {
            return;
        }
        let Some([a, b, c]) = values([a, b, c], guard) else { return };
        let mut i = thread::index_x();
        while i < n as usize {
            let value = a * x.ld(i);
            let value = b.mul_add(y.ld(i), value);
            z.st(i, c.mul_add(z.ld(i), value));
            i += thread::stride();
        }
    }
}

/// `y = a d .* x`: a diagonal matrix applied; with `d` the inverse diagonal and `a = omega` it is the
/// Jacobi iteration's first step from zero, `x_1 = omega D^-1 b`.
#[kernel(T = [f32, f64], batched)]
pub unsafe fn scale_rows<T: Real>(n: u64, a: T, d: *const T, x: *const T, y: *mut T, guard: Guard) {
    // SAFETY: the launcher's arguments are valid for n elements.
    unsafe {
        if guard.stopped() {
            return;
        }
        let mut i = thread::index_x();
        while i < n as usize {
            y.st(i, a * d.ld(i) * x.ld(i));
            i += thread::stride();
        }
    }
}

/// `y = a D x` with blocks of B x B on the diagonal of D, `n` of them: block Jacobi's first step from zero.
#[kernel(T = [f32, f64], B = [2, 3], batched)]
pub unsafe fn scale_blocks<T: Real, const B: usize>(
    n: u64,
    a: T,
    d: *const T,
    x: *const T,
    y: *mut T,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments are valid for n blocks.
    unsafe {
        if guard.stopped() {
            return;
        }
        // A thread a row: neighbours share cache lines of x.
        let mut i = thread::index_x();
        while i < n as usize * B {
            let mut sum = T::ZERO;
            for l in 0..B {
                sum = d.ld(i * B + l).mul_add(x.ld(i - i % B + l), sum);
            }
            y.st(i, a * sum);
            i += thread::stride();
        }
    }
}
