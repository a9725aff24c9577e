//! Every backend against the definition.

use std::sync::Arc;

use cuda_std::Real;

use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::matrix::Csr;
use crate::problem::random::uniform;
use crate::setup::algebra::Algebra;
use crate::setup::blocks::BlockMatrices;
use crate::setup::diagonal::Diagonals;
use crate::setup::matrix::Blocks;
use crate::setup::testing::{assert_agrees, strict, symmetric_samples};

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
