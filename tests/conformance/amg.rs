//! Multigrid: the same hierarchy and the same iterations on every backend.

use std::sync::Arc;

use warpsolve::Real;
use warpsolve::backend::reference::Reference;
use warpsolve::backend::{Slot, status};
use warpsolve::job::relative_residual;
use warpsolve::matrix::{AnyMatrix, Csr};
use warpsolve::precond::amg::hierarchy::{Hierarchy, LevelMatrices, build};
use warpsolve::precond::amg::{
    AnyPrecision, Coarsening, Cycle, Params, SetupOn, SetupOptions, SmootherKind, Splitting,
};
use warpsolve::precond::{Identity, Preconditioner};
use warpsolve::problem::{Problem, generate, with_slivers};
use warpsolve::setup::{Algebra, Blocks, Formats};
use warpsolve::solver::Steps;
use warpsolve::solver::cg::CgStep;
use warpsolve::solver::{Bicgstab, Cg, Gmres, IterativeSolver, Outcome, Stop, StopReason};

use crate::data::*;

const COARSENINGS: [Coarsening; 3] =
    [Coarsening::SmoothedAggregation, Coarsening::Pmis, Coarsening::MandelBrezina];

pub fn problem<T: Real>(text: &str) -> Arc<Csr<T>> {
    Arc::new(generate(&text.parse::<Problem>().unwrap(), 1).unwrap().cast())
}

/// With the rows of two slivers.
fn slivers<T: Real>() -> Arc<Csr<T>> {
    let elements =
        [([100, 101, 109, 164], [5.0, -4.3, -2.7, 2.0]), ([300, 301, 309, 364], [1.0, -1.0, 1.0, -1.0])];
    Arc::new(with_slivers(&problem("poisson3d:8"), &elements, 40.0).unwrap().cast())
}

/// Three levels or more of a few hundred rows.
fn deep() -> Params {
    Params { coarse_rows: 12, ..Params::default() }
}

/// Every coarsening, with what only it can do.
fn coarsenings() -> Vec<Params> {
    let mut all: Vec<Params> =
        COARSENINGS.into_iter().map(|coarsening| Params { coarsening, ..deep() }).collect();
    all.push(Params {
        coarsening: Coarsening::Pmis,
        aggressive: 1,
        max_entries: 3,
        truncation: 0.1,
        ..deep()
    });
    all.push(Params { coarsening: Coarsening::MandelBrezina, splitting: Splitting::Greedy, ..deep() });
    all
}

/// The matrices of a hierarchy, from the finest level on.
fn on_the_host<T: Real, B: Algebra<T>>(b: &B, hierarchy: &Hierarchy<B::Csr, B::Vector>) -> Vec<Arc<Csr<T>>> {
    let levels = hierarchy.levels.iter().flat_map(|LevelMatrices { a, p, r, .. }| [a, p, r]);
    let planes = levels.chain([&hierarchy.coarsest]).flat_map(|m| m.planes());
    planes.map(|m| b.csr_to_host(m).unwrap()).collect()
}

#[track_caller]
fn assert_same_hierarchy<T: Real, B: Algebra<T>>(b: &B, a: &Arc<Csr<T>>, params: &Params) {
    let reference = Reference::new();
    let expected =
        build::<T, _>(&reference, Blocks::scalar(a.clone()), None, params, SetupOptions::default()).unwrap();
    assert!(expected.levels.len() >= 2, "too few levels to prove anything: {params:?}");
    let got =
        build::<T, _>(b, Blocks::scalar(b.csr(a).unwrap()), None, params, SetupOptions::default()).unwrap();
    let spectra: Vec<_> = got.levels.iter().map(|level| level.diagonal.spectrum).collect();
    assert_eq!(
        spectra,
        expected.levels.iter().map(|level| level.diagonal.spectrum).collect::<Vec<_>>(),
        "{params:?}"
    );
    let (got, expected) = (on_the_host(b, &got), on_the_host(&reference, &expected));
    assert_eq!(got.len(), expected.len());
    for (k, (got, expected)) in got.iter().zip(&expected).enumerate() {
        let at = format!("{} of level {}, {params:?}", ["A", "P", "R"][k % 3], k / 3);
        assert_eq!((got.n_rows(), got.n_cols()), (expected.n_rows(), expected.n_cols()), "{at}");
        assert!(got.row_ptr() == expected.row_ptr() && got.col_idx() == expected.col_idx(), "pattern: {at}");
        let same = |(x, y): (&T, &T)| x.to_f64().to_bits() == y.to_f64().to_bits();
        assert!(got.values().iter().zip(expected.values()).all(same), "values: {at}");
    }
}

