//! The promised properties, and every backend against the definition.

use cuda_std::Real;

use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::setup::aggregation::{Aggregation, NO_AGGREGATE};
use crate::setup::algebra::Algebra;
use crate::setup::independent_set::{IndependentSets, SINGLETON};
use crate::setup::strength::StrengthOfConnection;
use crate::setup::testing::{all_samples, assert_agrees, samples, slivers_by_chance, strict, symmetric};

#[allow(clippy::needless_range_loop)] // i is a row of several arrays
#[test]
fn aggregates_grow_around_their_roots_in_two_steps() {
    let g = Reference::new();
    for a in samples() {
        let s = g.strength(&a, symmetric(0.01, false)).unwrap();
        let n = s.n_rows();
        let slivers: Vec<f64> = (0..n).map(|i| f64::from(i % 7 == 3)).collect();
        let roots = g.independent_set(&s, None, 2, false, Some(&slivers)).unwrap();
        assert!((0..n).all(|i| (roots[i] == SINGLETON) == (i % 7 == 3)));
        let (found, count) = g.aggregate(&s, &roots).unwrap();
        let strongest = |i: usize, of: &dyn Fn(usize) -> Option<usize>| {
            let mut best = None;
            for (&j, v) in s.row(i).0.iter().zip(s.row(i).1) {
                let is_more = best.is_none_or(|(most, _)| v.abs() > most);
                if let (true, Some(root)) = (j as usize != i && is_more, of(j as usize)) {
                    best = Some((v.abs(), root));
                }
            }
            best.map(|best| best.1)
        };
        let root = |i: usize| (roots[i] == 1).then_some(i);
        let singleton = |i: usize| (i % 7 == 3).then_some(i);
        let first: Vec<_> =
            (0..n).map(|i| if i % 7 == 3 { None } else { root(i).or_else(|| strongest(i, &root)) }).collect();
        let left_over = |i: usize| (s.row_len(i) > 1).then_some(i);
        let joined = |i: usize| first[i].or_else(|| strongest(i, &|j| first[j])).or_else(|| left_over(i));
        let second: Vec<_> = (0..n).map(|i| singleton(i).or_else(|| joined(i))).collect();
        let mut all: Vec<usize> = second.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(count, all.len());
        for (i, &found) in found.iter().enumerate() {
            let expected = second[i].map_or(NO_AGGREGATE, |root| all.binary_search(&root).unwrap() as u32);
            assert_eq!(found, expected, "unknown {i}");
        }
        let p = Aggregation::<f64>::tentative(&g, &found, count).unwrap();
        assert_eq!((p.n_rows(), p.n_cols()), (n, count));
        for i in 0..n {
            let expected = if found[i] == NO_AGGREGATE { vec![] } else { vec![found[i]] };
            assert_eq!(p.row(i), (&expected[..], &vec![1.0; expected.len()][..]));
        }
    }
}

fn agrees<T: Real, B: Algebra<T>>(b: &B) {
    let reference = Reference::new();
    let (mut left_over, mut nowhere) = (0, 0);
    for a in all_samples::<T>() {
        let s = reference.strength(&a, symmetric(0.01, false)).unwrap();
        let s_on_b = b.csr(&s).unwrap();
        let far = reference.independent_set(&s, None, 2, false, None).unwrap();
        let slivers = slivers_by_chance(s.n_rows());
        let some = reference.independent_set(&s, None, 2, false, Some(&slivers)).unwrap();
        // Some are missing, so that both later steps have something to do.
        let few: Vec<u32> = far.iter().enumerate().map(|(i, &root)| root * (i % 3 == 0) as u32).collect();
        let all = vec![1; s.n_rows()];
        for roots in [far, few, all, some] {
            let (expected, count) = reference.aggregate(&s, &roots).unwrap();
            let (found, found_count) = b.aggregate(&s_on_b, &b.indices(&roots).unwrap()).unwrap();
            assert_eq!(b.indices_to_host(&found).unwrap(), expected, "{} rows", s.n_rows());
            assert_eq!(found_count, count);
            left_over += count - roots.iter().filter(|&&root| root > 0).count();
            nowhere += expected.iter().filter(|&&a| a == NO_AGGREGATE).count();

            let p = b.tentative(&found, count).unwrap();
            let expected = Aggregation::<T>::tentative(&reference, &expected, count).unwrap();
            assert_agrees(b, &p, &expected, "tentative");
        }
    }
    assert!(left_over > 0 && nowhere > 0, "{left_over} became roots, {nowhere} belong nowhere");
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
