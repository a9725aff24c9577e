//! Who am I, barriers of a block, fences.

use super::atomic::{add_u32, load_atomic_32};
use crate::ordering::{Ordering, Scope};
use core::arch::{asm, nvptx};

macro_rules! special_registers {
    ($($name:ident: $register:ident;)*) => {$(
        #[inline(always)]
        pub fn $name() -> u32 {
            // SAFETY: reads a special register.
            unsafe { nvptx::$register() }
        }
    )*};
}

special_registers! {
    thread_idx_x: _thread_idx_x;
    thread_idx_y: _thread_idx_y;
    thread_idx_z: _thread_idx_z;
    block_idx_x: _block_idx_x;
    block_idx_y: _block_idx_y;
    block_idx_z: _block_idx_z;
    block_dim_x: _block_dim_x;
    block_dim_y: _block_dim_y;
    block_dim_z: _block_dim_z;
    grid_dim_x: _grid_dim_x;
    grid_dim_y: _grid_dim_y;
    grid_dim_z: _grid_dim_z;
}

unsafe extern "C" {
    #[link_name = "llvm.nvvm.barrier.cta.red.popc.aligned.all"]
    fn barrier_count(barrier: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.barrier.cta.red.and.aligned.all"]
    fn barrier_and(barrier: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.barrier.cta.red.or.aligned.all"]
    fn barrier_or(barrier: u32, predicate: bool) -> bool;
}

#[inline(always)]
pub fn sync_threads() {
    // SAFETY: a barrier has no conditions but that all threads come.
    unsafe { nvptx::_syncthreads() }
}

#[inline(always)]
pub fn sync_threads_count(predicate: bool) -> u32 {
    // SAFETY: as `sync_threads`.
    unsafe { barrier_count(0, predicate) }
}

#[inline(always)]
pub fn sync_threads_and(predicate: bool) -> bool {
    // SAFETY: as `sync_threads`.
    unsafe { barrier_and(0, predicate) }
}

#[inline(always)]
pub fn sync_threads_or(predicate: bool) -> bool {
    // SAFETY: as `sync_threads`.
    unsafe { barrier_or(0, predicate) }
}

/// Blocks add up to the highest bit, and wait until it has changed: the first adds what the others, 1 each,
/// leave to it. The lower bits are then what they were before.
#[inline(always)]
pub unsafe fn sync_grid(barrier: *mut u32) {
    const HIGHEST: u32 = 1 << 31;
    sync_threads();
    if [thread_idx_x(), thread_idx_y(), thread_idx_z()] == [0; 3] {
        let blocks = grid_dim_x() * grid_dim_y() * grid_dim_z();
        let is_first = [block_idx_x(), block_idx_y(), block_idx_z()] == [0; 3];
        let share = if is_first { HIGHEST - (blocks - 1) } else { 1 };
        device_fence();
        // SAFETY: the caller's promise.
        let before = unsafe { add_u32(barrier, share, Scope::Device, Ordering::Relaxed) };
        // SAFETY: the caller's promise.
        while (before ^ unsafe { load_atomic_32(barrier, Scope::Device, Ordering::Relaxed) }) & HIGHEST == 0 {
        }
        device_fence();
    }
    sync_threads();
}

#[inline(always)]
pub fn block_fence() {
    // SAFETY: a fence has no conditions.
    unsafe { asm!("fence.acq_rel.cta;", options(nostack, preserves_flags)) }
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
pub fn nanosleep(nanoseconds: u32) {
    // SAFETY: waits.
    unsafe { asm!("nanosleep.u32 {};", in(reg32) nanoseconds, options(nomem, nostack, preserves_flags)) }
}
