//! What was done.

use std::fmt;

use super::attempt::Attempt;
use super::reorder::Reordered;
use super::scaled::Scaled;
use super::{Method, Precision, Precond, ranks};
use crate::analysis::Analysis;
use crate::backend::Storage;
use crate::launch::Counts;
use crate::matrix::Symmetry;
use crate::precond::{amg, ilu};
use crate::solver::{Outcome, StopReason, direct};

/// What was done, and how long it took. Printed, it is a few lines for people.
#[derive(Debug, Clone)]
pub struct Report {
    /// Rows.
    pub n_rows: usize,
    /// Nonzeros.
    pub nnz: usize,
    /// How the matrix was stored that was multiplied by, and why.
    pub format: Storage,
    /// The numbering that was used, where it is another than the given one.
    pub reordered: Option<Reordered>,
    /// How the system was scaled and permuted, where somebody asked for that.
    pub scaled: Option<Scaled>,
    /// The method.
    pub method: Method,
    /// The preconditioner.
    pub precond: Precond,
    /// Unknowns a node.
    pub block_size: usize,
    /// The number type.
    pub precision: Precision,
    /// The device's name.
    pub device: String,
    /// Right-hand sides that were solved for at once, this one among them. Seconds and bytes of the solve are
    /// the share of this one; `counts` are those of all.
    pub columns: usize,
    /// Why the solver stopped, its iterations and residual norms.
    pub outcome: Outcome,
    /// How often the solver, converged by its own measure, was started again because the residual was still
    /// too large; its iterations are among those of the outcome.
    pub refinements: u32,
    /// `||b - A x||_2 / ||b||_2`, recomputed from A, b and x in f64; the norm itself where b = 0. Where a GPU
    /// has solved in f64, it is computed there, and rows of a sample are computed on the host beside it.
    pub relative_residual: f64,
    /// The normwise [backward error](crate::matrix::backward_error), whose residual is computed in f64 too.
    pub backward_error: f64,
    /// `||b||_2`, of the projected b where the matrix is singular.
    pub norm_b: f64,
    /// Whether b was projected onto the range of a singular matrix: the residual is that of the projected b.
    pub projected: bool,
    /// Seconds since the last solve with the same solver for checks, choice and conversion of the format,
    /// preconditioner, and for attempts that were left.
    pub setup_seconds: f64,
    /// Seconds in which the driver made the kernels ready: their first use on a GPU.
    pub warm_up_seconds: f64,
    /// Seconds for moving matrix and vectors to where they are used.
    pub upload_seconds: f64,
    /// Seconds in the solver.
    pub solve_seconds: f64,
    /// Seconds for moving the solution to the host.
    pub download_seconds: f64,
    /// Seconds for residual and backward error.
    pub check_seconds: f64,
    /// Bytes that were expected to be needed on the device at most; `None` on the CPU.
    pub expected_bytes: Option<u64>,
    /// Bytes held on the device (on the CPU: by matrix and vectors).
    pub device_bytes: u64,
    /// Bytes that the solver's iterations had to move:
    /// [`IterativeSolver::traffic`](crate::solver::IterativeSolver::traffic).
    pub bytes_moved: u64,
    /// What the device was asked for during the iterations (GPU and simulator).
    pub counts: Option<Counts>,
    /// The hierarchy, where the preconditioner has one.
    pub amg: Option<amg::Info>,
    /// The incomplete factorisation, where the preconditioner is one.
    pub ilu: Option<ilu::Info>,
    /// The factorisation, where the method or the preconditioner is one.
    pub factorisation: Option<direct::Info>,
    /// The ranks, where there are several.
    pub ranks: Option<ranks::Info>,
    /// What the matrix is, where nobody had chosen how to solve.
    pub analysis: Option<Analysis>,
    /// What was tried before, and left.
    pub attempts: Vec<Attempt>,
    /// What the user should know: an unsymmetric matrix under CG, an empty row.
    pub warnings: Vec<Warning>,
}

impl Report {
    /// Whether `||b - A x||` is as small as was asked for.
    pub fn converged(&self) -> bool {
        self.outcome.reason == StopReason::Converged
    }

