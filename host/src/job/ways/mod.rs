//! The ways to solve that there are for a matrix, each with what it is expected to take.

use std::cell::{Cell, OnceCell};

use super::rung::{
    Cost, INCOMPLETE, MULTIGRID, Rung, SCHUR, cost_of, counting_seconds, diagonal_iteration_seconds,
};
use super::trial::{self, Ahead, Trial, Tried};
use super::uncounted::{EXPANDING, PLANE, VOLUME};
use super::{Method, Options, Precond};
use crate::analysis::{Analysis, ProductMatching, Values, asymmetry, expansion};
use crate::matrix::Csr;
use crate::precond::ilu;
use crate::precond::schur::{Parts, is_like_gradient};
use crate::solver::direct::Prediction;

mod diagonal;

/// Entries up to which a factorisation is taken at once where it takes at most so many seconds: that is less
/// than to think about it.
pub const SMALL: usize = 50_000;
pub const AT_ONCE: f64 = 1.0;
/// Seconds that a factorisation may take, of a matrix for which multigrid is not made, to be tried first.
pub const SOON: f64 = 10.0;
/// Iterations that are worth waiting for where there is another way: with multigrid, and with incomplete
/// factors.
const MULTIGRID_PATIENCE: u32 = 200;
const FACTORS_PATIENCE: u32 = 400;
/// Entries up to which multigrid takes no longer than to look for what may be better.
const SOON_SOLVED: usize = 150_000;
/// Iterations of multigrid for a matrix that it is made for.
const USUAL: f64 = 20.0;
/// How many times as large as the least entry the largest is where coefficients jump.
const JUMPS: f64 = 1e3;
/// The asymmetry of flows: of others at most rounding, or a slow drift.
const FLOW: f64 = 0.1;
/// Iterations of multigrid that a small piece has shown not to suit the matrix.
const MANY: f64 = 1000.0;
/// Iterations that show whether the diagonal will do,
pub const LEAST_PATIENCE: u32 = 50;
/// and the share of the seconds of the next way that a look at something else may take before it.
const A_LOOK: f64 = 0.1;
/// The share of the seconds of a way that another is expected to take to be tried before it, of which less is
/// certain.
pub const CLEARLY: f64 = 0.7;
/// Iterations with the diagonal that a piece of a block takes at most whose diagonal stands for it.
const NEAR_DIAGONAL: u32 = 60;
/// Seconds for an entry of the matrix to arrange it for incomplete factors, to eliminate, for the square of
/// the fill and each entry of a row, and to solve, for each entry of matrix and factors, on two cores.
const ARRANGED: f64 = 1.5e-7;
const ELIMINATED: f64 = 4e-9;
const SOLVED: f64 = 1.5e-9;
/// Seconds for an entry of a piece that no coarsening suits, to try all that there are.
const TRIED: f64 = 8e-7;
/// Seconds for a row in which GMRES(30) makes a vector orthogonal to those before.
const ORTHOGONALISED: f64 = 3e-8;
/// The share of a matrix like diffusion that a piece is at most, to be tried with incomplete factors. Of
/// others a factorisation is counted, which shows as much.
const PIECE: f64 = 0.25;
/// How many times as long as counting the entries of factors the diagonal may take to be tried before that.
const SOON_SEEN: f64 = 2.0;

/// Makes them.
pub struct Maker<'a> {
    pub a: &'a Csr<f64>,
    pub analysis: &'a Analysis,
    pub options: &'a Options,
    /// The iterations that a [glance](Maker::at_a_glance) at the matrix has shown the diagonal to take, where
    /// there was one.
    glanced: Option<f64>,
    /// What another thread finds out meanwhile,
    ahead: Cell<Option<Ahead>>,
    /// and what is known of a piece without blocks, once somebody has asked.
    tried: OnceCell<Tried>,
    /// Iterations with the diagonal at most, once they were looked for.
    most_steps: OnceCell<f64>,
    /// Whether it is that of a [flow](Maker::is_flow), once somebody has asked.
    is_flow: OnceCell<bool>,
}

