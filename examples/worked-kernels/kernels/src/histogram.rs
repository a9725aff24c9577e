//! How many numbers fall into each of 256 bins

// ANCHOR: kernel
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::{atomic::AtomicU32, kernel, shared, thread};

pub const BLOCK: u32 = 256;
/// As many as threads in a block.
pub const BINS: usize = BLOCK as usize;

/// The bin of a number: its highest byte.
pub fn bin(number: u32) -> usize {
    (number >> 24) as usize
}

/// Adds to each bin its numbers. A block counts in shared memory first, where atomics are cheap.
#[kernel]
pub unsafe fn histogram(numbers: &[u32], bins: *const AtomicU32) {
    let own = shared![u32; BINS];
    let t = thread::thread_idx_x() as usize;
    own.set(t, 0);
    thread::sync_threads();
    let mut i = thread::index_x();
    while i < numbers.len() {
        own.add(bin(numbers[i]), 1);
        i += thread::stride();
    }
    thread::sync_threads();
    (*bins.add(t)).fetch_add(own.get(t), Relaxed);
}
// ANCHOR_END: kernel

#[cfg(not(target_arch = "nvptx64"))]
pub fn on_host(numbers: &[u32]) -> Vec<u32> {
    let mut bins = vec![0; BINS];
    numbers.iter().for_each(|&number| bins[bin(number)] += 1);
    bins
}
