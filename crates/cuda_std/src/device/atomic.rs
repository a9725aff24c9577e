//! Atomic operations.
//!
//! Those of the types are on generic addresses, since a cell may be in global or in shared memory.

use crate::ordering::{Ordering, Scope};
use core::arch::asm;

#[inline(always)]
pub unsafe fn atomic_add(address: *mut u32, value: u32) -> u32 {
    let old: u32;
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "{{ .reg .u64 a; cvta.to.global.u64 a, {address};",
            "atom.relaxed.gpu.global.add.u32 {old}, [a], {value}; }}",
            old = out(reg32) old, value = in(reg32) value, address = in(reg64) address,
            options(nostack, preserves_flags)
        );
    }
    old
}

#[inline(always)]
pub unsafe fn atomic_inc(address: *mut u32, limit: u32) -> u32 {
    let old: u32;
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "{{ .reg .u64 a; cvta.to.global.u64 a, {address};",
            "atom.relaxed.gpu.global.inc.u32 {old}, [a], {limit}; }}",
            old = out(reg32) old, limit = in(reg32) limit, address = in(reg64) address,
            options(nostack, preserves_flags)
        );
    }
    old
}

/// What makes an operation sequentially consistent, in front of it.
#[inline(always)]
fn fence_before(scope: Scope, order: Ordering) {
    if order == Ordering::SeqCst {
        // SAFETY: a fence has no conditions.
        unsafe {
            match scope {
                Scope::Block => asm!("fence.sc.cta;", options(nostack, preserves_flags)),
                Scope::Device => asm!("fence.sc.gpu;", options(nostack, preserves_flags)),
                Scope::System => asm!("fence.sc.sys;", options(nostack, preserves_flags)),
            }
        }
    }
}

/// One line of assembly for each scope; the word for it is put between the parts.
macro_rules! in_scope {
    ($scope:expr, $first:expr, $last:expr, $($operand:tt)*) => {
        match $scope {
            Scope::Block => asm!(concat!($first, ".cta", $last), $($operand)*),
            Scope::Device => asm!(concat!($first, ".gpu", $last), $($operand)*),
            Scope::System => asm!(concat!($first, ".sys", $last), $($operand)*),
        }
    };
}

macro_rules! operations {
    ($class:ident, $bits:ty: $($name:ident $instruction:literal;)*) => {$(
        #[inline(always)]
        pub unsafe fn $name(address: *mut $bits, value: $bits, scope: Scope, order: Ordering) -> $bits {
            let old: $bits;
            macro_rules! with {
                ($order:literal) => {
                    in_scope!(
                        scope, concat!("atom", $order), concat!($instruction, " {old}, [{address}], {value};"),
                        old = out($class) old, address = in(reg64) address, value = in($class) value,
                        options(nostack, preserves_flags)
                    )
                };
            }
            fence_before(scope, order);
            // SAFETY: the caller's promise.
            unsafe {
                match order {
                    Ordering::Relaxed => with!(".relaxed"),
                    Ordering::Acquire => with!(".acquire"),
                    Ordering::Release => with!(".release"),
                    _ => with!(".acq_rel"),
                }
            }
            old
        }
    )*};
}

operations! { reg32, u32:
    add_u32 ".add.u32";
    add_f32 ".add.f32";
    and_32 ".and.b32";
    or_32 ".or.b32";
    xor_32 ".xor.b32";
    min_u32 ".min.u32";
    max_u32 ".max.u32";
    min_i32 ".min.s32";
    max_i32 ".max.s32";
    swap_32 ".exch.b32";
}

operations! { reg64, u64:
    add_u64 ".add.u64";
    add_f64 ".add.f64";
    and_64 ".and.b64";
    or_64 ".or.b64";
    xor_64 ".xor.b64";
    min_u64 ".min.u64";
    max_u64 ".max.u64";
    min_i64 ".min.s64";
    max_i64 ".max.s64";
    swap_64 ".exch.b64";
}

/// Subtraction: addition of the negative number.
macro_rules! subtractions {
    ($($name:ident $add:ident $bits:ty, $negative:expr;)*) => {$(
        #[inline(always)]
        pub unsafe fn $name(address: *mut $bits, value: $bits, scope: Scope, order: Ordering) -> $bits {
            // SAFETY: the caller's promise.
            unsafe { $add(address, $negative(value), scope, order) }
        }
    )*};
}

subtractions! {
    sub_u32 add_u32 u32, u32::wrapping_neg;
    sub_u64 add_u64 u64, u64::wrapping_neg;
    sub_f32 add_f32 u32, |bits: u32| bits ^ 1 << 31;
    sub_f64 add_f64 u64, |bits: u64| bits ^ 1 << 63;
}

macro_rules! cells {
    ($class:ident, $bits:ty, $suffix:literal: $load:ident $store:ident $cas:ident) => {
        #[inline(always)]
        pub unsafe fn $load(address: *const $bits, scope: Scope, order: Ordering) -> $bits {
            let value: $bits;
            macro_rules! with {
                        ($order:literal) => {
                            in_scope!(
                                scope, concat!("ld", $order), concat!($suffix, " {value}, [{address}];"),
                                value = out($class) value, address = in(reg64) address,
                                options(nostack, preserves_flags)
                            )
                        };
                    }
            fence_before(scope, order);
            // SAFETY: the caller's promise.
            unsafe {
                match order {
                    Ordering::Relaxed => with!(".relaxed"),
                    _ => with!(".acquire"),
                }
            }
            value
        }

        #[inline(always)]
        pub unsafe fn $store(address: *mut $bits, value: $bits, scope: Scope, order: Ordering) {
            macro_rules! with {
                        ($order:literal) => {
                            in_scope!(
                                scope, concat!("st", $order), concat!($suffix, " [{address}], {value};"),
                                value = in($class) value, address = in(reg64) address,
                                options(nostack, preserves_flags)
                            )
                        };
                    }
            fence_before(scope, order);
            // SAFETY: the caller's promise.
            unsafe {
                match order {
                    Ordering::Release => with!(".release"),
                    _ => with!(".relaxed"),
                }
            }
        }

        #[inline(always)]
        pub unsafe fn $cas(
            address: *mut $bits,
            current: $bits,
            new: $bits,
            scope: Scope,
            order: Ordering,
        ) -> $bits {
            let old: $bits;
            macro_rules! with {
                        ($order:literal) => {
                            in_scope!(
                                scope,
                                concat!("atom", $order),
                                concat!(".cas", $suffix, " {old}, [{address}], {current}, {new};"),
                                old = out($class) old, address = in(reg64) address,
                                current = in($class) current, new = in($class) new,
                                options(nostack, preserves_flags)
                            )
                        };
                    }
            fence_before(scope, order);
            // SAFETY: the caller's promise.
            unsafe {
                match order {
                    Ordering::Relaxed => with!(".relaxed"),
                    Ordering::Acquire => with!(".acquire"),
                    Ordering::Release => with!(".release"),
                    _ => with!(".acq_rel"),
                }
            }
            old
        }
    };
}

cells!(reg32, u32, ".b32": load_atomic_32 store_atomic_32 cas_32);
cells!(reg64, u64, ".b64": load_atomic_64 store_atomic_64 cas_64);
