//! Products with sparse matrices, in every format.

use warpsolve::Real;
use warpsolve::backend::Then;
use warpsolve::backend::{Backend, Slot};

use crate::data::*;

/// Rows whose mean length chooses one thread a row, and several groups of lanes.
const SHAPES: [(usize, usize); 6] = [(1, 1), (33, 2), (257, 6), (300, 19), (1000, 3), (700, 40)];

/// Matrices of one row and one column, and shapes of restriction and prolongation: rows, columns, mean
/// length.
const RECTANGLES: [(usize, usize, usize); 6] =
    [(1, 40, 3), (40, 1, 1), (257, 33, 6), (90, 1000, 30), (1100, 300, 3), (300, 1100, 19)];

/// Square matrices and rectangles.
fn shapes() -> impl Iterator<Item = (usize, usize, usize)> {
    SHAPES.into_iter().map(|(n, mean)| (n, n, mean)).chain(RECTANGLES)
}

pub fn products<T: Real, B: Backend<T>>(b: &B) {
    for (rows, columns, mean) in shapes() {
        let a = rectangular::<T>(20, rows, columns, mean);
        let hx = random::<T>(21, columns);
        let expected = dense_product(&a, &hx);
        let x = b.vector(&hx).unwrap();
        for (name, matrix) in in_every_format(&a) {
            println!("{name}, {rows} x {columns}, mean = {mean}");
            let mut y = b.vector(&poison(rows)).unwrap();
            b.multiply(&b.matrix(&matrix).unwrap(), &x, Then::Store { y: &mut y }).unwrap();
            assert_close(&b.to_host(&y).unwrap(), &expected, 40.0);
        }
    }
}

pub fn accumulated_products<T: Real, B: Backend<T>>(b: &B) {
    for (rows, columns, mean) in shapes() {
        let a = rectangular::<T>(40, rows, columns, mean);
        let (hx, hy) = (random::<T>(41, columns), random::<T>(42, rows));
        let product = dense_product(&a, &hx);
        let expected: Vec<f64> = hy.iter().zip(&product).map(|(y, product)| y.to_f64() + product).collect();
        let x = b.vector(&hx).unwrap();
        for (name, matrix) in in_every_format(&a) {
            println!("{name}, {rows} x {columns}, mean = {mean}");
            let mut y = b.vector(&hy).unwrap();
            b.multiply(&b.matrix(&matrix).unwrap(), &x, Then::Add { y: &mut y }).unwrap();
            assert_close(&b.to_host(&y).unwrap(), &expected, 40.0);
        }
    }
}

pub fn scaled_products<T: Real, B: Backend<T>>(b: &B) {
    for (rows, columns, mean) in shapes() {
        let a = rectangular::<T>(43, rows, columns, mean);
        let (hx, hd) = (random::<T>(44, columns), random::<T>(45, rows));
        let product = dense_product(&a, &hx);
        let scaled: Vec<f64> =
            hd.iter().zip(&product).map(|(d, product)| 0.7 * d.to_f64() * product).collect();
        let (x, d) = (b.vector(&hx).unwrap(), b.vector(&hd).unwrap());
        for (name, matrix) in in_every_format(&a) {
            println!("{name}, {rows} x {columns}, mean = {mean}");
            let mut y = b.vector(&poison(rows)).unwrap();
            let mut z = b.vector(&poison(rows)).unwrap();
            let m = b.matrix(&matrix).unwrap();
            b.multiply(&m, &x, Then::Scaled { omega: T::from_f64(0.7), d: &d, y: &mut y, z: &mut z })
                .unwrap();
            assert_close(&b.to_host(&y).unwrap(), &product, 40.0);
            assert_close(&b.to_host(&z).unwrap(), &scaled, 40.0);
        }
    }
}

