//! What a solve is reported from.

use warpsolve::Error;
use warpsolve::io::matrix::Summary;
use warpsolve::job::{self, Options};
use warpsolve::launch::DeviceInfo;
use warpsolve::matrix::RowStats;

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
    /// Why `auto` took the CPU.
    pub no_gpu: Option<Error>,
    /// Threads on the host.
    pub threads: usize,
    /// What the solve says of itself.
    pub report: job::Report,
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

    /// Weight of the Jacobi method; `None` for a method without.
    pub fn omega(&self) -> Option<f64> {
        self.takes("omega").then_some(self.options.omega)
    }

    fn takes(&self, parameter: &str) -> bool {
        self.report.method.description().takes_parameter(parameter)
    }
}
