//! Solves in which no rank has the whole matrix, against those in which rank 0 has.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use warpsolve::comm::{Comm, Partitioning};
use warpsolve::io::binary::RowFile;
use warpsolve::io::matrix::write_matrix;
use warpsolve::job::ranks::by_rows::{MarketRows, RowSource, Solver, own_rows};
use warpsolve::job::ranks::together;
use warpsolve::job::{CancellationToken, Device, Method, Options, Permute, Precond, Ranks, Reorder};
use warpsolve::job::{Scale, Solution, Stage, relative_residual};
use warpsolve::matrix::Csr;
use warpsolve::precond::amg::SetupOn;
use warpsolve::problem::Rows;
use warpsolve::solver::{Stop, StopReason};
use warpsolve::{Error, Result};

use crate::{cpu, matrix, options, rhs, solved};

/// A matrix that is there, whose rows are handed out.
struct Whole(Arc<Csr<f64>>);

impl RowSource for Whole {
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }
    fn rows(&self, rows: Range<usize>) -> Result<Csr<f64>> {
        let (columns, values) = rows.clone().map(|i| self.0.row(i)).fold((vec![], vec![]), |mut all, row| {
            all.0.extend_from_slice(row.0);
            all.1.extend_from_slice(row.1);
            all
        });
        let row_ptr = &self.0.row_ptr()[rows.start..=rows.end];
        let row_ptr = row_ptr.iter().map(|p| p - row_ptr[0]).collect();
        Csr::new(rows.len(), self.0.n_cols(), row_ptr, columns, values)
    }
}

/// Solves with the rows of `source` on `size` ranks; x is put together here.
fn by_rows(
    source: &dyn RowSource,
    size: usize,
    options: &Options,
    device: impl Fn() -> Device + Sync,
) -> Result<Solution> {
    let parts = Mutex::new(vec![Vec::new(); size]);
    let b = rhs(source.n_rows());
    let on_rank = |comm: &Arc<dyn Comm>| {
        let device = device();
        let a = own_rows(&**comm, &device, source, options.block_size)?;
        let mut solver = Solver::new(comm, &device, a, options)?;
        let Solution { x, report } = solver.solve(&b[solver.rows()])?;
        parts.lock().unwrap()[comm.rank()] = x;
        Ok(report)
    };
    let report = together(size, on_rank, |comm| on_rank(comm).map(drop))?;
    Ok(Solution { x: parts.into_inner().unwrap().concat(), report })
}

/// Every way that needs but rows.
fn ways() -> Vec<Options> {
    let unnamed = Options::default();
    let all = crate::ways().into_iter();
    let with_method = all.filter(|way| *way != unnamed && way.method != Some(Method::Direct));
    with_method.filter(|way| way.method.is_some() || way.precond.is_some()).collect()
}

#[test]
fn every_way_gives_the_bits_of_a_solve_with_the_whole() {
    for name in ["poisson2d:13", "tet:7"] {
        let a = matrix(name);
        for size in [1, 2, 3, 5] {
            let ranks = crate::cpus(size, Partitioning::Blocks);
            for options in ways() {
                let one = by_rows(&Whole(a.clone()), size, &options, cpu).unwrap();
                let other = solved(&a, &options, cpu(), &ranks);
                let what = format!("{name} on {size}: {} with {}", one.report.method, one.report.precond);
                let residual = relative_residual(&a, &one.x, &rhs(a.n_rows()));
                assert_eq!(one.report.converged(), residual <= 1.0001 * options.stop.rtol, "{what}");
                assert_eq!(one.report.outcome.reason, other.report.outcome.reason, "{what}");
                if size > 1 {
                    assert!(one.x == other.x, "{what}: another x");
                    let [mine, its] = [&one, &other].map(|solution| &solution.report);
                    let same = mine.outcome.history == its.outcome.history;
                    let (count, as_many) = (mine.outcome.iterations, its.outcome.iterations);
                    assert!(same && count == as_many, "{what}: {count} and {as_many}");
                    let [mine, its] = [mine, its].map(|report| report.ranks.clone().unwrap());
                    assert!(mine.by_rows && !its.by_rows);
                    assert_eq!(mine.quality, its.quality, "{what}");
                    assert_eq!(mine.exchanged_bytes, its.exchanged_bytes, "{what}");
                }
            }
        }
    }
}

