//! A column that is being eliminated.

use super::entries::Lower;
use super::pivots::{Choice, NONE, RANK};
use crate::solver::direct::columns::Columns;

/// A column that is being eliminated.
pub struct Work {
    /// Its entries, by rows of A; 0 between two columns.
    pub x: Vec<f64>,
    /// The rows that it has entries in, those that others depend on last.
    pub reached: Vec<u32>,
    /// The turn in which a row was reached last.
    seen: Vec<u32>,
    /// Columns so far.
    turn: u32,
    /// The path of the search: a row, and the place of the next entry of its column of L.
    path: Vec<(u32, usize)>,
}

impl Work {
    pub fn new(n: usize) -> Work {
        Work { x: vec![0.0; n], reached: Vec::new(), seen: vec![NONE; n], turn: 0, path: Vec::new() }
    }

    /// Eliminates in column j; returns the multiply-adds that took.
    pub fn eliminate(&mut self, a: &Columns, j: usize, lower: &Lower, step_of: &[u32]) -> usize {
        self.reach(a, j, lower, step_of);
        // As a slice its address and length stay in registers.
        let (x, mut flops) = (&mut self.x[..], self.reached.len());
        a.rows(j).iter().zip(a.values(j)).for_each(|(&i, &v)| x[i] += v);
        for &row in self.reached.iter().rev() {
            let (step, v) = (step_of[row as usize], x[row as usize]);
            if step != NONE && v != 0.0 {
                let step = step as usize;
                flops += lower.entries.count(step);
                lower.entries.column(step).for_each(|(i, l)| x[i] -= l * v);
            }
        }
        flops
    }

    /// Finds the rows in which column j has entries once those before it are eliminated: a search in the
    /// graph of L, depth first, whose order of leaving is the order of dependence.
    fn reach(&mut self, a: &Columns, j: usize, lower: &Lower, step_of: &[u32]) {
        self.reached.clear();
        for &i in a.rows(j) {
            self.enter(i as u32, lower, step_of);
            while let Some((row, place)) = self.path.last_mut() {
                let step = step_of[*row as usize];
                if step == NONE || *place == lower.looked_at[step as usize] {
                    self.reached.push(*row);
                    self.path.pop();
                    continue;
                }
                let next = lower.entries.at[*place];
                *place += 1;
                self.enter(next, lower, step_of);
            }
        }
        self.turn += 1;
    }

    /// Goes to a row that was not reached before.
    fn enter(&mut self, row: u32, lower: &Lower, step_of: &[u32]) {
        if self.seen[row as usize] != self.turn {
            self.seen[row as usize] = self.turn;
            let step = step_of[row as usize];
            self.path.push((row, if step == NONE { 0 } else { lower.entries.start[step as usize] }));
        }
    }

    /// The row to divide by: the preferred one if it is large enough, else the largest.
    pub fn pivot(&self, step_of: &[u32], preferred: u32, choice: Choice) -> Option<u32> {
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
        let serves = is_left && self.x[preferred as usize].abs() >= choice.threshold * most;
        Some(if serves { preferred } else { row })
    }

    /// Takes the entries out, with their rows.
    pub fn drain(&mut self) -> impl Iterator<Item = (u32, f64)> {
        let (x, reached) = (&mut self.x[..], &self.reached);
        reached.iter().map(|&i| (i, std::mem::take(&mut x[i as usize])))
    }
}
