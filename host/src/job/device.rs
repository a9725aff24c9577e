//! Where to solve.

use std::sync::Arc;

use crate::backend::cpu::Cpu;
use crate::backend::gpu::Gpu;
use crate::error::{Error, Result};
use crate::launch::Counts;
use crate::launch::driver::Driver;
use crate::matrix::Target;
use crate::ptx;

/// Where to solve. A clone is the same device; what uses a GPU shares its one stream, and takes turns: solve
/// on it in one thread at a time.
#[derive(Clone)]
pub enum Device {
    /// Threads of the host.
    Cpu(Cpu),
    /// A GPU, or the simulator.
    Gpu(Gpu),
}

impl Device {
    /// The first GPU, or the threads of the host where there is none.
    ///
    /// # Errors
    /// [`Error::Device`] where there is a GPU whose driver fails.
    pub fn auto() -> Result<Device> {
        match Device::cuda(0) {
            Err(Error::NoDevice(_)) => Device::cpu(0),
            opened => opened,
        }
    }

    /// GPU `ordinal`, counted from 0.
    ///
    /// # Errors
    /// [`Error::NoDevice`] where there is no such GPU, no driver, or no kernel image for it;
    /// [`Error::Device`] where the driver fails.
    pub fn cuda(ordinal: u32) -> Result<Device> {
        open_gpu(ordinal).map(Device::Gpu)
    }

    /// `threads` threads of the host; with 0, or as many as there are already, those of rayon's pool, global
    /// or around the caller.
    ///
    /// # Errors
    /// [`Error::Threads`](crate::Error::Threads) for more than the machine has use for.
    pub fn cpu(threads: usize) -> Result<Device> {
        let is_there = threads == 0 || threads == rayon::current_num_threads();
        Ok(Device::Cpu(if is_there { Cpu::shared() } else { Cpu::new(threads)? }))
    }

    /// The simulator, which runs the kernels on the host: slow, for tests.
    pub fn simulator() -> Result<Device> {
        Gpu::simulated().map(Device::Gpu)
    }

    /// "NVIDIA H200", "simulator", "CPU, 2 threads".
    pub fn name(&self) -> String {
        match self {
            Device::Cpu(cpu) if cpu.threads() == 1 => "CPU, 1 thread".into(),
            Device::Cpu(cpu) => format!("CPU, {} threads", cpu.threads()),
            Device::Gpu(gpu) => gpu.device().info().name.clone(),
        }
    }

    /// The GPU or the simulator.
    pub fn gpu(&self) -> Option<&Gpu> {
        match self {
            Device::Cpu(_) => None,
            Device::Gpu(gpu) => Some(gpu),
        }
    }

    /// Seconds that a GPU took so far to load kernels.
    pub(super) fn loading_seconds(&self) -> f64 {
        self.gpu().map_or(0.0, |gpu| gpu.device().loading_seconds())
    }

    /// What a GPU was asked for so far.
    pub(super) fn counts(&self) -> Option<Counts> {
        self.gpu().map(|gpu| gpu.device().counters().snapshot())
    }

    pub(super) fn target(&self) -> Target {
        match self {
            Device::Cpu(_) => Target::Cpu,
            Device::Gpu(_) => Target::Gpu,
        }
    }

    /// Runs `work` where the device's threads are: inside their pool they are woken once.
    pub(super) fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match self {
            Device::Cpu(cpu) => cpu.install(work),
            Device::Gpu(_) => work(),
        }
    }
}

/// Opens GPU `ordinal`, counted from 0, with the newest of the embedded [kernels](crate::ptx::PTX) that it
/// takes.
///
/// # Errors
/// [`Error::NoDevice`] where there is no driver, no such GPU, or no kernel image for it; [`Error::Device`]
/// where the driver fails.
pub fn open_gpu(ordinal: u32) -> Result<Gpu> {
    let driver = Driver::open(ordinal, &ptx::images())?;
    driver.prepare_copies();
    Gpu::new(Arc::new(driver))
}
