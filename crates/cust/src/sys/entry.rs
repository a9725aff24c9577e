//! Where a function of the driver is.

use super::status::CUresult;
use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

/// What stands in the place of the address of a function that the loaded driver does not have.
const MISSING: *mut c_void = without_provenance_mut(1);

/// One function: its symbol, and its address once a driver is loaded.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// Null before a driver is loaded.
    address: AtomicPtr<c_void>,
}

impl Entry {
    pub(super) const fn new(name: &'static str) -> Entry {
        Entry { name, address: AtomicPtr::new(null_mut()) }
    }

    /// Notes what the driver has under this name: the function's address, or nothing.
    pub(crate) fn resolve(&self, address: Option<*mut c_void>) {
        self.address.store(address.unwrap_or(MISSING), Ordering::Release);
    }

    /// The function's address.
    ///
    /// # Errors
    /// The status that stands for the call: no driver is loaded, or it does not have this function.
    pub(super) fn address(&self) -> Result<*mut c_void, CUresult> {
        match self.address.load(Ordering::Acquire) {
            address if address.is_null() => Err(CUresult::CUDA_ERROR_NOT_INITIALIZED),
            MISSING => Err(CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND),
            address => Ok(address),
        }
    }
}
