//! Threads of the host, through rayon.
//!
//! Rows are handled in chunks of a fixed size and partial sums are added in the order of the chunks, so that
//! results do not depend on the number of threads.

use std::sync::Arc;

use crate::parallel::*;
use cuda_std::Real;

use super::host::{HostBackend, HostGuard};
use crate::error::Result;
use crate::matrix::Csr;
use crate::matrix::rounding::{Pivot, Rounding};
use crate::pages::in_large_pages;

mod beside;
mod chunk;
mod diagonal_runs;
mod entry;
mod matrix;
mod pages;
mod products;
mod threads;
mod vectors;

pub(crate) use chunk::CHUNK;
pub(crate) use vectors::{dot, scaled};

pub(crate) use beside::Beside;
pub use matrix::CpuMatrix;
use threads::Pool;
pub use threads::check_threads;

/// The threaded backend.
#[derive(Debug, Clone)]
pub struct Cpu {
    pool: Pool,
    pub(crate) guard: HostGuard,
}

impl Cpu {
    /// A backend with `threads` threads of its own; 0 means one for each core.
    ///
    /// Too many are refused, see [`check_threads`].
    pub fn new(threads: usize) -> Result<Self> {
        Ok(Cpu { pool: Pool::new(threads)?, guard: HostGuard::default() })
    }

    /// A backend in the thread pool of its caller, or else in rayon's global one: it starts no threads.
    pub fn shared() -> Self {
        Cpu { pool: Pool::Shared, guard: HostGuard::default() }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// Runs `work` on the pool. A solve inside it pays for waking the threads once, not at every primitive.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// The matrix in CRS with its values rounded, as [`Backend::matrix`] makes it.
    pub(crate) fn rounded<S: Real, T: Real>(&self, a: &Arc<Csr<S>>) -> CpuMatrix<T> {
        self.pool.install(|| CpuMatrix::rounded(a))
    }

    /// The matrix, in a format that was chosen for this reason.
    pub(crate) fn chosen<T: Real>(&self, matrix: CpuMatrix<T>, reason: String) -> CpuMatrix<T> {
        matrix.chosen(reason)
    }

    /// The rounded matrix.
    pub(crate) fn compressed<S: Real, T: Real>(&self, rounding: &Rounding<S>, pivot: Pivot) -> CpuMatrix<T> {
        self.pool.install(|| CpuMatrix::compressed(rounding, pivot))
    }

    // These take `dyn Fn`, so that rayon's loop is compiled once for a type. A call is for a whole chunk.

    /// `f(first row, chunk of y)` for every chunk of `y`.
    pub(crate) fn each<T: Real>(&self, y: &mut [T], f: &(dyn Fn(usize, &mut [T]) + Sync)) {
        self.pool.install(|| y.par_chunks_mut(CHUNK).enumerate().for_each(|(c, y)| f(c * CHUNK, y)));
    }

    /// Adds up `f` over the chunks of `0..n`, in their order.
    pub(crate) fn sum_over<T: Real, const K: usize>(
        &self,
        n: usize,
        f: &(dyn Fn(std::ops::Range<usize>) -> [T; K] + Sync),
    ) -> [T; K] {
        let chunk = |c: usize| f(c * CHUNK..((c + 1) * CHUNK).min(n));
        let partials: Vec<[T; K]> =
            self.pool.install(|| (0..n.div_ceil(CHUNK)).into_par_iter().map(chunk).collect());
        total(&partials)
    }
}

/// The sums of partial sums, in their order.
pub(crate) fn total<T: Real, const K: usize>(partials: &[[T; K]]) -> [T; K] {
    let mut total = [T::ZERO; K];
    for partial in partials {
        for k in 0..K {
            total[k] += partial[k];
        }
    }
    total
}

impl HostBackend for Cpu {
    fn guard(&self) -> &HostGuard {
        &self.guard
    }
    fn with_guard(&self, guard: HostGuard) -> Self {
        Cpu { pool: self.pool.clone(), guard }
    }
    fn zeros_in_memory<T: Real>(&self, n: usize) -> Vec<T> {
        in_large_pages(vec![T::ZERO; n])
    }
}
