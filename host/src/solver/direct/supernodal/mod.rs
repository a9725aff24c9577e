//! `L L^T` and `L D L^T` in blocks of columns with the same rows (supernodes; Ng and Peyton 1993), on several
//! threads, in faer's layout and with its dense kernels. faer itself (0.24) uses them one block after the
//! other.
//!
//! A block is computed when all that change it are there, which it takes in their order: the numbers are the
//! same for any number of threads. Small subtrees of the elimination tree are computed by one thread each,
//! and the large blocks at its root by all.
//!
//! | file | what |
//! |---|---|
//! | `tree` | which supernodes change which, and wait for which |
//! | `tasks` | which of them a thread goes through, and who waits for it |
//! | `factors` | what is kept of a matrix |
//! | `factorise` | the numbers |
//! | `block` | those of a supernode, from one thread to others |
//! | `update` | what they change |
//! | `dense` | the factors of a block |
//! | `tiles` | parts of it for several threads |
//! | `solve` | solutions with the factors |
//! | `triangle` | those with a block |

use std::sync::atomic::AtomicBool;

use faer::sparse::linalg::cholesky::SymbolicCholesky;

use super::columns::Columns;
use crate::error::Result;
use block::Block;
pub use factors::Factors;
use factors::Pivots;

mod block;
mod dense;
mod factorise;
mod factors;
mod solve;
mod tasks;
#[cfg(test)]
mod tests;
mod tiles;
mod tree;
mod triangle;
mod update;

impl Factors {
    /// Those of a matrix with this structure, which is one of supernodes: `L L^T` where it `is_definite`.
    /// `None` where it turns out not to be, or where nobody waits for them any more. `a` has both triangles.
    ///
    /// # Errors
    /// Where there is no memory for intermediate results.
    pub fn of(
        a: &Columns,
        structure: SymbolicCholesky<usize>,
        is_definite: bool,
        cancelled: &AtomicBool,
    ) -> Result<Option<Factors>> {
        let mut factors = Factors::new(structure, is_definite);
        Ok(factors.compute(a, cancelled)?.then_some(factors))
    }

    /// Computes them again, of a matrix with other numbers: whether it has such factors, and they are wanted.
    ///
    /// # Errors
    /// Those of [`of`](Factors::of).
    pub fn compute(&mut self, a: &Columns, cancelled: &AtomicBool) -> Result<bool> {
        let Factors { tree, tasks, values, pivots, .. } = self;
        let pivots = pivots.as_mut().map(|Pivots { below, order }| block::PivotsMut { below, order });
        factorise::factorise(a, tree, tasks, Block { values, pivots }, cancelled)
    }

    /// `A^-1 x` in place of x.
    pub fn solve(&mut self, x: &mut [f64]) {
        solve::solve(self, x);
    }
}