pub fn residuals<T: Real, B: Backend<T>>(b: &B) {
    for (n, mean) in SHAPES {
        let a = irregular::<T>(22, n, mean);
        let (hx, hb) = (random::<T>(23, n), random::<T>(24, n));
        let product = dense_product(&a, &hx);
        let expected: Vec<f64> = (0..n).map(|i| hb[i].to_f64() - product[i]).collect();
        let (x, rhs) = (b.vector(&hx).unwrap(), b.vector(&hb).unwrap());
        for (_, matrix) in in_every_format(&a) {
            let mut r = b.vector(&poison(n)).unwrap();
            b.multiply(&b.matrix(&matrix).unwrap(), &x, Then::Residual { b: &rhs, r: &mut r }).unwrap();
            assert_close(&b.to_host(&r).unwrap(), &expected, 40.0);
        }
    }
}

pub fn sweeps<T: Real, B: Backend<T>>(b: &B) {
    for (n, mean) in SHAPES {
        let a = irregular::<T>(25, n, mean);
        let (hx, hb, hd) = (random::<T>(26, n), random::<T>(27, n), random::<T>(28, n));
        let product = dense_product(&a, &hx);
        let step = |i: usize| hx[i].to_f64() + 0.9 * hd[i].to_f64() * (hb[i].to_f64() - product[i]);
        let expected: Vec<f64> = (0..n).map(step).collect();
        let (x, rhs, d) = (b.vector(&hx).unwrap(), b.vector(&hb).unwrap(), b.vector(&hd).unwrap());
        for (_, matrix) in in_every_format(&a) {
            let mut y = b.vector(&poison(n)).unwrap();
            b.multiply(
                &b.matrix(&matrix).unwrap(),
                &x,
                Then::Sweep { omega: T::from_f64(0.9), d: &d, b: &rhs, y: &mut y },
            )
            .unwrap();
            assert_close(&b.to_host(&y).unwrap(), &expected, 40.0);
        }
    }
}

pub fn sweeps_of_corrections<T: Real, B: Backend<T>>(b: &B) {
    for (n, mean) in SHAPES {
        for n_rows in [n, n / 2 + 1] {
            let a = rectangular::<T>(43, n_rows, n, mean);
            let (hx, old) = (random::<T>(44, n), random::<T>(45, n_rows));
            let (hb, hd) = (random::<T>(46, n_rows), random::<T>(47, n_rows));
            let product = dense_product(&a, &hx);
            let step = |i: usize| old[i].to_f64() + 0.9 * hd[i].to_f64() * (hb[i].to_f64() - product[i]);
            let expected: Vec<f64> = (0..n_rows).map(step).collect();
            let (x, rhs, d) = (b.vector(&hx).unwrap(), b.vector(&hb).unwrap(), b.vector(&hd).unwrap());
            for (_, matrix) in in_every_format(&a) {
                let mut y = b.vector(&old).unwrap();
                b.multiply(
                    &b.matrix(&matrix).unwrap(),
                    &x,
                    Then::SweepAdd { omega: T::from_f64(0.9), d: &d, b: &rhs, y: &mut y },
                )
                .unwrap();
                assert_close(&b.to_host(&y).unwrap(), &expected, 40.0);
            }
        }
    }
}

pub fn sweeps_with_norm<T: Real, B: Backend<T>>(b: &B) {
    let (n, mean) = (1000, 6);
    let a = irregular::<T>(29, n, mean);
    let (hx, hb, hd) = (random::<T>(30, n), random::<T>(31, n), random::<T>(32, n));
    let product = dense_product(&a, &hx);
    let r: Vec<f64> = (0..n).map(|i| hb[i].to_f64() - product[i]).collect();
    let norm = r.iter().map(|v| v * v).sum::<f64>().sqrt();
    let expected: Vec<f64> = (0..n).map(|i| hx[i].to_f64() + 0.7 * hd[i].to_f64() * r[i]).collect();
    let (x, rhs, d) = (b.vector(&hx).unwrap(), b.vector(&hb).unwrap(), b.vector(&hd).unwrap());
    for (_, matrix) in in_every_format(&a) {
        let s = b.scalars(1).unwrap();
        let monitor = b.monitor(3, 0.0).unwrap();
        let mut y = b.vector(&poison(n)).unwrap();
        let m = b.matrix(&matrix).unwrap();
        let g = b.guarded(&monitor);
        g.multiply(
            &m,
            &x,
            Then::SweepNorm {
                omega: T::from_f64(0.7),
                d: &d,
                b: &rhs,
                y: &mut y,
                s: &s,
                out: Slot(0),
                monitor: &monitor,
            },
        )
        .unwrap();
        assert_close(&b.to_host(&y).unwrap(), &expected, 40.0);
        let history = b.history(&monitor).unwrap();
        assert_eq!(history.len(), 1);
        assert!((history[0] - norm).abs() <= 100.0 * T::EPSILON.to_f64() * norm);
        let square = b.read(&s, Slot(0)).unwrap().to_f64();
        assert!((square - norm * norm).abs() <= 200.0 * T::EPSILON.to_f64() * norm * norm);
    }
}

