//! Solves on teams of threads, judged by the residual recomputed here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use warpsolve::backend::cpu::Cpu;
use warpsolve::backend::gpu::Gpu;
use warpsolve::comm::{Comm, OneProcess, Partitioning, Team};
use warpsolve::job::ranks::Info;
use warpsolve::job::{CancellationToken, Device, Method, Options, Precision, Precond, Ranks, Solution};
use warpsolve::job::{Solver, Stage, relative_residual, solve};
use warpsolve::launch::sim::Sim;
use warpsolve::matrix::Csr;
use warpsolve::precond::amg::{self, Coarsening, Cycle, NearNull, SmootherKind};
use warpsolve::problem::{Problem, generate};
use warpsolve::solver::{Stop, StopReason};
use warpsolve::{Error, Result};

mod by_rows;
mod overlap;

fn cpu() -> Device {
    Device::Cpu(Cpu::new(1).unwrap())
}

fn cpus(size: usize, partitioning: Partitioning) -> Arc<Ranks> {
    Arc::new(Ranks::threads(size, partitioning, |_| Ok(cpu())).unwrap())
}

fn matrix(name: &str) -> Arc<Csr<f64>> {
    Arc::new(generate(&name.parse().unwrap(), 1).unwrap())
}

fn rhs(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.5 + (i % 17) as f64 / 3.0).collect()
}

fn solved(a: &Arc<Csr<f64>>, options: &Options, device: Device, ranks: &Arc<Ranks>) -> Solution {
    let builder = Solver::builder().options(options.clone()).device(device).ranks(ranks.clone());
    builder.solve(a.clone(), &rhs(a.n_rows())).unwrap()
}

fn options(method: Method, precond: Precond) -> Options {
    Options { method: Some(method), precond: Some(precond), ..Options::default() }
}

/// Every method and preconditioner that there is.
fn ways() -> Vec<Options> {
    let mut ways: Vec<Options> = [
        (Method::Cg, Precond::None),
        (Method::Cg, Precond::Jacobi),
        (Method::Cg, Precond::JacobiSweeps),
        (Method::Cg, Precond::Ilu),
        (Method::Cg, Precond::Amg),
        (Method::Cg, Precond::Direct),
        (Method::Bicgstab, Precond::Jacobi),
        (Method::Bicgstab, Precond::Ilu),
        (Method::Gmres, Precond::Jacobi),
        (Method::Gmres, Precond::Amg),
        (Method::Amg, Precond::Amg),
        (Method::Direct, Precond::None),
    ]
    .map(|(method, precond)| options(method, precond))
    .into();
    ways.push(Options { precision: Precision::F32, ..options(Method::Cg, Precond::Jacobi) });
    ways.push(Options { restart: 7, ..options(Method::Gmres, Precond::Ilu) });
    ways.push(Options {
        stop: Stop { rtol: 1e-2, ..Stop::default() },
        ..Options { method: Some(Method::Jacobi), ..Options::default() }
    });
    ways.push(Options::default());
    for way in &mut ways {
        if way.precision == Precision::F32 {
            way.stop.rtol = 1e-5;
        }
        way.amg.coarse_rows = 30;
    }
    ways
}

#[test]
fn every_way_solves_on_every_number_of_ranks() {
    let a = matrix("poisson2d:13");
    for size in [2, 3, 5, 7] {
        let ranks = cpus(size, Partitioning::Blocks);
        for options in ways() {
            let alone = solve(a.clone(), &rhs(a.n_rows()), &options, &cpu()).unwrap().report;
            let Solution { x, report } = solved(&a, &options, cpu(), &ranks);
            let what = format!("{size} ranks, {} with {}", report.method, report.precond);
            assert!(report.converged(), "{what}: {report}");
            let residual = relative_residual(&a, &x, &rhs(a.n_rows()));
            assert!(residual <= 1.0001 * options.stop.rtol, "{what}: {residual}");
            // What does not depend on the number of ranks takes as many iterations, to rounding.
            let (mine, its) = (report.outcome.iterations, alone.outcome.iterations);
            let is_of_rows = [Precond::Ilu, Precond::Direct].contains(&report.precond);
            if !is_of_rows && report.method == alone.method {
                assert!(mine.abs_diff(its) <= 1, "{what}: {mine} and {its}");
            }
            if report.method != Method::Direct {
                let info = report.ranks.unwrap();
                assert_eq!((info.ranks, info.partition.as_str()), (size, "blocks"));
                assert!(info.exchanges > 0 && info.exchanged_bytes > 0 && info.reductions > 0, "{info:?}");
            }
        }
    }
}

