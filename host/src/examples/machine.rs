//! What the programs are written over.

use std::time::Instant;

use super::way::{Transfers, Way};
use crate::backend::cpu::Cpu;
use crate::backend::gpu::{Gpu, check_memory};
use crate::backend::{Backend, Slot};
use crate::error::Result;
use crate::memory::check_free;
use crate::solver::{Run, StopReason};

/// A device that measures, and refuses what it has no room for.
pub(super) trait Clock {
    /// Seconds that `work` takes, from its first kernel to the end of its last.
    fn seconds(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64>;
    /// Refuses `count` vectors of `len` elements of 8 bytes for which there is no room.
    fn room(&self, count: usize, len: usize) -> Result<()>;
}

/// A backend that measures, and whose vectors can be overwritten.
pub(super) trait Machine: Backend<f64> + Clock {
    /// Copies `values`, as many as x has, into x.
    fn update_device(&self, x: &mut Self::Vector, values: &[f64]) -> Result<()>;
    /// Copies the elements of x from `first` on into `values`.
    fn update_host(&self, x: &Self::Vector, first: usize, values: &mut [f64]) -> Result<()>;
}

impl Clock for Cpu {
    fn seconds(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let start = Instant::now();
        work()?;
        Ok(start.elapsed().as_secs_f64())
    }
    fn room(&self, count: usize, len: usize) -> Result<()> {
        // What is computed with, and what it was made from.
        let needed = 2 * (count * len * size_of::<f64>()) as u64;
        check_free(needed, || "vectors, each of them twice".into())
    }
}

impl Machine for Cpu {
    fn update_device(&self, x: &mut Vec<f64>, values: &[f64]) -> Result<()> {
        x.copy_from_slice(values);
        Ok(())
    }
    fn update_host(&self, x: &Vec<f64>, first: usize, values: &mut [f64]) -> Result<()> {
        values.copy_from_slice(&x[first..][..values.len()]);
        Ok(())
    }
}

impl Clock for Gpu {
    fn seconds(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let start = self.device().record()?;
        work()?;
        self.device().elapsed(&start, &self.device().record()?)
    }
    fn room(&self, count: usize, len: usize) -> Result<()> {
        check_memory(&**self.device(), &[("vectors", (count * len * size_of::<f64>()) as u64)])
    }
}

impl Machine for Gpu {
    fn update_device(&self, x: &mut Self::Vector, values: &[f64]) -> Result<()> {
        x.update_device(0, values)
    }
    fn update_host(&self, x: &Self::Vector, first: usize, values: &mut [f64]) -> Result<()> {
        x.update_host(first, values)
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

/// When an iteration ends.
#[derive(Clone, Copy)]
pub(super) struct Until {
    /// The largest change of a sweep is this at most.
    pub threshold: f64,
    /// So many sweeps are done.
    pub limit: u32,
}

/// What is done with a state on the way: its steps, the last change, and the iterate.
type Look<'a, V> = dyn FnMut(u32, f64, &V) -> Result<()> + 'a;

/// `x_k+1 = sweep(x_k)` from `x`, alternating between it and `y`, until the change that a
/// `sweep(m, monitor, from, to)` observed, and left in `s[0]`, is small, or the limit is reached. The first
/// sweep is made twice: the first time warms up, and must leave no trace. Where the way has lines,
/// `look(steps, change, x)` is called every so many steps.
pub(super) fn iterate<M: Machine>(
    m: &M,
    way: Way,
    until: Until,
    [mut x, mut y]: [M::Vector; 2],
    s: &M::Scalars,
    sweep: impl Fn(&M, &M::Monitor, &M::Vector, &mut M::Vector) -> Result<()>,
    look: &mut Look<M::Vector>,
) -> Result<Iterated<M::Vector>> {
    let Until { threshold, limit } = until;
    sweep(m, &m.monitor(1, threshold)?, &x, &mut y)?;
    m.synchronize()?;
    if way.transfers == Transfers::EveryStep {
        let monitor = m.monitor(limit, threshold)?;
        let (mut steps, mut change) = (0, f64::NAN);
        let seconds = m.seconds(&mut || {
            let mut done = 0;
            steps = travel(m, limit, [&mut x, &mut y], |u, v| {
                sweep(m, &monitor, u, v)?;
                change = m.read(s, Slot(0))?;
                done += 1;
                if way.has_line(done) {
                    look(done, change, v)?;
                }
                Ok(change > threshold)
            })?;
            Ok(())
        })?;
        return Ok(Iterated { x, steps, change, converged: change <= threshold, seconds });
    }
    let mut ignore = |_, _| ();
    // A monitor expects the norm before the first step, but there is none here.
    let mut run = Run::bounded(m, limit - 1, threshold, &mut ignore)?;
    let step = |m: &M, monitor: &M::Monitor, k: u32, both: &mut [M::Vector; 2]| {
        let [x, y] = both;
        if k.is_multiple_of(2) { sweep(m, monitor, x, y) } else { sweep(m, monitor, y, x) }
    };
    let mut both = [x, y];
    let seconds = match way.lines {
        None => m.seconds(&mut || run.iterate(2, |m, monitor, k| step(m, monitor, k, &mut both)))?,
        Some(every) => m.seconds(&mut || {
            let mut k = 0;
            while run.goes_on(k)? {
                step(&run.backend, &run.monitor, k, &mut both)?;
                k += 1;
                // The host waits here, so that what it reads is what this step has written.
                if k.is_multiple_of(every) && run.known(k)? {
                    look(k, m.read(s, Slot(0))?, &both[k as usize % 2])?;
                }
            }
            Ok(())
        })?,
    };
    let [x, y] = both;
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
        m.update_host(y, 0, &mut v)?;
        std::mem::swap(&mut u, &mut v);
        if !goes_on || k == limit {
            std::mem::swap(x, y);
            return Ok(k);
        }
    }
    Ok(0)
}
