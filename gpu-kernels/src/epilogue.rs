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

/// The end of a sparse matrix-vector kernel of a matrix of B x B blocks. That of single rows will do, for
/// each.
pub trait BlockEpilogue<T: Real, const B: usize>: Copy + Send + Sync + 'static {
    /// As [`Epilogue::REDUCES`].
    const REDUCES: bool = false;

    /// What it reads of block row `i`.
    type Inputs: Copy;

    /// Reads it.
    ///
    /// # Safety
    /// The pointers within are valid for the rows of block row `i`.
    unsafe fn inputs(&self, i: usize) -> Self::Inputs;

    /// Takes the products of block row `i` and returns the contribution to two sums.
    ///
    /// # Safety
    /// As [`Epilogue::row`].
    unsafe fn rows(&self, i: usize, inputs: Self::Inputs, products: [T; B]) -> [T; 2];

    /// As [`Epilogue::finish`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn finish(&self, sums: [T; 2]) {
        let _ = sums;
    }
}

/// Row after row.
macro_rules! by_rows {
    ($($epilogue:ident),*) => {$(
        impl<T: Real, const B: usize> BlockEpilogue<T, B> for $epilogue<T> {
            const REDUCES: bool = <Self as Epilogue<T>>::REDUCES;
            type Inputs = [<Self as Epilogue<T>>::Inputs; B];

            #[inline(always)]
            unsafe fn inputs(&self, i: usize) -> Self::Inputs {
                // SAFETY: the caller's promise.
                core::array::from_fn(|k| unsafe { Epilogue::inputs(self, i * B + k) })
            }

            #[inline(always)]
            unsafe fn rows(&self, i: usize, inputs: Self::Inputs, products: [T; B]) -> [T; 2] {
                let mut sums = [T::ZERO; 2];
                for k in 0..B {
                    // SAFETY: the caller's promise.
                    let [first, second] = unsafe { self.row(i * B + k, inputs[k], products[k]) };
                    sums[0] += first;
                    sums[1] += second;
                }
                sums
            }

            #[inline(always)]
            unsafe fn finish(&self, sums: [T; 2]) {
                // SAFETY: the caller's promise.
                unsafe { Epilogue::finish(self, sums) }
            }
        }
    )*};
}
by_rows!(Product, Accumulate, ProductScaled, Residual, Sweep, SweepNorm, ProductDot);

/// [`ProductScaled`] with blocks on the diagonal of D: B values for each row, those of its row in the block.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BlockProductScaled<T> {
    /// The weight.
    pub omega: T,
    /// Inverse diagonal blocks.
    pub d: *const T,
    /// Written.
    pub y: *mut T,
    /// Written.
    pub z: *mut T,
}

/// [`Sweep`] with blocks on the diagonal of D: block Jacobi (Rosenberger and Haase 2017, section 8.2).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BlockSweep<T> {
    /// The weight.
    pub omega: T,
    /// Inverse diagonal blocks.
    pub d: *const T,
    /// Right-hand side.
    pub b: *const T,
    /// The old iterate.
    pub x: *const T,
    /// The new one.
    pub y: *mut T,
}

/// Block `i` of D.
///
/// # Safety
/// `d` is valid there.
#[inline(always)]
pub unsafe fn diagonal_block<T: Real, const B: usize>(d: *const T, i: usize) -> [[T; B]; B] {
    // SAFETY: the caller's promise.
    core::array::from_fn(|k| core::array::from_fn(|l| unsafe { d.ld_nc((i * B + k) * B + l) }))
}

/// `D x` for one block.
#[inline(always)]
fn times<T: Real, const B: usize>(d: [[T; B]; B], x: [T; B]) -> [T; B] {
    let mut product = [T::ZERO; B];
    for k in 0..B {
        for l in 0..B {
            product[k] = d[k][l].mul_add(x[l], product[k]);
        }
    }
    product
}

impl<T: Real, const B: usize> BlockEpilogue<T, B> for BlockProductScaled<T> {
    type Inputs = [[T; B]; B];

    #[inline(always)]
    unsafe fn inputs(&self, i: usize) -> Self::Inputs {
        // SAFETY: the caller's promise.
        unsafe { diagonal_block(self.d, i) }
    }

    #[inline(always)]
    unsafe fn rows(&self, i: usize, d: Self::Inputs, products: [T; B]) -> [T; 2] {
        let scaled = times(d, products);
        // SAFETY: the caller's promise.
        unsafe {
            for k in 0..B {
                self.y.st(i * B + k, products[k]);
                self.z.st(i * B + k, self.omega * scaled[k]);
            }
        }
        [T::ZERO; 2]
    }
}

impl<T: Real, const B: usize> BlockEpilogue<T, B> for BlockSweep<T> {
    /// D, b, x
    type Inputs = ([[T; B]; B], [T; B], [T; B]);

    #[inline(always)]
    unsafe fn inputs(&self, i: usize) -> Self::Inputs {
        // SAFETY: the caller's promise.
        unsafe {
            let block_row = |v: *const T| core::array::from_fn(|k| v.ld(i * B + k));
            (diagonal_block(self.d, i), block_row(self.b), block_row(self.x))
        }
    }

    #[inline(always)]
    unsafe fn rows(&self, i: usize, (d, b, x): Self::Inputs, products: [T; B]) -> [T; 2] {
        let mut residual = b;
        for k in 0..B {
            residual[k] -= products[k];
        }
        let correction = times(d, residual);
        for k in 0..B {
            // SAFETY: the caller's promise.
            unsafe { self.y.st(i * B + k, self.omega.mul_add(correction[k], x[k])) };
        }
        [T::ZERO; 2]
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
device_struct!(
    Product,
    Accumulate,
    ProductScaled,
    Residual,
    Sweep,
    SweepNorm,
    ProductDot,
    BlockProductScaled,
    BlockSweep
);

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
        unsafe { Epilogue::inputs(&self.sweep, i) }
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