#[test]
fn the_same_ranks_give_the_same_bits() {
    let a = matrix("tet:9");
    for (precond, partitioning) in
        [(Precond::Jacobi, Partitioning::Rcm), (Precond::Ilu, Partitioning::Blocks)]
    {
        let run = || solved(&a, &options(Method::Cg, precond), cpu(), &cpus(3, partitioning.clone()));
        let (first, second) = (run(), run());
        assert_eq!(first.x, second.x);
        assert_eq!(first.report.outcome.history, second.report.outcome.history);
    }
}

#[test]
fn the_simulator_runs_on_ranks() {
    let a = matrix("poisson2d:9");
    let sim = || Device::simulator();
    let ranks = Arc::new(Ranks::threads(2, Partitioning::Blocks, move |_| sim()).unwrap());
    for (method, precond) in [
        (Method::Cg, Precond::Jacobi),
        (Method::Bicgstab, Precond::Ilu),
        (Method::Gmres, Precond::Jacobi),
        (Method::Jacobi, Precond::Jacobi),
        (Method::Cg, Precond::Amg),
    ] {
        let mut options = options(method, precond);
        options.amg.coarse_rows = 30;
        if method == Method::Jacobi {
            options.stop.rtol = 0.1;
        }
        let Solution { x, report } = solved(&a, &options, sim().unwrap(), &ranks);
        assert!(report.converged(), "{method}: {report}");
        assert!(relative_residual(&a, &x, &rhs(a.n_rows())) <= 1.0001 * options.stop.rtol, "{method}");
        let alone = solve(a.clone(), &rhs(a.n_rows()), &options, &sim().unwrap()).unwrap().report;
        if precond != Precond::Ilu {
            assert!(report.outcome.iterations.abs_diff(alone.outcome.iterations) <= 1, "{method}");
        }
    }
}

/// A rank of a team that does not let on that the ranks are of one process.
struct Apart(Team);

impl Comm for Apart {
    fn rank(&self) -> usize {
        self.0.rank()
    }
    fn size(&self) -> usize {
        self.0.size()
    }
    fn send(&self, to: usize, message: &[u8]) -> Result<()> {
        self.0.send(to, message)
    }
    fn receive(&self, from: usize) -> Result<Vec<u8>> {
        self.0.receive(from)
    }
    fn exchange(&self, sends: &[(usize, &[u8])], receives: &mut [(usize, &mut [u8])]) -> Result<()> {
        self.0.exchange(sends, receives)
    }
    fn all_gather(&self, mine: &[f64]) -> Result<Vec<f64>> {
        self.0.all_gather(mine)
    }
    fn broadcast(&self, message: &mut Vec<u8>) -> Result<()> {
        self.0.broadcast(message)
    }
    fn fail(&self, why: &str) {
        self.0.fail(why);
    }
}

/// Simulators that report races, and reads of what nobody wrote.
fn strict() -> Device {
    Device::Gpu(Gpu::new(Arc::new(Sim::strict())).unwrap())
}

/// How ranks come by what others have.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// Their devices write each other's memory, of one process.
    Threads,
    /// The same, of memory that they import as processes do.
    Processes,
    /// They have one device, and exchange through the host.
    Host,
}

/// Ranks with a simulator each, or one for all, and the device of the first.
fn simulators(
    size: usize,
    partitioning: Partitioning,
    device: fn() -> Device,
    way: Way,
) -> (Arc<Ranks>, Device) {
    let comm = |team: Team| match way {
        Way::Threads => Arc::new(team) as Arc<dyn Comm>,
        Way::Processes | Way::Host => Arc::new(Apart(team)),
    };
    let team = Team::new(size).into_iter().map(comm).collect();
    let first = device();
    let of_all = first.clone();
    let open = move |_| Ok(if way == Way::Host { of_all.clone() } else { device() });
    (Arc::new(Ranks::of_team(team, partitioning, open).unwrap()), first)
}

