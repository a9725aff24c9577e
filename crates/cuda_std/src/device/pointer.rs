//! Where pointers point.

use crate::space::AddressSpace;
use core::arch::asm;

/// One instruction for each kind of memory, with the word for it in the middle.
macro_rules! by_space {
    ($space:expr, |$name:ident| $instruction:expr) => {
        match $space {
            AddressSpace::Global => by_space!(@ $name "global", $instruction),
            AddressSpace::Shared => by_space!(@ $name "shared", $instruction),
            AddressSpace::Constant => by_space!(@ $name "const", $instruction),
            AddressSpace::Local => by_space!(@ $name "local", $instruction),
        }
    };
    (@ is $word:literal, $pointer:expr) => {{
        let result: u32;
        asm!(
            concat!("{{ .reg .pred p; isspacep.", $word, " p, {}; selp.u32 {}, 1, 0, p; }}"),
            in(reg64) $pointer, lateout(reg32) result, options(pure, nomem, nostack, preserves_flags)
        );
        result != 0
    }};
    (@ to $word:literal, $pointer:expr) => {{
        let result: *const u8;
        asm!(
            concat!("cvta.to.", $word, ".u64 {}, {};"),
            lateout(reg64) result, in(reg64) $pointer, options(pure, nomem, nostack, preserves_flags)
        );
        result
    }};
    (@ from $word:literal, $pointer:expr) => {{
        let result: *const u8;
        asm!(
            concat!("cvta.", $word, ".u64 {}, {};"),
            lateout(reg64) result, in(reg64) $pointer, options(pure, nomem, nostack, preserves_flags)
        );
        result
    }};
}

#[inline(always)]
pub fn is_in_address_space(pointer: *const u8, space: AddressSpace) -> bool {
    // SAFETY: compares an address.
    unsafe { by_space!(space, |is| pointer) }
}

#[inline(always)]
pub fn generic_to_specific(pointer: *const u8, space: AddressSpace) -> *const u8 {
    // SAFETY: makes an address.
    unsafe { by_space!(space, |to| pointer) }
}

#[inline(always)]
pub fn specific_to_generic(pointer: *const u8, space: AddressSpace) -> *const u8 {
    // SAFETY: makes an address.
    unsafe { by_space!(space, |from| pointer) }
}
