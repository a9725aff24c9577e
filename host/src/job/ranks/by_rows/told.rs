//! What is told of a solve of all ranks.

use super::checks::Facts;
use super::solver::Solver;
use crate::comm::sums;
use crate::error::Result;
use crate::job::account::About;
use crate::job::memory;
use crate::job::ranks::Info;
use crate::job::ranks::part::storage_of_all;
use crate::job::report::{Report, Warning};
use crate::job::residual::Norms;
use crate::job::solved::{Rhs, Solved};
use crate::matrix::backward_error::of_maxima;
use crate::precond::NullSpace;
use crate::solver::Outcome;

impl Solver {
    /// What came of a run that ended with x, not refined yet.
    pub(super) fn solved(&mut self, x: Vec<f64>, outcome: Outcome, residual: Norms) -> Result<Solved> {
        let (n, nnz, comm) = (self.facts.n_rows, self.facts.nnz, self.rows.comm.clone());
        let projections = self.projections().map_or(0, NullSpace::dimension);
        let vectors = memory::vectors((self.chosen.method, self.chosen.precond), &self.options, projections);
        let vector_bytes = (vectors * n) as u64 * memory::number(&self.options);
        let part = self.part()?;
        let (hierarchy, ilu) = (part.hierarchy().cloned(), part.factors().cloned());
        let format = storage_of_all(&*comm, part.storage(), nnz)?;
        let levels = hierarchy.iter().flat_map(|info| &info.levels).map(|level| level.bytes).sum::<u64>();
        let bytes = format.bytes + levels + vector_bytes;
        Ok(Solved {
            residual,
            x,
            outcome,
            refinements: 0,
            seconds: 0.0,
            counts: None,
            bytes,
            bytes_moved: 0,
            reordered: None,
            format,
            hierarchy,
            ilu,
            factorisation: None,
            ranks: None,
        })
    }

    /// Of the solve for a right-hand side. All ranks call this, as the others here.
    pub(super) fn report(&mut self, rhs: &Rhs, warnings: Vec<Warning>, solved: &Solved) -> Result<Report> {
        let Facts { n_rows, nnz, norm, .. } = self.facts;
        let backward_error = of_maxima(norm, self.rows.most(&solved.x)?, rhs.max, solved.residual.max);
        let about = About {
            n_rows,
            nnz,
            method: self.chosen.method,
            precond: self.chosen.precond,
            options: &self.options,
            device: &self.device,
            norm_b: rhs.norm,
            backward_error,
            times: std::mem::take(&mut self.times),
            warnings,
        };
        Ok(Report::new(about, solved))
    }

    /// What the ranks were, and told each other.
    pub(super) fn info(&self) -> Result<Info> {
        let comm = &*self.rows.comm;
        Ok(Info {
            ranks: comm.size(),
            partition: "blocks".into(),
            by_rows: true,
            choice: self.chosen.reason.clone(),
            quality: self.facts.quality,
            peer_memory: self.part.as_ref().is_some_and(|part| part.is_connected()),
            exchanges: self.exchanged.exchanges,
            exchanged_bytes: sums(comm, &[self.exchanged.bytes as f64])?[0] as u64,
            reductions: self.exchanged.reductions,
        })
    }
}