    /// This report with that of a later run, which solved for what this one had left, and is the last word.
    pub(super) fn continued(mut self, later: Report) -> Report {
        self.outcome.iterations += later.outcome.iterations;
        self.outcome.history.extend(later.outcome.history.iter().skip(1));
        self.outcome.reason = later.outcome.reason;
        self.refinements += 1 + later.refinements;
        self.setup_seconds += later.setup_seconds;
        self.upload_seconds += later.upload_seconds;
        self.solve_seconds += later.solve_seconds;
        self.download_seconds += later.download_seconds;
        self.check_seconds += later.check_seconds;
        self.bytes_moved += later.bytes_moved;
        self
    }

    /// Seconds in all.
    pub fn seconds(&self) -> f64 {
        self.setup_seconds + self.warm_up_seconds + self.upload_seconds + self.solve_seconds
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Report { method, precond, precision, device, format, n_rows, nnz, .. } = self;
        let iterations = self.outcome.iterations;
        match self.outcome.reason {
            StopReason::Converged => writeln!(f, "converged after {iterations} iterations")?,
            reason => writeln!(f, "NOT converged after {iterations} iterations: {reason}")?,
        }
        writeln!(f, "||b - A x|| / ||b|| = {:.2e}", self.relative_residual)?;
        writeln!(f, "{n_rows} rows, {nnz} nonzeros, {}, on {device}", format.format)?;
        match method.description().is_stationary() {
            true => write!(f, "method {method}")?,
            false => write!(f, "method {method}, preconditioner {precond}")?,
        }
        let before = self.seconds() - self.solve_seconds;
        write!(f, ", {precision}: {before:.2e} s to set up, {:.2e} s to solve", self.solve_seconds)?;
        self.warnings.iter().try_for_each(|warning| write!(f, "\nwarning: {warning}"))
    }
}

/// What stands in the way of dividing by the diagonal.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Obstacle {
    /// A diagonal entry.
    Entry {
        /// Its row, counted from 1.
        row: usize,
        /// "missing", "zero", "too small" or "not finite".
        what: &'static str,
    },
    /// A diagonal block.
    Block {
        /// Its node, counted from 1.
        node: usize,
        /// "missing or zero" or "singular or badly scaled".
        what: &'static str,
    },
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Obstacle::Entry { row, what } => write!(f, "the diagonal entry of row {row} is {what}"),
            Obstacle::Block { node, what } => write!(f, "the diagonal block of node {node} is {what}"),
        }
    }
}

