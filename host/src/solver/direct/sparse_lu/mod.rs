//! LU decomposition column by column (Gilbert and Peierls 1988), with threshold pivoting. Columns in which
//! no pivot is left are put off to the end, so that it finds the rank.
//!
//! | file | what |
//! |---|---|
//! | `entries` | entries of columns |
//! | `work` | a column that is being eliminated |
//! | `elimination` | all of them |
//! | `full`, `dense` | the last columns of a block, which are full, as a dense matrix |

use super::columns::Columns;
use elimination::Elimination;
use entries::{Entries, Lower};

mod dense;
mod elimination;
mod entries;
mod full;
mod work;

pub use full::{are_many, flops as flops_of_full, is_full};

/// No step, or none yet.
const NONE: u32 = u32::MAX;
/// A column has no pivot where nothing that is left of it is above this share of what it was.
const RANK: f64 = 1.0 / (1u64 << 46) as f64;

/// `P A Q = L U`: L with ones on its diagonal, U of `rank` rows.
pub struct SparseLu {
    /// The row of each step; behind the rank those without a pivot.
    rows: Vec<u32>,
    /// The column of each step; behind the rank those put off.
    columns: Vec<u32>,
    /// Below the diagonal, for each step; rows of A.
    lower: Lower,
    /// Above the diagonal, for each column; steps.
    upper: Entries,
    /// The pivots.
    pivots: Vec<f64>,
}

/// Which rows become pivots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The preferred row is taken where its entry is at least this share of the largest.
    pub threshold: f64,
    /// Whether a column whose preferred row is not comes last, where it may have any row, instead of taking
    /// another now. Then no column before has more entries than was thought of, but for those in rows that
    /// are left.
    pub comes_last: bool,
}

/// Columns in the order of elimination.
pub struct Order {
    /// All of them.
    pub columns: Vec<usize>,
    /// Where each block of columns ends, whose pivots are in rows of their own.
    pub ends: Vec<usize>,
}

impl Order {
    /// One block.
    pub fn of(columns: Vec<usize>) -> Order {
        Order { ends: vec![columns.len()], columns }
    }

    /// Blocks, by the number of that of each column, which ascend.
    pub fn in_blocks(columns: Vec<usize>, block: &[u32]) -> Order {
        let is_end = |k: &usize| columns.get(*k).is_none_or(|&next| block[next] != block[columns[k - 1]]);
        Order { ends: (1..=columns.len()).filter(is_end).collect(), columns }
    }
}

impl SparseLu {
    /// Factorises with columns in this order. `preferred` is the pivot row of each column that fill was
    /// thought of with. `None` where it takes more than so many multiply-adds.
    pub fn of(
        a: &Columns,
        order: &Order,
        preferred: &[u32],
        choice: Choice,
        most_flops: f64,
    ) -> Option<SparseLu> {
        let mut elimination = Elimination::new(a, preferred, choice, most_flops);
        let mut begin = 0;
        for &end in &order.ends {
            elimination.block(&order.columns[begin..end])?;
            begin = end;
        }
        elimination.last()?;
        Some(elimination.finished())
    }

    /// Before the first step.
    fn empty(n: usize) -> SparseLu {
        SparseLu {
            rows: Vec::with_capacity(n),
            columns: Vec::with_capacity(n),
            lower: Lower::new(),
            upper: Entries::new(),
            pivots: Vec::with_capacity(n),
        }
    }

    /// The next step, whose entries are there.
    fn step(&mut self, row: u32, column: u32, pivot: f64) {
        self.rows.push(row);
        self.columns.push(column);
        self.pivots.push(pivot);
    }

    /// The number of pivots.
    pub fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// Entries of both factors.
    pub fn entries(&self) -> usize {
        self.lower.entries.at.len() + self.upper.at.len() + self.rank()
    }

    /// `x = A^-1 x`; where A is singular, x is 0 in the columns put off, and solves the equations of the
    /// rows with pivots.
    pub fn solve(&self, x: &mut [f64]) {
        self.forward(x);
        let mut y: Vec<f64> = self.rows[..self.rank()].iter().map(|&i| x[i as usize]).collect();
        x.fill(0.0);
        self.backward(&mut y, x);
    }

    /// `L y = x` in place of x, by rows of A.
    fn forward(&self, x: &mut [f64]) {
        for k in 0..self.rank() {
            let y = x[self.rows[k] as usize];
            if y != 0.0 {
                self.lower.entries.column(k).for_each(|(i, l)| x[i] -= l * y);
            }
        }
    }

    /// `U x = y`, y by steps.
    fn backward(&self, y: &mut [f64], x: &mut [f64]) {
        for k in (0..self.rank()).rev() {
            let v = y[k] / self.pivots[k];
            x[self.columns[k] as usize] = v;
            if v != 0.0 {
                self.upper.column(k).for_each(|(step, u)| y[step] -= u * v);
            }
        }
    }

    /// `x = A^-T x`; where A is singular, x is 0 in the rows without a pivot.
    pub fn solve_transposed(&self, x: &mut [f64]) {
        let mut y: Vec<f64> = Vec::with_capacity(self.rank());
        for k in 0..self.rank() {
            let sum: f64 = self.upper.column(k).map(|(step, u)| u * y[step]).sum();
            y.push((x[self.columns[k] as usize] - sum) / self.pivots[k]);
        }
        x.fill(0.0);
        self.rows.iter().zip(y).for_each(|(&i, y)| x[i as usize] = y);
        self.backward_transposed(x);
    }

    /// `L^T y = x` in place of x, by rows of A.
    fn backward_transposed(&self, x: &mut [f64]) {
        for k in (0..self.rank()).rev() {
            let sum: f64 = self.lower.entries.column(k).map(|(i, l)| l * x[i]).sum();
            x[self.rows[k] as usize] -= sum;
        }
    }

    /// Vectors that A maps to 0, one for each column put off.
    pub fn right_null_vector(&self, k: usize) -> Vec<f64> {
        let (mut y, mut x) = (vec![0.0; self.rank()], vec![0.0; self.columns.len()]);
        self.upper.column(self.rank() + k).for_each(|(step, u)| y[step] = u);
        self.backward(&mut y, &mut x);
        x[self.columns[self.rank() + k] as usize] = -1.0;
        x
    }

    /// A vector that A^T maps to 0, with these numbers in the rows without a pivot.
    pub fn left_null_vector(&self, of_row: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut x = vec![0.0; self.rows.len()];
        for (k, &i) in self.rows[self.rank()..].iter().enumerate() {
            x[i as usize] = of_row(k);
        }
        self.backward_transposed(&mut x);
        x
    }

    /// What is left of the equations of the rows without a pivot: 0 where `A x = b` has a solution.
    pub fn unmet(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        self.forward(&mut x);
        self.rows[self.rank()..].iter().map(|&i| x[i as usize]).collect()
    }
}
