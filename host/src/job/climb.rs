//! The ways to solve, tried one after the other.

use std::sync::Arc;

use super::attempt::Attempt;
use super::isolated::Isolated;
use super::ladder::{glance, ladder, of_indefinite, reconsider};
use super::look::{Look, Place};
use super::plan::Plan;
use super::rung::Rung;
use super::scaled::ScaledSystem;
use super::setup::Times;
use super::trial::Ahead;
use super::{Device, Method, Options};
use crate::analysis::{Analysis, components};
use crate::error::{Error, Result};
use crate::matrix::{Csr, IntoCsr, Survey, Target};
use crate::powers::times;
use crate::solver::StopReason;
use crate::solver::direct::Outlook;

/// Iterations that a way is worth waiting for which was the last, when a factorisation comes after it.
const PATIENCE: u32 = 1000;

/// Why a factorisation is tried that was left.
const NOTHING_ELSE: &str = "no other way has served, however long it takes";

/// Where the choice of a way to solve stands.
pub(super) struct Ladder {
    /// What the job leaves open.
    options: Options,
    /// What a look at the matrix has found.
    survey: Survey,
    /// What more is known of it; `None` where the options choose.
    analysis: Option<Analysis>,
    rungs: Vec<Rung>,
    at: usize,
    /// Behind a [`glance`] there are others, once they are asked for, and what another thread finds out for
    /// them.
    others: Option<Option<Ahead>>,
    /// What is known of a factorisation.
    outlook: Outlook,
    /// Unknowns that have got an entry on the diagonal.
    pub isolated: Option<Isolated>,
    /// What was left since the last report.
    pub left: Vec<Attempt>,
    /// 2 to this power times the matrix is the one that was given.
    pub divided: i32,
    /// Whether it is -A that is solved with, since that may be positive definite.
    pub is_negated: bool,
}

impl Ladder {
    /// For a matrix that was looked at. It may negate and complete the matrix, and what was found with it;
    /// then the copy is another's.
    ///
    /// # Errors
    /// Those of a device.
    pub fn of(a: &mut Arc<Csr<f64>>, options: Options, look: &mut Look) -> Result<Ladder> {
        let mut made = Ladder {
            options,
            survey: look.survey,
            analysis: None,
            rungs: Vec::new(),
            at: 0,
            others: None,
            outlook: Outlook::default(),
            isolated: None,
            left: Vec::new(),
            divided: look.divided,
            is_negated: false,
        };
        if made.options.name_a_way() {
            return Ok(made);
        }
        // Their diagonal entries are zeros.
        made.isolated = (made.survey.diagonal.zero > 0).then(|| Isolated::of(a)).flatten();
        if let Some(isolated) = &made.isolated {
            *a = Arc::new(isolated.completed(a));
            made.survey = Survey::of(a);
            look.forget();
        }
        let mut analysis = Analysis::after(a, &made.survey, &look.closer(a))?;
        // As they were given these rows add up to 0.
        analysis.values.zero_sums += made.isolated.as_ref().map_or(0, Isolated::count);
        made.is_negated = analysis.may_be_negative_definite() && a.n_rows() > 0;
        if made.is_negated {
            *a = Arc::new(a.map_values(|v| -v));
            look.forget();
            made.survey.negate();
            analysis.values.negate();
        }
        made.rungs.extend(glance(a, &analysis, &made.options));
        (made.analysis, made.others) = (Some(analysis), Some(look.ahead.take()));
        if made.rungs.is_empty() {
            made.think_of_others(a);
        }
        Ok(made)
    }

    /// Adds the ways behind a glance, which nobody has thought of yet.
    fn think_of_others(&mut self, a: &Arc<Csr<f64>>) {
        if let (Some(ahead), Some(analysis)) = (self.others.take(), &self.analysis) {
            let rtol = self.options.stop.rtol;
            let would_take =
                || self.left.last().map_or(f64::INFINITY, |glance| glance.iterations_in_all(rtol));
            let glanced = (!self.rungs.is_empty()).then(would_take);
            self.rungs.extend(ladder(a, analysis, &self.options, &self.outlook, ahead, glanced));
        }
    }

    /// Whether the way tried now is a glance.
    pub fn is_glance(&self) -> bool {
        self.others.is_some()
    }

