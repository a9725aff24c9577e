//! Factors and their solutions against the matrix, on all backends.

use std::sync::Arc;

use super::arrangement::Arrangement;
use super::factorisation::factors;
use super::factors::Factors;
use super::order::{Neighbours, order};
use super::*;
use crate::backend::cpu::Cpu;
use crate::backend::gpu::Gpu;
use crate::backend::reference::Reference;
use crate::job::{self, Device, Method, Options, Precond};
use crate::precond::schur::tests::stokes;
use crate::problem::generate;
use crate::problem::random::uniform;
use crate::setup::SparseProducts;

const ORDERS: [Order; 4] = [Order::Natural, Order::Rcm, Order::Amd, Order::Multicolour];

fn problem(text: &str) -> Csr<f64> {
    generate(&text.parse().unwrap(), 1).unwrap()
}

/// About 5 entries a row, without zeros on the diagonal or, with `hidden`, with the large entries elsewhere.
fn random(n: usize, seed: u64, hidden: bool) -> Csr<f64> {
    let noise = |i: usize, j: usize| uniform(seed, (n * i + j) as u64);
    let entries = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let value = |(i, j): (usize, usize)| {
        let large = if hidden { (i + 3) % n } else { i };
        match (j == large, noise(i, j) < 5.0 / n as f64) {
            (true, _) => Some((i, j, 3.0 + noise(j, i))),
            (false, true) if !hidden || i != j => Some((i, j, noise(j, i) - 0.5)),
            _ => None,
        }
    };
    Csr::from_triplets(n, n, entries.filter_map(value)).unwrap()
}

fn applied<B: Factorisations<f64> + crate::backend::Backend<f64>>(
    g: &B,
    a: &Csr<f64>,
    params: &Params,
    r: &[f64],
) -> Vec<f64> {
    let mut m = Ilu::setup(g, a, params).unwrap();
    let mut z = g.vector(&vec![f64::NAN; r.len()]).unwrap();
    m.apply(g, &g.vector(r).unwrap(), &mut z).unwrap();
    g.to_host(&z).unwrap()
}

/// `M A x = x` where nothing is dropped, for all orders, scaled and matched or not.
fn whole_factors_solve<B: Factorisations<f64> + crate::backend::Backend<f64>>(g: &B, n: usize) {
    let ilut = Params { kind: Kind::Threshold, drop: 0.0, growth: 1000.0, ..Params::default() };
    let levels = Params { kind: Kind::Levels, fill: 20, ..Params::default() };
    let laplacian = problem("poisson2d:6");
    for a in [random(n, 3, false), random(n, 4, true), laplacian] {
        let x: Vec<f64> = (0..a.n_rows()).map(|i| uniform(9, i as u64) - 0.3).collect();
        let r = a.mul_vec(&x);
        for (order, params) in ORDERS.into_iter().flat_map(|order| [(order, &ilut), (order, &levels)]) {
            let params = Params { order: Some(order), ..params.clone() };
            let z = applied(g, &a, &params, &r);
            for (z, x) in z.iter().zip(&x) {
                assert!((z - x).abs() < 1e-9, "{params:?}: {z} {x}");
            }
        }
    }
}

#[test]
fn whole_factors_solve_the_system() {
    whole_factors_solve(&Reference::new(), 41);
    whole_factors_solve(&Cpu::new(2).unwrap(), 41);
    whole_factors_solve(&Gpu::simulated().unwrap(), 33);
}

/// Entries of `L U`, L with its ones, in the order of elimination.
fn product(factors: &Factors) -> Vec<Vec<f64>> {
    let n = factors.diagonal.len();
    let entries = |range: std::ops::Range<usize>| {
        let columns = factors.whole.col_idx()[range.clone()].iter().map(|&j| j as usize);
        columns.zip(factors.whole.values()[range].iter().copied())
    };
    let mut product = vec![vec![0.0; n]; n];
    for (i, sums) in product.iter_mut().enumerate() {
        for (k, l) in entries(factors.lower(i)).chain([(i, 1.0)]) {
            let row = entries(factors.upper(k)).chain([(k, factors.pivot(k))]);
            row.for_each(|(j, u)| sums[j] += l * u);
        }
    }
    product
}

