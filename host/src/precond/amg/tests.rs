//! Whole hierarchies on the host: what they are made of, and how well they converge.

use std::sync::Arc;

use super::hierarchy::{Hierarchy, LevelMatrices, build};
use super::*;
use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::error::Error;
use crate::job::{self, Device, Method, Options, Precond, relative_residual};
use crate::matrix::{AnyMatrix, Coo, Csr};
use crate::problem::{generate, with_slivers};
use crate::setup::Formats;
use crate::solver::{Cg, IterativeSolver, Stop, StopReason};

mod fusion;

const COARSENINGS: [Coarsening; 3] =
    [Coarsening::SmoothedAggregation, Coarsening::Pmis, Coarsening::MandelBrezina];

type HostHierarchy = Hierarchy<Arc<Csr<f64>>, Vec<f64>>;

fn problem(text: &str) -> Arc<Csr<f64>> {
    Arc::new(generate(&text.parse().unwrap(), 1).unwrap())
}

fn hierarchy(a: &Arc<Csr<f64>>, params: &Params) -> HostHierarchy {
    let cpu = Cpu::new(2).unwrap();
    build::<f64, _>(&cpu, Blocks::scalar(a.clone()), None, params, SetupOptions::default()).unwrap()
}

/// The levels' matrices, the coarsest among them.
fn matrices(h: &HostHierarchy) -> Vec<&Arc<Csr<f64>>> {
    h.levels.iter().map(|level| &level.a).chain([&h.coarsest]).map(Blocks::first).collect()
}

/// Three coarsenings, aggressive PMIS, and the greedy splitting.
fn coarsenings() -> [Params; 5] {
    let [sa, pmis, averages] =
        COARSENINGS.map(|coarsening| Params { coarsening, coarse_rows: 200, ..Params::default() });
    let aggressive = Params { aggressive: 1, ..pmis.clone() };
    let greedy = Params { splitting: Splitting::Greedy, ..averages.clone() };
    [sa, pmis, averages, aggressive, greedy]
}

fn noise(i: usize) -> f64 {
    arithmetic::noise::noise(i as u32)
}

/// Solves `A x = b` by CG to 1e-8, with the hierarchy in S; the iterations done, and what was set up.
#[track_caller]
fn solve_in<S: Real>(a: &Arc<Csr<f64>>, params: &Params) -> (u32, Info)
where
    Cpu: Precisions<f64, S>,
{
    let backend = Cpu::new(2).unwrap();
    let n = a.n_rows();
    let mut m = Amg::<f64, S, Cpu>::setup(&backend, a, params).unwrap();
    let b: Vec<f64> = (0..n).map(noise).collect();
    let mut x = vec![0.0; n];
    let matrix = backend.matrix(&Arc::new(AnyMatrix::Crs(a.clone()))).unwrap();
    let stop = Stop { max_iterations: 200, ..Stop::default() };
    let mut cg = Cg::new(&backend, n, &m).unwrap();
    let outcome = cg.solve(&backend, &matrix, &mut m, &b, &mut x, &stop, &mut |_, _| ()).unwrap();
    assert_eq!(outcome.reason, StopReason::Converged, "{params:?}");
    let residual = relative_residual(a, &x, &b);
    assert!(residual <= 2.0 * stop.rtol, "{residual:e}: {params:?}");
    (outcome.iterations, m.info().clone())
}

/// [`solve_in`] f32, which is the default.
#[track_caller]
fn iterations(a: &Arc<Csr<f64>>, params: &Params) -> u32 {
    solve_in::<f32>(a, params).0
}

fn dense(a: &Csr<f64>) -> faer::Mat<f64> {
    let mut dense = faer::Mat::zeros(a.n_rows(), a.n_cols());
    for i in 0..a.n_rows() {
        for (&j, &v) in a.row(i).0.iter().zip(a.row(i).1) {
            dense[(i, j as usize)] = v;
        }
    }
    dense
}

fn largest(a: &Csr<f64>) -> f64 {
    a.values().iter().fold(0.0, |m, v| m.max(v.abs()))
}

