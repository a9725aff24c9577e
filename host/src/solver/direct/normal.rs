//! `L L^T` of `S^T S`, for matrices that LU with partial pivoting loses all digits of, although they are well
//! conditioned: its entries may double with every step, as they do for boundary value problems and systems
//! periodic in time (Wright 1993). Orthogonal and symmetric methods do not grow. The factors are worth
//! something up to a condition of about 1e7, and refinement gets the digits back (Bjorck 1996, section
//! 6.6.5).

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::ordered::Counted;
use super::prediction::Prediction;
use super::quality::CLEAR;
use super::symbolic::Symbolic;
use super::symmetric::Symmetric;
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
    cholesky: Symmetric,
}

impl Normal {
    /// Factorises; `None` where that takes more than so many seconds, does not serve, or is `cancelled`.
    pub fn of(
        scaled: &Csr<f64>,
        most_seconds: f64,
        cancelled: &AtomicBool,
    ) -> Result<Option<(Normal, Prediction)>> {
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
        let cholesky = Symmetric::of(&columns, symbolic, true, cancelled)?;
        let Some(cholesky) = cholesky else { return Ok(None) };
        let mut made = Normal { scaled, transposed, cholesky };
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
        self.cholesky.solve(x);
    }

    /// `x = S (S^T S)^-1 x`
    pub fn solve_transposed(&mut self, x: &mut [f64]) {
        self.cholesky.solve(x);
        x.copy_from_slice(&self.scaled.mul_vec(x));
    }
}
