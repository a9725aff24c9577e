//! The set-up of multigrid by its definitions, in dense arithmetic on small matrices.
//!
//! Nothing here is compared with another backend, the reference included.

use std::sync::Arc;

use faer::Mat;
use warpsolve::Real;
use warpsolve::matrix::Csr;
use warpsolve::precond::amg::hierarchy::{LevelMatrices, build};
use warpsolve::precond::amg::{AnyPrecision, Coarsening, Params, SetupOptions};
use warpsolve::problem::generate;
use warpsolve::setup::{Algebra, BlockMatrices, Blocks, NO_AGGREGATE, Strength};

use crate::blocks::coupled;
use crate::data::{irregular, rectangular};

/// A mesh, weak couplings, and a matrix that is not symmetric.
const SAMPLES: [&str; 3] = ["tet:6", "anisotropic:11:0.02", "convection-diffusion:12:30"];
/// Those of them that are symmetric.
const SYMMETRIC: [&str; 2] = [SAMPLES[0], SAMPLES[1]];

fn problem<T: Real>(text: &str) -> Arc<Csr<T>> {
    Arc::new(generate(&text.parse().unwrap(), 1).unwrap().cast())
}

fn dense<T: Real>(a: &Csr<T>) -> Mat<f64> {
    let mut dense = Mat::zeros(a.n_rows(), a.n_cols());
    for i in 0..a.n_rows() {
        for (&j, v) in a.row(i).0.iter().zip(a.row(i).1) {
            dense[(i, j as usize)] = v.to_f64();
        }
    }
    dense
}

fn on_the_host<T: Real, B: Algebra<T>>(b: &B, a: &B::Csr) -> Mat<f64> {
    dense(&b.csr_to_host(a).unwrap())
}

/// Agreement to this many units of rounding of the largest expected entry.
#[track_caller]
fn assert_close<T: Real>(found: &Mat<f64>, expected: &Mat<f64>, ulps: f64, what: &str) {
    assert_eq!((found.nrows(), found.ncols()), (expected.nrows(), expected.ncols()), "{what}");
    assert!(expected.norm_max() > 0.0, "{what}: nothing to compare");
    let error = (found - expected).norm_max() / expected.norm_max();
    assert!(error <= ulps * T::EPSILON.to_f64(), "{what}: an error of {error:e}");
}

/// By how much the entry (i, j) exceeds the threshold of a strong one, as a factor.
fn excess(a: &Mat<f64>, strength: Strength, i: usize, j: usize) -> f64 {
    match strength {
        Strength::Symmetric { epsilon, .. } => a[(i, j)].powi(2) / (epsilon * (a[(i, i)] * a[(j, j)]).abs()),
        Strength::Classical { theta } => {
            let opposed = |k: usize| -a[(i, i)].signum() * a[(i, k)];
            let largest = (0..a.ncols()).filter(|&k| k != i).map(opposed).fold(0.0, f64::max);
            if largest > 0.0 { opposed(j) / (theta * largest) } else { 0.0 }
        }
    }
}

/// A without its weak entries. Entries too near the threshold to be sure are those of `found`.
fn strong_part(a: &Mat<f64>, strength: Strength, found: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| {
        let excess = excess(a, strength, i, j);
        let is_strong = if (excess - 1.0).abs() < 1e-5 { found[(i, j)] != 0.0 } else { excess > 1.0 };
        if i == j || is_strong { a[(i, j)] } else { 0.0 }
    })
}

/// A_F: the weak entries of a row are added to its diagonal entry.
fn lumped(a: &Mat<f64>, strong: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| {
        let weak = (0..a.ncols()).map(|k| a[(i, k)] - strong[(i, k)]).sum::<f64>();
        if i == j { a[(i, i)] + weak } else { strong[(i, j)] }
    })
}

pub fn strong_entries<T: Real, B: AnyPrecision<T>>(b: &B) {
    let (mut weak, mut strong) = (0, 0);
    for text in SAMPLES {
        let sparse = problem::<T>(text);
        let (a, on_b) = (dense(&sparse), b.csr(&sparse).unwrap());
        for strength in [
            Strength::Symmetric { epsilon: 0.02, lumped: false },
            Strength::Classical { theta: 0.25 },
            Strength::Classical { theta: 0.8 },
        ] {
            let found = on_the_host(b, &b.strength(&on_b, strength).unwrap());
            let expected = strong_part(&a, strength, &found);
            assert!(found == expected, "{text}, {strength:?}");
            let count = |a: &Mat<f64>| a.col_iter().flat_map(|c| c.iter()).filter(|v| **v != 0.0).count();
            (weak, strong) = (weak + count(&a) - count(&expected), strong + count(&expected) - a.nrows());
        }
        let strength = Strength::Symmetric { epsilon: 0.02, lumped: true };
        let found = on_the_host(b, &b.strength(&on_b, strength).unwrap());
        let expected = lumped(&a, &strong_part(&a, strength, &found));
        assert!((0..a.nrows()).all(|i| expected[(i, i)] > 0.0), "{text}: a diagonal that would stay");
        assert_close::<T>(&found, &expected, 20.0, text);
    }
    assert!(weak > 500 && strong > 500, "{weak} weak and {strong} strong entries");
}

