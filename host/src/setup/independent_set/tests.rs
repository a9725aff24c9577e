//! The promised properties, and every backend against the definition.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuda_std::Real;

use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::matrix::Csr;
use crate::setup::algebra::Algebra;
use crate::setup::independent_set::IndependentSets;
use crate::setup::matrix::Matrices;
use crate::setup::strength::{Strength, StrengthOfConnection};
use crate::setup::testing::{
    CLASSICAL, all_samples, edges, samples, slivers_by_chance, strict, symmetric, symmetric_samples,
};
use crate::setup::transpose::Transposes;

#[test]
fn independent_sets_are_independent_and_maximal() {
    let (g, mut one_way) = (Reference::new(), 0);
    for a in samples() {
        let n = a.n_rows();
        let s = g.strength(&a, CLASSICAL).unwrap();
        let st = Arc::new(s.transpose());
        let depends = edges(&[&s], n);
        for isolated in [true, false] {
            let members = g.independent_set(&s, Some(&st), 1, isolated, None).unwrap();
            let is_member = |j: &usize| members[*j] == 1;
            for (i, on) in depends.iter().enumerate() {
                let has_none = (0..n).all(|j| !on[j] && !depends[j][i]);
                let has_member = (0..n).filter(|&j| on[j]).any(|j| is_member(&j));
                // PMIS: what is left out depends on a member; two members do not depend on each other.
                assert!(is_member(&i) || has_member || (has_none && !isolated), "{i} could be added");
                assert!(!is_member(&i) || !has_none || isolated, "{i} has no edge");
                for j in (0..i).filter(|&j| is_member(&i) && is_member(&j)) {
                    assert!(!(on[j] && depends[j][i]), "{i} and {j}");
                }
                one_way += (is_member(&i) && has_member) as u32;
            }
        }
    }
    assert!(one_way > 0, "no member that depends on one");
    // Distance 2 and a single graph, symmetric by itself.
    for a in samples().into_iter().filter(|a| **a == a.transpose()) {
        let n = a.n_rows();
        let s = g.strength(&a, symmetric(0.0, false)).unwrap();
        let near = edges(&[&s], n);
        let members = g.independent_set(&s, None, 2, true, None).unwrap();
        let within = |i: usize, j: usize| near[i][j] || (0..n).any(|k| near[i][k] && near[k][j]);
        for i in 0..n {
            let others = (0..n).filter(|&j| j != i && members[j] == 1 && within(i, j)).count();
            assert_eq!(others == 0, members[i] == 1, "unknown {i} of {n}: {others} members within two edges");
        }
    }
}

/// The unknowns within this many edges of `i`, `i` too.
fn within(s: &Csr<f64>, i: u32, distance: u32) -> BTreeSet<u32> {
    let mut reached = BTreeSet::from([i]);
    for _ in 0..distance {
        reached = reached.iter().flat_map(|&j| s.row(j as usize).0.iter().copied().chain([j])).collect();
    }
    reached
}

#[test]
fn members_are_far_from_each_other_and_near_to_all() {
    let gpu = strict();
    for s in symmetric_samples::<f64>() {
        for distance in [1, 2] {
            let set = gpu.independent_set(&gpu.csr(&s).unwrap(), None, distance, true, None).unwrap();
            let set = set.to_host().unwrap();
            for i in 0..s.n_rows() as u32 {
                let near = within(&s, i, distance);
                let members = near.iter().filter(|&&j| set[j as usize] == 1).count();
                let is_member = set[i as usize] == 1;
                assert!(if is_member { members == 1 } else { members > 0 }, "unknown {i} of {}", set.len());
            }
        }
    }
}

fn agrees<T: Real, B: Algebra<T>>(b: &B) {
    let reference = Reference::new();
    for a in all_samples::<T>() {
        let s = reference.strength(&a, Strength::Classical { theta: 0.3 }).unwrap();
        for s in [a, s] {
            let st = reference.transpose(&s).unwrap();
            let (s_on_b, st_on_b) = (b.csr(&s).unwrap(), b.csr(&st).unwrap());
            for (distance, isolated, both) in
                [(1, true, false), (2, false, false), (1, false, true), (2, true, true)]
            {
                let (st, st_on_b) = (both.then_some(&st), both.then_some(&st_on_b));
                for slivers in [None, Some(slivers_by_chance(s.n_rows()))] {
                    let slivers_on_b = slivers.as_ref().map(|slivers| b.vector(slivers).unwrap());
                    let expected =
                        reference.independent_set(&s, st, distance, isolated, slivers.as_ref()).unwrap();
                    let found = b
                        .independent_set(&s_on_b, st_on_b, distance, isolated, slivers_on_b.as_ref())
                        .unwrap();
                    let found = b.indices_to_host(&found).unwrap();
                    assert_eq!(found, expected, "{} rows, distance {distance}, both {both}", s.n_rows());
                }
            }
        }
    }
}

#[test]
fn every_backend_agrees() {
    agrees::<f64, _>(&Cpu::new(3).unwrap());
    agrees::<f64, _>(&strict());
}
