//! Whole solvers; solutions are judged by the residual recomputed here.

use std::sync::Arc;
use warpsolve::solver::Steps;
use warpsolve::solver::cg::CgStep;

use warpsolve::Real;
use warpsolve::backend::reference::Reference;
use warpsolve::backend::{Coef, Slot, status};
use warpsolve::job::relative_residual;
use warpsolve::matrix::{AnyMatrix, Coo, Csr};
use warpsolve::precond::{Identity, Jacobi, Preconditioner};
use warpsolve::problem::{Problem, generate};
use warpsolve::solver::{
    Bicgstab, Cg, Gmres, Idr, IterativeSolver, JacobiIteration, Minres, Outcome, Stop, StopReason,
};

use crate::data::*;

pub fn cg_steps<T: Real, B: Steps<T>>(b: &B) {
    for n in SIZES {
        for with_d in [false, true] {
            let [hp, hap, hd, hx, hr] = [50, 51, 52, 53, 54].map(|seed| random::<T>(seed, n));
            let [mut p, ap, d] = [&hp, &hap, &hd].map(|v| b.vector(v).unwrap());
            let (mut x, mut r) = (b.vector(&hx).unwrap(), b.vector(&hr).unwrap());
            let s = b.scalars(4).unwrap();
            let monitor = b.monitor(5, 0.0).unwrap();
            let put = |slot, v: f64| b.sum(&b.vector(&[T::from_f64(v)]).unwrap(), &s, slot).unwrap();
            put(Slot(0), 0.75);
            put(Slot(1), 1.25);
            let d_option = with_d.then_some(&d);
            b.cg_step(
                &mut CgStep {
                    s: &s,
                    rho: Slot(0),
                    p_ap: Slot(1),
                    p: &mut p,
                    ap: &ap,
                    x: &mut x,
                    r: &mut r,
                    out: Slot(2),
                    scratch: Slot(0),
                    monitor: &monitor,
                },
                d_option,
            )
            .unwrap();
            let x_new: Vec<f64> = (0..n).map(|i| hx[i].to_f64() + 0.6 * hp[i].to_f64()).collect();
            let r_new: Vec<f64> = (0..n).map(|i| hr[i].to_f64() - 0.6 * hap[i].to_f64()).collect();
            assert_close(&b.to_host(&x).unwrap(), &x_new, 4.0);
            assert_close(&b.to_host(&r).unwrap(), &r_new, 4.0);
            let square: f64 = r_new.iter().map(|v| v * v).sum();
            let weight = |i: usize| if with_d { hd[i].to_f64() } else { 1.0 };
            let rho: f64 = (0..n).map(|i| r_new[i] * r_new[i] * weight(i)).sum();
            let tolerance = 200.0 * T::EPSILON.to_f64() * square;
            assert!((b.read(&s, Slot(2)).unwrap().to_f64() - rho).abs() <= tolerance);
            assert!((b.read(&s, Slot(3)).unwrap().to_f64() - square).abs() <= tolerance);
            let history = b.history(&monitor).unwrap();
            assert!((history[0] - square.sqrt()).abs() <= tolerance.max(T::EPSILON.to_f64()));
        }
    }
}

pub fn directions<T: Real, B: Steps<T>>(b: &B) {
    let s = b.scalars(1).unwrap();
    for n in SIZES {
        let [hd, hz, hp] = [55, 56, 57].map(|seed| random::<T>(seed, n));
        let (d, z) = (b.vector(&hd).unwrap(), b.vector(&hz).unwrap());
        for with_d in [false, true] {
            let mut p = b.vector(&hp).unwrap();
            b.direction(&s, with_d.then_some(&d), &z, Coef::constant(0.4), &mut p).unwrap();
            let weight = |i: usize| if with_d { hd[i].to_f64() } else { 1.0 };
            let expected: Vec<f64> =
                (0..n).map(|i| weight(i) * hz[i].to_f64() + 0.4 * hp[i].to_f64()).collect();
            assert_close(&b.to_host(&p).unwrap(), &expected, 4.0);
        }
    }
}

/// Which solver to run.
#[derive(Clone, Copy)]
enum Which {
    Cg,
    Bicgstab,
    Gmres(usize),
    Lgmres(usize),
    Minres,
    Idr,
    Jacobi(f64),
}

/// Every method, as it is tried on the same systems.
const ALL: [Which; 8] = [
    Which::Cg,
    Which::Bicgstab,
    Which::Gmres(3),
    Which::Gmres(30),
    Which::Lgmres(4),
    Which::Minres,
    Which::Idr,
    Which::Jacobi(0.7),
];

