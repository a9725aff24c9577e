//! Direct solution: a sparse factorisation (faer's), and iterative refinement with residuals in doubled
//! precision.
//!
//! | file | what |
//! |---|---|
//! | `kind` | which factorisation |
//! | `scaling` | equilibration by powers of two |
//! | `pairs` | pivots of two rows, for saddle points |
//! | `columns` | the matrix as faer takes it |
//! | `symbolic`, `minimum_degree`, `dissection`, `blocks` | order and structure |
//! | `full_blocks`, `prediction` | what they will cost |
//! | `ordered` | all of that for a matrix, once |
//! | `factor`, `factorisation`, `symmetric`, `supernodal` | the numbers |
//! | `quality` | what they are worth |
//! | `attempts`, `apart` | how they are made, and left where nobody waits any longer |
//! | `sparse_lu` | LU of single entries, where blocks do not pay |
//! | `normal` | normal equations, where LU grows |
//! | `doubled`, `refine` | residuals, and refinement with them |
//! | `krylov` | GMRES, where factors are too inaccurate for that |
//! | `singular` | null spaces |
//! | `inverse` | the factors as a preconditioner |
//! | `condition` | an estimate of the condition |
//! | `info` | what reports say of it |
//! | `vectors` | norms and projections |
//!
//! All of it runs on the host, whatever the device.

use cuda_std::Real;
use std::sync::Arc;
use std::time::Instant;

use super::description::{Description, Parameters, Takes};
use super::iterative::{IterativeSolver, OnProgress, Parts};
use super::on_host::OnHost;
use super::outcome::{Outcome, Stop, StopReason};
use crate::backend::Backend;
use crate::error::{Error, Result};
use crate::matrix::Csr;
use crate::precond::{Precond, Preconditioner};

mod apart;
mod attempts;
mod block_triangular;
mod blocks;
mod columns;
mod condition;
mod dissection;
mod doubled;
mod factor;
mod factorisation;
mod full_blocks;
mod info;
mod inverse;
mod kind;
mod krylov;
mod minimum_degree;
mod normal;
mod ordered;
mod pairs;
mod prediction;
mod quality;
mod refine;
mod scaling;
mod singular;
mod sparse_lu;
mod supernodal;
mod symbolic;
mod symmetric;
#[cfg(test)]
mod tests;
mod vectors;

use attempts::Attempts;
use condition::condition;
pub(crate) use doubled::residual as doubled_residual;
use factorisation::Factorisation;
pub use info::Info;
pub(crate) use inverse::Inverse;
pub use kind::Kind;
use ordered::Ordered;
pub use ordered::Outlook;
pub use prediction::Prediction;
use refine::{Refinement, reaches_any_rhs};
pub use scaling::Scaling;
use singular::NullVectors;
use sparse_lu::SparseLu;
use symbolic::{Care, Effort};
use vectors::norm;

pub(super) const DESCRIPTION: Description = Description {
    doc: "factorisation, on the host",
    takes: Takes::Own(Precond::None),
    descends: true,
    is_on_host: true,
    ..Description::new("direct", "direct solution", |_, _| 0)
};

pub(super) fn make<T: Real, B: Backend<T> + 'static>(
    _: &B,
    a: &dyn OnHost<T>,
    _: &dyn Preconditioner<T, B>,
    parameters: &Parameters,
) -> Result<Box<dyn IterativeSolver<T, B>>> {
    let is_rounded = T::NAME != f64::NAME;
    Ok(Box::new(Direct { is_rounded, ..Direct::new(Csr::in_type(&a.csr()), parameters)? }))
}

/// A factorised matrix.
pub struct Direct {
    a: Arc<Csr<f64>>,
    /// Whether matrix and right-hand sides were rounded to f32: nothing is proven of those that were given.
    is_rounded: bool,
    /// None where it was cancelled.
    factorisation: Option<Factorisation>,
    /// Whether it is of the matrix scaled by means: there is no better one.
    is_best: bool,
    /// Whether normal equations have been tried.
    has_tried_normal: bool,
    /// What factorises it.
    attempts: Attempts,
    /// How many times as long as predicted a factorisation may take.
    excess: f64,
    /// Whether that of the matrix scaled by means took too long.
    is_out_of_hand: bool,
    /// Once it was looked for.
    null: Option<NullVectors>,
    /// Vectors of it that were found, where they may not be all.
    null_space: usize,
    /// Of the factorisation, once it was estimated.
    condition: Option<f64>,
    /// Of solves that had to factorise.
    set_up_seconds: f64,
}

