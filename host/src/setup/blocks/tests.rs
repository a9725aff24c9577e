//! Every backend against the definition.

use std::sync::Arc;

use cuda_std::Real;

use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::error::Error;
use crate::matrix::Csr;
use crate::problem::random::{below, uniform};
use crate::setup::algebra::Algebra;
use crate::setup::blocks::BlockMatrices;
use crate::setup::diagonal::Diagonals;
use crate::setup::matrix::Blocks;
use crate::setup::testing::{all_samples, assert_agrees, random, scattered, strict, symmetric_samples};

/// Planes of the pattern of `a` with values without symmetry.
fn planes<T: Real>(a: &Csr<T>, block: usize) -> Blocks<Arc<Csr<T>>> {
    let value = |kl: usize, e: usize| T::from_f64(uniform(kl as u64 + 5, e as u64) - 0.4);
    let plane = |kl: usize| Arc::new(a.with_values((0..a.nnz()).map(|e| value(kl, e)).collect()));
    Blocks::from_planes((0..block * block).map(plane).collect())
}

fn agrees<T: Real, B: Algebra<T>>(b: &B) {
    let reference = Reference::new();
    for a in symmetric_samples::<T>() {
        for block in [2, 3] {
            let mut expected = planes(&a, block);
            let mut found = expected.map(|plane| b.csr(plane)).unwrap();
            assert_agrees(b, &b.norms(&found).unwrap(), &reference.norms(&expected).unwrap(), "norms");
            let (d, d_on_b) =
                (reference.invert_diagonal(&expected).unwrap(), b.invert_diagonal(&found).unwrap());
            assert_eq!(b.to_host(&d_on_b).unwrap(), d);
            let n = block * a.n_rows();
            let noise = b.noise(found.first(), &d_on_b, n).unwrap();
            assert_eq!(b.to_host(&noise).unwrap(), reference.noise(expected.first(), &d, n).unwrap());
            let omega = T::from_f64(0.61);
            b.damp_blocks(&mut found, &d_on_b, omega).unwrap();
            reference.damp_blocks(&mut expected, &d, omega).unwrap();
            for (found, expected) in found.planes().iter().zip(expected.planes()) {
                assert_agrees(b, found, expected, "damped");
            }
        }
    }
}

/// Matrices with b unknowns a node whose blocks miss entries: without any, of blocks that are full or have
/// one entry, empty nodes, rows of other lengths within a node, a full row, more columns than rows and fewer.
pub fn with_gaps<T: Real>(b: usize) -> Vec<Arc<Csr<T>>> {
    let n = 37 * b;
    let columns = |i: usize| {
        let is_stored = move |&j: &usize| {
            let (node, number) = (i / b, (i / b * n + j / b) as u64);
            let is_full = below(5, number, 2) == 0;
            node % 9 != 4
                && below(3, number, 6) == 0
                && (is_full || below(4, (i * n + j) as u64, b as u64) == 0)
        };
        (0..n).filter(move |j| i == 11 * b + 1 || is_stored(j))
    };
    let value = |i: usize, j: usize| T::from_f64(uniform(1, (i * n + j) as u64) - 0.4);
    let fill = |i: usize, to: &mut [u32], values: &mut [T]| {
        for ((to, v), j) in to.iter_mut().zip(values).zip(columns(i)) {
            (*to, *v) = (j as u32, value(i, j));
        }
    };
    let length = |i: usize| [0, 3, 2, 40, 7][i % 5] * usize::from(i / b % 4 != 3);
    let random = random(10 * b, 3 * b, 4, 8).cast();
    let all = [
        Csr::from_rows(n, n, |i| columns(i).count(), fill),
        Csr::from_rows(0, 0, |_| 0, fill),
        Csr::from_rows(5 * b, 0, |_| 0, fill),
        Csr::from_rows(5 * b, 2 * b, |_| 0, fill),
        scattered(13 * b, 70 * b, length),
        scattered(70 * b, 5 * b, length),
        scattered(2 * b, 3000 * b, |i| 2900 * (i % 2)),
        random,
    ];
    let whole =
        all_samples().into_iter().filter(|a| a.n_rows().is_multiple_of(b) && a.n_cols().is_multiple_of(b));
    all.into_iter().map(Arc::new).chain(whole).collect()
}

fn merges<T: Real, B: Algebra<T>>(g: &B) {
    let reference = Reference::new();
    for block in [2, 3] {
        for a in with_gaps::<T>(block) {
            let what = format!("{} x {}, blocks of {block}", a.n_rows(), a.n_cols());
            let (expected, found) =
                (reference.in_planes(&a, block).unwrap(), g.in_planes(&a, block).unwrap());
            let stored = expected.planes().iter().flat_map(|plane| plane.values());
            assert_eq!(stored.filter(|v| **v != T::ZERO).count(), nonzeros(&a), "{what}");
            for (found, expected) in found.planes().iter().zip(expected.planes()) {
                assert_agrees(g, found, expected, &what);
            }
            assert_eq!(g.count_blocks(&g.csr(&a).unwrap(), block).unwrap(), expected.first().nnz(), "{what}");
            if a.n_rows() == a.n_cols() {
                let singular = reference.singular_blocks(&expected).unwrap();
                assert_eq!(g.singular_blocks(&found).unwrap(), singular, "{what}");
            }
        }
        let refused = |n_rows: usize, n_cols: usize, block| {
            let a = Csr::<T>::from_rows(n_rows, n_cols, |_| 0, |_, _, _| ());
            g.in_planes(&Arc::new(a), block).err().unwrap()
        };
        assert!(matches!(refused(6 * block + 1, 6, block), Error::Matrix(_)));
        assert!(matches!(refused(6, 6 * block + 1, block), Error::Matrix(_)));
        assert!(matches!(refused(16, 16, 4), Error::Option(_)));
    }
}

fn nonzeros<T: Real>(a: &Csr<T>) -> usize {
    a.values().iter().filter(|v| **v != T::ZERO).count()
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

#[test]
fn rows_are_merged_to_the_same_blocks() {
    merges::<f64, _>(&Cpu::new(3).unwrap());
    merges::<f64, _>(&strict());
    merges::<f32, _>(&strict());
}
