//! A value on the host and on the device.

use super::{CopyDestination, DeviceBox, DeviceCopy, DevicePointer};
use crate::error::CudaResult;
use std::ops::{Deref, DerefMut};

/// A value on the host, and one on the device. They are the same after a copy in either direction.
///
/// ```no_run
/// # use cust::memory::DeviceVariable;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let mut count = DeviceVariable::new(0_u32)?;
/// // A kernel gets `count.as_device_ptr()`, and counts.
/// count.copy_dtoh()?;
/// println!("{}", *count);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DeviceVariable<T: DeviceCopy> {
    on_device: DeviceBox<T>,
    on_host: T,
}

impl<T: DeviceCopy> DeviceVariable<T> {
    /// The value in both places.
    ///
    /// ```no_run
    /// # use cust::memory::DeviceVariable;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let limit = DeviceVariable::new(100_u32)?;
    /// assert_eq!(*limit, 100);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn new(value: T) -> CudaResult<Self> {
        Ok(DeviceVariable { on_device: DeviceBox::new(&value)?, on_host: value })
    }

    /// Copies the host's value to the device.
    ///
    /// ```no_run
    /// # use cust::memory::DeviceVariable;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let mut limit = DeviceVariable::new(100_u32)?;
    /// *limit = 200;
    /// limit.copy_htod()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn copy_htod(&mut self) -> CudaResult<()> {
        self.on_device.copy_from(&self.on_host)
    }

    /// Copies the device's value to the host.
    ///
    /// ```no_run
    /// # use cust::memory::DeviceVariable;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let mut count = DeviceVariable::new(0_u32)?;
    /// count.copy_dtoh()?;
    /// println!("{}", *count);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn copy_dtoh(&mut self) -> CudaResult<()> {
        self.on_device.copy_to(&mut self.on_host)
    }

    /// Where the device's value is.
    ///
    /// ```no_run
    /// # use cust::memory::DeviceVariable;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let limit = DeviceVariable::new(100_u32)?;
    /// // What a kernel gets.
    /// let pointer = limit.as_device_ptr();
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        self.on_device.as_device_ptr()
    }
}

impl<T: DeviceCopy> Deref for DeviceVariable<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.on_host
    }
}

impl<T: DeviceCopy> DerefMut for DeviceVariable<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.on_host
    }
}
