//! The tables of access patterns, of unified memory, and of ways to write loops.

use warpsolve::Result;
use warpsolve::job::loops::{self, Loops};
use warpsolve::job::patterns::unified::{self, Place};
use warpsolve::job::patterns::{self, Pattern};
use warpsolve::job::{Device, Precision, Timing};
use warpsolve::matrix::{Csr, Format};

use super::products::kernels;
use super::published;
use super::report::{Figures, Kernel, Report, Row, Spread};
use super::shared::{Bench, row};

/// Elements of a vector on GPUs, on the CPU, and in the simulator: on the first two more than caches hold.
const ELEMENTS: [usize; 3] = [1 << 25, 1 << 22, 1000];
/// Calls that are measured of each, and in the simulator.
const REPEAT: (u32, u32) = (100, 3);
/// Times that memory is moved to the device, which takes long.
const MOVES: u32 = 5;

impl Bench {
    /// Elements of a vector.
    pub fn elements(&self) -> usize {
        let is_gpu = self.devices.iter().any(|device| matches!(device, Device::Gpu(_)));
        let default = match (self.simulated, is_gpu) {
            (true, _) => ELEMENTS[2],
            (false, true) => ELEMENTS[0],
            (false, false) => ELEMENTS[1],
        };
        self.setting.elements.map_or(default, |n| n as usize)
    }

    fn calls(&self) -> usize {
        self.setting.repeat.unwrap_or(if self.simulated { REPEAT.1 } else { REPEAT.0 }) as usize
    }

    /// Each pattern on each device.
    pub fn patterns(&self) -> Result<Vec<Row>> {
        let n = self.elements();
        let mut rows = Vec::new();
        for device in &self.devices {
            for &pattern in Pattern::ALL {
                self.progress.working(pattern.to_string());
                let measured = patterns::measure(device, pattern, n, self.calls()).and_then(|m| {
                    let kernels =
                        kernels(device, |device| patterns::measure(device, pattern, n, 1).map(drop))?;
                    Ok(figures(&m.timing, m.wrong, m.bytes, Some(m.operations), kernels))
                });
                rows.push(row(&pattern.to_string(), device, None, Precision::F32, Vec::new(), measured)?);
            }
        }
        Ok(rows)
    }

    /// A kernel that reads memory from where it is.
    pub fn unified(&self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for device in &self.devices {
            for &place in Place::ALL {
                self.progress.working(place.to_string());
                let repeat = self.setting.repeat.unwrap_or(MOVES) as usize;
                let measured = unified::measure(device, place, self.elements(), repeat)
                    .map(|m| figures(&m.timing, m.wrong, m.bytes, None, Vec::new()));
                rows.push(row(&place.to_string(), device, None, Precision::F32, Vec::new(), measured)?);
            }
        }
        Ok(rows)
    }

    /// A sweep of Jacobi's iteration, its loops written in four ways, on the last number of threads.
    pub fn loops(&self, a: &Csr<f64>, report: &mut Report) -> Result<Vec<Row>> {
        let last = self.threads.last().copied().unwrap_or(1);
        let mut rows = Vec::new();
        for device in &self.cpus(&[last], report)? {
            let Device::Cpu(cpu) = device else { continue };
            for &way in Loops::ALL {
                self.progress.working(way.to_string());
                let measured = loops::measure(cpu, a, way, self.calls())
                    .map(|m| figures(&m.timing, m.wrong, m.bytes, None, Vec::new()));
                let (format, published) = (Some(Format::Crs), published::loops(way));
                rows.push(row(&way.to_string(), device, format, Precision::F64, published, measured)?);
            }
        }
        Ok(rows)
    }
}

/// What was compared bit by bit.
pub fn figures(
    timing: &Timing,
    wrong: usize,
    bytes: u64,
    operations: Option<u64>,
    kernels: Vec<Kernel>,
) -> Figures {
    Figures {
        time: Spread::from(timing),
        setup: None,
        iterations: None,
        error: wrong as f64,
        correct: wrong == 0,
        stopped: None,
        bytes,
        operations: operations.filter(|&n| n > 0),
        copies: None,
        kernels,
        history: Vec::new(),
    }
}
