//! Copies between host and device, which [notices](crate::launch::notice) tell of.

use std::panic::Location;

use cuda_std::memory::Word;

use super::buffer::{bytes_of, bytes_of_mut};
use crate::error::Result;
use crate::launch::notice::{self, Way};
use crate::launch::{Address, Launch};

/// Copies `values` to the device; returns when they may be reused.
///
/// # Safety
/// The memory at `to` is the device's, and has room for them.
#[track_caller]
pub(crate) unsafe fn upload<U: Word>(device: &dyn Launch, to: Address, values: &[U]) -> Result<()> {
    notice::copy::<U>(device.info(), Way::Upload, values.len(), Location::caller());
    // SAFETY: the caller's promise.
    unsafe { device.upload(to, bytes_of(values)) }
}

/// Fills `values` from the device, behind everything queued before.
///
/// # Safety
/// The memory at `from` is the device's, and has as many elements.
#[track_caller]
pub(crate) unsafe fn download<U: Word>(device: &dyn Launch, values: &mut [U], from: Address) -> Result<()> {
    notice::copy::<U>(device.info(), Way::Download, values.len(), Location::caller());
    // SAFETY: the caller's promise.
    unsafe { device.download(bytes_of_mut(values), from) }
}
