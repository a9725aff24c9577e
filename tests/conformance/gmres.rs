//! Gram-Schmidt and the small dense problem of GMRES.

use warpsolve::Real;
use warpsolve::backend::{Coef, Slot};
use warpsolve::solver::Steps;
use warpsolve::solver::gmres::GmresSlots;

use crate::data::*;

/// `count` orthonormal vectors and one more, from modified Gram-Schmidt in f64.
fn orthonormal(n: usize, count: usize) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for j in 0..count {
        let mut v: Vec<f64> = (0..n).map(|i| noise(40 + j, i)).collect();
        for _ in 0..2 {
            for u in &basis {
                let h: f64 = u.iter().zip(&v).map(|(u, v)| u * v).sum();
                v.iter_mut().zip(u).for_each(|(v, u)| *v -= h * u);
            }
        }
        let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        v.iter_mut().for_each(|v| *v /= norm);
        basis.push(v);
    }
    basis
}

fn check_gram_schmidt<T: Real, B: Steps<T>>(b: &B, n: usize, count: usize) {
    let slots = GmresSlots { restart: count };
    let s = b.scalars(slots.count()).unwrap();
    let mut vectors = b.vectors(n, count + 1).unwrap();
    let host = orthonormal(n, count);
    let zero = b.scalars(1).unwrap();
    for (vector, host) in vectors.iter_mut().zip(&host) {
        let host: Vec<T> = host.iter().map(|&v| T::from_f64(v)).collect();
        b.axpby(&zero, Coef::ONE, &b.vector(&host).unwrap(), Coef::ZERO, vector).unwrap();
    }
    // Close to the span of the basis, so that one pass would not do.
    let mut w: Vec<f64> = (0..n).map(|i| 1e-3 * noise(77, i)).collect();
    for (j, v) in host.iter().enumerate() {
        w.iter_mut().zip(v).for_each(|(w, v)| *w += (1.0 + j as f64) * v);
    }
    let host_w: Vec<T> = w.iter().map(|&v| T::from_f64(v)).collect();
    let (basis, rest) = vectors.split_at_mut(count);
    b.axpby(&zero, Coef::ONE, &b.vector(&host_w).unwrap(), Coef::ZERO, &mut rest[0]).unwrap();
    let h = slots.column(count - 1);
    b.gram_schmidt(basis, &mut rest[0], &s, slots, h).unwrap();

    let result = wide(&b.to_host(&rest[0]).unwrap());
    let scale = w.iter().map(|v| v * v).sum::<f64>().sqrt();
    let norm2: f64 = result.iter().map(|v| v * v).sum();
    let eps = T::EPSILON.to_f64();
    for (j, v) in host.iter().enumerate() {
        let expected: f64 = v.iter().zip(&host_w).map(|(v, w)| v * w.to_f64()).sum();
        let got = b.read(&s, Slot(h.0 + j)).unwrap().to_f64();
        assert!((got - expected).abs() <= 100.0 * eps * scale, "h_{j} = {got}, not {expected}");
        let left: f64 = v.iter().zip(&result).map(|(v, w)| v * w).sum();
        assert!(left.abs() <= 100.0 * eps * norm2.sqrt().max(eps * scale), "(v_{j}, w) = {left:e}");
    }
    let got = b.read(&s, GmresSlots::NORM2).unwrap().to_f64();
    assert!((got - norm2).abs() <= 100.0 * eps * norm2, "(w, w) = {got}, not {norm2}");
}

pub fn orthogonalisation<T: Real, B: Steps<T>>(b: &B) {
    for (n, count) in [(33, 1), (257, 5), (1000, 8), (1000, 9), (2500, 16), (700, 17), (900, 32)] {
        check_gram_schmidt::<T, B>(b, n, count);
    }
}

pub fn more_vectors_than_one_launch_takes<T: Real, B: Steps<T>>(b: &B) {
    for count in [33, 70] {
        check_gram_schmidt::<T, B>(b, 1000, count);
    }
}

pub fn rotations_and_solution<T: Real, B: Steps<T>>(b: &B) {
    // A 4 x 3 Hessenberg matrix and beta: the least-squares solution by normal equations in f64.
    let columns = [[0.9, 0.4, 0.0, 0.0], [-0.3, 1.1, 0.5, 0.0], [0.2, 0.6, 0.8, 0.3]];
    let beta = 1.7;
    let slots = GmresSlots { restart: 5 };
    let s = b.scalars(slots.count()).unwrap();
    let put = |slot: Slot, value: f64| {
        b.sum(&b.vector(&[T::from_f64(value)]).unwrap(), &s, slot).unwrap();
    };
    put(GmresSlots::NORM2, beta * beta);
    let monitor = b.monitor(10, 0.0).unwrap();
    b.gmres_start(&s, slots).unwrap();
    for (j, column) in columns.iter().enumerate() {
        for (i, &value) in column[..=j].iter().enumerate() {
            put(Slot(slots.column(j).0 + i), value);
        }
        put(GmresSlots::NORM2, column[j + 1] * column[j + 1]);
        b.gmres_rotate(&s, slots, j, &monitor).unwrap();
        let length = b.read(&s, GmresSlots::LENGTH).unwrap().to_f64();
        assert!((length - column[j + 1]).abs() < 10.0 * T::EPSILON.to_f64());
    }
    let normal = faer::Mat::<f64>::from_fn(3, 3, |i, j| (0..4).map(|k| columns[i][k] * columns[j][k]).sum());
    let rhs = faer::Col::<f64>::from_fn(3, |i| beta * columns[i][0]);
    use faer::linalg::solvers::Solve;
    let y = normal.partial_piv_lu().solve(&rhs);
    let residual: f64 = (0..4)
        .map(|k| {
            let product: f64 = (0..3).map(|j| columns[j][k] * y[j]).sum();
            let target = if k == 0 { beta } else { 0.0 };
            (target - product).powi(2)
        })
        .sum::<f64>()
        .sqrt();
    let history = b.history(&monitor).unwrap();
    assert_eq!(history.len(), 3);
    assert!((history[2] - residual).abs() < 20.0 * T::EPSILON.to_f64(), "{} and {residual}", history[2]);

    // u = V y with unit vectors for V; a NaN in a vector that is not used must not matter.
    let mut basis = b.vectors(9, 6).unwrap();
    let zero = b.scalars(1).unwrap();
    for (j, v) in basis.iter_mut().enumerate() {
        let unit: Vec<T> = match j {
            4.. => poison(9),
            _ => (0..9).map(|i| if i == 2 * j { T::ONE } else { T::ZERO }).collect(),
        };
        b.axpby(&zero, Coef::ONE, &b.vector(&unit).unwrap(), Coef::ZERO, v).unwrap();
    }
    let mut u = b.vector(&poison(9)).unwrap();
    b.gmres_solution(&s, slots, &basis, &mut u).unwrap();
    let expected: Vec<f64> = (0..9).map(|i| if i % 2 == 0 && i < 6 { y[i / 2] } else { 0.0 }).collect();
    assert_close(&b.to_host(&u).unwrap(), &expected, 50.0);
}