#[test]
fn peer_memory_gives_the_bits_of_the_way_through_the_host() {
    let a = matrix("poisson2d:9");
    let sim = || Device::simulator().unwrap();
    for size in [2, 5] {
        let ways = [Way::Threads, Way::Processes, Way::Host];
        let [threads, processes, host] = ways.map(|way| simulators(size, Partitioning::Rcm, sim, way));
        for (method, precond, precision) in [
            (Method::Cg, Precond::Jacobi, Precision::F64),
            (Method::Cg, Precond::Ilu, Precision::F64),
            (Method::Cg, Precond::None, Precision::F32),
            (Method::Bicgstab, Precond::Jacobi, Precision::F64),
            (Method::Gmres, Precond::Jacobi, Precision::F64),
            (Method::Jacobi, Precond::Jacobi, Precision::F64),
            (Method::Cg, Precond::Amg, Precision::F64),
        ] {
            let mut options = Options { precision, restart: 7, ..options(method, precond) };
            options.amg.coarse_rows = 30;
            options.stop.rtol = match (method, precision) {
                (Method::Jacobi, _) => 0.1,
                (_, Precision::F32) => 1e-5,
                _ => 1e-8,
            };
            let solved = |(ranks, device): &(Arc<Ranks>, Device)| solved(&a, &options, device.clone(), ranks);
            let expected = solved(&host);
            let what = format!("{method} with {precond} on {size}");
            assert!(expected.report.converged(), "{what}: {}", expected.report);
            let counts = |info: &Info| (info.exchanges, info.exchanged_bytes, info.reductions);
            let info = expected.report.ranks.unwrap();
            assert!(!info.peer_memory, "{what}");
            for ranks in [&threads, &processes] {
                let Solution { x, report } = solved(ranks);
                assert_eq!(x, expected.x, "{what}");
                assert_eq!(report.outcome.history, expected.report.outcome.history, "{what}");
                let found = report.ranks.unwrap();
                assert!(found.peer_memory, "{what}");
                assert_eq!(counts(&found), counts(&info), "{what}");
            }
        }
    }
}

#[test]
fn peer_memory_is_free_of_races() {
    let a = matrix("tet:4");
    for way in [Way::Threads, Way::Processes] {
        let (ranks, device) = simulators(3, Partitioning::Blocks, strict, way);
        for method in [Method::Cg, Method::Bicgstab, Method::Gmres] {
            let options = options(method, Precond::Jacobi);
            let Solution { x, report } = solved(&a, &options, device.clone(), &ranks);
            assert!(report.converged() && report.ranks.as_ref().unwrap().peer_memory, "{report}");
            assert!(relative_residual(&a, &x, &rhs(a.n_rows())) <= 1.0001e-8);
        }
    }
}

#[test]
fn peers_may_have_no_rows_and_send_without_receiving() {
    // Row i has an entry in column i - 1 alone: what is sent goes one way.
    let n = 12;
    let lower = (0..n).flat_map(|i| {
        std::iter::once((i, i, 2.0)).chain((i > 0).then(|| (i, i - 1, -0.5 - i as f64 / 40.0)))
    });
    let a = Arc::new(Csr::from_triplets(n, n, lower.collect::<Vec<_>>()).unwrap());
    let sim = || Device::simulator().unwrap();
    for size in [2, 5, 14] {
        let (ranks, device) = simulators(size, Partitioning::Blocks, sim, Way::Threads);
        for method in [Method::Bicgstab, Method::Gmres] {
            let Solution { x, report } =
                solved(&a, &options(method, Precond::Jacobi), device.clone(), &ranks);
            assert!(report.converged() && report.ranks.unwrap().peer_memory, "{size} {method}");
            assert!(relative_residual(&a, &x, &rhs(n)) <= 1.0001e-8, "{size} {method}");
        }
    }
}

#[test]
fn ranks_on_one_device_exchange_through_the_host() {
    let a = matrix("poisson2d:7");
    let device = Device::simulator().unwrap();
    let its = device.clone();
    let ranks = Arc::new(Ranks::threads(2, Partitioning::Blocks, move |_| Ok(its.clone())).unwrap());
    let report = solved(&a, &options(Method::Cg, Precond::Jacobi), device, &ranks).report;
    assert!(report.converged() && !report.ranks.unwrap().peer_memory);
    // And where one of them has no device.
    let ranks = Arc::new(Ranks::threads(2, Partitioning::Blocks, |_| Ok(cpu())).unwrap());
    let report =
        solved(&a, &options(Method::Cg, Precond::Jacobi), Device::simulator().unwrap(), &ranks).report;
    assert!(report.converged() && !report.ranks.unwrap().peer_memory);
}

