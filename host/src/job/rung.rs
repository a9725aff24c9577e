//! One way to solve a system, and what it is expected to take.

use std::fmt;
use std::sync::Arc;

use super::{Method, Options, Precond};
use crate::analysis::Structure;
use crate::matrix::Csr;
use crate::precond::{amg, ilu};
use crate::solver::direct::{Outlook, Prediction};

/// Entries up to which the factors are counted before the ways are put in order: counting takes about as long
/// as a set-up of multigrid.
pub const COUNTED: usize = 50_000_000;
/// Seconds beyond which a factorisation is left out where there is another way.
pub const LONG: f64 = 600.0;
/// Entries a second of a factorisation's ordering.
const ORDERED: f64 = 5e6;
/// Seconds for an entry that multigrid's set-up and its usual twenty iterations take on two cores, each half
/// of it.
pub const MULTIGRID: f64 = 4e-7;
/// Seconds for an entry that multigrid for both blocks of a saddle point, and some thirty iterations, take.
pub const SCHUR: f64 = 1.5e-6;
/// Seconds for an entry that incomplete factors by size and a hundred iterations take.
pub const INCOMPLETE: f64 = 4e-6;
/// Seconds for an entry, and for a row, of an iteration with the diagonal.
const ITERATION: [f64; 2] = [1e-9, 1e-8];

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
    pub(super) fn seconds(&self) -> f64 {
        self.cost.map_or(f64::INFINITY, |cost| cost.seconds)
    }

    /// Seconds of an iteration, for a matrix of this structure.
    pub(super) fn iteration_seconds(&self, structure: &Structure) -> f64 {
        let nnz = structure.nonzeros as f64;
        match self.precond {
            Precond::Amg => MULTIGRID / 40.0 * nnz,
            Precond::Ilu => INCOMPLETE / 200.0 * nnz,
            Precond::Schur => SCHUR / 40.0 * nnz,
            _ => diagonal_iteration_seconds(structure),
        }
    }

    /// Whether it is an iteration with the diagonal, or with nothing.
    pub(super) fn is_simple(&self) -> bool {
        self.method != Method::Direct && matches!(self.precond, Precond::Jacobi | Precond::None)
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

/// Seconds of an iteration with the diagonal.
pub fn diagonal_iteration_seconds(structure: &Structure) -> f64 {
    ITERATION[0] * structure.nonzeros as f64 + ITERATION[1] * structure.rows as f64
}

/// Seconds in which the columns of a matrix with so many entries are ordered, and the entries of its factors
/// counted.
pub fn counting_seconds(nnz: usize) -> f64 {
    nnz as f64 / ORDERED
}

/// What a factorisation takes, ordering and all, of a matrix with so many entries.
pub fn cost_of(prediction: &Prediction, nnz: usize) -> Cost {
    Cost { seconds: prediction.seconds() + counting_seconds(nnz), bytes: prediction.bytes }
}
