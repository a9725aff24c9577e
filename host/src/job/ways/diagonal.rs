//! Ways with the diagonal, and after how many iterations they are expected to end.

use std::f64::consts::LN_2;

use super::{A_LOOK, CLEARLY, LEAST_PATIENCE, Maker, SMALL, SOON_SEEN};
use crate::analysis::contraction;
use crate::job::rung::{Cost, Rung, counting_seconds, diagonal_iteration_seconds};
use crate::job::{Method, Precond, trial};

/// Iterations that are worth waiting for where there is another way, of which nothing is known,
const PATIENCE: u32 = 2000;
/// and those that may take less than a way that takes very long.
const MOST: f64 = 20_000.0;
/// How many times the seconds of multigrid a bound of those with the diagonal may be, where the matrix is not
/// symmetric: the bound holds, and of multigrid for such a matrix no more than a guess is known. Not so where
/// a glance was slow.
const CERTAINLY: f64 = 2.5;
/// Iterations with the diagonal that a piece of a matrix takes at least, for which multigrid is made.
const FEWEST: f64 = 10.0;
/// Entries of a matrix that is worth a glance: any way for a smaller one takes no longer than that, and of a
/// larger one a piece tells more.
const GLANCED_AT: std::ops::Range<usize> = 5_000..500_000;
/// Iterations that are less than other ways take, at least: else a glance is too large a part of them.
const FEWEST_GLANCED: f64 = 40.0;
/// Seconds for an entry that all other ways take at least, of a small matrix and of others,
const ANY_OTHER: [f64; 2] = [2e-7, 1e-7];
/// and those of an iteration with the diagonal in a cache: for an entry, for a row of CG's few vectors and of
/// other methods' many, and at all.
const CACHED_ENTRY: f64 = 5e-10;
const CACHED_ROW: [f64; 2] = [2e-9, 8e-9];
const AT_ALL: f64 = 2e-6;
/// Iterations with the diagonal that take about as long as a hierarchy of a graph with full coarse levels.
const GRAPH_PATIENCE: u32 = 1000;

