//! Atomic operations of a simulated thread: the host's side of `device/atomic.rs`.
//!
//! Threads take turns, so that each operation is atomic; memory may be visible to other host threads all the
//! same.

use super::block;
use super::fault::Access;
use crate::ordering::{Ordering, Scope};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Reports an access that is not allowed, and enters what the operation orders. Outside of kernels nothing is
/// checked: the caller has promised that the pointer is valid.
#[track_caller]
fn enter(access: Access, address: u64, size: u64, scope: Scope, order: Ordering) {
    let Some(grid) = block::current() else { return };
    let reaches_others = scope != Scope::Block;
    if reaches_others && matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst) {
        grid.fence();
    }
    grid.check_global(access, scope, address, address, size);
    if reaches_others && access != Access::Atomic && order != Ordering::Relaxed {
        grid.synchronise(address);
    }
}

macro_rules! cells {
    ($bits:ty, $atomic:ty: $modify:ident $load:ident $store:ident $cas:ident) => {
        /// Changes `*address` to `new(*address)`; returns what was there.
        #[track_caller]
        unsafe fn $modify(
            address: *mut $bits,
            scope: Scope,
            order: Ordering,
            new: impl Fn($bits) -> $bits,
        ) -> $bits {
            enter(Access::Atomic, address as u64, size_of::<$bits>() as u64, scope, order);
            // SAFETY: the caller's promise, checked.
            let cell = unsafe { <$atomic>::from_ptr(address) };
            let (Ok(old) | Err(old)) =
                cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| Some(new(old)));
            old
        }

        #[track_caller]
        pub unsafe fn $load(address: *mut $bits, scope: Scope, order: Ordering) -> $bits {
            enter(Access::VolatileRead, address as u64, size_of::<$bits>() as u64, scope, order);
            // SAFETY: the caller's promise, checked.
            unsafe { <$atomic>::from_ptr(address) }.load(Ordering::SeqCst)
        }

        #[track_caller]
        pub unsafe fn $store(address: *mut $bits, value: $bits, scope: Scope, order: Ordering) {
            enter(Access::VolatileWrite, address as u64, size_of::<$bits>() as u64, scope, order);
            // SAFETY: the caller's promise, checked.
            unsafe { <$atomic>::from_ptr(address) }.store(value, Ordering::SeqCst);
        }

        #[track_caller]
        pub unsafe fn $cas(
            address: *mut $bits,
            current: $bits,
            new: $bits,
            scope: Scope,
            order: Ordering,
        ) -> $bits {
            // SAFETY: the caller's promise.
            unsafe { $modify(address, scope, order, |old| if old == current { new } else { old }) }
        }
    };
}

cells!(u32, AtomicU32: modify_32 load_atomic_32 store_atomic_32 cas_32);
cells!(u64, AtomicU64: modify_64 load_atomic_64 store_atomic_64 cas_64);

macro_rules! operations {
    ($($name:ident $modify:ident $bits:ty, |$old:ident, $value:ident| $new:expr;)*) => {$(
        #[track_caller]
        pub unsafe fn $name(address: *mut $bits, $value: $bits, scope: Scope, order: Ordering) -> $bits {
            // SAFETY: the caller's promise.
            unsafe { $modify(address, scope, order, |$old| $new) }
        }
    )*};
}

operations! {
    add_u32 modify_32 u32, |old, value| old.wrapping_add(value);
    sub_u32 modify_32 u32, |old, value| old.wrapping_sub(value);
    add_f32 modify_32 u32, |old, value| (f32::from_bits(old) + f32::from_bits(value)).to_bits();
    sub_f32 modify_32 u32, |old, value| (f32::from_bits(old) - f32::from_bits(value)).to_bits();
    and_32 modify_32 u32, |old, value| old & value;
    or_32 modify_32 u32, |old, value| old | value;
    xor_32 modify_32 u32, |old, value| old ^ value;
    min_u32 modify_32 u32, |old, value| old.min(value);
    max_u32 modify_32 u32, |old, value| old.max(value);
    min_i32 modify_32 u32, |old, value| (old as i32).min(value as i32) as u32;
    max_i32 modify_32 u32, |old, value| (old as i32).max(value as i32) as u32;
    swap_32 modify_32 u32, |_old, value| value;
    add_u64 modify_64 u64, |old, value| old.wrapping_add(value);
    sub_u64 modify_64 u64, |old, value| old.wrapping_sub(value);
    add_f64 modify_64 u64, |old, value| (f64::from_bits(old) + f64::from_bits(value)).to_bits();
    sub_f64 modify_64 u64, |old, value| (f64::from_bits(old) - f64::from_bits(value)).to_bits();
    and_64 modify_64 u64, |old, value| old & value;
    or_64 modify_64 u64, |old, value| old | value;
    xor_64 modify_64 u64, |old, value| old ^ value;
    min_u64 modify_64 u64, |old, value| old.min(value);
    max_u64 modify_64 u64, |old, value| old.max(value);
    min_i64 modify_64 u64, |old, value| (old as i64).min(value as i64) as u64;
    max_i64 modify_64 u64, |old, value| (old as i64).max(value as i64) as u64;
    swap_64 modify_64 u64, |_old, value| value;
}

#[track_caller]
pub unsafe fn atomic_add(address: *mut u32, value: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { add_u32(address, value, Scope::Device, Ordering::Relaxed) }
}

#[track_caller]
pub unsafe fn atomic_inc(address: *mut u32, limit: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        modify_32(address, Scope::Device, Ordering::Relaxed, |old| if old >= limit { 0 } else { old + 1 })
    }
}
