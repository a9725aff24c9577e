//! CG with algebraic multigrid: set-up by phase, solve and iterations, on systems that peers were measured
//! on.
//!
//! `cargo bench --bench amg -- [tet:96 tet:96+shuffled A.mtx ...] [key=value ...]`: on the first GPU, or else
//! on all cores. The matrix is there in CRS when the set-up starts; what the set-up takes includes the format
//! of the matrix itself. Medians of several set-ups and solves after a first one of each; the residual is
//! recomputed.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use warpsolve::Result;
use warpsolve::backend::cpu::Cpu;
use warpsolve::backend::gpu::Gpu;
use warpsolve::io::matrix::read_matrix;
use warpsolve::job::{Device, copy_bandwidth, relative_residual};
use warpsolve::matrix::Csr;
use warpsolve::precond::amg::{Hierarchies, Params};
use warpsolve::problem::{generate, shuffle};
use warpsolve::solver::{Cg, IterativeSolver, Steps, Stop};

const RUNS: usize = 5;

fn main() -> Result<()> {
    // cargo adds `--bench`.
    let arguments = || std::env::args().skip(1).filter(|a| !a.starts_with("--"));
    let mut params = Params::default();
    for (key, value) in
        arguments().filter_map(|a| a.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())))
    {
        params.set(&key, &value)?;
    }
    let mut systems: Vec<String> = arguments().filter(|a| !a.contains('=')).collect();
    if systems.is_empty() {
        systems = ["tet:96", "tet:96+shuffled"].map(String::from).to_vec();
    }
    let has_gpu = cust::has_device().expect("the driver starts");
    let gpu = has_gpu.then(|| warpsolve::open_gpu(0)).transpose()?;
    let cpu = Cpu::new(0)?;
    let device = match &gpu {
        Some(gpu) => Device::Gpu(gpu.clone()),
        None => Device::Cpu(cpu.clone()),
    };
    let copy = copy_bandwidth(&device)?.unwrap_or(f64::NAN);
    println!("{}, copy {:.1} GB/s", device.name(), copy / 1e9);
    for name in systems {
        let a = system(&name)?;
        println!("\n{name}: {} rows, {} nonzeros", a.n_rows(), a.nnz());
        match &gpu {
            Some(gpu) => measure::<Gpu>(gpu, &a, &params)?,
            None => cpu.install(|| measure::<Cpu>(&cpu, &a, &params))?,
        }
    }
    Ok(())
}

/// "tet:96", "tet:96+shuffled" (seed 1), or a Matrix Market file.
fn system(name: &str) -> Result<Arc<Csr<f64>>> {
    if name.contains(".mtx") {
        return Ok(Arc::new(read_matrix(Path::new(name), &mut |_, _| ())?.0));
    }
    Ok(Arc::new(match name.strip_suffix("+shuffled") {
        Some(name) => shuffle(&generate(&name.parse()?, 1)?, 1, 1)?,
        None => generate(&name.parse()?, 0)?,
    }))
}

fn measure<B: Hierarchies<f64> + Steps<f64> + 'static>(
    backend: &B,
    a: &Arc<Csr<f64>>,
    params: &Params,
) -> Result<()> {
    let n = a.n_rows();
    let csr = backend.assembled(a, 1)?;
    let b = backend.vector(&vec![1.0; n])?;
    let mut x = backend.zeros(n)?;
    let (mut setups, mut solves) = (Vec::new(), Vec::new());
    let mut phases: Vec<(&'static str, Vec<f64>)> = Vec::new();
    let mut text = String::new();
    for run in 0..=RUNS {
        backend.synchronize()?;
        let start = Instant::now();
        let matrix = backend.operator(&csr)?;
        let (mut m, info) = backend.amg(csr.clone(), Some(&matrix), params, None, true)?;
        backend.synchronize()?;
        let setup = start.elapsed().as_secs_f64();
        let mut cg = Cg::new(backend, n, &*m)?;
        backend.fill(0.0, &mut x)?;
        backend.synchronize()?;
        let start = Instant::now();
        let outcome = cg.solve(backend, &matrix, &mut *m, &b, &mut x, &Stop::default(), &mut |_, _| ())?;
        backend.synchronize()?;
        let solve = start.elapsed().as_secs_f64();
        if run == 0 {
            let residual = relative_residual(a, &backend.to_host(&x)?, &vec![1.0; n]);
            for (l, level) in info.levels.iter().enumerate() {
                let mean = level.nnz as f64 / level.rows as f64;
                println!(
                    "  level {l}: {} rows, {} nonzeros, {mean:.1} a row, {}",
                    level.rows, level.nnz, level.format.reason
                );
            }
            text = format!(
                "{} iterations ({}), residual {residual:.1e}, operator complexity {:.2}",
                outcome.iterations,
                outcome.reason.name(),
                info.operator_complexity()
            );
            continue;
        }
        setups.push(setup);
        solves.push(solve);
        for (name, seconds) in info.phases.iter() {
            match phases.iter_mut().find(|(n, _)| *n == name) {
                Some((_, all)) => all.push(seconds),
                None => phases.push((name, vec![seconds])),
            }
        }
    }
    let phases: Vec<String> =
        phases.into_iter().map(|(name, s)| format!("{name} {:.2}", 1e3 * median(s))).collect();
    println!("  phases in ms: {}", phases.join(", "));
    let (setup, solve) = (median(setups), median(solves));
    println!("  {text}");
    println!(
        "  set-up {:.2} ms + solve {:.2} ms = {:.2} ms",
        1e3 * setup,
        1e3 * solve,
        1e3 * (setup + solve)
    );
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
