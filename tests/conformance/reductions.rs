//! Dot products, sums and maxima.

use warpsolve::Real;
use warpsolve::backend::{Backend, Slot};

use crate::data::*;

pub fn dots<T: Real, B: Backend<T>>(b: &B) {
    let s = b.scalars(3).unwrap();
    for n in SIZES {
        let (hx, hy) = (random::<T>(11, n), random::<T>(12, n));
        let (x, y) = (b.vector(&hx).unwrap(), b.vector(&hy).unwrap());
        b.dot(&x, &y, &s, Slot(1)).unwrap();
        let products: Vec<f64> = hx.iter().zip(&hy).map(|(x, y)| x.to_f64() * y.to_f64()).collect();
        let size: f64 = products.iter().map(|p| p.abs()).sum();
        let error = (b.read(&s, Slot(1)).unwrap().to_f64() - products.iter().sum::<f64>()).abs();
        assert!(error <= 20.0 * T::EPSILON.to_f64() * size, "n = {n}: off by {error:e}");
        assert_eq!(b.read(&s, Slot(0)).unwrap(), T::ZERO);
        assert_eq!(b.read(&s, Slot(2)).unwrap(), T::ZERO);
    }
}

pub fn sums<T: Real, B: Backend<T>>(b: &B) {
    let s = b.scalars(1).unwrap();
    for n in SIZES {
        let hx = random::<T>(13, n);
        b.sum(&b.vector(&hx).unwrap(), &s, Slot(0)).unwrap();
        let expected: f64 = wide(&hx).iter().sum();
        let size: f64 = wide(&hx).iter().map(|v| v.abs()).sum();
        let error = (b.read(&s, Slot(0)).unwrap().to_f64() - expected).abs();
        assert!(error <= 20.0 * T::EPSILON.to_f64() * size, "n = {n}: off by {error:e}");
    }
}

pub fn maxima<T: Real, B: Backend<T>>(b: &B) {
    let s = b.scalars(1).unwrap();
    for n in SIZES {
        let mut hx = random::<T>(14, n);
        hx[n / 2] = T::from_f64(-3.25);
        b.norm_max(&b.vector(&hx).unwrap(), &s, Slot(0)).unwrap();
        assert_eq!(b.read(&s, Slot(0)).unwrap().to_f64(), 3.25);
        // A NaN anywhere must not be hidden by what is compared with it.
        for at in [0, n / 3, n - 1] {
            let mut with_nan = hx.clone();
            with_nan[at] = T::from_f64(f64::NAN);
            b.norm_max(&b.vector(&with_nan).unwrap(), &s, Slot(0)).unwrap();
            assert!(!b.read(&s, Slot(0)).unwrap().is_finite(), "n = {n}, NaN at {at}");
        }
    }
}

pub fn angle_steps<T: Real, B: Backend<T>>(b: &B) {
    let s = b.scalars(5).unwrap();
    // (r, t), (t, t), (r, r), and what comes of them: as it is where the cosine is 0.7 or more.
    for (r_t, t_t, r_r, expected) in
        [(3.0, 2.0, 6.0, 1.5), (-1.0, 4.0, 16.0, -1.4), (0.0, 4.0, 16.0, 1.4), (-12.0, 4.0, 64.0, -3.0)]
    {
        let values = [0.0, r_r, r_t, t_t, 0.0].map(T::from_f64);
        b.write(&s, Slot(0), &values).unwrap();
        b.angle_step(&s, Slot(2), Slot(1), Slot(0)).unwrap();
        let error = b.read(&s, Slot(0)).unwrap().to_f64() - expected;
        assert!(error.abs() <= 2.0 * T::EPSILON.to_f64() * expected.abs(), "{expected}: off by {error:e}");
    }
    b.write(&s, Slot(0), &[T::ZERO; 5]).unwrap();
    b.angle_step(&s, Slot(2), Slot(1), Slot(0)).unwrap();
    assert!(!b.read(&s, Slot(0)).unwrap().is_finite());
    assert!(b.angle_step(&s, Slot(4), Slot(1), Slot(0)).is_err());
}

pub fn reductions_repeat_to_the_last_bit<T: Real, B: Backend<T>>(b: &B) {
    let n = 20_001;
    let (x, y) = (b.vector(&random::<T>(15, n)).unwrap(), b.vector(&random::<T>(16, n)).unwrap());
    let s = b.scalars(1).unwrap();
    let once = || {
        b.dot(&x, &y, &s, Slot(0)).unwrap();
        b.read(&s, Slot(0)).unwrap()
    };
    let first = once();
    assert!(first != T::ZERO);
    for _ in 0..5 {
        assert_same_bits(&[once()], &[first]);
    }
}

pub fn empty_vectors<T: Real, B: Backend<T>>(b: &B) {
    let s = b.scalars(1).unwrap();
    let (x, mut y) = (b.vector(&[]).unwrap(), b.zeros(0).unwrap());
    b.fill(T::ONE, &mut y).unwrap();
    b.copy(&x, &mut y).unwrap();
    // The slot must be written even where there is nothing to add.
    b.sum(&b.vector(&[T::ONE]).unwrap(), &s, Slot(0)).unwrap();
    b.dot(&x, &y, &s, Slot(0)).unwrap();
    assert_eq!(b.read(&s, Slot(0)).unwrap(), T::ZERO);
    assert!(b.to_host(&y).unwrap().is_empty());
}
