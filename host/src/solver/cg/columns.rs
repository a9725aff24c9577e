//! CG for several right-hand sides at once: each column is a CG of its own, and they share products with A.

use cuda_std::Real;

use super::{BREAKDOWN, Cg, CgStep, CgSteps};
use crate::backend::{Backend, Columns, Memory};
use crate::error::Result;
use crate::precond::Preconditioner;
use crate::solver::iterative::OnProgress;
use crate::solver::outcome::Outcome;
use crate::solver::run::Run;

impl<T: Real, B: CgSteps<T>> CgSteps<T> for Columns<B> {
    fn cg_step(&self, step: &mut CgStep<T, Self>, d: Option<&Self::Vector>) -> Result<()> {
        self.each(|(c, g)| g.cg_step(&mut column_of(step, c), d.map(|d| d.column(c))))
    }
}

/// Column `c` of a step.
pub(crate) fn column_of<'a, T: Real, B: Backend<T>>(
    step: &'a mut CgStep<'_, T, Columns<B>>,
    c: usize,
) -> CgStep<'a, T, B> {
    CgStep {
        s: &step.s.0[c],
        rho: step.rho,
        p_ap: step.p_ap,
        p: &mut step.p.columns_mut()[c],
        ap: step.ap.column(c),
        x: &mut step.x.columns_mut()[c],
        r: &mut step.r.columns_mut()[c],
        out: step.out,
        scratch: step.scratch,
        monitor: &step.monitor[c],
    }
}

impl<T: Real, B: CgSteps<T>> Cg<T, Columns<B>> {
    /// Solves `A x = b` for each column, starting from the given `x`. A column stops when its residual norm
    /// is at most its [threshold](Columns::set_thresholds), or after `limit` iterations; then neither its x
    /// nor its history changes.
    #[allow(clippy::too_many_arguments)]
    pub fn solve_columns(
        &mut self,
        backend: &Columns<B>,
        a: &B::Matrix,
        m: &mut dyn Preconditioner<T, Columns<B>>,
        b: &<Columns<B> as Memory<T>>::Vector,
        x: &mut <Columns<B> as Memory<T>>::Vector,
        limit: u32,
        on_progress: OnProgress,
    ) -> Result<Vec<Outcome>> {
        let mut run = Run::bounded(backend, limit, 1.0, on_progress)?.preconditioned_by(&*m);
        self.iterate(&mut run, backend, a, m, b, x)?;
        run.outcomes(|| Ok(BREAKDOWN))
    }
}