    /// The plan of the way that is tried now, or of the next for which one can be made.
    ///
    /// # Errors
    /// That of the last way.
    pub fn plan(&mut self, a: &Arc<Csr<f64>>, target: Target) -> Result<Plan> {
        loop {
            let rung = self.rungs.get(self.at).cloned();
            let too_long =
                rung.as_ref().filter(|_| !self.is_last()).and_then(|rung| rung.is_too_long(a, &self.outlook));
            if let (Some(why), Some(rung)) = (too_long, &rung) {
                self.leave(a, Attempt::without_a_start(rung.method, rung.precond, why));
                continue;
            }
            let options = rung.as_ref().map_or(self.options.clone(), |rung| rung.options(&self.options));
            match (Plan::new(a.clone(), options, &self.survey, self.is_symmetric(), target), rung) {
                (Err(error), Some(rung)) if !self.is_last() => {
                    self.leave(a, Attempt::without_a_start(rung.method, rung.precond, error.to_string()));
                }
                (plan, _) => {
                    let (outlook, is_bound) = (self.outlook.clone(), !self.is_last());
                    let mut plan = Plan { outlook, is_bound, ..plan? };
                    plan.warnings.extend(self.isolated.as_ref().map(Isolated::warning));
                    return Ok(plan);
                }
            }
        }
    }

    /// Whether the matrix is symmetric, where that is known.
    pub fn is_symmetric(&self) -> bool {
        self.analysis().map_or(self.survey.is_mirrored, |analysis| analysis.values.is_symmetric)
    }

    /// What the matrix is, where that has decided.
    pub fn analysis(&self) -> Option<&Analysis> {
        self.analysis.as_ref()
    }

    /// The same of the matrix as it was given, for reports.
    pub fn told(&self) -> Option<Analysis> {
        let mut analysis = self.analysis.clone()?;
        let values = &mut analysis.values;
        (values.least, values.most) = (times(values.least, self.divided), times(values.most, self.divided));
        if self.is_negated {
            values.negate();
        }
        if let Some(isolated) = &self.isolated {
            isolated.take_out_of(&mut analysis);
        }
        Some(analysis)
    }

    /// Iterations that the way tried now is worth waiting for.
    pub fn patience(&self) -> Option<u32> {
        self.rungs.get(self.at).and_then(|rung| rung.patience)
    }

    /// Whether there is no other way after the one tried now.
    pub fn is_last(&self) -> bool {
        self.others.is_none() && self.at + 1 >= self.rungs.len()
    }

    /// Takes into account that CG has found the matrix indefinite, which no other preconditioner changes.
    pub fn learn(&mut self, a: &Arc<Csr<f64>>, reason: StopReason) {
        let Some(analysis) = self.analysis.as_ref().filter(|_| reason == StopReason::IndefiniteOperator)
        else {
            return;
        };
        self.others = None;
        self.rungs.truncate(self.at + 1);
        self.rungs.extend(of_indefinite(a, analysis, &self.options, &self.outlook));
    }

    /// Puts the factorisation tried now, where this says that it takes longer than was predicted, behind the
    /// ways that are left too: there nothing bounds it.
    pub fn put_off(&mut self, error: &Error) {
        let (Error::Outgrown { .. }, Some(tried)) = (error, self.rungs.get(self.at)) else { return };
        let direct = Rung { reason: NOTHING_ELSE.into(), ..tried.clone() };
        if let Some(last) = self.rungs.last_mut().filter(|last| last.method != Method::Direct) {
            last.patience.get_or_insert(PATIENCE);
        }
        self.rungs.push(direct);
    }

    /// Whether there is another way after the one tried now, of which nothing could be set up. Behind the
    /// last a factorisation comes that was left because it takes long.
    pub fn has_another(&mut self) -> bool {
        if !self.is_last() {
            return true;
        }
        let is_factorisation = |rung: &&Rung| rung.method == Method::Direct;
        let Some((last, others)) = self.rungs.split_last() else { return false };
        let left = others.iter().find(is_factorisation).filter(|_| !is_factorisation(&last));
        let direct = left.map(|left| Rung { reason: NOTHING_ELSE.into(), ..left.clone() });
        self.rungs.extend(direct.clone());
        direct.is_some()
    }

    /// The error of the last way, with what in the matrix' structure lets all of them fail.
    pub fn explained(&self, error: Error) -> Error {
        match (error, self.analysis().and_then(|analysis| analysis.structure.deficiency.as_ref())) {
            (Error::Matrix(why), Some(deficiency)) => Error::Matrix(format!("{why}; {deficiency}")),
            (error, _) => error,
        }
    }

