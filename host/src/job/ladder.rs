//! Ways to solve a system, one after the other, where nobody has chosen: a ladder, made from what the matrix
//! is.

use std::sync::Arc;

use super::rung::{COUNTED, LONG, Rung, cost_of, counting_seconds};
use super::trial::Ahead;
use super::uncounted::{EXPANDING, is_longer_than};
use super::ways::{AT_ONCE, CLEARLY, LEAST_PATIENCE, Maker, SMALL, SOON};
use super::{Method, Options, Precision, Precond};
use crate::analysis::{Analysis, Structure, expansion};
use crate::matrix::Csr;
use crate::solver::direct::{Outlook, Prediction};

/// Seconds for an entry of the next way, from which on a factorisation is counted before it.
const WORTH_COUNTING: f64 = 5e-7;

/// Iterations with multigrid that are worth waiting for where all that comes after it takes long.
const MOST_PATIENCE: u32 = 500;

/// A way that is tried before others are thought of, where that may be worth it.
pub fn glance(a: &Csr<f64>, analysis: &Analysis, options: &Options) -> Option<Rung> {
    if are_iterative(options) { None } else { Maker::new(a, analysis, options, None).at_a_glance() }
}

/// Whether these name what only iterations have: a format or a number type is of their products.
fn are_iterative(options: &Options) -> bool {
    options.format.is_some() || options.precision == Precision::F32 || options.block_size > 1
}

