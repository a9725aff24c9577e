//! What is said of singular matrices.

use crate::job::{self, Method};
use crate::matrix::Csr;
use crate::problem::random::uniform;
use crate::solver::direct::doubled::residual;
use crate::solver::direct::vectors::norm;

/// Twice the same constraints: what holds pivots that vanish would make the matrix regular.
#[test]
fn a_singular_saddle_point_is_called_singular() {
    let n = 24;
    let chain = |i: usize| [(i, i, 2.5), (i, (i + 1) % n, -1.0), ((i + 1) % n, i, -1.0)];
    let constraint = |k: usize| {
        let (row, j) = (n + k, 3 * (k % 8));
        [(row, j, 1.0), (j, row, 1.0), (row, j + 1, -2.0), (j + 1, row, -2.0)]
    };
    let entries = (0..n).flat_map(chain).chain((0..16).flat_map(constraint));
    let a = Csr::from_triplets(n + 16, n + 16, entries).unwrap();
    let b = a.mul_vec(&(0..n + 16).map(|i| 1.5 + (0.7 * i as f64).sin()).collect::<Vec<_>>());
    let report = job::Solver::builder()
        .method(Method::Direct)
        .device(job::Device::cpu(1).unwrap())
        .solve(&a, &b)
        .unwrap()
        .report;
    assert!(report.converged(), "{report}");
    assert_eq!(report.warnings, [job::Warning::NotUnique { dimension: 8 }], "{report}");
}

/// A constraint that is there twice, one among a few: pivots of two rows hide it, and x runs off along the
/// difference of the multipliers, whose rounding is all that is left.
#[test]
fn an_x_that_is_mostly_null_space_is_no_end() {
    for seed in 0..12 {
        let (n, constraints) = (5 + 3 * seed as usize, 2 + seed as usize / 2);
        let noise = |k: usize| uniform(seed, k as u64);
        let block = (0..n).map(|i| (i, i, 0.5 + 3.0 * noise(i)));
        let constraint = |k: usize| {
            // The last is the first.
            let of = if k + 1 == constraints { 0 } else { k };
            (0..3).flat_map(move |t| {
                let (row, j, v) = (n + k, (5 * of + 7 * t) % n, noise(100 + 3 * of + t) - 0.3);
                [(row, j, v), (j, row, v)]
            })
        };
        let entries = block.chain((0..constraints).flat_map(constraint));
        let a = Csr::from_triplets(n + constraints, n + constraints, entries).unwrap();
        let b = a.mul_vec(&(0..n + constraints).map(|i| 1.0 + noise(i + 50)).collect::<Vec<_>>());
        let solution = job::Solver::builder().device(job::Device::cpu(1).unwrap()).solve(&a, &b).unwrap();
        assert!(solution.report.converged(), "{seed}: {}", solution.report);
        assert!(norm(&solution.x) < 100.0 * norm(&b), "{seed}: {:?}", solution.x);
    }
}

#[test]
fn a_solution_that_overflows_is_said_to() {
    let n = 60;
    let entries = (0..n).map(|i| (i, i, 1e-8)).chain((1..n).map(|i| (i - 1, i, 1.0)));
    let a = Csr::from_triplets(n, n, entries).unwrap();
    let error = job::Solver::builder()
        .method(Method::Direct)
        .device(job::Device::cpu(1).unwrap())
        .solve(&a, &vec![1.0; n])
        .err()
        .unwrap();
    assert!(error.to_string().contains("or so nearly that solutions with its factors overflow"), "{error}");
}

/// Where keeping x out of a null space leads to nothing better, the residual is told of the x that is given.
#[test]
fn the_last_norm_is_that_of_the_solution() {
    for seed in 0..8 {
        // I - (1 - 1e-15) u u^T: nearly singular, and b has a part along u.
        let n = 9 + seed as usize;
        let u: Vec<f64> = (0..n).map(|i| uniform(seed, i as u64) - 0.4).collect();
        let square: f64 = u.iter().map(|v| v * v).sum();
        let entry = |i: usize, j: usize| f64::from(u8::from(i == j)) - (1.0 - 1e-15) * u[i] * u[j] / square;
        let entries = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| (i, j, entry(i, j)));
        let a = Csr::from_triplets(n, n, entries.collect::<Vec<_>>()).unwrap();
        let b = vec![1.0; n];
        let builder = job::Solver::builder().method(Method::Direct).device(job::Device::cpu(1).unwrap());
        let job::Solution { x, report } = builder.solve(&a, &b).unwrap();
        let (told, found) = (*report.outcome.history.last().unwrap(), norm(&residual(&a, &x, &b)));
        assert!((told - found).abs() <= 1e-6 * found, "{seed}: {told}, not {found}: {report}");
    }
}
