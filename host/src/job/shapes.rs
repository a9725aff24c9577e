//! The product `y = A x` in SELL with slices of 32, 64 and 128 rows, in blocks of any number of threads: what
//! the shape of a launch is worth (S. Rosenberger, G. Haase: GPU parallelization for unstructured sparse
//! matrix problems, SFB-Report 2017-010, sections 3 and 8.1, who cannot choose it).
//!
//! Solvers take slices of [`SLICE`](crate::matrix::SLICE) rows, a warp, and blocks of 256 threads.

use gpu_kernels::spmv::height::slices_of;

use super::Device;
use super::spmv::Oracle;
use super::timing::{Timing, time};
use crate::backend::gpu::{Buffer, Gpu, Work, check_memory};
use crate::backend::{Memory, Vectors};
use crate::error::{Error, Result};
use crate::matrix::Csr;

/// Rows of a slice.
pub const HEIGHTS: [usize; 3] = [32, 64, 128];
/// Threads of a block.
pub const BLOCKS: [u32; 4] = [64, 128, 256, 512];

/// What [`measure`] found.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Times of a product.
    pub timing: Timing,
    /// As of [`spmv::Measurement`](super::spmv::Measurement).
    pub error: f64,
    /// Whether every row is within the bound of its rounding errors.
    pub correct: bool,
    /// Bytes that a product must move, padding counted.
    pub bytes: u64,
}

/// A matrix in slices of `height` rows, in the order of the rows.
struct Slices {
    slice_ptr: Vec<u64>,
    col_idx: Vec<u32>,
    values: Vec<f64>,
}

impl Slices {
    /// Entry j of row i is at `slice_ptr[i / height] + height j + i % height`; padding is 0 in column 0.
    fn of(a: &Csr<f64>, height: usize) -> Slices {
        let mut slice_ptr = vec![0u64];
        let mut end = 0;
        for first in (0..a.n_rows()).step_by(height) {
            let rows = first..a.n_rows().min(first + height);
            end += height * rows.map(|i| a.row_len(i)).max().unwrap_or(0);
            slice_ptr.push(end as u64);
        }
        let (mut col_idx, mut values) = (vec![0; end], vec![0.0; end]);
        for i in 0..a.n_rows() {
            let (columns, entries) = a.row(i);
            let start = slice_ptr[i / height] as usize + i % height;
            for (j, (&column, &value)) in columns.iter().zip(entries).enumerate() {
                (col_idx[start + j * height], values[start + j * height]) = (column, value);
            }
        }
        Slices { slice_ptr, col_idx, values }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.slice_ptr[..]) + size_of_val(&self.col_idx[..]) + size_of_val(&self.values[..])
    }
}

/// Times `repeat` products in f64 with slices of `height` rows, one of [`HEIGHTS`], in blocks of `block`
/// threads, one of [`BLOCKS`].
///
/// # Errors
/// [`Error::Option`] on the CPU, which has no blocks, and for another height or block;
/// [`Error::DeviceMemory`] where the device cannot hold matrix and vectors.
pub fn measure(
    device: &Device,
    a: &Csr<f64>,
    oracle: &Oracle,
    (height, block): (usize, u32),
    repeat: usize,
) -> Result<Measurement> {
    let Device::Gpu(gpu) = device else {
        return Err(Error::Option("slices and blocks are those of a GPU, and this is the CPU".into()));
    };
    if !HEIGHTS.contains(&height) || !BLOCKS.contains(&block) {
        let given = format!("slices of {height} rows in blocks of {block} threads");
        return Err(Error::Option(format!(
            "{given}: use 32, 64 or 128 rows and 64, 128, 256 or 512 threads"
        )));
    }
    let slices = Slices::of(a, height);
    let bytes = slices.bytes() + (a.n_rows() + a.n_cols()) * size_of::<f64>();
    check_memory(&**gpu.device(), &[("matrix and vectors", bytes as u64)])?;
    let work = Work::moving(a.n_rows(), bytes as u64);
    let (timing, y) = on_gpu(gpu, &slices, (height, block), work, oracle.x(), repeat)?;
    let (error, correct) = oracle.compare(a, &y);
    Ok(Measurement { timing, error, correct, bytes: bytes as u64 })
}

fn on_gpu(
    gpu: &Gpu,
    slices: &Slices,
    (height, block): (usize, u32),
    work: Work,
    x: &[f64],
    repeat: usize,
) -> Result<(Timing, Vec<f64>)> {
    let (n_rows, device) = (work.threads, gpu.device());
    let slice_ptr = Buffer::from_slice(device, &slices.slice_ptr)?;
    let col_idx = Buffer::from_slice(device, &slices.col_idx)?;
    let values = Buffer::from_slice(device, &slices.values)?;
    let (x, mut y) = (gpu.vector(x)?, Memory::<f64>::zeros(gpu, n_rows)?);
    gpu.fill(f64::NAN, &mut y)?;
    let out = y.ptr_mut();
    macro_rules! product {
        ($height:literal) => {{
            let kernel = slices_of::<$height> {
                n_rows: n_rows as u64,
                slice_ptr: slice_ptr.address as *const u64,
                col_idx: col_idx.address as *const u32,
                values: values.address as *const f64,
                x: x.ptr(),
                y: out,
            };
            // SAFETY: the matrix is valid, and the vectors have as many elements as it has rows and columns.
            unsafe { gpu.launch_in_blocks_of(block, work, &kernel) }
        }};
    }
    let timing = time::<f64, Gpu>(gpu, Some(gpu), repeat, &mut || match height {
        32 => product!(32),
        64 => product!(64),
        _ => product!(128),
    })?;
    Ok((timing, gpu.to_host(&y)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::Cpu;
    use crate::launch::sim::Sim;
    use crate::problem::random_spd;
    use std::sync::Arc;

    #[test]
    fn every_shape_gives_the_product() {
        let device = Device::Gpu(Gpu::new(Arc::new(Sim::strict())).unwrap());
        for n in [1, 97, 300] {
            let a = random_spd(n, 5, 3);
            let oracle = Oracle::new(&a);
            for height in HEIGHTS {
                for block in BLOCKS {
                    let m = measure(&device, &a, &oracle, (height, block), 1).unwrap();
                    assert!(m.correct && m.bytes >= 12 * a.nnz() as u64, "{n}, {height}, {block}: {m:?}");
                }
            }
        }
        let a = random_spd(9, 5, 3);
        let cpu = Device::Cpu(Cpu::new(1).unwrap());
        for (device, shape) in [(&device, (16, 64)), (&device, (32, 65)), (&cpu, (32, 64))] {
            let refused = measure(device, &a, &Oracle::new(&a), shape, 1);
            assert!(matches!(refused, Err(Error::Option(_))), "{refused:?}");
        }
    }
}
