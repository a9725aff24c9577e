//! `L L^T` and `L D L^T` of a symmetric matrix.

use std::sync::atomic::AtomicBool;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::perm::PermRef;
use faer::sparse::linalg::cholesky::{IntranodeLbltRef, LltRef, SymbolicCholesky, SymbolicCholeskyRaw};
use faer::{Conj, MatMut, Par, Side, Spec};

use super::columns::Columns;
use super::prediction::workspace;
use super::supernodal::Factors;
use crate::error::Result;

/// What faer does it does on one thread.
const PAR: Par = Par::Seq;

/// Factors of a symmetric matrix.
pub enum Symmetric {
    /// In dense blocks.
    Supernodal(Factors),
    /// Entry by entry, by faer: of matrices with little fill.
    Simplicial(Simplicial),
}

/// Entries of factors, in faer's layout.
pub struct Simplicial {
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
    /// `None` of `L L^T`.
    pivots: Option<Pivots>,
    /// For solves.
    workspace: MemBuffer,
}

struct Pivots {
    below: Vec<f64>,
    order: [Vec<usize>; 2],
}

impl Symmetric {
    /// Factorises: into `L L^T` where the matrix `is_definite`. `None` where it is not, or where nobody waits
    /// for it any more.
    ///
    /// # Errors
    /// Where there is no memory for intermediate results.
    pub fn of(
        a: &Columns,
        symbolic: SymbolicCholesky<usize>,
        is_definite: bool,
        cancelled: &AtomicBool,
    ) -> Result<Option<Symmetric>> {
        if let SymbolicCholeskyRaw::Supernodal(_) = symbolic.raw() {
            let factors = Factors::of(a, symbolic, is_definite, cancelled)?;
            return Ok(factors.map(Symmetric::Supernodal));
        }
        let workspace = workspace(symbolic.solve_in_place_scratch::<f64>(1, PAR))?;
        let pivots =
            (!is_definite).then(|| Pivots { below: vec![0.0; a.n], order: [vec![0; a.n], vec![0; a.n]] });
        let mut made = Simplicial { values: vec![0.0; symbolic.len_val()], symbolic, pivots, workspace };
        Ok(made.compute(a)?.then_some(Symmetric::Simplicial(made)))
    }

    /// Computes them again, of a matrix with other numbers: whether it has such factors, and they are wanted.
    ///
    /// # Errors
    /// Those of [`of`](Symmetric::of).
    pub fn compute(&mut self, a: &Columns, cancelled: &AtomicBool) -> Result<bool> {
        match self {
            Symmetric::Supernodal(factors) => factors.compute(a, cancelled),
            Symmetric::Simplicial(factors) => factors.compute(a),
        }
    }

    /// `A^-1 x` in place of x.
    pub fn solve(&mut self, x: &mut [f64]) {
        match self {
            Symmetric::Supernodal(factors) => factors.solve(x),
            Symmetric::Simplicial(factors) => factors.solve(x),
        }
    }
}

impl Simplicial {
    fn compute(&mut self, a: &Columns) -> Result<bool> {
        let Simplicial { symbolic, values, pivots, .. } = self;
        let Some(Pivots { below, order: [forward, inverse] }) = pivots else {
            let mut memory = workspace(symbolic.factorize_numeric_llt_scratch::<f64>(PAR, Spec::default()))?;
            let (stack, regularization) = (MemStack::new(&mut memory), LltRegularization::default());
            let made = symbolic.factorize_numeric_llt(
                values,
                a.matrix(),
                Side::Lower,
                regularization,
                PAR,
                stack,
                Spec::default(),
            );
            return Ok(made.is_ok());
        };
        let request = symbolic.factorize_numeric_intranode_lblt_scratch::<f64>(PAR, Spec::default());
        let mut memory = workspace(request)?;
        let stack = MemStack::new(&mut memory);
        let matrix = a.matrix();
        symbolic.factorize_numeric_intranode_lblt(
            values,
            below,
            forward,
            inverse,
            matrix,
            Side::Lower,
            PAR,
            stack,
            Spec::default(),
        );
        Ok(true)
    }

    fn solve(&mut self, x: &mut [f64]) {
        let Simplicial { symbolic, values, pivots, workspace } = self;
        let (n, stack) = (x.len(), MemStack::new(workspace));
        let x = MatMut::from_column_major_slice_mut(x, n, 1);
        match pivots {
            None => LltRef::new(symbolic, values).solve_in_place_with_conj(Conj::No, x, PAR, stack),
            Some(Pivots { below, order: [forward, inverse] }) => {
                let order = PermRef::new_checked(forward, inverse, n);
                let factors = IntranodeLbltRef::new(symbolic, values, below, order);
                factors.solve_in_place_with_conj(Conj::No, x, PAR, stack);
            }
        }
    }
}
