//! Against dense loops, and every backend against the definition.

use std::sync::Arc;

use cuda_std::Real;

use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::matrix::Csr;
use crate::problem::random::below;
use crate::problem::{Problem, generate};
use crate::setup::aggregation::Aggregation;
use crate::setup::algebra::Algebra;
use crate::setup::independent_set::IndependentSets;
use crate::setup::interpolation::{Interpolation, Truncation};
use crate::setup::matrix::Matrices;
use crate::setup::product::SparseProducts;
use crate::setup::strength::StrengthOfConnection;
use crate::setup::testing::{
    CLASSICAL, Dense, all_samples, assert_agrees, assert_close, dense, samples, slivers_by_chance, strict,
    symmetric, times, with_diagonal,
};
use crate::setup::transpose::Transposes;

mod extended_i;

#[test]
fn damping_is_a_jacobi_sweep() {
    let a = with_diagonal(40, 7, 3);
    let full = dense(&a);
    let slivers: Vec<f64> = (0..40).map(|i| if i % 6 == 1 { 0.01 * i as f64 } else { 0.0 }).collect();
    for slivers in [None, Some(&slivers)] {
        let mut expected = full.clone();
        for (i, row) in expected.iter_mut().enumerate() {
            let usual = 0.7 / full[i][i];
            let c = slivers.map_or(usual, |slivers| if slivers[i] == 0.0 { usual } else { slivers[i] });
            for (j, v) in row.iter_mut().enumerate() {
                *v = f64::from(i == j) - c * *v;
            }
        }
        let mut s = Arc::new(a.clone());
        Reference::new().damp(&mut s, 0.7, slivers).unwrap();
        assert_close(&s, &expected, 1e-14);
    }
}

#[test]
fn a_galerkin_product_is_the_dense_triple_product() {
    let g = Reference::new();
    let a = Arc::new(generate(&Problem::Tet { n: 7 }, 3).unwrap());
    let s = g.strength(&a, symmetric(0.01, false)).unwrap();
    let p = g.averaging(&s, &g.independent_set(&s, None, 1, true, None).unwrap()).unwrap();
    let r = g.transpose(&p).unwrap();
    let coarse = g.product(&r, &g.product(&a, &p).unwrap()).unwrap();
    assert!(coarse.n_rows() > 5 && coarse.n_rows() < a.n_rows() / 2);
    assert_close(&coarse, &times(&dense(&r), &times(&dense(&a), &dense(&p))), 1e-13);
}

#[test]
fn averages_are_over_the_coarse_neighbours() {
    let g = Reference::new();
    for a in samples() {
        let s = g.strength(&a, symmetric(0.01, false)).unwrap();
        // Some fine unknowns without coarse neighbours among them.
        let coarse: Vec<u32> = (0..s.n_rows()).map(|i| (below(3, i as u64, 4) == 0) as u32).collect();
        let unknowns: Vec<usize> = (0..s.n_rows()).filter(|&i| coarse[i] == 1).collect();
        let row = |i: usize| {
            let weights = unknowns.iter().map(|&c| match coarse[i] {
                1 => f64::from(c == i),
                _ => f64::from(s.get(i, c).is_some()),
            });
            let sum: f64 = weights.clone().sum();
            weights.map(|w| if w > 0.0 { w / sum } else { 0.0 }).collect::<Vec<f64>>()
        };
        let expected: Dense = (0..s.n_rows()).map(row).collect();
        let p = g.averaging(&s, &coarse).unwrap();
        assert_eq!(p.n_cols(), unknowns.len());
        assert_close(&p, &expected, 0.0);
        assert!(p.values().iter().all(|&v| v > 0.0));
    }
}

