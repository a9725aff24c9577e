//! Modified Gram-Schmidt as the source lists it: f32 with sums in f64, the matrix transposed before and
//! after, or left as it lies (R. Farber: The OpenACC execution model, Dr. Dobb's 2012, example 14 and tables
//! 3, 4).
//!
//! ```text
//! q_k = v_k / ||v_k||,  v_j -= (q_k, v_j) q_k  for j > k
//! ```

use gpu_kernels::BLOCK;
use gpu_kernels::examples::modified::{Layout, modified_normalise, modified_subtract, rearrange};

use super::machine::Clock;
use super::report::{Report, Sizes, Timing};
use super::way::Way;
use crate::backend::Backend;
use crate::backend::cpu::Cpu;
use crate::backend::gpu::{Gpu, Work};
use crate::error::{Error, Result};
use crate::parallel::*;
use crate::problem::random::uniform;

pub(super) const SIZES: Sizes = Sizes {
    ranges: &[("ROWS", 1, 50_000), ("COLUMNS", 1, 50_000)],
    cpu: &[1000, 1000],
    cuda: &[5000, 5000],
    sim: &[40, 40],
    travels: false,
    has_loops: false,
    has_lines: false,
};

/// The least square of a length, and the largest product of two columns, that the source accepts.
const ACCEPTED: [f64; 2] = [0.9, 0.1];

/// What the program is made of.
pub(super) trait Modified: Backend<f32> {
    /// `v_k /= ||v_k||`
    fn normalise_column(&self, layout: Layout, k: usize, v: &mut Self::Vector) -> Result<()>;
    /// `v_j -= (v_k, v_j) v_k` for all `j > k`
    fn subtract_column(&self, layout: Layout, k: usize, v: &mut Self::Vector) -> Result<()>;
    /// `y = x`, from one layout into another
    fn rearrange(&self, from: Layout, to: Layout, x: &Self::Vector, y: &mut Self::Vector) -> Result<()>;
}

/// Row after row, as C has a matrix.
pub(super) fn by_rows(rows: usize, columns: usize) -> Layout {
    Layout { rows: rows as u32, columns: columns as u32, row: columns as u32, column: 1 }
}

/// Column after column: the transposed matrix of C.
pub(super) fn by_columns(rows: usize, columns: usize) -> Layout {
    Layout { rows: rows as u32, columns: columns as u32, row: 1, column: rows as u32 }
}

/// Columns of ROWS elements, uniform in [0, 1).
pub(super) fn run<M: Clock + Modified>(m: &M, sizes: &[usize], _: Way) -> Result<Report> {
    let (rows, columns) = (sizes[0], sizes[1]);
    if columns > rows {
        let why = format!("{columns} columns of {rows} elements are not independent");
        return Err(Error::Option(format!("modified-gram-schmidt: {why}; give as many rows at least")));
    }
    let (lying, transposed) = (by_rows(rows, columns), by_columns(rows, columns));
    // Three arrays of f32, in elements of 8 bytes.
    m.room(3, rows * columns / 2 + 1)?;
    let values: Vec<f32> = (0..rows * columns).into_par_iter().map(|at| uniform(1, at as u64) as f32).collect();
    let a = m.vector(&values)?;
    let (mut q, mut t) = (m.zeros(rows * columns)?, m.zeros(rows * columns)?);
    // Kernels are loaded at their first use.
    m.rearrange(lying, transposed, &a, &mut t)?;
    m.normalise_column(transposed, 0, &mut t)?;
    m.subtract_column(transposed, 0, &mut t)?;

    m.copy(&a, &mut q)?;
    m.synchronize()?;
    let with_transpose = m.seconds(&mut || {
        m.rearrange(lying, transposed, &q, &mut t)?;
        orthogonalise(m, transposed, &mut t)?;
        m.rearrange(transposed, lying, &t, &mut q)
    })?;
    let (first, by_column) = (m.to_host(&q)?, m.to_host(&t)?);
    m.copy(&a, &mut q)?;
    m.synchronize()?;
    let as_it_lies = m.seconds(&mut || orthogonalise(m, lying, &mut q))?;
    let second = m.to_host(&q)?;

    let differ = first.iter().zip(&second).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
    let [shortest, product] = loss(rows, &by_column);
    // A column is read and written once for each in front of it.
    let bytes = 4 * (rows * columns) as u64 * columns as u64;
    let gain = as_it_lies / with_transpose;
    Ok(Report {
        what: format!("modified Gram-Schmidt, {rows} x {columns}, f32 with sums in f64"),
        figures: vec![
            ("shortest", "shortest", shortest, format!("{shortest:.6}, the least (q_k, q_k)")),
            ("product", "products", product, format!("{product:.2e}, the largest (q_j, q_k)")),
            ("differ", "layouts", differ as f64, format!("{differ} elements differ")),
            ("gain", "transposed", gain, format!("{gain:.2} times as fast as where it lies")),
        ],
        timings: vec![
            Timing { label: "transposed before and after", seconds: with_transpose, bytes },
            Timing { label: "where it lies", seconds: as_it_lies, bytes },
        ],
        passed: shortest >= ACCEPTED[0] && product <= ACCEPTED[1] && differ == 0,
        check: format!(
            "(q_k, q_k) is {} or more, (q_j, q_k) at most {}, the layouts agree to the bit",
            ACCEPTED[0], ACCEPTED[1]
        ),
        published: published(rows, columns),
        lines: vec![],
    })
}

