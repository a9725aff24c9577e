//! Incomplete factorisations: their solutions against those of the reference, and solves with them.

use std::sync::Arc;

use warpsolve::Real;
use warpsolve::backend::reference::Reference;
use warpsolve::backend::{Backend, Slot};
use warpsolve::job::relative_residual;
use warpsolve::matrix::{AnyMatrix, Csr};
use warpsolve::precond::ilu::{Factorisations, Info, Kind, Order, Params, Solves};
use warpsolve::precond::{Ilu, Preconditioner};
use warpsolve::problem::generate;
use warpsolve::solver::{Gmres, IterativeSolver, Steps, Stop, StopReason};

use crate::data::*;

fn all_params() -> Vec<Params> {
    let kinds = [(Kind::Levels, 0), (Kind::Levels, 2), (Kind::Threshold, 0), (Kind::Diagonal, 0)];
    let ways = [
        (Order::Natural, None),
        (Order::Rcm, Some(Solves::Inverses)),
        (Order::Multicolour, Some(Solves::Exact)),
        (Order::Multicolour, Some(Solves::Inverses)),
        (Order::Multicolour, None),
    ];
    let params = |(kind, fill)| {
        ways.map(|(order, solves)| Params { kind, fill, order: Some(order), solves, ..Params::default() })
    };
    kinds.into_iter().flat_map(params).collect()
}

/// Matrices with many short levels, with few long ones, without entries, and with scales and permuted rows.
fn matrices<T: Real>() -> Vec<Arc<Csr<T>>> {
    let problem = |name: &str| Arc::new(generate(&name.parse().unwrap(), 1).unwrap().cast());
    let swapped: Csr<T> = {
        let a = irregular::<T>(7, 67, 4);
        let entries = (0..67).flat_map(|i| {
            let (columns, values) = a.row(i);
            let row = (i + 5) % 67;
            columns.iter().zip(values).map(move |(&j, &v)| (row, j as usize, v)).collect::<Vec<_>>()
        });
        Csr::from_triplets(67, 67, entries).unwrap()
    };
    vec![
        problem("tet:5"),
        problem("convection-diffusion:9"),
        irregular(3, 300, 5),
        Arc::new(Csr::from_triplets(3, 3, []).unwrap()),
        Arc::new(swapped),
    ]
}

pub fn incomplete_factors<T: Real, B: Backend<T> + Factorisations<T>>(g: &B) {
    for a in matrices::<T>() {
        let n = a.n_rows();
        let r = random::<T>(11, n);
        for params in all_params() {
            let mut reference = Ilu::setup(&Reference::new(), &a, &params).unwrap();
            let mut expected = poison::<T>(n);
            reference.apply(&Reference::new(), &r, &mut expected).unwrap();
            let mut m = Ilu::setup(g, &a, &params).unwrap();
            // Inverses are in the format of their backend.
            let but_for_bytes = |info: &Info| Info { bytes: 0, ..info.clone() };
            assert_eq!(but_for_bytes(m.info()), but_for_bytes(reference.info()));
            let mut z = g.vector(&poison::<T>(n)).unwrap();
            let r = g.vector(&r).unwrap();
            m.apply(g, &r, &mut z).unwrap();
            let first = g.to_host(&z).unwrap();
            assert_close(&first, &wide(&expected), 1e4);
            // Twice the same bits.
            m.apply(g, &r, &mut z).unwrap();
            assert_same_bits(&g.to_host(&z).unwrap(), &first);
        }
    }
}

pub fn triangles_of_another_size_are_refused<T: Real, B: Backend<T> + Factorisations<T>>(g: &B) {
    let a = matrices::<T>().remove(0);
    for (solves, what) in [(Solves::Exact, "triangular solves"), (Solves::Inverses, "a product")] {
        let mut m = Ilu::setup(g, &a, &Params { solves: Some(solves), ..Params::default() }).unwrap();
        let (r, mut z) = (g.zeros(a.n_rows()).unwrap(), g.zeros(a.n_rows() - 1).unwrap());
        let refused = m.apply(g, &r, &mut z).unwrap_err();
        assert!(refused.to_string().contains(what), "{refused}");
    }
}

pub fn a_raised_guard_leaves_triangles_alone<T: Real, B: Backend<T> + Factorisations<T>>(g: &B) {
    let a = matrices::<T>().remove(1);
    let n = a.n_rows();
    let monitor = g.monitor(0, 0.0).unwrap();
    let s = g.scalars(1).unwrap();
    g.observe(&s, Slot(0), &monitor).unwrap();
    let mut m = Ilu::setup(g, &a, &Params::default()).unwrap();
    let untouched = random::<T>(5, n);
    let mut z = g.vector(&untouched).unwrap();
    m.apply(&g.guarded(&monitor), &g.vector(&random::<T>(6, n)).unwrap(), &mut z).unwrap();
    assert_same_bits(&g.to_host(&z).unwrap(), &untouched);
}

pub fn gmres_with_factors<T: Real, B: Steps<T> + Factorisations<T>>(g: &B) {
    let a: Arc<Csr<T>> = Arc::new(generate(&"convection-diffusion:13".parse().unwrap(), 1).unwrap().cast());
    let n = a.n_rows();
    let b = random::<T>(8, n);
    let matrix = g.matrix(&Arc::new(AnyMatrix::Crs(a.clone()))).unwrap();
    let rtol = 200.0 * T::EPSILON.to_f64();
    let stop = Stop { rtol, atol: 0.0, max_iterations: 200 };
    let params = Params { kind: Kind::Threshold, ..Params::default() };
    let mut m = Ilu::setup(g, &a, &params).unwrap();
    let mut x = g.zeros(n).unwrap();
    let rhs = g.vector(&b).unwrap();
    let mut gmres = Gmres::new(g, n, 30).unwrap();
    let outcome = gmres.solve(g, &matrix, &mut m, &rhs, &mut x, &stop, &mut |_, _| ()).unwrap();
    assert_eq!(outcome.reason, StopReason::Converged);
    assert!(outcome.iterations < 12, "{}", outcome.iterations);
    let (x, b) = (wide(&g.to_host(&x).unwrap()), wide(&b));
    assert!(relative_residual(&a.cast(), &x, &b) < 20.0 * rtol);
}
