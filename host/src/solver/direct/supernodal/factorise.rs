//! The numbers of the blocks, each when those that change it are there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use faer::perm::PermRef;

use super::block::{Block, Place};
use super::dense::{ldlt, llt};
use super::tasks::Tasks;
use super::tiles::{self, Tile};
use super::tree::Tree;
use super::update::{Scratch, update};
use crate::error::{Error, Result};
use crate::solver::direct::columns::Columns;

/// Multiply-adds of a supernode that several threads share.
const WIDE: f64 = 2e6;

/// Computes the numbers; whether there are such factors, and nobody `cancelled` them. `a` has both triangles.
///
/// # Errors
/// Where there is no memory for intermediate results.
pub fn factorise(
    a: &Columns,
    tree: &Tree,
    tasks: &Tasks,
    numbers: Block,
    cancelled: &AtomicBool,
) -> Result<bool> {
    let work = Work {
        a,
        order: tree.order().map(PermRef::arrays),
        tree,
        places: numbers.split(tree).into_iter().map(Place::new).collect(),
        spare: Mutex::default(),
        cancelled,
        is_regular: AtomicBool::new(true),
        error: OnceLock::new(),
    };
    tasks.each_upwards(|task| work.compute_all(task));
    match work.error.into_inner() {
        Some(error) => Err(error),
        None => Ok(work.is_regular.into_inner() && !cancelled.load(Ordering::Relaxed)),
    }
}

/// What the threads share.
struct Work<'a> {
    a: &'a Columns,
    /// The columns in the order of elimination, and where each has come; `None` for as they are.
    order: Option<(&'a [usize], &'a [usize])>,
    tree: &'a Tree,
    places: Vec<Place<'a>>,
    /// What threads need, of those that are at none.
    spare: Mutex<Vec<(Map, Scratch)>>,
    cancelled: &'a AtomicBool,
    is_regular: AtomicBool,
    error: OnceLock<Error>,
}

/// Where each row of the matrix is in a block.
type Map = Vec<u32>;

impl Work<'_> {
    fn compute_all(&self, supernodes: &[u32]) {
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = spare().pop();
        let (mut map, mut scratch) = taken.unwrap_or_else(|| (vec![0; self.tree.n()], Scratch::default()));
        supernodes.iter().for_each(|&s| self.compute(s as usize, &mut map, &mut scratch));
        spare().push((map, scratch));
    }

    fn is_over(&self) -> bool {
        let flag = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        flag(self.cancelled) || !flag(&self.is_regular) || self.error.get().is_some()
    }

    /// Computes a supernode, unless another has failed, or nobody waits for it.
    fn compute(&self, s: usize, map: &mut [u32], scratch: &mut Scratch) {
        let Some(mut block) = self.places[s].take().filter(|_| !self.is_over()) else { return };
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
            let column = self.order.map_or(j, |(forward, _)| forward[j]);
            for (&i, v) in self.a.rows(column).iter().zip(self.a.values(column)) {
                let row = self.order.map_or(i, |(_, inverse)| inverse[i]);
                if row >= j {
                    values[if row < end { row - begin } else { map[row] as usize }] += v;
                }
            }
        }
    }
}