#[test]
fn blocks_stay_together() {
    let a = matrix("bidomain:5");
    for device in [cpu as fn() -> Device, || Device::simulator().unwrap()] {
        let ranks = Arc::new(Ranks::threads(3, Partitioning::Blocks, move |_| Ok(device())).unwrap());
        for (method, precond) in
            [(Method::Cg, Precond::Jacobi), (Method::Cg, Precond::Amg), (Method::Jacobi, Precond::Jacobi)]
        {
            let mut options = Options { block_size: 2, ..options(method, precond) };
            if method == Method::Jacobi {
                options.stop = Stop { rtol: 0.5, max_iterations: 200, ..options.stop };
            }
            let report = solved(&a, &options, device(), &ranks).report;
            let alone = solve(a.clone(), &rhs(a.n_rows()), &options, &device()).unwrap().report;
            assert_eq!(report.outcome.reason, alone.outcome.reason, "{method} {precond}");
            assert!(report.outcome.iterations.abs_diff(alone.outcome.iterations) <= 2, "{method} {precond}");
        }
    }
}

#[test]
fn ranks_without_rows_and_without_neighbours() {
    // Three parts that have nothing to do with each other, and more ranks than rows.
    let parts = [4, 1, 2];
    let n: usize = parts.iter().sum();
    let mut triplets = Vec::new();
    let mut first = 0;
    for size in parts {
        for i in 0..size {
            triplets.push((first + i, first + i, 2.5));
            if i + 1 < size {
                triplets.extend([(first + i, first + i + 1, -1.0), (first + i + 1, first + i, -1.0)]);
            }
        }
        first += size;
    }
    let a = Arc::new(Csr::from_triplets(n, n, triplets).unwrap());
    let apart = Partitioning::Given(Arc::new(vec![2, 2, 2, 2, 0, 3, 3]));
    for (size, how) in [(4, apart), (11, Partitioning::Blocks), (11, Partitioning::Rcm)] {
        let ranks = cpus(size, how.clone());
        for options in ways() {
            if options.precision == Precision::F64 {
                let Solution { x, report } = solved(&a, &options, cpu(), &ranks);
                assert!(report.converged(), "{size} {how}: {report}");
                assert!(relative_residual(&a, &x, &rhs(n)) <= 1.0001 * options.stop.rtol);
                if let (Some(info), 4) = (report.ranks, size) {
                    assert_eq!((info.quality.cut, info.quality.neighbours), (0, 0));
                    assert_eq!(info.quality.least_rows, 0);
                    // A matrix that is its own coarsest level is solved on rank 0.
                    assert_eq!(info.exchanges == 0, options.precond != Some(Precond::Amg), "{options:?}");
                }
            }
        }
    }
    let none = Arc::new(Csr::from_triplets(0, 0, []).unwrap());
    assert!(solved(&none, &Options::default(), cpu(), &cpus(2, Partitioning::Blocks)).report.converged());
}

#[test]
fn a_singular_system_is_kept_out_of_its_null_space() {
    // A chain whose rows sum to 0.
    let n = 23;
    let degree = |i: usize| if i == 0 || i + 1 == n { 1.0 } else { 2.0 };
    let mut triplets: Vec<_> = (0..n).map(|i| (i, i, degree(i))).collect();
    (1..n).for_each(|i| triplets.extend([(i, i - 1, -1.0), (i - 1, i, -1.0)]));
    let a = Arc::new(Csr::from_triplets(n, n, triplets).unwrap());
    for precond in [Precond::Jacobi, Precond::Amg] {
        let alone = solve(a.clone(), &rhs(n), &options(Method::Cg, precond), &cpu()).unwrap();
        let Solution { x, report } =
            solved(&a, &options(Method::Cg, precond), cpu(), &cpus(3, Partitioning::Blocks));
        assert!(report.converged() && report.projected);
        assert!(x.iter().zip(&alone.x).all(|(x, y)| (x - y).abs() < 1e-5 * (1.0 + y.abs())), "{precond}");
    }
}

