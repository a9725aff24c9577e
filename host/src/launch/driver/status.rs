//! The driver's status codes as errors.

use crate::error::{Error, Result};
use cust::error::CudaError;
use cust::sys::CUresult;

/// Turns a status into a result; `call` names the call and its arguments.
pub(super) fn check(status: CUresult, call: impl FnOnce() -> String) -> Result<()> {
    match status {
        CUresult::CUDA_SUCCESS => Ok(()),
        status => Err(Error::Device { call: call(), message: status.to_string() }),
    }
}

/// Puts the call into an error of cust, which has the driver's words.
pub(crate) fn failed(call: impl Into<String>) -> impl FnOnce(CudaError) -> Error {
    let call = call.into();
    move |error| Error::Device { call, message: error.status().to_string() }
}

/// Whether the status is the fault of a kernel that ran earlier. The context is lost after it.
pub(super) fn is_fault(status: CUresult) -> bool {
    matches!(status.0, 214 | 220 | 700 | 702 | 710 | 714..=719)
}
