//! The residual of a system of which each rank has its rows.

use std::sync::Arc;

use crate::comm::{Border, Comm, Piece, maxima, sums};
use crate::error::Result;
use crate::job::residual::{Equation, Norms};
use crate::matrix::backward_error::larger;
use crate::parallel::*;

/// Rows whose sum is one number, so that the order of additions does not depend on the threads.
const CHUNK: usize = 4096;

/// The rows of this rank. All ranks call what it computes.
pub(super) struct OwnRows {
    pub comm: Arc<dyn Comm>,
    pub piece: Piece,
}

impl OwnRows {
    /// `||v||_2` of a vector of which this rank has a part.
    pub fn norm(&self, v: &[f64]) -> Result<f64> {
        Ok(sums(&*self.comm, &[squares(v)])?[0].sqrt())
    }

    /// The largest magnitude in a vector; NaN where an element is.
    pub fn most(&self, v: &[f64]) -> Result<f64> {
        Ok(maxima(&*self.comm, &[v.iter().fold(0.0, |most, v| larger(most, v.abs()))])?[0])
    }
}

fn squares(v: &[f64]) -> f64 {
    let chunks: Vec<f64> = v.par_chunks(CHUNK).map(|v| v.iter().fold(0.0, |sum, v| sum + v * v)).collect();
    chunks.iter().fold(0.0, |sum, chunk| sum + chunk)
}

impl Equation for OwnRows {
    fn residual(&self, x: &[f64], b: &[f64]) -> Result<Vec<f64>> {
        let Piece { local, border: Border { rows, entries, links } } = &self.piece;
        let ghosts = links.received(&*self.comm, x)?;
        let product = |(columns, values): (&[u32], &[f64]), x: &[f64]| -> f64 {
            columns.iter().zip(values).map(|(&j, &v)| v * x[j as usize]).sum()
        };
        let own = (0..local.n_rows()).into_par_iter().with_min_len(CHUNK);
        let mut r: Vec<f64> = own.map(|i| b[i] - product(local.row(i), x)).collect();
        rows.iter().enumerate().for_each(|(k, &i)| r[i as usize] -= product(entries.row(k), &ghosts));
        Ok(r)
    }

    fn norms(&self, x: &[f64], b: &[f64]) -> Result<Norms> {
        let r = self.residual(x, b)?;
        Ok(Norms { two: self.norm(&r)?, max: self.most(&r)? })
    }

    /// A matrix with a null space is refused.
    fn project(&self, _: &mut [f64]) -> Result<()> {
        Ok(())
    }
}
