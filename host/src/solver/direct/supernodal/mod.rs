//! The numbers of `L L^T` and of `L D L^T` in blocks of columns with the same rows (supernodes; Ng and Peyton
//! 1993), on several threads, in faer's layout and with its dense kernels. faer itself (0.24) uses them one
//! block after the other.
//!
//! A block is computed when all that change it are there, which it takes in their order: the numbers are the
//! same for any number of threads. Small subtrees of the elimination tree are computed by one thread each,
//! and the large blocks at its root by all.
//!
//! | file | what |
//! |---|---|
//! | `tree` | which supernodes change which, and wait for which |
//! | `block` | their numbers, from one thread to others |
//! | `update` | what they change |
//! | `dense` | the factors of a block |
//! | `tiles` | parts of it for several threads |

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use faer::perm::PermRef;
use faer::sparse::linalg::cholesky::supernodal::SymbolicSupernodalCholesky;

use super::columns::Columns;
use crate::error::Result;
use block::Place;
pub use block::{Block, Pivots};
use dense::{ldlt, llt};
use tiles::Tile;
use tree::Tree;
use update::{Scratch, update};

mod block;
mod dense;
#[cfg(test)]
mod tests;
mod tiles;
mod tree;
mod update;

/// Multiply-adds of a supernode that several threads share.
const WIDE: f64 = 2e6;

/// Factorises a symmetric matrix whose columns are eliminated in this order, into `numbers`; whether it has
/// such factors. `a` has both triangles.
///
/// # Errors
/// Where there is no memory for intermediate results.
pub fn factorise(
    a: &Columns,
    order: Option<PermRef<usize>>,
    structure: &SymbolicSupernodalCholesky<usize>,
    numbers: Block,
) -> Result<bool> {
    let tree = Tree::of(structure);
    let (tasks, waits) = tree.tasks();
    let work = Work {
        a,
        order: order.map(|order| {
            let (forward, inverse) = order.arrays();
            [forward, inverse]
        }),
        tree: &tree,
        places: numbers.split(&tree).into_iter().map(Place::new).collect(),
        waits: waits.into_iter().map(AtomicU32::new).collect(),
        maps: Mutex::default(),
        is_regular: AtomicBool::new(true),
        error: OnceLock::new(),
    };
    rayon::scope(|scope| {
        let work = &work;
        tasks.iter().for_each(|task| scope.spawn(move |_| work.climb(task)));
    });
    match work.error.into_inner() {
        Some(error) => Err(error),
        None => Ok(work.is_regular.into_inner()),
    }
}

/// What the threads share.
struct Work<'a> {
    a: &'a Columns,
    /// The columns in the order of elimination, and where each has come; `None` for as they are.
    order: Option<[&'a [usize]; 2]>,
    tree: &'a Tree<'a>,
    places: Vec<Place<'a>>,
    /// The children that each still waits for.
    waits: Vec<AtomicU32>,
    /// Where rows are in the block that a thread is at: an array of all rows for each thread.
    maps: Mutex<Vec<Vec<u32>>>,
    is_regular: AtomicBool,
    error: OnceLock<crate::error::Error>,
}

impl Work<'_> {
    /// Computes some supernodes one after the other, then those that have waited for the last one alone.
    fn climb(&self, task: &[u32]) {
        let maps = || self.maps.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = maps().pop();
        let mut map = taken.unwrap_or_else(|| vec![0; self.tree.n()]);
        let mut scratch = Scratch::default();
        task.iter().for_each(|&s| self.compute(s as usize, &mut map, &mut scratch));
        let mut at = task.last().map(|&s| s as usize);
        while let Some(parent) = at.and_then(|s| self.tree.parent(s)) {
            if self.waits[parent].fetch_sub(1, Ordering::AcqRel) > 1 {
                break;
            }
            self.compute(parent, &mut map, &mut scratch);
            at = Some(parent);
        }
        maps().push(map);
    }

    /// Computes a supernode, unless another has failed.
    fn compute(&self, s: usize, map: &mut [u32], scratch: &mut Scratch) {
        let is_over = !self.is_regular.load(Ordering::Relaxed) || self.error.get().is_some();
        let Some(mut block) = self.places[s].take().filter(|_| !is_over) else { return };
        let (tree, columns) = (self.tree, self.tree.columns(s));
        tree.below(s).iter().enumerate().for_each(|(k, &row)| map[row] = (columns + k) as u32);
        self.fill(s, &mut block, map);
        let is_wide = tree.work(s) > WIDE;
        let changed =
            |tile: &mut Tile, scratch: &mut Scratch| update(tile, tree, s, &self.places, map, scratch);
        match is_wide {
            true => tiles::each(Tile::of_lower(tree.block_mut(s, block.values)), true, |tile| {
                changed(tile, &mut Scratch::default());
            }),
            false => changed(&mut Tile::whole(tree.block_mut(s, block.values)), scratch),
        }
        match self.factors(s, &mut block, is_wide) {
            Ok(true) => self.places[s].give(block),
            Ok(false) => self.is_regular.store(false, Ordering::Relaxed),
            Err(error) => drop(self.error.set(error)),
        }
    }

    fn factors(&self, s: usize, block: &mut Block, is_wide: bool) -> Result<bool> {
        let matrix = self.tree.block_mut(s, block.values);
        match &mut block.pivots {
            Some(pivots) => ldlt(matrix, pivots, self.tree.begin(s), is_wide).map(|()| true),
            None => llt(matrix, is_wide),
        }
    }

    /// Puts the entries of the matrix in a block.
    fn fill(&self, s: usize, block: &mut Block, map: &[u32]) {
        let (begin, end, rows) = (self.tree.begin(s), self.tree.end(s), self.tree.rows(s));
        block.values.fill(0.0);
        for (j, values) in (begin..end).zip(block.values.chunks_exact_mut(rows)) {
            let column = self.order.map_or(j, |[forward, _]| forward[j]);
            for (&i, v) in self.a.rows(column).iter().zip(self.a.values(column)) {
                let row = self.order.map_or(i, |[_, inverse]| inverse[i]);
                if row >= j {
                    values[if row < end { row - begin } else { map[row] as usize }] += v;
                }
            }
        }
    }
}
