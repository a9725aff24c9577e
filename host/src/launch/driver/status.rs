//! The driver's status codes as errors.

use crate::error::{Error, Result};
use cust::error::CudaError;
use cust::sys::{self, CUresult};
use std::ffi::{CStr, c_char};

/// Turns a status into a result; `call` names the call and its arguments.
pub(super) fn check(status: CUresult, call: impl FnOnce() -> String) -> Result<()> {
    match status {
        CUresult::CUDA_SUCCESS => Ok(()),
        status => Err(Error::Device { call: call(), message: describe(status) }),
    }
}

/// Puts the driver's words and the call into an error of cust.
pub(super) fn failed(call: impl Into<String>) -> impl FnOnce(CudaError) -> Error {
    let call = call.into();
    move |error| Error::Device { call, message: describe(code(error)) }
}

/// The driver's status behind an error of cust, which prints less of it.
pub(super) fn code(error: CudaError) -> CUresult {
    match error as u32 {
        // SAFETY: both are u32, and every value of CudaError up to 999 is one of CUresult too.
        status @ 0..=999 => unsafe { std::mem::transmute::<u32, CUresult>(status) },
        // cust's own codes: an allocation of 0 bytes or of more than the address space.
        _ => CUresult::CUDA_ERROR_INVALID_VALUE,
    }
}

/// "out of memory (CUDA_ERROR_OUT_OF_MEMORY)"; the number where no driver is there to explain it.
pub(super) fn describe(status: CUresult) -> String {
    type Lookup = unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult;
    let text = |lookup: Lookup| {
        let mut text = std::ptr::null();
        // SAFETY: `text` is writable, and a success leaves in it a string that lives for ever.
        unsafe {
            (lookup(status, &mut text) == CUresult::CUDA_SUCCESS && !text.is_null())
                .then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    };
    match (text(sys::cuGetErrorString), text(sys::cuGetErrorName)) {
        (Some(string), Some(name)) => format!("{string} ({name})"),
        _ => format!("CUDA error {}", status as u32),
    }
}

/// Whether the status is the fault of a kernel that ran earlier. The context is lost after it.
pub(super) fn is_fault(status: CUresult) -> bool {
    matches!(status as u32, 214 | 220 | 700 | 702 | 710 | 714..=719)
}
