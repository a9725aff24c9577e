//! Reading and writing matrices, as Matrix Market text and binary, in bytes of the file per second.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpsolve_host::io::binary;
use warpsolve_host::io::matrix_market::{Symmetry, parse_matrix, write_matrix};
use warpsolve_host::matrix::{Coo, Csr};

/// Seven diagonals, as a finite-difference Laplacian has them, with values of 17 digits.
fn sample(n: usize) -> Csr<f64> {
    let mut a = Coo::new(n, n, 7 * n).expect("n is small");
    for i in 0..n {
        for offset in [-2500, -50, -1, 0, 1, 50, 2500] {
            let j = i as i64 + offset;
            if (0..n as i64).contains(&j) {
                a.push(i, j as usize, ((7 * i) as f64 + offset as f64 * 0.1).sin());
            }
        }
    }
    a.into_csr().0
}

fn matrix_market(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.mtx");
    let a = sample(300_000);
    write_matrix(&path, &a, Symmetry::General, "").expect("the folder can be written");
    let text = std::fs::read(&path).expect("just written");

    let mut group = c.benchmark_group("matrix_market");
    group.sample_size(10).throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("parse", |b| b.iter(|| black_box(parse_matrix(&text, Path::new("a.mtx")))));
    group.bench_function("write", |b| {
        b.iter(|| write_matrix(&path, &a, Symmetry::General, "").expect("the folder can be written"))
    });
    group.finish();

    let path = folder.path().join("a.wsm");
    let write = || {
        binary::write_matrix(&path, &a, Symmetry::General, "").expect("the folder can be written");
    };
    write();
    let size = std::fs::metadata(&path).expect("just written").len();
    let mut group = c.benchmark_group("binary");
    group.sample_size(10).throughput(Throughput::Bytes(size));
    group.bench_function("read", |b| b.iter(|| black_box(binary::read_matrix(&path, &mut |_, _| {}))));
    group.bench_function("write", |b| b.iter(write));
    group.finish();
}

criterion_group!(benches, matrix_market);
criterion_main!(benches);
