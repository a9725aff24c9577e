//! Warp-wide and block-wide operations give what the PTX manual says, among them those that the published
//! `cuda_std` had wrong: any and all were inverted, and modes of shuffles exchanged.
#![allow(missing_docs)]

use cuda_std::prelude::*;
use cuda_std::sim::launch;
use cuda_std::warp::{self, WarpReductionOp};

/// A number that differs from lane to lane in all of its bytes.
fn number(lane: u32) -> u64 {
    (u64::from(lane) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Every mode of shuffle of two widths.
#[kernel]
pub unsafe fn shuffles(out: *mut [u64; 4], delta: u32, width: u32) {
    let lane = warp::lane_id();
    let value = number(lane);
    *out.add(lane as usize) = [
        warp::warp_shuffle_up(u32::MAX, value, delta, width),
        warp::warp_shuffle_down(u32::MAX, value, delta, width),
        warp::warp_shuffle_xor(u32::MAX, value, delta, width),
        warp::warp_shuffle_idx(u32::MAX, value, delta, width),
    ];
}

#[test]
fn shuffles_take_the_lane_of_their_mode() {
    for width in [1, 2, 4, 8, 16, 32] {
        for delta in [0, 1, 3, 7, 16, 31] {
            let mut out = [[0; 4]; 32];
            // SAFETY: 32 lanes.
            unsafe { launch!(shuffles<<<1, 32>>>(out.as_mut_ptr(), delta, width)) }.unwrap();
            for lane in 0..32 {
                let first = lane / width * width;
                let inside = |source: i64| {
                    let own = source < i64::from(first) || source >= i64::from(first + width);
                    number(if own { lane } else { source as u32 })
                };
                let (lane, delta) = (i64::from(lane), i64::from(delta));
                let xor = lane ^ delta;
                // A lane of a group below may be read with xor, one above may not.
                let crossed = if xor < i64::from(first) { number(xor as u32) } else { inside(xor) };
                let index = i64::from(first) + delta % i64::from(width);
                let expected = [inside(lane - delta), inside(lane + delta), crossed, inside(index)];
                assert_eq!(out[lane as usize], expected, "lane {lane}, delta {delta}, width {width}");
            }
        }
    }
}

/// Small numbers and floating-point numbers too.
#[kernel]
pub unsafe fn shuffle_kinds(out: *mut (i8, u16, i32, f32, i64, f64, f16)) {
    let lane = warp::lane_id();
    let up = |value| warp::warp_shuffle_idx(u32::MAX, value, 31 - lane, 32);
    let n = up(lane as i8);
    *out.add(lane as usize) = (
        -n,
        warp::warp_shuffle_xor(u32::MAX, lane as u16, 31, 32),
        warp::warp_shuffle_xor(u32::MAX, -(lane as i32), 31, 32),
        warp::warp_shuffle_xor(u32::MAX, lane as f32 * 0.5, 31, 32),
        warp::warp_shuffle_xor(u32::MAX, -i64::from(lane) << 40, 31, 32),
        warp::warp_shuffle_xor(u32::MAX, f64::from(lane) * 0.1, 31, 32),
        warp::warp_shuffle_xor(u32::MAX, f16::from_f32(lane as f32), 31, 32),
    );
}

#[test]
fn lanes_exchange_numbers_of_every_kind() {
    let mut out = [(0, 0, 0, 0.0, 0, 0.0, f16::ZERO); 32];
    // SAFETY: 32 lanes.
    unsafe { launch!(shuffle_kinds<<<1, 32>>>(out.as_mut_ptr())) }.unwrap();
    for (lane, got) in out.iter().enumerate() {
        let n = 31 - lane as i64;
        let (single, half) = (n as f32 * 0.5, f16::from_f32(n as f32));
        assert_eq!(*got, (-(n as i8), n as u16, -(n as i32), single, -n << 40, n as f64 * 0.1, half));
    }
}

/// Votes of the lanes of a mask whose bits are those of `yes`.
#[kernel]
pub unsafe fn votes(out: *mut (bool, bool, u32), mask: u32, yes: u32) {
    let lane = warp::lane_id();
    if mask & (1 << lane) != 0 {
        let vote = yes & (1 << lane) != 0;
        *out.add(lane as usize) = (
            warp::warp_vote_any(mask, vote),
            warp::warp_vote_all(mask, vote),
            warp::warp_vote_ballot(mask, vote),
        );
    }
}

#[test]
fn any_is_any_and_all_is_all() {
    for mask in [u32::MAX, 0x0000_ff01, 1] {
        for yes in [0, u32::MAX, 0x0000_ff01, 0x100, 1, 0x8000_0000] {
            let mut out = [(false, false, 0); 32];
            // SAFETY: 32 lanes.
            unsafe { launch!(votes<<<1, 32>>>(out.as_mut_ptr(), mask, yes)) }.unwrap();
            for lane in (0..32).filter(|lane| mask & (1 << lane) != 0) {
                assert_eq!(out[lane], (mask & yes != 0, mask & !yes == 0, mask & yes), "{mask:#x} {yes:#x}");
            }
        }
    }
}

/// Who has the same number.
#[kernel]
pub unsafe fn matches(out: *mut (u32, u32, Option<u32>, Option<u32>)) {
    let lane = warp::lane_id();
    *out.add(lane as usize) = (
        warp::warp_match_any(u32::MAX, lane % 3),
        warp::warp_match_any(u32::MAX, f64::from(lane / 16)),
        warp::warp_match_all(u32::MAX, lane as i32 / 32),
        warp::warp_match_all(u32::MAX, u64::from(lane) << 32),
    );
}

#[test]
fn matches_are_masks_of_equal_numbers() {
    let mut out = [(0, 0, None, None); 32];
    // SAFETY: 32 lanes.
    unsafe { launch!(matches<<<1, 32>>>(out.as_mut_ptr())) }.unwrap();
    for (lane, got) in out.iter().enumerate() {
        let third = (0..32).filter(|i| i % 3 == lane % 3).fold(0, |mask, i| mask | 1 << i);
        let half = 0xffff << (lane / 16 * 16);
        assert_eq!(*got, (third, half, Some(u32::MAX), None));
    }
}

/// Reductions over the lanes of a mask.
#[kernel]
pub unsafe fn reductions(out: *mut ([u32; 6], [i32; 2]), mask: u32) {
    let lane = warp::lane_id();
    if mask & (1 << lane) == 0 {
        return;
    }
    let value = number(lane) as u32;
    use WarpReductionOp::*;
    let all = [Add, Min, Max, And, Or, Xor].map(|op| warp::warp_reduce(mask, value, op));
    let signed = [Min, Max].map(|op| warp::warp_reduce(mask, value as i32, op));
    *out.add(lane as usize) = (all, signed);
}

#[test]
fn reductions_combine_the_lanes_of_the_mask() {
    for mask in [u32::MAX, 0xf0f0_f0f0, 1 << 9] {
        let mut out = [([0; 6], [0; 2]); 32];
        // SAFETY: 32 lanes.
        unsafe { launch!(reductions<<<1, 32>>>(out.as_mut_ptr(), mask)) }.unwrap();
        let lanes = || (0..32).filter(|lane| mask & (1 << lane) != 0);
        let values = || lanes().map(|lane| number(lane) as u32);
        let all = [
            values().fold(0, u32::wrapping_add),
            values().min().unwrap(),
            values().max().unwrap(),
            values().fold(u32::MAX, |a, b| a & b),
            values().fold(0, |a, b| a | b),
            values().fold(0, |a, b| a ^ b),
        ];
        let signed = [values().map(|v| v as i32).min().unwrap(), values().map(|v| v as i32).max().unwrap()];
        assert!(lanes().all(|lane| out[lane as usize] == (all, signed)), "{mask:#x}");
    }
}

/// Masks that a lane makes of its number.
#[kernel]
pub unsafe fn masks(out: *mut [u32; 6]) {
    *out.add(warp::lane_id() as usize) = [
        warp::lanemask_eq(),
        warp::lanemask_lt(),
        warp::lanemask_le(),
        warp::lanemask_gt(),
        warp::lanemask_ge(),
        warp::activemask(),
    ];
}

#[test]
fn masks_are_of_lanes_below_and_above() {
    let mut out = [[0; 6]; 32];
    // SAFETY: 32 lanes.
    unsafe { launch!(masks<<<1, 32>>>(out.as_mut_ptr())) }.unwrap();
    for (lane, got) in out.iter().enumerate() {
        let mask = |wanted: &dyn Fn(usize) -> bool| (0..32).filter(|&i| wanted(i)).fold(0, |m, i| m | 1 << i);
        let expected = [
            mask(&|i| i == lane),
            mask(&|i| i < lane),
            mask(&|i| i <= lane),
            mask(&|i| i > lane),
            mask(&|i| i >= lane),
        ];
        assert_eq!(got[..5], expected);
        assert!(got[5] & 1 << lane != 0);
    }
}

/// Barriers that count, of 40 threads.
#[kernel]
pub unsafe fn barriers(out: *mut [u32; 4]) {
    let t = thread::thread_idx_x();
    *out.add(t as usize) = [
        thread::sync_threads_count(t % 3),
        thread::sync_threads_and(t + 1),
        thread::sync_threads_and(t),
        thread::sync_threads_or(u32::from(t == 39)),
    ];
    thread::block_fence();
    thread::grid_fence();
    thread::device_fence();
    thread::system_fence();
    thread::nanosleep(10);
    warp::sync_warp(warp::activemask());
}

#[test]
fn barriers_count_votes() {
    let mut out = [[0; 4]; 40];
    // SAFETY: 40 threads.
    unsafe { launch!(barriers<<<1, 40>>>(out.as_mut_ptr())) }.unwrap();
    assert_eq!(out, [[26, 1, 0, 1]; 40]);
}
