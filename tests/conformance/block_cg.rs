//! Blocks of vectors, and CG on them.

use std::sync::Arc;

use warpsolve::Real;
use warpsolve::backend::{Columns, Memory, OneColumn, Slot};
use warpsolve::job::relative_residual;
use warpsolve::matrix::{AnyMatrix, Csr};
use warpsolve::precond::{Identity, Jacobi, Preconditioner};
use warpsolve::problem::generate;
use warpsolve::solver::{BlockCg, BlockCgSteps, ColumnsSolver, StopReason};

use crate::data::*;

/// The distance between the columns of small matrices.
const MOST: usize = 8;
const SMALL: usize = MOST * MOST;
const WIDTHS: [usize; 3] = [1, 3, 8];

/// Vectors of numbers at random.
fn block<T: Real>(seed: usize, n: usize, count: usize) -> Vec<Vec<T>> {
    (0..count).map(|c| random(seed + c, n)).collect()
}

/// The same on a backend.
fn vectors<T: Real, B: Memory<T>>(b: &B, block: &[Vec<T>]) -> Vec<B::Vector> {
    block.iter().map(|v| b.vector(v).unwrap()).collect()
}

pub fn products_of_blocks<T: Real, B: BlockCgSteps<T>>(b: &B) {
    for n in SIZES {
        for count in WIDTHS {
            let (x, y) = (block::<T>(60, n, count), block::<T>(80, n, count));
            let s = b.scalars(2 * SMALL).unwrap();
            b.write(&s, Slot(0), &[T::from_f64(f64::NAN); 2 * SMALL]).unwrap();
            let (d, is_scaled) = (random::<T>(70, n), count == 3);
            let scale = |row: usize| if is_scaled { d[row].to_f64() } else { 1.0 };
            let of_backend = is_scaled.then(|| b.vector(&d).unwrap());
            let (left, right) = (vectors(b, &x), vectors(b, &y));
            b.block_products(&left, of_backend.as_ref(), &right, &s, Slot(SMALL)).unwrap();
            let found = b.read_all(&s).unwrap();
            assert!(found[..SMALL].iter().all(|v| v.to_f64().is_nan()), "what is in front is another's");
            for j in 0..count {
                for i in 0..=j {
                    let terms = || (0..n).map(|row| x[i][row].to_f64() * scale(row) * y[j][row].to_f64());
                    let most: f64 = terms().map(f64::abs).sum();
                    let found = found[SMALL + j * MOST + i].to_f64();
                    let error = (found - terms().sum::<f64>()).abs();
                    assert!(error <= 8.0 * T::EPSILON.to_f64() * most, "{n} {count}: {i} {j}: {error}");
                }
            }
        }
    }
}

pub fn combinations_of_blocks<T: Real, B: BlockCgSteps<T>>(b: &B) {
    for n in SIZES {
        for count in WIDTHS {
            let (hx, hy) = (block::<T>(60, n, count), block::<T>(80, n, count));
            let s = b.scalars(2 * SMALL).unwrap();
            // Elements beyond the columns that are there are 0, as the method keeps them.
            let is_there = |k: usize| k % MOST < count && k % SMALL / MOST < count;
            let coefficients = random::<T>(99, 2 * SMALL).into_iter().enumerate();
            let small: Vec<T> = coefficients.map(|(k, v)| if is_there(k) { v } else { T::ZERO }).collect();
            b.write(&s, Slot(0), &small).unwrap();
            let d = random::<T>(70, n);
            for (with_d, with_x, with_b) in
                [(false, true, true), (true, true, true), (false, true, false), (false, false, true)]
            {
                let (x, mut y) = (vectors(b, &hx), vectors(b, &hy));
                let of_x = with_x.then_some((&x[..], Slot(0)));
                let scale = |row: usize| if with_d { d[row].to_f64() } else { 1.0 };
                let of_d = with_d.then(|| b.vector(&d).unwrap());
                b.block_combination(&s, of_d.as_ref(), of_x, &mut y, with_b.then_some(Slot(SMALL))).unwrap();
                for (j, y) in y.iter().enumerate() {
                    let small = |first: usize, i: usize| small[first + j * MOST + i].to_f64();
                    let element = |row: usize| {
                        let of_x: f64 = (0..count).map(|i| small(0, i) * hx[i][row].to_f64()).sum();
                        let of_y: f64 = (0..count).map(|i| small(SMALL, i) * hy[i][row].to_f64()).sum();
                        let kept = if with_b { of_y } else { hy[j][row].to_f64() };
                        kept + if with_x { scale(row) * of_x } else { 0.0 }
                    };
                    let expected: Vec<f64> = (0..n).map(element).collect();
                    assert_close(&b.to_host(y).unwrap(), &expected, 64.0);
                }
            }
        }
    }
}