/// Runs a solver on a backend.
fn run<T: Real, B: Steps<T>>(
    b: &B,
    which: Which,
    jacobi: bool,
    a: &Arc<Csr<T>>,
    matrix: &Arc<AnyMatrix<T>>,
    rhs: &[T],
    stop: &Stop,
) -> (Vec<T>, Outcome) {
    let n = a.n_rows();
    let mut m: Box<dyn Preconditioner<T, B>> =
        if jacobi { Box::new(Jacobi::setup(b, a).unwrap()) } else { Box::new(Identity) };
    let mut solver: Box<dyn IterativeSolver<T, B>> = match which {
        Which::Cg => Box::new(Cg::new(b, n, &*m).unwrap()),
        Which::Bicgstab => Box::new(Bicgstab::new(b, n).unwrap()),
        Which::Gmres(restart) => Box::new(Gmres::new(b, n, restart).unwrap()),
        Which::Lgmres(restart) => Box::new(Gmres::new(b, n, restart).unwrap().remembering(b, 3).unwrap()),
        Which::Minres => Box::new(Minres::new(b, n).unwrap()),
        Which::Idr => Box::new(Idr::new(b, n).unwrap()),
        Which::Jacobi(omega) => Box::new(JacobiIteration::new(b, a, omega).unwrap()),
    };
    let matrix = b.matrix(matrix).unwrap();
    let rhs = b.vector(rhs).unwrap();
    let mut x = b.zeros(n).unwrap();
    let outcome = solver.solve(b, &matrix, &mut *m, &rhs, &mut x, stop, &mut |_, _| ()).unwrap();
    (b.to_host(&x).unwrap(), outcome)
}

/// Solves in some formats; the recomputed residual must be small and the count that of the reference.
fn check<T: Real, B: Steps<T>>(b: &B, which: Which, jacobi: bool, a: &Csr<f64>) {
    let a: Arc<Csr<T>> = Arc::new(a.cast());
    let rtol = if T::NAME == "f64" { 1e-8 } else { 1e-4 };
    let stop = Stop { rtol, atol: 0.0, max_iterations: 500 };
    let rhs = random::<T>(60, a.n_rows());
    let formats = in_a_format_of_each_kernel(&a);
    let (_, expected) = run(&Reference::new(), which, jacobi, &a, &formats[0].1, &rhs, &stop);
    for (name, matrix) in formats {
        let (x, outcome) = run(b, which, jacobi, &a, &matrix, &rhs, &stop);
        assert_eq!(outcome.reason, StopReason::Converged, "{name}");
        assert_eq!(outcome.history.len() as u32, outcome.iterations + 1);
        let residual = relative_residual(&a.cast(), &wide(&x), &wide(&rhs));
        assert!(residual <= 2.0 * rtol, "{name}: {residual:e}");
        // Sums in another order may tip the last comparison over.
        let counts = (outcome.iterations, expected.iterations);
        assert!(counts.0.abs_diff(counts.1) <= 1 + counts.1 / 50, "{name}: {counts:?}");
        assert!(outcome.iterations > 3, "{name}: too easy to prove anything");
    }
}

fn problem(text: &str) -> Csr<f64> {
    generate(&text.parse::<Problem>().unwrap(), 1).unwrap()
}

pub fn cg<T: Real, B: Steps<T>>(b: &B) {
    check(b, Which::Cg, true, &problem("tet:6"));
}

pub fn cg_without_preconditioner<T: Real, B: Steps<T>>(b: &B) {
    check(b, Which::Cg, false, &problem("poisson2d:15"));
}

pub fn bicgstab<T: Real, B: Steps<T>>(b: &B) {
    for jacobi in [false, true] {
        check(b, Which::Bicgstab, jacobi, &problem("convection-diffusion:13"));
    }
}

pub fn gmres<T: Real, B: Steps<T>>(b: &B) {
    let a = problem("convection-diffusion:11");
    for (restart, jacobi) in [(7, true), (30, false), (200, true)] {
        check(b, Which::Gmres(restart), jacobi, &a);
    }
}

/// Directions that cycles remember change the residuals, and spare iterations where short cycles stagnate.
pub fn lgmres<T: Real, B: Steps<T>>(b: &B) {
    for jacobi in [false, true] {
        check(b, Which::Lgmres(12), jacobi, &problem("poisson2d:9"));
    }
    let a: Arc<Csr<T>> = Arc::new(problem("poisson2d:17").cast());
    let stop = Stop { rtol: 1e-4, atol: 0.0, max_iterations: 2000 };
    let rhs = random::<T>(62, a.n_rows());
    let counts = [Which::Gmres(6), Which::Lgmres(6)].map(|which| {
        let (_, outcome) = run(b, which, false, &a, &crs(&a), &rhs, &stop);
        assert_eq!(outcome.reason, StopReason::Converged);
        outcome.iterations
    });
    // At least a fifth less.
    assert!(5 * counts[1] < 4 * counts[0], "{counts:?}");
}

