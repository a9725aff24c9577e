//! The numbers of a supernode.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::tree::Tree;

/// Those of `L D L^T` beside L and the diagonal of D.
pub struct PivotsMut<'a> {
    /// D below its diagonal, which is a number for each pair of columns that is a pivot.
    pub below: &'a mut [f64],
    /// The columns of each block in the order of its pivots.
    pub order: &'a mut [usize],
}

/// The numbers of a supernode, or of all, that are to be computed.
pub struct Block<'a> {
    /// Its rows of L, column by column; with D on the diagonal.
    pub values: &'a mut [f64],
    /// `None` for `L L^T`.
    pub pivots: Option<PivotsMut<'a>>,
}

/// Those that were computed.
pub struct Done<'a> {
    /// Its rows of L, column by column; with D on the diagonal.
    pub values: &'a [f64],
    /// D below its diagonal; `None` for `L L^T`.
    pub below: Option<&'a [f64]>,
}

/// A supernode, which is computed by one thread and then read by any.
pub struct Place<'a> {
    block: Mutex<Option<Block<'a>>>,
    done: OnceLock<Done<'a>>,
}

impl<'a> PivotsMut<'a> {
    fn split_at(self, columns: usize) -> (PivotsMut<'a>, PivotsMut<'a>) {
        let (below, others) = self.below.split_at_mut(columns);
        let (order, of_others) = self.order.split_at_mut(columns);
        (PivotsMut { below, order }, PivotsMut { below: others, order: of_others })
    }
}

impl<'a> Block<'a> {
    /// The parts of all supernodes.
    pub fn split(self, tree: &Tree) -> Vec<Block<'a>> {
        let Block { mut values, mut pivots } = self;
        let mut next = |s: usize| {
            let (own, others) = std::mem::take(&mut values).split_at_mut(tree.place(s).len());
            values = others;
            let (of_own, of_others) = pivots.take().map(|all| all.split_at(tree.columns(s))).unzip();
            pivots = of_others;
            Block { values: own, pivots: of_own }
        };
        (0..tree.len()).map(&mut next).collect()
    }
}

impl<'a> Place<'a> {
    /// Of which nothing was computed.
    pub fn new(block: Block<'a>) -> Place<'a> {
        Place { block: Mutex::new(Some(block)), done: OnceLock::new() }
    }

    /// What is to be computed, for the first that takes it.
    pub fn take(&self) -> Option<Block<'a>> {
        self.block.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Gives it to all.
    pub fn give(&self, Block { values, pivots }: Block<'a>) {
        let below = pivots.map(|pivots| &*pivots.below);
        self.done.get_or_init(|| Done { values, below });
    }

    /// What was computed.
    pub fn done(&self) -> Option<&Done<'a>> {
        self.done.get()
    }
}
