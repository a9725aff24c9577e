//! What is kept of a matrix.

use std::sync::atomic::{AtomicU64, Ordering};

use faer::sparse::linalg::cholesky::SymbolicCholesky;

use super::tasks::Tasks;
use super::tree::Tree;

/// `L L^T` or `L D L^T` of a symmetric matrix.
pub struct Factors {
    /// The structure of L,
    pub tree: Tree,
    /// and how threads go through it.
    pub tasks: Tasks,
    /// L, block by block, with D on the diagonal.
    pub values: Vec<f64>,
    /// `None` of `L L^T`.
    pub pivots: Option<Pivots>,
    /// Of a solution on its way, in the order of elimination,
    pub x: Vec<Shared>,
    /// and what each supernode adds to the rows below it.
    pub added: Vec<Shared>,
}

/// What `L D L^T` has beside L and the diagonal of D.
pub struct Pivots {
    /// D below its diagonal, which is a number for each pair of columns that is a pivot.
    pub below: Vec<f64>,
    /// The columns of each block in the order of its pivots.
    pub order: Vec<usize>,
}

/// A number that one thread writes, and those read that wait for it.
pub struct Shared(AtomicU64);

impl Shared {
    /// As many zeros.
    pub fn zeros(n: usize) -> Vec<Shared> {
        (0..n).map(|_| Shared(AtomicU64::new(0))).collect()
    }

    /// The number.
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// Writes it.
    pub fn set(&self, v: f64) {
        self.0.store(v.to_bits(), Ordering::Relaxed);
    }
}

impl Factors {
    /// Of this structure, with zeros.
    pub fn new(structure: SymbolicCholesky<usize>, is_definite: bool) -> Factors {
        let (n, sizes) = (structure.nrows(), structure.len_val());
        let tree = Tree::of(structure);
        let pivots = (!is_definite).then(|| Pivots { below: vec![0.0; n], order: vec![0; n] });
        let (x, added) = (Shared::zeros(n), Shared::zeros(tree.all_below()));
        Factors { tasks: Tasks::of(&tree), tree, values: vec![0.0; sizes], pivots, x, added }
    }
}
