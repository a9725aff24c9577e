//! The promised properties, and every backend against the definition.

use cuda_std::Real;

use super::{NearNullSpaces, Orthonormal};
use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::problem::random::{below, uniform};
use crate::setup::testing::{all_samples, assert_agrees, strict};
use crate::setup::{Aggregation, Algebra, NO_AGGREGATE};

/// Aggregates of n unknowns by chance, some in none; the last two have one and two.
fn aggregates(n: usize, count: u64) -> Vec<u32> {
    let random = |i| match below(1, i, 9) {
        0 => NO_AGGREGATE,
        _ => below(2, i, count) as u32,
    };
    (0..n as u64 - 3).map(random).chain([count as u32, count as u32 + 1, count as u32 + 1]).collect()
}

/// Four vectors: the third depends on the first two, the fourth is 0 on half of the aggregates.
fn vectors<T: Real>(aggregates: &[u32]) -> Vec<Vec<T>> {
    let n = aggregates.len();
    let random = |seed| (0..n as u64).map(|i| uniform(seed, i) - 0.5).collect::<Vec<f64>>();
    let (a, b) = (random(3), random(4));
    let c = a.iter().zip(&b).map(|(a, b)| 2.0 * a - b).collect();
    let d = random(5).iter().zip(aggregates).map(|(d, a)| if a % 2 == 0 { 0.0 } else { *d }).collect();
    [a, b, c, d].iter().map(|v: &Vec<f64>| v.iter().map(|&x| T::from_f64(x)).collect()).collect()
}

fn orthonormal<T: Real>(
    g: &Reference,
    aggregates: &Vec<u32>,
    count: usize,
    vectors: &[Vec<T>],
) -> Orthonormal<std::sync::Arc<crate::matrix::Csr<T>>, Vec<T>, Vec<u32>> {
    g.orthonormal(&g.tentative(aggregates, count).unwrap(), vectors).unwrap()
}

#[test]
fn constants_give_the_piecewise_constant_interpolation() {
    let (g, aggregates) = (Reference::new(), aggregates(211, 19));
    let found = orthonormal(&g, &aggregates, 21, &[vec![1.0f32; 211]]);
    assert_eq!(found.p, Aggregation::<f32>::tentative(&g, &aggregates, 21).unwrap());
    assert_eq!(found.vectors, [vec![1.0; 21]]);
    assert_eq!(found.aggregates, (0..21).collect::<Vec<u32>>());
}

#[test]
fn vectors_are_interpolated_exactly_by_orthogonal_columns() {
    let (g, n, count) = (Reference::new(), 211, 21);
    let aggregates = aggregates(n, 19);
    let vectors = vectors::<f64>(&aggregates);
    let found = orthonormal(&g, &aggregates, count, &vectors);
    let mut sizes = vec![0usize; count];
    aggregates.iter().filter(|a| **a != NO_AGGREGATE).for_each(|&a| sizes[a as usize] += 1);
    let rank = |k: usize| sizes[k].min(if k.is_multiple_of(2) { 2 } else { 3 });
    let expected: Vec<u32> = (0..count).flat_map(|k| std::iter::repeat_n(k as u32, rank(k))).collect();
    assert_eq!(found.aggregates, expected);
    assert_eq!(found.p.n_cols(), expected.len());
    for (v, coarse) in vectors.iter().zip(&found.vectors) {
        let interpolated = found.p.mul_vec(coarse);
        for i in 0..n {
            let expected = if aggregates[i] == NO_AGGREGATE { 0.0 } else { v[i] };
            assert!((interpolated[i] - expected).abs() < 1e-12, "{i}");
        }
    }
    let columns = found.p.transpose();
    for j in 0..found.p.n_cols() {
        let unit: Vec<f64> = (0..found.p.n_cols()).map(|k| f64::from(k == j)).collect();
        let products = columns.mul_vec(&found.p.mul_vec(&unit));
        let size = sizes[expected[j] as usize] as f64;
        assert!((0..unit.len()).all(|k| (products[k] - if k == j { size } else { 0.0 }).abs() < 1e-11));
    }
}

fn agrees<T: Real, B: Algebra<T>>(b: &B) {
    let reference = Reference::new();
    for a in all_samples::<T>() {
        let expected = reference.magnitudes(&a).unwrap();
        assert_agrees(b, &b.magnitudes(&b.csr(&a).unwrap()).unwrap(), &expected, "magnitudes");
    }
    let count = 131;
    let aggregates = aggregates(1021, 129);
    let of_b = b.indices(&aggregates).unwrap();
    let at: Vec<u32> = (0..517).map(|i| below(3, i, 1021) as u32).collect();
    let gathered = b.gather(&of_b, &b.indices(&at).unwrap()).unwrap();
    assert_eq!(b.indices_to_host(&gathered).unwrap(), reference_gather(&aggregates, &at));
    let tentative = b.tentative(&of_b, count).unwrap();
    for some in 1..=4 {
        let vectors = &vectors::<T>(&aggregates)[..some];
        let expected = orthonormal(&reference, &aggregates, count, vectors);
        let of_vectors: Vec<B::Vector> = vectors.iter().map(|v| b.vector(v).unwrap()).collect();
        let found = b.orthonormal(&tentative, &of_vectors).unwrap();
        assert_agrees(b, &found.p, &expected.p, "P");
        assert_eq!(b.indices_to_host(&found.aggregates).unwrap(), expected.aggregates);
        for (found, expected) in found.vectors.iter().zip(&expected.vectors) {
            assert_eq!(b.to_host(found).unwrap(), *expected);
        }
    }
}

fn reference_gather(x: &[u32], at: &[u32]) -> Vec<u32> {
    at.iter().map(|&i| x[i as usize]).collect()
}

#[test]
fn every_backend_agrees_in_f64() {
    agrees::<f64, _>(&Reference::new());
    agrees::<f64, _>(&Cpu::new(3).unwrap());
    agrees::<f64, _>(&strict());
}

#[test]
fn every_backend_agrees_in_f32() {
    agrees::<f32, _>(&Cpu::new(3).unwrap());
    agrees::<f32, _>(&strict());
}
