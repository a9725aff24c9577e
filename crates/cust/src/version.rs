//! The version of CUDA.

use crate::driver;
use crate::error::{CudaResult, ToResult};
use crate::sys;

/// The newest version of CUDA that the driver supports.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use cust::CudaApiVersion;
///
/// let version = CudaApiVersion::get()?;
/// println!("CUDA {}.{}", version.major(), version.minor());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Hash, Eq, PartialEq, Ord, PartialOrd, Copy, Clone)]
pub struct CudaApiVersion {
    /// 1000 times the major version and 10 times the minor one.
    version: i32,
}

impl CudaApiVersion {
    /// Loads the driver and asks it. The driver need not be initialised.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use cust::CudaApiVersion;
    /// let version = CudaApiVersion::get()?;
    /// assert!(version.major() >= 11);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is no driver, or it cannot be loaded.
    pub fn get() -> CudaResult<CudaApiVersion> {
        driver::load()?;
        let mut version = 0;
        // SAFETY: `version` is writable.
        unsafe { sys::cuDriverGetVersion(&mut version) }.to_result()?;
        Ok(CudaApiVersion::from_raw(version))
    }

    /// The version of the driver's number.
    pub(crate) fn from_raw(version: i32) -> CudaApiVersion {
        CudaApiVersion { version }
    }

    /// 12 of version 12.8.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use cust::CudaApiVersion;
    /// let has_clusters = CudaApiVersion::get()?.major() >= 12;
    /// # Ok(())
    /// # }
    /// ```
    pub fn major(self) -> i32 {
        self.version / 1000
    }

    /// 8 of version 12.8.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use cust::CudaApiVersion;
    /// let version = CudaApiVersion::get()?;
    /// let since_12_4 = (version.major(), version.minor()) >= (12, 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn minor(self) -> i32 {
        self.version % 1000 / 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_split() {
        let version = CudaApiVersion { version: 12_080 };
        assert_eq!((version.major(), version.minor()), (12, 8));
    }
}
