//! Solutions with the factors: from the leaves to the root, and back.
//!
//! What a supernode adds to the rows below it is kept by itself, for those to take in their order: L is read
//! once each way, and the bits do not depend on the threads.

use faer::MatMut;

use super::dense::divide_by_d;
use super::factors::{Factors, Pivots, Shared};
use super::triangle::Lower;

/// `A^-1 x` in place of x.
pub fn solve(factors: &Factors, x: &mut [f64]) {
    let forward = factors.tree.order().map(|order| order.arrays().0);
    let place = |j: usize| forward.map_or(j, |forward| forward[j]);
    factors.x.iter().enumerate().for_each(|(j, own)| own.set(x[place(j)]));
    factors.tasks.each_upwards(|task| {
        let mut scratch = Vec::new();
        task.iter().for_each(|&s| forward_with(factors, s as usize, &mut scratch));
    });
    factors.tasks.each_downwards(|task| {
        let mut scratch = Vec::new();
        task.iter().rev().for_each(|&s| back_with(factors, s as usize, &mut scratch));
    });
    factors.x.iter().enumerate().for_each(|(j, own)| x[place(j)] = own.get());
}

/// `D^-1 L^-1 x` of the columns of supernode s, and what that adds to the rows below.
fn forward_with(factors: &Factors, s: usize, part: &mut Vec<f64>) {
    let Factors { tree, pivots, x, added, .. } = factors;
    let (begin, columns) = (tree.begin(s), tree.columns(s));
    let own = &x[begin..begin + columns];
    part.clear();
    part.extend(own.iter().map(Shared::get));
    for update in tree.updates(s) {
        let (from, changed) = (update.from as usize, update.begin as usize..update.end as usize);
        let added = &added[tree.place_below(from)][changed.clone()];
        tree.below(from)[changed].iter().zip(added).for_each(|(row, v)| part[row - begin] += v.get());
    }
    if let Some(Pivots { order, .. }) = pivots {
        own.iter().zip(&*part).for_each(|(own, &v)| own.set(v));
        order[begin..begin + columns].iter().zip(&mut *part).for_each(|(&j, v)| *v = x[j].get());
    }
    part.resize(tree.rows(s), 0.0);
    let lower = lower(factors, s);
    lower.solve(part);
    if let Some(Pivots { below, .. }) = pivots {
        let row = MatMut::from_row_major_slice_mut(&mut part[..columns], 1, columns);
        divide_by_d(row, lower.l, &below[begin..begin + columns]);
    }
    own.iter().chain(&added[tree.place_below(s)]).zip(&*part).for_each(|(place, &v)| place.set(v));
}

/// `L^-T x` of the columns of supernode s.
fn back_with(factors: &Factors, s: usize, part: &mut Vec<f64>) {
    let Factors { tree, pivots, x, .. } = factors;
    let columns = tree.begin(s)..tree.end(s);
    part.clear();
    part.extend(x[columns.clone()].iter().map(Shared::get));
    part.extend(tree.below(s).iter().map(|&row| x[row].get()));
    lower(factors, s).solve_transposed(part);
    match pivots {
        None => x[columns].iter().zip(&*part).for_each(|(own, &v)| own.set(v)),
        Some(Pivots { order, .. }) => order[columns].iter().zip(&*part).for_each(|(&j, &v)| x[j].set(v)),
    }
}

fn lower(Factors { tree, values, pivots, .. }: &Factors, s: usize) -> Lower<'_> {
    Lower { l: tree.block(s, &values[tree.place(s)]), is_unit: pivots.is_some() }
}