/// Smoothed aggregation's.
fn smoothed_agree<T: Real, B: Algebra<T>>(b: &B) {
    let reference = Reference::new();
    let omega = T::from_f64(0.7);
    for a in all_samples::<T>() {
        let strong = reference.strength(&a, symmetric(0.01, true)).unwrap();
        let roots = reference.independent_set(&strong, None, 2, false, None).unwrap();
        let (aggregates, count) = reference.aggregate(&strong, &roots).unwrap();
        let slivers = slivers_by_chance::<T>(a.n_rows());
        let aggregates_on_b = b.indices(&aggregates).unwrap();
        for slivers in [None, Some(&slivers)] {
            let slivers_on_b = slivers.map(|slivers| b.vector(slivers).unwrap());
            let (mut damped, mut damped_on_b) = (strong.clone(), b.csr(&strong).unwrap());
            reference.damp(&mut damped, omega, slivers).unwrap();
            b.damp(&mut damped_on_b, omega, slivers_on_b.as_ref()).unwrap();
            assert_agrees(b, &damped_on_b, &damped, "damped");
            let expected = reference.multiply_tentative(&damped, &aggregates, count).unwrap();
            let p = b.multiply_tentative(&damped_on_b, &aggregates_on_b, count).unwrap();
            assert_agrees(b, &p, &expected, "S P_0");
            let damping = (omega, slivers_on_b.as_ref());
            let p = b.smooth_tentative(b.csr(&strong).unwrap(), damping, &aggregates_on_b, count).unwrap();
            assert_agrees(b, &p, &expected, "(I - C S) P_0");
        }
        // All of P is in the pattern of A P where A has its diagonal.
        let p = reference.multiply_tentative(&strong, &aggregates, count).unwrap();
        let mut expected = reference.product(&a, &p).unwrap();
        let mut found = b.csr(&expected).unwrap();
        let d: Vec<T> = (0..a.n_rows())
            .map(|i| T::from_f64(if i % 9 == 4 { 0.0 } else { 0.3 + (i % 7) as f64 }))
            .collect();
        b.subtract_scaled(&mut found, &b.csr(&p).unwrap(), omega, &b.vector(&d).unwrap()).unwrap();
        reference.subtract_scaled(&mut expected, &p, omega, &d).unwrap();
        assert_agrees(b, &found, &expected, "A P - (omega D)^-1 P");
    }
}

/// Those of splittings.
fn split_agree<T: Real, B: Algebra<T>>(b: &B) {
    let reference = Reference::new();
    for a in all_samples::<T>() {
        let s = reference.strength(&a, CLASSICAL).unwrap();
        let st = reference.transpose(&s).unwrap();
        let coarse = reference.independent_set(&s, Some(&st), 1, false, None).unwrap();
        let (a_on_b, s_on_b) = (b.csr(&a).unwrap(), b.csr(&s).unwrap());
        let coarse_on_b = b.indices(&coarse).unwrap();
        let expected = reference.averaging(&s, &coarse).unwrap();
        assert_agrees(b, &b.averaging(&s_on_b, &coarse_on_b).unwrap(), &expected, "averaging");
        for (max_entries, factor) in [(usize::MAX, 0.0), (1, 0.0), (4, 0.0), (3, 0.3), (usize::MAX, 0.2)] {
            let truncation = Truncation { max_entries, factor };
            let expected = reference.extended_i(&a, &s, &coarse, truncation).unwrap();
            let found = b.extended_i(&a_on_b, &s_on_b, &coarse_on_b, truncation).unwrap();
            assert_agrees(b, &found, &expected, "extended+i");
        }
    }
}

fn agrees<T: Real, B: Algebra<T>>(b: &B) {
    smoothed_agree::<T, B>(b);
    split_agree::<T, B>(b);
}

#[test]
fn every_backend_agrees_in_f64() {
    agrees::<f64, _>(&Cpu::new(3).unwrap());
    agrees::<f64, _>(&strict());
}

#[test]
fn every_backend_agrees_in_f32() {
    agrees::<f32, _>(&Cpu::new(3).unwrap());
    agrees::<f32, _>(&strict());
}

/// On the device rows that fit a warp take another way than long ones.
#[test]
fn short_and_long_rows_are_multiplied() {
    let (gpu, reference) = (strict(), Reference::new());
    let (mut short, mut long) = (0, 0);
    for a in all_samples::<f64>() {
        let s = reference.strength(&a, symmetric(0.01, false)).unwrap();
        let roots = reference.independent_set(&s, None, 2, false, None).unwrap();
        let (aggregates, count) =
            gpu.aggregate(&gpu.csr(&s).unwrap(), &Matrices::<f64>::indices(&gpu, &roots).unwrap()).unwrap();
        let fits =
            gpu.short_rows_times_tentative(&gpu.csr(&s).unwrap(), &aggregates, count).unwrap().is_some();
        (short, long) = (short + usize::from(fits), long + usize::from(!fits));
    }
    assert!(short > 0 && long > 0, "{short} with short rows, {long} with a long one");
}