/// The ways for a matrix, the first to be tried first; none where the options choose. Another thread may have
/// tried a piece of it `ahead`, and a [`glance`] may have shown that it would take so many iterations.
pub fn ladder(
    a: &Arc<Csr<f64>>,
    analysis: &Analysis,
    options: &Options,
    outlook: &Outlook,
    ahead: Option<Ahead>,
    glanced: Option<f64>,
) -> Vec<Rung> {
    let maker = Maker::new(a, analysis, options, ahead).after_a_glance(glanced);
    let is_iterative = are_iterative(options);
    let is_singular = analysis.values.is_symmetric && analysis.maps_constants_to_zero();
    let has_diagonal = analysis.values.diagonal.zero == 0;
    if !(is_iterative || is_singular)
        && let Some(multigrid) = maker.multigrid_at_once()
    {
        return vec![multigrid, maker.direct(None), Rung { patience: None, ..maker.simple() }];
    }
    // Else it has to take less than what the choice would be made by.
    let at_once = if a.nnz() <= SMALL { AT_ONCE } else { maker.trial_seconds() };
    // It has been counted then.
    let is_quick = |prediction: &Prediction| prediction.seconds() <= at_once;
    let is_counted = a.nnz() <= SMALL || counting_seconds(a.nnz()) < at_once;
    let small = is_counted.then(|| outlook.prediction(a)).flatten().filter(is_quick);
    let is_of_graph = analysis.is_like_diffusion() && expansion(a) > EXPANDING;
    let graph = is_of_graph.then(|| maker.diagonal_of_graph()).flatten();
    // Factors of a graph without a mesh fill even where it is small.
    let is_for_graph = graph
        .as_ref()
        .zip(small)
        .is_some_and(|(graph, small)| graph.seconds() < maker.direct(Some(small)).seconds());
    let mut rungs = match () {
        () if is_iterative || a.n_rows() == 0 => {
            let is_for_multigrid = has_diagonal && maker.method() == Method::Cg && a.nnz() > SMALL;
            let multigrid = is_for_multigrid.then(|| maker.multigrid());
            multigrid.into_iter().chain([maker.simple(), maker.direct(None)]).collect()
        }
        // Its null space is known, which iterations are kept out of.
        () if is_singular && has_diagonal => vec![maker.multigrid(), maker.diagonal(), maker.direct(None)],
        () if is_for_graph => graph.into_iter().chain([maker.direct(small), maker.simple()]).collect(),
        () if small.is_some() => vec![maker.direct(small), maker.simple()],
        () if analysis.values.is_indefinite => return of_indefinite(a, analysis, options, outlook),
        () if analysis.is_like_diffusion() => {
            let (multigrid, factors) = (maker.multigrid(), maker.factors());
            // Upwind differences are nearly triangular in the order of the flow.
            let is_flow = graph.is_none() && maker.is_flow();
            let tried = is_flow.then(|| maker.factors_of_piece()).flatten();
            let first = shorter_first([multigrid, tried.unwrap_or(factors)]);
            graph.into_iter().chain(first).chain([maker.direct(None), maker.diagonal()]).collect()
        }
        () => {
            let schur = maker.schur();
            let is_hopeless = schur.as_ref().is_some_and(|schur| is_longer_than(a, schur.seconds()));
            let mut iterative = match (has_diagonal, maker.method()) {
                // A piece may have shown that multigrid takes longer.
                (true, Method::Cg) => {
                    let first = shorter_first([maker.multigrid(), maker.factors()]);
                    first.into_iter().chain([maker.diagonal()]).collect()
                }
                (true, _) => vec![maker.factors(), maker.multigrid(), maker.short_recurrence()],
                (false, _) if analysis.values.is_symmetric => vec![maker.factors(), maker.short_recurrence()],
                (false, _) => vec![maker.factors()],
            };
            let is_plain = schur.is_none() && maker.method() != Method::Cg;
            iterative.splice(0..0, schur);
            let soon_seen = maker.before_counting(&iterative[0]);
            let is_tried = is_plain && soon_seen.is_none();
            let tried = is_tried.then(|| maker.factors_of_piece()).flatten();
            let is_soon_seen =
                soon_seen.is_some() || tried.as_ref().is_some_and(|way| maker.is_soon_seen(way));
            if let Some(tried) = tried {
                let replaced = usize::from(iterative[0].ilu == tried.ilu);
                iterative.splice(0..replaced, [tried]);
            }
            let is_counted = !(is_hopeless || is_soon_seen) && is_worth_counting(a, &iterative[0]);
            let prediction = is_counted.then(|| outlook.prediction(a)).flatten();
            let direct = maker.direct(prediction);
            let is_long = direct.seconds() > LONG;
            insert(&mut iterative, direct, fits(prediction));
            iterative.extend(is_long.then(|| maker.larger_factors()));
            iterative.splice(0..0, soon_seen);
            iterative
        }
    };
    if !is_iterative && let Some(simple) = rungs.first().and_then(|next| maker.before(next)) {
        rungs.insert(0, simple);
    }
    extend(&mut rungs, &analysis.structure);
    bound(&mut rungs, &analysis.structure);
    if let Some(last) = rungs.last_mut() {
        last.patience = None;
    }
    rungs
}

/// The way that is expected to take less, and the other.
fn shorter_first(mut ways: [Rung; 2]) -> [Rung; 2] {
    ways.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
    ways
}

/// Whether the next way takes so long that a factorisation is counted before it.
fn is_worth_counting(a: &Csr<f64>, next: &Rung) -> bool {
    a.nnz() <= COUNTED && next.seconds() >= WORTH_COUNTING * a.nnz() as f64
}

/// Whether there is memory for a factorisation that was counted.
fn fits(prediction: Option<Prediction>) -> bool {
    prediction.is_some_and(|prediction| prediction.check_memory().is_ok())
}

/// Puts a factorisation among other ways, behind them where it does not fit.
fn insert(rungs: &mut Vec<Rung>, direct: Rung, fits: bool) {
    let at = if fits { place(&direct, rungs) } else { rungs.len() };
    rungs.insert(at, direct);
}