impl<'a> Maker<'a> {
    pub fn new(
        a: &'a Csr<f64>,
        analysis: &'a Analysis,
        options: &'a Options,
        ahead: Option<Ahead>,
    ) -> Maker<'a> {
        let (tried, most_steps, is_flow) = Default::default();
        Maker { a, analysis, options, glanced: None, ahead: Cell::new(ahead), tried, most_steps, is_flow }
    }

    /// After a [glance](Maker::at_a_glance) at the matrix, where there was one.
    pub fn after_a_glance(self, glanced: Option<f64>) -> Maker<'a> {
        Maker { glanced, ..self }
    }

    /// What was tried of a piece without blocks.
    pub fn tried(&self) -> &Tried {
        let ahead = || self.ahead.take().and_then(Ahead::found);
        self.tried.get_or_init(|| ahead().unwrap_or_else(|| Tried::nothing(self.a)))
    }

    /// Seconds that a trial of coarsenings takes at most, where a piece does not show soon that multigrid
    /// suits the matrix; none where there is none.
    pub fn trial_seconds(&self) -> f64 {
        let has_trial = self.method() == Method::Cg && !self.analysis.is_like_diffusion();
        if has_trial { TRIED * trial::entries_of_piece(self.a) as f64 } else { 0.0 }
    }

    /// Negative definite matrices have been negated.
    pub fn method(&self) -> Method {
        if self.analysis.may_be_definite() { Method::Cg } else { Method::Gmres }
    }

    pub fn has_positive_diagonal(&self) -> bool {
        self.analysis.values.diagonal.positive == self.a.n_rows()
    }

    /// For a symmetric matrix with incomplete factors, which are definite where its diagonal is positive.
    pub fn minimising(&self) -> Method {
        if self.has_positive_diagonal() { Method::Minres } else { Method::Gmres }
    }

    pub fn multigrid(&self) -> Rung {
        let structure = &self.analysis.structure;
        // Blocks are for systems of equations, not for the scalar ones that happen to have some, unless they
        // serve those better.
        let is_system = structure.block_size > 1 && !self.analysis.is_like_diffusion();
        let mut block_size = if is_system { structure.block_size } else { self.options.block_size };
        let is_tried = self.method() == Method::Cg || self.analysis.is_like_diffusion();
        let has_trial = is_tried && (is_system || self.options.block_size == 1);
        let mut trial = has_trial.then(|| self.best_coarsening(block_size));
        let found = structure.block_size;
        if found > block_size
            && let Some(scalar) = &trial
        {
            let blocks = self.best_coarsening(found);
            if blocks.is_better_than(scalar) {
                (trial, block_size) = (Some(blocks), found);
            }
        }
        let iterations = trial.as_ref().and_then(|trial| trial.iterations);
        // The whole takes more than a piece.
        let (expected, reason) = match iterations {
            Some(iterations) => {
                (1.5 * f64::from(iterations), format!("a piece of the matrix took {iterations} iterations"))
            }
            None if has_trial => {
                (MANY, format!("a piece of the matrix took more than {} iterations", trial::MOST))
            }
            None if self.analysis.is_like_diffusion() => return self.usual_multigrid(),
            None => (f64::from(MULTIGRID_PATIENCE), "multigrid may do, the diagonal has no zeros".into()),
        };
        let amg = trial.map_or(self.options.amg.clone(), |trial| trial.params);
        Rung { block_size, amg, reason, ..self.multigrid_of(expected) }
    }

    /// Multigrid of a small matrix that it is made for, after the diagonal: it takes little more than to
    /// count the entries of factors and to try pieces. A very small one is factorised in less time where its
    /// mesh has one dimension, as a line or a tree has. Not of flows.
    pub fn multigrid_at_once(&self) -> Option<Rung> {
        let nnz = self.a.nnz();
        let is_small = self.glanced.is_some() && nnz <= SOON_SOLVED;
        let meshes = if nnz <= SMALL { PLANE } else { 0.0 }..EXPANDING;
        let is_made_for_it = is_small
            && self.analysis.is_like_diffusion()
            && meshes.contains(&expansion(self.a))
            && !self.is_flow();
        let Values { least, most, .. } = self.analysis.values;
        let amg = if most > JUMPS * least { trial::classical() } else { self.options.amg.clone() };
        is_made_for_it.then(|| Rung { amg, patience: Some(2 * USUAL as u32), ..self.usual_multigrid() })
    }

    /// Whether the matrix is far from a symmetric one, by a piece of it, as that of a flow.
    pub fn is_flow(&self) -> bool {
        let is_asymmetric = || asymmetry(&self.tried().piece) > FLOW;
        self.method() != Method::Cg && *self.is_flow.get_or_init(is_asymmetric)
    }

    /// Multigrid that nobody has tried on a piece.
    fn usual_multigrid(&self) -> Rung {
        Rung { reason: "nearly an M-matrix, for which multigrid is made".into(), ..self.multigrid_of(USUAL) }
    }

    /// Multigrid that is expected to take so many iterations.
    fn multigrid_of(&self, iterations: f64) -> Rung {
        let nnz = self.analysis.structure.nonzeros as f64;
        let products = MULTIGRID * nnz * (0.5 + 0.5 * iterations / USUAL);
        let seconds = products + self.vectors_seconds() * iterations;
        Rung {
            method: self.method(),
            precond: Precond::Amg,
            block_size: self.options.block_size,
            patience: Some(MULTIGRID_PATIENCE),
            cost: Some(Cost { seconds, bytes: 40.0 * nnz }),
            reason: String::new(),
            amg: self.options.amg.clone(),
            ilu: self.options.ilu.clone(),
        }
    }

    fn best_coarsening(&self, block_size: usize) -> Trial {
        if block_size == 1 { self.tried().best() } else { trial::best(self.a, block_size) }
    }

    /// Seconds in which an iteration of the method makes a vector orthogonal to others. Of matrices that are
    /// not like diffusion nothing is expected that closely.
    fn vectors_seconds(&self) -> f64 {
        let is_counted = self.method() == Method::Gmres && self.analysis.is_like_diffusion();
        if is_counted { ORTHOGONALISED * self.a.n_rows() as f64 } else { 0.0 }
    }

    /// The simplest that there is for the matrix.
    pub fn simple(&self) -> Rung {
        if self.analysis.values.diagonal.zero > 0 { self.factors() } else { self.diagonal() }
    }

    pub fn factors(&self) -> Rung {
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

    /// For saddle points as those of Stokes' and Darcy's equations: multigrid is made for their first block,
    /// and the multipliers are a pressure.
    pub fn schur(&self) -> Option<Rung> {
        let Parts { first, multipliers } =
            Parts::detected(self.a).filter(|_| self.options.block_size == 1 && self.a.nnz() > SMALL)?;
        if !is_like_gradient(&self.a.chosen_part(&first, &multipliers)) {
            return None;
        }
        let nnz = self.analysis.structure.nonzeros as f64;
        let block = self.a.chosen_part(&first, &first);
        let analysis = Analysis::of(&block);
        let reason = match () {
            () if analysis.is_like_diffusion() => "a pressure, and a block for which multigrid is made",
            // As that of flows through porous media.
            () if analysis.may_be_definite()
                && trial::diagonal_iterations(&Tried::nothing(&block).piece, true, NEAR_DIAGONAL)
                    .is_some() =>
            {
                "a pressure, and a block that is near its diagonal"
            }
            () => return None,
        };
        Some(Rung {
            method: Method::Gmres,
            precond: Precond::Schur,
            block_size: 1,
            patience: Some(MULTIGRID_PATIENCE),
            cost: Some(Cost { seconds: SCHUR * nnz, bytes: 120.0 * nnz }),
            reason: reason.into(),
            amg: self.options.amg.clone(),
            ilu: self.options.ilu.clone(),
        })
    }

    /// Factors that are not far from complete, where complete ones take too long.
    pub fn larger_factors(&self) -> Rung {
        const MORE: f64 = 4.0;
        let factors = self.factors();
        let cost =
            factors.cost.map(|Cost { seconds, bytes }| Cost { seconds: MORE * seconds, bytes: MORE * bytes });
        let ilu = ilu::Params { drop: 1e-5, growth: 50.0, ..factors.ilu.clone() };
        Rung { cost, ilu, patience: None, reason: "a factorisation would take too long".into(), ..factors }
    }

    /// How many times as many rows as a piece the matrix has.
    fn larger(&self) -> f64 {
        self.a.n_rows() as f64 / trial::ROWS as f64
    }

    /// Whether a piece is less than such a share of the matrix.
    fn is_small_part(&self, share: f64) -> bool {
        share * self.larger() >= 1.0
    }

    /// How many times as long as a piece the mesh of such a graph is: iterations grow with that. An unknown
    /// does not feel others that are further away than there are iterations at most.
    fn lengthening(&self, graph: &Csr<f64>) -> f64 {
        let power = if expansion(graph) < VOLUME { 1.0 / 2.0 } else { 1.0 / 3.0 };
        let length = |rows: usize| (rows as f64).powf(power);
        (length(self.a.n_rows()).min(self.most_steps()) / length(trial::ROWS)).max(1.0)
    }

    /// Incomplete factors that a piece of the matrix says to be good, with what they are expected to take by
    /// that; where a piece is little of the matrix. Where the diagonal has zeros rows are permuted first, or
    /// those of a piece would have their large entries beside it.
    pub fn factors_of_piece(&self) -> Option<Rung> {
        let structure = &self.analysis.structure;
        let (rows, nnz) = (structure.rows as f64, structure.nonzeros as f64);
        let share = if self.analysis.is_like_diffusion() { PIECE } else { A_LOOK };
        if !self.is_small_part(share) {
            return None;
        }
        let permuted = match self.analysis.values.diagonal.zero {
            0 => None,
            _ => Some(with_diagonal(self.a)?),
        };
        let of_permuted = permuted.as_ref().map(Tried::nothing);
        let (a, tried) =
            permuted.as_ref().zip(of_permuted.as_ref()).unwrap_or_else(|| (self.a, self.tried()));
        let growth = self.lengthening(a);
        let is_mesh = expansion(a) < EXPANDING;
        let most = (f64::from(FACTORS_PATIENCE) / growth) as u32;
        let found = trial::factors(&tried.piece, &self.options.ilu, is_mesh, most)?;
        let (expected, fill) = (growth * f64::from(found.iterations), found.fill);
        let elimination = ELIMINATED * nnz * fill.powi(2) * nnz / rows;
        let products = SOLVED * nnz * (1.0 + fill) + diagonal_iteration_seconds(structure);
        let iteration = products + self.vectors_seconds();
        let seconds = ARRANGED * nnz + elimination + expected * iteration;
        let patience = (4.0 * expected).clamp(f64::from(LEAST_PATIENCE), f64::from(FACTORS_PATIENCE));
        let factors = self.factors();
        Some(Rung {
            cost: Some(Cost { seconds, bytes: 12.0 * nnz * (2.0 + fill) }),
            patience: Some(patience as u32),
            reason: format!("a piece of the matrix took {} iterations", found.iterations),
            ilu: ilu::Params { kind: found.kind, ..factors.ilu.clone() },
            ..factors
        })
    }

    /// Whether a way takes about as long as counting the entries of complete factors alone.
    pub fn is_soon_seen(&self, rung: &Rung) -> bool {
        rung.seconds() <= SOON_SEEN * counting_seconds(self.a.nnz())
    }

    pub fn direct(&self, prediction: Option<Prediction>) -> Rung {
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

/// The matrix with its rows permuted, so that the product of its diagonal is the largest that there is;
/// `None` where zeros would be left there.
fn with_diagonal(a: &Csr<f64>) -> Option<Csr<f64>> {
    let matching = ProductMatching::of(a);
    (matching.size == a.n_rows()).then(|| a.chosen_rows(&matching.row_of))
}