pub fn transposes<T: Real, B: AnyPrecision<T>>(b: &B) {
    for a in [problem(SAMPLES[2]), irregular::<T>(11, 83, 5), rectangular(12, 40, 171, 9)] {
        let transposed = b.transpose(&b.csr(&a).unwrap()).unwrap();
        assert!(on_the_host(b, &transposed) == dense(&a).transpose());
    }
}

pub fn sparse_products<T: Real, B: AnyPrecision<T>>(b: &B) {
    for (left, right) in [
        (problem(SAMPLES[0]), problem(SAMPLES[0])),
        (rectangular::<T>(13, 40, 171, 9), rectangular(14, 171, 30, 4)),
        (rectangular(15, 200, 61, 3), irregular(16, 61, 20)),
    ] {
        let product = b.product(&b.csr(&left).unwrap(), &b.csr(&right).unwrap()).unwrap();
        assert_close::<T>(&on_the_host(b, &product), &(dense(&left) * dense(&right)), 50.0, "a product");
    }
}

/// The unknowns that are within this many edges of `i` in the graph of `s`, without i.
fn near(s: &Mat<f64>, i: usize, distance: u32) -> Vec<usize> {
    let mut is_near = vec![false; s.nrows()];
    is_near[i] = true;
    for _ in 0..distance {
        let before = is_near.clone();
        for j in 0..s.nrows() {
            is_near[j] |= (0..s.nrows()).any(|k| before[k] && s[(k, j)] != 0.0);
        }
    }
    (0..s.nrows()).filter(|&j| j != i && is_near[j]).collect()
}

pub fn independent_sets<T: Real, B: AnyPrecision<T>>(b: &B) {
    for text in SYMMETRIC {
        let a = b.csr(&problem::<T>(text)).unwrap();
        let s = b.strength(&a, Strength::Symmetric { epsilon: 0.003, lumped: false }).unwrap();
        let graph = on_the_host(b, &s);
        for distance in [1, 2] {
            let set = b.independent_set(&s, None, distance, true, None).unwrap();
            let set = b.indices_to_host(&set).unwrap();
            for i in 0..set.len() {
                let members = near(&graph, i, distance).into_iter().filter(|&j| set[j] == 1).count();
                assert!(set[i] <= 1, "{text}: {} for unknown {i}", set[i]);
                // Two members would not be independent; without any, i could be added.
                assert_eq!(members == 0, set[i] == 1, "{text}: {members} members near unknown {i}");
            }
        }
    }
    // PMIS: edges have directions.
    for text in SAMPLES {
        let s =
            b.strength(&b.csr(&problem::<T>(text)).unwrap(), Strength::Classical { theta: 0.25 }).unwrap();
        let set = b.independent_set(&s, Some(&b.transpose(&s).unwrap()), 1, true, None).unwrap();
        let (set, s) = (b.indices_to_host(&set).unwrap(), on_the_host(b, &s));
        for i in 0..set.len() {
            let depends_on = |j: usize| j != i && s[(i, j)] != 0.0;
            let members: Vec<usize> = (0..set.len()).filter(|&j| set[j] == 1 && depends_on(j)).collect();
            assert!(set[i] == 1 || !members.is_empty(), "{text}: {i} depends on no member");
            let mutual = members.iter().any(|&j| s[(j, i)] != 0.0);
            assert!(set[i] == 0 || !mutual, "{text}: {i} and a member depend on each other");
        }
        let members = set.iter().filter(|&&c| c == 1).count();
        assert!((2..set.len() / 2).contains(&members), "{text}: {members} members of {}", set.len());
    }
}