pub fn a_raised_guard_leaves_blocks_alone<T: Real, B: BlockCgSteps<T>>(b: &B) {
    let (monitor, n) = (b.monitor(5, 1e30).unwrap(), 37);
    let s = b.scalars(2 * SMALL).unwrap();
    b.observe(&s, Slot(0), &monitor).unwrap();
    let (g, host) = (b.guarded(&monitor), block::<T>(60, n, 3));
    let (x, mut y) = (vectors(b, &host), vectors(b, &host));
    g.block_products(&x, None, &x, &s, Slot(SMALL)).unwrap();
    g.block_combination(&s, None, Some((&x, Slot(0))), &mut y, Some(Slot(0))).unwrap();
    assert!(b.read_all(&s).unwrap().iter().all(|v| *v == T::ZERO));
    assert!(y.iter().zip(&host).all(|(y, host)| b.to_host(y).unwrap() == *host));
}

pub fn blocks_of_any_width_converge<T: Real, B: BlockCgSteps<T> + OneColumn>(b: &B) {
    let a: Arc<Csr<f64>> = Arc::new(generate(&"poisson2d:11".parse().unwrap(), 1).unwrap());
    let (n, tolerance) = (a.n_rows(), 1e3 * T::EPSILON.to_f64());
    let in_t = Arc::new(a.map_values(T::from_f64));
    let matrix = b.matrix(&Arc::new(AnyMatrix::Crs(in_t.clone()))).unwrap();
    for (count, is_scaled) in [(1, true), (3, false), (7, true)] {
        let rhs = block::<T>(60, n, count);
        let rhs_in_f64: Vec<Vec<f64>> = rhs.iter().map(|b| b.iter().map(|v| v.to_f64()).collect()).collect();
        let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let mut columns = Columns::new(b, count).unwrap();
        columns.set_thresholds(rhs_in_f64.iter().map(|b| tolerance * norm(b)).collect());
        let m: Box<dyn Preconditioner<T, B>> =
            if is_scaled { Box::new(Jacobi::setup(b, &in_t).unwrap()) } else { Box::new(Identity) };
        let mut m = m.for_columns(&columns).unwrap().unwrap();
        let right = Memory::<T>::vector(&columns, &rhs.concat()).unwrap();
        let mut x = Memory::<T>::zeros(&columns, n).unwrap();
        let mut solver = BlockCg::new(&columns, n).unwrap();
        let outcomes =
            solver.solve_columns(&columns, &matrix, &mut *m, &right, &mut x, 100, &mut |_, _| ()).unwrap();
        let x = Memory::<T>::to_host(&columns, &x).unwrap();
        for ((x, rhs), outcome) in x.chunks(n).zip(&rhs_in_f64).zip(outcomes) {
            let x: Vec<f64> = x.iter().map(|v| v.to_f64()).collect();
            assert_eq!(outcome.reason, StopReason::Converged, "{count}");
            assert!(relative_residual(&a, &x, rhs) < 4.0 * tolerance, "{count}: {outcome:?}");
        }
    }
}