#[test]
fn coarse_matrices_are_galerkin_products() {
    for params in coarsenings() {
        let params = Params { coarse_rows: 12, ..params };
        for text in ["tet:8", "convection-diffusion:20:30"] {
            let h = hierarchy(&problem(text), &params);
            assert!(h.levels.len() >= 2, "{text}: {params:?}");
            for (l, (LevelMatrices { a, p, r, .. }, coarser)) in
                h.levels.iter().zip(&matrices(&h)[1..]).enumerate()
            {
                let (a, p, r) = (a.first(), p.first(), r.first());
                assert!(**r == p.transpose());
                let expected = dense(p).transpose() * dense(a) * dense(p) / params.overcorrection(l);
                let got = dense(coarser);
                let scale = largest(coarser);
                assert!((got - expected).norm_max() <= 1e-13 * scale, "{text}: {params:?}");
            }
        }
    }
}

#[test]
fn symmetric_matrices_have_symmetric_coarse_ones() {
    for params in coarsenings() {
        let h = hierarchy(&problem("tet:16"), &Params { coarse_rows: 20, ..params.clone() });
        assert!(h.levels.len() >= 2, "{params:?}");
        for a in matrices(&h) {
            let at = a.transpose();
            assert!(a.row_ptr() == at.row_ptr() && a.col_idx() == at.col_idx(), "{params:?}");
            let scale = largest(a);
            for (v, w) in a.values().iter().zip(at.values()) {
                assert!((v - w).abs() <= 1e-13 * scale, "{v} and {w}: {params:?}");
            }
        }
    }
}

#[test]
fn constants_are_interpolated_where_rows_sum_to_zero() {
    for params in COARSENINGS.map(|coarsening| Params { coarsening, ..Params::default() }) {
        for text in ["poisson3d:12", "tet:14"] {
            let h = hierarchy(&problem(text), &params);
            for (l, LevelMatrices { a, p, .. }) in h.levels.iter().enumerate() {
                let (a, p) = (a.first(), p.first());
                let mut rows = 0;
                for i in 0..a.n_rows() {
                    let size: f64 = a.row(i).1.iter().map(|v| v.abs()).sum();
                    if a.row(i).1.iter().sum::<f64>().abs() <= 1e-13 * size {
                        let sum: f64 = p.row(i).1.iter().sum();
                        assert!((sum - 1.0).abs() <= 1e-10, "{text}, level {l}, row {i}: {sum}, {params:?}");
                        rows += 1;
                    }
                }
                assert!(l > 0 || 2 * rows > a.n_rows(), "{text}: {rows} rows prove little");
            }
        }
    }
}

#[test]
fn iterations_do_not_grow_with_the_mesh() {
    for (name, sizes) in [("poisson3d", [12, 24, 48]), ("tet", [12, 24, 40])] {
        let meshes = sizes.map(|n| problem(&format!("{name}:{n}")));
        for coarsening in COARSENINGS {
            let params = Params { coarsening, ..Params::default() };
            let counts = meshes.each_ref().map(|a| iterations(a, &params));
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(most - least <= 3 && *most <= 14, "{name}, {coarsening}: {counts:?}");
        }
    }
}

#[test]
fn convection_costs_few_iterations() {
    for n in [40, 80] {
        for peclet in [1, 10, 30, 100, 300, 1000, 10_000] {
            let a = problem(&format!("convection-diffusion:{n}:{peclet}"));
            let b: Vec<f64> = (0..a.n_rows()).map(noise).collect();
            let options = Options { precond: Some(Precond::Amg), ..Options::default() };
            let cpu = Device::Cpu(Cpu::new(2).unwrap());
            let report = job::solve(&a, &b, &options, &cpu).unwrap().report;
            assert!(report.method == Method::Gmres && report.converged());
            assert!(report.outcome.iterations <= 20, "{n}, {peclet}: {}", report.outcome.iterations);
        }
    }
}

