//! Which pivots LU takes.

use super::*;
use crate::solver::direct::columns::Columns;
use crate::solver::direct::sparse_lu::{Choice, Order};

/// The rows of nodes, and that of a rail which all of them are connected to. Where the rail is the first
/// pivot it fills the row of the first node, that the next, and so on.
#[test]
fn a_column_without_its_pivot_comes_last_rather_than_to_fill_all() {
    let n = 100;
    let node = |i: usize| [(i, i, if i == 0 { 1e-6 } else { 1.0 }), (n - 1, i, 5.0), (i, n - 1, 1.0)];
    let next = (0..n - 2).flat_map(|i| [(i, i + 1, 0.3), (i + 1, i, 0.3)]);
    let a = Csr::from_triplets(n, n, (0..n - 1).flat_map(node).chain([(n - 1, n - 1, 9.0)]).chain(next));
    let (a, order) = (a.unwrap(), Order::of((0..n).collect()));
    let preferred: Vec<u32> = (0..n as u32).collect();
    let lu = |comes_last| {
        let choice = Choice { threshold: 0.1, comes_last };
        SparseLu::of(&Columns::of(&a), &order, &preferred, choice, f64::INFINITY).unwrap()
    };
    assert!(lu(false).entries() > 20 * n && lu(true).entries() < 7 * n);
    let (b, mut x) = (rhs(n), rhs(n));
    lu(true).solve(&mut x);
    assert!(job::relative_residual(&a, &x, &b) < 1e-12);
}
