//! What a device can do at once, by its driver.

use cust::device::{Device, DeviceAttribute};
use serde::Serialize;

use super::device::initialise;
use super::status::failed;
use crate::error::Result;

/// A device's clocks, bus, and the sizes of its multiprocessors.
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
    Ok(Limits {
        clock: get(DeviceAttribute::ClockRate)?,
        memory_clock: get(DeviceAttribute::MemoryClockRate)?,
        memory_bus: get(DeviceAttribute::GlobalMemoryBusWidth)?,
        threads_a_block: get(DeviceAttribute::MaxThreadsPerBlock)?,
        threads_a_multiprocessor: get(DeviceAttribute::MaxThreadsPerMultiprocessor)?,
        registers_a_multiprocessor: get(DeviceAttribute::MaxRegistersPerMultiprocessor)?,
        shared_a_block: get(DeviceAttribute::MaxSharedMemoryPerBlock)?,
        shared_a_multiprocessor: get(DeviceAttribute::MaxSharedMemoryPerMultiprocessor)?,
    })
}
