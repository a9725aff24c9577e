//! What becomes of a row's product `(A x)_i`: the one place where the kernels of all formats differ in
//! what they compute.

use cuda_std::{Real, memory::*};

use crate::monitor::Monitor;
use crate::reduce::{Add, Reduction, grid_reduce};

/// The end of a sparse matrix-vector kernel.
pub trait Epilogue<T: Real>: Copy + Send + Sync + 'static {
    /// Whether [`Epilogue::finish`] reduces, so that the grid must fit the scratch memory.
    const REDUCES: bool = false;

    /// What it reads of row `i`.
    type Inputs: Copy;

    /// Reads it: before the product, so that the latencies overlap.
    ///
    /// # Safety
    /// The pointers within are valid for row `i`.
    unsafe fn inputs(&self, i: usize) -> Self::Inputs;

    /// Takes the product of row `i` and returns the row's contribution to two sums.
    ///
    /// # Safety
    /// The pointers within are valid for row `i`, which no other thread handles.
    unsafe fn row(&self, i: usize, inputs: Self::Inputs, product: T) -> [T; 2];

    /// Reduces the threads' sums over the grid, where there are any.
    ///
    /// # Safety
    /// Every thread of the grid calls this once, after its rows.
    #[inline(always)]
    unsafe fn finish(&self, sums: [T; 2]) {
        let _ = sums;
    }
}

/// `y = A x`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Product<T> {
    /// Written.
    pub y: *mut T,
}

/// `y = y + A x`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Accumulate<T> {
    /// Read and written.
    pub y: *mut T,
}

/// `y = A x`, `z = omega d .* y`: a multigrid restriction with the next level's first Jacobi sweep from zero.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ProductScaled<T> {
    /// The weight.
    pub omega: T,
    /// Inverse diagonal.
    pub d: *const T,
    /// Written.
    pub y: *mut T,
    /// Written.
    pub z: *mut T,
}

/// `r = b - A x`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Residual<T> {
    /// Right-hand side.
    pub b: *const T,
    /// Written.
    pub r: *mut T,
}

/// One weighted Jacobi sweep, `y = x + omega D^-1 (b - A x)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sweep<T> {
    /// The weight.
    pub omega: T,
    /// Inverse diagonal.
    pub d: *const T,
    /// Right-hand side.
    pub b: *const T,
    /// The present iterate (the vector that is multiplied).
    pub x: *const T,
    /// The next iterate.
    pub y: *mut T,
}

/// A [`Sweep`] that also enters `||b - A x||_2` of the present iterate into the monitor.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SweepNorm<T> {
    /// The sweep.
    pub sweep: Sweep<T>,
    /// `out[0] = ||b - A x||^2`.
    pub reduction: Reduction<T>,
    /// Decides whether to go on.
    pub monitor: Monitor,
}

/// `y = A x` with `out = [(w, y), (y, y)]`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ProductDot<T> {
    /// Written.
    pub y: *mut T,
    /// The other factor of the first dot product.
    pub w: *const T,
    /// Where the sums go.
    pub reduction: Reduction<T>,
}

// The pointers name device memory; every thread of a grid shares them.
macro_rules! device_struct {
    ($($name:ident),*) => {$(
        // SAFETY: plain addresses; the kernels say who may use them when.
        unsafe impl<T: Real> Send for $name<T> {}
        // SAFETY: as above.
        unsafe impl<T: Real> Sync for $name<T> {}
    )*};
}
device_struct!(Product, Accumulate, ProductScaled, Residual, Sweep, SweepNorm, ProductDot);

impl<T: Real> Epilogue<T> for Product<T> {
    type Inputs = ();

    #[inline(always)]
    unsafe fn inputs(&self, _i: usize) {}

    #[inline(always)]
    unsafe fn row(&self, i: usize, _inputs: (), product: T) -> [T; 2] {
        // SAFETY: the caller's promise.
        unsafe { self.y.st(i, product) };
        [T::ZERO; 2]
    }
}

impl<T: Real> Epilogue<T> for Accumulate<T> {
    type Inputs = T;

    #[inline(always)]
    unsafe fn inputs(&self, i: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.y.ld(i) }
    }

    #[inline(always)]
    unsafe fn row(&self, i: usize, y: T, product: T) -> [T; 2] {
        // SAFETY: the caller's promise.
        unsafe { self.y.st(i, y + product) };
        [T::ZERO; 2]
    }
}

impl<T: Real> Epilogue<T> for ProductScaled<T> {
    type Inputs = T;

    #[inline(always)]
    unsafe fn inputs(&self, i: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.d.ld(i) }
    }

    #[inline(always)]
    unsafe fn row(&self, i: usize, d: T, product: T) -> [T; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            self.y.st(i, product);
            self.z.st(i, self.omega * d * product);
        }
        [T::ZERO; 2]
    }
}

impl<T: Real> Epilogue<T> for Residual<T> {
    type Inputs = T;

    #[inline(always)]
    unsafe fn inputs(&self, i: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.b.ld(i) }
    }

    #[inline(always)]
    unsafe fn row(&self, i: usize, b: T, product: T) -> [T; 2] {
        // SAFETY: the caller's promise.
        unsafe { self.r.st(i, b - product) };
        [T::ZERO; 2]
    }
}

impl<T: Real> Epilogue<T> for Sweep<T> {
    /// `[b, d, x]`
    type Inputs = [T; 3];

    #[inline(always)]
    unsafe fn inputs(&self, i: usize) -> [T; 3] {
        // SAFETY: the caller's promise.
        unsafe { [self.b.ld(i), self.d.ld(i), self.x.ld(i)] }
    }

    /// Contributes the square of the present residual to the first sum.
    #[inline(always)]
    unsafe fn row(&self, i: usize, [b, d, x]: [T; 3], product: T) -> [T; 2] {
        let residual = b - product;
        // SAFETY: the caller's promise.
        unsafe { self.y.st(i, (self.omega * d).mul_add(residual, x)) };
        [residual * residual, T::ZERO]
    }
}

impl<T: Real> Epilogue<T> for SweepNorm<T> {
    const REDUCES: bool = true;
    type Inputs = [T; 3];

    #[inline(always)]
    unsafe fn inputs(&self, i: usize) -> [T; 3] {
        // SAFETY: the caller's promise.
        unsafe { self.sweep.inputs(i) }
    }

    #[inline(always)]
    unsafe fn row(&self, i: usize, inputs: [T; 3], product: T) -> [T; 2] {
        // SAFETY: the caller's promise.
        unsafe { self.sweep.row(i, inputs, product) }
    }

    #[inline(always)]
    unsafe fn finish(&self, sums: [T; 2]) {
        let monitor = self.monitor;
        // SAFETY: the caller's promise.
        unsafe {
            grid_reduce::<T, Add, 1>([sums[0]], self.reduction, |[square]| {
                monitor.observe(Real::sqrt(square.to_f64()))
            })
        }
    }
}

impl<T: Real> Epilogue<T> for ProductDot<T> {
    const REDUCES: bool = true;
    type Inputs = T;

    #[inline(always)]
    unsafe fn inputs(&self, i: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { self.w.ld(i) }
    }

    #[inline(always)]
    unsafe fn row(&self, i: usize, w: T, product: T) -> [T; 2] {
        // SAFETY: the caller's promise.
        unsafe { self.y.st(i, product) };
        [w * product, product * product]
    }

    #[inline(always)]
    unsafe fn finish(&self, sums: [T; 2]) {
        // SAFETY: the caller's promise.
        unsafe { grid_reduce::<T, Add, 2>(sums, self.reduction, |_| ()) }
    }
}