#[test]
fn one_solver_serves_many_right_hand_sides_and_values() {
    let a = matrix("poisson2d:9");
    let ranks = cpus(3, Partitioning::Blocks);
    let builder = || Solver::builder().method(Method::Cg).device(cpu()).ranks(ranks.clone());
    let (mut one, mut other) = (builder().build(&*a).unwrap(), builder().build(&*matrix("tet:4")).unwrap());
    let mut x = one.solve(&rhs(81)).unwrap().x;
    assert!(other.solve(&rhs(48)).unwrap().report.converged());
    assert!(one.solve_into(&rhs(81), &mut x).unwrap().outcome.iterations <= 1);
    let doubled = a.map_values(|v| 2.0 * v);
    one.update_values(&doubled).unwrap();
    let y = one.solve(&rhs(81)).unwrap().x;
    assert!(relative_residual(&doubled, &y, &rhs(81)) <= 1.0001e-8);
}

#[test]
fn a_solve_can_be_cancelled() {
    let a = matrix("poisson2d:40");
    let token = CancellationToken::new();
    let cancel = token.clone();
    let stop = Stop { rtol: 1e-14, ..Stop::default() };
    let report = Solver::builder()
        .options(Options { stop, ..options(Method::Cg, Precond::None) })
        .device(cpu())
        .ranks(cpus(3, Partitioning::Blocks))
        .cancellation(token)
        .on_progress(move |stage| {
            if matches!(stage, Stage::Iteration { iterations, .. } if iterations >= 5) {
                cancel.cancel();
            }
        })
        .solve(a.clone(), &rhs(a.n_rows()))
        .unwrap()
        .report;
    assert_eq!(report.outcome.reason, StopReason::Interrupted);
    assert!(report.outcome.iterations < 20);
}

#[test]
fn errors_name_the_rank_and_what_can_be_done_goes_on() {
    let no_device = |rank| match rank {
        2 => Err(Error::NoDevice("there are 2".into())),
        _ => Ok(cpu()),
    };
    let error = Ranks::threads(3, Partitioning::Blocks, no_device).err().unwrap();
    assert_eq!(error.to_string(), "rank 2: no GPU: there are 2");

    let a = matrix("poisson2d:5");
    let ranks = cpus(2, Partitioning::Given(Arc::new(vec![0; 3])));
    let builder = Solver::builder().method(Method::Cg).device(cpu()).ranks(ranks);
    let error = builder.build(&*a).err().unwrap().to_string();
    assert!(error.contains("3 rows, but the matrix has 25"), "{error}");
}

/// A rank that panics when it has been asked for so many sums.
struct Failing {
    team: Team,
    left: AtomicUsize,
}

impl Comm for Failing {
    fn rank(&self) -> usize {
        self.team.rank()
    }
    fn size(&self) -> usize {
        self.team.size()
    }
    fn send(&self, to: usize, message: &[u8]) -> Result<()> {
        self.team.send(to, message)
    }
    fn receive(&self, from: usize) -> Result<Vec<u8>> {
        self.team.receive(from)
    }
    fn exchange(&self, sends: &[(usize, &[u8])], receives: &mut [(usize, &mut [u8])]) -> Result<()> {
        self.team.exchange(sends, receives)
    }
    fn all_gather(&self, mine: &[f64]) -> Result<Vec<f64>> {
        assert!(self.left.fetch_sub(1, Ordering::Relaxed) > 1, "the memory of this rank is broken");
        self.team.all_gather(mine)
    }
    fn broadcast(&self, message: &mut Vec<u8>) -> Result<()> {
        assert!(self.left.fetch_sub(1, Ordering::Relaxed) > 1, "the memory of this rank is broken");
        self.team.broadcast(message)
    }
    fn fail(&self, why: &str) {
        self.team.fail(why);
    }
    fn one_process(&self) -> Option<&dyn OneProcess> {
        Some(&self.team)
    }
}