pub fn products_with_dots<T: Real, B: Backend<T>>(b: &B) {
    for (n, mean) in SHAPES {
        let a = irregular::<T>(33, n, mean);
        let (hx, hw) = (random::<T>(34, n), random::<T>(35, n));
        let expected = dense_product(&a, &hx);
        let wy: f64 = expected.iter().zip(&hw).map(|(y, w)| y * w.to_f64()).sum();
        let yy: f64 = expected.iter().map(|y| y * y).sum();
        let ww: f64 = hw.iter().map(|w| w.to_f64() * w.to_f64()).sum();
        let (x, w) = (b.vector(&hx).unwrap(), b.vector(&hw).unwrap());
        for (_, matrix) in in_every_format(&a) {
            let s = b.scalars(3).unwrap();
            let mut y = b.vector(&poison(n)).unwrap();
            let m = b.matrix(&matrix).unwrap();
            b.multiply(&m, &x, Then::Dot { w: &w, y: &mut y, s: &s, out: Slot(1) }).unwrap();
            assert_close(&b.to_host(&y).unwrap(), &expected, 40.0);
            let tolerance = 100.0 * T::EPSILON.to_f64();
            let got = [1, 2].map(|slot| b.read(&s, Slot(slot)).unwrap().to_f64());
            assert!((got[0] - wy).abs() <= tolerance * (yy * ww).sqrt(), "{} and {wy}", got[0]);
            assert!((got[1] - yy).abs() <= tolerance * yy, "{} and {yy}", got[1]);
            // The same bits again.
            b.multiply(&m, &x, Then::Dot { w: &w, y: &mut y, s: &s, out: Slot(1) }).unwrap();
            assert_eq!(got, [1, 2].map(|slot| b.read(&s, Slot(slot)).unwrap().to_f64()));
        }
    }
}

pub fn wide_and_empty_rows<T: Real, B: Backend<T>>(b: &B) {
    // One row holds everything; ELLPACK would explode, the others must not mind.
    let n = 500;
    let row_ptr: Vec<usize> = (0..=n).map(|i| if i <= 250 { 0 } else { n }).collect();
    let a = warpsolve::matrix::Csr::new(n, n, row_ptr, (0..n as u32).collect(), random::<T>(36, n)).unwrap();
    let hx = random::<T>(37, n);
    let expected = dense_product(&a, &hx);
    let a = std::sync::Arc::new(a);
    let matrix = warpsolve::matrix::AnyMatrix::from_csr(&a, warpsolve::matrix::Format::Crs, 1).unwrap();
    let mut y = b.vector(&poison(n)).unwrap();
    b.multiply(
        &b.matrix(&std::sync::Arc::new(matrix)).unwrap(),
        &b.vector(&hx).unwrap(),
        Then::Store { y: &mut y },
    )
    .unwrap();
    assert_close(&b.to_host(&y).unwrap(), &expected, 40.0);

    // No entries at all.
    let a = std::sync::Arc::new(warpsolve::matrix::Csr::new(n, n, vec![0; n + 1], vec![], vec![]).unwrap());
    for (_, matrix) in in_every_format::<T>(&a) {
        let mut y = b.vector(&poison(n)).unwrap();
        b.multiply(&b.matrix(&matrix).unwrap(), &b.vector(&hx).unwrap(), Then::Store { y: &mut y }).unwrap();
        assert_same_bits(&b.to_host(&y).unwrap(), &vec![T::ZERO; n]);
    }
}
