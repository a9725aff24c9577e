//! Formats of blocks that a device makes from CRS, beside those that the host makes.

use std::sync::Arc;

use arithmetic::compression::Compression;
use cuda_std::Real;

use super::{Formats, RoundedRows};
use crate::backend::Operator;
use crate::backend::cpu::Cpu;
use crate::backend::gpu::DeviceMatrix;
use crate::backend::gpu::buffer::download;
use crate::backend::gpu::matrix::{Layout, Slices};
use crate::comm::Runs;
use crate::matrix::rounding::Pivot;
use crate::matrix::{AnyMatrix, Choice, Csr, Format, Target, choose, choose_blocks};
use crate::problem::random::{below, uniform};
use crate::setup::blocks::BlockMatrices;
use crate::setup::blocks::tests::with_gaps;
use crate::setup::matrix::Matrices;
use crate::setup::parts::Parts;
use crate::setup::testing::{random, scattered, strict};

fn bits<T: Real>(values: &[T]) -> Vec<u64> {
    values.iter().map(|v| v.to_f64().to_bits()).collect()
}

/// Compares what was chosen and every array with what the host makes of `a`.
#[track_caller]
fn compare<T: Real, S: Real>(a: &Csr<T>, choice: &Choice, matrix: &DeviceMatrix<S>) {
    assert_eq!((matrix.n_rows, matrix.n_cols), (a.n_rows(), a.n_cols()));
    let said = (matrix.format(), matrix.sigma(), matrix.stored(), matrix.reason());
    let reason = Some(choice.reason.as_str());
    assert_eq!(said, (choice.format.to_string(), choice.sigma, choice.padding.stored, reason));
    let expected = AnyMatrix::from_csr(&Arc::new(a.cast::<S>()), choice.format, choice.sigma).unwrap();
    let (columns, values) = match (&matrix.layout, &expected) {
        (Layout::BlockSell { block, plane, slices }, AnyMatrix::BlockSell(expected)) => {
            let pattern = expected.pattern();
            assert_eq!((*block, *plane), (expected.block(), pattern.stored()));
            let Slices { slice_ptr, permutation, .. } = slices;
            assert_eq!(download(slice_ptr, pattern.slice_ptr().len(), 0).unwrap(), pattern.slice_ptr());
            let permutation = permutation.as_ref().map(|rows| download(rows, pattern.n_rows(), 0).unwrap());
            assert_eq!(permutation.as_deref(), pattern.permutation().map(|rows| &rows[..pattern.n_rows()]));
            (pattern.col_idx(), expected.values().to_vec())
        }
        (Layout::BlockCrs { block, plane, row_ptr, .. }, AnyMatrix::BlockCrs(expected)) => {
            assert_eq!((*block, *plane), (expected.block(), expected.blocks()));
            let pointers = download(row_ptr, expected.row_ptr().len(), 0u32).unwrap();
            assert!(pointers.iter().zip(expected.row_ptr()).all(|(&found, &p)| found as usize == p));
            let plane = |kl: usize| expected.plane(kl / block, kl % block).values().to_vec();
            (expected.col_idx(), (0..block * block).flat_map(plane).collect::<Vec<S>>())
        }
        // Mostly zeros in blocks: not converted to any.
        (Layout::Crs { .. } | Layout::Sell { .. }, AnyMatrix::Crs(_) | AnyMatrix::Sell(_)) => return,
        _ => panic!("{choice:?}"),
    };
    assert_eq!(download(&matrix.col_idx, columns.len(), 0).unwrap(), columns);
    assert_eq!(bits(&download(&matrix.values, values.len(), S::ZERO).unwrap()), bits(&values));
}

/// What is chosen for `a`, made on a device.
#[track_caller]
fn of_nodes<T: Real, S: Real>(a: &Arc<Csr<T>>, block: usize) -> Format {
    let gpu = strict();
    let choice = choose_blocks(&**a, block, Target::Gpu).unwrap();
    let csr = gpu.csr(a).unwrap();
    let (matrix, planes) = Formats::<T, S>::operator_of_nodes(&gpu, csr, block).unwrap();
    assert_eq!(planes.is_some(), choice.format.block() > 1);
    compare(a, &choice, &matrix);
    choice.format
}

/// Blocks in the pattern of `nodes`, of which a twentieth of the values are not stored.
fn of_blocks<T: Real>(nodes: &Csr<f64>, b: usize) -> Arc<Csr<T>> {
    let columns = |i: usize| {
        let all = nodes.row(i / b).0.iter().flat_map(move |&j| (0..b as u32).map(move |l| b as u32 * j + l));
        all.filter(move |&j| below(2, (i as u64) << 32 | u64::from(j), 20) > 0)
    };
    Arc::new(Csr::from_rows(
        b * nodes.n_rows(),
        b * nodes.n_cols(),
        |i| columns(i).count(),
        |i, to, values| {
            for ((to, v), j) in to.iter_mut().zip(values).zip(columns(i)) {
                (*to, *v) = (j, T::from_f64(uniform(1, (i as u64) << 32 | u64::from(j)) - 0.4));
            }
        },
    ))
}

