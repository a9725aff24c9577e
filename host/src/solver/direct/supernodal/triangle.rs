//! Solutions with the L of a block: its columns' triangle, and the rows below it.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve as triangular;
use faer::{Accum, MatMut, MatRef, Par};

use crate::parallel::ParallelSlice;

/// Columns that are solved for together.
const PANEL: usize = 128;
/// Entries of a block that several threads share,
const WIDE: usize = 1 << 18;
/// its rows for each at once, from leaves to the root,
const ROWS: usize = 1024;
/// and its columns on the way back.
const COLUMNS: usize = 8;

/// The triangle and the rows below it, of `L L^T`, or of `L D L^T` with D in the place of the ones on its
/// diagonal.
#[derive(Clone, Copy)]
pub struct Lower<'a> {
    /// Its entries.
    pub l: MatRef<'a, f64>,
    /// Whether the diagonal is one.
    pub is_unit: bool,
}

impl Lower<'_> {
    /// `x = L_columns^-1 x` of the columns, then `x - L_below x` of the rows below.
    pub fn solve(self, x: &mut [f64]) {
        let columns = self.l.ncols();
        for begin in (0..columns).step_by(PANEL) {
            let (panel, width) = self.panel(begin);
            let (top, below) = panel.split_at_row(width);
            let (solved, rest) = x[begin..].split_at_mut(width);
            match self.is_unit {
                true => triangular::solve_unit_lower_triangular_in_place(top, column_mut(solved), Par::Seq),
                false => triangular::solve_lower_triangular_in_place(top, column_mut(solved), Par::Seq),
            }
            let solved = column(solved);
            self.each(rest, ROWS, |rest, row| {
                let rows = below.subrows(row, rest.len());
                matmul(column_mut(rest), Accum::Add, rows, solved, -1.0, Par::Seq);
            });
        }
    }

    /// `x = L_columns^-T (x - L_below^T x_below)` of the columns.
    pub fn solve_transposed(self, x: &mut [f64]) {
        let columns = self.l.ncols();
        for begin in (0..columns).step_by(PANEL).rev() {
            let (panel, width) = self.panel(begin);
            let (top, below) = panel.split_at_row(width);
            let (own, solved) = x[begin..].split_at_mut(width);
            let solved = column(solved);
            self.each(own, COLUMNS, |own, first| {
                let columns = below.subcols(first, own.len());
                matmul(column_mut(own), Accum::Add, columns.transpose(), solved, -1.0, Par::Seq);
            });
            let (top, own) = (top.transpose(), column_mut(own));
            match self.is_unit {
                true => triangular::solve_unit_upper_triangular_in_place(top, own, Par::Seq),
                false => triangular::solve_upper_triangular_in_place(top, own, Par::Seq),
            }
        }
    }

    /// Columns from the first of them on, in the rows that they have: and how many.
    fn panel(&self, begin: usize) -> (MatRef<'_, f64>, usize) {
        let width = PANEL.min(self.l.ncols() - begin);
        (self.l.get(begin.., begin..begin + width), width)
    }

    /// Calls `f` for parts of x, and for where each begins: on several threads where the block is large.
    fn each(&self, x: &mut [f64], length: usize, f: impl Fn(&mut [f64], usize) + Sync) {
        if self.l.nrows() * self.l.ncols() < WIDE {
            return f(x, 0);
        }
        x.par_chunks_mut(length).enumerate().for_each(|(k, part)| f(part, k * length));
    }
}

fn column(x: &[f64]) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(x, x.len(), 1)
}

fn column_mut(x: &mut [f64]) -> MatMut<'_, f64> {
    let n = x.len();
    MatMut::from_column_major_slice_mut(x, n, 1)
}
