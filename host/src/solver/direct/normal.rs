//! `L L^T` of `S^T S`, for matrices that LU with partial pivoting loses all digits of, although they are well
//! conditioned: its entries may double with every step, as they do for boundary value problems and systems
//! periodic in time (Wright 1993). Orthogonal and symmetric methods do not grow. The factors are worth
//! something up to a condition of about 1e7, and refinement gets the digits back (Bjorck 1996, section
//! 6.6.5).

use std::sync::Arc;

use faer::MatMut;
use faer::dyn_stack::{MemBuffer, MemStack};

use super::cholesky::{Cholesky, PAR};
use super::ordered::Counted;
use super::prediction::{Prediction, workspace};
use super::quality::CLEAR;
use super::symbolic::Symbolic;
use super::vectors::norm;
use crate::backend::cpu::Cpu;
use crate::error::Result;
use crate::matrix::Csr;
use crate::problem::random::uniform;
use crate::setup::SparseProducts;

/// Products of two entries at most: rows that are nearly full would fill the matrix.
const MOST_PRODUCTS: usize = 1 << 28;

/// S, its transpose, and the factors of `S^T S`.
pub struct Normal {
    scaled: Arc<Csr<f64>>,
    transposed: Arc<Csr<f64>>,
    cholesky: Cholesky,
    /// For solves.
    workspace: MemBuffer,
}

impl Normal {
    /// Factorises; `None` where that takes more than so many seconds, or does not serve.
    pub fn of(scaled: &Csr<f64>, most_seconds: f64) -> Result<Option<(Normal, Prediction)>> {
        let products: usize = (0..scaled.n_rows()).map(|i| scaled.row_len(i).pow(2)).sum();
        if products > MOST_PRODUCTS {
            return Ok(None);
        }
        let (scaled, transposed) = (Arc::new(scaled.clone()), Arc::new(scaled.transpose()));
        let product = Cpu::shared().product(&transposed, &scaled)?;
        let Counted { columns, symbolic, prediction } = Counted::normal(&product)?;
        let Symbolic::Symmetric(symbolic) = symbolic else { unreachable!("S^T S is symmetric") };
        if prediction.seconds() > most_seconds || prediction.check_memory().is_err() {
            return Ok(None);
        }
        let Some(cholesky) = Cholesky::of(&columns, symbolic)? else { return Ok(None) };
        let workspace = workspace(cholesky.symbolic.solve_in_place_scratch::<f64>(1, PAR))?;
        let mut made = Normal { scaled, transposed, cholesky, workspace };
        Ok(made.serves().then_some((made, prediction)))
    }

    /// Whether refinement with them converges. What a first step leaves is what they miss, all of it where
    /// the matrix is singular; so a second one tells.
    fn serves(&mut self) -> bool {
        let mut r: Vec<f64> = (0..self.scaled.n_rows() as u64).map(|i| uniform(5, i) - 0.5).collect();
        (0..2).all(|_| {
            let before = norm(&r);
            let mut x = r.clone();
            self.solve(&mut x);
            r.iter_mut().zip(self.scaled.mul_vec(&x)).for_each(|(r, y)| *r -= y);
            norm(&r) <= CLEAR * before
        })
    }

    /// `x = (S^T S)^-1 S^T x`
    pub fn solve(&mut self, x: &mut [f64]) {
        x.copy_from_slice(&self.transposed.mul_vec(x));
        self.solve_symmetric(x);
    }

    /// `x = S (S^T S)^-1 x`
    pub fn solve_transposed(&mut self, x: &mut [f64]) {
        self.solve_symmetric(x);
        x.copy_from_slice(&self.scaled.mul_vec(x));
    }

    /// `x = (S^T S)^-1 x`
    fn solve_symmetric(&mut self, x: &mut [f64]) {
        let n = x.len();
        let x = MatMut::from_column_major_slice_mut(x, n, 1);
        self.cholesky.solve(x, MemStack::new(&mut self.workspace));
    }
}
