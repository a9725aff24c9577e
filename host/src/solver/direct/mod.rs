//! Direct solution: a sparse factorisation (faer's), and iterative refinement with residuals in doubled
//! precision.
//!
//! | file | what |
//! |---|---|
//! | `kind` | which factorisation |
//! | `scaling` | equilibration by powers of two |
//! | `pairs` | pivots of two rows, for saddle points |
//! | `columns` | the matrix as faer takes it |
//! | `symbolic`, `minimum_degree`, `blocks`, `prediction` | order, structure, and what they will cost |
//! | `ordered` | all of that for a matrix, once |
//! | `factor`, `factorisation` | the numbers |
//! | `apart` | how they are left, where nobody waits any longer |
//! | `sparse_lu` | LU of single entries, where blocks do not pay |
//! | `doubled`, `refine` | residuals, and refinement with them |
//! | `singular` | null spaces |
//! | `condition` | an estimate of the condition |
//! | `info` | what reports say of it |
//! | `vectors` | norms and projections |
//!
//! All of it runs on the host, whatever the device.

use cuda_std::Real;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::description::{Description, Parameters, Takes};
use super::iterative::{IterativeSolver, OnProgress, Parts};
use super::outcome::{Outcome, Stop, StopReason};
use crate::backend::Backend;
use crate::error::Result;
use crate::matrix::{Csr, backward_error};
use crate::precond::{Precond, Preconditioner};

mod apart;
mod block_triangular;
mod blocks;
mod columns;
mod condition;
mod doubled;
mod factor;
mod factorisation;
mod info;
mod kind;
mod minimum_degree;
mod ordered;
mod pairs;
mod prediction;
mod refine;
mod scaling;
mod singular;
mod sparse_lu;
mod symbolic;
#[cfg(test)]
mod tests;
mod vectors;

use condition::condition;
use factorisation::Factorisation;
pub use info::Info;
pub use kind::Kind;
use kind::kinds;
use ordered::Ordered;
pub use ordered::Outlook;
pub use prediction::Prediction;
use refine::Refinement;
pub use scaling::Scaling;
use singular::NullVectors;
use sparse_lu::SparseLu;
use symbolic::Care;
use vectors::norm;

pub(super) const DESCRIPTION: Description = Description {
    doc: "factorisation, on the host",
    takes: Takes::Own(Precond::None),
    descends: true,
    is_on_host: true,
    warm_up: |_| 0,
    ..Description::new("direct", "direct solution", |_, _| 0)
};

pub(super) fn make<T: Real, B: Backend<T> + 'static>(
    _: &B,
    a: &Arc<Csr<T>>,
    _: &dyn Preconditioner<T, B>,
    parameters: &Parameters,
) -> Result<Box<dyn IterativeSolver<T, B>>> {
    Ok(Box::new(Direct::new(Csr::in_type(a), parameters)?))
}

/// A factorised matrix.
pub struct Direct {
    a: Arc<Csr<f64>>,
    /// None where it was cancelled.
    factorisation: Option<Factorisation>,
    /// Whether it is of the matrix scaled by means: there is no better one.
    is_best: bool,
    /// Ends a factorisation.
    cancelled: Arc<AtomicBool>,
    /// Once it was looked for.
    null: Option<NullVectors>,
    /// Vectors of it that were found, where they may not be all.
    null_space: usize,
    /// Of the factorisation, once it was estimated.
    condition: Option<f64>,
}

impl Direct {
    /// Factorises. What is known of the matrix's factors already is taken from its outlook. It ends when the
    /// parameters' flag is raised; the next solve begins it again.
    ///
    /// # Errors
    /// [`Error::HostMemory`](crate::Error::HostMemory) where that does not fit.
    pub fn new(a: Arc<Csr<f64>>, parameters: &Parameters) -> Result<Direct> {
        let cancelled = parameters.cancelled.clone();
        let ordered = parameters.outlook.take(&a).map_or_else(|| Ordered::of(&a, &kinds(&a)), Ok)?;
        let factorisation = Factorisation::of(&a, ordered, Care::Usual, &cancelled)?;
        Ok(Direct { a, factorisation, is_best: false, cancelled, null: None, null_space: 0, condition: None })
    }

