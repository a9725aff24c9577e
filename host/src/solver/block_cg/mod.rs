//! Block conjugate gradients for several right-hand sides (O'Leary 1980), with residuals that are kept
//! orthonormal (Dubrulle 2001, algorithm BCGrQ; here with a preconditioner), for symmetric positive definite
//! A and M.
//!
//! ```text
//! Q C = B - A X,  Q^T M Q = I,  D = M Q
//! S = (D^T A D)^-1,  X += D S C,  R Q' = Q - A D S with Q'^T M Q' = I,  C = R C,  D = M Q' + D R^T
//! ```
//!
//! The columns search in the same space, which grows by a direction for each of them in every iteration. A
//! column of Q that depends on those before it becomes 0 and stays 0, as it does when right-hand sides depend
//! on each other: then the others carry its residual.

use arithmetic::block_cg::{MOST, unit};
use cuda_std::Real;

use super::columns::ColumnsSolver;
use super::description::Description;
use super::iterative::{OnProgress, Parts};
use super::outcome::Outcome;
use super::run::Run;
use crate::backend::{Columns, Memory, Monitoring, OneColumn, Products, Then, Vectors};
use crate::error::Result;
use crate::precond::{Preconditioner, Shape};

mod device;
mod host;
mod rows;
mod steps;
#[cfg(test)]
mod tests;

pub use steps::{BlockCgSteps, Watched};
use steps::{C, D_AD, OF_Q, OF_X, Q_MQ, Q_Q, R_INVERSE, R_TRANSPOSED, SLOTS};

pub(super) const DESCRIPTION: Description = Description {
    doc: "CG for several right-hand sides, which search in the same space",
    needs_symmetry: true,
    ..Description::new("block-cg", "block CG", |_, is_fused| if is_fused { 3 } else { 4 })
};

// A block of one is CG.
pub(super) use super::cg::make;

/// Block CG with its workspace: 3 vectors for each column, and the small matrices.
pub struct BlockCg<T: Real, B: BlockCgSteps<T> + OneColumn> {
    q: Block<T, B>,
    d: Block<T, B>,
    /// A D, then M Q.
    w: Block<T, B>,
    scalars: B::Scalars,
}

type Block<T, B> = <Columns<B> as Memory<T>>::Vector;

impl<T: Real, B: BlockCgSteps<T> + OneColumn> BlockCg<T, B> {
    /// A workspace for `n` unknowns and as many right-hand sides as the backend has columns, up to 8.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(backend: &Columns<B>, n: usize) -> Result<Self> {
        let zeros = || Memory::<T>::zeros(backend, n);
        let scalars = backend.backends[0].scalars(SLOTS)?;
        Ok(BlockCg { q: zeros()?, d: zeros()?, w: zeros()?, scalars })
    }

    /// `X += D S C,  Q -= A D S`.
    fn step(
        &mut self,
        g: &Columns<B>,
        a: &B::Matrix,
        x: &mut Block<T, B>,
        watched: &Watched<B::Monitor>,
    ) -> Result<()> {
        let BlockCg { q, d, w, scalars: s } = self;
        let one = &g.backends[0];
        g.multiply(a, d, Then::Store { y: w })?;
        one.block_products(d.columns(), None, w.columns(), s, D_AD)?;
        one.block_cg_lengths(s, watched)?;
        one.block_combination(s, None, Some((d.columns(), OF_X)), x.columns_mut(), None)?;
        one.block_combination(s, None, Some((w.columns(), OF_Q)), q.columns_mut(), None)
    }

    /// Observes the norms of the residuals. `R Q' = Q,  C = R C,  D = M Q' + D R^T`.
    fn orthonormalise(
        &mut self,
        g: &Columns<B>,
        m: &mut dyn Preconditioner<T, Columns<B>>,
        watched: &Watched<B::Monitor>,
    ) -> Result<()> {
        let BlockCg { q, d, w, scalars: s } = self;
        let one = &g.backends[0];
        if let Shape::General = m.shape() {
            m.apply(g, q, w)?;
        }
        // M Q as it is, or as a diagonal times Q.
        let (mq, diagonal, of_norms) = match m.shape() {
            Shape::Identity => (&*q, None, Q_MQ),
            Shape::Diagonal(diagonal) => (&*q, Some(diagonal.column(0)), Q_Q),
            Shape::General => (&*w, None, Q_Q),
        };
        if of_norms == Q_Q {
            one.block_products(q.columns(), None, q.columns(), s, Q_Q)?;
        }
        one.block_products(q.columns(), diagonal, mq.columns(), s, Q_MQ)?;
        one.block_cg_residuals(s, of_norms, watched)?;
        let of_mq = Some((mq.columns(), R_INVERSE));
        one.block_combination(s, diagonal, of_mq, d.columns_mut(), Some(R_TRANSPOSED))?;
        one.block_combination(s, None, None, q.columns_mut(), Some(R_INVERSE))
    }
}

impl<T: Real, B: BlockCgSteps<T> + OneColumn> ColumnsSolver<T, B> for BlockCg<T, B> {
    /// A column's count and history end where its norm is at most its threshold for the first time; all go on
    /// until all norms are.
    fn solve_columns(
        &mut self,
        backend: &Columns<B>,
        a: &B::Matrix,
        m: &mut dyn Preconditioner<T, Columns<B>>,
        b: &Block<T, B>,
        x: &mut Block<T, B>,
        limit: u32,
        on_progress: OnProgress,
    ) -> Result<Vec<Outcome>> {
        let one = &backend.backends[0];
        let largest = backend.thresholds().iter().copied().fold(0.0, f64::max);
        let (columns, weights) = (backend.monitor(limit, 1.0)?, weights(largest, backend.thresholds()));
        let mut run = Run::bounded(one, limit, largest, on_progress)?.of_long_iterations();
        let g = backend.guarded_by(&run.monitor);

        one.write(&self.scalars, C, &unit_matrix())?;
        backend.fill(T::ZERO, &mut self.d)?;
        g.multiply(a, x, Then::Residual { b, r: &mut self.q })?;
        let watched = Watched { columns: &columns, whole: &run.monitor, weights: &weights };
        self.orthonormalise(&g, m, &watched)?;
        run.iterate(1, |_, monitor, _| {
            let watched = Watched { columns: &columns, whole: monitor, weights: &weights };
            self.step(&g, a, x, &watched)?;
            self.orthonormalise(&g, m, &watched)
        })?;
        run.outcomes_of(backend, &columns)
    }

    /// The product, which reads D and writes A D; D and A D for their products; D, X, A D and Q of the step;
    /// M Q; Q, M Q and Q for theirs; M Q, D and Q of the new directions. All but the first are of vectors.
    fn column_traffic(&self, iterations: u32, &Parts { product, vector, m }: &Parts) -> u64 {
        u64::from(iterations) * (product + 16 * vector + m.apply)
    }
}

/// The largest threshold over each.
fn weights(largest: f64, thresholds: &[f64]) -> Vec<f64> {
    thresholds.iter().map(|&t| if t == largest { 1.0 } else { largest / t }).collect()
}

/// By columns.
fn unit_matrix<T: Real>() -> Vec<T> {
    (0..MOST).flat_map(unit::<T, MOST>).collect()
}