#[test]
fn every_preconditioner_is_that_of_a_large_matrix_too() {
    // Levels that are shared out, set up by all ranks.
    for (name, block_size) in [("tet:14", 1), ("tet:14", 2), ("convection-diffusion:50", 1)] {
        let a = matrix(name);
        let symmetric = name.starts_with("tet");
        let method = if symmetric { Method::Cg } else { Method::Gmres };
        for precond in [Precond::Amg, Precond::Ilu, Precond::Jacobi] {
            let mut options = Options { block_size, ..options(method, precond) };
            options.amg.rank_rows = Some(100);
            if precond == Precond::Ilu && !symmetric {
                options.ilu.overlap = 1;
            }
            let one = by_rows(&Whole(a.clone()), 3, &options, cpu).unwrap();
            let other = solved(&a, &options, cpu(), &crate::cpus(3, Partitioning::Blocks));
            let what = format!("{name} with {precond}, {block_size} a node");
            assert!(one.report.converged() && one.x == other.x, "{what}: {}", one.report);
            assert_eq!(one.report.outcome.history, other.report.outcome.history, "{what}");
            if let [Some(mine), Some(its)] = [&one.report, &other.report].map(|report| report.amg.clone()) {
                assert!(mine.set_up_together && mine.on_ranks > 0, "{what}");
                assert_eq!((mine.on_ranks, mine.levels.len()), (its.on_ranks, its.levels.len()), "{what}");
            }
        }
    }
}

#[test]
fn the_simulator_solves_by_rows() {
    let a = matrix("poisson2d:9");
    let sim = || Device::simulator().unwrap();
    let ranks = Arc::new(Ranks::threads(2, Partitioning::Blocks, move |_| Ok(sim())).unwrap());
    for precond in [Precond::Jacobi, Precond::Amg] {
        let mut options = options(Method::Cg, precond);
        (options.amg.coarse_rows, options.amg.rank_rows) = (20, Some(10));
        let one = by_rows(&Whole(a.clone()), 2, &options, sim).unwrap();
        let other = solved(&a, &options, sim(), &ranks);
        assert!(one.report.converged() && one.x == other.x, "{precond}: {}", one.report);
        assert!(one.report.ranks.unwrap().peer_memory);
    }
}

/// What was chosen for a matrix, and why.
fn chosen(a: Csr<f64>, size: usize) -> (Method, Precond, String) {
    let Solution { x, report } =
        by_rows(&Whole(Arc::new(a.clone())), size, &Options::default(), cpu).unwrap();
    assert!(report.converged(), "{report}");
    assert!(relative_residual(&a, &x, &rhs(a.n_rows())) <= 1.0001e-8);
    (report.method, report.precond, report.ranks.unwrap().choice.unwrap())
}

#[test]
fn what_nobody_named_follows_from_the_matrix() {
    let tet = matrix("tet:5");
    for size in [1, 3] {
        let (method, precond, why) = chosen((*tet).clone(), size);
        assert_eq!((method, precond), (Method::Cg, Precond::Amg));
        assert_eq!(why, "the matrix is symmetric, with a positive diagonal");
        // A difference within rounding is none.
        let rounded = changed(&tet, (70, 0), 1.0 + 1e-15);
        assert_eq!(chosen(rounded, size).0, Method::Cg);
        let (method, precond, why) = chosen(changed(&tet, (70, 0), 1.25), size);
        assert_eq!((method, precond), (Method::Gmres, Precond::Ilu));
        assert!(why.starts_with("the matrix is not symmetric: entry ("), "{why}");
        let negative = tet.map_values(|v| -v);
        assert!(chosen(negative, size).2.ends_with("but its diagonal is not all positive"));
    }
    // The first entry that has no mirror image, wherever ranks are cut.
    let a = changed(&matrix("convection-diffusion:6"), (0, 0), 1.0);
    let whole = a.is_symmetric(1e-12).to_string();
    for size in [1, 2, 3, 5] {
        assert_eq!(chosen(a.clone(), size).2, format!("the matrix is {whole}"), "{size}");
    }
}

/// The matrix with one of its entries, by its row and its place there, multiplied.
fn changed(a: &Csr<f64>, (row, k): (usize, usize), factor: f64) -> Csr<f64> {
    let mut a = a.clone();
    let place = a.row_ptr()[row] + k;
    a.values_mut()[place] *= factor;
    a
}

fn refused(a: Csr<f64>, options: &Options) -> String {
    by_rows(&Whole(Arc::new(a)), 3, options, cpu).unwrap_err().to_string()
}