impl Direct {
    /// Factorises. What is known of the matrix's factors already is taken from its outlook. It ends when the
    /// parameters' flag is raised; the next solve begins it again.
    ///
    /// # Errors
    /// [`Error::HostMemory`] where that does not fit, and
    /// [`Error::Outgrown`] where the parameters bound it, and it takes longer.
    pub fn new(a: Arc<Csr<f64>>, parameters: &Parameters) -> Result<Direct> {
        let ordered = parameters.outlook.take(&a);
        let mut direct = Direct {
            attempts: Attempts::new(a.clone(), parameters.cancelled.clone()),
            a,
            is_rounded: false,
            factorisation: None,
            is_best: false,
            has_tried_normal: false,
            excess: if parameters.is_bound { EXCESS } else { f64::INFINITY },
            is_out_of_hand: false,
            null: None,
            null_space: 0,
            condition: None,
            set_up_seconds: 0.0,
        };
        direct.factorisation = direct.attempts.first(ordered, direct.excess)?;
        Ok(direct)
    }

    /// What was found out; `None` where it was cancelled.
    pub fn info(&self) -> Option<Info> {
        let factorisation = self.factorisation.as_ref()?;
        let lu = factorisation.factor.sparse_lu();
        // Where LU has grown its rank means nothing.
        let is_disproved = self.null.as_ref().is_some_and(|null| null.right.is_empty());
        let missing = lu.filter(|_| !is_disproved).map_or(0, |lu| self.a.n_rows() - lu.rank());
        let found = self.null.as_ref().map_or(self.null_space, |null| null.right.len());
        Some(Info {
            prediction: factorisation.prediction,
            entries: lu.map(SparseLu::entries),
            condition: self.condition,
            null_space: if self.is_rounded { 0 } else { missing.max(found) },
        })
    }