impl Maker<'_> {
    /// CG or GMRES.
    pub fn diagonal(&self) -> Rung {
        let nnz = self.analysis.structure.nonzeros as f64;
        let vectors = 34.0 * 8.0 * self.analysis.structure.rows as f64;
        Rung {
            method: self.method(),
            precond: Precond::Jacobi,
            block_size: self.options.block_size,
            patience: Some(PATIENCE),
            cost: Some(Cost {
                seconds: diagonal_iteration_seconds(&self.analysis.structure) * f64::from(PATIENCE),
                bytes: 12.0 * nnz + vectors,
            }),
            reason: "the simplest preconditioner".into(),
            amg: self.options.amg.clone(),
            ilu: self.options.ilu.clone(),
        }
    }

    /// The diagonal, or nothing, before anything is found out that takes longer than some iterations: for
    /// what the right-hand side makes easy, or the diagonal. They may be as many as take less than any other
    /// way.
    pub fn at_a_glance(&self) -> Option<Rung> {
        let (rows, nnz) = (self.a.n_rows() as f64, self.a.nnz());
        let is_hard = self.analysis.values.is_indefinite || !self.may_be_simple();
        if is_hard || !GLANCED_AT.contains(&nnz) {
            return None;
        }
        let of_row = CACHED_ROW[usize::from(self.method() != Method::Cg)];
        let iteration = CACHED_ENTRY * nnz as f64 + of_row * rows + AT_ALL;
        let seconds = ANY_OTHER[usize::from(nnz > SMALL)] * nnz as f64;
        let patience = seconds / iteration;
        let glance = || self.simple_within(patience as u32, seconds, "it shows soon whether that will do");
        (patience >= FEWEST_GLANCED).then(glance)
    }

    /// Whether there is a diagonal, or a method that needs none.
    fn may_be_simple(&self) -> bool {
        self.analysis.values.diagonal.zero == 0 || self.analysis.values.is_symmetric
    }

    /// Coarse levels of a graph whose neighbourhoods grow by a factor are nearly full, and so are factors,
    /// while the diagonal may do: such graphs have no long ways. Whether it does is known soon, and it may
    /// take as long as such a hierarchy.
    pub fn diagonal_of_graph(&self) -> Option<Rung> {
        if self.is_slow_within(f64::from(GRAPH_PATIENCE)) {
            return None;
        }
        let seconds = f64::from(GRAPH_PATIENCE) * diagonal_iteration_seconds(&self.analysis.structure);
        let reason = "the graph is none of a mesh: coarse levels would be full";
        Some(self.simple_within(GRAPH_PATIENCE, seconds, reason))
    }

    /// Whether a glance has shown that the diagonal takes more iterations. Of CG it shows nothing, whose
    /// residual norms may grow until it has seen most of the spectrum; nor of a flow, of which nothing is
    /// gained until it has gone through the mesh.
    fn is_slow_within(&self, most: f64) -> bool {
        let is_shown = self.method() != Method::Cg && self.glanced.is_some_and(|glanced| glanced > most);
        is_shown && !self.is_flow()
    }

    /// A method that needs few vectors and does not restart: MINRES for symmetric matrices, IDR for others.
    /// MINRES takes no diagonal of both signs.
    pub fn short_recurrence(&self) -> Rung {
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

    /// The diagonal, or nothing, before a way that takes longer: for no longer than that, and where a look at
    /// it costs little.
    pub fn before(&self, next: &Rung) -> Option<Rung> {
        if next.is_simple() || !self.may_be_simple() {
            return None;
        }
        let iteration = diagonal_iteration_seconds(&self.analysis.structure);
        let most = (next.seconds() / iteration).min(MOST);
        if self.is_slow_within(most) {
            return None;
        }
        let certain = self.most_steps();
        let is_bound = next.precond == Precond::Amg && self.method() != Method::Cg;
        let certainly = if self.glanced.is_some() { 1.0 } else { CERTAINLY };
        let share = match next.precond {
            Precond::Amg => Some(CLEARLY),
            Precond::Ilu if self.analysis.is_like_diffusion() => Some(CLEARLY),
            // Of what comes next less is known than of CG.
            _ if self.method() == Method::Cg && self.is_small_part(A_LOOK) => Some(1.0),
            _ => None,
        };
        let seconds = match share {
            _ if is_bound && certain <= certainly * most => iteration * certain,
            Some(share) => iteration * self.diagonal_iterations(share * most)?,
            None if self.glanced.is_none() && f64::from(LEAST_PATIENCE) < A_LOOK * most => next.seconds(),
            None => return None,
        };
        let patience = match share {
            Some(_) => most.max(seconds / iteration),
            None => most.min(f64::from(PATIENCE)),
        };
        Some(self.simple_within(patience as u32, seconds, "if it takes less than what comes after it"))
    }

    /// The diagonal, or nothing, with a method that needs few vectors, for so many iterations.
    fn simple_within(&self, patience: u32, seconds: f64, reason: &str) -> Rung {
        let simple = match self.method() {
            Method::Cg => self.diagonal(),
            _ => self.short_recurrence(),
        };
        let cost = simple.cost.map(|cost| Cost { seconds, ..cost });
        Rung { patience: Some(patience), cost, reason: reason.into(), ..simple }
    }

    /// The diagonal, where a piece of the matrix says that it takes about as long as counting the entries of
    /// factors alone, and less than the next way.
    pub fn before_counting(&self, next: &Rung) -> Option<Rung> {
        let has_diagonal = self.analysis.values.diagonal.zero == 0;
        let is_indefinite = self.analysis.values.is_symmetric && self.method() != Method::Cg;
        if !has_diagonal || is_indefinite {
            return None;
        }
        let iteration = diagonal_iteration_seconds(&self.analysis.structure);
        let most = (SOON_SEEN * counting_seconds(self.a.nnz())).min(CLEARLY * next.seconds()) / iteration;
        let iterations = self.diagonal_iterations(most)?;
        let reason = "a piece of the matrix took few iterations";
        Some(self.simple_within(most as u32, iteration * iterations, reason))
    }

    /// Iterations that CG, or IDR, is expected to take with the diagonal, by those that a piece of the matrix
    /// takes and by the dominance of the diagonal; `None` for more than so many.
    fn diagonal_iterations(&self, most: f64) -> Option<f64> {
        let is_symmetric = self.method() == Method::Cg;
        let most_steps = self.most_steps();
        if most_steps <= most {
            return Some(most_steps);
        }
        // Where that costs little, pieces of two sizes tell how iterations grow.
        let is_measured = is_symmetric && self.is_small_part(A_LOOK);
        let growth = self.lengthening(self.a);
        let most_of_piece = if is_measured { most } else { most / growth };
        let of_piece = (most_of_piece >= FEWEST)
            .then(|| self.tried().diagonal_iterations(is_symmetric, most_of_piece as u32))
            .flatten()?;
        let growth = match is_measured {
            true => growth.min(self.larger().powf(trial::growth_with_diagonal(self.a, of_piece).max(0.0))),
            false => growth,
        };
        let expected = (growth * f64::from(of_piece)).min(most_steps);
        (expected <= most).then_some(expected)
    }

    /// Iterations with the diagonal at most, by its dominance; infinite without that. The bound of Jacobi's
    /// iteration is that of a Krylov method in the same norm, and that of Chebyshev's the one of CG.
    pub(super) fn most_steps(&self) -> f64 {
        *self.most_steps.get_or_init(|| {
            let digits = -self.options.stop.rtol.max(f64::EPSILON).ln();
            match contraction(self.a, self.analysis.values.is_symmetric) {
                None => f64::INFINITY,
                Some(q) if self.method() == Method::Cg => {
                    0.5 * ((1.0 + q) / (1.0 - q)).sqrt() * (digits + LN_2)
                }
                Some(q) => digits / -q.ln(),
            }
            .max(1.0)
        })
    }
}
