//! What `bench` measures and writes: the same structure is printed, stored as JSON, and compared.

use serde::{Deserialize, Serialize};
use warpsolve::job::Timing;

/// The form of the JSON.
pub const SCHEMA: &str = "warpsolve.bench/1";

/// Everything that one call measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub schema: String,
    pub version: String,
    /// When it began, RFC 3339, UTC.
    pub date: String,
    /// What was typed.
    pub command: String,
    /// The host's processor.
    pub cpu: String,
    /// Cores that the host offers.
    pub cores: usize,
    pub devices: Vec<Device>,
    pub tables: Vec<Table>,
}

/// A device that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Device {
    pub name: String,
    /// "cpu", "cuda" or "sim".
    pub kind: String,
    pub driver_version: Option<String>,
    /// Bytes a second of a copy within the device (CPU: of a triad), just before.
    pub copy_bandwidth: Option<f64>,
}

/// One of the source documents' tables, repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// "dot", "spmv", ...
    pub table: String,
    pub title: String,
    /// Where the published figures are from.
    pub source: String,
    pub system: System,
    pub rows: Vec<Row>,
}

/// What is multiplied or solved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct System {
    pub matrix: String,
    pub rows: usize,
    pub nonzeros: usize,
}

/// One measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// "SpMV", "CG + AMG", ...
    pub work: String,
    pub device: String,
    /// Threads, on the CPU.
    pub threads: Option<usize>,
    pub format: Option<String>,
    pub precision: String,
    /// Why there are no figures.
    pub refused: Option<String>,
    pub figures: Option<Figures>,
    pub published: Vec<Published>,
}

/// What came out of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Seconds of one call; of a solve without its set-up.
    pub time: Spread,
    /// Seconds of the set-up before it.
    pub setup: Option<Spread>,
    pub iterations: Option<u32>,
    /// `||b - A x|| / ||b||` recomputed, or the error of a product beside the sequential one.
    pub error: f64,
    /// Whether the error is as it has to be.
    pub correct: bool,
    /// Why a solve ended, where it did not converge.
    pub stopped: Option<String>,
    /// Bytes that a call must move, whatever caches keep.
    pub bytes: u64,
    /// Floating-point operations of a call; none are given for solves.
    pub operations: Option<u64>,
    /// Copies between host and device in so many calls.
    pub copies: Option<Copies>,
    /// The kernels of a call, the one that takes longest first.
    pub kernels: Vec<Kernel>,
    /// Iterations, and the norm of the residual over that of b after them; some of all.
    pub history: Vec<(u32, f64)>,
}

/// Repeated times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub median: f64,
    /// First and third quartile: half of all times lie between them.
    pub quartiles: (f64, f64),
    pub count: usize,
}

/// Copies between host and device.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Copies {
    pub copies: u64,
    pub calls: u64,
}

/// How a kernel was launched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    pub name: String,
    pub registers: Option<u32>,
    pub grid: u32,
    pub block: u32,
}

/// The same work in a source document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// How it was programmed, and on what.
    pub by: String,
    pub seconds: f64,
    /// Standard deviation.
    pub deviation: Option<f64>,
    /// What else is known of it: copies, registers, grid and block.
    pub detail: Option<String>,
}

impl From<&Timing> for Spread {
    fn from(timing: &Timing) -> Spread {
        Spread { median: timing.median(), quartiles: timing.quartiles(), count: timing.seconds.len() }
    }
}

impl Figures {
    /// Bytes a second.
    pub fn bandwidth(&self) -> f64 {
        self.bytes as f64 / self.time.median
    }
    /// Operations a second.
    pub fn flops(&self) -> Option<f64> {
        self.operations.map(|n| n as f64 / self.time.median)
    }
}

impl Row {
    /// What two reports have in common where they measured the same.
    pub fn key(&self) -> (&str, &str, Option<usize>, Option<&str>, &str) {
        (&self.work, &self.device, self.threads, self.format.as_deref(), &self.precision)
    }
}

impl Report {
    /// Bytes a second of a copy on the device of this name.
    pub fn copy_bandwidth(&self, device: &str) -> Option<f64> {
        self.devices.iter().find(|d| d.name == device)?.copy_bandwidth
    }
}
