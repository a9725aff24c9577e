//! The steps of block CG on the host.

use std::ops::Range;

use arithmetic::block_cg::{MOST, length, root, row, solve, solve_upper, times, unit, weighted};
use cuda_std::Real;

use super::rows::{Small, combine_rows, products_of_rows};
use super::steps::{
    BlockCgSteps, C, D_AD, OF_Q, OF_X, Q_MQ, R_INVERSE, R_TRANSPOSED, Watched, check_blocks, check_small,
    check_watched,
};
use crate::backend::cpu::{CHUNK, Cpu};
use crate::backend::host::{HostBackend, HostMonitor, HostScalars};
use crate::backend::reference::{self, Reference};
use crate::backend::{Backend, Slot, status};
use crate::error::Result;
use crate::parallel::*;

/// Passes over blocks.
pub trait BlockPasses: HostBackend {
    /// The upper triangle of `X^T D Y`.
    #[doc(hidden)]
    fn products<T: Real>(&self, x: &[Vec<T>], d: Option<&Vec<T>>, y: &[Vec<T>]) -> Small<T>;
    /// `Y = D X A + Y B`.
    #[doc(hidden)]
    fn combine<T: Real>(
        &self,
        d: Option<&Vec<T>>,
        x: Option<(&[Vec<T>], Small<T>)>,
        y: &mut [Vec<T>],
        b: Option<Small<T>>,
    );
}

impl BlockPasses for Reference {
    fn products<T: Real>(&self, x: &[Vec<T>], d: Option<&Vec<T>>, y: &[Vec<T>]) -> Small<T> {
        let scaled = |y: &Vec<T>| match d {
            Some(d) => d.iter().zip(y).map(|(&d, &y)| d * y).collect(),
            None => y.clone(),
        };
        let y: Vec<Vec<T>> = y.iter().map(scaled).collect();
        upper(x.len(), |i, j| reference::dot(&x[i], &y[j]))
    }
    fn combine<T: Real>(
        &self,
        d: Option<&Vec<T>>,
        x: Option<(&[Vec<T>], Small<T>)>,
        y: &mut [Vec<T>],
        b: Option<Small<T>>,
    ) {
        for row in 0..y.first().map_or(0, Vec::len) {
            let before: Vec<T> = y.iter().map(|column| column[row]).collect();
            for (j, column) in y.iter_mut().enumerate() {
                let of_y = b.map_or(before[j], |b| before.iter().zip(b[j]).map(|(&y, b)| b * y).sum());
                let of_x = x.map_or(T::ZERO, |(x, a)| x.iter().zip(a[j]).map(|(x, a)| a * x[row]).sum());
                column[row] = of_y + d.map_or(of_x, |d| d[row] * of_x);
            }
        }
    }
}

impl BlockPasses for Cpu {
    fn products<T: Real>(&self, x: &[Vec<T>], d: Option<&Vec<T>>, y: &[Vec<T>]) -> Small<T> {
        let n = x.first().map_or(0, Vec::len);
        let chunk = |c: usize| {
            let rows = c * CHUNK..((c + 1) * CHUNK).min(n);
            products_of_rows(&part(x, &rows), d.map(|d| &d[rows.clone()]), &part(y, &rows))
        };
        let partials: Vec<Small<T>> =
            self.install(|| (0..n.div_ceil(CHUNK)).into_par_iter().map(chunk).collect());
        upper(x.len(), |i, j| partials.iter().map(|partial| partial[j][i]).sum())
    }
    fn combine<T: Real>(
        &self,
        d: Option<&Vec<T>>,
        x: Option<(&[Vec<T>], Small<T>)>,
        y: &mut [Vec<T>],
        b: Option<Small<T>>,
    ) {
        let mut chunks: Vec<Vec<&mut [T]>> = Vec::new();
        for column in y {
            for (c, rows) in column.chunks_mut(CHUNK).enumerate() {
                if c == chunks.len() {
                    chunks.push(Vec::new());
                }
                chunks[c].push(rows);
            }
        }
        self.install(|| {
            chunks.into_par_iter().enumerate().for_each(|(c, mut y)| {
                let rows = c * CHUNK..c * CHUNK + y.first().map_or(0, |column| column.len());
                let of_x = x.map(|(x, _)| part(x, &rows)).unwrap_or_default();
                let of_x = x.as_ref().map(|(_, a)| (&of_x[..], a));
                combine_rows(d.map(|d| &d[rows]), of_x, &mut y, b.as_ref());
            });
        });
    }
}