#[test]
fn skew_matrices_cost_few_iterations() {
    // The identity, and +-1 to the right and left in the rows and columns of a grid: all eigenvalues have
    // the real part 1.
    for (n, most) in [([1, 20_000], 40), ([120, 120], 60)] {
        let mut a = Coo::new(n[0] * n[1], n[0] * n[1], 0).unwrap();
        for i in 0..n[0] * n[1] {
            let at = [i / n[1], i % n[1]];
            a.push(i, i, 1.0);
            for (axis, step) in [(0, n[1]), (1, 1)] {
                if at[axis] + 1 < n[axis] {
                    a.push(i, i + step, 1.0);
                    a.push(i + step, i, -1.0);
                }
            }
        }
        let a = Arc::new(a.into_csr().0);
        let b: Vec<f64> = (0..a.n_rows()).map(noise).collect();
        let options = Options { precond: Some(Precond::Amg), ..Options::default() };
        let cpu = Device::Cpu(Cpu::new(2).unwrap());
        let report = job::solve(&a, &b, &options, &cpu).unwrap().report;
        assert!(report.method == Method::Gmres && report.converged());
        assert!(report.outcome.iterations <= most, "{n:?}: {}", report.outcome.iterations);
    }
}

#[test]
fn anisotropy() {
    for (params, most) in coarsenings().iter().zip([15, 8, 21, 12, 11]) {
        let counts = [32, 128].map(|n| iterations(&problem(&format!("anisotropic:{n}:0.01")), params));
        assert!(counts.iter().all(|&n| n <= most), "{counts:?}: {params:?}");
    }
}

/// `-div(k grad u)` on a cube of n^3 cells with u = 0 around it, by finite volumes: k is `jump` in blocks of
/// 4^3 cells that meet at their edges as on a chess board, and 1 in the others; harmonic means at the faces.
pub(super) fn jumping(n: usize, jump: f64) -> Arc<Csr<f64>> {
    let k = |at: [usize; 3]| if at.iter().map(|x| x / 4).sum::<usize>() % 2 == 0 { jump } else { 1.0 };
    let number = |at: [usize; 3]| ((at[0] * n + at[1]) * n + at[2]) as u32;
    let (mut rows, mut columns, mut values) = (vec![], vec![], vec![]);
    for i in 0..n.pow(3) {
        let at = [i / (n * n), i / n % n, i % n];
        let mut diagonal = 0.0;
        for axis in 0..3 {
            for step in [-1, 1] {
                let mut next = at;
                next[axis] = at[axis].wrapping_add_signed(step);
                if next[axis] >= n {
                    diagonal += 2.0 * k(at);
                    continue;
                }
                let face = 2.0 * k(at) * k(next) / (k(at) + k(next));
                diagonal += face;
                rows.push(number(at));
                columns.push(number(next));
                values.push(-face);
            }
        }
        rows.push(number(at));
        columns.push(number(at));
        values.push(diagonal);
    }
    Arc::new(Coo::from_parts(n.pow(3), n.pow(3), rows, columns, values).unwrap().into_csr().0)
}

#[test]
fn slivers_cost_few_iterations() {
    // Two edges that nearly meet, something like it, and a corner near to the face of the others, whose row
    // has a g as usual.
    let shapes = [[1.0, -1.0, 1.0, -1.0], [5.0, -4.3, -2.7, 2.0], [3.0, -1.0, -1.0, -1.0]];
    let (n, params) = (24, Params::default());
    let a = problem(&format!("tet:{n}"));
    let (usual, before) = (iterations(&a, &params), hierarchy(&a, &params));
    for (k, (shape, most)) in shapes.into_iter().zip([1, 3, 2]).enumerate() {
        let element = |e: usize| {
            let first = (n + 1 + 613 * (3 * e + k)) % (a.n_rows() - n * n - n - 2);
            ([first, first + 1, first + n + 1, first + n * n], shape)
        };
        let elements: Vec<_> = (0..6).map(element).collect();
        for c in [3.0, 100.0, 1e4] {
            let spoiled = Arc::new(with_slivers(&a, &elements, c).unwrap());
            let with_them = iterations(&spoiled, &params);
            assert!(with_them <= usual + most, "{shape:?}, c = {c}: {with_them} iterations for {usual}");
            // The coarser level knows nothing of c where all rows of an element have a large g.
            let [coarse, usual] = [&hierarchy(&spoiled, &params), &before].map(|h| largest(matrices(h)[1]));
            assert!(k > 0 || coarse < 3.0 * usual, "{shape:?}, c = {c}: {coarse} for {usual}");
        }
    }
}

#[test]
fn jumping_coefficients() {
    for (params, most) in coarsenings().iter().zip([18, 14, 14, 13, 13]) {
        for jump in [1e6, 1e-6] {
            let n = iterations(&jumping(32, jump), params);
            assert!(n <= most, "jump {jump}: {n}: {params:?}");
        }
    }
}

