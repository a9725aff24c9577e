//! How many numbers fall into each of 256 bins

// ANCHOR: kernel
use core::sync::atomic::Ordering::Relaxed;
use cuda_std::atomic::{AtomicU32, BlockAtomicU32};
use cuda_std::{kernel, shared_array, thread};

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
    let own = shared_array![u32; BINS].cast::<BlockAtomicU32>();
    let t = thread::thread_idx_x() as usize;
    (*own.add(t)).store(0, Relaxed);
    thread::sync_threads();
    for i in (thread::index_x()..numbers.len()).step_by(thread::stride()) {
        (*own.add(bin(numbers[i]))).fetch_add(1, Relaxed);
    }
    thread::sync_threads();
    (*bins.add(t)).fetch_add((*own.add(t)).load(Relaxed), Relaxed);
}
// ANCHOR_END: kernel

#[cfg(not(target_arch = "nvptx64"))]
pub fn on_host(numbers: &[u32]) -> Vec<u32> {
    let mut bins = vec![0; BINS];
    numbers.iter().for_each(|&number| bins[bin(number)] += 1);
    bins
}
