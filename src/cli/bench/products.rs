//! The tables of single kernels: the scalar product and the product with a matrix.

use std::sync::Arc;

use warpsolve::job::dot::{self, Sum};
use warpsolve::job::ranks::exchange::{self, Update};
use warpsolve::job::{Device, Precision, Timing, shapes, spmv};
use warpsolve::matrix::{Csr, Format};
use warpsolve::{Result, backend::gpu::Gpu, launch::profile::Profiled};

use super::super::ranks;
use super::published;
use super::report::{Copies, Figures, Kernel, Row, Spread};
use super::shared::{Bench, row};

/// Products, as the source documents count them, and in the simulator.
const REPEAT: (u32, u32) = (1000, 3);

impl Bench {
    fn repeat(&self) -> usize {
        let default = if self.simulated { REPEAT.1 } else { REPEAT.0 };
        self.setting.repeat.unwrap_or(default) as usize
    }

    /// `(x, y)` of vectors of `n` elements.
    pub fn dot(&self, n: usize) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for device in &self.devices {
            for &precision in &self.setting.precision {
                for (work, sum) in [("dot", Sum::Stays), ("dot, read by the host", Sum::IsRead)] {
                    self.progress.working(format!("{work}, {precision}"));
                    let measured = dot_on(device, precision, n, sum, self.repeat());
                    let published = if sum == Sum::IsRead { published::dot() } else { Vec::new() };
                    rows.push(row(work, device, None, precision, published, measured)?);
                }
            }
        }
        Ok(rows)
    }

    /// `y = A x`.
    pub fn spmv(&self, a: &Csr<f64>, formats: &[Format]) -> Result<Vec<Row>> {
        let oracle = spmv::Oracle::new(a);
        let mut rows = Vec::new();
        for device in &self.devices {
            for &precision in &self.setting.precision {
                for &format in formats {
                    self.progress.working(format!("SpMV, {format}, {precision}"));
                    let measured = spmv_on(device, precision, a, &oracle, format, self.repeat());
                    let published = published::spmv(format);
                    rows.push(row("SpMV", device, Some(format), precision, published, measured)?);
                    if (format, precision) == (Format::Sell, Precision::F64) && self.asks_for_shapes() {
                        rows.extend(self.shapes_on(device, a, &oracle)?);
                    }
                }
            }
        }
        Ok(rows)
    }

    /// `y = A x` by several ranks.
    pub fn exchange(&self, a: &Arc<Csr<f64>>) -> Result<Vec<Row>> {
        let oracle = spmv::Oracle::new(a);
        let mut rows = Vec::new();
        for (device, &name) in self.devices.iter().zip(&self.setting.device) {
            for size in self.setting.ranks.iter().map(|&n| usize::from(n)) {
                for &update in Update::ALL {
                    let open = |rank| ranks::open(ranks::device_of(name, rank), ranks::threads(size));
                    self.progress.working(format!("{size} ranks, {update}"));
                    let measured = exchange::measure(a, &oracle, size, update, self.repeat(), open);
                    let way = match &measured {
                        Ok(measured) if measured.is_connected => ", peer memory",
                        _ => "",
                    };
                    let work = format!("{size} ranks, {update}{way}");
                    let figures =
                        measured.map(|m| figures(&m.timing, m.error, m.correct, m.bytes, None, Vec::new()));
                    let published = published::exchange(update);
                    rows.push(row(&work, device, Some(Format::Crs), Precision::F64, published, figures)?);
                }
            }
        }
        Ok(rows)
    }

    /// `y = A x` in slices and blocks of several sizes.
    pub fn shapes(&self, a: &Csr<f64>) -> Result<Vec<Row>> {
        let oracle = spmv::Oracle::new(a);
        let rows = self.devices.iter().map(|device| self.shapes_on(device, a, &oracle));
        Ok(rows.collect::<Result<Vec<_>>>()?.concat())
    }

    fn asks_for_shapes(&self) -> bool {
        !self.setting.slice.is_empty() || !self.setting.block.is_empty()
    }

    fn shapes_on(&self, device: &Device, a: &Csr<f64>, oracle: &spmv::Oracle) -> Result<Vec<Row>> {
        fn asked<'a, T>(given: &'a [T], all: &'a [T]) -> &'a [T] {
            if given.is_empty() { all } else { given }
        }
        let mut rows = Vec::new();
        for &height in asked(&self.setting.slice, &shapes::HEIGHTS) {
            for &block in asked(&self.setting.block, &shapes::BLOCKS) {
                let work = format!("slices of {height}, blocks of {block}");
                self.progress.working(work.clone());
                let measured = shape_on(device, a, oracle, (height, block), self.repeat());
                rows.push(row(&work, device, Some(Format::Sell), Precision::F64, Vec::new(), measured)?);
            }
        }
        Ok(rows)
    }
}

