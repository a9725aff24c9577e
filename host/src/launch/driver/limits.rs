//! What a device can do at once, by its driver.

use cust::device::{Device, DeviceAttribute};
use serde::Serialize;

use super::device::initialise;
use super::status::failed;
use crate::error::Result;

/// A device's clocks, bus, the sizes of its multiprocessors, and what can be asked of it: the list of
/// Rosenberger and Haase 2017 (elasticity), section 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Clock of the multiprocessors, kHz.
    pub clock: u32,
    /// Clock of the memory, kHz.
    pub memory_clock: u32,
    /// Width of the bus to the memory, bits.
    pub memory_bus: u32,
    /// Threads of a block at most.
    pub threads_a_block: u32,
    /// Threads that a multiprocessor holds at most.
    pub threads_a_multiprocessor: u32,
    /// Registers of a multiprocessor, 32 bits each.
    pub registers_a_multiprocessor: u32,
    /// Shared memory of a block, as programs ask for it, bytes.
    pub shared_a_block: u32,
    /// Shared memory of a multiprocessor, bytes.
    pub shared_a_multiprocessor: u32,
    /// Constant memory, bytes.
    pub constant_memory: u32,
    /// Threads of a block along each direction at most.
    pub block_dimensions: [u32; 3],
    /// Blocks of a grid along each direction at most.
    pub grid_dimensions: [u32; 3],
    /// Bytes between two rows of a copy of a matrix at most.
    pub pitch: u32,
    /// Bytes that textures must be aligned to.
    pub texture_alignment: u32,
    /// Engines that copy while kernels run.
    pub copy_engines: u32,
    /// Whether several kernels run at once.
    pub has_concurrent_kernels: bool,
    /// Whether memory corrects errors.
    pub has_ecc: bool,
    /// Whether the driver ends kernels that run too long.
    pub has_time_limit: bool,
    /// Whether host and device share one space of addresses.
    pub has_unified_addresses: bool,
    /// Whether pages of memory come to the host or to the device when they are touched.
    pub has_unified_memory: bool,
    /// Who may use the device: 0 any number of processes, 2 none, 3 one process.
    pub compute_mode: u32,
}

impl Limits {
    /// Bytes a second that the bus can carry: two transfers in each of the memory's clocks.
    pub fn memory_bandwidth(&self) -> f64 {
        2.0 * 1e3 * f64::from(self.memory_clock) * f64::from(self.memory_bus) / 8.0
    }
}

/// Those of a device; nothing is created on it.
///
/// # Errors
/// [`crate::Error::NoDevice`] where there is no driver, [`crate::Error::Device`] for an ordinal without a
/// device.
pub fn limits(ordinal: u32) -> Result<Limits> {
    initialise()?;
    let device = Device::get_device(ordinal).map_err(failed(format!("cuDeviceGet({ordinal})")))?;
    let get = |attribute: DeviceAttribute| {
        let value = device.get_attribute(attribute).map(|value| value as u32);
        value.map_err(failed(format!("cuDeviceGetAttribute({attribute:?}, device {ordinal})")))
    };
    let has = |attribute| get(attribute).map(|value| value != 0);
    Ok(Limits {
        clock: get(DeviceAttribute::ClockRate)?,
        memory_clock: get(DeviceAttribute::MemoryClockRate)?,
        memory_bus: get(DeviceAttribute::GlobalMemoryBusWidth)?,
        threads_a_block: get(DeviceAttribute::MaxThreadsPerBlock)?,
        threads_a_multiprocessor: get(DeviceAttribute::MaxThreadsPerMultiprocessor)?,
        registers_a_multiprocessor: get(DeviceAttribute::MaxRegistersPerMultiprocessor)?,
        shared_a_block: get(DeviceAttribute::MaxSharedMemoryPerBlock)?,
        shared_a_multiprocessor: get(DeviceAttribute::MaxSharedMemoryPerMultiprocessor)?,
        constant_memory: get(DeviceAttribute::TotalConstantMemory)?,
        block_dimensions: [
            get(DeviceAttribute::MaxBlockDimX)?,
            get(DeviceAttribute::MaxBlockDimY)?,
            get(DeviceAttribute::MaxBlockDimZ)?,
        ],
        grid_dimensions: [
            get(DeviceAttribute::MaxGridDimX)?,
            get(DeviceAttribute::MaxGridDimY)?,
            get(DeviceAttribute::MaxGridDimZ)?,
        ],
        pitch: get(DeviceAttribute::MaxPitch)?,
        texture_alignment: get(DeviceAttribute::TextureAlignment)?,
        copy_engines: get(DeviceAttribute::AsyncEngineCount)?,
        has_concurrent_kernels: has(DeviceAttribute::ConcurrentKernels)?,
        has_ecc: has(DeviceAttribute::EccEnabled)?,
        has_time_limit: has(DeviceAttribute::KernelExecTimeout)?,
        has_unified_addresses: has(DeviceAttribute::UnifiedAddressing)?,
        has_unified_memory: has(DeviceAttribute::ManagedMemory)?,
        compute_mode: get(DeviceAttribute::ComputeMode)?,
    })
}