fn published(rows: usize, columns: usize) -> Vec<(f64, &'static str)> {
    match (rows, columns) {
        (1000, 1000) => vec![
            (0.227207, "transposed, OpenACC, NVIDIA C2070"),
            (0.75971, "transposed, OpenMP, 4 cores"),
            (2.39342, "transposed, serial"),
            (1.44388, "where it lies, OpenACC, second version"),
            (1.66707, "where it lies, OpenACC"),
            (2.92685, "where it lies, OpenMP, 4 cores"),
            (9.22192, "where it lies, serial"),
        ],
        (5000, 5000) => vec![
            (11.0075, "transposed, OpenACC, NVIDIA C2070"),
            (10.4265, "the same without f64"),
            (87.3252, "transposed, OpenMP, 4 cores"),
        ],
        _ => vec![],
    }
}

/// Makes all columns orthonormal.
pub(super) fn orthogonalise<M: Modified>(m: &M, layout: Layout, v: &mut M::Vector) -> Result<()> {
    (0..layout.columns as usize).try_for_each(|k| {
        m.normalise_column(layout, k, v)?;
        m.subtract_column(layout, k, v)
    })
}

/// The least `(q_k, q_k)` and the largest `(q_j, q_k)` of columns one after another, in f64; NaN if any is.
fn loss(rows: usize, q: &[f32]) -> [f64; 2] {
    let columns: Vec<&[f32]> = q.chunks(rows).collect();
    let of = |k: usize| {
        let product = |j: usize| {
            columns[j].iter().zip(columns[k]).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
        };
        let largest = (0..k).map(product).fold(0.0, |max, x| cuda_std::Real::max_nan(x, max));
        [product(k), largest]
    };
    let each: Vec<[f64; 2]> = (0..columns.len()).into_par_iter().with_min_len(1).map(of).collect();
    let worst = |[a, b]: [f64; 2], [c, d]: [f64; 2]| {
        [-cuda_std::Real::max_nan(-a, -c), cuda_std::Real::max_nan(b, d)]
    };
    each.into_iter().fold([f64::INFINITY, 0.0], worst)
}

/// The elements of all columns, each of which one thread at most writes.
#[derive(Clone, Copy)]
struct Elements(*mut f32);

// SAFETY: whoever uses the pointer sees to it that no element is written by one thread and used by another.
unsafe impl Sync for Elements {}

impl Elements {
    /// # Safety
    /// The element is there, and no other thread writes it.
    unsafe fn get(&self, at: usize) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { *self.0.add(at) }
    }
    /// # Safety
    /// The element is there, and no other thread uses it.
    unsafe fn set(&self, at: usize, value: f32) {
        // SAFETY: the caller's promise.
        unsafe { *self.0.add(at) = value }
    }
}

impl Modified for Cpu {
    fn normalise_column(&self, layout: Layout, k: usize, v: &mut Vec<f32>) -> Result<()> {
        let rows = layout.rows as usize;
        let square = |i: usize| f64::from(v[layout.at(i, k)] * v[layout.at(i, k)]);
        let norm = (0..rows).map(square).sum::<f64>().sqrt();
        for i in 0..rows {
            let v = &mut v[layout.at(i, k)];
            *v = (f64::from(*v) / norm) as f32;
        }
        Ok(())
    }
    fn subtract_column(&self, layout: Layout, k: usize, v: &mut Vec<f32>) -> Result<()> {
        let (rows, columns) = (layout.rows as usize, layout.columns as usize);
        let v = Elements(v.as_mut_ptr());
        (k + 1..columns).into_par_iter().with_min_len(1).for_each(|j| {
            // SAFETY: the array has the layout; a thread writes column j alone, and no thread column k.
            unsafe {
                let product = |i: usize| f64::from(v.get(layout.at(i, k)) * v.get(layout.at(i, j)));
                let h = (0..rows).map(product).sum::<f64>();
                for i in 0..rows {
                    let (at, q) = (layout.at(i, j), f64::from(v.get(layout.at(i, k))));
                    v.set(at, (f64::from(v.get(at)) - h * q) as f32);
                }
            }
        });
        Ok(())
    }
    fn rearrange(&self, from: Layout, to: Layout, x: &Vec<f32>, y: &mut Vec<f32>) -> Result<()> {
        let columns = from.columns as usize;
        let y = Elements(y.as_mut_ptr());
        (0..from.rows as usize).into_par_iter().for_each(|i| {
            for j in 0..columns {
                // SAFETY: the array has the layout, and no two elements are at one place.
                unsafe { y.set(to.at(i, j), x[from.at(i, j)]) };
            }
        });
        Ok(())
    }
}

impl Modified for Gpu {
    fn normalise_column(&self, layout: Layout, k: usize, v: &mut Self::Vector) -> Result<()> {
        // SAFETY: the array was made for the layout.
        unsafe { self.launch_block(&modified_normalise { layout, k: k as u32, v: v.ptr_mut() }) }
    }
    fn subtract_column(&self, layout: Layout, k: usize, v: &mut Self::Vector) -> Result<()> {
        let blocks = layout.columns as usize - 1 - k;
        if blocks == 0 {
            return Ok(());
        }
        let work = Work::moving(blocks * BLOCK as usize, 8 * blocks as u64 * u64::from(layout.rows));
        // SAFETY: the array was made for the layout; there is a column behind k for each block.
        unsafe { self.launch(work, &modified_subtract { layout, k: k as u32, v: v.ptr_mut() }) }
    }
    fn rearrange(&self, from: Layout, to: Layout, x: &Self::Vector, y: &mut Self::Vector) -> Result<()> {
        let n = from.rows as usize * from.columns as usize;
        // SAFETY: the arrays were made for the layouts.
        unsafe { self.launch(Work::on::<f32>(n, 2), &rearrange { from, to, x: x.ptr(), y: y.ptr_mut() }) }
    }
}