#[test]
fn a_rank_that_panics_ends_all_with_its_name() {
    for (device, name) in
        [(cpu as fn() -> Device, "poisson2d:30"), (|| Device::simulator().unwrap(), "poisson2d:9")]
    {
        let a = matrix(name);
        for bad in [1, 2] {
            let comm = |team: Team| {
                let left = AtomicUsize::new(if team.rank() == bad { 25 } else { usize::MAX });
                Arc::new(Failing { team, left }) as Arc<dyn Comm>
            };
            let team = Team::new(3).into_iter().map(comm).collect();
            let ranks = Arc::new(Ranks::of_team(team, Partitioning::Blocks, move |_| Ok(device())).unwrap());
            let start = Instant::now();
            let builder = Solver::builder().method(Method::Cg).device(device()).ranks(ranks.clone());
            let error = builder.solve(a.clone(), &rhs(a.n_rows())).err().unwrap();
            assert_eq!(error.to_string(), format!("rank {bad}: the memory of this rank is broken"));
            drop(ranks);
            assert!(start.elapsed() < Duration::from_secs(10));
        }
    }
}

/// CG with multigrid of which every level that can be is on all ranks.
fn multigrid(coarsening: Coarsening) -> Options {
    let mut options = options(Method::Cg, Precond::Amg);
    (options.amg.coarsening, options.amg.coarse_rows, options.amg.rank_rows) = (coarsening, 12, Some(1));
    options
}

const COARSENINGS: [Coarsening; 3] =
    [Coarsening::SmoothedAggregation, Coarsening::Pmis, Coarsening::MandelBrezina];

#[test]
fn coarsenings_take_as_many_iterations_on_every_number_of_ranks() {
    for (name, rank_rows) in [("tet:10", 1), ("tet:9", 40), ("poisson2d:37", 1), ("poisson2d:23", 1000)] {
        let a = matrix(name);
        for coarsening in COARSENINGS {
            let mut options = multigrid(coarsening);
            options.amg.rank_rows = Some(rank_rows);
            let alone = solve(a.clone(), &rhs(a.n_rows()), &options, &cpu()).unwrap().report;
            for size in [2, 3, 5, 8] {
                let partitioning = if size == 3 { Partitioning::Rcm } else { Partitioning::Blocks };
                let Solution { x, report } = solved(&a, &options, cpu(), &cpus(size, partitioning));
                let what = format!("{name}, {coarsening}, {size} ranks: {report}");
                assert!(
                    report.converged() && relative_residual(&a, &x, &rhs(a.n_rows())) <= 1.0001e-8,
                    "{what}"
                );
                assert_eq!(report.outcome.iterations, alone.outcome.iterations, "{what}");
                let (hierarchy, on_one) = (report.amg.unwrap(), alone.amg.as_ref().unwrap());
                let sizes =
                    |info: &amg::Info| info.levels.iter().map(|l| (l.rows, l.nnz)).collect::<Vec<_>>();
                assert_eq!(sizes(&hierarchy), sizes(on_one), "{name}, {coarsening}, {size} ranks");
                assert!(hierarchy.set_up_together, "{name}, {coarsening}, {size} ranks");
                let rows = |l: usize| hierarchy.levels[l].rows;
                let shared =
                    (1..hierarchy.levels.len() - 1).take_while(|&l| rows(l) >= rank_rows * size).count();
                assert_eq!(hierarchy.on_ranks, 1 + shared, "{name}, {coarsening}, {size} ranks");
            }
        }
    }
}

/// The third level has 12 rows, of which the third of seven ranks has none.
#[test]
fn a_rank_may_have_nothing_of_a_level() {
    let sim = || Device::simulator().unwrap();
    let a = matrix("elasticity:3");
    let mut options = multigrid(Coarsening::Pmis);
    options.amg.coarse_rows = 10;
    let on_cpus = solved(&a, &options, cpu(), &cpus(7, Partitioning::Blocks)).report;
    let (ranks, device) = simulators(7, Partitioning::Blocks, sim, Way::Threads);
    let Solution { x, report } = solved(&a, &options, device, &ranks);
    assert!(relative_residual(&a, &x, &rhs(a.n_rows())) <= 1.0001e-8, "{report}");
    assert!(report.outcome.iterations.abs_diff(on_cpus.outcome.iterations) <= 2, "{report}");
    assert_eq!(report.amg.unwrap().on_ranks, 3);
}

