//! pi, by points in a square that fall into a circle

// ANCHOR: kernel
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_down};
use cuda_std::{atomic::AtomicU64, intrinsics::fmaf, kernel, rand::Philox4x32, thread};

pub const BLOCK: u32 = 256;

/// Adds to `hits` the points with `x^2 + y^2 < 1`, of `2 draws` in each thread; they are uniform in the unit
/// square. A thread has a stream of random numbers of its own: the same points, however many run at a time.
#[kernel]
pub unsafe fn pi(seed: u64, draws: u32, hits: *const AtomicU64) {
    let mut hit = hits_of(seed, thread::index_x() as u64, draws);
    for k in 0..5 {
        hit += warp_shuffle_down(FULL_MASK, hit, 1 << k, 32);
    }
    if lane_id() == 0 {
        (*hits).fetch_add(hit.into(), Relaxed);
    }
}

/// Of the points of one stream.
#[inline(always)]
fn hits_of(seed: u64, stream: u64, draws: u32) -> u32 {
    let (key, [low, high]) = (halves(seed), halves(stream));
    let (mut draw, mut hit) = (0, 0);
    while draw < draws {
        let [a, b, c, d] = Philox4x32::block([draw, 0, low, high], key);
        hit += u32::from(is_hit(a, b)) + u32::from(is_hit(c, d));
        draw += 1;
    }
    hit
}

#[inline(always)]
fn halves(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

#[inline(always)]
fn is_hit(x: u32, y: u32) -> bool {
    // The upper 24 bits, which f32 has room for, as a number below 1.
    let [x, y] = [x, y].map(|bits| (bits >> 8) as f32 * (1.0 / 16_777_216.0));
    fmaf(x, x, y * y) < 1.0
}
// ANCHOR_END: kernel

/// The hits of so many threads.
#[cfg(not(target_arch = "nvptx64"))]
pub fn on_host(seed: u64, draws: u32, threads: u32) -> u64 {
    (0..threads).map(|thread| u64::from(hits_of(seed, thread.into(), draws))).sum()
}
