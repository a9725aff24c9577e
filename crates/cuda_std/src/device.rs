//! What a thread does to the machine: PTX instructions.
//!
//! Barriers, shuffles and votes are LLVM intrinsics, because LLVM knows them to be convergent: inline
//! assembly may be duplicated or moved into a branch. Loads and stores are inline assembly where Rust has
//! no word for the caching.

use crate::caching::{Load, Store};
use crate::lanes::Shuffle;
use core::arch::{asm, nvptx};

#[allow(improper_ctypes)]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    fn laneid() -> u32;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_sync_down(mask: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_sync_bfly(mask: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_sync_idx(mask: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot_sync(mask: u32, predicate: bool) -> u32;
}

#[inline(always)]
pub fn thread_idx_x() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_thread_idx_x() }
}

#[inline(always)]
pub fn block_idx_x() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_block_idx_x() }
}

#[inline(always)]
pub fn block_dim_x() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_block_dim_x() }
}

#[inline(always)]
pub fn grid_dim_x() -> u32 {
    // SAFETY: reads a special register.
    unsafe { nvptx::_grid_dim_x() }
}

#[inline(always)]
pub fn lane_id() -> u32 {
    // SAFETY: reads a special register.
    unsafe { laneid() }
}

#[inline(always)]
pub fn sync_threads() {
    // SAFETY: a barrier has no conditions but that all threads come.
    unsafe { nvptx::_syncthreads() }
}

#[inline(always)]
pub fn device_fence() {
    // Acquire and release suffice for what blocks tell each other; `membar` is sequentially consistent,
    // which waits longer.
    // SAFETY: a fence has no conditions.
    unsafe { asm!("fence.acq_rel.gpu;", options(nostack, preserves_flags)) }
}

#[inline(always)]
pub fn system_fence() {
    // SAFETY: a fence has no conditions.
    unsafe { asm!("fence.acq_rel.sys;", options(nostack, preserves_flags)) }
}

#[inline(always)]
pub fn grid_dependency_wait() {
    // Without `nomem`, so that no access is moved from behind it to before it.
    // SAFETY: waits. Later accesses only gain by it.
    #[cfg(target_feature = "sm_90")]
    unsafe {
        asm!("griddepcontrol.wait;", options(nostack, preserves_flags))
    }
}

#[inline(always)]
pub fn grid_dependency_launch() {
    // SAFETY: a hint to the scheduler; a grid that depends on this one waits for its end.
    #[cfg(target_feature = "sm_90")]
    unsafe {
        asm!("griddepcontrol.launch_dependents;", options(nostack, preserves_flags))
    }
}

#[inline(always)]
pub unsafe fn shuffle_32(shuffle: Shuffle, mask: u32, value: u32, operand: u32, width: u32) -> u32 {
    // The last lane to read from, and the bits of the lane number that name the group (PTX, shfl.sync).
    let clamp = (32 - width) << 8 | 0x1f;
    // SAFETY: the caller's promise.
    unsafe {
        match shuffle {
            Shuffle::Down => shfl_sync_down(mask, value, operand, clamp),
            Shuffle::Xor => shfl_sync_bfly(mask, value, operand, clamp),
            Shuffle::Index => shfl_sync_idx(mask, value, operand, clamp),
        }
    }
}

#[inline(always)]
pub unsafe fn shuffle_64(shuffle: Shuffle, mask: u32, value: u64, operand: u32, width: u32) -> u64 {
    // SAFETY: the caller's promise.
    let (low, high) = unsafe {
        let low = shuffle_32(shuffle, mask, value as u32, operand, width);
        (low, shuffle_32(shuffle, mask, (value >> 32) as u32, operand, width))
    };
    u64::from(low) | u64::from(high) << 32
}

#[inline(always)]
pub unsafe fn ballot(mask: u32, predicate: bool) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { vote_ballot_sync(mask, predicate) }
}

