//! Ways to solve a system, one after the other, where nobody has chosen: a ladder, made from what the matrix
//! is.

use std::fmt;
use std::sync::Arc;

use super::{Method, Options, Precision, Precond, trial};
use crate::analysis::{Analysis, Structure, expansion};
use crate::matrix::Csr;
use crate::precond::schur::{Parts, part};
use crate::precond::{amg, ilu};
use crate::solver::direct::{Outlook, Prediction};

/// Entries up to which a factorisation is taken at once where it takes at most so many seconds: that is less
/// than to think about it.
const SMALL: usize = 50_000;
const AT_ONCE: f64 = 1.0;
/// Entries up to which the factors are counted before the ways are put in order: counting takes about as long
/// as a set-up of multigrid.
const COUNTED: usize = 4_000_000;
/// Seconds that a factorisation may take, of a matrix for which multigrid is not made, to be tried first.
const SOON: f64 = 10.0;
/// Seconds beyond which a factorisation is left out where there is another way.
const LONG: f64 = 600.0;
/// Entries a second of a factorisation's ordering.
const ORDERED: f64 = 5e6;
/// Seconds for an entry that multigrid's set-up and its usual twenty iterations take on two cores, each half
/// of it.
const MULTIGRID: f64 = 4e-7;
/// Seconds for an entry that multigrid for both blocks of a saddle point, and some forty iterations, take.
const SCHUR: f64 = 3e-6;
/// Seconds for an entry that incomplete factors by size and a hundred iterations take.
const INCOMPLETE: f64 = 4e-6;
/// Seconds for an entry of an iteration with the diagonal.
const ITERATION: f64 = 1e-9;
/// Iterations that are worth waiting for where there is another way: with multigrid, with incomplete factors,
/// and with the diagonal.
const MULTIGRID_PATIENCE: u32 = 200;
const FACTORS_PATIENCE: u32 = 400;
const DIAGONAL_PATIENCE: u32 = 2000;

/// Seconds of a factorisation from which on MINRES is tried before it, for no longer than that: whether a
/// symmetric indefinite matrix is among the few that it solves soon shows in its first fifty iterations.
const WORTH_A_TRY: f64 = 0.1;
/// Seconds for an entry, and for a row, of an iteration of MINRES.
const MINRES: [f64; 2] = [1.5e-9, 1e-8];

/// Iterations with the diagonal that take about as long as a hierarchy of a graph with full coarse levels.
const GRAPH_PATIENCE: u32 = 1000;

/// Rows within three steps for each within one, beyond which the graph of a matrix is none of a mesh.
const EXPANDING: f64 = 25.0;

/// One way to solve.
#[derive(Debug, Clone, PartialEq)]
pub struct Rung {
    /// The method.
    pub method: Method,
    /// The preconditioner.
    pub precond: Precond,
    /// Unknowns a node.
    pub block_size: usize,
    /// Multigrid's parameters.
    pub amg: amg::Params,
    /// Those of incomplete factors.
    pub ilu: ilu::Params,
    /// Iterations that it is worth waiting for; `None` for all that are allowed.
    pub patience: Option<u32>,
    /// What it is expected to take; `None` where that was not worth counting.
    pub cost: Option<Cost>,
    /// Why it is there.
    pub reason: String,
}

/// What a way to solve is expected to take: an order of magnitude.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Seconds on two cores.
    pub seconds: f64,
    /// Bytes.
    pub bytes: f64,
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.method)?;
        if !self.method.description().is_stationary() {
            write!(f, " + {}", self.precond)?;
        }
        match self.block_size {
            1 => Ok(()),
            b => write!(f, ", {b} x {b} blocks"),
        }
    }
}

impl Rung {
    /// Seconds that it is expected to take; infinite where that was not worth counting.
    fn seconds(&self) -> f64 {
        self.cost.map_or(f64::INFINITY, |cost| cost.seconds)
    }

    /// Why it is left out where there is another way: a factorisation that would take too long. What it takes
    /// is counted now if it was not before.
    pub fn is_too_long(&self, a: &Arc<Csr<f64>>, outlook: &Outlook) -> Option<String> {
        if self.method != Method::Direct || a.nnz() > COUNTED {
            return None;
        }
        let seconds = self.cost.or_else(|| outlook.prediction(a).map(|p| cost_of(&p, a.nnz())))?.seconds;
        (seconds > LONG).then(|| {
            format!("predicted to take {seconds:.1e} s, which --solver direct would take all the same")
        })
    }

