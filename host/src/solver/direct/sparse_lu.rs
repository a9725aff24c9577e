//! LU decomposition column by column (Gilbert and Peierls 1988), with threshold pivoting. Columns in which
//! no pivot is left are put off to the end, so that it finds the rank.

use super::columns::Columns;

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
    lower: Entries,
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

/// Entries of columns.
struct Entries {
    start: Vec<usize>,
    at: Vec<u32>,
    values: Vec<f64>,
}

impl Entries {
    fn new() -> Entries {
        Entries { start: vec![0], at: Vec::new(), values: Vec::new() }
    }

    fn push(&mut self, at: u32, value: f64) {
        self.at.push(at);
        self.values.push(value);
    }

    fn end(&mut self) {
        self.start.push(self.at.len());
    }

    fn column(&self, k: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.start[k]..self.start[k + 1];
        self.at[range.clone()].iter().zip(&self.values[range]).map(|(&i, &v)| (i as usize, v))
    }
}

/// A column that is being eliminated.
struct Work {
    /// Its entries, by rows of A; 0 between two columns.
    x: Vec<f64>,
    /// The rows that it has entries in, those that others depend on last.
    reached: Vec<u32>,
    /// The turn in which a row was reached last.
    seen: Vec<u32>,
    /// The path of the search: a row, and the place of the next entry of its column of L.
    path: Vec<(u32, usize)>,
}

impl SparseLu {
    /// Factorises with columns in this order. `preferred` is the pivot row of each column that fill was
    /// thought of with. `None` where it takes more than so many multiply-adds.
    pub fn of(
        a: &Columns,
        order: &[usize],
        preferred: &[u32],
        choice: Choice,
        most_flops: f64,
    ) -> Option<SparseLu> {
        let n = a.n;
        let mut lu = SparseLu {
            rows: Vec::with_capacity(n),
            columns: Vec::with_capacity(n),
            lower: Entries::new(),
            upper: Entries::new(),
            pivots: Vec::with_capacity(n),
        };
        let mut work = Work { x: vec![0.0; n], reached: Vec::new(), seen: vec![NONE; n], path: Vec::new() };
        let mut step_of = vec![NONE; n];
        let mut put_off = (Vec::new(), Entries::new());
        let (mut last, mut flops) = (Vec::new(), 0);
        for turn in 0.. {
            let Some(j) = order.get(turn).or_else(|| last.get(turn - n)).copied() else { break };
            work.reach(a, j, turn as u32, &lu.lower, &step_of);
            flops += work.eliminate(a, j, &lu.lower, &step_of);
            if flops as f64 > most_flops {
                return None;
            }
            let row = work.pivot(&step_of, preferred[j], choice.threshold);
            if choice.comes_last && turn < n && preferred[j] != NONE && row != Some(preferred[j]) {
                work.reached.iter().for_each(|&i| work.x[i as usize] = 0.0);
                last.push(j);
                continue;
            }
            match row {
                Some(row) => lu.take(&mut work, &mut step_of, j, row),
                None => {
                    for &i in &work.reached {
                        let v = std::mem::take(&mut work.x[i as usize]);
                        if v != 0.0 && step_of[i as usize] != NONE {
                            put_off.1.push(step_of[i as usize], v);
                        }
                    }
                    put_off.1.end();
                    put_off.0.push(j as u32);
                }
            }
        }
        let (columns, entries) = put_off;
        for k in 0..columns.len() {
            entries.column(k).for_each(|(step, v)| lu.upper.push(step as u32, v));
            lu.upper.end();
        }
        lu.columns.extend(columns);
        lu.rows.extend((0..n as u32).filter(|&i| step_of[i as usize] == NONE));
        Some(lu)
    }

    /// Takes column j with this pivot.
    fn take(&mut self, work: &mut Work, step_of: &mut [u32], j: usize, row: u32) {
        let pivot = work.x[row as usize];
        for &i in &work.reached {
            let v = std::mem::take(&mut work.x[i as usize]);
            match step_of[i as usize] {
                _ if v == 0.0 || i == row => {}
                NONE => self.lower.push(i, v / pivot),
                step => self.upper.push(step, v),
            }
        }
        self.lower.end();
        self.upper.end();
        step_of[row as usize] = self.rows.len() as u32;
        self.rows.push(row);
        self.columns.push(j as u32);
        self.pivots.push(pivot);
    }

    /// The number of pivots.
    pub fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// Entries of both factors.
    pub fn entries(&self) -> usize {
        self.lower.at.len() + self.upper.at.len() + self.rank()
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
                self.lower.column(k).for_each(|(i, l)| x[i] -= l * y);
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
            let sum: f64 = self.lower.column(k).map(|(i, l)| l * x[i]).sum();
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

impl Work {
    /// Finds the rows in which column j has entries once those before it are eliminated: a search in the
    /// graph of L, depth first, whose order of leaving is the order of dependence.
    fn reach(&mut self, a: &Columns, j: usize, turn: u32, lower: &Entries, step_of: &[u32]) {
        self.reached.clear();
        for &i in a.rows(j) {
            if self.seen[i] != turn {
                self.seen[i] = turn;
                self.path.push((i as u32, first(lower, step_of[i])));
            }
            while let Some((row, place)) = self.path.last_mut() {
                let step = step_of[*row as usize];
                if step == NONE || *place == lower.start[step as usize + 1] {
                    self.reached.push(*row);
                    self.path.pop();
                    continue;
                }
                let next = lower.at[*place];
                *place += 1;
                if self.seen[next as usize] != turn {
                    self.seen[next as usize] = turn;
                    self.path.push((next, first(lower, step_of[next as usize])));
                }
            }
        }
    }

    /// Computes the entries; returns the multiply-adds that took.
    fn eliminate(&mut self, a: &Columns, j: usize, lower: &Entries, step_of: &[u32]) -> usize {
        a.rows(j).iter().zip(a.values(j)).for_each(|(&i, &v)| self.x[i] += v);
        let mut flops = self.reached.len();
        for &row in self.reached.iter().rev() {
            let (step, v) = (step_of[row as usize], self.x[row as usize]);
            if step != NONE && v != 0.0 {
                let step = step as usize;
                flops += lower.start[step + 1] - lower.start[step];
                lower.column(step).for_each(|(i, l)| self.x[i] -= l * v);
            }
        }
        flops
    }

    /// The row to divide by: the preferred one if it is large enough, else the largest.
    fn pivot(&self, step_of: &[u32], preferred: u32, threshold: f64) -> Option<u32> {
        let (mut row, mut most, mut size) = (NONE, 0.0, 0.0f64);
        for &i in &self.reached {
            let v = self.x[i as usize].abs();
            size = size.max(v);
            if step_of[i as usize] == NONE && v > most {
                (row, most) = (i, v);
            }
        }
        if row == NONE || most <= RANK * size {
            return None;
        }
        let is_left = preferred != NONE && step_of[preferred as usize] == NONE;
        let serves = is_left && self.x[preferred as usize].abs() >= threshold * most;
        Some(if serves { preferred } else { row })
    }
}

fn first(lower: &Entries, step: u32) -> usize {
    if step == NONE { 0 } else { lower.start[step as usize] }
}
