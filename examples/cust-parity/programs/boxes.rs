//! Single values: on the device, page-locked on the host, and where both see them; types of one's own.

use cust::DeviceCopy;
use cust::memory::{
    DeviceBox, DeviceVariable, GpuBox, GpuBuffer, LockedBox, LockedBuffer, UnifiedBox, UnifiedBuffer,
    mem_get_info,
};
use cust::prelude::*;
use std::error::Error;

#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
#[repr(C)]
struct Particle {
    position: [f32; 3],
    mass: f32,
}

fn main() -> Result<(), Box<dyn Error>> {
    let _context = cust::quick_init()?;
    let (free, total) = mem_get_info()?;
    assert!(free <= total);

    let particle = Particle { position: [0.5, 1.5, 2.5], mass: 1.0 };
    let on_device: DeviceBox<Particle> = DeviceBox::new(&particle)?;
    assert_eq!(on_device.as_host_value()?, particle);
    let number = 2.5_f64.as_dbox()?;
    let pointer = DeviceBox::into_device(number);
    // SAFETY: it was given up above.
    let number = unsafe { DeviceBox::from_device(pointer) };
    DeviceBox::drop(number).map_err(|(error, _)| error)?;

    let mut locked: LockedBox<Particle> = LockedBox::new(&particle)?;
    locked.mass = 2.0;
    let raw = locked.as_raw();
    assert_eq!(raw, locked.into_raw());
    // SAFETY: it was given up above.
    let locked = unsafe { LockedBox::from_raw(raw) };
    assert_eq!(locked.mass, 2.0);
    let mut many = LockedBuffer::from_slice(&[particle; 3])?;
    many.as_mut_slice()[1] = *locked;

    let mut unified = UnifiedBox::new(7_u64)?;
    *unified += 1;
    assert_eq!(format!("{unified}"), "8");
    let _: cust::memory::DevicePointer<u64> = GpuBox::as_device_ptr(&unified);
    let pointer = UnifiedBox::into_unified(unified);
    assert!(!pointer.is_null());
    // SAFETY: it was given up above.
    let unified = unsafe { UnifiedBox::from_unified(pointer) };
    UnifiedBox::drop(unified).map_err(|(error, _)| error)?;
    let mut buffer = UnifiedBuffer::new(&0_u32, 5)?;
    buffer[2] = 3;
    let _ = buffer.as_unified_ptr();
    assert_eq!((GpuBuffer::len(&buffer), buffer.as_slice()), (5, &[0, 0, 3, 0, 0][..]));

    let mut variable = DeviceVariable::new(1.5_f32)?;
    *variable *= 2.0;
    variable.copy_htod()?;
    variable.copy_dtoh()?;
    assert_eq!(*variable, 3.0);
    Ok(())
}