#[test]
fn factors_agree_with_the_matrix_on_their_pattern() {
    let symmetric = problem("random-spd:60");
    for (a, is_symmetric) in [(random(60, 5, false), false), (symmetric, true)] {
        for kind in [Kind::Levels, Kind::Diagonal] {
            let params = Params { kind, ..Params::default() };
            let arrangement = Arrangement::of(&a, &params, false, is_symmetric).unwrap();
            let b = arrangement.apply(&a);
            let factors = factors(&|| b.clone(), &params, is_symmetric);
            assert_eq!(factors.changed, 0);
            let product = product(&factors);
            for i in 0..b.n_rows() {
                for (&j, &v) in b.row(i).0.iter().zip(b.row(i).1) {
                    let found = product[i][j as usize];
                    if kind == Kind::Levels || i == j as usize {
                        assert!((found - v).abs() < 1e-12 * (1.0 + v.abs()), "{kind} {i} {j}: {found} {v}");
                    }
                }
            }
        }
    }
}

#[test]
fn orders_name_everything_once_and_colours_are_independent() {
    for a in [problem("tet:4"), random(50, 7, false)] {
        for kind in ORDERS {
            let mut order = order(&Neighbours::of(&a, false), kind).unwrap();
            order.sort_unstable();
            assert!(order.iter().enumerate().all(|(k, &i)| k as u32 == i), "{kind}");
        }
        let (_, info) = factorised::<f64, f64>(&a, &Params::default()).unwrap();
        assert!(info.levels[0] <= 20 && info.levels[0] == info.levels[1], "{info:?}");
    }
    // Cuthill and McKee: the bandwidth of a shuffled grid is that of the grid again, or nearly.
    let shuffled = crate::problem::shuffle(&problem("poisson2d:15"), 1, 3).unwrap();
    let arrangement =
        Arrangement::of(&shuffled, &Params { order: Some(Order::Rcm), ..Params::default() }, false, true)
            .unwrap();
    let b = arrangement.apply(&shuffled);
    let reach = |i: usize| b.row(i).0.iter().map(|&j| (j as usize).abs_diff(i)).max().unwrap();
    assert!((0..b.n_rows()).map(reach).max().unwrap() <= 20);
}

#[test]
fn threads_and_backends_change_nothing() {
    // Levels that are large enough for threads.
    let a = problem("convection-diffusion:24");
    let r: Vec<f64> = (0..a.n_rows()).map(|i| uniform(1, i as u64) - 0.5).collect();
    for kind in [Kind::Levels, Kind::Threshold, Kind::Diagonal] {
        let params = Params { kind, solves: Some(Solves::Exact), ..Params::default() };
        let expected = applied(&Reference::new(), &a, &params, &r);
        for threads in [1, 2, 3] {
            assert_eq!(applied(&Cpu::new(threads).unwrap(), &a, &params, &r), expected);
        }
    }
    let a = problem("tet:5");
    let r = &r[..a.n_rows()];
    for order in ORDERS {
        let params = Params { order: Some(order), ..Params::default() };
        let expected = applied(&Reference::new(), &a, &params, r);
        let found = applied(&Gpu::simulated().unwrap(), &a, &params, r);
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-13, "{order}: {found} {expected}");
        }
    }
}

/// The product of M with each unit vector.
fn all_of_m(a: &Csr<f64>, params: &Params) -> Vec<Vec<f64>> {
    let unit = |j: usize| (0..a.n_rows()).map(|i| f64::from(u8::from(i == j))).collect::<Vec<_>>();
    (0..a.n_rows()).map(|j| applied(&Cpu::new(1).unwrap(), a, params, &unit(j))).collect()
}