#[test]
fn hierarchies_are_small() {
    // Unknowns and entries of all levels over those of the finest, and iterations.
    let bounds = [(1.2, 1.5, 13), (1.5, 2.8, 11), (1.5, 2.2, 21), (1.15, 1.5, 13), (1.75, 2.75, 16)];
    for (params, (grid, operator, most)) in coarsenings().iter().zip(bounds) {
        for text in ["tet:24", "poisson3d:32", "poisson2d:128"] {
            let (n, info) = solve_in::<f32>(&problem(text), params);
            let found = (info.grid_complexity(), info.operator_complexity(), n);
            assert!(info.levels.len() >= 3 && info.levels.last().unwrap().rows <= 200, "{text}: {params:?}");
            assert!(found.0 > 1.0 && found.0 <= grid && found.1 > 1.0, "{text}: {found:?}: {params:?}");
            assert!(found.1 <= operator && n <= most, "{text}: {found:?}: {params:?}");
        }
    }
}

#[test]
fn every_smoother_and_cycle() {
    let a = problem("tet:24");
    let smoothers = [
        (SmootherKind::Jacobi, 20),
        (SmootherKind::L1Jacobi, 26),
        (SmootherKind::Chebyshev, 13),
        (SmootherKind::Spai0, 19),
        (SmootherKind::Ilu, 12),
    ];
    for (smoother, most) in smoothers {
        for cycle in [Cycle::V, Cycle::W, Cycle::F, Cycle::K] {
            let params = Params { smoother, cycle: Some(cycle), coarse_rows: 20, ..Params::default() };
            let n = iterations(&a, &params);
            assert!(n <= most, "{smoother} {cycle}: {n}");
        }
    }
}

#[test]
fn a_hierarchy_in_f32_costs_no_iterations() {
    for text in ["tet:24", "poisson3d:32"] {
        let a = problem(text);
        let (in_f32, info_f32) = solve_in::<f32>(&a, &Params::default());
        let (in_f64, info_f64) = solve_in::<f64>(&a, &Params::default());
        assert!(in_f32 <= in_f64 + 1, "{text}: {in_f32} and {in_f64}");
        assert_eq!((info_f32.precision, info_f64.precision), ("f32", "f64"));
        assert!(info_f32.cycle_bytes < info_f64.cycle_bytes);
    }
}

#[test]
fn what_is_there_in_its_format_is_given_back_unless_it_is_kept() {
    let (cpu, a) = (Cpu::new(2).unwrap(), problem("tet:12"));
    for params in coarsenings() {
        let mut h = hierarchy(&a, &params);
        assert!(!h.levels.is_empty(), "{params:?}");
        let planes = h.levels.iter().flat_map(|level| [&level.a, &level.p, &level.r]);
        let planes: Vec<_> = planes.skip(1).map(|m| Arc::downgrade(m.first())).collect();
        for keeps in [true, false] {
            let amg = Amg::<f64, f32, Cpu>::from_hierarchy(&cpu, &mut h, keeps, &params).unwrap();
            assert_eq!(amg.info().levels.len(), h.levels.len() + 1);
            assert!(planes.iter().all(|m| m.upgrade().is_some() == keeps), "{keeps}, {params:?}");
        }
    }
}

#[test]
fn threads_do_not_show() {
    let a = problem("tet:24");
    for params in coarsenings() {
        let [one, three] = [1, 3].map(|threads| {
            let backend = Cpu::new(threads).unwrap();
            backend
                .install(|| {
                    build::<f64, Cpu>(
                        &backend,
                        Blocks::scalar(a.clone()),
                        None,
                        &params,
                        SetupOptions::default(),
                    )
                })
                .unwrap()
        });
        assert_eq!(one.levels.len(), three.levels.len());
        for (one, three) in one.levels.iter().zip(&three.levels) {
            assert!(one.a == three.a && one.p == three.p && one.r == three.r, "{params:?}");
            assert_eq!(one.diagonal.spectrum, three.diagonal.spectrum);
        }
        assert!(one.coarsest == three.coarsest, "{params:?}");
        assert!(one.levels.len() >= 2, "{params:?}");
    }
}

