//! The set-up of multigrid on the CPU: each phase on the finest level, and whole hierarchies.
//!
//! ```sh
//! cargo bench -p warpsolve-host --features internals --bench setup             # criterion, tet:32
//! cargo bench -p warpsolve-host --features internals --bench setup -- --table  # phases, tet:96
//! ```
//!
//! `WARPSOLVE_SIZE` sets another size, `WARPSOLVE_THREADS` another number of threads than one for each core,
//! and for the table `WARPSOLVE_REPEAT` how many set-ups of each kind (7), of which it has the shortest
//! times. On a machine that others use too the last column is the one to compare: the time that all threads
//! together were computing.

use std::sync::Arc;
use std::time::Instant;

use criterion::Criterion;
use warpsolve_host::backend::cpu::{Cpu, CpuMatrix};
use warpsolve_host::matrix::Csr;
use warpsolve_host::precond::Preconditioner;
use warpsolve_host::precond::amg::spectrum::diagonal;
use warpsolve_host::precond::amg::{Coarsening, Hierarchies, Info, Params};
use warpsolve_host::problem;
use warpsolve_host::setup::{
    Aggregation, Blocks, Formats, IndependentSets, Interpolation, SparseProducts, Strength,
    StrengthOfConnection, Transposes, Truncation,
};

const COARSENINGS: [Coarsening; 3] =
    [Coarsening::SmoothedAggregation, Coarsening::Pmis, Coarsening::MandelBrezina];

/// A number from the environment.
fn number(name: &str, default: usize) -> usize {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")),
        Err(_) => default,
    }
}

/// All that a solve by CG sets up: the matrix in diagonal runs, and a hierarchy in f32.
fn hierarchy(
    cpu: &Cpu,
    a: &Arc<Csr<f64>>,
    coarsening: Coarsening,
) -> (CpuMatrix<f64>, Box<dyn Preconditioner<f64, Cpu>>, Info) {
    let params = Params { coarsening, ..Params::default() };
    let csr = Blocks::scalar(a.clone());
    let matrix = Hierarchies::operator(cpu, &csr).expect("memory for a copy");
    let (amg, info) =
        cpu.amg(csr, Some(&matrix), &params, None, true).expect("the matrix is positive definite");
    (matrix, amg, info)
}

fn phases(cpu: &Cpu, a: &Arc<Csr<f64>>, c: &mut Criterion) {
    let in_range = "sizes agree";
    let params = Params::default();
    let classical = Strength::Classical { theta: 0.25 };
    let symmetric = Strength::Symmetric { epsilon: 0.003, lumped: true };
    let truncation = Truncation { max_entries: 4, factor: 0.0 };
    let blocks = Blocks::scalar(a.clone());

    let filtered = cpu.strength(a, symmetric).expect(in_range);
    let roots = cpu.independent_set(&filtered, None, 2, false, None).expect(in_range);
    let (aggregates, count) = cpu.aggregate(&filtered, &roots).expect(in_range);
    let interpolation = || {
        let tentative: Arc<Csr<f64>> = cpu.tentative(&aggregates, count)?;
        let mut smoothed = filtered.clone();
        cpu.damp(&mut smoothed, 0.7, None)?;
        cpu.product(&smoothed, &tentative)
    };
    let p = interpolation().expect(in_range);
    let r = cpu.transpose(&p).expect(in_range);
    let ap = cpu.product(a, &p).expect(in_range);
    let s = cpu.strength(a, classical).expect(in_range);
    let st = cpu.transpose(&s).expect(in_range);
    let coarse = cpu.independent_set(&s, Some(&st), 1, false, None).expect(in_range);

    let mut group = c.benchmark_group("set-up");
    group.sample_size(20);
    group.bench_function("diagonal and spectral radius", |b| {
        b.iter(|| diagonal(cpu, &blocks, None, &params, true))
    });
    group.bench_function("strength, symmetric", |b| b.iter(|| cpu.strength(a, symmetric)));
    group.bench_function("independent set, distance 2", |b| {
        b.iter(|| cpu.independent_set(&filtered, None, 2, false, None))
    });
    group.bench_function("aggregates", |b| b.iter(|| cpu.aggregate(&filtered, &roots)));
    group.bench_function("interpolation, smoothed aggregation", |b| b.iter(interpolation));
    group.bench_function("transpose of P", |b| b.iter(|| cpu.transpose(&p)));
    group.bench_function("A P", |b| b.iter(|| cpu.product(a, &p)));
    group.bench_function("R (A P)", |b| b.iter(|| cpu.product(&r, &ap)));
    group.bench_function("formats", |b| {
        b.iter(|| {
            [&blocks, &Blocks::scalar(p.clone()), &Blocks::scalar(r.clone())]
                .map(|m| Formats::<f64, f32>::operator(cpu, m))
        })
    });
    group.bench_function("strength, classical", |b| b.iter(|| cpu.strength(a, classical)));
    group.bench_function("independent set, PMIS", |b| {
        b.iter(|| cpu.independent_set(&s, Some(&st), 1, false, None))
    });
    group.bench_function("interpolation, extended+i", |b| {
        b.iter(|| cpu.extended_i(a, &s, &coarse, truncation))
    });
    for coarsening in COARSENINGS {
        group.bench_function(format!("whole, {coarsening}"), |b| b.iter(|| hierarchy(cpu, a, coarsening)));
    }
    group.finish();
}

/// Milliseconds that the threads of this process have been computing.
fn computing() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanoseconds = |text: String| text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok());
    let of = |thread: std::fs::DirEntry| {
        std::fs::read_to_string(thread.path().join("schedstat")).ok().and_then(nanoseconds)
    };
    threads.filter_map(of).sum::<f64>() * 1e-6
}

/// Prints the shortest time of every phase, and of the whole, in milliseconds.
fn table(cpu: &Cpu, a: &Arc<Csr<f64>>, repeat: usize) {
    println!("{} rows, {} nonzeros, {} threads, ms", a.n_rows(), a.nnz(), cpu.threads());
    for coarsening in COARSENINGS {
        let mut shortest: Vec<(&str, f64)> = Vec::new();
        for _ in 0..repeat {
            let (start, before) = (Instant::now(), computing());
            let (_matrix, _amg, info) = hierarchy(cpu, a, coarsening);
            let whole =
                [("whole", start.elapsed().as_secs_f64()), ("computing", 1e-3 * (computing() - before))];
            for (phase, seconds) in info.phases.iter().chain(whole) {
                match shortest.iter_mut().find(|(name, _)| *name == phase) {
                    Some((_, least)) => *least = least.min(seconds),
                    None => shortest.push((phase, seconds)),
                }
            }
        }
        println!("{coarsening}");
        shortest.iter().for_each(|(phase, seconds)| println!("    {phase:18} {:7.1}", 1e3 * seconds));
    }
}

fn main() {
    let is_table = std::env::args().any(|argument| argument == "--table");
    let cpu = Cpu::new(number("WARPSOLVE_THREADS", 0)).expect("not many more than cores");
    let a = Arc::new(problem::tet(number("WARPSOLVE_SIZE", if is_table { 96 } else { 32 }), 0));
    // As a solve does, all runs on the backend's threads: waking them is not part of a phase.
    cpu.install(|| {
        if is_table {
            return table(&cpu, &a, number("WARPSOLVE_REPEAT", 7));
        }
        let mut criterion = Criterion::default().configure_from_args();
        phases(&cpu, &a, &mut criterion);
        criterion.final_summary();
    });
}
