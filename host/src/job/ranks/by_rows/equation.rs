//! The residual of a system of which each rank has its rows.

use std::ops::Range;
use std::sync::Arc;

use crate::comm::{Border, Comm, Piece, maxima, sums};
use crate::error::Result;
use crate::job::residual::{Equation, Norms};
use crate::matrix::backward_error::most;
use crate::norm::squares;
use crate::parallel::*;
use crate::precond::NullSpace;

/// Rows whose sum is one number, so that the order of additions does not depend on the threads.
const CHUNK: usize = 4096;

/// The rows of this rank. All ranks call what it computes.
pub(super) struct OwnRows {
    pub comm: Arc<dyn Comm>,
    pub piece: Piece,
    pub null_space: Option<NullSpace>,
}

impl OwnRows {
    /// `||v||_2` of a vector of which this rank has a part.
    pub fn norm(&self, v: &[f64]) -> Result<f64> {
        Ok(sums(&*self.comm, &[squares(v)])?[0].sqrt())
    }

    /// The largest magnitude in a vector; NaN where an element is.
    pub fn most(&self, v: &[f64]) -> Result<f64> {
        Ok(maxima(&*self.comm, &[most(v)])?[0])
    }
}

/// What some entries of a row add to its product with x.
fn product(sum: f64, entries: impl Iterator<Item = (u32, f64)>, x: &[f64]) -> f64 {
    entries.fold(sum, |sum, (j, v)| sum + v * x[j as usize])
}

impl Equation for OwnRows {
    /// The terms of a row are added in the order of the whole matrix, and so have its bits.
    fn residual(&self, x: &[f64], b: &[f64]) -> Result<Vec<f64>> {
        let Piece { local, border: Border { rows, entries, links } } = &self.piece;
        let ghosts = links.received(&*self.comm, |place| x[place as usize])?;
        let of_lower = links.receives.iter().filter(|(from, _)| *from < self.comm.rank());
        let before: usize = of_lower.map(|(_, count)| count).sum();
        let own = (0..local.n_rows()).into_par_iter().with_min_len(CHUNK);
        let of_row = |i: usize| {
            let beside = rows.binary_search(&(i as u32)).map_or((&[][..], &[][..]), |k| entries.row(k));
            let count = beside.0.len();
            let split = beside.0.partition_point(|&ghost| (ghost as usize) < before);
            let beside = |part: Range<usize>| {
                beside.0[part.clone()].iter().copied().zip(beside.1[part].iter().copied())
            };
            let sum = product(0.0, beside(0..split), &ghosts);
            let sum = product(sum, local.row(i), x);
            b[i] - product(sum, beside(split..count), &ghosts)
        };
        Ok(own.map(of_row).collect())
    }

    fn norms(&self, x: &[f64], b: &[f64]) -> Result<Norms> {
        let r = self.residual(x, b)?;
        Ok(Norms { two: self.norm(&r)?, max: self.most(&r)? })
    }

    fn project(&self, x: &mut [f64]) -> Result<()> {
        let null_space = self.null_space.as_ref();
        null_space.map_or(Ok(()), |space| space.project_on_ranks(&*self.comm, x).map(drop))
    }
}