/// Also of inverses that nobody would take by himself, and of rows that are permuted and scaled.
#[test]
fn inverses_are_near_the_solutions_and_symmetric_where_the_factors_are() {
    let ordered = |order: Order, solves: Solves| Params {
        order: Some(order),
        solves: Some(solves),
        ..Params::default()
    };
    let (spd, hidden) = (problem("tet:4"), random(40, 4, true));
    for (a, order, most) in
        [(&spd, Order::Multicolour, 0.2), (&spd, Order::Natural, 0.5), (&hidden, Order::Multicolour, 0.6)]
    {
        let exact = all_of_m(a, &ordered(order, Solves::Exact));
        let m = all_of_m(a, &ordered(order, Solves::Inverses));
        let norm = |m: &[Vec<f64>]| m.concat().iter().map(|v| v * v).sum::<f64>().sqrt();
        let apart: Vec<Vec<f64>> = exact
            .iter()
            .zip(&m)
            .map(|(exact, found)| exact.iter().zip(found).map(|(exact, found)| exact - found).collect())
            .collect();
        let share = norm(&apart) / norm(&exact);
        assert!(share > 0.0 && share < most, "{order}: {share}");
        for (j, column) in m.iter().enumerate().filter(|_| std::ptr::eq(a, &spd)) {
            for (i, &v) in column.iter().enumerate() {
                assert!((v - m[i][j]).abs() < 1e-15, "{order} {i} {j}");
            }
        }
    }
}

#[test]
fn inverses_are_taken_where_they_are_accurate() {
    let taken = |a: &Csr<f64>, params: Params| {
        let cpu = Cpu::new(1).unwrap();
        Ilu::<f64, _>::setup(&cpu, a, &params).unwrap().info().solves
    };
    let (mesh, solves) = (problem("tet:6"), Some(Solves::Inverses));
    assert_eq!(taken(&mesh, Params::default()), Solves::Inverses);
    assert_eq!(taken(&mesh, Params { kind: Kind::Diagonal, ..Params::default() }), Solves::Inverses);
    assert_eq!(taken(&mesh, Params { order: Some(Order::Natural), ..Params::default() }), Solves::Exact);
    assert_eq!(
        taken(&mesh, Params { fill: 1, order: Some(Order::Multicolour), ..Params::default() }),
        Solves::Exact
    );
    assert_eq!(taken(&mesh, Params { kind: Kind::Threshold, ..Params::default() }), Solves::Exact);
    assert_eq!(taken(&mesh, Params { kind: Kind::Threshold, solves, ..Params::default() }), Solves::Inverses);
    // Not of other matrices, nor where they leave much.
    assert_eq!(taken(&problem("convection-diffusion:9"), Params::default()), Solves::Exact);
    let mesh = Arc::new(problem("poisson2d:9"));
    let biharmonic = SparseProducts::<f64>::product(&Reference::new(), &mesh, &mesh).unwrap();
    assert_eq!(taken(&biharmonic, Params::default()), Solves::Exact);
}

#[test]
fn pivots_that_vanish_are_changed_and_counted() {
    // The last pivot is 0 exactly, of a symmetric matrix, for which the diagonal grows, and of another; then
    // an empty matrix, and one without a diagonal.
    let last = vec![(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 4.0)];
    let unsymmetric = vec![(0, 0, 1.0), (0, 1, 2.0), (1, 0, 3.0), (1, 1, 6.0)];
    let skew = vec![(0, 1, 1.0), (1, 0, -1.0)];
    for (entries, changed, shift) in
        [(last, 0, 1e-3), (unsymmetric, 1, 0.0), (Vec::new(), 2, 0.0), (skew, 0, 0.0)]
    {
        let a = Csr::from_triplets(2, 2, entries).unwrap();
        for kind in [Kind::Levels, Kind::Threshold, Kind::Diagonal] {
            let params = Params { kind, ..Params::default() };
            let (_, info) = factorised::<f64, f64>(&a, &params).unwrap();
            assert_eq!((info.changed_pivots, info.shift), (changed, shift), "{kind} {a:?}");
            let z = applied(&Reference::new(), &a, &params, &[1.0, -0.5]);
            assert!(z.iter().all(|z| z.is_finite() && z.abs() < 1e4), "{kind}: {z:?}");
        }
    }
    let skew = Csr::from_triplets(2, 2, [(0, 1, 1.0), (1, 0, -1.0)]).unwrap();
    assert_eq!(applied(&Reference::new(), &skew, &Params::default(), &[3.0, 5.0]), [-5.0, 3.0]);
}

