//! Factors of the device beside those of the host: the same bits.

use std::sync::Arc;

use super::host::factors;
use super::*;
use crate::backend::gpu::Gpu;
use crate::launch::sim::Sim;
use crate::precond::ilu::arrangement::Arrangement;
use crate::precond::ilu::inverse::inverses;
use crate::precond::ilu::params::{Kind, Solves};
use crate::problem::generate;
use crate::problem::random::uniform;
use crate::setup::{DeviceCsr, SparseProducts};

/// Entries that are not where their mirror images are, with a diagonal; some pivots are too small.
fn lopsided(n: usize) -> Csr<f64> {
    let noise = |i: usize, j: usize| uniform(5, (n * i + j) as u64);
    let entries = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let value = |(i, j): (usize, usize)| match (i == j, noise(i, j) < 6.0 / n as f64) {
        (true, _) => Some((i, j, if i % 7 == 3 { 1e-9 } else { 2.0 + noise(j, i) })),
        (false, true) => Some((i, j, noise(j, i) - 0.5)),
        _ => None,
    };
    Csr::from_triplets(n, n, entries.filter_map(value)).unwrap()
}

fn generated(text: &str) -> Csr<f64> {
    generate(&text.parse().unwrap(), 1).unwrap()
}

/// Symmetric with a positive diagonal, but not definite: pivots of its factors are not positive.
fn indefinite(n: usize) -> Csr<f64> {
    let a = generated(&format!("poisson2d:{n}"));
    let entries = (0..a.n_rows()).flat_map(|i| {
        let (columns, values) = a.row(i);
        columns.iter().zip(values).map(move |(&j, &v)| (i, j as usize, if i == j as usize { 1.1 } else { v }))
    });
    Csr::from_triplets(a.n_rows(), a.n_rows(), entries.collect::<Vec<_>>()).unwrap()
}

#[test]
fn the_device_computes_the_factors_of_the_host_to_the_last_bit() {
    let gpu = Gpu::new(Arc::new(Sim::strict())).unwrap();
    for (a, is_symmetric) in [
        (generated("tet:5"), true),
        (generated("convection-diffusion:9:40"), false),
        (lopsided(67), false),
        (indefinite(9), true),
        (generated("poisson2d:1"), true),
    ] {
        for kind in [Kind::Levels, Kind::Diagonal] {
            let params = Params { kind, ..Params::default() };
            let arrangement = Arrangement::of(&a, &params, false, is_symmetric).unwrap();
            let expected = factors(&|| arrangement.apply(&a), &params, is_symmetric);
            let there = DeviceCsr::upload(&gpu, &a).unwrap();
            let (order, (values, changed, shift)) = gpu.factors_by_colours(&there, &params).unwrap().unwrap();
            assert_eq!(order, arrangement.rows);
            assert_eq!((changed, shift), (expected.changed, expected.shift));
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&values), bits(expected.whole.values()), "{kind}");
        }
    }
}

#[test]
fn what_the_device_does_not_factorise_is_left_to_the_host() {
    let gpu = Gpu::simulated().unwrap();
    let missing = Csr::from_triplets(3, 3, [(0, 0, 1.0), (1, 0, 2.0), (2, 2, 1.5)]).unwrap();
    let n = 1100;
    let arrow = (0..n).map(|i| (i, i, 4.0)).chain((1..n).flat_map(|i| [(0, i, 0.5), (i, 0, 0.5)]));
    let arrow = Csr::from_triplets(n, n, arrow.collect::<Vec<_>>()).unwrap();
    for a in [missing, arrow] {
        let there = DeviceCsr::upload(&gpu, &a).unwrap();
        assert!(gpu.factors_by_colours(&there, &Params::default()).unwrap().is_none());
        let (_, info) = gpu.factorise(&a, None, &Params::default()).unwrap();
        assert_eq!(info, factorised::<f64, f64>(&a, &Params::default()).unwrap().1);
    }
}

/// The factors have inverses that are large outside of their pattern.
fn biharmonic() -> Csr<f64> {
    let a = Arc::new(generated("poisson2d:9"));
    Csr::clone(&SparseProducts::<f64>::product(&Reference::new(), &a, &a).unwrap())
}

#[test]
fn the_device_computes_the_inverses_of_the_host_to_the_last_bit() {
    let gpu = Gpu::new(Arc::new(Sim::strict())).unwrap();
    for (a, is_symmetric) in [
        (generated("tet:5"), true),
        (generated("convection-diffusion:9:40"), false),
        (lopsided(67), false),
        (biharmonic(), true),
        (generated("poisson2d:1"), true),
    ] {
        for solves in [Some(Solves::Inverses), None] {
            let params = Params { solves, ..Params::default() };
            let arrangement = Arrangement::of(&a, &params, false, is_symmetric).unwrap();
            let factors = factors(&|| arrangement.apply(&a), &params, is_symmetric);
            let expected = inverses::<f64>(&factors, &arrangement, &params, is_symmetric);
            let there = DeviceCsr::upload(&gpu, &a).unwrap();
            let (found, info) = gpu.factorise(&a, Some(&there), &params).unwrap();
            match (found, expected) {
                (Factored::Inverses(found), Some(expected)) => {
                    for (found, expected) in found.iter().zip(expected) {
                        assert_eq!(*Matrices::<f64>::csr_to_host(&gpu, found).unwrap(), expected);
                    }
                }
                (found, expected) => {
                    let is_exact = matches!(found, Factored::Triangles(_)) && expected.is_none();
                    let is_left = !is_symmetric || a == biharmonic();
                    assert!(is_exact && solves.is_none() && is_left, "{info:?}");
                }
            }
        }
    }
}
