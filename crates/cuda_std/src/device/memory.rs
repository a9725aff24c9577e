//! Loads and stores.

use super::shared::SharedBase;
use crate::caching::{Load, Store};
use core::arch::asm;

/// The policy of a cache line that is to leave the second-level cache before all others. Unlike `.cs` it
/// leaves the first level alone, where the next access of the warp may find the rest of the line; on an
/// H200 a product is 5 % faster with it, and CG 9 %.
#[cfg(target_feature = "sm_90")]
#[inline(always)]
fn evict_first() -> u64 {
    let policy: u64;
    // SAFETY: makes a number.
    unsafe {
        asm!(
            "createpolicy.fractional.L2::evict_first.b64 {policy}, 1.0;",
            policy = out(reg64) policy,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    policy
}

/// A load in inline assembly. The address is generic; `cvta` makes it a global one. (Rust's own loads
/// become global ones only where the pointer is itself an argument of the kernel.)
macro_rules! load {
    ($instruction:expr, $class:ident, $bits:ty, $address:expr, $($option:ident),*) => {{
        let value: $bits;
        asm!(
            "{{ .reg .u64 a; cvta.to.global.u64 a, {address};",
            concat!("ld", $instruction, " {value}, [a]; }}"),
            value = out($class) value,
            address = in(reg64) $address,
            options($($option,)* nostack, preserves_flags)
        );
        value
    }};
}

/// A store in inline assembly.
macro_rules! store {
    ($instruction:expr, $class:ident, $address:expr, $value:expr) => {
        asm!(
            "{{ .reg .u64 a; cvta.to.global.u64 a, {address};",
            concat!("st", $instruction, " [a], {value}; }}"),
            value = in($class) $value,
            address = in(reg64) $address,
            options(nostack, preserves_flags)
        )
    };
}

macro_rules! accesses {
    (
        $bits:ty, $register:ty, $class:ident, $suffix:literal,
        $load:ident, $load_x2:ident, $store:ident, $load_shared:ident, $store_shared:ident
    ) => {
        #[inline(always)]
        pub unsafe fn $load(how: Load, base: *const $bits, i: usize) -> $bits {
            // SAFETY: the caller's promise. `pure` where only the memory decides what comes back.
            let value = unsafe {
                let address = base.add(i);
                match how {
                    Load::Plain => {
                        load!(concat!(".global", $suffix), $class, $register, address, pure, readonly)
                    }
                    Load::Constant => {
                        load!(concat!(".global.nc", $suffix), $class, $register, address, pure, readonly)
                    }
                    #[cfg(not(target_feature = "sm_90"))]
                    Load::Streamed => {
                        load!(concat!(".global.cs.nc", $suffix), $class, $register, address, pure, readonly)
                    }
                    #[cfg(target_feature = "sm_90")]
                    Load::Streamed => {
                        let value: $register;
                        asm!(
                            "{{ .reg .u64 a; cvta.to.global.u64 a, {address};",
                            concat!("ld.global.nc.L2::cache_hint", $suffix, " {value}, [a], {policy}; }}"),
                            value = out($class) value,
                            address = in(reg64) address,
                            policy = in(reg64) evict_first(),
                            options(pure, readonly, nostack, preserves_flags)
                        );
                        value
                    }
                    Load::Volatile => {
                        load!(concat!(".relaxed.gpu.global", $suffix), $class, $register, address, readonly)
                    }
                    Load::Flag => {
                        load!(concat!(".relaxed.cta.global", $suffix), $class, $register, address, readonly)
                    }
                }
            };
            value as $bits
        }

        #[inline(always)]
        pub unsafe fn $load_x2(base: *const $bits, i: usize) -> [$bits; 2] {
            let (first, second): ($register, $register);
            // SAFETY: the caller's promise.
            unsafe {
                asm!(
                    "{{ .reg .u64 a; cvta.to.global.u64 a, {address};",
                    concat!("ld.global.nc.v2", $suffix, " {{{first}, {second}}}, [a]; }}"),
                    first = out($class) first,
                    second = out($class) second,
                    address = in(reg64) base.add(i),
                    options(pure, readonly, nostack, preserves_flags)
                );
            }
            [first as $bits, second as $bits]
        }

        #[inline(always)]
        pub unsafe fn $store(how: Store, base: *mut $bits, i: usize, value: $bits) {
            // SAFETY: the caller's promise.
            unsafe {
                let (address, value) = (base.add(i), value as $register);
                match how {
                    Store::Plain => store!(concat!(".global", $suffix), $class, address, value),
                    Store::Streamed => store!(concat!(".global.cs", $suffix), $class, address, value),
                    Store::Volatile => {
                        store!(concat!(".relaxed.gpu.global", $suffix), $class, address, value)
                    }
                }
            }
        }

        #[inline(always)]
        pub unsafe fn $load_shared(base: SharedBase, i: usize) -> $bits {
            let value: $register;
            let address = base + i as u32 * size_of::<$bits>() as u32;
            // SAFETY: the caller's promise.
            unsafe {
                asm!(
                    concat!("ld.shared", $suffix, " {}, [{}];"),
                    out($class) value, in(reg32) address, options(readonly, nostack, preserves_flags)
                );
            }
            value as $bits
        }

        #[inline(always)]
        pub unsafe fn $store_shared(base: SharedBase, i: usize, value: $bits) {
            let address = base + i as u32 * size_of::<$bits>() as u32;
            // SAFETY: the caller's promise.
            unsafe {
                asm!(
                    concat!("st.shared", $suffix, " [{}], {};"),
                    in(reg32) address, in($class) value as $register, options(nostack, preserves_flags)
                );
            }
        }
    };
}

// Registers have 16 bits or more.
accesses!(u8, u16, reg16, ".b8", load_8, load_x2_8, store_8, load_shared_8, store_shared_8);
accesses!(u16, u16, reg16, ".b16", load_16, load_x2_16, store_16, load_shared_16, store_shared_16);
accesses!(u32, u32, reg32, ".b32", load_32, load_x2_32, store_32, load_shared_32, store_shared_32);
accesses!(u64, u64, reg64, ".b64", load_64, load_x2_64, store_64, load_shared_64, store_shared_64);

macro_rules! load_x4 {
    ($($name:ident $bits:ty, $register:ty, $class:ident, $suffix:literal;)*) => {$(
        #[inline(always)]
        pub unsafe fn $name(base: *const $bits, i: usize) -> [$bits; 4] {
            let (a, b, c, d): ($register, $register, $register, $register);
            // SAFETY: the caller's promise.
            unsafe {
                asm!(
                    "{{ .reg .u64 a; cvta.to.global.u64 a, {address};",
                    concat!("ld.global.nc.v4", $suffix, " {{{a}, {b}, {c}, {d}}}, [a]; }}"),
                    a = out($class) a, b = out($class) b, c = out($class) c, d = out($class) d,
                    address = in(reg64) base.add(i),
                    options(pure, readonly, nostack, preserves_flags)
                );
            }
            [a as $bits, b as $bits, c as $bits, d as $bits]
        }
    )*};
}

load_x4! {
    load_x4_8 u8, u16, reg16, ".b8";
    load_x4_16 u16, u16, reg16, ".b16";
    load_x4_32 u32, u32, reg32, ".b32";
}

/// Two loads: 16 bytes is the most that one loads.
#[inline(always)]
pub unsafe fn load_x4_64(base: *const u64, i: usize) -> [u64; 4] {
    // SAFETY: the caller's promise.
    let ([a, b], [c, d]) = unsafe { (load_x2_64(base, i), load_x2_64(base, i + 2)) };
    [a, b, c, d]
}