/// Where a factorisation comes among other ways: before those that take longer, and incomplete factors that
/// do not take clearly less, which may come to nothing; where it takes little after the first at the latest.
pub(super) fn place(direct: &Rung, others: &[Rung]) -> usize {
    let share = |rung: &Rung| if rung.precond == Precond::Ilu { CLEARLY } else { 1.0 };
    let at = others.iter().position(|rung| rung.seconds() >= share(rung) * direct.seconds());
    let at = at.unwrap_or(others.len());
    if direct.seconds() <= SOON { at.min(1) } else { at }
}

/// No way is worth waiting for longer than the factorisation after it takes, where that was counted.
fn bound(rungs: &mut [Rung], structure: &Structure) {
    let Some(at) = rungs.iter().position(|rung| rung.method == Method::Direct) else { return };
    let seconds = rungs[at].seconds();
    for rung in &mut rungs[..at] {
        let most = (seconds / rung.iteration_seconds(structure)).max(f64::from(LEAST_PATIENCE)) as u32;
        rung.patience = rung.patience.map(|patience| patience.min(most));
    }
}

/// CG with multigrid is worth waiting for as long as what comes after it takes, up to a factorisation.
fn extend(rungs: &mut [Rung], structure: &Structure) {
    let Some(at) = rungs.iter().position(|rung| rung.precond == Precond::Amg && rung.method == Method::Cg)
    else {
        return;
    };
    let after = &rungs[at + 1..];
    let behind = after.iter().position(|rung| rung.method == Method::Direct).map_or(after.len(), |k| k + 1);
    let costs = after[..behind].iter().filter_map(|rung| rung.cost);
    let seconds: f64 = costs.map(|cost| cost.seconds).sum();
    let rung = &mut rungs[at];
    let most = (seconds / rung.iteration_seconds(structure)).min(f64::from(MOST_PATIENCE)) as u32;
    rung.patience = rung.patience.map(|patience| patience.max(most));
}

/// Puts a factorisation before other ways that take longer: for what is left when one has not served, when it
/// is worth counting.
pub fn reconsider(rungs: &mut [Rung], a: &Arc<Csr<f64>>, outlook: &Outlook) {
    let Some(at) = rungs.iter().position(|rung| rung.method == Method::Direct) else { return };
    let is_uncounted = at > 0 && rungs[at].cost.is_none();
    if !is_uncounted || !is_worth_counting(a, &rungs[0]) || is_longer_than(a, rungs[0].seconds()) {
        return;
    }
    let Some(prediction) = outlook.prediction(a).filter(|prediction| prediction.check_memory().is_ok())
    else {
        return;
    };
    rungs[at].cost = Some(cost_of(&prediction, a.nnz()));
    if rungs[at].seconds() <= rungs[0].seconds() {
        rungs[..=at].rotate_right(1);
        let is_last = at + 1 == rungs.len();
        if is_last && let Some(last) = rungs.last_mut() {
            last.patience = None;
        }
    }
}

/// The ways for a symmetric matrix that is indefinite although its diagonal is of one sign, as the analysis
/// or CG has shown.
pub fn of_indefinite(
    a: &Arc<Csr<f64>>,
    analysis: &Analysis,
    options: &Options,
    outlook: &Outlook,
) -> Vec<Rung> {
    let maker = Maker::new(a, analysis, options, None);
    let prediction = (a.nnz() <= COUNTED).then(|| outlook.prediction(a)).flatten();
    let fits = fits(prediction);
    let (direct, minres) = (maker.direct(prediction), maker.short_recurrence());
    let mut rungs = match fits && direct.seconds() <= SOON {
        true => maker.before(&direct).into_iter().chain([direct, minres]).collect(),
        false => {
            let mut rungs = vec![minres, Rung { method: maker.minimising(), ..maker.factors() }];
            insert(&mut rungs, direct, fits);
            rungs
        }
    };
    if rungs.last().is_some_and(|rung| rung.method == Method::Direct && rung.seconds() > LONG) {
        rungs.push(Rung { method: Method::Gmres, ..maker.larger_factors() });
    }
    if let Some(last) = rungs.last_mut() {
        last.patience = None;
    }
    rungs
}