    /// What was found out; `None` where it was cancelled.
    pub fn info(&self) -> Option<Info> {
        let factorisation = self.factorisation.as_ref()?;
        let lu = factorisation.factor.sparse_lu();
        let missing = lu.map_or(0, |lu| self.a.n_rows() - lu.rank());
        let found = self.null.as_ref().map_or(self.null_space, |null| null.right.len());
        Some(Info {
            prediction: factorisation.prediction,
            entries: lu.map(SparseLu::entries),
            condition: self.condition,
            null_space: missing.max(found),
        })
    }

    /// Looks for what A maps to 0, with factors of the matrix scaled by means: others may leave a regular
    /// matrix singular in f64. Where something is found these factors are kept.
    fn look_for_null_space(&mut self, b: &[f64]) -> Result<()> {
        let ordered = Ordered::by_means(&self.a)?;
        let Some(mut factorisation) = Factorisation::of(&self.a, ordered, Care::Most, &self.cancelled)?
        else {
            return Ok(());
        };
        let b = factorisation.scaled_rhs(b);
        let null = NullVectors::of(&mut factorisation, &b);
        if null.right.is_empty() {
            return Ok(());
        }
        (self.null_space, self.factorisation, self.condition) = (null.right.len(), Some(factorisation), None);
        self.is_best = true;
        self.null = Some(null).filter(|null| null.is_complete && !null.left.is_empty());
        Ok(())
    }

    /// Solves from a start; why it ended.
    fn refined(&mut self, run: &mut Refinement, most: u32, on_progress: OnProgress) -> Result<StopReason> {
        if self.factorisation.is_none() {
            let ordered = Ordered::of(&self.a, &kinds(&self.a))?;
            self.factorisation = Factorisation::of(&self.a, ordered, Care::Usual, &self.cancelled)?;
        }
        let Some(factorisation) = &mut self.factorisation else { return Ok(StopReason::Interrupted) };
        let start = run.x.clone();
        if self.null.as_ref().is_none_or(|null| null.left.is_empty()) {
            run.refine(factorisation, most, on_progress);
        }
        if !run.is_done() && is_rounding(run) && run.norm() <= ROUNDED * norm(run.b) {
            return Ok(StopReason::AtRounding);
        }
        let is_lu = factorisation.prediction.kind == Kind::Lu;
        let is_short = factorisation.prediction.seconds() < WORTH_A_LOOK;
        let may_be_better = !is_lu || factorisation.factor.is_relaxed() || is_short;
        if !run.is_done() && !self.is_best && may_be_better {
            let lu = if is_lu { Ordered::by_means(&self.a)? } else { Ordered::of(&self.a, &[Kind::Lu])? };
            if is_rounding(run) && lu.prediction().flops > HOPELESS_FLOPS {
                return Ok(StopReason::AtRounding);
            }
            let care = if is_lu { Care::Most } else { Care::Usual };
            (self.condition, self.is_best) = (None, is_lu);
            self.factorisation = Factorisation::of(&self.a, lu, care, &self.cancelled)?;
            let Some(factorisation) = &mut self.factorisation else { return Ok(StopReason::Interrupted) };
            run.refine(factorisation, most, on_progress);
        }
        if run.is_done() {
            return Ok(StopReason::Converged);
        }
        let Some(factorisation) = &mut self.factorisation else { return Ok(StopReason::Interrupted) };
        let null = match self.null.take() {
            Some(null) => null,
            None => {
                let b = factorisation.scaled_rhs(run.b);
                NullVectors::of(factorisation, &b)
            }
        };
        let mut least = 0.0;
        if !null.left.is_empty() {
            least = run.refine_singular(factorisation, &null, start, most, on_progress);
        }
        let is_regular = null.left.is_empty();
        self.null = Some(null).filter(|null| null.is_complete);
        // Of rows that differ much in scale the rounding of a large x may leave more than b is.
        if let Some((x, r)) = run.refused.take()
            && is_regular
            && run.history.len() == 1
            && backward_error(run.a, &x, run.b, &r) <= ROUNDING_UNITS * f64::EPSILON
        {
            (run.x, run.r) = (x, r);
            run.history.push(run.norm());
        }
        Ok(match () {
            () if run.is_done() => StopReason::Converged,
            () if on_progress.is_cancelled() => StopReason::Interrupted,
            () if least > run.threshold && run.norm() >= HONEST * least => StopReason::NoSolution { least },
            () if is_rounding(run) => StopReason::AtRounding,
            () => StopReason::Stagnated,
        })
    }
}

