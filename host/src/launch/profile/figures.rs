//! The figures of a device that was watched.

use std::time::Instant;

use serde::Serialize;

use crate::launch::KernelAttributes;

/// What ran on a device; made by [`Profiled::profile`](super::Profiled::profile).
///
/// Times are the device's own, between an event before and an event after each piece of work. About 2
/// microseconds of each are the events', and where the device waits for the host, the time until the host has
/// queued the work. Launches behind the end of an iteration, which do nothing, are among the others.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Profile {
    /// Each kernel that was launched, the one that took most time first.
    pub kernels: Vec<KernelProfile>,
    /// Copies from the host to the device. Each ends when the host may go on, not when the last byte has
    /// arrived.
    pub uploads: CopyProfile,
    /// Copies from the device to the host; as [`Profile::uploads`], without the wait for work queued before.
    pub downloads: CopyProfile,
    /// Copies within the device.
    pub device_copies: CopyProfile,
    /// Memory set to zero.
    pub fills: CopyProfile,
    /// Allocations of device memory.
    pub allocations: u64,
    /// Bytes of all allocations together.
    pub allocated_bytes: u64,
    /// Most bytes that were allocated at a time.
    pub peak_bytes: u64,
    /// Seconds in which the device worked.
    pub busy_seconds: f64,
    /// Seconds from the start of the first piece of work to the end of the last.
    pub span_seconds: f64,
    /// Launches, copies and fills that are in none of the figures, because their times are not known: 0,
    /// unless the device failed.
    pub untimed: u64,
}

impl Profile {
    /// Launches of all kernels.
    pub fn launches(&self) -> u64 {
        self.kernels.iter().map(|kernel| kernel.launches).sum()
    }

    /// Seconds between the first and the last piece of work in which the device had nothing to do.
    pub fn idle_seconds(&self) -> f64 {
        self.span_seconds - self.busy_seconds
    }
}

/// All launches of a kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelProfile {
    /// Its name in the PTX: the kernel's, and those of the types it was compiled for.
    pub name: String,
    /// How often it was launched.
    pub launches: u64,
    /// Seconds of all launches together.
    pub total_seconds: f64,
    /// Seconds of the shortest launch.
    pub min_seconds: f64,
    /// Seconds of the longest launch.
    pub max_seconds: f64,
    /// Blocks of a launch, the least and the most.
    pub grid: (u32, u32),
    /// Threads of a block, the least and the most.
    pub block: (u32, u32),
    /// What it takes; `None` in the simulator.
    pub attributes: Option<KernelAttributes>,
    /// Bytes that all launches together had to move, whatever the caches keep; `None` where that is not known
    /// of each.
    pub bytes: Option<u64>,
}

impl KernelProfile {
    /// Seconds of a launch.
    pub fn mean_seconds(&self) -> f64 {
        self.total_seconds / self.launches as f64
    }

    /// Bytes a second, where it is known what had to be moved.
    pub fn bandwidth(&self) -> Option<f64> {
        self.bytes.map(|bytes| bytes as f64 / self.total_seconds).filter(|bandwidth| bandwidth.is_finite())
    }
}

/// All copies in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct CopyProfile {
    /// How many.
    pub count: u64,
    /// Bytes of all together, each once: not for reading and for writing.
    pub bytes: u64,
    /// Seconds of all together.
    pub seconds: f64,
}

impl CopyProfile {
    /// Bytes a second; `None` where there was no copy.
    pub fn bandwidth(&self) -> Option<f64> {
        let bandwidth = self.bytes as f64 / self.seconds;
        bandwidth.is_finite().then_some(bandwidth)
    }
}

/// Something that ran on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// A launch.
    Kernel {
        /// The kernel.
        name: &'static str,
        /// Blocks.
        grid: u32,
        /// Threads of a block.
        block: u32,
        /// Bytes that had to be moved, where that is known.
        bytes: Option<u64>,
    },
    /// A copy from the host of so many bytes.
    Upload(u64),
    /// A copy to the host.
    Download(u64),
    /// A copy within the device.
    Copy(u64),
    /// Memory set to zero.
    Fill(u64),
}

/// When something ran.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// What.
    pub activity: Activity,
    /// Seconds from [`Trace::begin`] to its start.
    pub start: f64,
    /// Seconds that it took.
    pub seconds: f64,
}

/// Everything that ran, one after the other; made by [`Profiled::trace`](super::Profiled::trace).
#[derive(Debug, Clone)]
pub struct Trace {
    /// When the device began to be watched.
    pub begin: Instant,
    /// What ran, at most [`TRACE_LIMIT`].
    pub spans: Vec<Span>,
    /// (seconds from `begin`, bytes of device memory allocated from then on), at most [`TRACE_LIMIT`].
    pub memory: Vec<(f64, u64)>,
    /// What ran and what was allocated after the limit was reached.
    pub left_out: u64,
}

/// Most entries of a [`Trace`]: some hundred megabytes, and about what viewers can show.
pub const TRACE_LIMIT: usize = 2_000_000;
