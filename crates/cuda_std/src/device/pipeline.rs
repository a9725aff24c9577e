//! Copies from global to shared memory.

use super::shared::SharedBase;
#[cfg(target_feature = "sm_80")]
use core::arch::asm;

#[cfg(target_feature = "sm_80")]
#[inline(always)]
pub unsafe fn copy_async<T, const N: usize>(base: SharedBase, i: usize, from: *const T) {
    let (to, size) = (base + (i * size_of::<T>()) as u32, N * size_of::<T>());
    macro_rules! copy {
        ($bytes:literal) => {
            asm!(
                "{{ .reg .u64 a; cvta.to.global.u64 a, {from};",
                concat!("cp.async.ca.shared.global [{to}], [a], ", $bytes, "; }}"),
                to = in(reg32) to, from = in(reg64) from, options(nostack, preserves_flags)
            )
        };
    }
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            4 => copy!(4),
            8 => copy!(8),
            _ => copy!(16),
        }
    }
}

#[cfg(target_feature = "sm_80")]
#[inline(always)]
pub fn commit_copies() {
    // SAFETY: closes a group.
    unsafe { asm!("cp.async.commit_group;", options(nostack, preserves_flags)) }
}

#[cfg(target_feature = "sm_80")]
#[inline(always)]
pub fn wait_for_copies<const N: usize>() {
    // SAFETY: waits.
    unsafe { asm!("cp.async.wait_group {};", const N, options(nostack, preserves_flags)) }
}

/// By the thread itself.
#[cfg(not(target_feature = "sm_80"))]
#[inline(always)]
pub unsafe fn copy_async<T, const N: usize>(base: SharedBase, i: usize, from: *const T) {
    let words = size_of::<T>() / 4;
    for k in 0..N * words {
        // SAFETY: the caller's promise.
        unsafe {
            let word = super::memory::load_32(crate::caching::Load::Plain, from.cast(), k);
            super::memory::store_shared_32(base, i * words + k, word);
        }
    }
}

#[cfg(not(target_feature = "sm_80"))]
#[inline(always)]
pub fn commit_copies() {}

#[cfg(not(target_feature = "sm_80"))]
#[inline(always)]
pub fn wait_for_copies<const N: usize>() {}