pub fn aggregates<T: Real, B: AnyPrecision<T>>(b: &B) {
    for text in SYMMETRIC {
        let a = b.csr(&problem::<T>(text)).unwrap();
        let s = b.strength(&a, Strength::Symmetric { epsilon: 0.003, lumped: false }).unwrap();
        let graph = on_the_host(b, &s);
        let roots = b.independent_set(&s, None, 2, false, None).unwrap();
        let (aggregates, count) = b.aggregate(&s, &roots).unwrap();
        let tentative = on_the_host(b, &b.tentative(&aggregates, count).unwrap());
        let (roots, aggregates) =
            (b.indices_to_host(&roots).unwrap(), b.indices_to_host(&aggregates).unwrap());
        let mut roots_of_aggregates = vec![0; count];
        for (i, &aggregate) in aggregates.iter().enumerate() {
            assert_ne!(aggregate, NO_AGGREGATE, "{text}: unknown {i} belongs nowhere");
            roots_of_aggregates[aggregate as usize] += roots[i];
            let root = |&j: &usize| roots[j] == 1 && aggregates[j] == aggregate;
            assert!(root(&i) || near(&graph, i, 2).iter().any(root), "{text}: {i} is far from its root");
        }
        assert!(roots_of_aggregates.iter().all(|&roots| roots == 1), "{text}: {roots_of_aggregates:?}");
        assert!(count > 3 && 3 * count < aggregates.len(), "{text}: {count} aggregates");
        let constant = Mat::from_fn(aggregates.len(), count, |i, k| f64::from(aggregates[i] as usize == k));
        assert!(tentative == constant, "{text}");
    }
}

/// `(I - omega D^-1 A_F) P_0` by its definition, with the aggregates of the backend.
fn smoothed_aggregation<T: Real, B: AnyPrecision<T>>(
    b: &B,
    level: &LevelMatrices<B::Csr, B::Vector>,
    epsilon: f64,
    params: &Params,
) -> Mat<f64> {
    let a = on_the_host(b, level.a.first());
    let strength = Strength::Symmetric { epsilon, lumped: true };
    let s = b.strength(level.a.first(), strength).unwrap();
    let filtered = lumped(&a, &strong_part(&a, strength, &on_the_host(b, &s)));
    let (aggregates, count) = b.aggregate(&s, &b.independent_set(&s, None, 2, false, None).unwrap()).unwrap();
    let tentative = on_the_host(b, &b.tentative(&aggregates, count).unwrap());
    let spectrum = level.diagonal.spectrum;
    let omega = params.prolongation_omega / spectrum.radius * spectrum.eccentricity_squared().max(0.0);
    let smoother = Mat::from_fn(a.nrows(), a.ncols(), |i, j| {
        f64::from(i == j) - omega * filtered[(i, j)] / filtered[(i, i)]
    });
    smoother * tentative
}

/// Averages over the coarse unknowns that are strongly connected, by their definition.
fn averages<T: Real, B: AnyPrecision<T>>(b: &B, a: &B::Csr, epsilon: f64) -> Mat<f64> {
    let s = b.strength(a, Strength::Symmetric { epsilon, lumped: false }).unwrap();
    let set = b.independent_set(&s, None, 1, true, None).unwrap();
    let (set, s) = (b.indices_to_host(&set).unwrap(), on_the_host(b, &s));
    let coarse: Vec<usize> = (0..set.len()).filter(|&i| set[i] == 1).collect();
    Mat::from_fn(set.len(), coarse.len(), |i, k| {
        let neighbours = coarse.iter().filter(|&&c| s[(i, c)] != 0.0).count();
        match set[i] {
            1 => f64::from(coarse[k] == i),
            _ if s[(i, coarse[k])] != 0.0 => 1.0 / neighbours as f64,
            _ => 0.0,
        }
    })
}

/// Classical interpolation: coarse unknowns keep their values, and constants stay constant where A's rows
/// sum to 0.
fn check_classical(a: &Mat<f64>, p: &Mat<f64>, rounding: f64) {
    let mut coarse = vec![0; p.ncols()];
    let (mut rows, mut fine) = (0, 0);
    for i in 0..a.nrows() {
        let ones: Vec<usize> = (0..p.ncols()).filter(|&k| p[(i, k)] == 1.0).collect();
        if let [k] = ones[..] {
            coarse[k] += 1;
        } else {
            fine += 1;
        }
        let size: f64 = a.row(i).iter().map(|v| v.abs()).sum();
        if a.row(i).iter().sum::<f64>().abs() <= 10.0 * rounding * size {
            let sum: f64 = p.row(i).iter().sum();
            assert!((sum - 1.0).abs() <= 1e3 * rounding, "row {i} of P sums to {sum}");
            rows += 1;
        }
    }
    assert!(coarse.iter().all(|&count| count >= 1), "a coarse unknown that is nowhere injected");
    assert!(rows > 20 && fine > 20, "{rows} rows that sum to 0, {fine} fine unknowns");
}