#[test]
fn the_place_of_the_setup_does_not_show() {
    let a = problem("tet:16");
    let backend = Cpu::new(2).unwrap();
    let r: Vec<f64> = (0..a.n_rows()).map(noise).collect();
    let [device, host] = [SetupOn::Device, SetupOn::Host].map(|setup| {
        let params = Params { setup, ..Params::default() };
        let mut m = Amg::<f64, f32, Cpu>::setup(&backend, &a, &params).unwrap();
        let mut z = vec![f64::NAN; r.len()];
        m.apply(&backend, &r, &mut z).unwrap();
        z
    });
    assert!(device.iter().all(|z| z.is_finite()) && device == host);
}

#[test]
fn cycles_are_symmetric_operators() {
    // (u, M v) = (v, M u), as CG needs it; a K-cycle is not linear.
    let a = problem("tet:12");
    let backend = Cpu::new(2).unwrap();
    let n = a.n_rows();
    for cycle in [Cycle::V, Cycle::W] {
        let params = Params { cycle: Some(cycle), coarse_rows: 20, ..Params::default() };
        let mut m = Amg::<f64, f64, Cpu>::setup(&backend, &a, &params).unwrap();
        let [u, v]: [Vec<f64>; 2] = [0, n].map(|first| (0..n).map(|i| noise(first + i)).collect());
        let mut applied = |r: &Vec<f64>| {
            let mut z = vec![f64::NAN; n];
            m.apply(&backend, r, &mut z).unwrap();
            z
        };
        let (mu, mv) = (applied(&u), applied(&v));
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let scale = dot(&u, &mu);
        assert!(scale > 0.0 && (dot(&v, &mu) - dot(&u, &mv)).abs() <= 1e-12 * scale, "{cycle}");
    }
}

#[test]
fn what_cannot_be_set_up_is_refused() {
    let backend = Cpu::new(1).unwrap();
    let setup =
        |a: Csr<f64>, params: &Params| Amg::<f64, f32, Cpu>::setup(&backend, &Arc::new(a), params).err();
    let good = Csr::<f64>::identity(3);
    assert!(setup(good.clone(), &Params::default()).is_none());
    let pre_and_post = Params { pre: 0, post: 0, ..Params::default() };
    assert!(matches!(setup(good, &pre_and_post), Some(Error::Option(_))));
    let zero = Csr::new(2, 2, vec![0, 1, 2], vec![0, 0], vec![1.0, 1.0]).unwrap();
    assert!(matches!(setup(zero, &Params::default()), Some(Error::Diagonal { row: 2, .. })));
    let wide = Csr::new(1, 2, vec![0, 2], vec![0, 1], vec![1.0, 1.0]).unwrap();
    assert!(setup(wide, &Params::default()).is_some());
}

/// The coupled bidomain equations: blocks need no more iterations than single unknowns, and no more on finer
/// meshes.
#[test]
fn blocks_of_the_bidomain_equations() {
    use crate::job::{self, Device, Options, Precond};
    let device = Device::Cpu(Cpu::new(2).unwrap());
    let iterations = |n: usize, block_size: usize, coarsening: Coarsening| {
        let a = problem(&format!("bidomain:{n}"));
        let exact: Vec<f64> = (0..a.n_rows()).map(noise).collect();
        let amg = Params { coarsening, ..Params::default() };
        let options = Options { precond: Some(Precond::Amg), block_size, amg, ..Options::default() };
        let report = job::solve(&a, &a.mul_vec(&exact), &options, &device).unwrap().report;
        assert!(report.converged() && report.relative_residual < 2e-8, "{:?}", report.outcome.reason);
        assert!(block_size == 1 || report.amg.unwrap().levels.len() > 1);
        report.outcome.iterations
    };
    let sa = Coarsening::SmoothedAggregation;
    let blocks = [8, 14, 20].map(|n| iterations(n, 2, sa));
    let (least, most) = (blocks.iter().min().unwrap(), blocks.iter().max().unwrap());
    assert!(most - least <= 4 && *most <= 20, "{blocks:?}");
    let single = iterations(14, 1, sa);
    assert!(blocks[1] <= single, "{} with blocks, {single} without", blocks[1]);
    for other in [Coarsening::Pmis, Coarsening::MandelBrezina] {
        let found = iterations(14, 2, other);
        assert!(found <= 60, "{other}: {found}");
    }
}
