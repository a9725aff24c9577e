//! The machine's GPUs.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cust::device::{Device, DeviceAttribute};
//! use cust::prelude::CudaFlags;
//!
//! cust::init(CudaFlags::empty())?;
//! for device in Device::devices()? {
//!     let device = device?;
//!     let multiprocessors = device.get_attribute(DeviceAttribute::MultiprocessorCount)?;
//!     println!("{}: {multiprocessors} multiprocessors", device.name()?);
//! }
//! # Ok(())
//! # }
//! ```

mod attribute;

use crate::error::{CudaResult, ToResult};
use crate::sys::{self, CUdevice};
use std::ffi::CStr;
use std::ops::Range;

pub use attribute::DeviceAttribute;

/// One of the machine's devices. Nothing is created on it.
///
/// ```no_run
/// # use cust::device::{Device, DeviceAttribute};
/// # use cust::prelude::CudaFlags;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// cust::init(CudaFlags::empty())?;
/// let first = Device::get_device(0)?;
/// println!("{}, {} bytes", first.name()?, first.total_memory()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Hash, Eq, PartialEq)]
pub struct Device {
    device: CUdevice,
}

impl Device {
    /// How many devices there are.
    ///
    /// ```no_run
    /// # use cust::device::{Device, DeviceAttribute};
    /// # use cust::prelude::CudaFlags;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// cust::init(CudaFlags::empty())?;
    /// println!("{} devices", Device::num_devices()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver is not initialised.
    pub fn num_devices() -> CudaResult<u32> {
        let mut count = 0;
        // SAFETY: `count` is writable.
        unsafe { sys::cuDeviceGetCount(&mut count) }.to_result()?;
        Ok(count as u32)
    }

    /// The device with that number, counted from 0.
    ///
    /// ```no_run
    /// # use cust::device::{Device, DeviceAttribute};
    /// # use cust::prelude::CudaFlags;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// cust::init(CudaFlags::empty())?;
    /// let second = Device::get_device(1)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is no such device, or the driver is not initialised.
    pub fn get_device(ordinal: u32) -> CudaResult<Device> {
        let mut device = 0;
        // SAFETY: `device` is writable. A number beyond those of an int becomes a negative one, which is
        // refused.
        unsafe { sys::cuDeviceGet(&mut device, ordinal as i32) }.to_result()?;
        Ok(Device { device })
    }

    /// All devices, in order.
    ///
    /// ```no_run
    /// # use cust::device::{Device, DeviceAttribute};
    /// # use cust::prelude::CudaFlags;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # cust::init(CudaFlags::empty())?;
    /// let names = Device::devices()?.map(|device| device?.name()).collect::<Result<Vec<_>, _>>()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver is not initialised.
    pub fn devices() -> CudaResult<Devices> {
        Ok(Devices { ordinals: 0..Device::num_devices()? })
    }

    /// Memory in bytes.
    ///
    /// ```no_run
    /// # use cust::device::{Device, DeviceAttribute};
    /// # use cust::prelude::CudaFlags;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::get_device(0)?;
    /// println!("{:.1} GiB", device.total_memory()? as f64 / (1 << 30) as f64);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn total_memory(self) -> CudaResult<usize> {
        let mut bytes = 0;
        // SAFETY: `bytes` is writable.
        unsafe { sys::cuDeviceTotalMem_v2(&mut bytes, self.device) }.to_result()?;
        Ok(bytes)
    }

    /// "NVIDIA H200".
    ///
    /// ```no_run
    /// # use cust::device::{Device, DeviceAttribute};
    /// # use cust::prelude::CudaFlags;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::get_device(0)?;
    /// println!("{}", device.name()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn name(self) -> CudaResult<String> {
        let mut text = [0_u8; 256];
        // SAFETY: the text has the length said; the last byte stays 0.
        unsafe { sys::cuDeviceGetName(text.as_mut_ptr().cast(), text.len() as i32 - 1, self.device) }
            .to_result()?;
        let name = CStr::from_bytes_until_nul(&text).unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }

    /// What tells it from all other devices.
    ///
    /// ```no_run
    /// # use cust::device::Device;
    /// # use cust::prelude::CudaFlags;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::get_device(0)?;
    /// println!("{:02x?}", device.uuid()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn uuid(self) -> CudaResult<[u8; 16]> {
        let mut uuid = sys::CUuuid::default();
        // SAFETY: `uuid` is writable.
        unsafe { sys::cuDeviceGetUuid(&mut uuid, self.device) }.to_result()?;
        Ok(uuid.bytes)
    }

    /// The value of a property.
    ///
    /// ```no_run
    /// # use cust::device::{Device, DeviceAttribute};
    /// # use cust::prelude::CudaFlags;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::get_device(0)?;
    /// let major = device.get_attribute(DeviceAttribute::ComputeCapabilityMajor)?;
    /// let minor = device.get_attribute(DeviceAttribute::ComputeCapabilityMinor)?;
    /// println!("compute capability {major}.{minor}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver does not know the property.
    pub fn get_attribute(self, attribute: DeviceAttribute) -> CudaResult<i32> {
        let mut value = 0;
        // SAFETY: `value` is writable.
        unsafe { sys::cuDeviceGetAttribute(&mut value, attribute as u32, self.device) }.to_result()?;
        Ok(value)
    }

    /// The driver's handle.
    ///
    /// ```no_run
    /// # use cust::device::{Device, DeviceAttribute};
    /// # use cust::prelude::CudaFlags;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let device = Device::get_device(0)?;
    /// let mut bytes = 0;
    /// // SAFETY: the number is writable.
    /// unsafe { cust::sys::cuDeviceTotalMem_v2(&mut bytes, device.as_raw()) };
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_raw(&self) -> CUdevice {
        self.device
    }

    /// The device of a handle.
    pub(crate) fn from_raw(device: CUdevice) -> Device {
        Device { device }
    }
}

/// All devices; see [`Device::devices`].
///
/// ```no_run
/// # use cust::device::{Device, DeviceAttribute};
/// # use cust::prelude::CudaFlags;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # cust::init(CudaFlags::empty())?;
/// for device in Device::devices()? {
///     println!("{}", device?.name()?);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Devices {
    ordinals: Range<u32>,
}

impl Iterator for Devices {
    type Item = CudaResult<Device>;

    fn next(&mut self) -> Option<CudaResult<Device>> {
        self.ordinals.next().map(Device::get_device)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ordinals.size_hint()
    }
}
