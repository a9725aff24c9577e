//! The primitives of the solvers on a tet system, each with the copy bandwidth of the same run.
//!
//! `cargo bench --bench primitives -- [tet:96]`: on the first GPU, or else on all cores. GPU times are the
//! median of batches between two device events, after a warm-up; bytes are each vector of a fused pass once
//! for reading and once for writing.

use std::sync::Arc;
use std::time::Instant;

use warpsolve::backend::cpu::Cpu;
use warpsolve::backend::{Coef, Slot, Then};
use warpsolve::job::{Device, copy_bandwidth};
use warpsolve::matrix::{AnyMatrix, Csr, Format, spmv_bytes};
use warpsolve::problem::generate;
use warpsolve::solver::Steps;
use warpsolve::solver::cg::CgStep;
use warpsolve::solver::gmres::GmresSlots;

const BATCHES: usize = 15;
const BATCH: usize = 10;
/// The longest cycle that the orthogonalisation is timed for.
const RESTART: usize = 30;

fn main() -> warpsolve::Result<()> {
    // cargo adds `--bench`.
    let system = std::env::args().skip(1).find(|a| !a.starts_with("--")).unwrap_or("tet:96".into());
    let a = Arc::new(generate(&system.parse()?, 0)?);
    println!("{system}: {} rows, {} nonzeros, f64", a.n_rows(), a.nnz());
    if cust::has_device().expect("the driver starts") {
        let gpu = warpsolve::open_gpu(0)?;
        let clock = gpu.clone();
        let time = |work: &mut dyn FnMut() -> warpsolve::Result<()>| {
            let start = clock.device().record()?;
            work()?;
            let end = clock.device().record()?;
            clock.device().elapsed(&start, &end)
        };
        report(&gpu, &Device::Gpu(gpu.clone()), &a, Format::Sell, &time)
    } else {
        let cpu = Cpu::new(0)?;
        let time = |work: &mut dyn FnMut() -> warpsolve::Result<()>| {
            let start = Instant::now();
            work()?;
            Ok(start.elapsed().as_secs_f64())
        };
        report(&cpu, &Device::Cpu(cpu.clone()), &a, Format::Crs, &time)
    }
}

/// Seconds that the work takes.
type Clock<'a> = &'a dyn Fn(&mut dyn FnMut() -> warpsolve::Result<()>) -> warpsolve::Result<f64>;

/// Median seconds of one call.
fn median(clock: Clock, mut work: impl FnMut() -> warpsolve::Result<()>) -> warpsolve::Result<f64> {
    for _ in 0..BATCH {
        work()?;
    }
    let mut seconds = Vec::new();
    for _ in 0..BATCHES {
        seconds.push(clock(&mut || (0..BATCH).try_for_each(|_| work()))? / BATCH as f64);
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[BATCHES / 2])
}

fn report<B: Steps<f64>>(
    backend: &B,
    device: &Device,
    a: &Arc<Csr<f64>>,
    format: Format,
    clock: Clock,
) -> warpsolve::Result<()> {
    let copy = copy_bandwidth(device)?.unwrap_or(f64::NAN);
    println!("{}, copy {:.1} GB/s\n", device.name(), copy / 1e9);
    println!("{:<24} {:>10} {:>9} {:>8}", "primitive", "time", "GB/s", "of copy");
    let line = |name: &str, bytes: u64, seconds: f64| {
        let rate = bytes as f64 / seconds;
        println!("{name:<24} {:>7.1} us {:>9.1} {:>7.1}%", 1e6 * seconds, rate / 1e9, 100.0 * rate / copy);
    };
    let n = a.n_rows();
    let vectors = |count: usize| (count * n * size_of::<f64>()) as u64;
    let values: Vec<f64> = (0..n).map(|i| (i * 7919 % 1000) as f64 / 997.0 - 0.4).collect();
    let [x, p, ap, d] = [&values; 4].map(|v| backend.vector(v));
    let (x, mut p, ap, d) = (x?, p?, ap?, d?);
    let (mut y, mut r) = (backend.zeros(n)?, backend.zeros(n)?);
    let s = backend.scalars(8)?;
    let matrix = backend.matrix(&Arc::new(AnyMatrix::from_csr(a, format, 1)?))?;
    let spmv = spmv_bytes(a.nnz(), n, size_of::<f64>(), 1);

    line(
        &format!("spmv ({format})"),
        spmv,
        median(clock, || backend.multiply(&matrix, &x, Then::Store { y: &mut y }))?,
    );
    let seconds =
        median(clock, || backend.multiply(&matrix, &x, Then::Dot { w: &x, y: &mut y, s: &s, out: Slot(0) }))?;
    line("spmv with dots", spmv, seconds);
    line("dot", vectors(2), median(clock, || backend.dot(&x, &p, &s, Slot(0)))?);
    let half = Coef::constant(0.5);
    line("axpby", vectors(3), median(clock, || backend.axpby(&s, half, &x, half, &mut y))?);
    line("direction", vectors(4), median(clock, || backend.direction(&s, Some(&d), &x, half, &mut y))?);
    // Both scalars 1: the step's alpha is 1, and the monitor never stops.
    backend.sum(&backend.vector(&[1.0])?, &s, Slot(2))?;
    backend.sum(&backend.vector(&[1.0])?, &s, Slot(3))?;
    let monitor = backend.monitor(1 << 20, 0.0)?;
    let seconds = median(clock, || {
        backend.cg_step(
            &mut CgStep {
                s: &s,
                rho: Slot(2),
                p_ap: Slot(3),
                p: &mut p,
                ap: &ap,
                x: &mut y,
                r: &mut r,
                out: Slot(4),
                scratch: Slot(2),
                monitor: &monitor,
            },
            Some(&d),
        )
    })?;
    line("cg step", vectors(7), seconds);

    // Both rounds of classical Gram-Schmidt read the basis three times: the update of the first round and
    // the dot products of the second share a pass.
    let slots = GmresSlots { restart: RESTART };
    let s = backend.scalars(slots.count())?;
    let mut basis = backend.vectors(n, RESTART + 1)?;
    let (mut all_bytes, mut all_seconds) = (0, 0.0);
    for k in 1..=RESTART {
        let (v, w) = basis.split_at_mut(k);
        let seconds = median(clock, || backend.gram_schmidt(v, &mut w[0], &s, slots, slots.column(0)))?;
        let bytes = vectors(3 * k + 5);
        (all_bytes, all_seconds) = (all_bytes + bytes, all_seconds + seconds);
        if [1, 2, 4, 8, 15, 16, 30].contains(&k) {
            line(&format!("orthogonalise by {k}"), bytes, seconds);
        }
    }
    line(&format!("a cycle of GMRES({RESTART})"), all_bytes, all_seconds);
    println!("= {:.3} of its byte floor", all_seconds / (all_bytes as f64 / copy));
    Ok(())
}
