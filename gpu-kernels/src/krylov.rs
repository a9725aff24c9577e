//! Fused steps of the conjugate gradient method.

use cuda_std::{Real, kernel, memory::*, thread};

use crate::blas1::values;
use crate::coefficient::Coefficient;
use crate::monitor::{Guard, Monitor};
use crate::reduce::{Add, Reduction, grid_reduce};
use arithmetic::angle::step;
use arithmetic::status;

/// Where a new residual goes beside its own place: into a preconditioner, as `y = r` and `z = omega d .* y`
/// in its number type. Not where `y` is null; without z where `d` is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Entry<S> {
    /// The weight.
    pub omega: S,
    /// The diagonal.
    pub d: *const S,
    /// Written.
    pub y: *mut S,
    /// Written.
    pub z: *mut S,
}

// SAFETY: plain addresses of device memory; the kernels say who may use them when.
unsafe impl<S: Real> Send for Entry<S> {}
// SAFETY: as above.
unsafe impl<S: Real> Sync for Entry<S> {}

/// The middle of a CG iteration, in one pass over the vectors:
///
/// ```text
/// alpha = rho / (p, A p)      x += alpha p      r -= alpha A p
/// out = [(r, D r), (r, r)]
/// ```
///
/// and the norm of the new residual goes to the monitor. `d` null means D = I. When `(p, A p)` or `rho` is
/// not positive nothing is changed and the guard is raised.
#[kernel(T = [f32, f64], S = [f32, f64], batched)]
pub unsafe fn cg_step<T: Real, S: Real>(
    n: u64,
    rho: *const T,
    p_ap: *const T,
    p: *const T,
    ap: *const T,
    d: *const T,
    x: *mut T,
    r: *mut T,
    entry: Entry<S>,
    reduction: Reduction<T>,
    monitor: Monitor,
) {
    // SAFETY: the launcher's arguments are valid for n elements.
    unsafe {
        if monitor.guard.stopped() {
            return;
        }
        let (rho, p_ap) = (rho.ld(0), p_ap.ld(0));
        let fault = if !rho.is_finite() || !p_ap.is_finite() {
            status::NOT_FINITE
        } else if rho <= T::ZERO {
            status::INDEFINITE_PRECONDITIONER
        } else if p_ap <= T::ZERO {
            status::INDEFINITE_OPERATOR
        } else {
            status::RUNNING
        };
        if fault != status::RUNNING {
            if thread::index_x() == 0 {
                monitor.guard.raise(fault);
            }
            return;
        }
        let alpha = rho / p_ap;
        let mut sums = [T::ZERO; 2];
        let mut i = thread::index_x();
        while i < n as usize {
            let residual = (-alpha).mul_add(ap.ld(i), r.ld(i));
            x.st(i, alpha.mul_add(p.ld(i), x.ld(i)));
            r.st(i, residual);
            if !entry.y.is_null() {
                let rounded = S::from_f64(residual.to_f64());
                entry.y.st(i, rounded);
                if !entry.d.is_null() {
                    entry.z.st(i, entry.omega * entry.d.ld(i) * rounded);
                }
            }
            let preconditioned = if d.is_null() { residual } else { d.ld(i) * residual };
            sums[0] = residual.mul_add(preconditioned, sums[0]);
            sums[1] = residual.mul_add(residual, sums[1]);
            i += thread::stride();
        }
        grid_reduce::<T, Add, 2>(sums, reduction, |[_, square]| monitor.observe(Real::sqrt(square.to_f64())));
    }
}

/// `p = d .* z + beta p`, z rounded to `T`; `d` null means 1. A `beta` that is not finite raises the guard
/// (breakdown).
#[kernel(T = [f32, f64], S = [f32, f64], batched)]
pub unsafe fn direction<T: Real, S: Real>(
    n: u64,
    d: *const T,
    z: *const S,
    beta: Coefficient<T>,
    p: *mut T,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments are valid for n elements.
    unsafe {
        if guard.stopped() {
            return;
        }
        let Some([beta]) = values([beta], guard) else { return };
        let mut i = thread::index_x();
        while i < n as usize {
            let z = T::from_f64(z.ld(i).to_f64());
            let scaled = if d.is_null() { z } else { d.ld(i) * z };
            p.st(i, beta.mul_add(p.ld(i), scaled));
            i += thread::stride();
        }
    }
}

/// `r += a A p`, `z = D^-1 r` and `out = (r, z)` of n nodes with B unknowns, `d` the blocks of `D^-1`: what a
/// step of Lanczos's method has behind its product. Where `ap` is null r stays as it is. A coefficient that
/// is not finite raises the guard instead (breakdown).
#[kernel(T = [f32, f64], B = [1, 2, 3])]
pub unsafe fn lanczos_step<T: Real, const B: usize>(
    n: u64,
    a: Coefficient<T>,
    ap: *const T,
    d: *const T,
    r: *mut T,
    z: *mut T,
    reduction: Reduction<T>,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments are valid for n nodes.
    unsafe {
        if guard.stopped() {
            return;
        }
        let Some([a]) = values([a], guard) else { return };
        let mut sum = T::ZERO;
        let mut i = thread::index_x();
        while i < n as usize {
            let mut residual = [T::ZERO; B];
            for k in 0..B {
                residual[k] = r.ld(B * i + k);
                if !ap.is_null() {
                    residual[k] = a.mul_add(ap.ld(B * i + k), residual[k]);
                    r.st(B * i + k, residual[k]);
                }
            }
            for k in 0..B {
                let mut scaled = T::ZERO;
                for l in 0..B {
                    scaled = d.ld(B * (B * i + k) + l).mul_add(residual[l], scaled);
                }
                z.st(B * i + k, scaled);
                sum = residual[k].mul_add(scaled, sum);
            }
            i += thread::stride();
        }
        grid_reduce::<T, Add, 1>([sum], reduction, |_| ());
    }
}

/// `out` is omega of the step `r - omega t`, [kept](arithmetic::angle::step) from being short:
/// `dots = [(r, t), (t, t)]`, `square = (r, r)`. One thread.
#[kernel(T = [f32, f64])]
pub unsafe fn angle_step<T: Real>(dots: *const T, square: *const T, out: *mut T, guard: Guard) {
    // SAFETY: one thread is launched; the launcher's arguments are valid.
    unsafe {
        if guard.stopped() || thread::index_x() != 0 {
            return;
        }
        out.st(0, step(dots.ld(0), dots.ld(1), square.ld(0)));
    }
}
