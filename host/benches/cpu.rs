//! The CPU backend's primitives on tet:64, in bytes of memory a second: products by the bytes of
//! [`spmv_bytes`], and a triad to compare them with.

use std::sync::Arc;

use criterion::{Criterion, Throughput};
use rayon::prelude::*;
use warpsolve_host::backend::cpu::Cpu;
use warpsolve_host::backend::prelude::*;
use warpsolve_host::matrix::{AnyMatrix, Format, spmv_bytes};
use warpsolve_host::problem;
use warpsolve_host::solver::cg::{CgStep, CgSteps};

const RHO: [Slot; 2] = [Slot(0), Slot(2)];
const P_AP: Slot = Slot(4);

fn primitives(cpu: &Cpu, c: &mut Criterion) {
    let a = Arc::new(problem::tet(64, 0));
    let n = a.n_rows();
    let vectors = |count: u64| count * 8 * n as u64;
    let product = spmv_bytes(a.nnz(), n, 8, 1);
    let values: Vec<f64> = (0..n).map(|i| 1.5 + (0.7 * i as f64).sin()).collect();
    let vector = || cpu.vector(&values).expect("vectors are small");
    let mut group = c.benchmark_group("cpu");
    let (b, d) = (vec![1.5f64; 1 << 23], vec![0.5f64; 1 << 23]);
    let mut t = vec![0.0f64; 1 << 23];
    group.throughput(Throughput::Bytes(24 << 23));
    group.bench_function("triad", |bencher| {
        bencher.iter(|| {
            let chunks = t.par_chunks_mut(1 << 14).zip(b.par_chunks(1 << 14)).zip(d.par_chunks(1 << 14));
            chunks.for_each(|((t, b), d)| {
                for ((t, &b), &d) in t.iter_mut().zip(b).zip(d) {
                    *t = b + 3.0 * d;
                }
            });
        })
    });

    let (x, mut y) = (vector(), vector());
    group.throughput(Throughput::Bytes(product));
    for format in [Format::Crs, Format::Ell, Format::Sell] {
        let matrix = AnyMatrix::from_csr(&a, format, 1).expect("little padding");
        let matrix = cpu.matrix(&Arc::new(matrix)).expect("memory for a copy");
        group.bench_function(format!("spmv/{format}"), |bencher| {
            bencher.iter(|| cpu.multiply(&matrix, &x, Then::Store { y: &mut y }).expect("sizes agree"))
        });
    }

    let s = Memory::<f64>::scalars(cpu, 6).expect("six numbers");
    group.throughput(Throughput::Bytes(vectors(2)));
    group
        .bench_function("dot", |bencher| bencher.iter(|| cpu.dot(&x, &y, &s, Slot(0)).expect("sizes agree")));

    // An iteration of CG with the Jacobi preconditioner and alpha, beta so small that nothing overflows.
    let monitor = Monitoring::<f64>::monitor(cpu, u32::MAX, 0.0).expect("a few bytes");
    let matrix = AnyMatrix::from_csr(&a, Format::Crs, 1).expect("CRS always fits");
    let matrix = cpu.matrix(&Arc::new(matrix)).expect("memory for a copy");
    let (mut x, mut r, mut p, mut ap, d) = (vector(), vector(), vector(), vector(), vector());
    cpu.dot(&x, &x, &s, RHO[0]).expect("sizes agree");
    group.throughput(Throughput::Bytes(product + vectors(11)));
    group.bench_function("cg iteration", |bencher| {
        bencher.iter(|| {
            cpu.multiply(&matrix, &p, Then::Dot { w: &p, y: &mut ap, s: &s, out: P_AP })?;
            cpu.cg_step(
                &mut CgStep {
                    s: &s,
                    rho: RHO[0],
                    p_ap: RHO[0],
                    p: &mut p,
                    ap: &ap,
                    x: &mut x,
                    r: &mut r,
                    out: RHO[1],
                    scratch: RHO[0],
                    monitor: &monitor,
                },
                Some(&d),
            )?;
            cpu.direction(&s, Some(&d), &values, Coef::constant(1e-3), &mut p)
        })
    });
    group.finish();
}

fn main() {
    let cpu = Cpu::new(0).expect("one thread for each core");
    // As a solve does, all runs on the backend's threads: waking them is not part of a primitive.
    cpu.install(|| {
        let mut criterion = Criterion::default().configure_from_args();
        primitives(&cpu, &mut criterion);
        criterion.final_summary();
    });
}
