//! What was set up, for reports.

use super::params::Params;
use super::phases::Phases;
use crate::backend::Storage;

/// A hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// What it was set up with.
    pub params: Params,
    /// From the finest level to the coarsest.
    pub levels: Vec<LevelInfo>,
    /// Seconds by phase.
    pub phases: Phases,
    /// The number type of the hierarchy.
    pub precision: &'static str,
    /// Bytes that one application must move: the passes of a cycle over matrices and vectors, whatever the
    /// caches keep.
    pub cycle_bytes: u64,
    /// On several ranks: how many levels, from the finest on, are shared out among all of them; 0 elsewhere.
    pub on_ranks: usize,
    /// Whether all ranks have set these up together; otherwise rank 0 has.
    pub set_up_together: bool,
}

impl Info {
    /// Rows of all levels over those of the finest.
    pub fn grid_complexity(&self) -> f64 {
        self.levels.iter().map(|l| l.rows).sum::<usize>() as f64 / self.levels[0].rows.max(1) as f64
    }
    /// Nonzeros of all levels over those of the finest.
    pub fn operator_complexity(&self) -> f64 {
        self.levels.iter().map(|l| l.nnz).sum::<usize>() as f64 / self.levels[0].nnz.max(1) as f64
    }
}

/// One level.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelInfo {
    /// Rows.
    pub rows: usize,
    /// Nonzeros.
    pub nnz: usize,
    /// How its matrix is stored; the coarsest's may be its dense inverse.
    pub format: Storage,
    /// Bytes of matrix, transfer operators, smoother and vectors.
    pub bytes: u64,
}
