//! Bulk copies, and the barriers that count their bytes.

use super::shared::SharedBase;
use core::arch::asm;

/// One thread arrives in each phase. Who copies is to see the barrier, too.
#[inline(always)]
pub unsafe fn bulk_init(barrier: SharedBase) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "mbarrier.init.shared.b64 [{}], 1;",
            "fence.proxy.async.shared::cta;",
            in(reg32) barrier, options(nostack, preserves_flags)
        );
    }
}

#[inline(always)]
pub unsafe fn bulk_copy<T>(barrier: SharedBase, to: SharedBase, i: usize, from: *const T, count: usize) {
    let (to, bytes) = (to + (i * size_of::<T>()) as u32, (count * size_of::<T>()) as u32);
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "{{ .reg .u64 a; cvta.to.global.u64 a, {from};",
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{barrier}], {bytes};",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [a], {bytes}, [{barrier}]; }}",
            from = in(reg64) from, to = in(reg32) to, bytes = in(reg32) bytes, barrier = in(reg32) barrier,
            options(nostack, preserves_flags)
        );
    }
}

#[inline(always)]
pub unsafe fn bulk_commit(barrier: SharedBase) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "{{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [{}]; }}",
            in(reg32) barrier, options(nostack, preserves_flags)
        );
    }
}

#[inline(always)]
pub unsafe fn bulk_wait(barrier: SharedBase, phase: u32) {
    loop {
        let complete: u32;
        // SAFETY: the caller's promise.
        unsafe {
            asm!(
                "{{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [{barrier}], {parity};",
                "selp.u32 {complete}, 1, 0, p; }}",
                barrier = in(reg32) barrier, parity = in(reg32) phase & 1, complete = out(reg32) complete,
                options(nostack, preserves_flags)
            );
        }
        if complete != 0 {
            return;
        }
    }
}
