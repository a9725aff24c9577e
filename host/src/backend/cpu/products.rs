//! [`Products`] in chunks of rows.

use std::sync::Arc;

use cuda_std::Real;
use rayon::prelude::*;

use super::beside::Beside;
use super::matrix::CpuMatrix;
use super::vectors::{dot, scaled};
use super::{Cpu, total};
use crate::backend::host::{HostBackend, HostMonitor, HostScalars};
use crate::backend::{Column, Operator, Products, Slot, Then};
use crate::error::Result;
use crate::matrix::AnyMatrix;

impl<T: Real> Products<T> for Cpu {
    type Matrix = CpuMatrix<T>;

    fn matrix(&self, matrix: &Arc<AnyMatrix<T>>) -> Result<CpuMatrix<T>> {
        Ok(self.install(|| CpuMatrix::new(matrix)))
    }

    fn multiply(&self, a: &CpuMatrix<T>, x: &Vec<T>, then: Then<T, Self>) -> Result<()> {
        Self::multiply_columns(a, vec![Column { backend: self, x, then }])
    }

    /// Every chunk of rows is multiplied by one column after the other, while it is in the cache.
    fn multiply_columns(a: &CpuMatrix<T>, columns: Vec<Column<T, Self>>) -> Result<()> {
        multiply(Factor { a, beside: None }, columns)
    }
}

/// A matrix, and entries beside it.
#[derive(Clone, Copy)]
struct Factor<'a, T> {
    a: &'a CpuMatrix<T>,
    beside: Option<Beside<'a, T>>,
}

impl<T: Real> Factor<'_, T> {
    /// `y = A x` for the rows from `first` on.
    fn multiply(&self, x: &[T], first: usize, y: &mut [T]) {
        self.a.multiply(x, first, y);
        if let Some(beside) = &self.beside {
            beside.add(first, y);
        }
    }
}

impl Cpu {
    /// [`Products::multiply`] with entries beside A.
    pub(crate) fn multiply_beside<T: Real>(
        &self,
        a: &CpuMatrix<T>,
        beside: Option<Beside<T>>,
        x: &Vec<T>,
        then: Then<T, Self>,
    ) -> Result<()> {
        multiply(Factor { a, beside }, vec![Column { backend: self, x, then }])
    }
}

/// Every chunk of rows is multiplied by one column after the other.
fn multiply<T: Real>(a: Factor<T>, columns: Vec<Column<T, Cpu>>) -> Result<()> {
    let size = (a.a.n_rows(), a.a.n_cols());
    columns.iter().try_for_each(|column| column.then.check(size, column.x))?;
    let (mut outputs, mut passes, mut sinks) = (Vec::new(), Vec::new(), Vec::new());
    let mut cpu = None;
    for Column { backend, x, then } in columns {
        if !backend.stopped() {
            let (output, ending, sink) = parts(then);
            outputs.push(output);
            passes.push(Pass { a, x, ending });
            sinks.push(sink);
            cpu = Some(backend);
        }
    }
    let Some(cpu) = cpu else { return Ok(()) };
    let sums = cpu.sums_of_passes(a.a.chunk(), outputs, &passes);
    for (sink, sums) in sinks.into_iter().zip(sums) {
        sink.take(sums);
    }
    Ok(())
}

/// The vectors that a product writes; the second is empty where there is one.
type Output<'a, T> = [&'a mut [T]; 2];

/// A [`Then`] without what it writes.
enum Ending<'a, T> {
    Store,
    Add,
    Scaled { omega: T, d: &'a [T] },
    Residual { b: &'a [T] },
    Sweep { omega: T, d: &'a [T], b: &'a [T] },
    SweepAdd { omega: T, d: &'a [T], b: &'a [T] },
    SweepNorm { omega: T, d: &'a [T], b: &'a [T] },
    Dot { w: &'a [T] },
}

/// Where the sums of a product go.
struct Sink<'a, T> {
    scalars: Option<&'a HostScalars<T>>,
    out: Slot,
    /// How many sums.
    count: usize,
    monitor: Option<&'a HostMonitor>,
}

impl<T: Real> Sink<'_, T> {
    fn take(self, sums: [T; 2]) {
        let Some(scalars) = self.scalars else { return };
        for (k, &sum) in sums.iter().take(self.count).enumerate() {
            scalars.set(self.out.offset(k), sum);
        }
        if let Some(monitor) = self.monitor {
            monitor.observe(sums[0].to_f64().sqrt());
        }
    }
}

/// What a product writes, what it does with a row, and where its sums go.
fn parts<T: Real>(then: Then<'_, T, Cpu>) -> (Output<'_, T>, Ending<'_, T>, Sink<'_, T>) {
    let none = Sink { scalars: None, out: Slot(0), count: 0, monitor: None };
    match then {
        Then::Store { y } => ([y, &mut []], Ending::Store, none),
        Then::Add { y } => ([y, &mut []], Ending::Add, none),
        Then::Scaled { omega, d, y, z } => ([y, z], Ending::Scaled { omega, d }, none),
        Then::Residual { b, r } => ([r, &mut []], Ending::Residual { b }, none),
        Then::Sweep { omega, d, b, y } => ([y, &mut []], Ending::Sweep { omega, d, b }, none),
        Then::SweepAdd { omega, d, b, y } => ([y, &mut []], Ending::SweepAdd { omega, d, b }, none),
        Then::SweepNorm { omega, d, b, y, s, out, monitor } => {
            let sink = Sink { scalars: Some(s), out, count: 1, monitor: Some(monitor) };
            ([y, &mut []], Ending::SweepNorm { omega, d, b }, sink)
        }
        Then::Dot { w, y, s, out } => {
            let sink = Sink { scalars: Some(s), out, count: 2, monitor: None };
            ([y, &mut []], Ending::Dot { w }, sink)
        }
    }
}

