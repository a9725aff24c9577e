//! Ranks on devices that write each other's memory: how one tells another how far it has come, and reductions
//! over all of them.
//!
//! Every exchange has a number, its epoch, which each rank counts for itself, in device memory: all ranks
//! make the same exchanges in the same order. What one puts for another comes first, then, with a release,
//! the epoch; the other acquires the epoch before it reads. There are two places for everything, for odd
//! epochs and for even ones: whoever puts something for an epoch has seen its readers come to the one before,
//! and so knows that they are done with the one before that.

use cuda_std::atomic::{Ordering, SystemAtomicU32};
use cuda_std::{Real, kernel, memory::*, thread};

use crate::monitor::Guard;

/// Scalars that one launch of [`reduce_ranks`](fn@reduce_ranks) takes at most.
pub const RANK_SCALARS: usize = 64;

/// How often a thread that waits looks at the word of its rank before it looks whether a rank has failed.
const LOOKS: u32 = 32;

/// Lets whoever waits for `word` know that everything of this epoch is there.
///
/// # Safety
/// The pointer is valid, on whatever device.
#[inline(always)]
pub(crate) unsafe fn announce(word: *mut u32, epoch: u32) {
    // SAFETY: the caller's promise; every access to the word is atomic.
    unsafe { &*word.cast::<SystemAtomicU32>() }.store(epoch, Ordering::Release);
}

/// Waits until `word` has come to an epoch; false where a rank has failed meanwhile.
///
/// # Safety
/// The pointers are valid.
#[inline(always)]
pub(crate) unsafe fn await_arrival(word: *const u32, epoch: u32, failed: *const u32) -> bool {
    // SAFETY: the caller's promise; every access to the words is atomic.
    let (word, failed) = unsafe { (&*word.cast::<SystemAtomicU32>(), &*failed.cast::<SystemAtomicU32>()) };
    let mut looks = 0;
    // It may be one ahead, and wraps.
    while (word.load(Ordering::Acquire).wrapping_sub(epoch) as i32) < 0 {
        thread::nanosleep(20);
        looks += 1;
        if looks % LOOKS == 0 && failed.load(Ordering::Relaxed) != 0 {
            return false;
        }
    }
    true
}

/// The memory of all ranks for reductions: for each a word for how far each has come, and
/// [`RANK_SCALARS`] places of 8 bytes for each in odd epochs, then in even ones.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Circle {
    /// This rank.
    pub rank: u32,
    /// How many there are.
    pub size: u32,
    /// The address of the words of each rank.
    pub words: *const u64,
    /// The address of the places of each rank.
    pub places: *const u64,
    /// Reductions so far.
    pub epoch: *mut u32,
    /// The same, for the host.
    pub count: *mut u64,
    /// Not 0 where a rank has failed.
    pub failed: *const u32,
}

// SAFETY: plain addresses; the kernels say who may use them when.
unsafe impl Send for Circle {}
// SAFETY: as above.
unsafe impl Sync for Circle {}

impl Circle {
    /// Where rank `at` has what rank `of` puts in an epoch.
    #[inline(always)]
    unsafe fn place<T: Real>(&self, epoch: u32, at: u32, of: u32) -> *mut T {
        let first = (1 - epoch % 2) * self.size + of;
        // SAFETY: there is an address for each rank.
        let places = unsafe { self.places.ld_nc(at as usize) };
        (places as *mut T).wrapping_add(first as usize * RANK_SCALARS)
    }
}

/// Replaces `values` by their sums over ranks, or their maxima where `is_max` is 1, combined in the order of
/// ranks: the same bits at every rank. Adds them to `total` where that is not null. NaN where a rank has
/// failed. One block.
#[kernel(T = [f32, f64])]
pub unsafe fn reduce_ranks<T: Real>(
    count: u32,
    values: *mut T,
    total: *mut T,
    is_max: u32,
    circle: Circle,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments are valid: count <= RANK_SCALARS values, and the memory of all ranks.
    unsafe {
        if guard.stopped() {
            return;
        }
        let (t, block) = (thread::thread_idx_x(), thread::block_dim_x());
        let epoch = circle.epoch.ld_volatile(0).wrapping_add(1);
        let mut i = t;
        while i < count * circle.size {
            let (at, k) = (i / count, (i % count) as usize);
            circle.place::<T>(epoch, at, circle.rank).st(k, values.ld(k));
            i += block;
        }
        thread::sync_threads();
        let mut at = t;
        while at < circle.size {
            thread::system_fence();
            announce((circle.words.ld_nc(at as usize) as *mut u32).wrapping_add(circle.rank as usize), epoch);
            at += block;
        }
        let mine = circle.words.ld_nc(circle.rank as usize) as *const u32;
        let mut is_there = true;
        let mut of = t;
        while of < circle.size {
            is_there &= await_arrival(mine.wrapping_add(of as usize), epoch, circle.failed);
            of += block;
        }
        is_there = thread::sync_threads_and(is_there as u32) != 0;
        if t < count {
            let k = t as usize;
            let mut value = circle.place::<T>(epoch, circle.rank, 0).ld_volatile(k);
            for of in 1..circle.size {
                let other = circle.place::<T>(epoch, circle.rank, of).ld_volatile(k);
                value = if is_max != 0 { value.max_nan(other) } else { value + other };
            }
            if !is_there {
                value = T::from_f64(f64::NAN);
            }
            values.st(k, value);
            if !total.is_null() {
                total.st(k, total.ld(k) + value);
            }
        }
        if t == 0 {
            circle.epoch.st_volatile(0, epoch);
            circle.count.st(0, circle.count.ld(0) + 1);
        }
    }
}