    /// The options of the job with this way chosen.
    pub fn options(&self, options: &Options) -> Options {
        let (method, precond, block_size) = (Some(self.method), Some(self.precond), self.block_size);
        let (amg, ilu) = (self.amg.clone(), self.ilu.clone());
        Options { method, precond, block_size, amg, ilu, ..options.clone() }
    }
}

/// The ways for a matrix, the first to be tried first; none where the options choose.
pub fn ladder(a: &Arc<Csr<f64>>, analysis: &Analysis, options: &Options, outlook: &Outlook) -> Vec<Rung> {
    let maker = Maker { a, analysis, options };
    // A format or a number type is of an iteration's products.
    let is_iterative =
        options.format.is_some() || options.precision == Precision::F32 || options.block_size > 1;
    let is_singular =
        analysis.values.is_symmetric && analysis.values.zero_sums == a.n_rows() && a.n_rows() > 0;
    let has_diagonal = analysis.values.diagonal.zero == 0;
    let is_quick = |prediction: &Prediction| maker.direct(Some(*prediction)).seconds() <= AT_ONCE;
    let small = (a.nnz() <= SMALL).then(|| outlook.prediction(a)).flatten().filter(is_quick);
    let graph = (analysis.is_like_diffusion() && expansion(a) > EXPANDING).then(|| maker.diagonal_of_graph());
    // Factors of a graph without a mesh fill even where it is small.
    let is_for_graph = graph
        .as_ref()
        .zip(small)
        .is_some_and(|(graph, small)| graph.seconds() < maker.direct(Some(small)).seconds());
    let mut rungs = match () {
        () if is_iterative || a.n_rows() == 0 => vec![maker.simple(), maker.direct(None)],
        // Its null space is known, which iterations are kept out of.
        () if is_singular && has_diagonal => vec![maker.multigrid(), maker.diagonal(), maker.direct(None)],
        () if is_for_graph => graph.into_iter().chain([maker.direct(small), maker.simple()]).collect(),
        () if small.is_some() => vec![maker.direct(small), maker.simple()],
        () if analysis.values.is_indefinite => return of_indefinite(a, analysis, options, outlook),
        () if analysis.is_like_diffusion() => {
            let rest = [maker.multigrid(), maker.factors(), maker.direct(None), maker.diagonal()];
            graph.into_iter().chain(rest).collect()
        }
        () => {
            let prediction = (a.nnz() <= COUNTED).then(|| outlook.prediction(a)).flatten();
            let direct = maker.direct(prediction);
            let fits = prediction.is_some_and(|prediction| prediction.check_memory().is_ok());
            let is_soon = fits && direct.seconds() <= SOON;
            let mut iterative = match (has_diagonal, maker.method()) {
                (true, Method::Cg) => vec![maker.multigrid(), maker.factors(), maker.diagonal()],
                (true, _) => vec![maker.factors(), maker.multigrid(), maker.short_recurrence()],
                (false, _) if analysis.values.is_symmetric => vec![maker.factors(), maker.short_recurrence()],
                (false, _) => vec![maker.factors()],
            };
            let at = match is_soon {
                true if direct.seconds() <= iterative[0].seconds() => 0,
                true => 1,
                false => iterative.len(),
            };
            iterative.splice(0..0, maker.schur());
            let is_long = direct.seconds() > LONG;
            let is_indefinite = analysis.values.is_symmetric && maker.method() != Method::Cg;
            let first = if at == 0 && is_indefinite { maker.soon(&direct) } else { None };
            iterative.insert(at, direct);
            iterative.splice(0..0, first);
            iterative.extend(is_long.then(|| maker.larger_factors()));
            iterative
        }
    };
    if let Some(last) = rungs.last_mut() {
        last.patience = None;
    }
    rungs
}