pub fn levels<T: Real, B: AnyPrecision<T>>(b: &B) {
    for coarsening in [Coarsening::SmoothedAggregation, Coarsening::Pmis, Coarsening::MandelBrezina] {
        for text in SAMPLES {
            // Without a limit on entries, the interpolation of constants is exact.
            let params = Params { coarsening, coarse_rows: 12, max_entries: 1000, ..Params::default() };
            let a = Blocks::scalar(b.csr(&problem::<T>(text)).unwrap());
            let hierarchy = build::<T, _>(b, a, None, &params, SetupOptions::default()).unwrap();
            let what = |matrix: &str, l: usize| format!("{matrix} of level {l}, {text}, {coarsening}");
            assert!(hierarchy.levels.len() >= 2, "{text}, {coarsening}: too few levels");
            let coarser = hierarchy.levels[1..].iter().map(|level| &level.a).chain([&hierarchy.coarsest]);
            for (l, (level, coarser)) in hierarchy.levels.iter().zip(coarser).enumerate() {
                let [a, p, r, coarser] =
                    [&level.a, &level.p, &level.r, coarser].map(|m| on_the_host(b, m.first()));
                assert!(r == p.transpose(), "{}", what("R", l));
                let galerkin = &r * &a * &p / params.overcorrection(l);
                assert_close::<T>(&coarser, &galerkin, 200.0, &what("A", l + 1));
                let epsilon = params.threshold(l);
                match coarsening {
                    Coarsening::SmoothedAggregation => {
                        let expected = smoothed_aggregation(b, level, epsilon, &params);
                        assert_close::<T>(&p, &expected, 50.0, &what("P", l));
                    }
                    Coarsening::MandelBrezina => {
                        assert_close::<T>(&p, &averages(b, level.a.first(), epsilon), 2.0, &what("P", l));
                    }
                    Coarsening::Pmis if l == 0 && text != SAMPLES[1] => {
                        check_classical(&a, &p, T::EPSILON.to_f64());
                    }
                    Coarsening::Pmis => {}
                }
            }
        }
    }
}

/// A matrix of blocks, its unknowns node by node.
fn written_out<T: Real, B: Algebra<T>>(b: &B, a: &Blocks<B::Csr>) -> Mat<f64> {
    let block = a.block();
    let planes: Vec<Mat<f64>> = a.planes().iter().map(|plane| on_the_host(b, plane)).collect();
    let (rows, columns) = (block * planes[0].nrows(), block * planes[0].ncols());
    Mat::from_fn(rows, columns, |i, j| planes[i % block * block + j % block][(i / block, j / block)])
}

pub fn levels_of_blocks<T: Real, B: AnyPrecision<T>>(b: &B) {
    for block in [2, 3] {
        let host = coupled::<T>(block, 9);
        let a = BlockMatrices::<T>::in_planes(b, &host, block).unwrap();
        let full = written_out(b, &a);
        assert!(full == dense(&host));
        // Frobenius norms of the blocks, with the other sign off the diagonal.
        let nodes = full.nrows() / block;
        let norms = Mat::from_fn(nodes, nodes, |i, j| {
            let norm = full.submatrix(block * i, block * j, block, block).norm_l2();
            if i == j { norm } else { -norm }
        });
        assert_close::<T>(&on_the_host(b, &b.norms(&a).unwrap()), &norms, 10.0, "norms");
        for coarsening in [Coarsening::SmoothedAggregation, Coarsening::Pmis, Coarsening::MandelBrezina] {
            let params = Params { coarsening, coarse_rows: 20, ..Params::default() };
            let a = BlockMatrices::<T>::in_planes(b, &host, block).unwrap();
            let hierarchy = build::<T, _>(b, a, None, &params, SetupOptions::default()).unwrap();
            let coarser = hierarchy.levels[1..].iter().map(|level| &level.a).chain([&hierarchy.coarsest]);
            assert!(!hierarchy.levels.is_empty(), "{coarsening}");
            for (l, (level, coarser)) in hierarchy.levels.iter().zip(coarser).enumerate() {
                let [a, p, r, coarser] = [&level.a, &level.p, &level.r, coarser].map(|m| written_out(b, m));
                assert!(r == p.transpose(), "R of level {l}, {coarsening}");
                let galerkin = &r * &a * &p / params.overcorrection(l);
                assert_close::<T>(&coarser, &galerkin, 200.0, &format!("A of level {}, {coarsening}", l + 1));
            }
        }
    }
}
