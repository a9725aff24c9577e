//! The factors, and solves with them.

use super::entries::{Entries, Lower};

/// `P A Q = L U`: L with ones on its diagonal, U of `rank` rows.
pub struct SparseLu {
    /// The row of each step; behind the rank those without a pivot.
    pub rows: Vec<u32>,
    /// The column of each step; behind the rank those put off.
    pub columns: Vec<u32>,
    /// Below the diagonal, for each step; rows of A.
    pub lower: Lower,
    /// Above the diagonal, for each column; steps.
    pub upper: Entries,
    /// The pivots.
    pub pivots: Vec<f64>,
}

impl SparseLu {
    /// Before the first step.
    pub fn empty(n: usize) -> SparseLu {
        SparseLu {
            rows: Vec::with_capacity(n),
            columns: Vec::with_capacity(n),
            lower: Lower::new(),
            upper: Entries::new(),
            pivots: Vec::with_capacity(n),
        }
    }

    /// The next step, whose entries are there.
    pub fn step(&mut self, row: u32, column: u32, pivot: f64) {
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