/// A product with one column.
struct Pass<'a, T> {
    a: Factor<'a, T>,
    x: &'a [T],
    ending: Ending<'a, T>,
}

impl<T: Real> Pass<'_, T> {
    /// The rows from `first` on, with room for a product; returns their part of the sums.
    fn rows(&self, first: usize, [y, z]: Output<T>, room: &mut Vec<T>) -> [T; 2] {
        let (a, x) = (self.a, self.x);
        match self.ending {
            Ending::Add | Ending::SweepAdd { .. } => {
                room.resize(y.len(), T::ZERO);
                a.multiply(x, first, room);
            }
            _ => a.multiply(x, first, y),
        }
        let mut sums = [T::ZERO; 2];
        match self.ending {
            Ending::Store => {}
            Ending::Add => add(room, y),
            Ending::Scaled { omega, d } => scaled(omega, d, a.a.n_rows(), first, y, z),
            Ending::Residual { b } => residual(b, first, y),
            Ending::Sweep { omega, d, b } => {
                residual(b, first, y);
                correct(x, omega, d, first, y);
            }
            Ending::SweepAdd { omega, d, b } => {
                residual(b, first, room);
                for (r, &d) in room.iter_mut().zip(&d[first..]) {
                    *r = omega * d * *r;
                }
                add(room, y);
            }
            Ending::SweepNorm { omega, d, b } => {
                residual(b, first, y);
                sums[0] = dot(y, y);
                correct(x, omega, d, first, y);
            }
            Ending::Dot { w } => sums = [dot(&w[first..first + y.len()], y), dot(y, y)],
        }
        sums
    }
}

impl Cpu {
    /// The sums of each pass, chunk by chunk of rows: added up in the order of chunks.
    fn sums_of_passes<T: Real>(
        &self,
        chunk: usize,
        outputs: Vec<Output<T>>,
        passes: &[Pass<T>],
    ) -> Vec<[T; 2]> {
        let rows = outputs.first().map_or(0, |[y, _]| y.len());
        let mut chunks: Vec<_> =
            outputs.into_iter().map(|[y, z]| (y.chunks_mut(chunk), z.chunks_mut(chunk))).collect();
        let pieces = |_| {
            let pieces = chunks.iter_mut();
            pieces.map(|(y, z)| [y.next().unwrap_or_default(), z.next().unwrap_or_default()]).collect()
        };
        let tasks: Vec<Vec<Output<T>>> = (0..rows.div_ceil(chunk)).map(pieces).collect();
        let task = |room: &mut Vec<T>, (c, pieces): (usize, Vec<Output<T>>)| -> Vec<[T; 2]> {
            passes.iter().zip(pieces).map(|(pass, piece)| pass.rows(c * chunk, piece, room)).collect()
        };
        let partials: Vec<Vec<[T; 2]>> =
            self.install(|| tasks.into_par_iter().enumerate().map_init(Vec::new, task).collect());
        let of_pass = |k: usize| total(&partials.iter().map(|sums| sums[k]).collect::<Vec<_>>());
        (0..passes.len()).map(of_pass).collect()
    }
}

/// `y = y + x`.
fn add<T: Real>(x: &[T], y: &mut [T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += x;
    }
}

/// `r = b - r`, where `r` begins at row `first`.
fn residual<T: Real>(b: &[T], first: usize, r: &mut [T]) {
    for (r, &b) in r.iter_mut().zip(&b[first..]) {
        *r = b - *r;
    }
}

/// `r = x + omega D r`, where `r` begins at row `first`, the first of a block.
fn correct<T: Real>(x: &[T], omega: T, d: &[T], first: usize, r: &mut [T]) {
    match d.len() / x.len().max(1) {
        2 => correct_blocks::<T, 2>(x, omega, d, first, r),
        3 => correct_blocks::<T, 3>(x, omega, d, first, r),
        _ => {
            for ((r, &x), &d) in r.iter_mut().zip(&x[first..]).zip(&d[first..]) {
                *r = x + omega * d * *r;
            }
        }
    }
}

fn correct_blocks<T: Real, const B: usize>(x: &[T], omega: T, d: &[T], first: usize, r: &mut [T]) {
    let blocks = x[first..].chunks_exact(B).zip(d[B * first..].chunks_exact(B * B));
    for (r, (x, d)) in r.chunks_exact_mut(B).zip(blocks) {
        let mut corrected = [T::ZERO; B];
        for k in 0..B {
            let sum = (0..B).fold(T::ZERO, |sum, l| sum + d[k * B + l] * r[l]);
            corrected[k] = x[k] + omega * sum;
        }
        r.copy_from_slice(&corrected);
    }
}
