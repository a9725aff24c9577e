//! The small programs that tutorials on GPUs are made of, each of which checks what it computed.
//!
//! A program is written once over [`Machine`]: the data stay where they are computed on, and whether an iteration has
//! converged is decided there (see [`crate::backend`]). What it adds to the primitives stands beside it, as loops for the
//! CPU and as the launch of a kernel of [`gpu_kernels::examples`].
//!
//! To add one: its kernel in a file there, its file here with `SIZES` and `run`, and a line in `programs!`.

use std::time::Instant;

use crate::backend::Backend;
use crate::backend::cpu::Cpu;
use crate::backend::gpu::{Gpu, check_memory};
use crate::error::{Error, Result};
use crate::job::Device;
use crate::named::named;
use crate::solver::{Run, StopReason};

mod dense;
mod stencil;
#[cfg(test)]
mod tests;

use dense::Dense;
use pi::Midpoints;
use stencil::Stencil;
use vadd::Add;

/// The programs, and what is asked of each: a module with `SIZES` and `run`.
macro_rules! programs {
    ($($(#[$doc:meta])* $variant:ident = $name:literal in $module:ident,)*) => {
        $(mod $module;)*
        named! {
            /// A small program.
            "example" Program { $($(#[$doc])* $variant = $name,)* }
        }
        impl Program {
            fn sizes(self) -> Sizes {
                match self { $(Program::$variant => $module::SIZES,)* }
            }
            fn start<M: Machine>(self, m: &M, sizes: &[usize]) -> Result<Report> {
                match self { $(Program::$variant => $module::run(m, sizes),)* }
            }
        }
    };
}

programs! {
    /// The sum of two vectors.
    Vadd = "vadd" in vadd,
    /// pi by the midpoint rule.
    Pi = "pi" in pi,
    /// The heat equation by an explicit scheme.
    Heat = "heat" in heat,
    /// The Laplace equation by Jacobi's iteration.
    Laplace = "laplace" in laplace,
    /// Gram and Schmidt's orthogonalisation, once and twice.
    GramSchmidt = "gram-schmidt" in gram_schmidt,
    /// A dense system by Jacobi's iteration.
    JacobiDense = "jacobi-dense" in jacobi_dense,
    /// A hundred sweeps of Jacobi's iteration on a grid.
    JacobiGrid = "jacobi-grid" in jacobi_grid,
}

/// What a program takes: (name, smallest, largest) of each number, and their values where they are not given.
struct Sizes {
    ranges: &'static [(&'static str, usize, usize)],
    cpu: &'static [usize],
    cuda: &'static [usize],
    sim: &'static [usize],
}

/// What a program did.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What was computed, with its sizes.
    pub what: String,
    /// What came out: (key, label, value, the value as text).
    pub figures: Vec<(&'static str, &'static str, f64, String)>,
    /// How long it took, and how many bytes had to be moved.
    pub timings: Vec<Timing>,
    /// Whether the result is right.
    pub passed: bool,
    /// How that was seen.
    pub check: String,
    /// Times that the program's source gives for these sizes: seconds, and where they were measured.
    pub published: Vec<(f64, &'static str)>,
}

/// One of a program's times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Of what; empty where there is one.
    pub label: &'static str,
    /// On a GPU its own time, between two events, else the wall clock's; kernels were warm.
    pub seconds: f64,
    /// Bytes that must be moved, whatever caches keep.
    pub bytes: u64,
}

/// Runs a program. Sizes that are not given are those of its source, or smaller on a slower device.
///
/// # Errors
/// [`Error::Option`] for sizes out of range, [`Error::DeviceMemory`] where the device cannot hold them, and those of the
/// device. A result that is wrong is no error but a [`Report`] that says so.
pub fn run(program: Program, given: &[usize], device: &Device) -> Result<Report> {
    let sizes = program.sizes();
    let defaults = match device {
        Device::Cpu(_) => sizes.cpu,
        Device::Gpu(gpu) if gpu.device().info().compute_capability.0 == 0 => sizes.sim,
        Device::Gpu(_) => sizes.cuda,
    };
    let names: Vec<&str> = sizes.ranges.iter().map(|range| range.0).collect();
    if given.len() > names.len() {
        let takes = format!("example {program} takes {}, and nothing more", names.join(" and "));
        return Err(Error::Option(format!("{takes}; {} numbers are given", given.len())));
    }
    for (&n, &(name, least, most)) in given.iter().zip(sizes.ranges) {
        if !(least..=most).contains(&n) {
            return Err(Error::Option(format!("example {program}: {name} is {n}; use {least} to {most}")));
        }
    }
    let sizes = [given, &defaults[given.len()..]].concat();
    match device {
        Device::Cpu(cpu) => cpu.install(|| program.start(cpu, &sizes)),
        Device::Gpu(gpu) => program.start(gpu, &sizes),
    }
}

/// A backend with what the programs need beside its primitives.
trait Machine: Backend<f64> + Add + Midpoints + Stencil + Dense {
    /// Seconds that `work` takes, from its first kernel to the end of its last.
    fn seconds(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64>;
    /// Refuses `count` vectors of `len` elements for which there is no room.
    fn room(&self, count: usize, len: usize) -> Result<()>;
}

impl Machine for Cpu {
    fn seconds(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let start = Instant::now();
        work()?;
        Ok(start.elapsed().as_secs_f64())
    }
    fn room(&self, _: usize, _: usize) -> Result<()> {
        Ok(())
    }
}

impl Machine for Gpu {
    fn seconds(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        let start = self.device().record()?;
        work()?;
        self.device().elapsed(&start, &self.device().record()?)
    }
    fn room(&self, count: usize, len: usize) -> Result<()> {
        check_memory(&**self.device(), &[("vectors", (count * len * size_of::<f64>()) as u64)])
    }
}

/// How an iteration ended.
struct Iterated<V> {
    /// The last iterate.
    x: V,
    steps: u32,
    /// The last change that was observed.
    change: f64,
    converged: bool,
    seconds: f64,
}

/// `x_k+1 = sweep(x_k)` from `x`, to and fro between it and `y`, until the change that a `sweep(m, monitor, from, to)`
/// observed is at most `threshold`, or `limit` are done. The first comes twice: it warms up, and nothing of it may be left.
fn iterate<M: Machine>(
    m: &M,
    limit: u32,
    threshold: f64,
    [mut x, mut y]: [M::Vector; 2],
    sweep: impl Fn(&M, &M::Monitor, &M::Vector, &mut M::Vector) -> Result<()>,
) -> Result<Iterated<M::Vector>> {
    sweep(m, &m.monitor(1, threshold)?, &x, &mut y)?;
    m.synchronize()?;
    let mut ignore = |_, _| ();
    // A monitor counts from the norm before the first step, which there is not.
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
