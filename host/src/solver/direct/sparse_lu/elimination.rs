//! The elimination: column by column, and the last columns of a block at once where they are full.

use super::entries::Entries;
use super::factors::SparseLu;
use super::full::{self, Full};
use super::order::Order;
use super::pivots::{Choice, NONE};
use super::work::Work;
use crate::solver::direct::columns::Columns;

/// So many full columns one after another, and those behind them are too.
const IN_TURN: usize = 8;

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
}

/// An elimination on its way.
struct Elimination<'a> {
    a: &'a Columns,
    /// The pivot row of each column that fill was thought of with.
    preferred: &'a [u32],
    choice: Choice,
    most_flops: f64,
    lu: SparseLu,
    work: Work,
    /// The step whose pivot is in a row.
    step_of: Vec<u32>,
    /// Columns without a pivot, and their entries.
    put_off: (Vec<u32>, Entries),
    /// Columns that come last.
    last: Vec<usize>,
    flops: f64,
}

impl<'a> Elimination<'a> {
    fn new(a: &'a Columns, preferred: &'a [u32], choice: Choice, most_flops: f64) -> Elimination<'a> {
        Elimination {
            a,
            preferred,
            choice,
            most_flops,
            lu: SparseLu::empty(a.n),
            work: Work::new(a.n),
            step_of: vec![NONE; a.n],
            put_off: (Vec::new(), Entries::new()),
            last: Vec::new(),
            flops: 0.0,
        }
    }

    /// Eliminates the columns of a block; `None` where it takes too much.
    fn block(&mut self, columns: &[usize]) -> Option<()> {
        let mut in_turn = 0;
        for (k, &j) in columns.iter().enumerate() {
            let left = columns.len() - k;
            if in_turn >= IN_TURN && full::are_many(left) {
                return self.at_once(&columns[k..]);
            }
            self.eliminate(j)?;
            in_turn = if full::is_full(self.pivot(j), left) { in_turn + 1 } else { 0 };
        }
        Some(())
    }

    /// Those that come last.
    fn last(&mut self) -> Option<()> {
        self.choice.comes_last = false;
        let columns = std::mem::take(&mut self.last);
        self.block(&columns)
    }

    /// The factors.
    fn finished(self) -> SparseLu {
        let Elimination { mut lu, step_of, put_off: (columns, entries), .. } = self;
        for k in 0..columns.len() {
            entries.column(k).for_each(|(step, v)| lu.upper.push(step as u32, v));
            lu.upper.end();
        }
        lu.columns.extend(columns);
        lu.rows.extend((0..step_of.len() as u32).filter(|&i| step_of[i as usize] == NONE));
        lu
    }

    fn eliminate(&mut self, j: usize) -> Option<()> {
        let flops = self.work.eliminate(self.a, j, &self.lu.lower, &self.step_of);
        self.count(flops as f64)
    }

    fn count(&mut self, flops: f64) -> Option<()> {
        self.flops += flops;
        (self.flops <= self.most_flops).then_some(())
    }

    /// Finds the pivot of a column that is eliminated; how many entries it has below that.
    fn pivot(&mut self, j: usize) -> usize {
        let preferred = self.preferred[j];
        let row = self.work.pivot(&self.step_of, preferred, self.choice);
        if self.choice.comes_last && preferred != NONE && row != Some(preferred) {
            self.work.drain().for_each(drop);
            self.last.push(j);
            return 0;
        }
        match row {
            Some(row) => self.take(j, row),
            None => {
                self.put_off(j);
                0
            }
        }
    }

    fn put_off(&mut self, j: usize) {
        for (i, v) in self.work.drain() {
            let step = self.step_of[i as usize];
            if v != 0.0 && step != NONE {
                self.put_off.1.push(step, v);
            }
        }
        self.put_off.1.end();
        self.put_off.0.push(j as u32);
    }

    /// Takes column j with this pivot. Entries that cancelled are kept: searches rely on them.
    fn take(&mut self, j: usize, row: u32) -> usize {
        let SparseLu { lower, upper, pivots, .. } = &mut self.lu;
        let pivot = self.work.x[row as usize];
        let before = (lower.entries.at.len(), upper.at.len());
        for (i, v) in self.work.drain() {
            match self.step_of[i as usize] {
                _ if i == row => {}
                NONE => lower.entries.push(i, v / pivot),
                step => upper.push(step, v),
            }
        }
        lower.end();
        upper.end();
        self.step_of[row as usize] = pivots.len() as u32;
        for &step in &upper.at[before.1..] {
            lower.depends(step as usize, row, &self.step_of);
        }
        let below = lower.entries.at.len() - before.0;
        self.lu.step(row, j as u32, pivot);
        below
    }

    /// The last columns of a block, which are full.
    fn at_once(&mut self, columns: &[usize]) -> Option<()> {
        self.count(full::flops(columns.len()))?;
        let mut last = Full::new(self.a.n);
        for &j in columns {
            self.eliminate(j)?;
            last.push(j as u32, self.work.drain(), &self.step_of);
        }
        let first = self.lu.rank();
        last.eliminate(&mut self.lu, &mut self.put_off);
        for (step, &row) in self.lu.rows.iter().enumerate().skip(first) {
            self.step_of[row as usize] = step as u32;
        }
        Some(())
    }
}
