//! Shared memory.

use core::arch::asm;

/// An address in the shared window, which is 32 bits wide.
pub type SharedBase = u32;

#[inline(always)]
pub fn shared_words(base: SharedBase) -> SharedBase {
    base
}

#[inline(always)]
pub unsafe fn load_shared_volatile(base: SharedBase, i: usize) -> u32 {
    let value: u32;
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "ld.relaxed.cta.shared.b32 {}, [{}];",
            out(reg32) value, in(reg32) base + i as u32 * 4, options(readonly, nostack, preserves_flags)
        );
    }
    value
}

#[inline(always)]
pub unsafe fn atomic_cas_shared(base: SharedBase, i: usize, expected: u32, new: u32) -> u32 {
    let old: u32;
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "atom.relaxed.cta.shared.cas.b32 {old}, [{address}], {expected}, {new};",
            old = out(reg32) old, address = in(reg32) base + i as u32 * 4,
            expected = in(reg32) expected, new = in(reg32) new,
            options(nostack, preserves_flags)
        );
    }
    old
}

#[inline(always)]
pub unsafe fn atomic_add_shared(base: SharedBase, i: usize, value: u32) -> u32 {
    let old: u32;
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "atom.relaxed.cta.shared.add.u32 {old}, [{address}], {value};",
            old = out(reg32) old, address = in(reg32) base + i as u32 * 4, value = in(reg32) value,
            options(nostack, preserves_flags)
        );
    }
    old
}

#[inline(always)]
pub unsafe fn atomic_or_shared(base: SharedBase, i: usize, bits: u32) -> u32 {
    let old: u32;
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "atom.relaxed.cta.shared.or.b32 {old}, [{address}], {bits};",
            old = out(reg32) old, address = in(reg32) base + i as u32 * 4, bits = in(reg32) bits,
            options(nostack, preserves_flags)
        );
    }
    old
}

/// `cuda_builder` declares the array.
#[inline(always)]
pub fn dynamic_shared() -> *mut u8 {
    let address: *mut u8;
    // SAFETY: makes an address.
    unsafe {
        asm!(
            "{{ .reg .u64 a; mov.u64 a, cuda_std_dynamic_shared; cvta.shared.u64 {}, a; }}",
            out(reg64) address,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    address
}

#[inline(always)]
pub fn dynamic_shared_base(_: usize) -> SharedBase {
    let base: SharedBase;
    // SAFETY: makes an address.
    unsafe {
        asm!(
            "mov.u32 {}, cuda_std_dynamic_shared;",
            out(reg32) base, options(pure, nomem, nostack, preserves_flags)
        );
    }
    base
}

#[inline(always)]
pub fn dynamic_shared_bytes() -> u32 {
    let bytes: u32;
    // SAFETY: reads a special register.
    unsafe { asm!("mov.u32 {}, %dynamic_smem_size;", out(reg32) bytes, options(pure, nomem, nostack)) };
    bytes
}

#[inline(always)]
pub fn total_shared_bytes() -> u32 {
    let bytes: u32;
    // SAFETY: reads a special register.
    unsafe { asm!("mov.u32 {}, %total_smem_size;", out(reg32) bytes, options(pure, nomem, nostack)) };
    bytes
}
