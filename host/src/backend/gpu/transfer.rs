//! Copies between host and device, which [notices](crate::launch::notice) tell of.

use std::panic::Location;

use cuda_std::memory::Word;

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

pub(crate) fn bytes_of<U: Word>(values: &[U]) -> &[u8] {
    // SAFETY: words have no padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

pub(crate) fn bytes_of_mut<U: Word>(values: &mut [U]) -> &mut [u8] {
    // SAFETY: words have no padding, and every bit pattern is a value.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