/// Puts a factorisation before other ways that take longer: for what is left when one has not served, when it
/// is worth counting.
pub fn reconsider(rungs: &mut [Rung], a: &Arc<Csr<f64>>, outlook: &Outlook) {
    let Some(at) = rungs.iter().position(|rung| rung.method == Method::Direct) else { return };
    if at == 0 || rungs[at].cost.is_some() || a.nnz() > COUNTED {
        return;
    }
    let Some(prediction) = outlook.prediction(a).filter(|prediction| prediction.check_memory().is_ok())
    else {
        return;
    };
    rungs[at].cost = Some(cost_of(&prediction, a.nnz()));
    if rungs[at].seconds() <= SOON.min(rungs[0].seconds()) {
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
    let maker = Maker { a, analysis, options };
    let prediction = (a.nnz() <= COUNTED).then(|| outlook.prediction(a)).flatten();
    let fits = prediction.is_some_and(|prediction| prediction.check_memory().is_ok());
    let (direct, minres) = (maker.direct(prediction), maker.short_recurrence());
    let mut rungs = match fits && direct.seconds() <= SOON {
        true => maker.soon(&direct).into_iter().chain([direct, minres]).collect(),
        false => vec![minres, Rung { method: maker.minimising(), ..maker.factors() }, direct],
    };
    if rungs.last().is_some_and(|rung| rung.method == Method::Direct && rung.seconds() > LONG) {
        rungs.push(Rung { method: Method::Gmres, ..maker.larger_factors() });
    }
    if let Some(last) = rungs.last_mut() {
        last.patience = None;
    }
    rungs
}

fn cost_of(prediction: &Prediction, nnz: usize) -> Cost {
    Cost { seconds: prediction.seconds() + nnz as f64 / ORDERED, bytes: prediction.bytes }
}

struct Maker<'a> {
    a: &'a Csr<f64>,
    analysis: &'a Analysis,
    options: &'a Options,
}