#[cfg(feature = "metis")]
#[test]
fn metis_s_ranks_take_as_many_iterations() {
    use warpsolve::problem::shuffle;

    let a = Arc::new(shuffle(&matrix("tet:10"), 1, 3).unwrap());
    for options in [options(Method::Cg, Precond::Jacobi), multigrid(Coarsening::SmoothedAggregation)] {
        let alone = solve(a.clone(), &rhs(a.n_rows()), &options, &cpu()).unwrap().report;
        for size in [2, 3, 5, 8] {
            let [metis, blocks] = [Partitioning::Metis, Partitioning::Blocks].map(|how| {
                let Solution { x, report } = solved(&a, &options, cpu(), &cpus(size, how));
                assert!(relative_residual(&a, &x, &rhs(a.n_rows())) <= 1.0001e-8, "{size} ranks: {report}");
                let (mine, its) = (report.outcome.iterations, alone.outcome.iterations);
                let rounding = if report.precond == Precond::Amg { 0 } else { 1 };
                assert!(mine.abs_diff(its) <= rounding, "{size} ranks: {mine} and {its}");
                report.ranks.unwrap()
            });
            assert_eq!(metis.partition, "metis");
            assert!(3 * metis.quality.cut < blocks.quality.cut, "{metis:?}, {blocks:?}");
        }
    }
}

#[test]
fn every_cycle_and_smoother_runs_on_ranks() {
    let a = matrix("tet:9");
    let mut ways = Vec::new();
    for cycle in [Cycle::V, Cycle::W, Cycle::F, Cycle::K] {
        for (rank_rows, (pre, post)) in [(1, (1, 1)), (20, (2, 1)), (10_000, (0, 1))] {
            let mut way = multigrid(Coarsening::SmoothedAggregation);
            (way.amg.cycle, way.amg.rank_rows, way.amg.pre, way.amg.post) =
                (Some(cycle), Some(rank_rows), pre, post);
            if pre != post {
                way.method = Some(Method::Gmres);
            }
            ways.push(way);
        }
    }
    for smoother in [SmootherKind::Jacobi, SmootherKind::L1Jacobi, SmootherKind::Spai0, SmootherKind::Ilu] {
        let mut way = multigrid(Coarsening::Pmis);
        way.amg.smoother = smoother;
        ways.push(way);
    }
    for precision in [Precision::F32, Precision::F64] {
        let mut way = multigrid(Coarsening::SmoothedAggregation);
        way.precision = precision;
        way.amg_precision = Some(precision);
        way.stop.rtol = 1e-5;
        ways.push(way);
    }
    for options in ways {
        let alone = solve(a.clone(), &rhs(a.n_rows()), &options, &cpu()).unwrap().report;
        for size in [2, 5] {
            let report = solved(&a, &options, cpu(), &cpus(size, Partitioning::Blocks)).report;
            assert!(report.converged(), "{report}");
            assert_eq!(report.outcome.iterations, alone.outcome.iterations, "{:?}", options.amg);
            let all_on_root = options.amg.smoother == SmootherKind::Ilu;
            assert_eq!(report.amg.unwrap().on_ranks == 0, all_on_root);
        }
    }
}

#[test]
fn multigrid_of_blocks_and_in_the_simulator() {
    for (name, block_size) in [("bidomain:5", 2), ("tet:6", 1)] {
        let a = matrix(name);
        let mut options = Options { block_size, ..multigrid(Coarsening::SmoothedAggregation) };
        options.stop = Stop { rtol: 1e-6, max_iterations: 60, ..options.stop };
        for device in [cpu as fn() -> Device, || Device::simulator().unwrap()] {
            let alone = solve(a.clone(), &rhs(a.n_rows()), &options, &device()).unwrap().report;
            for size in [2, 3] {
                let how = Partitioning::Blocks;
                let ranks = Arc::new(Ranks::threads(size, how, move |_| Ok(device())).unwrap());
                let report = solved(&a, &options, device(), &ranks).report;
                assert_eq!(report.outcome.reason, alone.outcome.reason, "{name}: {report}");
                assert_eq!(report.outcome.iterations, alone.outcome.iterations, "{name}: {report}");
                assert!(report.amg.unwrap().on_ranks > 0);
            }
        }
    }
}

