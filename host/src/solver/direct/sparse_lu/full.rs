//! The last columns of a block, which have entries in nearly all rows by then: they are eliminated as a
//! dense matrix, tens of times as fast.

use super::dense::Dense;
use super::entries::Entries;
use super::factors::SparseLu;
use super::pivots::NONE;

/// A column is full with entries in this share of the rows that are left of its block.
const FULL: f64 = 0.5;
/// Fewer columns are eliminated one after another.
const LEAST: usize = 200;
/// Multiply-adds of a dense matrix that take as long as one of single entries.
const DENSE: f64 = 16.0;

/// Whether a column is full that has so many entries below its pivot, and of whose block so many columns are
/// left.
pub fn is_full(entries: usize, left: usize) -> bool {
    entries as f64 >= FULL * (left - 1) as f64
}

/// Whether so many columns are many enough.
pub fn are_many(columns: usize) -> bool {
    columns >= LEAST
}

/// Multiply-adds of single entries that take as long as so many columns.
pub fn flops(columns: usize) -> f64 {
    (columns as f64).powi(3) / (3.0 * DENSE)
}

/// Columns that the pivots before them were eliminated in.
pub struct Full {
    /// The place of a row below.
    place: Vec<u32>,
    /// The rows without pivots.
    rows: Vec<u32>,
    columns: Vec<u32>,
    /// Entries in rows of pivots, by steps.
    above: Entries,
    /// The others of each column, by places of rows.
    below: Vec<Vec<f64>>,
}

impl Full {
    pub fn new(n: usize) -> Full {
        let (place, above) = (vec![NONE; n], Entries::new());
        Full { place, rows: Vec::new(), columns: Vec::new(), above, below: Vec::new() }
    }

    /// Adds a column with these entries.
    pub fn push(&mut self, column: u32, entries: impl Iterator<Item = (u32, f64)>, step_of: &[u32]) {
        let mut below = vec![0.0; self.rows.len()];
        for (row, v) in entries {
            let step = step_of[row as usize];
            if step != NONE {
                self.above.push(step, v);
                continue;
            }
            let place = &mut self.place[row as usize];
            if *place == NONE {
                *place = self.rows.len() as u32;
                self.rows.push(row);
                below.push(0.0);
            }
            below[*place as usize] = v;
        }
        self.above.end();
        self.columns.push(column);
        self.below.push(below);
    }

    /// Eliminates them: steps of the factors, and columns put off.
    pub fn eliminate(mut self, lu: &mut SparseLu, put_off: &mut (Vec<u32>, Entries)) {
        let dense = self.factorised();
        let (first, rank, n_rows) = (lu.rank() as u32, dense.steps.len(), self.rows.len());
        lu.lower.entries.reserve(rank * n_rows - rank * (rank + 1) / 2);
        lu.upper.reserve(self.above.at.len() + rank * rank / 2);
        let (rows, places) = (dense.rows(), dense.places());
        let above = |entries: &mut Entries, column: usize, steps: usize| {
            self.above.column(column).for_each(|(step, v)| entries.push(step as u32, v));
            let of_steps = &dense.column(places[column])[..steps];
            (first..).zip(of_steps).for_each(|(step, &v)| entries.push(step, v));
            entries.end();
        };
        for (k, &column) in dense.steps.iter().enumerate() {
            let entries = dense.column(places[column]);
            for (&row, &v) in rows[k + 1..].iter().zip(&entries[k + 1..]) {
                lu.lower.entries.push(self.rows[row], v);
            }
            if k + 1 < rank {
                lu.lower.end_before_full();
            } else {
                lu.lower.end();
            }
            above(&mut lu.upper, column, k);
            lu.step(self.rows[rows[k]], self.columns[column], entries[k]);
        }
        for &(column, steps) in &dense.put_off {
            above(&mut put_off.1, column, steps);
            put_off.0.push(self.columns[column]);
        }
    }

    /// What is below as L and U.
    fn factorised(&mut self) -> Dense {
        let n_rows = self.rows.len();
        let mut values = Vec::with_capacity(n_rows * self.columns.len());
        for (k, column) in std::mem::take(&mut self.below).into_iter().enumerate() {
            values.extend(column);
            values.resize((k + 1) * n_rows, 0.0);
        }
        let largest = |k: usize| self.above.column(k).fold(0.0f64, |most, (_, v)| most.max(v.abs()));
        let largest_above: Vec<f64> = (0..self.columns.len()).map(largest).collect();
        Dense::factorised(n_rows, values, &largest_above)
    }
}
