//! The small programs that tutorials on GPUs are made of, each of which checks what it computed.
//!
//! A program is written once over `Machine`: the data stay in the memory of the device that computes, which
//! also decides whether an iteration has converged (see [`crate::backend`]). The operations that a program
//! adds are in its file: loops for the CPU, and the launch of a kernel of [`gpu_kernels::examples`].
//!
//! To add one: its kernel in a file there, its file here with `SIZES` and `run`, and a line in `programs!`.

use crate::error::{Error, Result};
use crate::job::Device;
use crate::named::named;

mod dense;
mod machine;
mod report;
mod stencil;
#[cfg(test)]
mod tests;
mod way;

pub use report::{ONE_THREAD, Report, Timing};
pub use way::{Loops, Transfers, Way};

use dense::Dense;
use machine::Machine;
use modified_gram_schmidt::Modified;
use pi::Midpoints;
use report::Sizes;
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
            fn start<M: Every + Modified>(self, m: &M, sizes: &[usize], way: Way) -> Result<Report> {
                match self { $(Program::$variant => $module::run(m, sizes, way),)* }
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
    /// Modified Gram-Schmidt in f32, the matrix transposed or as it lies.
    ModifiedGramSchmidt = "modified-gram-schmidt" in modified_gram_schmidt,
    /// A dense system by Jacobi's iteration.
    JacobiDense = "jacobi-dense" in jacobi_dense,
    /// A hundred sweeps of Jacobi's iteration on a grid.
    JacobiGrid = "jacobi-grid" in jacobi_grid,
}

/// What all programs need in addition to the primitives.
trait Every: Machine + Add + Midpoints + Stencil + Dense {}
impl<M: Machine + Add + Midpoints + Stencil + Dense> Every for M {}

/// Runs a program. Sizes that are not given are those of its source, or smaller on a slower device.
///
/// # Errors
/// [`Error::Option`] for sizes out of range, for transfers in every step where the program has no steps, or
/// on the CPU, whose memory that of the host is, for loops as written where the source has but one order, and
/// for lines where it has none; [`Error::DeviceMemory`] where the device cannot hold them, and those of the
/// device. A result that is wrong is no error but a [`Report`] that says so.
pub fn run(program: Program, given: &[usize], way: Way, device: &Device) -> Result<Report> {
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
    let all = [given, &defaults[given.len()..]].concat();
    let refused = |what: &str, why: &str| Err(Error::Option(format!("example {program} with {what}: {why}")));
    if way.loops == Loops::AsWritten && !sizes.has_loops {
        return refused("loops as written", "its source has them in one order alone; heat has two");
    }
    if way.lines.is_some() && !sizes.has_lines {
        return refused("lines on the way", "laplace alone has them");
    }
    let travels = way.transfers == Transfers::EveryStep;
    if travels && !sizes.travels {
        let why = "it makes no steps on vectors that could travel; heat, laplace and jacobi-grid do";
        return refused("transfers in every step", why);
    }
    if travels && matches!(device, Device::Cpu(_)) {
        let why = "the CPU computes in the host's memory; take a GPU, or --device sim";
        return refused("transfers in every step", why);
    }
    let mut report = match device {
        Device::Cpu(cpu) => cpu.install(|| program.start(cpu, &all, way)),
        Device::Gpu(gpu) => program.start(gpu, &all, way),
    }?;
    if way.loops == Loops::AsWritten {
        report.what += ", loops as written";
    }
    if travels {
        report.what += ", copied to the device and back in every step";
    }
    Ok(report)
}
