//! The machine's devices, as far as they are known without using them.

use super::status::failed;
use crate::error::{Error, Result};
use crate::launch::DeviceInfo;
use cust::device::{Device, DeviceAttribute};
use cust::{CudaApiVersion, CudaFlags};

/// Loads the driver, if that is still to be done, and initialises it.
///
/// # Errors
/// [`Error::NoDevice`] with what is missing.
pub(super) fn initialise() -> Result<()> {
    cust::driver::load().map_err(|e| {
        let missing = "libcuda.so.1 not found: install the NVIDIA driver";
        Error::NoDevice(format!("{missing} ({e})"))
    })?;
    cust::init(CudaFlags::empty()).map_err(|e| {
        let advice = "check that nvidia-smi lists the GPU and that CUDA_VISIBLE_DEVICES does not hide it";
        Error::NoDevice(format!("the NVIDIA driver does not start: {}; {advice}", e.status()))
    })
}

/// How many GPUs there are.
///
/// # Errors
/// [`Error::NoDevice`] where there is no driver or no GPU.
pub fn device_count() -> Result<u32> {
    initialise()?;
    Device::num_devices().map_err(failed("cuDeviceGetCount"))
}

/// All GPUs, in the order of their ordinals. Nothing is created on them.
///
/// # Errors
/// [`Error::NoDevice`] where there is no driver or no GPU.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    (0..device_count()?).map(|ordinal| device(ordinal).map(|(_, info)| info)).collect()
}

/// The newest CUDA version the driver supports, "13.0".
///
/// # Errors
/// [`Error::NoDevice`] where there is no driver.
pub fn driver_version() -> Result<String> {
    initialise()?;
    let version = CudaApiVersion::get().map_err(failed("cuDriverGetVersion"))?;
    Ok(format!("{}.{}", version.major(), version.minor()))
}

/// One device and its properties, without its kernels.
pub(super) fn device(ordinal: u32) -> Result<(Device, DeviceInfo)> {
    let count = device_count()?;
    if ordinal >= count {
        return Err(Error::NoDevice(format!(
            "there is no device cuda:{ordinal}; this machine has {count}, counted from cuda:0"
        )));
    }
    let device = Device::get_device(ordinal).map_err(failed(format!("cuDeviceGet({ordinal})")))?;
    let attribute = |attribute: DeviceAttribute| {
        let value = device.get_attribute(attribute);
        value
            .map(|value| value as u32)
            .map_err(failed(format!("cuDeviceGetAttribute({attribute:?}, device {ordinal})")))
    };
    let info = DeviceInfo {
        name: device.name().map_err(failed(format!("cuDeviceGetName(device {ordinal})")))?,
        ordinal,
        compute_capability: (
            attribute(DeviceAttribute::ComputeCapabilityMajor)?,
            attribute(DeviceAttribute::ComputeCapabilityMinor)?,
        ),
        multiprocessors: attribute(DeviceAttribute::MultiprocessorCount)?,
        total_memory: device.total_memory().map_err(failed(format!("cuDeviceTotalMem(device {ordinal})")))?
            as u64,
        l2_bytes: attribute(DeviceAttribute::L2CacheSize)?.into(),
        driver_version: driver_version()?,
        ptx_target: String::new(),
        machine_code: false,
    };
    Ok((device, info))
}