impl Maker<'_> {
    /// Negative definite matrices have been negated.
    fn method(&self) -> Method {
        if self.analysis.may_be_definite() { Method::Cg } else { Method::Gmres }
    }

    fn has_positive_diagonal(&self) -> bool {
        self.analysis.values.diagonal.positive == self.a.n_rows()
    }

    /// For a symmetric matrix with incomplete factors, which are definite where its diagonal is positive.
    fn minimising(&self) -> Method {
        if self.has_positive_diagonal() { Method::Minres } else { Method::Gmres }
    }

    fn multigrid(&self) -> Rung {
        let structure = &self.analysis.structure;
        let nnz = structure.nonzeros as f64;
        // Blocks are for systems of equations, not for the scalar ones that happen to have some.
        let is_system = structure.block_size > 1 && !self.analysis.is_like_diffusion();
        let block_size = if is_system { structure.block_size } else { self.options.block_size };
        let has_trial = self.method() == Method::Cg && (is_system || self.options.block_size == 1);
        let trial = has_trial.then(|| trial::best(self.a, block_size));
        let iterations = trial.as_ref().and_then(|trial| trial.iterations);
        // The whole takes more than a piece.
        let expected = match (iterations, self.analysis.is_like_diffusion()) {
            (Some(iterations), _) => 1.5 * f64::from(iterations),
            (None, true) => 20.0,
            (None, false) => f64::from(MULTIGRID_PATIENCE),
        };
        Rung {
            method: self.method(),
            precond: Precond::Amg,
            block_size,
            patience: Some(MULTIGRID_PATIENCE),
            cost: Some(Cost { seconds: MULTIGRID * nnz * (0.5 + expected / 40.0), bytes: 40.0 * nnz }),
            reason: match (iterations, self.analysis.is_like_diffusion()) {
                (Some(iterations), _) => format!("a piece of the matrix took {iterations} iterations"),
                (None, true) => "nearly an M-matrix, for which multigrid is made".into(),
                (None, false) => "multigrid may do, the diagonal has no zeros".into(),
            },
            amg: trial.map_or(self.options.amg.clone(), |trial| trial.params),
            ilu: self.options.ilu.clone(),
        }
    }

    /// The simplest that there is for the matrix.
    fn simple(&self) -> Rung {
        if self.analysis.values.diagonal.zero > 0 { self.factors() } else { self.diagonal() }
    }

    fn factors(&self) -> Rung {
        let nnz = self.analysis.structure.nonzeros as f64;
        let has_zeros = self.analysis.values.diagonal.zero > 0;
        Rung {
            method: self.method(),
            precond: Precond::Ilu,
            block_size: self.options.block_size,
            patience: Some(FACTORS_PATIENCE),
            cost: Some(Cost { seconds: INCOMPLETE * nnz, bytes: 60.0 * nnz }),
            reason: match has_zeros {
                true => "rows are permuted, so that the diagonal has no zeros".into(),
                false => "incomplete factors by size suit many matrices".into(),
            },
            amg: self.options.amg.clone(),
            ilu: ilu::Params { kind: ilu::Kind::Threshold, ..self.options.ilu.clone() },
        }
    }

    /// For saddle points whose first block multigrid is made for, as that of Stokes' equations.
    fn schur(&self) -> Option<Rung> {
        let Parts { first, .. } =
            Parts::detected(self.a).filter(|_| self.options.block_size == 1 && self.a.nnz() > SMALL)?;
        let block = Analysis::of(&part(self.a, &first, &first));
        let is_more_than_diagonal = block.structure.nonzeros > first.len();
        let nnz = self.analysis.structure.nonzeros as f64;
        (block.is_like_diffusion() && is_more_than_diagonal).then(|| Rung {
            method: Method::Gmres,
            precond: Precond::Schur,
            block_size: 1,
            patience: Some(MULTIGRID_PATIENCE),
            cost: Some(Cost { seconds: SCHUR * nnz, bytes: 120.0 * nnz }),
            reason: "a block of zeros, beside one for which multigrid is made".into(),
            amg: self.options.amg.clone(),
            ilu: self.options.ilu.clone(),
        })
    }

    /// Factors that are not far from complete, where complete ones take too long.
    fn larger_factors(&self) -> Rung {
        const MORE: f64 = 4.0;
        let factors = self.factors();
        let cost =
            factors.cost.map(|Cost { seconds, bytes }| Cost { seconds: MORE * seconds, bytes: MORE * bytes });
        let ilu = ilu::Params { drop: 1e-5, growth: 50.0, ..factors.ilu.clone() };
        Rung { cost, ilu, patience: None, reason: "a factorisation would take too long".into(), ..factors }
    }

    fn diagonal(&self) -> Rung {
        let nnz = self.analysis.structure.nonzeros as f64;
        let vectors = 34.0 * 8.0 * self.analysis.structure.rows as f64;
        Rung {
            method: self.method(),
            precond: Precond::Jacobi,
            block_size: self.options.block_size,
            patience: Some(DIAGONAL_PATIENCE),
            cost: Some(Cost {
                seconds: ITERATION * nnz * f64::from(DIAGONAL_PATIENCE),
                bytes: 12.0 * nnz + vectors,
            }),
            reason: "the simplest preconditioner".into(),
            amg: self.options.amg.clone(),
            ilu: self.options.ilu.clone(),
        }
    }

    /// Coarse levels of a graph whose neighbourhoods grow by a factor are nearly full, and so are factors,
    /// while the diagonal may do: such graphs have no long ways. Whether it does is known soon, and it may
    /// take as long as such a hierarchy.
    fn diagonal_of_graph(&self) -> Rung {
        let nnz = self.analysis.structure.nonzeros as f64;
        let simple = match self.method() {
            Method::Cg => self.diagonal(),
            _ => self.short_recurrence(),
        };
        let cost = simple.cost.map(|cost| Cost { seconds: GRAPH_PATIENCE as f64 * ITERATION * nnz, ..cost });
        let reason = "the graph is none of a mesh: coarse levels would be full".into();
        Rung { patience: Some(GRAPH_PATIENCE), cost, reason, ..simple }
    }

    /// A method that needs few vectors and does not restart: MINRES for symmetric matrices, IDR for others.
    /// MINRES takes no diagonal of both signs.
    fn short_recurrence(&self) -> Rung {
        let is_symmetric = self.analysis.values.is_symmetric;
        let (method, reason) = match is_symmetric {
            true => (Method::Minres, "for symmetric indefinite matrices, in little memory"),
            false => (Method::Idr, "few vectors, and no restarts"),
        };
        let precond = match is_symmetric && !self.has_positive_diagonal() {
            true => Precond::None,
            false => Precond::Jacobi,
        };
        Rung { method, precond, reason: reason.into(), ..self.diagonal() }
    }

    /// MINRES for no longer than a factorisation of an indefinite matrix takes, where that is worth it.
    fn soon(&self, direct: &Rung) -> Option<Rung> {
        let Structure { rows, nonzeros, .. } = self.analysis.structure;
        let iteration = MINRES[0] * nonzeros as f64 + MINRES[1] * rows as f64;
        let is_worth = (WORTH_A_TRY..=SOON).contains(&direct.seconds());
        let patience = (direct.seconds() / iteration) as u32;
        is_worth.then(|| Rung {
            patience: Some(patience),
            cost: Some(Cost { seconds: f64::from(patience) * iteration, bytes: 12.0 * nonzeros as f64 }),
            reason: "if it takes less than a factorisation".into(),
            ..self.short_recurrence()
        })
    }

    fn direct(&self, prediction: Option<Prediction>) -> Rung {
        let cost = |p: Prediction| cost_of(&p, self.a.nnz());
        Rung {
            method: Method::Direct,
            precond: Precond::None,
            block_size: 1,
            patience: None,
            cost: prediction.map(cost),
            reason: match prediction.map(cost) {
                Some(cost) if cost.seconds <= SOON => "a factorisation costs little".into(),
                _ => "what no iteration solves".into(),
            },
            amg: self.options.amg.clone(),
            ilu: self.options.ilu.clone(),
        }
    }
}
