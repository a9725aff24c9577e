//! Shuffles, votes.

use crate::lanes::{Shuffle, WarpReductionOp};
use core::arch::asm;

#[allow(improper_ctypes)]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    fn laneid() -> u32;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(mask: u32);
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_sync_up(mask: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_sync_down(mask: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_sync_bfly(mask: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_sync_idx(mask: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot_sync(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i64"]
    fn match_any_sync(mask: u32, value: u64) -> u32;
}

/// Reductions that are one instruction. These take the mask last.
#[cfg(target_feature = "sm_80")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.redux.sync.add"]
    fn redux_add(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umin"]
    fn redux_umin(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umax"]
    fn redux_umax(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.min"]
    fn redux_min(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.max"]
    fn redux_max(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.and"]
    fn redux_and(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.or"]
    fn redux_or(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.xor"]
    fn redux_xor(value: u32, mask: u32) -> u32;
}

#[inline(always)]
pub fn lane_id() -> u32 {
    // SAFETY: reads a special register.
    unsafe { laneid() }
}

#[inline(always)]
pub unsafe fn shuffle_32(shuffle: Shuffle, mask: u32, value: u32, operand: u32, width: u32) -> u32 {
    // The last lane to read from, and the bits of the lane number that name the group (PTX, shfl.sync).
    let clamp = (32 - width) << 8 | 0x1f;
    // SAFETY: the caller's promise.
    unsafe {
        match shuffle {
            // Upwards the bound is the group's first lane, which the bits of the group name.
            Shuffle::Up => shfl_sync_up(mask, value, operand, clamp & !0x1f),
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

#[inline(always)]
pub unsafe fn match_any(mask: u32, value: u64) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { match_any_sync(mask, value) }
}

#[cfg(target_feature = "sm_80")]
#[inline(always)]
pub unsafe fn reduce(mask: u32, value: u32, op: WarpReductionOp, signed: bool) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        match (op, signed) {
            (WarpReductionOp::Add, _) => redux_add(value, mask),
            (WarpReductionOp::Min, false) => redux_umin(value, mask),
            (WarpReductionOp::Max, false) => redux_umax(value, mask),
            (WarpReductionOp::Min, true) => redux_min(value, mask),
            (WarpReductionOp::Max, true) => redux_max(value, mask),
            (WarpReductionOp::And, _) => redux_and(value, mask),
            (WarpReductionOp::Or, _) => redux_or(value, mask),
            (WarpReductionOp::Xor, _) => redux_xor(value, mask),
        }
    }
}

/// Every lane goes through the lanes of the mask.
#[cfg(not(target_feature = "sm_80"))]
#[inline(always)]
pub unsafe fn reduce(mask: u32, value: u32, op: WarpReductionOp, signed: bool) -> u32 {
    let first = mask.trailing_zeros();
    // SAFETY: the caller's promise.
    let mut result = unsafe { shuffle_32(Shuffle::Index, mask, value, first, 32) };
    let mut left = mask & (mask - 1);
    while left != 0 {
        // SAFETY: as above; all lanes have the same mask, and so take as many turns.
        let other = unsafe { shuffle_32(Shuffle::Index, mask, value, left.trailing_zeros(), 32) };
        result = op.apply(result, other, signed);
        left &= left - 1;
    }
    result
}

#[inline(always)]
pub fn active_mask() -> u32 {
    let mask: u32;
    // SAFETY: reads which lanes are here.
    unsafe { asm!("activemask.b32 {};", out(reg32) mask, options(nomem, nostack, preserves_flags)) };
    mask
}