#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: the caller's promise.
    unsafe { bar_warp_sync(mask) }
}

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
        $bits:ty, $class:ident, $suffix:literal,
        $load:ident, $load_x2:ident, $store:ident, $load_shared:ident, $store_shared:ident
    ) => {
        #[inline(always)]
        pub unsafe fn $load(how: Load, base: *const $bits, i: usize) -> $bits {
            // SAFETY: the caller's promise. `pure` where only the memory decides what comes back.
            unsafe {
                let address = base.add(i);
                match how {
                    Load::Plain => load!(concat!(".global", $suffix), $class, $bits, address, pure, readonly),
                    Load::Constant => {
                        load!(concat!(".global.nc", $suffix), $class, $bits, address, pure, readonly)
                    }
                    #[cfg(not(target_feature = "sm_90"))]
                    Load::Streamed => {
                        load!(concat!(".global.cs.nc", $suffix), $class, $bits, address, pure, readonly)
                    }
                    #[cfg(target_feature = "sm_90")]
                    Load::Streamed => {
                        let value: $bits;
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
                        load!(concat!(".relaxed.gpu.global", $suffix), $class, $bits, address, readonly)
                    }
                    Load::Flag => {
                        load!(concat!(".relaxed.cta.global", $suffix), $class, $bits, address, readonly)
                    }
                }
            }
        }

        #[inline(always)]
        pub unsafe fn $load_x2(base: *const $bits, i: usize) -> [$bits; 2] {
            let (first, second): ($bits, $bits);
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
            [first, second]
        }

        #[inline(always)]
        pub unsafe fn $store(how: Store, base: *mut $bits, i: usize, value: $bits) {
            // SAFETY: the caller's promise.
            unsafe {
                let address = base.add(i);
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
            let value: $bits;
            let address = base + i as u32 * size_of::<$bits>() as u32;
            // SAFETY: the caller's promise.
            unsafe {
                asm!(
                    concat!("ld.shared", $suffix, " {}, [{}];"),
                    out($class) value, in(reg32) address, options(readonly, nostack, preserves_flags)
                );
            }
            value
        }

        #[inline(always)]
        pub unsafe fn $store_shared(base: SharedBase, i: usize, value: $bits) {
            let address = base + i as u32 * size_of::<$bits>() as u32;
            // SAFETY: the caller's promise.
            unsafe {
                asm!(
                    concat!("st.shared", $suffix, " [{}], {};"),
                    in(reg32) address, in($class) value, options(nostack, preserves_flags)
                );
            }
        }
    };
}

accesses!(u32, reg32, ".b32", load_32, load_x2_32, store_32, load_shared_32, store_shared_32);
accesses!(u64, reg64, ".b64", load_64, load_x2_64, store_64, load_shared_64, store_shared_64);

#[inline(always)]
pub unsafe fn load_x4_32(base: *const u32, i: usize) -> [u32; 4] {
    let (a, b, c, d): (u32, u32, u32, u32);
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "{{ .reg .u64 a; cvta.to.global.u64 a, {address};",
            "ld.global.nc.v4.b32 {{{a}, {b}, {c}, {d}}}, [a]; }}",
            a = out(reg32) a, b = out(reg32) b, c = out(reg32) c, d = out(reg32) d,
            address = in(reg64) base.add(i),
            options(pure, readonly, nostack, preserves_flags)
        );
    }
    [a, b, c, d]
}

/// Two loads: 16 bytes is the most that one loads.
#[inline(always)]
pub unsafe fn load_x4_64(base: *const u64, i: usize) -> [u64; 4] {
    // SAFETY: the caller's promise.
    let ([a, b], [c, d]) = unsafe { (load_x2_64(base, i), load_x2_64(base, i + 2)) };
    [a, b, c, d]
}

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

/// A panic stops the launch; the driver reports it as a failed launch.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: traps.
    unsafe { nvptx::trap() }
}
