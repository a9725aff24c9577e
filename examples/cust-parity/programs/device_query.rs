//! Prints what there is to know of the GPUs.

use cust::device::{Device, DeviceAttribute};
use cust::{CudaApiVersion, CudaFlags};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    cust::init(CudaFlags::empty())?;
    let version = CudaApiVersion::get()?;
    println!("CUDA {}.{}, {} devices", version.major(), version.minor(), Device::num_devices()?);
    for device in Device::devices()? {
        let device = device?;
        let attribute = |of| device.get_attribute(of);
        println!("{}, {} bytes", device.name()?, device.total_memory()?);
        println!(
            "  compute capability {}.{}",
            attribute(DeviceAttribute::ComputeCapabilityMajor)?,
            attribute(DeviceAttribute::ComputeCapabilityMinor)?
        );
        for (what, of) in [
            ("multiprocessors", DeviceAttribute::MultiprocessorCount),
            ("threads in a block", DeviceAttribute::MaxThreadsPerBlock),
            ("threads in a warp", DeviceAttribute::WarpSize),
            ("shared memory of a block", DeviceAttribute::MaxSharedMemoryPerBlock),
            ("registers of a block", DeviceAttribute::MaxRegistersPerBlock),
            ("clock in kHz", DeviceAttribute::ClockRate),
        ] {
            println!("  {what}: {}", attribute(of)?);
        }
    }
    assert_eq!(Device::get_device(0)?.as_raw(), 0);
    Ok(())
}
