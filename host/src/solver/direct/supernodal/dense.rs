//! The block of a supernode, once it was updated: factors of its columns, and the rows below them.

use faer::dyn_stack::MemStack;
use faer::linalg::cholesky::{lblt, llt};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_unit_lower_triangular_in_place};
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, ColMut, MatMut, MatRef, Par, Spec};

use super::block::PivotsMut;
use super::tiles::{Tile, each};
use crate::error::Result;
use crate::solver::direct::prediction::workspace;

/// Columns that are eliminated together.
const PANEL: usize = 128;

/// `L L^T = A`, in place of the lower triangle of A, and `X L^-T` of the rows X below; whether all pivots are
/// positive. On several threads where it is `wide`.
pub fn llt(mut a: MatMut<f64>, is_wide: bool) -> Result<bool> {
    let columns = a.ncols();
    for begin in (0..columns).step_by(PANEL) {
        let width = PANEL.min(columns - begin);
        let rest = a.rb_mut().get_mut(begin.., begin..);
        let (panel, trailing) = rest.split_at_col_mut(width);
        let (mut top, mut below) = panel.split_at_row_mut(width);
        if !llt_of_panel(top.rb_mut())? {
            return Ok(false);
        }
        each(Tile::of_rows(below.rb_mut()), is_wide, |rows| {
            solve_lower_triangular_in_place(top.rb(), rows.values.rb_mut().transpose_mut(), Par::Seq);
        });
        let below = below.rb();
        each(Tile::of_lower(trailing.get_mut(width.., ..)), is_wide, |Tile { values, row, column }| {
            let upper = below.subrows(*row, values.nrows());
            let lower = below.subrows(*column, values.ncols());
            matmul(values, Accum::Add, upper, lower.transpose(), -1.0, Par::Seq);
        });
    }
    Ok(true)
}

fn llt_of_panel(a: MatMut<f64>) -> Result<bool> {
    let request = llt::factor::cholesky_in_place_scratch::<f64>(a.nrows(), Par::Seq, Spec::default());
    let mut memory = workspace(request)?;
    let stack = MemStack::new(&mut memory);
    Ok(llt::factor::cholesky_in_place(a, Default::default(), Par::Seq, stack, Spec::default()).is_ok())
}

/// `L D L^T = P A P^T`, with pivots of one or two of these columns, in place of the lower triangle of A, and
/// `X P^T L^-T D^-1` of the rows X below. The first column is that of number `first` of the matrix.
pub fn ldlt(a: MatMut<f64>, pivots: &mut PivotsMut, first: usize, is_wide: bool) -> Result<()> {
    let columns = a.ncols();
    let (mut top, below) = a.split_at_row_mut(columns);
    let request = lblt::factor::cholesky_in_place_scratch::<usize, f64>(columns, Par::Seq, Spec::default());
    let mut memory = workspace(request)?;
    let PivotsMut { below: of_pairs, order } = pivots;
    // Where a pivot is 0 nothing is written.
    of_pairs.fill(0.0);
    lblt::factor::cholesky_in_place(
        top.rb_mut(),
        ColMut::from_slice_mut(of_pairs).as_diagonal_mut(),
        order,
        &mut vec![0; columns],
        Par::Seq,
        MemStack::new(&mut memory),
        Spec::default(),
    );
    let (top, of_pairs, order) = (top.rb(), &**of_pairs, &mut **order);
    each(Tile::of_rows(below), is_wide, |rows| {
        let mut rows = rows.values.rb_mut();
        permute_columns(rows.rb_mut(), order);
        solve_unit_lower_triangular_in_place(top, rows.rb_mut().transpose_mut(), Par::Seq);
        divide_by_d(rows, top, of_pairs);
    });
    order.iter_mut().for_each(|column| *column += first);
    Ok(())
}

/// Puts column `order[j]` at j.
fn permute_columns(mut x: MatMut<f64>, order: &[usize]) {
    let mut row = vec![0.0; order.len()];
    for i in 0..x.nrows() {
        row.iter_mut().zip(order).for_each(|(v, &j)| *v = x[(i, j)]);
        row.iter().enumerate().for_each(|(j, &v)| x[(i, j)] = v);
    }
}

/// `X D^-1` in place of X, with the diagonal of D on that of `block`, and what is below it.
pub fn divide_by_d(mut x: MatMut<f64>, block: MatRef<f64>, below: &[f64]) {
    let mut j = 0;
    while j < below.len() {
        if below[j] == 0.0 {
            let inverse = block[(j, j)].recip();
            (0..x.nrows()).for_each(|i| x[(i, j)] *= inverse);
            j += 1;
            continue;
        }
        // The number below the diagonal is the largest of a pair's: divided by it, none overflows.
        let inverse = below[j].recip();
        let (first, second) = (block[(j, j)] * inverse, block[(j + 1, j + 1)] * inverse);
        let determinant = (first * second - 1.0).recip();
        for i in 0..x.nrows() {
            let (a, b) = (x[(i, j)] * inverse, x[(i, j + 1)] * inverse);
            x[(i, j)] = (second * a - b) * determinant;
            x[(i, j + 1)] = (first * b - a) * determinant;
        }
        j += 2;
    }
}
