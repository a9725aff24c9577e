//! Timing `y = A x` in one format on one device, and checking what comes out.

use std::sync::Arc;

use crate::parallel::*;
use cuda_std::Real;

use super::Device;
use super::timing::{Timing, time};
use crate::backend::gpu::{Gpu, check_memory};
use crate::backend::{Backend, Operator, Storage, Then};
use crate::error::Result;
use crate::matrix::{AnyMatrix, Csr, Format};

/// Vectors that take turns, so that none is still in a cache for having just been used.
const VECTORS: usize = 3;

/// What [`measure`] found.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Times of a product.
    pub timing: Timing,
    /// How the device stores the matrix.
    pub storage: Storage,
    /// Bytes that a product must move: those that the device reads of the matrix as it stores it, and x and y
    /// once each.
    pub bytes: u64,
    /// `max_i |y_i - r_i| / sum_j |a_ij x_j|` with the sequential product `r = A x` in f64.
    pub error: f64,
    /// Whether every row is within the bound of its rounding errors.
    pub correct: bool,
}

/// `A x` with the x of the measurement, in f64, row by row: what every format and device must give.
#[derive(Debug, Clone)]
pub struct Oracle {
    x: Vec<f64>,
    product: Vec<f64>,
    /// `sum_j |a_ij x_j|`, the scale of the rounding errors of row i.
    magnitude: Vec<f64>,
}

impl Oracle {
    /// `x_j = 1 + frac(j phi) / 2`, fractional numbers without a period, and both products.
    pub fn new(a: &Csr<f64>) -> Oracle {
        let x: Vec<f64> =
            (0..a.n_cols()).map(|j| 1.0 + (j as f64 * 0.618_033_988_749_895).fract() / 2.0).collect();
        let magnitude = a.map_values(f64::abs).mul_vec(&x);
        Oracle { product: a.mul_vec(&x), magnitude, x }
    }

    /// The x of the measurement.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// The relative difference of `y`, and whether each row is within `(m + 4) eps` of its magnitude: m
    /// products and sums of a row of m entries, and the rounding of a and x to `T`.
    pub fn compare<T: Real>(&self, a: &Csr<f64>, y: &[T]) -> (f64, bool) {
        let row = |i: usize| {
            let difference = (y[i].to_f64() - self.product[i]).abs();
            let bound = (a.row_len(i) + 4) as f64 * T::EPSILON.to_f64() * self.magnitude[i];
            let relative = if difference == 0.0 { 0.0 } else { difference / self.magnitude[i] };
            // A comparison with NaN is false: NaN is not within the bound.
            (if relative.is_nan() { f64::INFINITY } else { relative }, difference <= bound)
        };
        (0..a.n_rows()).into_par_iter().map(row).reduce(|| (0.0, true), |p, q| (p.0.max(q.0), p.1 && q.1))
    }
}

/// Times `repeat` products (at least one) of `a`, converted to `format`, on `device` in precision `T`.
///
/// On a GPU the time is its own, between two events; on the CPU and in the simulator it is the wall clock's.
///
/// # Errors
/// [`crate::Error::Padding`] and [`crate::Error::Option`] where the format refuses the matrix,
/// [`crate::Error::DeviceMemory`] where the device cannot hold it.
pub fn measure<T: Real>(
    device: &Device,
    a: &Csr<f64>,
    oracle: &Oracle,
    format: Format,
    sigma: usize,
    repeat: usize,
) -> Result<Measurement> {
    let matrix = Arc::new(AnyMatrix::from_csr(&Arc::new(a.cast::<T>()), format, sigma)?);
    match device {
        Device::Cpu(cpu) => cpu.install(|| time_on(cpu, None, a, oracle, &matrix, repeat)),
        Device::Gpu(gpu) => {
            let vectors = (VECTORS * (a.n_rows() + a.n_cols()) * size_of::<T>()) as u64;
            check_memory(&**gpu.device(), &[("matrix", matrix.bytes()), ("vectors", vectors)])?;
            time_on(gpu, Some(gpu), a, oracle, &matrix, repeat)
        }
    }
}

