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

/// The rows of this rank and x, also where that is others'.
struct Product<'a> {
    piece: &'a Piece,
    x: &'a [f64],
    ghosts: Vec<f64>,
    /// Of the ghosts those of ranks before this one.
    before: usize,
}

impl<'a> Product<'a> {
    /// All ranks call this.
    fn new(rows: &'a OwnRows, x: &'a [f64]) -> Result<Self> {
        let (comm, links) = (&*rows.comm, &rows.piece.border.links);
        let ghosts = links.received(comm, |place| x[place as usize])?;
        let of_lower = links.receives.iter().filter(|(from, _)| *from < comm.rank());
        let before = of_lower.map(|(_, count)| count).sum();
        Ok(Product { piece: &rows.piece, x, ghosts, before })
    }

    /// The `a_ij x_j` of a row, in the order of the whole matrix.
    fn terms(&self, i: usize) -> impl Iterator<Item = f64> {
        let Piece { local, border: Border { rows, entries, .. } } = self.piece;
        let (columns, values) =
            rows.binary_search(&(i as u32)).map_or((&[][..], &[][..]), |k| entries.row(k));
        let split = columns.partition_point(|&ghost| (ghost as usize) < self.before);
        let beside = move |part: Range<usize>| {
            let entries = columns[part.clone()].iter().zip(&values[part]);
            entries.map(|(&j, v)| v * self.ghosts[j as usize])
        };
        let own = local.row(i).map(|(j, v)| v * self.x[j as usize]);
        beside(0..split).chain(own).chain(beside(split..columns.len()))
    }
}

impl OwnRows {
    /// How large `b - A x` is: what devices have found, unless rows of a sample on some rank say otherwise.
    pub fn checked(&self, x: &[f64], b: &[f64], found: Option<Norms>) -> Result<Norms> {
        let Some(found) = found.filter(|_| self.null_space.is_none()) else { return self.norms(x, b) };
        let product = Product::new(self, x)?;
        let is_contradicted = !found.hold_for_rows(b, |i| product.terms(i));
        match maxima(&*self.comm, &[f64::from(is_contradicted)])?[0] {
            0.0 => Ok(found),
            _ => self.norms(x, b),
        }
    }
}

impl Equation for OwnRows {
    /// The terms of a row are added in the order of the whole matrix, and so have its bits.
    fn residual(&self, x: &[f64], b: &[f64]) -> Result<Vec<f64>> {
        let product = Product::new(self, x)?;
        let own = (0..self.piece.local.n_rows()).into_par_iter().with_min_len(CHUNK);
        Ok(own.map(|i| b[i] - product.terms(i).fold(0.0, |sum, term| sum + term)).collect())
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