    /// Leaves the way tried now, for the matrix, for the next.
    pub fn leave(&mut self, a: &Arc<Csr<f64>>, attempt: Attempt) {
        self.left.push(attempt);
        self.at += 1;
        if self.is_glance() {
            return self.think_of_others(a);
        }
        reconsider(&mut self.rungs[self.at..], a, &self.outlook);
    }
}

/// What would be tried for a matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Prospect {
    /// What the matrix is.
    pub analysis: Analysis,
    /// The systems that it falls into.
    pub components: usize,
    /// The ways, in turn; a single one where the options choose.
    pub rungs: Vec<Rung>,
}

/// What [`Builder::solve`](super::Builder::solve) would try, without trying it.
///
/// # Errors
/// As [`Builder::build`](super::Builder::build), but for those of the set-up.
pub fn prospect(a: impl IntoCsr, options: &Options, device: &Device) -> Result<Prospect> {
    let (mut a, mut options) = (Arc::new(a.into_csr()?), options.clone());
    if let Some((_, s)) = ScaledSystem::of(&a, &mut options)? {
        a = s;
    }
    let mut look = Look::at(&mut a, Place::Device(device), &options, &mut Times::default())?;
    let mut ladder = Ladder::of(&mut a, options.clone(), &mut look)?;
    ladder.think_of_others(&a);
    let Plan { method, precond, .. } = ladder.plan(&a, device.target())?;
    let asked = Rung {
        method,
        precond,
        block_size: options.block_size,
        amg: options.amg.clone(),
        ilu: options.ilu.clone(),
        patience: None,
        cost: None,
        reason: "as asked".into(),
    };
    let analysis = ladder.told().unwrap_or_else(|| Analysis::of(&a));
    let rungs = if ladder.rungs.is_empty() { vec![asked] } else { ladder.rungs };
    Ok(Prospect { analysis, components: components(&a), rungs })
}

/// Whether another way would find nothing better.
pub(super) fn is_conclusive(reason: StopReason) -> bool {
    matches!(
        reason,
        StopReason::Converged
            | StopReason::NoSolution { .. }
            | StopReason::AtRounding
            | StopReason::Interrupted
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Precond;
    use crate::job::rung::Cost;
    use crate::problem::generate;

    #[test]
    fn a_factorisation_that_takes_long_comes_after_what_could_not_be_set_up() {
        let (device, options) = (Device::cpu(1).unwrap(), Options::default());
        let mut a = Arc::new(generate(&"convection-diffusion:20".parse().unwrap(), 1).unwrap());
        let mut look = Look::at(&mut a, Place::Device(&device), &options, &mut Times::default()).unwrap();
        let mut ladder = Ladder::of(&mut a, options, &mut look).unwrap();
        let direct = ladder.rungs.iter().find(|rung| rung.method == Method::Direct).unwrap();
        let long = Rung { cost: Some(Cost { seconds: 1e4, bytes: 1e9 }), ..direct.clone() };
        let factors = Rung { method: Method::Gmres, precond: Precond::Ilu, ..direct.clone() };
        ladder.rungs = vec![long, factors];
        let plan = ladder.plan(&a, device.target()).unwrap();
        assert_eq!((plan.method, ladder.is_last(), ladder.left.len()), (Method::Gmres, true, 1));
        assert!(ladder.has_another());
        ladder.leave(&a, Attempt::without_a_start(Method::Gmres, Precond::Ilu, "useless".into()));
        let plan = ladder.plan(&a, device.target()).unwrap();
        assert_eq!((plan.method, ladder.is_last()), (Method::Direct, true));
        assert!(!ladder.has_another());
    }

    #[test]
    fn the_last_error_names_what_lets_all_ways_fail() {
        let (device, options) = (Device::cpu(1).unwrap(), Options::default());
        // Nothing is in row 2 of 3, but something in column 2.
        let entries = [(0, 0, 2.0), (0, 1, 1.0), (2, 2, 1.0)];
        let mut a = Arc::new(Csr::from_triplets(3, 3, entries).unwrap());
        let mut look = Look::at(&mut a, Place::Device(&device), &options, &mut Times::default()).unwrap();
        let ladder = Ladder::of(&mut a, options, &mut look).unwrap();
        let error = ladder.explained(Error::Matrix("the matrix is singular".into()));
        let expected = "the matrix is singular; structurally singular: row 2 has no entries";
        assert!(error.to_string().contains(expected), "{error}");
    }
}