/// `A - shift I`: symmetric and indefinite.
fn shifted(a: &Csr<f64>, shift: f64) -> Csr<f64> {
    let n = a.n_rows();
    let entries = (0..n).flat_map(|i| {
        let (columns, values) = a.row(i);
        columns.iter().zip(values).map(move |(&j, &v)| {
            let shift = if i == j as usize { shift } else { 0.0 };
            (i, j as usize, v - shift)
        })
    });
    Csr::from_triplets(n, n, entries).unwrap()
}

pub fn minres<T: Real, B: Steps<T>>(b: &B) {
    check(b, Which::Minres, true, &problem("tet:5"));
    check(b, Which::Minres, false, &shifted(&problem("poisson2d:11"), 0.11));
    // Singular, b in the range.
    let a = from_dense::<T>(&[&[1.0, -1.0, 0.0], &[-1.0, 2.0, -1.0], &[0.0, -1.0, 1.0]]);
    let rhs = [1.0, -3.0, 2.0].map(T::from_f64);
    let stop = Stop { rtol: 1e-5, ..Stop::default() };
    let (x, outcome) = run(b, Which::Minres, false, &a, &crs(&a), &rhs, &stop);
    assert_eq!(outcome.reason, StopReason::Converged);
    assert!(relative_residual(&a.cast(), &wide(&x), &wide(&rhs)) <= 2e-5);
    // The diagonal has both signs: none of an inner product.
    let a = from_dense::<T>(&[&[1.0, 0.5, 0.0], &[0.5, -3.0, 1.0], &[0.0, 1.0, 2.0]]);
    let stop = Stop { max_iterations: 1, ..Stop::default() };
    let rhs = [T::ZERO, T::ONE, T::ZERO];
    let (_, outcome) = run(b, Which::Minres, true, &a, &crs(&a), &rhs, &stop);
    assert_eq!(outcome.reason, StopReason::IndefinitePreconditioner);
}

pub fn idr<T: Real, B: Steps<T>>(b: &B) {
    for jacobi in [false, true] {
        check(b, Which::Idr, jacobi, &problem("convection-diffusion:13"));
    }
}

pub fn jacobi<T: Real, B: Steps<T>>(b: &B) {
    check(b, Which::Jacobi(0.9), true, &problem("random-spd:201"));
}

pub fn limits<T: Real, B: Steps<T>>(b: &B) {
    let a: Arc<Csr<T>> = Arc::new(problem("tet:6").cast());
    let rhs = random::<T>(61, a.n_rows());
    let matrix = &in_every_format(&a)[0].1;
    for which in ALL {
        for max_iterations in [0, 1, 4] {
            let stop = Stop { rtol: 1e-30, atol: 0.0, max_iterations };
            let (x, outcome) = run(b, which, true, &a, matrix, &rhs, &stop);
            assert_eq!(outcome.reason, StopReason::IterationLimit);
            assert_eq!(outcome.iterations, max_iterations);
            assert_eq!(outcome.history.len() as u32, max_iterations + 1);
            // The iterate is that of the last iteration counted, however far the host was ahead.
            let norm_b = wide(&rhs).iter().map(|v| v * v).sum::<f64>().sqrt();
            let residual = relative_residual(&a.cast(), &wide(&x), &wide(&rhs)) * norm_b;
            let last = outcome.history[max_iterations as usize];
            assert!((residual - last).abs() <= 1e3 * T::EPSILON.to_f64() * norm_b, "{residual} and {last}");
        }
    }
}

fn from_dense<T: Real>(rows: &[&[f64]]) -> Arc<Csr<T>> {
    let n = rows.len();
    let (mut i, mut j, mut v) = (vec![], vec![], vec![]);
    for (r, row) in rows.iter().enumerate() {
        for (c, &value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            i.push(r as u32);
            j.push(c as u32);
            v.push(T::from_f64(value));
        }
    }
    Arc::new(Coo::from_parts(n, n, i, j, v).unwrap().into_csr().0)
}

fn crs<T: Real>(a: &Arc<Csr<T>>) -> Arc<AnyMatrix<T>> {
    Arc::new(AnyMatrix::Crs(a.clone()))
}

