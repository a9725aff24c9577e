//! A kernel in CUDA C++ beside kernels in Rust: conjugate gradients whose product is the source documents'
//! `linear_operator_SR`, on the solver's own vectors and matrix.
//!
//! `examples/native_cuda/linear_operator.cu` is the source; `scripts/native_ptx.py` made the PTX beside it.
//! `cargo run --release --example native_cuda` solves with this product and with the one in Rust, and prints
//! how long a product takes in each, on the same matrix.

use std::sync::Arc;

use warpsolve::backend::gpu::{Argument, Arrangement, DeviceMatrix, DeviceVector, Gpu, NativeModule};
use warpsolve::backend::prelude::*;
use warpsolve::matrix::{AnyMatrix, Csr, Ell};
use warpsolve::{Error, Result, problem};

/// What NVIDIA's compiler made of `linear_operator.cu`.
const PTX: &str = include_str!("native_cuda/linear_operator.ptx");
/// Threads of a block.
const BLOCK: u32 = 256;

// ANCHOR: product
/// The product v = A u by the kernel in CUDA C++.
pub struct NativeProduct {
    module: NativeModule,
}

impl NativeProduct {
    /// Loads the kernel beside those of `gpu`.
    pub fn new(gpu: &Gpu) -> Result<NativeProduct> {
        Ok(NativeProduct { module: gpu.attach(PTX.as_bytes())? })
    }

    /// `v = A u`: v is zeroed, and the kernel adds, as the documents do it.
    pub fn multiply(
        &self,
        gpu: &Gpu,
        a: &DeviceMatrix<f64>,
        u: &DeviceVector<f64>,
        v: &mut DeviceVector<f64>,
        n: usize,
    ) -> Result<()> {
        let addresses = a.addresses().ok_or_else(|| Error::Option("no addresses in this format".into()))?;
        let Arrangement::Ell { width, stride } = addresses.arrangement else {
            return Err(Error::Option("the kernel multiplies matrices in ELLPACK".into()));
        };
        gpu.fill(0.0, v)?;
        let arguments = [
            Argument::U32(n as u32),
            Argument::U32(stride as u32),
            Argument::U32(width as u32),
            Argument::Pointer(addresses.col_idx),
            Argument::Pointer(addresses.values),
            Argument::Pointer(u.as_device_ptr().as_raw()),
            Argument::Pointer(v.as_device_ptr().as_raw()),
        ];
        let grid = [(n as u32).div_ceil(BLOCK), 1, 1];
        // SAFETY: these are the kernel's arguments; u and v have n elements, and the matrix n rows and
        // columns.
        unsafe { self.module.launch("linear_operator_sr", grid, [BLOCK, 1, 1], 0, &arguments) }
    }
}
// ANCHOR_END: product

const RHO: Slot = Slot(0);
const P_AP: Slot = Slot(1);
const NEXT: Slot = Slot(2);

/// Conjugate gradients with a product of one's own, to `||b - A x|| <= rtol ||b||` or for so many iterations
/// at most; x, and the iterations. Everything but the product is kernels in Rust, on the same stream: nothing
/// waits between the two.
pub fn cg(
    gpu: &Gpu,
    n: usize,
    b: &[f64],
    (rtol, max_iterations): (f64, u32),
    mut multiply: impl FnMut(&DeviceVector<f64>, &mut DeviceVector<f64>) -> Result<()>,
) -> Result<(Vec<f64>, u32)> {
    let (mut x, mut r, mut ap) = (gpu.zeros(n)?, gpu.vector(b)?, gpu.zeros(n)?);
    let mut p = gpu.vector(b)?;
    let s = gpu.scalars(3)?;
    gpu.dot(&r, &r, &s, RHO)?;
    let target = rtol * rtol * gpu.read(&s, RHO)?;
    for k in 1..=max_iterations {
        // alpha = (r, r) / (p, A p); beta = (r, r)_next / (r, r)
        multiply(&p, &mut ap)?;
        gpu.dot(&p, &ap, &s, P_AP)?;
        let alpha = Coef::ratio(RHO, P_AP);
        gpu.axpby(&s, alpha, &p, Coef::ONE, &mut x)?;
        gpu.axpby(&s, alpha.negated(), &ap, Coef::ONE, &mut r)?;
        gpu.dot(&r, &r, &s, NEXT)?;
        gpu.direction(&s, None, &r, Coef::ratio(NEXT, RHO), &mut p)?;
        gpu.dot(&r, &r, &s, RHO)?;
        if gpu.read(&s, RHO)? <= target {
            return Ok((gpu.to_host(&x)?, k));
        }
    }
    Ok((gpu.to_host(&x)?, max_iterations))
}

/// Iterations and x with the product in CUDA C++, and with the one in Rust.
pub fn compare(gpu: &Gpu, a: &Csr<f64>, b: &[f64]) -> Result<[(Vec<f64>, u32); 2]> {
    let n = a.n_rows();
    let native = NativeProduct::new(gpu)?;
    let a = matrix(gpu, a)?;
    let stop = (1e-8, 2000);
    let by_native = cg(gpu, n, b, stop, |u, v| native.multiply(gpu, &a, u, v, n))?;
    let by_rust = cg(gpu, n, b, stop, |u, v| gpu.multiply(&a, u, Then::Store { y: v }))?;
    Ok([by_native, by_rust])
}

/// A matrix in ELLPACK on the device.
pub fn matrix(gpu: &Gpu, a: &Csr<f64>) -> Result<DeviceMatrix<f64>> {
    gpu.matrix(&Arc::new(AnyMatrix::Ell(Ell::from_csr(a)?)))
}

/// Seconds of a product, by the device's clock, over 100 of them.
pub fn seconds(gpu: &Gpu, mut product: impl FnMut() -> Result<()>) -> Result<f64> {
    product()?;
    let start = gpu.device().record()?;
    (0..100).try_for_each(|_| product())?;
    let end = gpu.device().record()?;
    Ok(gpu.device().elapsed(&start, &end)? / 100.0)
}

fn main() -> Result<()> {
    let gpu = match warpsolve::open_gpu(0) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("a kernel in CUDA C++ runs on a GPU, and not in the simulator: {error}");
            return Ok(());
        }
    };
    let a = problem::generate(&"tet:96".parse()?, 0)?;
    let n = a.n_rows();
    let [native, rust] = compare(&gpu, &a, &vec![1.0; n])?;
    println!("{} rows, {} nonzeros, on {}", n, a.nnz(), gpu.device().info().name);
    println!("CG: {} iterations with CUDA C++, {} with Rust", native.1, rust.1);
    let (on_device, product) = (matrix(&gpu, &a)?, NativeProduct::new(&gpu)?);
    let (u, mut v) = (gpu.vector(&vec![1.0; n])?, gpu.zeros(n)?);
    let zeroing = seconds(&gpu, || gpu.fill(0.0, &mut v))?;
    let by_native = seconds(&gpu, || product.multiply(&gpu, &on_device, &u, &mut v, n))?;
    let by_rust = seconds(&gpu, || gpu.multiply(&on_device, &u, Then::Store { y: &mut v }))?;
    println!(
        "v = A u: {by_native:.3e} s in CUDA C++ (zeroing v: {zeroing:.3e} s of it), {by_rust:.3e} s in Rust"
    );
    println!("published, a short simulation: CUDA and OpenACC 235.6 s, OpenACC 239.0 s, CUDA 106.9 s");
    Ok(())
}
