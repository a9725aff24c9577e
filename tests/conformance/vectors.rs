//! Vector updates.

use std::sync::Arc;

use warpsolve::Real;
use warpsolve::backend::{Coef, ColumnVector, Columns, Memory, OneColumn, Slot, Then, Vectors, status};
use warpsolve::solver::Steps;
use warpsolve::solver::cg::CgStep;

use crate::data::*;

pub fn copies_and_fills<T: Real, B: Steps<T>>(b: &B) {
    for n in SIZES {
        let values = random::<T>(1, n);
        let x = b.vector(&values).unwrap();
        let mut y = b.vector(&poison(n)).unwrap();
        b.copy(&x, &mut y).unwrap();
        assert_same_bits(&b.to_host(&y).unwrap(), &values);
        b.fill(T::from_f64(0.3), &mut y).unwrap();
        assert_same_bits(&b.to_host(&y).unwrap(), &vec![T::from_f64(0.3); n]);
        assert_same_bits(&b.to_host(&b.zeros(n).unwrap()).unwrap(), &vec![T::ZERO; n]);
        for v in b.vectors(n, 3).unwrap() {
            assert_same_bits(&b.to_host(&v).unwrap(), &vec![T::ZERO; n]);
        }
    }
}

pub fn updates<T: Real, B: Steps<T>>(b: &B) {
    let s = b.scalars(1).unwrap();
    for n in SIZES {
        let (hx, hy, hz) = (random::<T>(2, n), random::<T>(3, n), random::<T>(4, n));
        let (x, mut y) = (b.vector(&hx).unwrap(), b.vector(&hy).unwrap());
        let (wx, wy, wz) = (wide(&hx), wide(&hy), wide(&hz));

        b.axpby(&s, Coef::constant(0.7), &x, Coef::constant(-1.3), &mut y).unwrap();
        let expected: Vec<f64> = (0..n).map(|i| 0.7 * wx[i] - 1.3 * wy[i]).collect();
        assert_close(&b.to_host(&y).unwrap(), &expected, 4.0);

        let mut z = b.vector(&hz).unwrap();
        b.axpbypcz(&s, Coef::ONE, &x, Coef::constant(0.1), &y, Coef::constant(-0.9), &mut z).unwrap();
        let expected: Vec<f64> = (0..n).map(|i| wx[i] + 0.1 * expected[i] - 0.9 * wz[i]).collect();
        assert_close(&b.to_host(&z).unwrap(), &expected, 8.0);

        b.scale(&s, Coef::constant(-2.5), &mut z).unwrap();
        let expected: Vec<f64> = expected.iter().map(|v| -2.5 * v).collect();
        assert_close(&b.to_host(&z).unwrap(), &expected, 8.0);

        // A coefficient of 0 hides what was there.
        let mut fresh = b.vector(&poison(n)).unwrap();
        b.axpby(&s, Coef::ONE, &x, Coef::ZERO, &mut fresh).unwrap();
        assert_same_bits(&b.to_host(&fresh).unwrap(), &hx);
    }
}

pub fn coefficients_from_scalars<T: Real, B: Steps<T>>(b: &B) {
    let n = 300;
    let s = b.scalars(4).unwrap();
    for slot in 0..4 {
        let one = b.vector(&[T::from_f64(slot as f64 + 1.5)]).unwrap();
        b.sum(&one, &s, Slot(slot)).unwrap();
    }
    let hx = random::<T>(5, n);
    let mut x = b.vector(&hx).unwrap();
    let value = -(1.5 / 2.5) * (3.5 / 4.5);
    b.scale(&s, Coef::ratio(Slot(0), Slot(1)).times(Slot(2), Slot(3)).negated(), &mut x).unwrap();
    let expected: Vec<f64> = hx.iter().map(|v| value * v.to_f64()).collect();
    assert_close(&b.to_host(&x).unwrap(), &expected, 8.0);
    b.scale(&s, Coef::inverse(Slot(3)), &mut x).unwrap();
    b.scale(&s, Coef::slot(Slot(3)), &mut x).unwrap();
    assert_close(&b.to_host(&x).unwrap(), &expected, 8.0);
}

/// More columns than one launch takes, on a device that makes those of all at once.
pub fn columns_have_the_bits_of_one_alone<T: Real, B: Steps<T> + OneColumn>(b: &B) {
    let count = 9;
    let columns = Columns::new(b, count).unwrap();
    for n in [257, 4099] {
        let block = |seed: usize| random::<T>(seed, n * count);
        let (hd, hx, hy) = (random::<T>(8, n), block(9), block(10));
        let d = b.vector(&hd).unwrap();
        let shared = ColumnVector::Shared(Arc::new(b.vector(&hd).unwrap()));
        let (x, mut y) = (columns.vector(&hx).unwrap(), columns.vector(&hy).unwrap());
        let s = Memory::<T>::scalars(&columns, 1).unwrap();
        columns.axpby(&s, Coef::constant(0.7), &x, Coef::constant(-1.3), &mut y).unwrap();
        columns.dot(&x, &y, &s, Slot(0)).unwrap();
        columns.direction(&s, None, &x, Coef::slot(Slot(0)), &mut y).unwrap();
        let mut z = columns.vector(&poison(n * count)).unwrap();
        columns.scale_rows(T::from_f64(0.9), &shared, &y, &mut z).unwrap();
        let (found, sums) = (columns.to_host(&z).unwrap(), columns.read_all(&s).unwrap());

        let alone = b.scalars(1).unwrap();
        for c in 0..count {
            let column = c * n..(c + 1) * n;
            let (x, mut y) = (b.vector(&hx[column.clone()]).unwrap(), b.vector(&hy[column.clone()]).unwrap());
            b.axpby(&alone, Coef::constant(0.7), &x, Coef::constant(-1.3), &mut y).unwrap();
            b.dot(&x, &y, &alone, Slot(0)).unwrap();
            b.direction(&alone, None, &x, Coef::slot(Slot(0)), &mut y).unwrap();
            let mut z = b.vector(&poison(n)).unwrap();
            b.scale_rows(T::from_f64(0.9), &d, &y, &mut z).unwrap();
            assert_same_bits(&found[column], &b.to_host(&z).unwrap());
            assert_same_bits(&sums[c..=c], &b.read_all(&alone).unwrap());
        }
    }
}

