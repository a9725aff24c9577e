//! The different values of a matrix, and [entries](crate::spmv::coded) that have their numbers.

use arithmetic::coding::{Coding, MOST_VALUES, number_of};
use cuda_std::atomic::{AtomicU32, AtomicU64, Ordering};
use cuda_std::{kernel, memory::*, thread};

use crate::sizes::SLICE;
use crate::spmv::sell::place;

/// Slots of the table of [`fn@collect_values`]: at most a quarter is in use, so that a value is mostly found
/// in the first that is looked at.
pub const SLOTS: usize = 4 * MOST_VALUES;
/// What an empty slot holds: the bits of a NaN, which no matrix has.
pub const EMPTY: u64 = u64::MAX;
/// Values that a thread has met last are not looked for again.
const RECENT: usize = 4;

/// Puts each of `n` values once into `slots`, [`SLOTS`] of them, empty before, at places that are not
/// defined, and adds how many there are to `found`. With more than [`MOST_VALUES`] it is some larger number,
/// and not all are there.
#[kernel]
pub unsafe fn collect_values(n: u64, values: *const f64, slots: *const AtomicU64, found: *const AtomicU32) {
    let mut recent = [EMPTY; RECENT];
    let mut i = thread::index_x();
    // SAFETY: the launcher's arrays have these lengths.
    let found = unsafe { &*found };
    while i < n as usize {
        // SAFETY: as above.
        let bits = unsafe { values.ld_cs(i) }.to_bits();
        if !recent.contains(&bits) {
            // SAFETY: as above.
            if !unsafe { is_there(bits, slots, found) } {
                return;
            }
            recent = [bits, recent[0], recent[1], recent[2]];
        }
        i += thread::stride();
    }
}

/// Puts a value into the table, unless it is there (open addressing, linear probing; Knuth, volume 3, section
/// 6.4); whether it has a place.
///
/// # Safety
/// There are [`SLOTS`] slots.
#[inline(always)]
unsafe fn is_there(bits: u64, slots: *const AtomicU64, found: &AtomicU32) -> bool {
    // Neighbouring numbers differ in few bits (Fibonacci hashing, Knuth, volume 3, section 6.4).
    let mut at = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % SLOTS;
    // With that many values some slot is empty.
    while found.load(Ordering::Relaxed) as usize <= MOST_VALUES {
        // SAFETY: the caller's promise.
        let slot = unsafe { &*slots.add(at) };
        let mut there = slot.load(Ordering::Relaxed);
        if there == EMPTY {
            match slot.compare_exchange(EMPTY, bits, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    found.fetch_add(1, Ordering::Relaxed);
                    return true;
                }
                Err(other) => there = other,
            }
        }
        if there == bits {
            return true;
        }
        at = (at + 1) % SLOTS;
    }
    false
}

/// From reduced SELL to [coded](crate::spmv::coded) entries, written over the columns. `table` has the
/// different values, ascending by their bits.
#[kernel]
pub unsafe fn encode(
    n_rows: u64,
    slice_ptr: *const u64,
    permutation: *const u32,
    coding: Coding,
    columns: *mut u32,
    values: *const f64,
    table: *const u64,
    count: u32,
) {
    let mut position = thread::index_x();
    let mut last = (EMPTY, 0);
    // SAFETY: the launcher's arguments describe a SELL matrix, and a table of its values.
    unsafe {
        while position < n_rows as usize {
            let (row, start, width) = place(slice_ptr, permutation, position);
            for k in 0..width as usize {
                let at = start + k * SLICE;
                let bits = values.ld_cs(at).to_bits();
                if bits != last.0 {
                    last = (bits, number_of(bits, count, |k| table.ld_nc(k as usize)));
                }
                let distance = columns.ld(at) as i32 - row as i32;
                columns.st(at, coding.encode(distance, last.1));
            }
            position += thread::stride();
        }
    }
}
