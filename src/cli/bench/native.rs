//! The table of a kernel in CUDA C++ beside the one in Rust: products, and CG with either, on one matrix.

use std::time::Instant;

use warpsolve::backend::gpu::{DeviceMatrix, DeviceVector, Gpu};
use warpsolve::backend::prelude::*;
use warpsolve::job::spmv::Oracle;
use warpsolve::job::{Device, Precision, Timing, relative_residual};
use warpsolve::matrix::{Csr, Format};
use warpsolve::{Error, Result};

use super::native_cuda::{NativeProduct, cg, matrix, seconds};
use super::published::{self, Language};
use super::report::{Figures, Row, Spread};
use super::shared::{Bench, row};

/// Times that 100 products are measured.
const PRODUCTS: u32 = 10;
/// Times that a solve is measured.
const SOLVES: u32 = 5;

impl Bench {
    /// A product and a solve in each language on each device.
    pub fn native(&self, a: &Csr<f64>) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for device in &self.devices {
            for language in [Language::Cuda, Language::Rust] {
                let name = language.name();
                self.progress.working(format!("kernel in {name}"));
                let mut add = |work: &str, published, figures| {
                    let work = format!("{work}, kernel in {name}");
                    let made = row(&work, device, Some(Format::Ell), Precision::F64, published, figures);
                    made.map(|row| rows.push(row))
                };
                let products = product(device, a, language, self.setting.repeat.unwrap_or(PRODUCTS));
                add("v = A u", Vec::new(), products)?;
                let solves = self.setting.solves.unwrap_or(SOLVES);
                let stop = (self.setting.rtol, self.setting.max_iter);
                let solves = solve(device, a, language, stop, solves);
                add("CG", published::native(language), solves)?;
            }
        }
        Ok(rows)
    }
}

/// The product `v = A u` on a device.
struct Product<'a> {
    gpu: &'a Gpu,
    n: usize,
    a: DeviceMatrix<f64>,
    /// The kernel in CUDA C++, if it is that one.
    native: Option<NativeProduct>,
}

impl Product<'_> {
    fn new<'a>(device: &'a Device, a: &Csr<f64>, language: Language) -> Result<Product<'a>> {
        let refused = |why: &str| Error::Option(format!("a kernel in {} {why}", language.name()));
        let where_it_runs = match language {
            Language::Rust => "runs on a GPU or in the simulator, and this is the CPU",
            Language::Cuda => "runs on a GPU, and this is the CPU",
        };
        let gpu = device.gpu().ok_or_else(|| refused(where_it_runs))?;
        let native = match language {
            Language::Rust => None,
            Language::Cuda if gpu.cuda().is_none() => {
                return Err(refused("runs on a GPU; the simulator runs those in Rust"));
            }
            Language::Cuda => Some(NativeProduct::new(gpu)?),
        };
        Ok(Product { gpu, n: a.n_rows(), a: matrix(gpu, a)?, native })
    }

    fn multiply(&self, u: &DeviceVector<f64>, v: &mut DeviceVector<f64>) -> Result<()> {
        match &self.native {
            Some(native) => native.multiply(self.gpu, &self.a, u, v, self.n),
            None => self.gpu.multiply(&self.a, u, Then::Store { y: v }),
        }
    }

    /// Bytes of the matrix and of `count` vectors.
    fn bytes(&self, count: usize) -> u64 {
        self.a.bytes() + (count * self.n * size_of::<f64>()) as u64
    }
}

/// Times 100 products `repeat` times.
fn product(device: &Device, a: &Csr<f64>, language: Language, repeat: u32) -> Result<Figures> {
    let product = Product::new(device, a, language)?;
    let (gpu, oracle) = (product.gpu, Oracle::new(a));
    let (u, mut v) = (gpu.vector(oracle.x())?, gpu.zeros(product.n)?);
    let of_100 = |_| seconds(gpu, || product.multiply(&u, &mut v));
    let times = (0..repeat).map(of_100).collect::<Result<Vec<_>>>()?;
    let (error, correct) = oracle.compare(a, &gpu.to_host(&v)?);
    let operations = Some(2 * a.nnz() as u64);
    Ok(Figures { operations, ..figures(times, error, correct, product.bytes(2)) })
}

/// Solves `A x = b` by CG `repeat` times, after once that does not count; b is that of some x, so that there
/// is a solution also where A is singular.
fn solve(
    device: &Device,
    a: &Csr<f64>,
    language: Language,
    stop: (f64, u32),
    repeat: u32,
) -> Result<Figures> {
    let product = Product::new(device, a, language)?;
    let (n, b) = (product.n, a.mul_vec(Oracle::new(a).x()));
    let run = || cg(product.gpu, n, &b, stop, |u, v| product.multiply(u, v));
    let (x, iterations) = run()?;
    let timed = |_| {
        let start = Instant::now();
        run().map(|_| start.elapsed().as_secs_f64())
    };
    let times = (0..repeat).map(timed).collect::<Result<Vec<_>>>()?;
    let error = relative_residual(a, &x, &b);
    // 15 vectors for a product, sums and updates.
    let bytes = u64::from(iterations) * product.bytes(15);
    // What a recurrence has for the residual may differ from the true one by rounding.
    let converged = error <= 2.0 * stop.0;
    let stopped = (!converged).then(|| "iteration limit reached".into());
    Ok(Figures { iterations: Some(iterations), stopped, ..figures(times, error, converged, bytes) })
}

fn figures(seconds: Vec<f64>, error: f64, correct: bool, bytes: u64) -> Figures {
    Figures {
        time: Spread::from(&Timing::of(seconds)),
        setup: None,
        iterations: None,
        error,
        correct,
        stopped: None,
        bytes,
        operations: None,
        copies: None,
        kernels: Vec::new(),
        history: Vec::new(),
    }
}