fn time_on<T: Real, B: Backend<T>>(
    backend: &B,
    gpu: Option<&Gpu>,
    a: &Csr<f64>,
    oracle: &Oracle,
    matrix: &Arc<AnyMatrix<T>>,
    repeat: usize,
) -> Result<Measurement> {
    let stored = backend.matrix(matrix)?;
    let x: Vec<T> = oracle.x.iter().map(|&v| T::from_f64(v)).collect();
    let mut vectors = Vec::new();
    for _ in 0..VECTORS {
        let mut y = backend.zeros(a.n_rows())?;
        backend.fill(T::from_f64(f64::NAN), &mut y)?;
        vectors.push((backend.vector(&x)?, y));
    }
    let mut turn = 0;
    let timing = time::<T, B>(backend, gpu, repeat, &mut || {
        let (x, y) = &mut vectors[turn % VECTORS];
        turn += 1;
        backend.multiply(&stored, x, Then::Store { y })
    })?;

    let (mut error, mut correct) = (0.0f64, true);
    for (_, y) in &vectors {
        let (e, within) = oracle.compare(a, &backend.to_host(y)?);
        error = error.max(e);
        correct &= within;
    }
    let storage = Storage::of(&stored, a.nnz(), "as asked for");
    let bytes = stored.traffic() + ((a.n_rows() + a.n_cols()) * size_of::<T>()) as u64;
    Ok(Measurement { timing, storage, bytes, error, correct })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::Cpu;
    use crate::error::Error;
    use crate::problem::random_spd;

    #[test]
    fn every_format_is_measured_and_right_on_cpu_and_simulator() {
        let a = random_spd(97, 5, 3);
        let oracle = Oracle::new(&a);
        for device in [Device::Cpu(Cpu::new(2).unwrap()), Device::Gpu(Gpu::simulated().unwrap())] {
            for (format, sigma) in [(Format::Crs, 1), (Format::Ell, 1), (Format::Sell, 32)] {
                for m in [
                    measure::<f64>(&device, &a, &oracle, format, sigma, 3).unwrap(),
                    measure::<f32>(&device, &a, &oracle, format, sigma, 3).unwrap(),
                ] {
                    assert!(m.correct && m.error < 1e-6, "{format} {m:?}");
                    let seconds = &m.timing.seconds;
                    assert!(seconds.len() == 3 && seconds.is_sorted() && seconds[0] > 0.0);
                    assert_eq!(m.storage.padding.nnz, a.nnz() as u64);
                    assert!(m.bytes > m.storage.traffic);
                    let stored = m.storage.format;
                    let copied = matches!(device, Device::Cpu(_)) && stored == "diagonal runs";
                    assert!(stored == format.to_string() || copied && format == Format::Crs, "{stored}");
                }
            }
        }
    }

    #[test]
    fn a_wrong_row_and_a_missing_row_are_noticed() {
        let a = random_spd(97, 5, 3);
        let oracle = Oracle::new(&a);
        let mut y = oracle.product.clone();
        assert_eq!(oracle.compare(&a, &y), (0.0, true));
        y[96] *= 1.0 + 1e-12;
        let (error, correct) = oracle.compare(&a, &y);
        assert!(!correct && error > 1e-14 && error < 1e-11, "{error}");
        y[96] = f64::NAN;
        assert_eq!(oracle.compare(&a, &y), (f64::INFINITY, false));
    }

    #[test]
    fn a_refused_format_says_so() {
        // One full row among rows of one entry: ELLPACK would be nearly all padding.
        let n = 600;
        let row_ptr = std::iter::once(0).chain((0..n).map(|i| n + i)).collect();
        let col_idx = (0..n as u32).chain(1..n as u32).collect();
        let a = Csr::new(n, n, row_ptr, col_idx, vec![0.5; 2 * n - 1]).unwrap();
        let device = Device::Cpu(Cpu::new(1).unwrap());
        let refused = measure::<f64>(&device, &a, &Oracle::new(&a), Format::Ell, 1, 1);
        assert!(matches!(refused, Err(Error::Padding { .. })), "{refused:?}");
    }
}
