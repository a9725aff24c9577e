//! What a solve is reported from.

use serde::Serialize;
use warpsolve::Error;
use warpsolve::io::matrix::Summary;
use warpsolve::job::{self, Options};
use warpsolve::launch::DeviceInfo;
use warpsolve::matrix::RowStats;

use super::capacity::Capacity;

/// All that a report says.
pub struct Facts {
    /// Name of the matrix.
    pub matrix: String,
    /// What was found in the file; `None` for a generated matrix.
    pub summary: Option<Summary>,
    /// Row lengths.
    pub rows: RowStats,
    /// The options given.
    pub options: Options,
    /// The GPU or simulator.
    pub gpu: Option<DeviceInfo>,
    /// What it can do at once; asked for where a report says it.
    pub capacity: Option<Capacity>,
    /// Why `auto` took the CPU.
    pub no_gpu: Option<Error>,
    /// Threads on the host.
    pub threads: usize,
    /// What the solve says of itself; of several right-hand sides [`worst`].
    pub report: job::Report,
    /// The same for each of several right-hand sides; empty where there is one.
    pub columns: Vec<job::Report>,
    /// Where the time of each solve went; one unless it was repeated.
    pub passes: Vec<Pass>,
    /// Its warnings, and those of this program.
    pub warnings: Vec<String>,
    /// Seconds for reading or generating the system.
    pub read_seconds: f64,
    /// Seconds for opening the device, during the reading.
    pub device_seconds: f64,
    /// Seconds from the start to the solution and its residual.
    pub total_seconds: f64,
    /// Bytes a second of a copy on the device.
    pub copy_bandwidth: Option<f64>,
}

/// Where the time of one solve went, from the system on the host to the solution there, in seconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Pass {
    /// Matrix and vectors to the device.
    pub upload_seconds: f64,
    /// Checks, choices, format, preconditioner.
    pub setup_seconds: f64,
    /// The driver's, for kernels on their first use.
    pub warm_up_seconds: f64,
    /// The iterations.
    pub solve_seconds: f64,
    /// Solutions to the host.
    pub download_seconds: f64,
    /// Residuals and backward errors.
    pub check_seconds: f64,
    /// From the first to the last.
    pub wall_seconds: f64,
}

/// A phase of a pass: its name and its seconds.
type Phase = (&'static str, fn(&Pass) -> f64);

impl Pass {
    /// All of them.
    pub const PHASES: [Phase; 7] = [
        ("upload", |pass| pass.upload_seconds),
        ("set-up", |pass| pass.setup_seconds),
        ("first kernels", |pass| pass.warm_up_seconds),
        ("solve", |pass| pass.solve_seconds),
        ("download", |pass| pass.download_seconds),
        ("check", |pass| pass.check_seconds),
        ("wall", |pass| pass.wall_seconds),
    ];

    /// Of the right-hand sides of one solve, which took so long.
    pub fn of(reports: &[job::Report], wall_seconds: f64) -> Pass {
        let sum = |of: fn(&job::Report) -> f64| reports.iter().map(of).sum();
        Pass {
            upload_seconds: sum(|report| report.upload_seconds),
            setup_seconds: sum(|report| report.setup_seconds),
            warm_up_seconds: sum(|report| report.warm_up_seconds),
            solve_seconds: sum(|report| report.solve_seconds),
            download_seconds: sum(|report| report.download_seconds),
            check_seconds: sum(|report| report.check_seconds),
            wall_seconds,
        }
    }
}

/// Of several solves the one that says most: the first that has not converged, or else the longest; its
/// times, bytes moved and attempts are those of all, its residual and error the largest.
pub fn worst(reports: &[job::Report]) -> Option<job::Report> {
    let longest = reports.iter().max_by_key(|report| report.outcome.iterations);
    let mut worst = reports.iter().find(|report| !report.converged()).or(longest)?.clone();
    let sum = |of: fn(&job::Report) -> f64| reports.iter().map(of).sum();
    // NaN is above all numbers.
    let most =
        |of: fn(&job::Report) -> f64| reports.iter().map(of).fold(0.0, |a: f64, b| if a > b { a } else { b });
    worst.setup_seconds = sum(|report| report.setup_seconds);
    worst.warm_up_seconds = sum(|report| report.warm_up_seconds);
    worst.upload_seconds = sum(|report| report.upload_seconds);
    worst.solve_seconds = sum(|report| report.solve_seconds);
    worst.relative_residual = most(|report| report.relative_residual);
    worst.backward_error = most(|report| report.backward_error);
    worst.projected = reports.iter().any(|report| report.projected);
    worst.bytes_moved = reports.iter().map(|report| report.bytes_moved).sum();
    worst.attempts = reports.iter().flat_map(|report| report.attempts.clone()).collect();
    Some(worst)
}

impl Facts {
    /// Bytes a second that the iterations moved; `None` where there were none.
    pub fn bandwidth(&self) -> Option<f64> {
        let bandwidth = self.report.bytes_moved as f64 / self.report.solve_seconds;
        (self.report.outcome.iterations > 0 && bandwidth.is_finite()).then_some(bandwidth)
    }

    /// Length of the cycles of GMRES; `None` for a method without.
    pub fn restart(&self) -> Option<usize> {
        self.takes("restart").then(|| self.options.method_parameters().restart)
    }

    /// Weight of the Jacobi method or of its sweeps; `None` where there are none.
    pub fn omega(&self) -> Option<f64> {
        let is_of_precond = self.report.precond.description().takes_parameter("omega");
        (self.takes("omega") || is_of_precond).then_some(self.options.omega)
    }

    /// Sweeps of Jacobi as a preconditioner; `None` for another.
    pub fn sweeps(&self) -> Option<usize> {
        let is_of_precond = self.report.precond.description().takes_parameter("sweeps");
        is_of_precond.then_some(self.options.sweeps)
    }

    fn takes(&self, parameter: &str) -> bool {
        self.report.method.description().takes_parameter(parameter)
    }
}