pub fn indefinite_matrices<T: Real, B: Steps<T>>(b: &B) {
    let stop = Stop::default();
    // x' A x < 0 along the right-hand side.
    let a = from_dense::<T>(&[&[1.0, 0.5], &[0.5, -3.0]]);
    let (x, outcome) = run(b, Which::Cg, false, &a, &crs(&a), &[T::ZERO, T::ONE], &stop);
    assert_eq!(outcome.reason, StopReason::IndefiniteOperator);
    assert_same_bits(&x, &[T::ZERO; 2]);
    // The diagonal makes Jacobi indefinite.
    let (x, outcome) = run(b, Which::Cg, true, &a, &crs(&a), &[T::ZERO, T::ONE], &stop);
    assert_eq!(outcome.reason, StopReason::IndefinitePreconditioner);
    assert_same_bits(&x, &[T::ZERO; 2]);
    // (r, A r) = 0 and (r0, A r0) = 0.
    let a = from_dense::<T>(&[&[0.0, 1.0], &[-1.0, 0.0]]);
    let (_, outcome) = run(b, Which::Bicgstab, false, &a, &crs(&a), &[T::ONE, T::ZERO], &stop);
    assert!(matches!(outcome.reason, StopReason::Breakdown(_)), "{:?}", outcome.reason);
    // GMRES solves it in two steps.
    let (x, outcome) = run(b, Which::Gmres(5), false, &a, &crs(&a), &[T::ONE, T::ZERO], &stop);
    assert_eq!((outcome.reason, outcome.iterations), (StopReason::Converged, 2));
    assert_close(&x, &[0.0, 1.0], 10.0);
    // Singular, b not in the range, and the last column of the Hessenberg matrix is nothing but rounding.
    let diagonal: Vec<Vec<f64>> = (0..40)
        .map(|i| (0..40).map(|j| if i == j && i < 39 { 1.1 + 0.1 * i as f64 } else { 0.0 }).collect())
        .collect();
    let rows: Vec<&[f64]> = diagonal.iter().map(Vec::as_slice).collect();
    let a = from_dense::<T>(&rows);
    let (x, outcome) = run(b, Which::Gmres(100), false, &a, &crs(&a), &[T::ONE; 40], &stop);
    assert!(
        matches!(outcome.reason, StopReason::Breakdown(_) | StopReason::Inaccurate { .. }),
        "{:?}",
        outcome.reason
    );
    assert!(relative_residual(&a.cast(), &wide(&x), &[1.0; 40]) <= 2.0);
    // A p = 0.
    let a = from_dense::<T>(&[&[1.0, 0.0], &[0.0, 0.0]]);
    for which in [Which::Minres, Which::Idr, Which::Lgmres(5)] {
        let (x, outcome) = run(b, which, false, &a, &crs(&a), &[T::ZERO, T::ONE], &stop);
        assert!(
            matches!(outcome.reason, StopReason::Breakdown(_) | StopReason::LeastSquares { gradient: 0.0 }),
            "{:?}",
            outcome.reason
        );
        assert_same_bits(&x, &[T::ZERO; 2]);
    }
    // A v = 0: nothing can be done.
    let a = from_dense::<T>(&[&[1.0, 0.0], &[0.0, 0.0]]);
    let (x, outcome) = run(b, Which::Gmres(5), false, &a, &crs(&a), &[T::ZERO, T::ONE], &stop);
    assert!(matches!(outcome.reason, StopReason::Breakdown(_)), "{:?}", outcome.reason);
    assert_same_bits(&x, &[T::ZERO; 2]);
}

pub fn not_finite<T: Real, B: Steps<T>>(b: &B) {
    let large = if T::NAME == "f64" { 1e200 } else { 1e30 };
    let a = from_dense::<T>(&[&[large, 0.0], &[0.0, 1.0]]);
    let rhs = [T::from_f64(large), T::ONE];
    for which in ALL.map(|which| if let Which::Jacobi(_) = which { Which::Jacobi(1.0) } else { which }) {
        let (_, outcome) = run(b, which, false, &a, &crs(&a), &rhs, &Stop::default());
        assert_eq!(outcome.reason, StopReason::NotFinite);
    }
}

pub fn zero_right_hand_side<T: Real, B: Steps<T>>(b: &B) {
    let a: Arc<Csr<T>> = Arc::new(problem("poisson2d:9").cast());
    for which in ALL {
        let (x, outcome) = run(b, which, true, &a, &crs(&a), &[T::ZERO; 81], &Stop::default());
        assert_eq!((outcome.reason, outcome.iterations), (StopReason::Converged, 0));
        assert_same_bits(&x, &[T::ZERO; 81]);
    }
}

pub fn tiny_systems<T: Real, B: Steps<T>>(b: &B) {
    let a = from_dense::<T>(&[&[4.0]]);
    let empty = from_dense::<T>(&[]);
    for which in ALL.map(|which| if let Which::Jacobi(_) = which { Which::Jacobi(1.0) } else { which }) {
        let (x, outcome) = run(b, which, true, &a, &crs(&a), &[T::ONE], &Stop::default());
        assert_eq!((outcome.reason, outcome.iterations), (StopReason::Converged, 1));
        assert_close(&x, &[0.25], 1.0);
        let (x, outcome) = run(b, which, true, &empty, &crs(&empty), &[], &Stop::default());
        assert_eq!((outcome.reason, outcome.iterations), (StopReason::Converged, 0));
        assert!(x.is_empty());
    }
    assert_eq!(status::RUNNING, 0, "what zeroed memory means");
}
