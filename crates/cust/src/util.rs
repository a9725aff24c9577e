//! Short ways to the device.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cust::util::{DeviceCopyExt, SliceExt};
//!
//! let _context = cust::quick_init()?;
//! let x = [1.0, 2.0, 3.0].as_dbuf()?;
//! let count = 3_u32.as_dbox()?;
//! # Ok(())
//! # }
//! ```

use crate::error::CudaResult;
use crate::memory::{DeviceBox, DeviceBuffer, DeviceCopy, UnifiedBuffer};

/// Values on the device.
///
/// ```no_run
/// # use cust::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let residual = f64::INFINITY.as_dbox()?;
/// # Ok(())
/// # }
/// ```
pub trait DeviceCopyExt: DeviceCopy {
    /// A copy of it on the device.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// assert_eq!(7_u32.as_dbox()?.as_host_value()?, 7);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    fn as_dbox(&self) -> CudaResult<DeviceBox<Self>> {
        DeviceBox::new(self)
    }
}

impl<T: DeviceCopy> DeviceCopyExt for T {}

/// Slices on the device.
///
/// ```no_run
/// # use cust::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let x = [1.0, 2.0, 3.0].as_dbuf()?;
/// # Ok(())
/// # }
/// ```
pub trait SliceExt<T: DeviceCopy> {
    /// A copy of it on the device.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// assert_eq!([1, 2, 3].as_dbuf()?.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    fn as_dbuf(&self) -> CudaResult<DeviceBuffer<T>>;

    /// A copy of it that host and device see.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let mut x = [1, 2, 3].as_unified_buf()?;
    /// x[0] = 7;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    fn as_unified_buf(&self) -> CudaResult<UnifiedBuffer<T>>;
}

impl<T: DeviceCopy> SliceExt<T> for [T] {
    fn as_dbuf(&self) -> CudaResult<DeviceBuffer<T>> {
        DeviceBuffer::from_slice(self)
    }

    fn as_unified_buf(&self) -> CudaResult<UnifiedBuffer<T>> {
        UnifiedBuffer::from_slice(self)
    }
}
