//! Barriers, fences, and what lanes exchange.

use cuda_std::prelude::*;
use cuda_std::warp::{self, WarpReductionOp};

#[kernel]
pub unsafe fn barriers(out: *mut [u32; 3], p: u32) {
    *out = [thread::sync_threads_count(p), thread::sync_threads_and(p), thread::sync_threads_or(p)];
}

#[kernel]
pub unsafe fn block_fence(out: *mut u32) {
    *out = 1;
    thread::block_fence();
    *out = 2;
}

#[kernel]
pub unsafe fn grid_fence(out: *mut u32) {
    *out = 1;
    thread::grid_fence();
    *out = 2;
}

#[kernel]
pub unsafe fn system_fence(out: *mut u32) {
    *out = 1;
    thread::system_fence();
    *out = 2;
}

#[kernel]
pub unsafe fn shuffle_up(out: *mut u32, v: u32) {
    *out = warp::warp_shuffle_up(u32::MAX, v, 1, 8);
}

#[kernel]
pub unsafe fn shuffle_down(out: *mut u32, v: u32) {
    *out = warp::warp_shuffle_down(u32::MAX, v, 1, 8);
}

#[kernel]
pub unsafe fn shuffle_xor(out: *mut u64, v: u64) {
    *out = warp::warp_shuffle_xor(u32::MAX, v, 1, 32);
}

#[kernel]
pub unsafe fn shuffle_idx(out: *mut f16, v: f16) {
    *out = warp::warp_shuffle_idx(u32::MAX, v, 1, 32);
}

#[kernel]
pub unsafe fn vote_any(out: *mut bool, p: u32) {
    *out = warp::warp_vote_any(u32::MAX, p == 3);
}

#[kernel]
pub unsafe fn vote_all(out: *mut bool, p: u32) {
    *out = warp::warp_vote_all(u32::MAX, p == 3);
}

#[kernel]
pub unsafe fn matches(out: *mut (u32, Option<u32>), p: f64) {
    *out = (warp::warp_match_any(u32::MAX, p), warp::warp_match_all(u32::MAX, p as i32));
}

#[kernel]
pub unsafe fn reductions(out: *mut [u32; 8], v: u32, mask: u32) {
    use WarpReductionOp::*;
    let [add, min, max, and, or, xor] =
        [Add, Min, Max, And, Or, Xor].map(|op| unsafe { warp::warp_reduce(mask, v, op) });
    let signed = [Min, Max].map(|op| unsafe { warp::warp_reduce(mask, v as i32, op) } as u32);
    *out = [add, min, max, and, or, xor, signed[0], signed[1]];
}

#[kernel]
pub unsafe fn masks(out: *mut [u32; 2]) {
    warp::sync_warp(u32::MAX);
    *out = [warp::activemask(), warp::lanemask_lt()];
}
