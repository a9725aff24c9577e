//! Which pivots LU takes.

use super::*;
use crate::matrix::Csr;
use crate::solver::direct::columns::Columns;
use crate::solver::direct::symbolic::Symbolic;

/// Rows of a chemical plant have their largest entries anywhere. With pivots on a small diagonal fill would
/// be thought of in vain.
#[test]
fn large_entries_beside_a_small_diagonal_are_thought_of_as_pivots() {
    let n = 40;
    let row_of = permutation(n as u32, 5);
    let preferred = |diagonal: f64| {
        let entries = (0..n).flat_map(|j| [(row_of[j] as usize, j, 4.0), (j, j, diagonal)]);
        let a = Csr::from_triplets(n, n, entries).unwrap();
        match Ordered::of(&a, &[Kind::Lu]).unwrap().counted.symbolic {
            Symbolic::General(general) => general.preferred,
            Symbolic::Symmetric(_) => panic!("LU is for any matrix"),
        }
    };
    assert_eq!(preferred(1e-6), row_of);
    assert_eq!(preferred(1.0), (0..n as u32).collect::<Vec<_>>());
}

/// The row of a supply rail has larger entries than those of the nodes that it feeds, and many.
#[test]
fn a_long_row_is_no_pivot_where_a_short_one_serves() {
    let n = 50;
    let nodes = (0..n - 1).flat_map(|i| [(i, i, 1.0), (n - 1, i, 2.0)]);
    let a = Csr::from_triplets(n, n, nodes.chain([(n - 1, n - 1, 3.0)])).unwrap();
    let order: Vec<usize> = (0..n).collect();
    let lu = SparseLu::of(&Columns::of(&a), &order, &vec![u32::MAX; n], 0.1, f64::INFINITY).unwrap();
    assert_eq!(lu.entries(), a.nnz());
}
