//! The table of small programs, in the ways and sizes in which their sources time them.

use warpsolve::Result;
use warpsolve::examples::{self, Loops, ONE_THREAD, Program, Transfers, Way};
use warpsolve::job::{Device, Precision, Timing};

use super::patterns::figures;
use super::published;
use super::report::{Figures, Report, Row};
use super::shared::{Bench, row};

/// A program as its source times it.
#[derive(Clone, Copy)]
struct Case {
    program: Program,
    /// Points along each side of the grid, or rows and columns.
    size: u32,
    way: Way,
    /// Whether it takes minutes on a CPU: it runs once, and there by one number of threads.
    is_long: bool,
}

const RESIDENT: Way = Way { transfers: Transfers::Resident, loops: Loops::Coalesced, lines: None };
const EVERY_STEP: Way = Way { transfers: Transfers::EveryStep, ..RESIDENT };
const AS_WRITTEN: Way = Way { loops: Loops::AsWritten, ..RESIDENT };
const AS_WRITTEN_EVERY_STEP: Way = Way { loops: Loops::AsWritten, ..EVERY_STEP };

const fn case(program: Program, size: u32, way: Way) -> Case {
    Case { program, size, way, is_long: false }
}

const CASES: [Case; 10] = [
    case(Program::Heat, 8000, RESIDENT),
    case(Program::Heat, 8000, AS_WRITTEN),
    case(Program::Heat, 8000, AS_WRITTEN_EVERY_STEP),
    case(Program::Laplace, 1000, RESIDENT),
    case(Program::Laplace, 1000, EVERY_STEP),
    Case { is_long: true, ..case(Program::Laplace, 10_000, RESIDENT) },
    case(Program::JacobiGrid, 5000, RESIDENT),
    case(Program::JacobiGrid, 5000, EVERY_STEP),
    case(Program::ModifiedGramSchmidt, 1000, RESIDENT),
    Case { is_long: true, ..case(Program::ModifiedGramSchmidt, 5000, RESIDENT) },
];
/// Steps of the heat equation, as its source has them.
const STEPS: usize = 10;
/// Sizes in the simulator.
const SIMULATED: u32 = 24;
/// Runs of each that is not long.
const RUNS: u32 = 3;

impl Case {
    fn sizes(self) -> Vec<usize> {
        let n = self.size as usize;
        match self.program {
            Program::Heat => vec![n, STEPS],
            Program::ModifiedGramSchmidt => vec![n, n],
            _ => vec![n],
        }
    }

    fn precision(self) -> Precision {
        match self.program {
            Program::ModifiedGramSchmidt => Precision::F32,
            _ => Precision::F64,
        }
    }

    /// "laplace 1000, copied in every step".
    fn name(self) -> String {
        let mut name = self.sizes().iter().fold(self.program.to_string(), |name, n| format!("{name} {n}"));
        if self.way.loops == Loops::AsWritten {
            name += ", loops as written";
        }
        if self.way.transfers == Transfers::EveryStep {
            name += ", copied in every step";
        }
        name
    }

    /// The names and figures of its parts.
    ///
    /// # Errors
    /// Those of the program.
    fn measure(self, device: &Device, runs: u32) -> Result<Vec<(String, Figures)>> {
        let run = |_| examples::run(self.program, &self.sizes(), self.way, device);
        let reports = (0..runs).map(run).collect::<Result<Vec<_>>>()?;
        let wrong = reports.iter().filter(|report| !report.passed).count();
        let part = |(k, timing): (usize, &examples::Timing)| {
            let seconds = reports.iter().map(|report| report.timings[k].seconds).collect();
            let figures = figures(&Timing::of(seconds), wrong, timing.bytes, None, Vec::new());
            (timing.label.to_string(), figures)
        };
        Ok(reports[0].timings.iter().enumerate().map(part).collect())
    }
}

impl Bench {
    /// The programs by threads of the host where the CPU is asked for, and on each GPU.
    pub fn programs(&self, report: &mut Report) -> Result<Vec<Row>> {
        let is_cpu = |device: &&Device| matches!(device, Device::Cpu(_));
        let cpus = match self.devices.iter().any(|device| is_cpu(&device)) {
            true => self.cpus(&self.threads, report)?,
            false => Vec::new(),
        };
        let gpus = || self.devices.iter().filter(|device| !is_cpu(device));
        let mut rows = Vec::new();
        for case in self.cases() {
            // The CPU computes in the host's memory: nothing is copied there.
            let cpus = match (case.way.transfers, case.is_long) {
                (Transfers::EveryStep, _) => &[],
                (_, true) => &cpus[cpus.len().saturating_sub(1)..],
                (_, false) => &cpus[..],
            };
            // One thread of the host takes as long whatever is beside it.
            let mut has_one_thread = case.way.transfers == Transfers::EveryStep;
            for device in cpus.iter().chain(gpus()) {
                rows.extend(self.program(case, device, !has_one_thread)?);
                has_one_thread = true;
            }
        }
        Ok(rows)
    }

    /// Those of the documents' sizes, or of the one that was asked for.
    fn cases(&self) -> Vec<Case> {
        let Some(size) = self.setting.grid.or(self.simulated.then_some(SIMULATED)) else {
            return CASES.to_vec();
        };
        let in_size = |case: &Case| Case { size, is_long: false, ..*case };
        CASES.iter().filter(|case| !case.is_long).map(in_size).collect()
    }

    /// The rows of a program, with or without that of one thread of the host.
    fn program(&self, case: Case, device: &Device, with_one_thread: bool) -> Result<Vec<Row>> {
        let name = case.name();
        self.progress.working(format!("{name}, {}", device.name()));
        let threads = match device {
            Device::Cpu(cpu) => Some(cpu.threads()),
            Device::Gpu(_) => None,
        };
        let runs = self.setting.repeat.unwrap_or(if case.is_long { 1 } else { RUNS });
        let of_part = |label: &str, figures| {
            let work = if label.is_empty() { name.clone() } else { format!("{name}, {label}") };
            let published = published::program(&work, threads);
            row(&work, device, None, case.precision(), published, figures)
        };
        match case.measure(device, runs) {
            Ok(parts) => {
                let parts = parts.into_iter().filter(|(label, _)| with_one_thread || label != ONE_THREAD);
                parts.map(|(label, figures)| of_part(&label, Ok(figures))).collect()
            }
            Err(error) => Ok(vec![of_part("", Err(error))?]),
        }
    }
}
