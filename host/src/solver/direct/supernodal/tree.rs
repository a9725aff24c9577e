//! Supernodes: columns of a factor with the same rows below them, and which of them wait for which.

use std::ops::Range;

use faer::perm::PermRef;
use faer::sparse::linalg::cholesky::supernodal::SymbolicSupernodalCholesky;
use faer::sparse::linalg::cholesky::{SymbolicCholesky, SymbolicCholeskyRaw};
use faer::{MatMut, MatRef};

/// No supernode.
const NONE: u32 = u32::MAX;

/// Rows below a supernode that are among the columns of another, which it changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Update {
    /// The supernode.
    pub from: u32,
    /// Where these are among the rows below it.
    pub begin: u32,
    /// The end of them.
    pub end: u32,
}

/// The elimination tree of the supernodes of a factor.
pub struct Tree {
    symbolic: SymbolicCholesky<usize>,
    /// What waits for each of them.
    parent: Vec<u32>,
    /// What changes each of them, in ascending order.
    updates: Vec<Update>,
    first_update: Vec<usize>,
    /// Multiply-adds of each.
    work: Vec<f64>,
}

impl Tree {
    /// That of a factor whose structure is one of supernodes.
    pub fn of(symbolic: SymbolicCholesky<usize>) -> Tree {
        let mut owner = vec![0u32; symbolic.nrows()];
        let mut tree = Tree {
            symbolic,
            parent: Vec::new(),
            updates: Vec::new(),
            first_update: Vec::new(),
            work: Vec::new(),
        };
        let count = tree.structure().n_supernodes();
        tree.first_update = vec![0; count + 1];
        (0..count).for_each(|s| owner[tree.begin(s)..tree.end(s)].fill(s as u32));
        let owner_of_first = |s: usize| tree.below(s).first().map_or(NONE, |&row| owner[row]);
        tree.parent = (0..count).map(owner_of_first).collect();
        let mut updates: Vec<(u32, Update)> = Vec::new();
        for s in 0..count {
            let (rows, mut begin) = (tree.below(s), 0);
            while begin < rows.len() {
                let to = owner[rows[begin]];
                let end = begin + rows[begin..].partition_point(|&row| row < tree.end(to as usize));
                updates.push((to, Update { from: s as u32, begin: begin as u32, end: end as u32 }));
                begin = end;
            }
        }
        updates.iter().for_each(|(to, _)| tree.first_update[*to as usize + 1] += 1);
        (0..count).for_each(|s| tree.first_update[s + 1] += tree.first_update[s]);
        let mut next = tree.first_update.clone();
        tree.updates = vec![Update { from: NONE, begin: 0, end: 0 }; updates.len()];
        for (to, update) in updates {
            let place = &mut next[to as usize];
            tree.updates[*place] = update;
            *place += 1;
        }
        tree.work = (0..count).map(|s| tree.work_of(s)).collect();
        tree
    }

    fn structure(&self) -> &SymbolicSupernodalCholesky<usize> {
        match self.symbolic.raw() {
            SymbolicCholeskyRaw::Supernodal(structure) => structure,
            SymbolicCholeskyRaw::Simplicial(_) => unreachable!("a tree is made of supernodes"),
        }
    }

    fn work_of(&self, s: usize) -> f64 {
        let of_update = |u: &Update| {
            let d = u.from as usize;
            let (rows, changed) = (self.below(d).len() as u32 - u.begin, u.end - u.begin);
            f64::from(rows) * f64::from(changed) * self.columns(d) as f64
        };
        let columns = self.columns(s) as f64;
        self.updates(s).iter().map(of_update).sum::<f64>() + columns * columns * self.rows(s) as f64
    }

    /// Supernodes.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Rows of the matrix.
    pub fn n(&self) -> usize {
        self.symbolic.nrows()
    }

    /// The columns in the order of elimination; `None` for as they are.
    pub fn order(&self) -> Option<PermRef<'_, usize>> {
        self.symbolic.perm()
    }

    /// Rows below all of them.
    pub fn all_below(&self) -> usize {
        self.structure().row_idx().len()
    }

    /// The first column of one,
    pub fn begin(&self, s: usize) -> usize {
        self.structure().supernode_begin()[s]
    }

    /// and what follows its last.
    pub fn end(&self, s: usize) -> usize {
        self.structure().supernode_end()[s]
    }

    /// Columns.
    pub fn columns(&self, s: usize) -> usize {
        self.end(s) - self.begin(s)
    }

    /// The rows below its columns, ascending.
    pub fn below(&self, s: usize) -> &[usize] {
        self.structure().supernode(s).pattern()
    }

    /// Where these are among those of all.
    pub fn place_below(&self, s: usize) -> Range<usize> {
        let places = self.structure().col_ptr_for_row_idx();
        places[s]..places[s + 1]
    }

    /// Rows of its block of numbers: those of its columns, and those below.
    pub fn rows(&self, s: usize) -> usize {
        self.columns(s) + self.below(s).len()
    }

    /// Where the numbers of its block are among those of all.
    pub fn place(&self, s: usize) -> Range<usize> {
        let places = self.structure().col_ptr_for_val();
        places[s]..places[s + 1]
    }

    /// These numbers as its block.
    pub fn block<'b>(&self, s: usize, values: &'b [f64]) -> MatRef<'b, f64> {
        MatRef::from_column_major_slice(values, self.rows(s), self.columns(s))
    }

    /// The same, to be changed.
    pub fn block_mut<'b>(&self, s: usize, values: &'b mut [f64]) -> MatMut<'b, f64> {
        MatMut::from_column_major_slice_mut(values, self.rows(s), self.columns(s))
    }

    /// What changes it.
    pub fn updates(&self, s: usize) -> &[Update] {
        &self.updates[self.first_update[s]..self.first_update[s + 1]]
    }

    /// What waits for it.
    pub fn parent(&self, s: usize) -> Option<usize> {
        Some(self.parent[s]).filter(|&parent| parent != NONE).map(|parent| parent as usize)
    }

    /// Multiply-adds.
    pub fn work(&self, s: usize) -> f64 {
        self.work[s]
    }
}
