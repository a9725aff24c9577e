//! A hierarchy that several right-hand sides go through at once: they share all but their vectors.

use cuda_std::Real;

use super::application::{apply, cg_step, is_fixed};
use super::cast::Cast;
use super::coarsest::{Coarsest, Solve};
use super::cycle::Multigrid;
use super::flexible::FlexibleCg;
use super::level::{Level, Vectors};
use super::smoother::Smoother;
use crate::backend::{Backend, Columns, Memory};
use crate::error::Result;
use crate::precond::{Preconditioner, cg_step_by_primitives};
use crate::solver::cg::{CgStep, CgSteps};

/// The cycle for several right-hand sides.
pub struct InColumns<S: Real, B: Backend<S>>(Multigrid<S, Columns<B>>);

impl<S: Real, B: Backend<S> + 'static> InColumns<S, B> {
    /// That of a hierarchy; `None` where a smoother takes one right-hand side only.
    pub fn of(multigrid: &Multigrid<S, B>, columns: &Columns<B>) -> Result<Option<Self>> {
        let Multigrid { levels, coarsest, cycle, pre, post } = multigrid;
        let levels: Result<Vec<Option<_>>> = levels.iter().map(|level| of_level(level, columns)).collect();
        let levels: Option<Vec<_>> = levels?.into_iter().collect();
        let (Some(levels), Some(coarsest)) = (levels, of_coarsest(coarsest, columns)?) else {
            return Ok(None);
        };
        Ok(Some(InColumns(Multigrid { levels, coarsest, cycle: *cycle, pre: *pre, post: *post })))
    }
}

fn of_level<S: Real, B: Backend<S> + 'static>(
    level: &Level<S, B>,
    columns: &Columns<B>,
) -> Result<Option<Level<S, Columns<B>>>> {
    let Some(smoother) = of_smoother(&*level.smoother) else { return Ok(None) };
    let n = level.a.size.n_rows;
    let flexible = level.flexible.as_ref().map(|_| FlexibleCg::new(columns, n)).transpose()?;
    let vectors = Vectors::new::<S, Columns<B>>(columns, n)?;
    let (a, r, correction) = (level.a.clone(), level.r.clone(), level.correction.clone());
    Ok(Some(Level { a, r, correction, smoother, vectors, flexible }))
}

fn of_coarsest<S: Real, B: Backend<S> + 'static>(
    coarsest: &Coarsest<S, B>,
    columns: &Columns<B>,
) -> Result<Option<Coarsest<S, Columns<B>>>> {
    let solve = match &coarsest.solve {
        Solve::Inverse(inverse) => Solve::Inverse(inverse.clone()),
        Solve::Smoothed(a, smoother) => {
            let Some(smoother) = of_smoother(&**smoother) else { return Ok(None) };
            Solve::Smoothed(a.clone(), smoother)
        }
        Solve::Below(_) => return Ok(None),
    };
    let vectors = Vectors::new::<S, Columns<B>>(columns, coarsest.size.n_rows)?;
    Ok(Some(Coarsest { size: coarsest.size, solve, vectors }))
}

fn of_smoother<S: Real, B: Backend<S> + 'static>(
    smoother: &dyn Smoother<S, B>,
) -> Option<Box<dyn Smoother<S, Columns<B>>>> {
    smoother.as_sweeps().map(|sweeps| Box::new(sweeps.for_columns()) as _)
}

impl<T: Real, S: Real, B: Cast<T, S> + Cast<S, T>> Preconditioner<T, Columns<B>> for InColumns<S, B> {
    fn apply(
        &mut self,
        backend: &Columns<B>,
        r: &<Columns<B> as Memory<T>>::Vector,
        z: &mut <Columns<B> as Memory<T>>::Vector,
    ) -> Result<()> {
        apply::<T, S, _>(&mut self.0, backend, r, z)
    }

    fn is_fixed(&self) -> bool {
        is_fixed(&self.0)
    }

    fn cg_step(
        &mut self,
        backend: &Columns<B>,
        step: CgStep<T, Columns<B>>,
        z: &mut <Columns<B> as Memory<T>>::Vector,
    ) -> Result<()>
    where
        Columns<B>: CgSteps<T>,
    {
        match is_fixed(&self.0) {
            true => cg_step::<T, S, _>(&mut self.0, backend, step),
            false => cg_step_by_primitives(self, backend, step, z),
        }
    }
}