fn iterations(a: &Arc<Csr<f64>>, method: Method, params: Option<Params>) -> u32 {
    let precond = if params.is_some() { Precond::Ilu } else { Precond::Jacobi };
    let ilu = params.unwrap_or_default();
    let options = Options { method: Some(method), precond: Some(precond), ilu, ..Options::default() };
    let b: Vec<f64> = (0..a.n_rows()).map(|i| uniform(2, i as u64) - 0.5).collect();
    let device = Device::Cpu(Cpu::new(2).unwrap());
    let job::Solution { report, .. } = job::solve(a, &b, &options, &device).unwrap();
    assert!(report.converged(), "{report}");
    report.outcome.iterations
}

#[test]
fn iterations_are_saved() {
    let spd = Arc::new(problem("tet:12"));
    let plain = iterations(&spd, Method::Cg, None);
    let by = |params: Params| iterations(&spd, Method::Cg, Some(params));
    let colours = by(Params::default());
    let natural = by(Params { order: Some(Order::Natural), ..Params::default() });
    let filled = by(Params { fill: 2, ..Params::default() });
    let threshold = by(Params { kind: Kind::Threshold, ..Params::default() });
    let pivots = by(Params { kind: Kind::Diagonal, ..Params::default() });
    assert!(natural <= colours && colours < plain, "{natural} {colours} {plain}");
    assert!(filled < natural && threshold < natural, "{filled} {threshold} {natural}");
    assert!(pivots < plain, "{pivots} {plain}");

    let convection = Arc::new(problem("convection-diffusion:14"));
    let plain = iterations(&convection, Method::Gmres, None);
    assert!(2 * iterations(&convection, Method::Gmres, Some(Params::default())) < plain);
    // Zeros on the diagonal: no other preconditioner takes these.
    let hidden = Arc::new(random(300, 8, true));
    let params = Params { kind: Kind::Threshold, ..Params::default() };
    assert!(iterations(&hidden, Method::Gmres, Some(params)) <= 10);
}

/// Of a flow: permuted rows lead to factors that grow without bounds, the rows as they are do not.
#[test]
fn factors_that_grow_without_bounds_are_replaced_or_refused() {
    let (flow, _) = stokes::<2>(16, 0.1, 3.0);
    let params = Params { kind: Kind::Threshold, ..Params::default() };
    let with = |matching| factorised::<f64, f64>(&flow, &Params { matching, ..params.clone() });
    assert!(with(Some(true)).is_err(), "a test that shows nothing");
    let (_, info) = with(None).unwrap();
    assert!(!info.is_matched && info.changed_pivots > 0, "{info:?}");
    let z = applied(&Reference::new(), &flow, &params, &flow.mul_vec(&vec![1.0; flow.n_rows()]));
    assert!(z.iter().all(|z| z.is_finite()));
    // The inverse of this one overflows.
    let n = 300;
    let steep = (0..n).map(|i| (i, i, 1.0)).chain((1..n).map(|i| (i, i - 1, 1e3)));
    let a = Csr::from_triplets(n, n, steep).unwrap();
    let why = Ilu::<f64, _>::setup(&Reference::new(), &a, &params).err().unwrap().to_string();
    assert!(why.contains("useless") && why.contains("--solver direct"), "{why}");
}
