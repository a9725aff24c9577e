//! `L L^T`.

use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::linalg::cholesky::{LltRef, SymbolicCholesky, SymbolicCholeskyRaw};
use faer::{Conj, MatMut, Par, Side, Spec};

use super::columns::Columns;
use super::prediction::workspace;
use super::supernodal::{self, Block};
use crate::error::Result;

/// What faer does it does on one thread: with more of them it (0.24) divides the dense kernels of one block
/// of columns after the other, which gains little, since most blocks are small, and changes some bits.
pub const PAR: Par = Par::Seq;

/// The factor of a symmetric positive definite matrix.
pub struct Cholesky {
    /// Its structure.
    pub symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
}

impl Cholesky {
    /// Factorises; `None` where a pivot is not positive.
    pub fn of(a: &Columns, symbolic: SymbolicCholesky<usize>) -> Result<Option<Cholesky>> {
        let mut values = vec![0.0; symbolic.len_val()];
        if let SymbolicCholeskyRaw::Supernodal(structure) = symbolic.raw() {
            let numbers = Block { values: &mut values, pivots: None };
            let is_definite = supernodal::factorise(a, symbolic.perm(), structure, numbers)?;
            return Ok(is_definite.then_some(Cholesky { symbolic, values }));
        }
        let mut memory = workspace(symbolic.factorize_numeric_llt_scratch::<f64>(PAR, Spec::default()))?;
        let made = symbolic.factorize_numeric_llt(
            &mut values,
            a.matrix(),
            Side::Lower,
            LltRegularization::default(),
            PAR,
            MemStack::new(&mut memory),
            Spec::default(),
        );
        Ok(made.is_ok().then_some(Cholesky { symbolic, values }))
    }

    /// `(L L^T)^-1 x` in place of x.
    pub fn solve(&self, x: MatMut<f64>, stack: &mut MemStack) {
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(Conj::No, x, PAR, stack);
    }
}
