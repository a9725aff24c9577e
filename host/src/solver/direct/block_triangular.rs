//! Block triangular form: a matrix whose rows and columns can be permuted so that nothing is below blocks on
//! its diagonal is factorised block by block (Duff and Reid 1978). Circuits and chemical plants have many
//! blocks of one row.

use super::columns::Columns;

/// No number yet.
const NONE: u32 = u32::MAX;

/// The block of each column, where the pivot of column j is in the row that `column_of` maps to j: strong
/// components of the graph in which a column needs those that have their pivots in its rows, found depth
/// first (Tarjan 1972). Blocks are numbered so that a column needs none of a later block.
pub fn blocks(a: &Columns, column_of: &[usize]) -> Vec<u32> {
    let mut search = Search {
        a,
        column_of,
        entered: vec![NONE; a.n],
        block: vec![NONE; a.n],
        open: Vec::new(),
        path: Vec::new(),
        columns: 0,
        blocks: 0,
    };
    for j in 0..a.n {
        if search.entered[j] == NONE {
            search.from(j);
        }
    }
    search.block
}

struct Search<'a> {
    a: &'a Columns,
    column_of: &'a [usize],
    /// When a column was entered.
    entered: Vec<u32>,
    /// The block of a column, once it is complete.
    block: Vec<u32>,
    /// Columns entered whose block is not complete.
    open: Vec<u32>,
    path: Vec<Step>,
    columns: u32,
    blocks: u32,
}

/// A column on the path.
struct Step {
    column: u32,
    /// The next of its entries.
    next: usize,
    /// The earliest open column that can be reached from it.
    earliest: u32,
}

impl Search<'_> {
    fn from(&mut self, root: usize) {
        self.enter(root);
        while let Some(step) = self.path.last_mut() {
            let j = step.column as usize;
            match self.a.rows(j).get(step.next) {
                Some(&row) => {
                    step.next += 1;
                    let needed = self.column_of[row];
                    if self.entered[needed] == NONE {
                        self.enter(needed);
                    } else if self.block[needed] == NONE {
                        step.earliest = step.earliest.min(self.entered[needed]);
                    }
                }
                None => self.leave(),
            }
        }
    }

    fn enter(&mut self, j: usize) {
        self.entered[j] = self.columns;
        self.path.push(Step { column: j as u32, next: 0, earliest: self.columns });
        self.open.push(j as u32);
        self.columns += 1;
    }

    /// Goes back by a step; where nothing open is reached from it but what came after, that is a block.
    fn leave(&mut self) {
        let Some(Step { column, earliest, .. }) = self.path.pop() else { return };
        if let Some(before) = self.path.last_mut() {
            before.earliest = before.earliest.min(earliest);
        }
        if earliest != self.entered[column as usize] {
            return;
        }
        while let Some(j) = self.open.pop() {
            self.block[j as usize] = self.blocks;
            if j == column {
                break;
            }
        }
        self.blocks += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Csr;
    use crate::problem::random::uniform;

    fn columns(n: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Columns {
        Columns::of(&Csr::from_triplets(n, n, entries.into_iter().map(|(i, j)| (i, j, 1.0))).unwrap())
    }

    fn identity(n: usize) -> Vec<usize> {
        (0..n).collect()
    }

    #[test]
    fn a_triangle_has_blocks_of_one_column_each() {
        let n = 50usize;
        let lower = (0..n).flat_map(|i| (i.saturating_sub(3)..=i).map(move |j| (i, j)));
        // The first columns need the last.
        assert_eq!(blocks(&columns(n, lower), &identity(n)), (0..n as u32).rev().collect::<Vec<_>>());
    }

    #[test]
    fn a_ring_is_one_block() {
        let n = 40;
        let ring = (0..n).flat_map(|i| [(i, i), ((i + 1) % n, i)]);
        assert_eq!(blocks(&columns(n, ring), &identity(n)), vec![0; n]);
    }

    #[test]
    fn no_column_needs_a_later_block_and_columns_of_one_need_each_other() {
        let n = 300;
        let random = |k: usize| (uniform(7, k as u64) * n as f64) as usize;
        let entries: Vec<_> =
            (0..n).map(|i| (i, i)).chain((0..n).map(|k| (random(2 * k), random(2 * k + 1)))).collect();
        let a = columns(n, entries.iter().copied());
        let block = blocks(&a, &identity(n));
        assert!(entries.iter().all(|&(i, j)| block[i] <= block[j]));
        assert!(block.iter().max().is_some_and(|last| *last > 20 && (*last as usize) < n - 1), "{block:?}");
        // Reachability, to the end.
        let mut reaches = vec![vec![false; n]; n];
        entries.iter().for_each(|&(i, j)| reaches[j][i] = true);
        for k in 0..n {
            for j in 0..n {
                if reaches[j][k] {
                    let of_k = reaches[k].clone();
                    reaches[j].iter_mut().zip(of_k).for_each(|(at, more)| *at |= more);
                }
            }
        }
        for i in 0..n {
            for j in 0..n {
                assert_eq!(block[i] == block[j], reaches[i][j] && reaches[j][i], "{i} {j}");
            }
        }
    }
}