pub fn hierarchies<T: Real, B: AnyPrecision<T> + Steps<T>>(b: &B) {
    for params in coarsenings() {
        assert_same_hierarchy(b, &problem::<T>("tet:7"), &params);
    }
    // Rows of slivers, which become unknowns of the coarser level.
    assert_same_hierarchy(b, &slivers::<T>(), &deep());
    // Weak couplings; and values without symmetry.
    for text in ["anisotropic:15:0.02", "convection-diffusion:15:30"] {
        for coarsening in COARSENINGS {
            assert_same_hierarchy(b, &problem::<T>(text), &Params { coarsening, ..deep() });
        }
    }
}

/// Which solver to run.
#[derive(Clone, Copy, PartialEq)]
enum Which {
    Cg,
    Bicgstab,
    Gmres(usize),
}

fn run<T: Real, B: Steps<T>>(
    b: &B,
    which: Which,
    m: &mut dyn Preconditioner<T, B>,
    a: &Arc<Csr<T>>,
    rhs: &[T],
) -> (Vec<T>, Outcome) {
    let n = a.n_rows();
    let mut solver: Box<dyn IterativeSolver<T, B>> = match which {
        Which::Cg => Box::new(Cg::new(b, n, m).unwrap()),
        Which::Bicgstab => Box::new(Bicgstab::new(b, n).unwrap()),
        Which::Gmres(restart) => Box::new(Gmres::new(b, n, restart).unwrap()),
    };
    let matrix = b.matrix(&Arc::new(AnyMatrix::Crs(a.clone()))).unwrap();
    let rhs = b.vector(rhs).unwrap();
    let mut x = b.zeros(n).unwrap();
    let stop = Stop { rtol: rtol::<T>(), atol: 0.0, max_iterations: 500 };
    let outcome = solver.solve(b, &matrix, m, &rhs, &mut x, &stop, &mut |_, _| ()).unwrap();
    (b.to_host(&x).unwrap(), outcome)
}

fn rtol<T: Real>() -> f64 {
    if T::NAME == "f64" { 1e-8 } else { 1e-4 }
}

fn amg<T: Real, B: AnyPrecision<T> + Steps<T>>(
    b: &B,
    a: &Arc<Csr<T>>,
    params: &Params,
    in_f32: bool,
) -> Box<dyn Preconditioner<T, B>> {
    b.amg_of(Blocks::scalar(b.csr(a).unwrap()), None, params, None, in_f32).unwrap().0
}

/// Solves here and on the reference; the iterations done.
#[track_caller]
fn check<T: Real, B: AnyPrecision<T> + Steps<T>>(
    b: &B,
    which: Which,
    a: &Arc<Csr<T>>,
    params: &Params,
    in_f32: bool,
) -> u32 {
    let rhs = random::<T>(70, a.n_rows());
    let reference = Reference::new();
    let (_, expected) = run(&reference, which, &mut *amg(&reference, a, params, in_f32), a, &rhs);
    let (x, outcome) = run(b, which, &mut *amg(b, a, params, in_f32), a, &rhs);
    assert_eq!(outcome.reason, StopReason::Converged, "{params:?}");
    let residual = relative_residual(&a.cast(), &wide(&x), &wide(&rhs));
    assert!(residual <= 2.0 * rtol::<T>(), "{residual:e}: {params:?}");
    assert_eq!(outcome.iterations, expected.iterations, "{params:?}");
    outcome.iterations
}

