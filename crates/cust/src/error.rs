//! What can go wrong: the driver's status codes, and those of this crate.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cust::error::CudaError;
//!
//! match cust::quick_init() {
//!     Ok(_context) => println!("there is a GPU"),
//!     Err(CudaError::DriverNotFound | CudaError::NoDevice) => println!("there is none"),
//!     Err(error) => println!("it does not work: {error}"),
//! }
//! # Ok(())
//! # }
//! ```

use crate::driver::{LIBRARY, LoadError};
use crate::sys::{self, CUresult, statuses};
use std::error::Error;
use std::ffi::{CStr, c_char};
use std::fmt;

macro_rules! errors {
    ($($number:literal $status:ident $name:ident)*) => {
        /// An error of the driver, by cust's names, or of this crate.
        ///
        /// As a number (`error as u32`) it is the driver's status.
        ///
        /// ```
        /// use cust::error::CudaError;
        ///
        /// assert_eq!(CudaError::NoDevice as u32, 100);
        /// ```
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        #[repr(u32)]
        #[non_exhaustive]
        pub enum CudaError {
            $(
                #[doc = concat!("`", stringify!($status), "`")]
                $name = $number,
            )*
            /// An allocation of 0 bytes, or of more than the address space has.
            InvalidMemoryAllocation = 100_100,
            /// There is no driver on this machine. [`crate::driver::load`] says why it was not found.
            DriverNotFound = 100_102,
        }

        impl From<CUresult> for CudaError {
            /// A status that is not known here becomes [`CudaError::UnknownError`].
            fn from(status: CUresult) -> CudaError {
                match status {
                    $(CUresult::$status => CudaError::$name,)*
                    _ => CudaError::UnknownError,
                }
            }
        }
    };
}
statuses!(errors);

/// What a call returns, or why it failed.
pub type CudaResult<T> = Result<T, CudaError>;

/// What giving something back returns. Where that fails, it comes back with the error.
pub type DropResult<T> = Result<(), (CudaError, T)>;

/// Statuses as results.
///
/// ```no_run
/// # use cust::error::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use cust::sys;
///
/// // SAFETY: it takes nothing.
/// unsafe { sys::cuCtxSynchronize() }.to_result()?;
/// # Ok(())
/// # }
/// ```
pub trait ToResult {
    /// `Ok` where the call succeeded.
    ///
    /// ```no_run
    /// # use cust::error::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use cust::sys::CUresult;
    ///
    /// assert_eq!(CUresult::CUDA_ERROR_NO_DEVICE.to_result(), Err(CudaError::NoDevice));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The status as an error.
    fn to_result(self) -> CudaResult<()>;
}

impl ToResult for CUresult {
    fn to_result(self) -> CudaResult<()> {
        if self == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(self.into()) }
    }
}

impl From<LoadError> for CudaError {
    fn from(error: LoadError) -> CudaError {
        if error.is_missing() { CudaError::DriverNotFound } else { CudaError::SharedObjectInitFailed }
    }
}

impl CudaError {
    /// The driver's status. This crate's own errors are [`CUresult::CUDA_ERROR_INVALID_VALUE`] and
    /// [`CUresult::CUDA_ERROR_NOT_INITIALIZED`].
    ///
    /// ```
    /// use cust::{error::CudaError, sys::CUresult};
    ///
    /// assert_eq!(CudaError::NoDevice.status(), CUresult::CUDA_ERROR_NO_DEVICE);
    /// ```
    pub fn status(self) -> CUresult {
        match self {
            CudaError::InvalidMemoryAllocation => CUresult::CUDA_ERROR_INVALID_VALUE,
            CudaError::DriverNotFound => CUresult::CUDA_ERROR_NOT_INITIALIZED,
            error => CUresult(error as u32),
        }
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CudaError::InvalidMemoryAllocation => f.write_str("an allocation of 0 bytes or of too many"),
            CudaError::DriverNotFound => {
                write!(f, "{LIBRARY} not found: install the NVIDIA driver")
            }
            error => error.status().fmt(f),
        }
    }
}

impl Error for CudaError {}

impl fmt::Display for CUresult {
    /// "out of memory (CUDA_ERROR_OUT_OF_MEMORY)"; the number where no driver is there to explain it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        type Lookup = unsafe fn(CUresult, *mut *const c_char) -> CUresult;
        let text = |lookup: Lookup| {
            let mut text = std::ptr::null();
            // SAFETY: `text` is writable, and a success leaves in it a string that lives for ever.
            unsafe {
                (lookup(*self, &mut text) == CUresult::CUDA_SUCCESS && !text.is_null())
                    .then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
            }
        };
        match (text(sys::cuGetErrorString), text(sys::cuGetErrorName)) {
            (Some(string), Some(name)) => write!(f, "{string} ({name})"),
            _ => write!(f, "CUDA error {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_and_errors_have_the_same_numbers() {
        assert_eq!(CUresult::CUDA_SUCCESS.to_result(), Ok(()));
        assert_eq!(
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION.to_result(),
            Err(CudaError::UnsupportedPtxVersion)
        );
        // A driver newer than this crate.
        assert_eq!(CUresult(998).to_result(), Err(CudaError::UnknownError));
        for number in 1..=999 {
            let error = CudaError::from(CUresult(number));
            let known = format!("{:?}", CUresult(number)) != format!("CUresult({number})");
            assert_eq!(error.status(), if known { CUresult(number) } else { CUresult::CUDA_ERROR_UNKNOWN });
        }
        assert_eq!(CudaError::InvalidMemoryAllocation.status(), CUresult::CUDA_ERROR_INVALID_VALUE);
    }

    // This process loads no driver.
    #[test]
    fn errors_keep_their_number_where_no_driver_explains_them() {
        assert_eq!(CudaError::OutOfMemory.to_string(), "CUDA error 2");
        assert_eq!(
            CudaError::DriverNotFound.to_string(),
            "libcuda.so.1 not found: install the NVIDIA driver"
        );
        assert_eq!(format!("{:?}", CUresult::CUDA_ERROR_OUT_OF_MEMORY), "CUDA_ERROR_OUT_OF_MEMORY");
    }
}