/// These rows of a block.
fn part<'a, T>(block: &'a [Vec<T>], rows: &Range<usize>) -> Vec<&'a [T]> {
    block.iter().map(|column| &column[rows.clone()]).collect()
}

/// A small matrix of these elements (i, j) of its upper triangle.
fn upper<T: Real>(count: usize, element: impl Fn(usize, usize) -> T) -> Small<T> {
    let mut small = [[T::ZERO; MOST]; MOST];
    for (j, column) in small.iter_mut().enumerate().take(count) {
        for (i, value) in column.iter_mut().enumerate().take(j + 1) {
            *value = element(i, j);
        }
    }
    small
}

fn load<T: Real>(s: &HostScalars<T>, first: Slot) -> Small<T> {
    std::array::from_fn(|j| std::array::from_fn(|i| s.get(first.offset(j * MOST + i))))
}

fn store<T: Real>(s: &HostScalars<T>, first: Slot, columns: impl Fn(usize) -> [T; MOST]) {
    for j in 0..MOST {
        for (i, value) in columns(j).into_iter().enumerate() {
            s.set(first.offset(j * MOST + i), value);
        }
    }
}

/// Stops all that runs.
fn raise(watched: &Watched<HostMonitor>, status: u32) {
    let runs = |monitor: &&HostMonitor| monitor.progress().running();
    watched.columns.iter().filter(runs).for_each(|monitor| monitor.raise(status));
    watched.whole.raise(status);
}

impl<T: Real, H: BlockPasses + Backend<T, Vector = Vec<T>, Scalars = HostScalars<T>, Monitor = HostMonitor>>
    BlockCgSteps<T> for H
{
    fn block_products(
        &self,
        x: &[Vec<T>],
        d: Option<&Vec<T>>,
        y: &[Vec<T>],
        s: &HostScalars<T>,
        out: Slot,
    ) -> Result<()> {
        check_small(s, &[Some(out)])?;
        check_blocks(d, &[x, y])?;
        if !self.stopped() {
            let products = self.products(x, d, y);
            store(s, out, |j| products[j]);
        }
        Ok(())
    }
    fn block_combination(
        &self,
        s: &HostScalars<T>,
        d: Option<&Vec<T>>,
        x: Option<(&[Vec<T>], Slot)>,
        y: &mut [Vec<T>],
        b: Option<Slot>,
    ) -> Result<()> {
        check_small(s, &[x.map(|(_, a)| a), b])?;
        check_blocks(d, &[y, x.map_or(&*y, |(x, _)| x)])?;
        if !self.stopped() {
            self.combine(d, x.map(|(x, a)| (x, load(s, a))), y, b.map(|b| load(s, b)));
        }
        Ok(())
    }
    fn block_cg_lengths(&self, s: &HostScalars<T>, watched: &Watched<HostMonitor>) -> Result<()> {
        check_watched(s, watched)?;
        if self.stopped() {
            return Ok(());
        }
        match root(&load(s, D_AD)) {
            Ok(r) => {
                let c = load(s, C);
                store(s, OF_X, |j| solve(&r, c[j]));
                store(s, OF_Q, |j| solve(&r, unit(j)).map(|v| -v));
            }
            Err(status) => raise(watched, status),
        }
        Ok(())
    }
    fn block_cg_residuals(
        &self,
        s: &HostScalars<T>,
        q_q: Slot,
        watched: &Watched<HostMonitor>,
    ) -> Result<()> {
        check_watched(s, watched)?;
        check_small(s, &[Some(q_q)])?;
        if self.stopped() {
            return Ok(());
        }
        let (c, products) = (load(s, C), load(s, q_q));
        let r = match root(&load(s, Q_MQ)) {
            Ok(r) => r,
            Err(fault) => {
                let is_indefinite = fault == status::INDEFINITE_OPERATOR;
                raise(watched, if is_indefinite { status::INDEFINITE_PRECONDITIONER } else { fault });
                return Ok(());
            }
        };
        store(s, C, |j| times(&r, c[j]));
        store(s, R_INVERSE, |j| solve_upper(&r, unit(j)));
        store(s, R_TRANSPOSED, |j| row(&r, j));
        let mut largest = 0.0;
        for (j, (monitor, weight)) in watched.columns.iter().zip(watched.weights).enumerate() {
            let norm = length(&products, c[j]).to_f64();
            largest = Real::max_nan(largest, weighted(norm, *weight));
            if monitor.progress().running() {
                monitor.observe(norm);
            }
        }
        watched.whole.observe(largest);
        Ok(())
    }
}