pub fn every_part_with_cg<T: Real, B: AnyPrecision<T> + Steps<T>>(b: &B) {
    let a = problem::<T>("tet:5");
    let (_, alone) = run(b, Which::Cg, &mut Identity, &a, &random::<T>(70, a.n_rows()));
    let mut all = coarsenings();
    let smoothers = [SmootherKind::Jacobi, SmootherKind::L1Jacobi, SmootherKind::Spai0, SmootherKind::Ilu];
    all.extend(smoothers.map(|smoother| Params { smoother, ..deep() }));
    all.extend([Cycle::W, Cycle::F, Cycle::K].map(|cycle| Params { cycle: Some(cycle), ..deep() }));
    for params in all {
        let iterations = check(b, Which::Cg, &a, &params, true);
        assert!(2 * iterations < alone.iterations, "{iterations} of {}: {params:?}", alone.iterations);
    }
}

pub fn numbers_of_steps<T: Real, B: AnyPrecision<T> + Steps<T>>(b: &B) {
    let a = problem::<T>("poisson2d:19");
    for (pre, post, cycle) in [(2, 2, Cycle::V), (0, 3, Cycle::W), (2, 0, Cycle::K)] {
        // Without symmetry of M.
        let which = if pre == post { Which::Cg } else { Which::Gmres(20) };
        check(b, which, &a, &Params { pre, post, cycle: Some(cycle), ..deep() }, true);
    }
    // A last level too large for an inverse is swept.
    check(b, Which::Cg, &a, &Params { max_levels: 2, ..deep() }, true);
}

pub fn in_the_precision_of_the_solver<T: Real, B: AnyPrecision<T> + Steps<T>>(b: &B) {
    let a = problem::<T>("tet:7");
    let in_t = check(b, Which::Cg, &a, &deep(), false);
    let in_f32 = check(b, Which::Cg, &a, &deep(), true);
    assert!(in_t.abs_diff(in_f32) <= 1, "{in_t} and {in_f32}");
}

pub fn unsymmetric_matrices<T: Real, B: AnyPrecision<T> + Steps<T>>(b: &B) {
    for text in ["convection-diffusion:20:20", "convection-diffusion:20:500"] {
        for which in [Which::Gmres(30), Which::Gmres(4), Which::Bicgstab] {
            check(b, which, &problem::<T>(text), &deep(), true);
        }
    }
}

pub fn set_up_on_the_host<T: Real, B: AnyPrecision<T> + Steps<T>>(b: &B) {
    let a = problem::<T>("tet:5");
    let r = b.vector(&random::<T>(71, a.n_rows())).unwrap();
    for params in coarsenings() {
        let z = [SetupOn::Device, SetupOn::Host].map(|setup| {
            let mut z = b.vector(&poison(a.n_rows())).unwrap();
            amg(b, &a, &Params { setup, ..params.clone() }, true).apply(b, &r, &mut z).unwrap();
            b.to_host(&z).unwrap()
        });
        assert!(z[0].iter().all(|z| z.is_finite()), "{params:?}");
        assert_same_bits(&z[0], &z[1]);
    }
}

