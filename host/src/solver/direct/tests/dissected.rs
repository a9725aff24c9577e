//! Factors in the order of nested dissection.

use std::sync::atomic::AtomicBool;

use faer::sparse::linalg::cholesky::SymmetricOrdering;

use super::*;
use crate::solver::direct::columns::Columns;
use crate::solver::direct::dissection::nested_dissection;
use crate::solver::direct::symbolic::{Pivots, Symbolic, WORTH_DISSECTING, symmetric};

#[test]
fn large_factors_are_dissected_where_that_takes_less() {
    let a = problem("tet:32");
    let parameters = Default::default();
    let (_, by_degree) =
        symmetric(&Columns::of(&a), Kind::Cholesky, SymmetricOrdering::Amd, parameters).unwrap();
    assert!(by_degree.flops > WORTH_DISSECTING * a.nnz() as f64, "{by_degree:?}");
    let (_, prediction) = Symbolic::of(&Columns::of(&a), Kind::Cholesky, &Pivots::Diagonal).unwrap();
    assert!(prediction.flops < 0.8 * by_degree.flops, "{prediction:?}, by degree {by_degree:?}");

    let b = rhs(a.n_rows());
    let Solution { report, .. } = solved(&a, &b, &Device::cpu(1).unwrap());
    assert!(report.converged() && report.relative_residual < 1e-12, "{report:?}");
}

#[test]
fn the_order_is_the_same_on_any_number_of_threads() {
    let a = Columns::of(&problem("tet:14"));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| nested_dissection(&a, &AtomicBool::new(false))).unwrap()
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn pairs_stay_together() {
    let a = Columns::with_zeros(&paired(3000));
    let order = nested_dissection(&a, &AtomicBool::new(false)).unwrap();
    let mut place = vec![0; a.n];
    order.iter().enumerate().for_each(|(k, &j)| place[j] = k);
    assert!((0..a.n / 2).all(|k| place[2 * k].abs_diff(place[2 * k + 1]) == 1));
}

/// A ring of `n` unknowns with three neighbours on each side, each twice.
fn paired(n: usize) -> Csr<f64> {
    let entry = |k: usize| {
        let (i, step, copies) = (k / 28, k / 4 % 7, k % 4);
        (2 * i + copies / 2, 2 * ((i + step + n - 3) % n) + copies % 2, 1.0)
    };
    Csr::from_triplets(2 * n, 2 * n, (0..28 * n).map(entry)).unwrap()
}
