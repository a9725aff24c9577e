//! Matrices that partial pivoting loses all digits of.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::solver::direct::normal::Normal;
use crate::solver::direct::vectors::norm;

/// Two unknowns at `steps + 1` times, of the equation `x' = M x` with M = [-1/6 1; 1 -1/6], from one time to
/// the next, and the sum of the first and the last (Wright 1993). Its condition is about 8.
fn shooting(steps: usize) -> Csr<f64> {
    const H: f64 = 0.3;
    let (up, down) = ((5.0 / 6.0 * H).exp(), (-7.0 / 6.0 * H).exp());
    let exponential = [[(up + down) / 2.0, (up - down) / 2.0], [(up - down) / 2.0, (up + down) / 2.0]];
    let n = 2 * (steps + 1);
    let ends = (0..2).flat_map(|i| [(i, i, 1.0), (i, n - 2 + i, 1.0)]);
    let step = |k: usize| {
        (0..2).flat_map(move |i| {
            let row = 2 * k + i;
            let before = (0..2).map(move |j| (row, 2 * (k - 1) + j, -exponential[i][j]));
            before.chain([(row, row, 1.0)])
        })
    };
    Csr::from_triplets(n, n, ends.chain((1..=steps).flat_map(step))).unwrap()
}

/// `[0 A; A^T 0]`
fn mirrored(a: &Csr<f64>) -> Csr<f64> {
    let n = a.n_rows();
    let row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, n + j as usize, v));
    let both = (0..n).flat_map(row).flat_map(|(i, j, v)| [(i, j, v), (j, i, v)]);
    Csr::from_triplets(2 * n, 2 * n, both).unwrap()
}

/// States of 4 random numbers, each from the one before, and the first from the last.
fn periodic(states: usize) -> Csr<f64> {
    let n = 4 * states;
    let row = |i: usize| {
        let before = (i / 4 + states - 1) % states;
        let entry = move |j: usize| (i, 4 * before + j, 3.0 * uniform(8, (4 * i + j) as u64) - 1.5);
        (0..4).map(entry).chain([(i, i, 1.0)])
    };
    Csr::from_triplets(n, n, (0..n).flat_map(row)).unwrap()
}

#[test]
fn factors_that_grow_prove_nothing() {
    let device = Device::cpu(1).unwrap();
    let grown = [shooting(150), shooting(200), shooting(1000), mirrored(&shooting(300)), periodic(300)];
    for (k, a) in grown.into_iter().enumerate() {
        let b = rhs(a.n_rows());
        let Solution { x, report } = solved(&a, &b, &device);
        assert!(report.converged(), "{k}: {report}");
        assert!(norm(&doubled_residual(&a, &x, &b)) <= 1e-8 * norm(&b), "{k}");
        let info = report.factorisation.unwrap();
        assert_eq!((info.prediction.kind, info.null_space), (Kind::Normal, 0), "{k}");
        // Without options too.
        let solution = job::solve(&a, &b, &Options::default(), &device).unwrap();
        assert!(solution.report.converged(), "{k}: {}", solution.report);
    }
}

fn normal(a: &Csr<f64>, most_seconds: f64) -> Option<(Normal, Prediction)> {
    Normal::of(a, most_seconds, &AtomicBool::new(false)).unwrap()
}

#[test]
fn a_singular_one_is_not_taken_for_regular() {
    // The last two equations are one.
    let a = shooting(300);
    let n = a.n_rows();
    let row = |i: usize| {
        let of = if i + 1 == n { n - 2 } else { i };
        a.row(of).0.iter().zip(a.row(of).1).map(move |(&j, &v)| (i, j as usize, v))
    };
    let singular = Csr::from_triplets(n, n, (0..n).flat_map(row)).unwrap();
    let report = solved(&singular, &rhs(n), &Device::cpu(1).unwrap()).report;
    assert!(!report.converged(), "{report}");
    assert!(normal(&singular, f64::INFINITY).is_none());
}

#[test]
fn normal_equations_solve_with_a_matrix_and_its_transpose() {
    for a in [shooting(40), random(211, 2, 3)] {
        let (mut factors, prediction) = normal(&a, f64::INFINITY).unwrap();
        assert!(prediction.entries > 0.0);
        let b = rhs(a.n_rows());
        let (mut x, mut y) = (b.clone(), b.clone());
        factors.solve(&mut x);
        factors.solve_transposed(&mut y);
        assert!(norm(&doubled_residual(&a, &x, &b)) <= 1e-8 * norm(&b));
        assert!(norm(&doubled_residual(&a.transpose(), &y, &b)) <= 1e-8 * norm(&b));
        assert!(normal(&a, 0.0).is_none());
    }
}

#[test]
fn normal_equations_do_not_serve_what_is_nearly_singular() {
    let n = 50;
    let chain = |last: f64| {
        let entries =
            (0..n).flat_map(move |i| [(i, i, if i + 1 == n { last } else { 1.0 }), (i, (i + 1) % n, -1.0)]);
        Csr::from_triplets(n, n, entries).unwrap()
    };
    for (off, serves) in [(0.0, false), (1e-11, false), (1e-3, true)] {
        assert_eq!(normal(&chain(1.0 + off), f64::INFINITY).is_some(), serves, "{off}");
    }
}
