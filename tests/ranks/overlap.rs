//! Incomplete factors with layers of others' unknowns around each rank's.

use super::*;
use warpsolve::precond::ilu;

fn overlapping(method: Method, overlap: u32) -> Options {
    Options { ilu: ilu::Params { overlap, ..ilu::Params::default() }, ..options(method, Precond::Ilu) }
}

/// Iterations with so many layers, of solutions that the residual recomputed here judges.
fn iterations(a: &Arc<Csr<f64>>, options: &Options, device: Device, ranks: &Arc<Ranks>) -> u32 {
    let Solution { x, report } = solved(a, options, device, ranks);
    assert!(report.converged(), "{report}");
    assert!(relative_residual(a, &x, &rhs(a.n_rows())) <= 1.0001 * options.stop.rtol, "{report}");
    assert_eq!(report.ilu.unwrap().params.overlap, options.ilu.overlap);
    report.outcome.iterations
}

#[test]
fn layers_save_iterations() {
    for name in ["convection-diffusion:40", "poisson2d:40", "tet:12"] {
        let a = matrix(name);
        for (method, kind) in [
            (Method::Gmres, ilu::Kind::Levels),
            (Method::Gmres, ilu::Kind::Threshold),
            (Method::Bicgstab, ilu::Kind::Threshold),
        ] {
            for size in [2, 3, 5] {
                let ranks = cpus(size, Partitioning::Rcm);
                let taken = [0, 1, 2].map(|overlap| {
                    let mut options = overlapping(method, overlap);
                    options.ilu.kind = kind;
                    iterations(&a, &options, cpu(), &ranks)
                });
                let what = format!("{name}, {method}, {kind}, {size} ranks: {taken:?}");
                assert!(taken[1] < taken[0] && taken[2] < taken[0] + 4, "{what}");
                // Good factors have more to win.
                if kind == ilu::Kind::Threshold {
                    assert!(4 * taken[1] < 3 * taken[0] && taken[2] < taken[1], "{what}");
                }
            }
        }
    }
}

#[test]
fn layers_around_everything_are_the_whole_matrix() {
    let a = matrix("convection-diffusion:9");
    let mut options = overlapping(Method::Gmres, 20);
    // All of the fill: the factors are those of A.
    (options.ilu.fill, options.ilu.order) = (20, Some(ilu::Order::Natural));
    for size in [2, 3, 5] {
        assert!(iterations(&a, &options, cpu(), &cpus(size, Partitioning::Rcm)) <= 2, "{size} ranks");
    }
}

#[test]
fn one_rank_has_nothing_to_overlap() {
    let a = matrix("tet:7");
    for method in [Method::Cg, Method::Gmres] {
        let [none, some] = [0, 3].map(|overlap| {
            solve(a.clone(), &rhs(a.n_rows()), &overlapping(method, overlap), &cpu()).unwrap()
        });
        assert_eq!((none.x, none.report.outcome.history), (some.x, some.report.outcome.history));
    }
}

#[test]
fn ranks_without_rows_overlap_too() {
    let a = matrix("poisson2d:9");
    let owner = (0..a.n_rows()).map(|i| [0, 3][usize::from(i % 9 > 4)]).collect();
    let ranks = cpus(5, Partitioning::Given(Arc::new(owner)));
    for overlap in [1, 2, 20] {
        iterations(&a, &overlapping(Method::Bicgstab, overlap), cpu(), &ranks);
    }
    // More ranks than rows, and a matrix that only looks one way.
    let lower =
        (0..12).flat_map(|i| [(i, i, 2.0), (i, i.max(1) - 1, -0.5)]).filter(|&(i, j, v)| i != j || v > 0.0);
    let lower = Arc::new(Csr::from_triplets(12, 12, lower).unwrap());
    for size in [5, 14] {
        iterations(&lower, &overlapping(Method::Gmres, 1), cpu(), &cpus(size, Partitioning::Blocks));
    }
}

#[test]
fn layers_are_the_same_in_the_simulator() {
    let a = matrix("convection-diffusion:9");
    let sim = || Device::simulator().unwrap();
    for size in [2, 3] {
        for (method, precision) in [(Method::Bicgstab, Precision::F64), (Method::Gmres, Precision::F32)] {
            let mut options = Options { precision, ..overlapping(method, 1) };
            options.stop.rtol = if precision == Precision::F32 { 1e-5 } else { 1e-8 };
            let on_cpu = iterations(&a, &options, cpu(), &cpus(size, Partitioning::Rcm));
            let [peers, host] = [Way::Threads, Way::Host].map(|way| {
                let (ranks, device) = simulators(size, Partitioning::Rcm, sim, way);
                let Solution { x, report } = solved(&a, &options, device, &ranks);
                assert!(report.outcome.iterations.abs_diff(on_cpu) <= 1, "{size} ranks: {report}");
                let Info { exchanges, exchanged_bytes, .. } = report.ranks.unwrap();
                (x, exchanges, exchanged_bytes)
            });
            assert_eq!(peers, host, "{method}, {size} ranks");
        }
    }
    let (ranks, device) = simulators(3, Partitioning::Blocks, strict, Way::Threads);
    iterations(&matrix("tet:4"), &overlapping(Method::Bicgstab, 1), device, &ranks);
}

#[test]
fn methods_that_need_symmetry_are_refused_or_not_chosen() {
    let a = matrix("poisson2d:9");
    let ranks = cpus(2, Partitioning::Blocks);
    for method in [Method::Cg, Method::Minres] {
        let builder = Solver::builder().options(overlapping(method, 1)).device(cpu()).ranks(ranks.clone());
        let error = builder.solve(a.clone(), &rhs(a.n_rows())).unwrap_err().to_string();
        assert!(error.contains("overlap=1") && error.contains("--solver bicgstab"), "{error}");
    }
    let chosen = Options { method: None, ..overlapping(Method::Cg, 1) };
    assert_eq!(solved(&a, &chosen, cpu(), &ranks).report.method, Method::Gmres);
    let chosen = Options { method: None, ..overlapping(Method::Cg, 0) };
    assert_eq!(solved(&a, &chosen, cpu(), &ranks).report.method, Method::Cg);
}