#[test]
fn blocks_are_those_of_the_host() {
    for b in [2, 3] {
        let even = of_blocks(&scattered(157, 90, |_| 7), b);
        assert_eq!(of_nodes::<f64, f64>(&even, b), Format::BlockSell(b));
        assert_eq!(of_nodes::<f64, f32>(&even, b), Format::BlockSell(b));
        assert_eq!(of_nodes::<f32, f32>(&Arc::new(even.cast()), b), Format::BlockSell(b));
        let sorted = of_blocks::<f64>(&scattered(600, 77, |i| [4, 12][i % 2]), b);
        assert_eq!(of_nodes::<f64, f64>(&sorted, b), Format::BlockSell(b));
        let long = of_blocks::<f64>(&scattered(65, 300, |i| 20 + i % 7), b);
        assert_eq!(of_nodes::<f64, f64>(&long, b), Format::BlockCrs(b));
        assert_eq!(of_nodes::<f64, f32>(&long, b), Format::BlockCrs(b));
    }
}

#[test]
fn mostly_zeros_are_not_stored_in_blocks() {
    for b in [2, 3] {
        let a = Arc::new(scattered::<f64>(40 * b, 60 * b, |i| i % 5));
        assert_eq!(of_nodes::<f64, f64>(&a, b).block(), 1);
        assert_eq!(of_nodes::<f64, f32>(&a, b).block(), 1);
    }
}

/// As a hierarchy has them, whatever they hold.
#[test]
fn blocks_with_gaps_are_those_of_the_host() {
    let gpu = strict();
    for b in [2, 3] {
        for a in with_gaps::<f64>(b) {
            let planes = gpu.in_planes(&a, b).unwrap();
            let matrix = Formats::<f64, f64>::operator(&gpu, &planes).unwrap();
            let pattern = gpu.csr_to_host(planes.first()).unwrap();
            compare(&a, &choose(&*pattern, Target::Gpu).for_blocks(b), &matrix);
        }
    }
}

/// Rows that are rounded for compression, those that follow each other and others.
#[test]
fn a_device_rounds_rows_as_the_host_does() {
    let (cpu, gpu) = (Cpu::new(2).unwrap(), strict());
    for (n, most, seed) in [(70, 5, 1), (45, 40, 2), (1, 1, 3), (30, 0, 4)] {
        let mut a = random(n, n, most, seed);
        // Equal magnitudes, and what is no number.
        for (k, value) in a.values_mut().iter_mut().enumerate() {
            match k % 11 {
                3 => *value = -0.75,
                5 => *value = 0.75,
                7 if seed == 2 => *value = f64::NAN,
                _ => (),
            }
        }
        let a = Arc::new(a);
        let there = Matrices::<f64>::csr(&gpu, &a).unwrap();
        let compression = Compression::reaching(n as u32).unwrap();
        let some: Runs = (0..n as u32).filter(|i| i % 5 != 2).collect();
        for rows in [Runs::from(0..n), Runs::from(n / 3..n), some] {
            for pivot in [Pivot::Diagonal, Pivot::Largest] {
                let none = Runs::default();
                let both = (&rows, if pivot == Pivot::Diagonal { &rows } else { &none });
                let on_host = RoundedRows::rounded(&cpu, &a, pivot, both, compression).unwrap();
                let on_gpu = gpu.rounded(&there, pivot, both, compression).unwrap();
                let found = bits_of_rows(&gpu, &on_gpu, &rows);
                assert_eq!(found, bits_of_rows(&cpu, &on_host, &rows), "{n} rows, {pivot:?}");
                let numbers = Runs::from(0..n);
                let reach = cpu.reach(&a, pivot, both, &numbers).unwrap();
                assert_eq!(RoundedRows::reach(&gpu, &there, pivot, both, &numbers).unwrap(), reach);
            }
        }
    }
}

/// The bits of the values of some rows; those of NaN are not told apart.
fn bits_of_rows<B: Parts<f64>>(backend: &B, a: &B::Csr, rows: &Runs) -> Vec<u64> {
    let n = backend.size(a).n_cols;
    let none = backend.without_rows(n).unwrap();
    let chosen = backend.put_together(rows, a, &Runs::from(0..n), &none).unwrap();
    let chosen = backend.csr_to_host(&chosen).unwrap();
    chosen.values().iter().map(|v| if v.is_nan() { u64::MAX } else { v.to_bits() }).collect()
}