fn shape_on(
    device: &Device,
    a: &Csr<f64>,
    oracle: &spmv::Oracle,
    shape: (usize, u32),
    repeat: usize,
) -> Result<Figures> {
    let m = shapes::measure(device, a, oracle, shape, repeat)?;
    let kernels = kernels(device, |device| shapes::measure(device, a, oracle, shape, 1).map(drop))?;
    Ok(figures(&m.timing, m.error, m.correct, m.bytes, Some(2 * a.nnz() as u64), kernels))
}

fn dot_on(device: &Device, precision: Precision, n: usize, sum: Sum, repeat: usize) -> Result<Figures> {
    let measure = |device: &Device, repeat| match precision {
        Precision::F64 => dot::measure::<f64>(device, n, sum, repeat),
        Precision::F32 => dot::measure::<f32>(device, n, sum, repeat),
    };
    let m = measure(device, repeat)?;
    let kernels = kernels(device, |device| measure(device, 1).map(drop))?;
    let value_bytes = match precision {
        Precision::F64 => size_of::<f64>(),
        Precision::F32 => size_of::<f32>(),
    };
    let bytes = (2 * n * value_bytes) as u64;
    Ok(figures(&m.timing, m.error, m.correct, bytes, Some(2 * n as u64), kernels))
}

fn spmv_on(
    device: &Device,
    precision: Precision,
    a: &Csr<f64>,
    oracle: &spmv::Oracle,
    format: Format,
    repeat: usize,
) -> Result<Figures> {
    let measure = |device: &Device, repeat| match precision {
        Precision::F64 => spmv::measure::<f64>(device, a, oracle, format, 1, repeat),
        Precision::F32 => spmv::measure::<f32>(device, a, oracle, format, 1, repeat),
    };
    let m = measure(device, repeat)?;
    let kernels = kernels(device, |device| measure(device, 1).map(drop))?;
    // A product and a sum for each nonzero.
    Ok(figures(&m.timing, m.error, m.correct, m.bytes, Some(2 * a.nnz() as u64), kernels))
}

fn figures(
    timing: &Timing,
    error: f64,
    correct: bool,
    bytes: u64,
    operations: Option<u64>,
    kernels: Vec<Kernel>,
) -> Figures {
    let calls = (timing.seconds.len() * timing.batch) as u64;
    Figures {
        time: Spread::from(timing),
        setup: None,
        iterations: None,
        error,
        correct,
        stopped: None,
        bytes,
        operations,
        copies: timing.counts.map(|counts| Copies { copies: counts.uploads + counts.downloads, calls }),
        kernels,
        history: Vec::new(),
    }
}

/// The kernels that `work` launches most of the time, on a GPU.
pub fn kernels(device: &Device, work: impl Fn(&Device) -> Result<()>) -> Result<Vec<Kernel>> {
    let Device::Gpu(gpu) = device else { return Ok(Vec::new()) };
    let profiled = Arc::new(Profiled::new(Arc::clone(gpu.device())));
    work(&Device::Gpu(Gpu::new(profiled.clone())?))?;
    let profile = profiled.profile()?;
    // Beside the kernels of the work there are those that fill its vectors before.
    let most = profile.kernels.iter().map(|kernel| kernel.launches).max().unwrap_or(0);
    let main = profile.kernels.into_iter().filter(|kernel| kernel.launches == most);
    Ok(main
        .map(|kernel| Kernel {
            name: kernel.name,
            registers: kernel.attributes.map(|attributes| attributes.registers),
            grid: kernel.grid.1,
            block: kernel.block.1,
        })
        .collect())
}