pub fn a_raised_guard_leaves_a_cycle_alone<T: Real, B: AnyPrecision<T> + Steps<T>>(b: &B) {
    let a = problem::<T>("tet:6");
    let n = a.n_rows();
    let s = b.scalars(2).unwrap();
    let monitor = b.monitor(10, f64::MAX).unwrap();
    b.observe(&s, Slot(1), &monitor).unwrap();
    b.synchronize().unwrap();
    assert_eq!(b.wait(&monitor, 1).unwrap().status, status::CONVERGED);
    let stopped = b.guarded(&monitor);

    let r = b.vector(&random::<T>(72, n)).unwrap();
    b.sum(&b.vector(&[T::from_f64(0.75)]).unwrap(), &s, Slot(0)).unwrap();
    for cycle in [Cycle::V, Cycle::W, Cycle::K] {
        let params = Params { cycle: Some(cycle), ..deep() };
        let mut m = amg(b, &a, &params, true);
        let before = random::<T>(73, n);
        let mut z = b.vector(&before).unwrap();
        m.apply(&stopped, &r, &mut z).unwrap();
        assert_same_bits(&b.to_host(&z).unwrap(), &before);
        let [mut p, mut x, mut residual] = [(); 3].map(|()| b.vector(&before).unwrap());
        let (rho, p_ap, out, scratch) = (Slot(0), Slot(0), Slot(0), Slot(1));
        let step = CgStep {
            s: &s,
            rho,
            p_ap,
            p: &mut p,
            ap: &r,
            x: &mut x,
            r: &mut residual,
            out,
            scratch,
            monitor: &monitor,
        };
        m.cg_step(&stopped, step, &mut z).unwrap();
        for vector in [&z, &p, &x, &residual] {
            assert_same_bits(&b.to_host(vector).unwrap(), &before);
        }
        assert_eq!(b.read(&s, Slot(0)).unwrap().to_f64(), 0.75);
        // What it left is as good as new.
        m.apply(b, &r, &mut z).unwrap();
        let mut fresh = b.vector(&poison(n)).unwrap();
        amg(b, &a, &params, true).apply(b, &r, &mut fresh).unwrap();
        assert_same_bits(&b.to_host(&z).unwrap(), &b.to_host(&fresh).unwrap());
    }
}

pub fn compressed_matrices_cost_no_iteration<T: Real, B: AnyPrecision<T> + Steps<T> + Formats<T, f32>>(
    b: &B,
) {
    let cases = [
        ("tet:6", Cycle::V),
        ("tet:5", Cycle::K),
        ("poisson2d:17", Cycle::V),
        ("anisotropic:15:0.01", Cycle::V),
    ];
    for (text, cycle) in cases {
        let [compressed, not] = [true, false].map(|compressed| {
            let params = Params { compressed, cycle: Some(cycle), ..deep() };
            check(b, Which::Cg, &problem(text), &params, true)
        });
        assert!(compressed.abs_diff(not) <= 1, "{text}: {compressed} iterations compressed, {not} not");
    }
}

pub fn little_to_coarsen<T: Real, B: AnyPrecision<T> + Steps<T>>(b: &B) {
    for coarsening in COARSENINGS {
        let params = Params { coarsening, ..deep() };
        let one = from_entries::<T>(1, &[(0, 0, 3.0)]);
        assert_eq!(check(b, Which::Cg, &one, &params, true), 1);
        assert_eq!(check(b, Which::Cg, &one, &params, false), 1);
        // Nothing but a diagonal: one level, swept, or inverted where it is small.
        for n in [11, 301] {
            let diagonal: Vec<_> = (0..n).map(|i| (i, i, 1.5 + noise(74, i as usize))).collect();
            let a = from_entries::<T>(n as usize, &diagonal);
            assert!(check(b, Which::Cg, &a, &params, true) <= 2);
        }
        let empty = from_entries::<T>(0, &[]);
        let (x, outcome) = run(b, Which::Cg, &mut *amg(b, &empty, &params, true), &empty, &[]);
        assert_eq!((outcome.reason, outcome.iterations, x.len()), (StopReason::Converged, 0, 0));
    }
}

pub fn disconnected_parts<T: Real, B: AnyPrecision<T> + Steps<T>>(b: &B) {
    // Two meshes of different scale, and unknowns between them that nothing is coupled to.
    let mut entries = Vec::new();
    let mut n = 0;
    for (text, scale) in [("tet:4", 1.0), ("poisson2d:11", 100.0)] {
        let part = problem::<f64>(text);
        for i in 0..part.n_rows() {
            let (columns, values) = part.row(i);
            entries.extend(columns.iter().zip(values).map(|(j, v)| (n + i as u32, n + j, scale * v)));
        }
        n += part.n_rows() as u32;
        entries.extend((n..n + 7).map(|i| (i, i, 2.0 + noise(75, i as usize))));
        n += 7;
    }
    let a = from_entries::<T>(n as usize, &entries);
    for coarsening in COARSENINGS {
        let params = Params { coarsening, ..deep() };
        assert_same_hierarchy(b, &a, &params);
        let iterations = check(b, Which::Cg, &a, &params, true);
        assert!(iterations <= 20, "{iterations}: {coarsening}");
    }
}
