//! Every backend against sequential loops.

use cuda_std::Real;

use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::backend::{Coef, Slot};
use crate::problem::random::uniform;
use crate::setup::testing::strict;
use crate::setup::{LanczosStep, LanczosSteps};

/// r, z and the sum, of vectors that are made by `nodes` and `block`; z is poisoned before.
fn step<T: Real, B: LanczosSteps<T>>(b: &B, nodes: usize, block: usize, has_step: bool) -> [Vec<T>; 3] {
    let n = nodes * block;
    let numbers = |seed: u64, n: usize| -> Vec<T> {
        (0..n as u64).map(|i| T::from_f64(uniform(seed, i) - 0.5)).collect()
    };
    let vector = |seed: u64, n: usize| b.vector(&numbers(seed, n)).unwrap();
    let (ap, d, mut r) = (vector(1, n), vector(2, n * block), vector(3, n));
    let mut z = b.vector(&vec![T::from_f64(f64::NAN); n]).unwrap();
    let s = b.scalars(3).unwrap();
    b.dot(&r, &r, &s, Slot(0)).unwrap();
    b.dot(&ap, &ap, &s, Slot(1)).unwrap();
    let a = Coef::ratio(Slot(0), Slot(1)).negated();
    let update = has_step.then_some((a, &ap));
    b.lanczos_step(&s, LanczosStep { update, d: &d, r: &mut r, z: &mut z, out: Slot(2) }).unwrap();
    [b.to_host(&r).unwrap(), b.to_host(&z).unwrap(), vec![b.read(&s, Slot(2)).unwrap()]]
}

fn agrees<T: Real, B: LanczosSteps<T>>(b: &B, tolerance: f64) {
    for (nodes, block) in [(1, 1), (777, 1), (5001, 1), (1, 2), (2401, 2), (1, 3), (1733, 3), (9000, 3)] {
        for has_step in [false, true] {
            let (found, expected) =
                (step::<T, _>(b, nodes, block, has_step), step(&Reference::new(), nodes, block, has_step));
            for (found, expected) in found.iter().zip(&expected) {
                let scale = expected.iter().fold(1.0, |most: f64, v: &T| most.max(v.to_f64().abs()));
                assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(expected) {
                    let error = (found.to_f64() - expected.to_f64()).abs();
                    assert!(error <= tolerance * scale, "{nodes} of {block}: {error}");
                }
            }
        }
    }
}

#[test]
fn every_backend_agrees() {
    agrees::<f64, _>(&Cpu::new(3).unwrap(), 1e-12);
    agrees::<f32, _>(&Cpu::new(3).unwrap(), 1e-4);
    agrees::<f64, _>(&strict(), 1e-12);
    agrees::<f32, _>(&strict(), 1e-4);
}

#[test]
fn lengths_that_do_not_fit_are_told() {
    fn check<B: LanczosSteps<f64>>(b: &B) {
        let vector = |n: usize| b.vector(&vec![1.0; n]).unwrap();
        let s = b.scalars(1).unwrap();
        let run = |ap: usize, d: usize, r: usize, z: usize, out: usize| {
            let (ap, d, r, z) = (vector(ap), &vector(d), &mut vector(r), &mut vector(z));
            let update = Some((Coef::ONE, &ap));
            b.lanczos_step(&s, LanczosStep { update, d, r, z, out: Slot(out) }).is_ok()
        };
        assert!(run(6, 6, 6, 6, 0) && run(6, 12, 6, 6, 0) && run(6, 18, 6, 6, 0));
        assert!(!run(5, 6, 6, 6, 0) && !run(6, 5, 6, 6, 0) && !run(6, 6, 6, 7, 0) && !run(6, 6, 6, 6, 1));
    }
    check(&Cpu::new(2).unwrap());
    check(&strict());
    check(&Reference::new());
}