    /// Looks for what A maps to 0: with the factors that are there, and where these find something with
    /// those of the matrix scaled by means, since others may leave a regular matrix singular in f64. Where
    /// something is found by both, the second are kept.
    fn look_for_null_space(&mut self, b: &[f64], on_progress: OnProgress) -> Result<()> {
        // Factors of a matrix with other numbers may tell nothing of this one; solutions with them do.
        let held = self.factorisation.as_mut().filter(|factorisation| factorisation.factor.is_of_other());
        if held.is_some_and(|factorisation| reaches_any_rhs(&self.a, factorisation, on_progress)) {
            return Ok(());
        }
        let finds_nothing = |factorisation: &mut Factorisation| {
            let b = factorisation.scaled_rhs(b);
            !factorisation.factor.is_of_other() && NullVectors::of(factorisation, &b).right.is_empty()
        };
        if self.factorisation.as_mut().is_some_and(finds_nothing) {
            return Ok(());
        }
        let begin = Instant::now();
        let ordered = self.attempts.ordered(Ordered::by_means)?;
        let made = self.attempts.factorised(ordered, Care::Most, LOOK);
        self.count_set_up(begin);
        let mut factorisation = match made {
            Ok(Some(factorisation)) => factorisation,
            // The solution is there without it.
            Ok(None) | Err(Error::Outgrown { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let b = factorisation.scaled_rhs(b);
        let null = NullVectors::of(&mut factorisation, &b);
        if null.right.is_empty() {
            self.condition = estimated(&self.a, &mut factorisation);
            return Ok(());
        }
        (self.null_space, self.factorisation, self.condition) = (null.right.len(), Some(factorisation), None);
        self.is_best = true;
        self.null = Some(null).filter(|null| null.is_complete && !null.left.is_empty());
        Ok(())
    }

    /// Solves from a start, with one factorisation after the other; why it ended.
    fn refined(&mut self, run: &mut Refinement, most: u32, on_progress: OnProgress) -> Result<StopReason> {
        if self.factorisation.is_none() {
            let begin = Instant::now();
            self.factorisation = self.attempts.first(None, self.excess)?;
            self.count_set_up(begin);
        }
        let start = run.x.clone();
        loop {
            let Some(factorisation) = &mut self.factorisation else { return Ok(StopReason::Interrupted) };
            let is_singular = self.null.as_ref().is_some_and(|null| !null.left.is_empty());
            if !is_singular {
                run.refine(factorisation, most, on_progress);
                self.correct(run, on_progress)?;
            }
            let is_last = self.is_last();
            let is_left = !run.is_done() && !self.is_settled(run);
            let mut least = 0.0;
            if is_left && (is_last || is_singular || self.shows_null_space(run)) {
                least = self.refine_within_range(run, start.clone(), most, on_progress);
            }
            match () {
                () if run.is_done() => return Ok(StopReason::Converged),
                () if on_progress.is_cancelled() => return Ok(StopReason::Interrupted),
                () if least > run.threshold && run.norm() >= HONEST * least => {
                    return Ok(StopReason::NoSolution { least });
                }
                () if self.is_settled(run) => return Ok(StopReason::AtRounding),
                () => {}
            }
            let begin = Instant::now();
            let is_better = if is_last { self.factorise_normal()? } else { self.factorise_better(run)? };
            self.count_set_up(begin);
            if !is_better {
                if on_progress.is_cancelled() {
                    return Ok(StopReason::Interrupted);
                }
                let is_stagnated = is_last && !run.is_rounding();
                return Ok(if is_stagnated { StopReason::Stagnated } else { StopReason::AtRounding });
            }
        }
    }

    fn count_set_up(&mut self, begin: Instant) {
        self.set_up_seconds += begin.elapsed().as_secs_f64();
    }

    /// GMRES with the factors of a symmetric matrix, where refinement has shown that they are inaccurate but
    /// not useless: LU, the next, takes longer.
    fn correct(&mut self, run: &mut Refinement, on_progress: OnProgress) -> Result<()> {
        let Some(factorisation) = self.factorisation.as_mut().filter(|f| f.prediction.kind != Kind::Lu)
        else {
            return Ok(());
        };
        let mut goes_on = run.has_advanced() && !run.has_exploded();
        while goes_on && !run.is_done() && !run.is_at_rounding() && !on_progress.is_cancelled() {
            let d = krylov::correction(&self.a, &run.r, factorisation, run.threshold, on_progress)?;
            goes_on = run.take(&d);
        }
        Ok(())
    }

    /// Whether nothing is left but rounding. An x that has exploded is mostly null space, and what it leaves
    /// is rounding of that: other factors may tell, unless they take long.
    fn is_settled(&self, run: &Refinement) -> bool {
        run.is_at_rounding() && (!run.has_exploded() || self.took_long(Kind::Lu))
    }

    /// Whether no other factorisation may serve where this one has not.
    fn is_last(&self) -> bool {
        let may_be_better = |factorisation: &Factorisation| {
            let is_lu = factorisation.prediction.kind == Kind::Lu;
            let is_short = factorisation.prediction.seconds() < WORTH_A_LOOK;
            let may_be = !is_lu || factorisation.factor.is_relaxed() || is_short;
            may_be && !factorisation.is_singular_by_structure
        };
        self.is_best || !self.factorisation.as_ref().is_some_and(may_be_better)
    }

    /// Whether these factors may tell of a null space, where others would take long. Pairs are scaled so that
    /// their entries are near 1; other scalings may leave a regular matrix singular in f64.
    fn shows_null_space(&self, run: &Refinement) -> bool {
        run.has_exploded() && self.took_long(Kind::Ldlt)
    }

    /// Whether these factors are of this kind, and others like them would take long.
    fn took_long(&self, kind: Kind) -> bool {
        let is_long =
            |prediction: &Prediction| prediction.kind == kind && prediction.seconds() >= WORTH_A_LOOK;
        self.factorisation.as_ref().is_some_and(|factorisation| is_long(&factorisation.prediction))
    }

    /// Keeps x out of the null space, where there is one, and the residual within the range; returns the
    /// residual norm that every x leaves.
    fn refine_within_range(
        &mut self,
        run: &mut Refinement,
        start: Vec<f64>,
        most: u32,
        on_progress: OnProgress,
    ) -> f64 {
        let Some(factorisation) = &mut self.factorisation else { return 0.0 };
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
        if null.left.is_empty() && self.is_last() {
            run.take_refused();
        }
        self.null_space = null.right.len();
        self.null = Some(null).filter(|null| null.is_complete);
        least
    }

    /// Factorises by LU, or with more care; whether that was worth it.
    fn factorise_better(&mut self, run: &Refinement) -> Result<bool> {
        let was_lu = self.factorisation.as_ref().is_some_and(|f| f.prediction.kind == Kind::Lu);
        let order = if was_lu { Ordered::by_means } else { |a: &_| Ordered::of(a, &[Kind::Lu]) };
        let lu = self.attempts.ordered(order)?;
        let is_hopeless = |lu: &Ordered| lu.prediction().flops > HOPELESS_FLOPS;
        if run.is_rounding() && lu.as_ref().is_some_and(is_hopeless) {
            return Ok(false);
        }
        let care = if was_lu { Care::Most } else { Care::Usual };
        let excess = if run.is_rounding() { LOOK } else { self.excess };
        self.factorisation = match self.attempts.factorised(lu, care, excess) {
            Err(Error::Outgrown { .. }) if run.is_rounding() => {
                self.is_out_of_hand = was_lu;
                return Ok(false);
            }
            made => made?,
        };
        (self.condition, self.null, self.null_space, self.is_best) = (None, None, 0, was_lu);
        Ok(true)
    }

    /// Solves by normal equations, where LU has neither solved nor proven anything; whether they serve.
    fn factorise_normal(&mut self) -> Result<bool> {
        let Some(factorisation) = self.factorisation.as_ref().filter(|_| !self.has_tried_normal) else {
            return Ok(false);
        };
        self.has_tried_normal = true;
        let seconds = factorisation.prediction.seconds();
        let most = Effort { care: Care::Usual, excess: self.excess }.most_seconds(seconds);
        let Some(made) = self.attempts.normal(seconds, most)? else { return Ok(false) };
        self.factorisation = Some(made);
        (self.condition, self.null, self.null_space, self.is_best) = (None, None, 0, true);
        Ok(true)
    }
}

/// The condition, where that does not overflow.
fn estimated(a: &Csr<f64>, factorisation: &mut Factorisation) -> Option<f64> {
    Some(condition(a, factorisation)).filter(|condition| condition.is_finite())
}

/// How many times as long as predicted a factorisation may take where there is another way to solve: beyond
/// that pivots are not where they were thought to be, and nobody knows when it will end.
const EXCESS: f64 = 10.0;
/// And where what there is has left no more than rounding.
const LOOK: f64 = 4.0;

/// Seconds of a factorisation from which on another one, scaled otherwise, does not have to say whether the
/// matrix is singular.
const WORTH_A_LOOK: f64 = 1.0;

/// The share of a bound that a residual must not be below: of a matrix that is not quite singular a very
/// large x may leave less.
const HONEST: f64 = 0.999;

/// Multiply-adds that LU must not take where a symmetric factorisation has left no more than rounding: it
/// would hardly leave less.
const HOPELESS_FLOPS: f64 = 2e10;

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
            () => match self.refined(&mut run, stop.max_iterations, on_progress)? {
                StopReason::NoSolution { .. } | StopReason::AtRounding if self.is_rounded => {
                    StopReason::Stagnated
                }
                reason => reason,
            },
        };
        let is_regular = self.info().is_some_and(|info| info.null_space == 0);
        if let Some(factorisation) = &mut self.factorisation
            && self.condition.is_none()
            && matches!(reason, StopReason::Converged | StopReason::AtRounding)
            && is_regular
        {
            self.condition = estimated(&a, factorisation);
            let doubtful = factorisation.doubtful();
            let may_be_singular = self.condition.is_none_or(|condition| condition > doubtful);
            let is_open = may_be_singular && !self.is_rounded && !self.is_out_of_hand;
            if is_open && factorisation.prediction.seconds() < WORTH_A_LOOK {
                self.look_for_null_space(&b, on_progress)?;
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

    fn take_set_up_seconds(&mut self) -> f64 {
        std::mem::take(&mut self.set_up_seconds)
    }
}