#[test]
fn multigrid_with_fewer_unknowns_than_ranks_and_in_parts() {
    // Chains that have nothing to do with each other; most of their coarse levels have fewer rows than ranks.
    let parts = [31, 1, 57, 2, 90];
    let n: usize = parts.iter().sum();
    let mut triplets = Vec::new();
    let mut first = 0;
    for size in parts {
        for i in first..first + size {
            triplets.push((i, i, 2.001));
            if i + 1 < first + size {
                triplets.extend([(i, i + 1, -1.0), (i + 1, i, -1.0)]);
            }
        }
        first += size;
    }
    let a = Arc::new(Csr::from_triplets(n, n, triplets).unwrap());
    // Ranks 1 and 4 have nothing; rows go round the others.
    let scattered =
        Partitioning::Given(Arc::new((0..n as u32).map(|i| [0, 2, 3, 5][i as usize % 4]).collect()));
    for coarsening in COARSENINGS {
        let mut options = multigrid(coarsening);
        options.amg.coarse_rows = 1;
        let alone = solve(a.clone(), &rhs(n), &options, &cpu()).unwrap().report;
        for (size, how) in [(6, scattered.clone()), (40, Partitioning::Blocks), (3, Partitioning::Rcm)] {
            let Solution { x, report } = solved(&a, &options, cpu(), &cpus(size, how));
            assert!(report.converged(), "{coarsening}, {size} ranks: {report}");
            assert!(relative_residual(&a, &x, &rhs(n)) <= 1.0001e-8, "{coarsening}, {size} ranks");
            assert_eq!(report.outcome.iterations, alone.outcome.iterations, "{coarsening}, {size} ranks");
        }
    }
}

#[test]
fn near_null_vectors_go_through_ranks() {
    let a = matrix("poisson2d:21");
    let n = a.n_rows();
    let vectors = vec![vec![1.0; n], (0..n).map(|i| (i % 21) as f64 - 10.0).collect()];
    let near_null = NearNull::new(vectors, 1).unwrap();
    let mut options = multigrid(Coarsening::SmoothedAggregation);
    options.near_null = Some(Arc::new(near_null));
    let alone = solve(a.clone(), &rhs(n), &options, &cpu()).unwrap().report;
    for size in [2, 3, 8] {
        let report = solved(&a, &options, cpu(), &cpus(size, Partitioning::Blocks)).report;
        let hierarchy = report.amg.as_ref().unwrap();
        assert!(report.converged() && hierarchy.on_ranks > 1 && hierarchy.set_up_together, "{report}");
        assert_eq!(report.outcome.iterations, alone.outcome.iterations, "{report}");
    }
}

/// All unknowns of a node are on one rank, unless a partition says otherwise: then rank 0 sets up.
#[test]
fn nodes_of_elastic_bodies_stay_together() {
    let of: Problem = "elasticity:5".parse().unwrap();
    let a: Arc<Csr<f64>> = Arc::new(generate(&of, 1).unwrap());
    let n = a.n_rows();
    let motions = NearNull::rigid_motions(&of.coordinates(1, false).unwrap()).unwrap();
    let mut options = multigrid(Coarsening::SmoothedAggregation);
    options.near_null = Some(Arc::new(motions));
    let alone = solve(a.clone(), &rhs(n), &options, &cpu()).unwrap().report;
    let given =
        |per_node: usize| Partitioning::Given(Arc::new((0..n).map(|i| (i / per_node % 4) as u32).collect()));
    for (how, is_together) in
        [(Partitioning::Blocks, true), (Partitioning::Rcm, true), (given(3), true), (given(2), false)]
    {
        let report = solved(&a, &options, cpu(), &cpus(4, how.clone())).report;
        let hierarchy = report.amg.as_ref().unwrap();
        assert!(report.converged() && hierarchy.on_ranks > 0, "{how}: {report}");
        assert_eq!(hierarchy.set_up_together, is_together, "{how}");
        assert_eq!(report.outcome.iterations, alone.outcome.iterations, "{how}: {report}");
    }
}

#[test]
fn a_set_up_that_fails_on_rank_0_ends_that_attempt_on_all() {
    let ranks = cpus(3, Partitioning::Blocks);
    let a = matrix("bidomain:4");
    let mut refused = Options { block_size: 2, ..multigrid(Coarsening::SmoothedAggregation) };
    refused.amg.smoother = SmootherKind::Spai0;
    let builder = Solver::builder().options(refused).device(cpu()).ranks(ranks.clone());
    let error = builder.build(&*a).err().unwrap().to_string();
    assert!(error.contains("the smoother spai0 is not there for blocks"), "{error}");
    let a = matrix("tet:6");
    assert!(solved(&a, &multigrid(Coarsening::Pmis), cpu(), &ranks).report.converged());
}
