//! What the programs are written over.

use std::time::Instant;

use super::transfers::Transfers;
use crate::backend::cpu::Cpu;
use crate::backend::gpu::{Gpu, check_memory};
use crate::backend::{Backend, Slot};
use crate::error::{Error, Result};
use crate::memory::free_memory;
use crate::solver::{Run, StopReason};

/// A backend that measures, and refuses what it has no room for.
pub(super) trait Machine: Backend<f64> {
    /// Seconds that `work` takes, from its first kernel to the end of its last.
    fn seconds(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64>;
    /// Copies `values`, as many as x has, into x.
    fn update_device(&self, x: &mut Self::Vector, values: &[f64]) -> Result<()>;
    /// Copies the elements of x into `values`, as many.
    fn update_host(&self, x: &Self::Vector, values: &mut [f64]) -> Result<()>;
    /// Refuses `count` vectors of `len` elements for which there is no room.
    fn room(&self, count: usize, len: usize) -> Result<()>;
}

impl Machine for Cpu {
    fn seconds(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let start = Instant::now();
        work()?;
        Ok(start.elapsed().as_secs_f64())
    }
    fn update_device(&self, x: &mut Vec<f64>, values: &[f64]) -> Result<()> {
        x.copy_from_slice(values);
        Ok(())
    }
    fn update_host(&self, x: &Vec<f64>, values: &mut [f64]) -> Result<()> {
        values.copy_from_slice(x);
        Ok(())
    }
    fn room(&self, count: usize, len: usize) -> Result<()> {
        // What is computed with, and what it was made from.
        let (needed, free) = (2 * (count * len * size_of::<f64>()) as u64, free_memory());
        if needed <= free {
            return Ok(());
        }
        Err(Error::HostMemory { needed, free, detail: "vectors, each of them twice".into() })
    }
}

impl Machine for Gpu {
    fn seconds(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let start = self.device().record()?;
        work()?;
        self.device().elapsed(&start, &self.device().record()?)
    }
    fn update_device(&self, x: &mut Self::Vector, values: &[f64]) -> Result<()> {
        x.update_device(0, values)
    }
    fn update_host(&self, x: &Self::Vector, values: &mut [f64]) -> Result<()> {
        x.update_host(0, values)
    }
    fn room(&self, count: usize, len: usize) -> Result<()> {
        check_memory(&**self.device(), &[("vectors", (count * len * size_of::<f64>()) as u64)])
    }
}

/// How an iteration ended.
pub(super) struct Iterated<V> {
    /// The last iterate.
    pub x: V,
    pub steps: u32,
    /// The last change that was observed.
    pub change: f64,
    pub converged: bool,
    pub seconds: f64,
}

/// `x_k+1 = sweep(x_k)` from `x`, alternating between it and `y`, until the change that a
/// `sweep(m, monitor, from, to)` observed, and left in `s[0]`, is at most `threshold`, or `limit` sweeps are
/// done. The first sweep is made twice: the first time warms up, and must leave no trace.
pub(super) fn iterate<M: Machine>(
    m: &M,
    transfers: Transfers,
    limit: u32,
    threshold: f64,
    [mut x, mut y]: [M::Vector; 2],
    s: &M::Scalars,
    sweep: impl Fn(&M, &M::Monitor, &M::Vector, &mut M::Vector) -> Result<()>,
) -> Result<Iterated<M::Vector>> {
    sweep(m, &m.monitor(1, threshold)?, &x, &mut y)?;
    m.synchronize()?;
    if transfers == Transfers::EveryStep {
        let monitor = m.monitor(limit, threshold)?;
        let (mut steps, mut change) = (0, f64::NAN);
        let seconds = m.seconds(&mut || {
            steps = travel(m, limit, [&mut x, &mut y], |u, v| {
                sweep(m, &monitor, u, v)?;
                change = m.read(s, Slot(0))?;
                Ok(change > threshold)
            })?;
            Ok(())
        })?;
        return Ok(Iterated { x, steps, change, converged: change <= threshold, seconds });
    }
    let mut ignore = |_, _| ();
    // A monitor expects the norm before the first step, but there is none here.
    let mut run = Run::bounded(m, limit - 1, threshold, &mut ignore)?;
    let mut step = |m: &M, monitor: &M::Monitor, k: u32| match k % 2 {
        0 => sweep(m, monitor, &x, &mut y),
        _ => sweep(m, monitor, &y, &mut x),
    };
    let seconds = m.seconds(&mut || run.iterate(2, &mut step))?;
    let outcome = run.outcome(|| Ok("a coefficient"))?;
    let change = outcome.history.last().copied().unwrap_or(f64::NAN);
    let converged = outcome.reason == StopReason::Converged;
    let steps = outcome.history.len() as u32;
    let x = if steps.is_multiple_of(2) { x } else { y };
    Ok(Iterated { x, steps, change, converged, seconds })
}

/// `v = step(u)`, then with u and v exchanged, `limit` times or until a step says that it was the last.
/// Between the steps the data are on the host. The last iterate is in u; how many steps there were.
pub(super) fn travel<M: Machine>(
    m: &M,
    limit: u32,
    [x, y]: [&mut M::Vector; 2],
    mut step: impl FnMut(&M::Vector, &mut M::Vector) -> Result<bool>,
) -> Result<u32> {
    let (mut u, mut v) = (m.to_host(x)?, m.to_host(y)?);
    for k in 1..=limit {
        m.update_device(x, &u)?;
        let goes_on = step(x, y)?;
        m.update_host(y, &mut v)?;
        std::mem::swap(&mut u, &mut v);
        if !goes_on || k == limit {
            std::mem::swap(x, y);
            return Ok(k);
        }
    }
    Ok(0)
}
