//! Against dense loops, and every backend against the definition.

use std::sync::Arc;

use arithmetic::smoothing::Limits;
use cuda_std::Real;

use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::setup::algebra::Algebra;
use crate::setup::diagonal::{Diagonals, RowWeight};
use crate::setup::matrix::Blocks;
use crate::setup::testing::{all_samples, dense, strict, with_diagonal};

#[test]
fn row_weights_are_those_of_their_definitions() {
    let a = Arc::new(with_diagonal(50, 8, 5));
    let full = dense(&a);
    for (i, row) in full.iter().enumerate() {
        let absolute: f64 = row.iter().map(|v| v.abs()).sum();
        let square: f64 = row.iter().map(|v| v * v).sum();
        let expected = [
            (RowWeight::InverseDiagonal, 1.0 / row[i]),
            (RowWeight::InverseL1, row[i].signum() / absolute),
            (RowWeight::Spai0, row[i] / square),
            (RowWeight::GershgorinRadius, absolute / row[i].abs()),
        ];
        for (weight, expected) in expected {
            approx::assert_relative_eq!(
                Reference::new().row_weights(&a, weight).unwrap()[i],
                expected,
                max_relative = 1e-14
            );
        }
    }
}

fn agrees<T: Real, B: Algebra<T>>(b: &B) {
    let reference = Reference::new();
    let (mut n_slivers, mut n_others) = (0, 0);
    for a in all_samples::<T>() {
        let on_b = b.csr(&a).unwrap();
        let kinds =
            [RowWeight::InverseDiagonal, RowWeight::InverseL1, RowWeight::Spai0, RowWeight::GershgorinRadius];
        for kind in kinds {
            let found = b.to_host(&b.row_weights(&on_b, kind).unwrap()).unwrap();
            assert_eq!(found, reference.row_weights(&a, kind).unwrap(), "{} rows, {kind:?}", a.n_rows());
        }
        let found = b.to_host(&b.invert_diagonal(&Blocks::scalar(on_b.clone())).unwrap()).unwrap();
        assert_eq!(found, reference.invert_diagonal(&Blocks::scalar(a.clone())).unwrap());
        for large in [1.8, f64::INFINITY] {
            let limits = Limits { bound: T::from_f64(1.5), large: T::from_f64(large) };
            let g = reference.row_weights(&a, RowWeight::GershgorinRadius).unwrap();
            let d = reference.row_weights(&a, RowWeight::InverseDiagonal).unwrap();
            let [g_on_b, d_on_b] = [&g, &d].map(|x| b.vector(x).unwrap());
            let found = b.smoothing_diagonal(&on_b, &g_on_b, &d_on_b, limits).unwrap();
            let expected = reference.smoothing_diagonal(&a, &g, &d, limits).unwrap();
            assert_eq!(b.to_host(&found.inverse).unwrap(), expected.inverse);
            assert_eq!(b.to_host(&found.slivers).unwrap(), expected.slivers);
            assert_eq!(found.n_slivers, expected.n_slivers);
            assert_eq!(found.n_slivers, expected.slivers.iter().filter(|&&d| d != T::ZERO).count());
            assert!(large.is_finite() || found.n_slivers == 0);
            n_slivers += found.n_slivers;
            n_others += a.n_rows() - found.n_slivers;
            assert_eq!(
                b.to_host(&b.noise(&on_b, &d_on_b, d.len()).unwrap()).unwrap(),
                reference.noise(&a, &d, d.len()).unwrap()
            );
        }
    }
    assert!(n_slivers > 0 && n_others > 0, "{n_slivers} rows of slivers, {n_others} others");
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