/// A condition from which on a matrix may be singular but for rounding, although it was solved with.
const SINGULAR: f64 = 1e15;

/// Seconds of a factorisation from which on another one, scaled otherwise, does not have to say whether the
/// matrix is singular.
const WORTH_A_LOOK: f64 = 1.0;

/// The share of a bound that a residual must not be below: of a matrix that is not quite singular a very
/// large x may leave less.
const HONEST: f64 = 0.999;

/// A residual of this share of b that is no more than rounding is of an x of usual size, which no other
/// factorisation improves.
const ROUNDED: f64 = 1e-12;

/// Multiply-adds that LU must not take where a symmetric factorisation has left no more than rounding: it
/// would hardly leave less.
const HOPELESS_FLOPS: f64 = 2e10;

/// Units of rounding.
const ROUNDING_UNITS: f64 = 16.0;

/// Whether the residual is no larger than what rounding of x alone leaves.
fn is_rounding(run: &Refinement) -> bool {
    backward_error(run.a, &run.x, run.b, &run.r) <= ROUNDING_UNITS * f64::EPSILON
}

impl<T: Real, B: Backend<T>> IterativeSolver<T, B> for Direct {
    fn solve(
        &mut self,
        backend: &B,
        _: &B::Matrix,
        _: &mut dyn Preconditioner<T, B>,
        b: &B::Vector,
        x: &mut B::Vector,
        stop: &Stop,
        on_progress: OnProgress,
    ) -> Result<Outcome> {
        let to_host = |v: &B::Vector| -> Result<Vec<f64>> {
            Ok(backend.to_host(v)?.into_iter().map(Real::to_f64).collect())
        };
        let (b, start) = (to_host(b)?, to_host(x)?);
        let threshold = stop.threshold(norm(&b));
        let a = self.a.clone();
        let mut run = Refinement::new(&a, &b, start, threshold);
        let reason = match () {
            () if run.is_done() => StopReason::Converged,
            () if stop.max_iterations == 0 => StopReason::IterationLimit,
            () => self.refined(&mut run, stop.max_iterations, on_progress)?,
        };
        let is_regular = self.info().is_some_and(|info| info.null_space == 0);
        if let Some(factorisation) = &mut self.factorisation
            && self.condition.is_none()
            && matches!(reason, StopReason::Converged | StopReason::AtRounding)
            && is_regular
        {
            self.condition = Some(condition(&a, factorisation)).filter(|condition| condition.is_finite());
            let may_be_singular = self.condition.is_none_or(|condition| condition > SINGULAR);
            if may_be_singular && factorisation.prediction.seconds() < WORTH_A_LOOK {
                self.look_for_null_space(&b)?;
            }
        }
        if reason == StopReason::Converged
            && let (Some(factorisation), Some(null)) = (&self.factorisation, &self.null)
        {
            run.shorten(factorisation.vanishing(&null.right));
        }
        let values: Vec<T> = run.x.iter().map(|&v| T::from_f64(v)).collect();
        *x = backend.vector(&values)?;
        let iterations = run.history.len() as u32 - 1;
        Ok(Outcome { reason, iterations, history: run.history, threshold })
    }

    /// The factors are read once for L and once for U, and the matrix for a residual.
    fn traffic(&self, iterations: u32, parts: &Parts) -> u64 {
        let bytes = self.info().map_or(0, |info| info.prediction.bytes as u64);
        u64::from(iterations) * (bytes + parts.product)
    }

    fn factorisation(&self) -> Option<Info> {
        self.info()
    }
}
