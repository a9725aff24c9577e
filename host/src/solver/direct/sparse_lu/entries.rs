//! Entries of columns.

use super::pivots::NONE;

/// Columns one after another, each with its entries.
pub struct Entries {
    pub start: Vec<usize>,
    pub at: Vec<u32>,
    pub values: Vec<f64>,
}

impl Entries {
    pub fn new() -> Entries {
        Entries { start: vec![0], at: Vec::new(), values: Vec::new() }
    }

    pub fn reserve(&mut self, entries: usize) {
        self.at.reserve_exact(entries);
        self.values.reserve_exact(entries);
    }

    pub fn push(&mut self, at: u32, value: f64) {
        self.at.push(at);
        self.values.push(value);
    }

    /// Ends a column.
    pub fn end(&mut self) {
        self.start.push(self.at.len());
    }

    /// How many entries column k has.
    pub fn count(&self, k: usize) -> usize {
        self.start[k + 1] - self.start[k]
    }

    pub fn column(&self, k: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.start[k]..self.start[k + 1];
        self.at[range.clone()].iter().zip(&self.values[range]).map(|(&i, &v)| (i as usize, v))
    }
}

/// L, column by column, by rows of A. A search need not look at all entries of a column: once a later pivot
/// is in one of its rows, and that step depends on it, what it has further below is found there too
/// (symmetric pruning: Eisenstat and Liu 1992).
pub struct Lower {
    pub entries: Entries,
    /// The end of those that a search looks at.
    pub looked_at: Vec<usize>,
}

impl Lower {
    pub fn new() -> Lower {
        Lower { entries: Entries::new(), looked_at: Vec::new() }
    }

    /// Ends a column.
    pub fn end(&mut self) {
        self.entries.end();
        self.looked_at.push(self.entries.at.len());
    }

    /// Ends a column whose first entry is in the row of the next pivot, which has all the others too.
    pub fn end_before_full(&mut self) {
        let first = self.entries.start[self.looked_at.len()] + 1;
        self.entries.end();
        self.looked_at.push(first);
    }

    /// A later step has its pivot in this row, and depends on step k.
    pub fn depends(&mut self, k: usize, row: u32, step_of: &[u32]) {
        let Entries { start, at, values } = &mut self.entries;
        let (begin, end) = (start[k], start[k + 1]);
        if self.looked_at[k] < end || !at[begin..end].contains(&row) {
            return;
        }
        // Rows with pivots to the front.
        let mut front = begin;
        for place in begin..end {
            if step_of[at[place] as usize] != NONE {
                at.swap(front, place);
                values.swap(front, place);
                front += 1;
            }
        }
        self.looked_at[k] = front;
    }
}
