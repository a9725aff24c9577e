//! Every backend against the definition.

use std::sync::Arc;

use cuda_std::Real;

use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::matrix::Csr;
use crate::setup::algebra::Algebra;
use crate::setup::testing::{assert_agrees, assert_same, dense, random, scattered, strict};
use crate::setup::transpose::Transposes;

#[test]
fn transposes_are_those_of_dense_matrices() {
    for (rows, columns, most, seed) in [(30, 41, 6, 1), (7, 300, 60, 2), (90, 5, 4, 3), (3, 1, 5, 4)] {
        let a = Arc::new(random(rows, columns, most, seed));
        let at = dense(&Reference::new().transpose(&a).unwrap());
        let a = dense(&a);
        assert_eq!(at, (0..columns).map(|j| a.iter().map(|row| row[j]).collect()).collect::<Vec<Vec<f64>>>());
    }
}

fn check<T: Real, B: Algebra<T>>(b: &B, a: &Csr<T>) {
    let a = Arc::new(a.clone());
    let expected = Reference::new().transpose(&a).unwrap();
    assert_same(&a.transpose(), &expected, "transpose of the matrix type");
    let on_b = b.csr(&a).unwrap();
    let mut at = b.transpose(&on_b).unwrap();
    assert_agrees(b, &at, &expected, "transpose");
    b.scale_values(&mut at, T::from_f64(f64::NAN)).unwrap();
    b.transpose_values(&on_b, &mut at).unwrap();
    assert_agrees(b, &at, &expected, "values");
}

fn agrees<T: Real, B: Algebra<T>>(b: &B) {
    check::<T, _>(b, &scattered(1, 1, |_| 1));
    check::<T, _>(b, &scattered(3, 5, |_| 0));
    check::<T, _>(b, &scattered(0, 4, |_| 0));
    check::<T, _>(b, &scattered(70, 33, |i| i % 6));
    check::<T, _>(b, &scattered(130, 20, |i| i % 19));
    // Long rows of the transpose, beyond the tables; most columns are empty.
    check::<T, _>(b, &scattered(300, 100, |i| 1 + i % 2).transpose());
    check::<T, _>(b, &scattered(4, 600, |i| if i == 2 { 500 } else { 2 }).transpose());
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