pub fn diagonal_scaling<T: Real, B: Steps<T>>(b: &B) {
    for n in SIZES {
        let (hd, hx) = (random::<T>(6, n), random::<T>(7, n));
        let (d, x) = (b.vector(&hd).unwrap(), b.vector(&hx).unwrap());
        let mut y = b.vector(&poison(n)).unwrap();
        b.scale_rows(T::from_f64(0.9), &d, &x, &mut y).unwrap();
        let expected: Vec<f64> = (0..n).map(|i| 0.9 * hd[i].to_f64() * hx[i].to_f64()).collect();
        assert_close(&b.to_host(&y).unwrap(), &expected, 4.0);
    }
}

pub fn a_breakdown_raises_the_guard<T: Real, B: Steps<T>>(b: &B) {
    let s = b.scalars(2).unwrap();
    let monitor = b.monitor(10, 0.0).unwrap();
    let guarded = b.guarded(&monitor);
    let values = random::<T>(8, 500);
    let mut x = b.vector(&values).unwrap();
    guarded.scale(&s, Coef::ratio(Slot(0), Slot(1)), &mut x).unwrap();
    b.synchronize().unwrap();
    assert_eq!(b.wait(&monitor, 1).unwrap().status, status::BREAKDOWN);
    assert_same_bits(&b.to_host(&x).unwrap(), &values);
}

pub fn a_raised_guard_leaves_everything_alone<T: Real, B: Steps<T>>(b: &B) {
    let n = 700;
    let a = irregular::<T>(10, n, 5);
    let values = random::<T>(9, n);
    let s = b.scalars(8).unwrap();
    let monitor = b.monitor(10, f64::MAX).unwrap();
    let g = b.guarded(&monitor);
    b.observe(&s, Slot(7), &monitor).unwrap();
    b.synchronize().unwrap();
    assert_eq!(b.wait(&monitor, 1).unwrap().status, status::CONVERGED);

    let (mut x, d) = (b.vector(&values).unwrap(), b.vector(&values).unwrap());
    let mut y = b.vector(&values).unwrap();
    let mut r = b.vector(&values).unwrap();
    for (name, matrix) in in_every_format(&a) {
        let m = b.matrix(&matrix).unwrap();
        g.multiply(&m, &x, Then::Store { y: &mut y }).unwrap();
        g.multiply(&m, &x, Then::Add { y: &mut y }).unwrap();
        g.multiply(&m, &x, Then::Scaled { omega: T::ONE, d: &d, y: &mut y, z: &mut r }).unwrap();
        g.multiply(&m, &x, Then::Residual { b: &d, r: &mut y }).unwrap();
        g.multiply(&m, &x, Then::Sweep { omega: T::ONE, d: &d, b: &d, y: &mut y }).unwrap();
        g.multiply(&m, &x, Then::SweepAdd { omega: T::ONE, d: &d, b: &d, y: &mut y }).unwrap();
        g.multiply(
            &m,
            &x,
            Then::SweepNorm {
                omega: T::ONE,
                d: &d,
                b: &d,
                y: &mut y,
                s: &s,
                out: Slot(0),
                monitor: &monitor,
            },
        )
        .unwrap();
        g.multiply(&m, &x, Then::Dot { w: &x, y: &mut y, s: &s, out: Slot(0) }).unwrap();
        let unchanged = b.to_host(&y).unwrap();
        assert!(unchanged == values, "{name}");
    }
    g.fill(T::ONE, &mut y).unwrap();
    g.scale(&s, Coef::constant(2.0), &mut y).unwrap();
    g.axpby(&s, Coef::ONE, &x, Coef::ONE, &mut y).unwrap();
    g.axpbypcz(&s, Coef::ONE, &x, Coef::ONE, &d, Coef::ONE, &mut y).unwrap();
    g.scale_rows(T::ONE, &d, &x, &mut y).unwrap();
    g.direction(&s, Some(&d), &x, Coef::ONE, &mut y).unwrap();
    g.dot(&x, &x, &s, Slot(1)).unwrap();
    g.sum(&x, &s, Slot(1)).unwrap();
    g.norm_max(&x, &s, Slot(1)).unwrap();
    g.angle_step(&s, Slot(0), Slot(0), Slot(1)).unwrap();
    g.cg_step(
        &mut CgStep {
            s: &s,
            rho: Slot(0),
            p_ap: Slot(1),
            p: &mut x,
            ap: &d,
            x: &mut y,
            r: &mut r,
            out: Slot(2),
            scratch: Slot(0),
            monitor: &monitor,
        },
        Some(&d),
    )
    .unwrap();
    g.observe(&s, Slot(0), &monitor).unwrap();
    assert_same_bits(&b.to_host(&y).unwrap(), &values);
    assert_same_bits(&b.to_host(&r).unwrap(), &values);
    for slot in 0..8 {
        assert_eq!(b.read(&s, Slot(slot)).unwrap(), T::ZERO);
    }
    assert_eq!(b.history(&monitor).unwrap().len(), 1);
}