/// What the user should know of a solve.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// A row without entries.
    EmptyRow {
        /// Which, counted from 1.
        row: usize,
    },
    /// No preconditioner was chosen.
    NoPreconditioner(Obstacle),
    /// A method was asked for that needs a symmetric matrix, and the matrix is not.
    UnsymmetricMatrix {
        /// The method.
        method: Method,
        /// What the matrix is.
        symmetry: Symmetry,
    },
    /// A method was asked for that needs a symmetric preconditioner, and the multigrid cycle smooths less
    /// before than after, or more.
    UnsymmetricCycle {
        /// The method.
        method: Method,
        /// Sweeps before.
        pre: u32,
        /// Sweeps after.
        post: u32,
    },
    /// Unknowns that are in no equation, whose own rows are empty: they are 0 in x.
    Isolated {
        /// The first, counted from 1.
        row: usize,
        /// So many in all.
        count: usize,
    },
    /// The right-hand side had a part outside of the range of a singular matrix.
    Projected {
        /// Dimension of the null space.
        dimension: usize,
        /// Whether every unknown has a part in it.
        every_unknown: bool,
        /// The norm of that part over that of the right-hand side; 1 where nothing is left.
        share: f64,
    },
    /// The matrix is singular in f64, or differs from a singular one by rounding: with x every `x + v` is a
    /// solution to rounding, v in its null space.
    NotUnique {
        /// Vectors of the null space that were found.
        dimension: usize,
    },
    /// The matrix is singular, and the solver has not converged: why.
    Singular(String),
    /// What the solver left was worse than what it started from, which is returned.
    WorseThanStart {
        /// `||b - A x|| / ||b||` of what it left.
        relative_residual: f64,
        /// Whether it started from 0.
        from_zero: bool,
    },
    /// The residual was computed with twice the digits of f64, for in f64 it is mostly rounding of the
    /// products.
    InTwiceTheDigits {
        /// What `||b - A x|| / ||b||` is in f64.
        relative_residual: f64,
    },
    /// The method failed as it does with a preconditioner of too little accuracy, and the hierarchy was
    /// applied in f32, as asked.
    HierarchyInF32,
    /// The method failed with a hierarchy in f32, and the system was solved once more with one in f64.
    HierarchyInF64 {
        /// Iterations of the first attempt.
        iterations: u32,
        /// Why that stopped.
        reason: StopReason,
        /// The error of the second attempt, where it failed too: the solution is that of the first.
        failure: Option<String>,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Warning::EmptyRow { row } => write!(f, "row {row} is empty: the matrix is singular"),
            Warning::NoPreconditioner(obstacle) => write!(f, "no preconditioner: {obstacle}"),
            Warning::UnsymmetricMatrix { method, symmetry } => {
                let title = method.description().title;
                write!(f, "the matrix is {symmetry}; {title} needs a symmetric one")
            }
            Warning::UnsymmetricCycle { method, pre, post } => {
                let title = method.description().title;
                write!(
                    f,
                    "with pre = {pre} and post = {post} the multigrid preconditioner is not symmetric; {title} needs a \
                     symmetric one, with pre = post"
                )
            }
            Warning::Isolated { row, count } => {
                let others = match count {
                    1 => String::new(),
                    n => format!(" (the first of {n} such)"),
                };
                write!(
                    f,
                    "row {row} and column {row} are empty{others}: the matrix is singular; the unknown is in no equation, \
                     and is 0 in x"
                )
            }
            Warning::Projected { dimension, every_unknown, share } => {
                let vectors = if *every_unknown {
                    "the constants"
                } else {
                    "the constants of one unknown of each node, or of a part of the unknowns"
                };
                let components =
                    if *dimension == 1 { String::new() } else { format!(" on {dimension} components") };
                write!(f, "the matrix is singular: its null space has {vectors}{components}; ")?;
                match *share {
                    1.0 => {
                        f.write_str("all of the right-hand side is outside of its range, where no x reaches")
                    }
                    share => write!(
                        f,
                        "{share:.1e} of the right-hand side is outside of its range, where no x reaches: it was \
                         projected, and the residual is that of the projected system"
                    ),
                }
            }
            Warning::NotUnique { dimension } => {
                let vectors =
                    if *dimension == 1 { "1 vector".into() } else { format!("{dimension} vectors") };
                write!(
                    f,
                    "the matrix is singular, or so nearly that rounding hides it, with at least {vectors} in its null \
                     space: x is not the only solution, to rounding"
                )
            }
            Warning::Singular(why) => f.write_str(why),
            Warning::InTwiceTheDigits { relative_residual } => write!(
                f,
                "the residual was computed with twice the digits of f64; b - A x in f64 gives {relative_residual:.2e}, \
                 which is rounding of its products"
            ),
            Warning::WorseThanStart { relative_residual, from_zero } => {
                let start = if *from_zero { "x = 0" } else { "the start" };
                write!(
                    f,
                    "what the solver left is worse than {start}, which is returned: ||b - A x|| / ||b|| was \
                     {relative_residual:.1e}"
                )
            }
            Warning::HierarchyInF32 => f.write_str("the hierarchy was applied in f32, as asked"),
            Warning::HierarchyInF64 { iterations, reason, failure } => {
                write!(
                    f,
                    "with a hierarchy in f32 the solver stopped in iteration {iterations} ({reason}), and the system was \
                     solved once more with one in f64"
                )?;
                failure.iter().try_for_each(|error| write!(f, ", which failed: {error}"))
            }
        }
    }
}