#[test]
fn what_needs_the_whole_matrix_is_refused() {
    let a = || (*matrix("poisson2d:5")).clone();
    let cg = || options(Method::Cg, Precond::Amg);
    let mut greedy = cg();
    greedy.amg.setup = SetupOn::Host;
    for (options, what) in [
        (Options { reorder: Reorder::Rcm, ..cg() }, "another numbering of the unknowns needs"),
        (Options { scaling: Scale::Ruiz, ..cg() }, "scaling needs"),
        (Options { permute: Permute::Matching, ..cg() }, "a permutation of the rows needs"),
        (Options { method: Some(Method::Direct), ..Options::default() }, "the method direct needs"),
        (Options { precond: Some(Precond::Schur), ..Options::default() }, "the preconditioner schur needs"),
        (Options { reusable: true, ..cg() }, "a hierarchy that takes new values needs"),
        (greedy, "--amg setup=host"),
    ] {
        let error = refused(a(), &options);
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn a_singular_system_is_kept_out_of_its_null_space() {
    // A chain whose rows add up to 0.
    let degree = |i: usize| if i == 0 || i == 22 { 1.0 } else { 2.0 };
    let mut chain: Vec<_> = (0..23).map(|i| (i, i, degree(i))).collect();
    (1..23).for_each(|i| chain.extend([(i, i - 1, -1.0), (i - 1, i, -1.0)]));
    let a = Arc::new(Csr::from_triplets(23, 23, chain).unwrap());
    for (size, precond) in [(1, Precond::Jacobi), (3, Precond::Jacobi), (3, Precond::Amg)] {
        let way = options(Method::Cg, precond);
        let Solution { x, report } = by_rows(&Whole(a.clone()), size, &way, cpu).unwrap();
        let other = solved(&a, &way, cpu(), &crate::cpus(size, Partitioning::Blocks));
        assert!(report.converged() && report.projected, "{report}");
        assert_eq!(report.warnings.len(), 1);
        assert_eq!(report.warnings[0].to_string(), other.report.warnings[0].to_string());
        assert!(x.iter().sum::<f64>().abs() < 1e-10);
        let is_near = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-5 * (1.0 + y.abs());
        assert!(x.iter().zip(&other.x).all(is_near), "{precond} on {size}");
    }
}

#[test]
fn faults_name_the_row_of_the_whole_matrix() {
    let a = matrix("poisson2d:5");
    let jacobi = options(Method::Cg, Precond::Jacobi);
    // The diagonal entry of row 21, which the last rank has.
    let diagonal = a.row(20).0.iter().position(|&j| j == 20).unwrap();
    let error = refused(changed(&a, (20, diagonal), 0.0), &jacobi);
    assert_eq!(error, "row 21: the diagonal entry is zero, and jacobi divides by it");
    let error = refused(changed(&a, (20, diagonal), f64::NAN), &jacobi);
    assert_eq!(
        error,
        "rank 2: matrix entry is NaN at row 21, column 21; every entry must be a finite number"
    );
    let narrow = Csr::from_triplets(25, 24, (0..24).map(|i| (i, i, 1.0))).unwrap();
    let error = refused(narrow, &jacobi);
    assert!(error.contains("the matrix is 25 x 24; solving needs as many rows as columns"), "{error}");
}

/// A source that fails for the rows of a rank.
struct Broken(Whole);

impl RowSource for Broken {
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }
    fn lengths(&self, rows: Range<usize>) -> Result<Vec<usize>> {
        self.0.lengths(rows)
    }
    fn rows(&self, rows: Range<usize>) -> Result<Csr<f64>> {
        if rows.contains(&20) {
            return Err(Error::Option("the disk is gone".into()));
        }
        self.0.rows(rows)
    }
}

#[test]
fn a_rank_without_its_rows_ends_all() {
    let source = Broken(Whole(matrix("poisson2d:5")));
    let error = by_rows(&source, 3, &Options::default(), cpu).unwrap_err().to_string();
    assert_eq!(error, "rank 2: the disk is gone");
}

/// What ranks say of which each has rows of the source, and options, that `given` gives it.
fn said(given: impl Fn(usize) -> (Box<dyn RowSource>, Options) + Sync) -> String {
    let on_rank = |comm: &Arc<dyn Comm>| {
        let (source, options) = given(comm.rank());
        let a = own_rows(&**comm, &cpu(), &*source, 1)?;
        Solver::new(comm, &cpu(), a, &options).map(drop)
    };
    together(3, on_rank, on_rank).unwrap_err().to_string()
}

#[test]
fn ranks_that_were_given_other_options_or_files_are_named() {
    let poisson = |size: usize| Box::new(Whole(matrix(&format!("poisson2d:{size}"))));
    let way = |rank: usize| {
        let mut way = options(Method::Cg, Precond::Amg);
        if rank == 1 {
            way.stop.rtol = 1e-6;
            way.amg.pre = 3;
        }
        way
    };
    let error = said(|rank| (poisson(5), way(rank)));
    assert!(
        error.starts_with("rank 1: amg.pre is 3 here, and 1 on rank 0; rtol is 1e-6 here, and 1e-8 on"),
        "{error}"
    );
    let error = said(|rank| (poisson(5 + rank / 2), Options::default()));
    assert!(
        error.starts_with("rank 2: the matrix is one of 36 rows here, and one of 25 rows on rank 0"),
        "{error}"
    );

    // Of the same sizes.
    let folder = tempfile::tempdir().unwrap();
    let path = |rank: usize, kind: &str| folder.path().join(format!("{}.{kind}", rank / 2));
    for rank in [0, 2] {
        let a = changed(&matrix("poisson2d:5"), (12, 1), 2.0 + rank as f64);
        for kind in ["wsm", "mtx"] {
            write_matrix(&path(rank, kind), &a, "").unwrap();
        }
    }
    let error = said(|rank| (Box::new(RowFile::open(&path(rank, "wsm")).unwrap()), Options::default()));
    assert!(error.starts_with("rank 2: the matrix is 25 x 25 with 105 entries and checksum"), "{error}");
    let on_rank =
        |comm: &Arc<dyn Comm>| MarketRows::read(&**comm, &cpu(), &path(comm.rank(), "mtx"), 1).map(drop);
    let error = together(3, on_rank, on_rank).unwrap_err().to_string();
    assert!(error.starts_with("rank 2: the matrix is 25 x 25 in"), "{error}");
}

#[test]
fn ranks_may_have_no_rows() {
    let a = matrix("poisson2d:2");
    for options in
        [Options::default(), options(Method::Cg, Precond::Ilu), options(Method::Gmres, Precond::Jacobi)]
    {
        let Solution { x, report } = by_rows(&Whole(a.clone()), 7, &options, cpu).unwrap();
        assert!(report.converged() && report.ranks.unwrap().quality.least_rows == 0);
        assert!(relative_residual(&a, &x, &rhs(4)) <= 1.0001e-8);
    }
    let none = Whole(Arc::new(Csr::from_triplets(0, 0, []).unwrap()));
    assert!(by_rows(&none, 2, &Options::default(), cpu).unwrap().report.converged());
}

#[test]
fn a_solve_can_be_cancelled() {
    let source = Rows::of(&"poisson2d:40".parse().unwrap(), 1).unwrap();
    let stop = Stop { rtol: 1e-14, ..Stop::default() };
    let options = Options { stop, ..options(Method::Cg, Precond::None) };
    let on_rank = |comm: &Arc<dyn Comm>| {
        let device = cpu();
        let a = own_rows(&**comm, &device, &source, 1)?;
        let (token, is_first) = (CancellationToken::new(), comm.rank() == 0);
        let cancel = token.clone();
        let tell = move |stage: Stage| {
            if is_first && matches!(stage, Stage::Iteration { iterations, .. } if iterations >= 5) {
                cancel.cancel();
            }
        };
        let mut solver = Solver::new(comm, &device, a, &options)?.cancellation(token).on_progress(tell);
        let report = solver.solve(&vec![1.0; solver.rows().len()])?.report;
        assert_eq!(report.outcome.reason, StopReason::Interrupted);
        assert!(report.outcome.iterations < 20);
        Ok(())
    };
    together(3, on_rank, on_rank).unwrap();
}

#[test]
fn one_solver_serves_many_right_hand_sides() {
    let source = Rows::of(&"poisson2d:20".parse().unwrap(), 1).unwrap();
    let on_rank = |comm: &Arc<dyn Comm>| {
        let device = cpu();
        let own = own_rows(&**comm, &device, &source, 1)?;
        let mut solver = Solver::new(comm, &device, own, &Options::default())?;
        // One that f32 does not hold is divided first: the hierarchy stays in f32.
        for scale in [1.0, 1e50, 1.0] {
            let b: Vec<f64> = rhs(400).iter().map(|b| scale * b).collect();
            let report = solver.solve(&b[solver.rows()])?.report;
            assert!(report.converged(), "{report}");
            assert_eq!(report.amg.map(|info| info.precision), (comm.rank() == 0).then_some("f32"));
        }
        let error = solver.solve(&[1.0]).unwrap_err().to_string();
        assert!(error.contains("has 1 entries, but the matrix has"), "{error}");
        Ok(())
    };
    together(3, on_rank, on_rank).unwrap();
}
