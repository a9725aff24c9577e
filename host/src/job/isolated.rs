//! Unknowns that are in no equation and whose own rows are empty, as nodes of a graph without edges are. They
//! are 0 in x, and the others are solved for as if these were not there: a zero on the diagonal would keep
//! most methods away from all of the matrix.

use super::report::{Report, Warning};
use super::residual::{relative, residual};
use crate::analysis::Analysis;
use crate::error::{Error, Result};
use crate::matrix::{Csr, backward_error};
use crate::norm::norm;
use crate::parallel::*;
use crate::solver::{Stop, StopReason};

/// Rows of a task.
const CHUNK: usize = 4096;

/// Unknowns whose rows and columns have no entry but zeros.
#[derive(Debug, Clone)]
pub(super) struct Isolated {
    unknowns: Vec<u32>,
    /// What is put on the diagonal for them: an entry that is there.
    entry: f64,
}

impl Isolated {
    /// Those of a square matrix; `None` where there are none.
    pub fn of(a: &Csr<f64>) -> Option<Isolated> {
        let mut unknowns: Vec<usize> =
            (0..a.n_rows()).into_par_iter().with_min_len(CHUNK).filter_collect(|&i| a.is_empty_row(i));
        if unknowns.is_empty() {
            return None;
        }
        let mut has_entry = vec![false; a.n_cols()];
        let entries = a.col_idx().iter().zip(a.values()).filter(|(_, v)| **v != 0.0);
        entries.for_each(|(&j, _)| has_entry[j as usize] = true);
        unknowns.retain(|&i| !has_entry[i]);
        let entry = a.diagonal().into_iter().find(|d| *d != 0.0).unwrap_or(1.0);
        let unknowns: Vec<u32> = unknowns.into_iter().map(|i| i as u32).collect();
        (!unknowns.is_empty()).then_some(Isolated { unknowns, entry })
    }

    /// So many.
    pub fn count(&self) -> usize {
        self.unknowns.len()
    }

    /// The matrix with an entry on the diagonal for each.
    pub fn completed(&self, a: &Csr<f64>) -> Csr<f64> {
        let is_isolated = |i: usize| self.unknowns.binary_search(&(i as u32)).is_ok();
        Csr::from_rows(
            a.n_rows(),
            a.n_cols(),
            |i| if is_isolated(i) { 1 } else { a.row_len(i) },
            |i, columns, values| match is_isolated(i) {
                true => (columns[0], values[0]) = (i as u32, self.entry),
                false => {
                    columns.copy_from_slice(a.row(i).0);
                    values.copy_from_slice(a.row(i).1);
                }
            },
        )
    }

    /// [`Isolated::completed`] of a matrix with other values.
    ///
    /// # Errors
    /// [`Error::Matrix`] where other unknowns are isolated.
    pub fn of_other_values(&self, a: &Csr<f64>) -> Result<Csr<f64>> {
        match Isolated::of(a) {
            Some(found) if found.unknowns == self.unknowns => Ok(self.completed(a)),
            _ => Err(Error::Matrix("the rows that are empty are other ones; make a new solver".into())),
        }
    }

    /// Takes the entries that were put on the diagonal out of what is known of the completed matrix.
    pub fn take_out_of(&self, analysis: &mut Analysis) {
        let (count, diagonal) = (self.count(), &mut analysis.values.diagonal);
        analysis.structure.nonzeros -= count;
        analysis.values.dominant_rows -= count;
        diagonal.zero += count;
        // All have the sign of the first, which may have been changed with the others.
        let of_sign = if diagonal.positive >= diagonal.negative {
            &mut diagonal.positive
        } else {
            &mut diagonal.negative
        };
        *of_sign -= count;
    }

    /// Takes them out of a right-hand side, of which no x reaches them; their norm.
    pub fn take_out(&self, b: &mut [f64]) -> f64 {
        let taken: Vec<f64> = self.unknowns.iter().map(|&i| std::mem::take(&mut b[i as usize])).collect();
        norm(&taken)
    }

    pub fn warning(&self) -> Warning {
        Warning::Isolated { row: self.unknowns[0] as usize + 1, count: self.count() }
    }
}

/// Lets a report on the other unknowns tell of all, of `A x = b` with a part of b of this norm out of reach.
pub(super) fn tell(
    report: &mut Report,
    (a, x, b): (&Csr<f64>, &[f64], &[f64]),
    out_of_reach: f64,
    stop: Stop,
) {
    let r = residual(a, x, b);
    let (found, norm_b) = (norm(&r), norm(b));
    let threshold = stop.threshold(norm_b);
    (report.norm_b, report.projected, report.outcome.threshold) = (norm_b, false, threshold);
    report.relative_residual = relative(found, norm_b);
    report.backward_error = backward_error(a, x, b, &r);
    let is_solved = matches!(report.outcome.reason, StopReason::Converged | StopReason::AtRounding);
    if is_solved && found > threshold {
        report.outcome.reason = StopReason::NoSolution { least: out_of_reach };
    }
}
