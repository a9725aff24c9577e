//! Sets of columns in shared memory: a hash table for each sub-warp, for rows of moderate length, or a bitmap
//! for a whole block, for rows of any length.

use cuda_std::{atomic, memory::*, shared::Shared, thread, warp::WARP_SIZE};

use super::scan::block_scan;
use super::sub_warp::{SubWarp, any};
use crate::sizes::BLOCK;
use crate::unroll::unroll;

/// Slots of a table for each lane of its sub-warp (half as many leave room for twice as many threads, and are
/// no faster).
pub const SLOTS: usize = 16;
/// Words of 64 bits that hold the tables of a block, or its bitmap.
pub const MEMORY: usize = 2048;
/// Columns of a bitmap.
pub const BITS: usize = 64 * MEMORY;
/// Most columns of a table that is looked up often, for each lane: full tables are slow.
pub const LOADED: usize = 12;

const _: () = assert!(2 * MEMORY == SLOTS * BLOCK as usize);

/// A free slot; no column has this number.
const EMPTY: u32 = u32::MAX;
/// Columns that a lane ranks at once, among as many others.
const RANKED: usize = 4;

/// A sub-warp's hash table of columns, with linear probing. The slots of a warp's sub-warps are interleaved:
/// each sub-warp has its own banks of the shared memory.
#[derive(Clone, Copy)]
pub struct Table {
    sub_warp: SubWarp,
    words: Shared<u32>,
    first: u32,
    log2_lanes: u32,
}

impl Table {
    /// The table of this sub-warp in [`MEMORY`], not yet cleared.
    #[inline(always)]
    pub fn of(sub_warp: SubWarp, log2_lanes: u32, memory: Shared<u64>) -> Self {
        let t = thread::thread_idx_x();
        let first = t / WARP_SIZE * WARP_SIZE * SLOTS as u32 + ((t % WARP_SIZE) >> log2_lanes);
        Table { sub_warp, words: memory.words(), first, log2_lanes }
    }

    /// How many columns it can hold.
    #[inline(always)]
    pub fn slots(self) -> usize {
        SLOTS << self.log2_lanes
    }

    /// How many it holds without many of them being in each other's way.
    #[inline(always)]
    pub fn room(self) -> usize {
        LOADED << self.log2_lanes
    }

    #[inline(always)]
    fn address(self, slot: u32) -> usize {
        (self.first + (slot << (WARP_SIZE.trailing_zeros() - self.log2_lanes))) as usize
    }

    #[inline(always)]
    fn hash(self, column: u32) -> u32 {
        column.wrapping_mul(0x9e37_79b1) >> (32 - SLOTS.trailing_zeros() - self.log2_lanes)
    }

    /// The slot behind one, the first behind the last.
    #[inline(always)]
    fn next(self, slot: u32) -> u32 {
        (slot + 1) & ((1 << (SLOTS.trailing_zeros() + self.log2_lanes)) - 1)
    }

    /// Empties it.
    ///
    /// # Safety
    /// The sub-warp's lanes call this together, as all that are to be called so below.
    #[inline(always)]
    pub unsafe fn clear(self) {
        // SAFETY: within the table; the lanes have done with what was there, and wait for its end.
        unsafe {
            self.sub_warp.sync();
            unroll::<SLOTS>(|q| self.words.set(self.address(self.slot_of_lane(q)), EMPTY));
            self.sub_warp.sync();
        }
    }

    /// Slot `q` of this lane's share.
    #[inline(always)]
    fn slot_of_lane(self, q: usize) -> u32 {
        ((q as u32) << self.log2_lanes) + self.sub_warp.lane
    }

    /// Adds a column, unless it is there: the address of its slot and whether it is new, or nothing where
    /// that is not among the `probes` slots looked at.
    ///
    /// # Safety
    /// The table was cleared.
    #[inline(always)]
    pub unsafe fn insert(self, column: u32, probes: usize) -> Option<(usize, bool)> {
        let mut slot = self.hash(column);
        let mut left = probes;
        while left > 0 {
            let address = self.address(slot);
            // SAFETY: within the table, which changes by atomic operations alone.
            let mut found = unsafe { self.words.get_volatile(address) };
            if found == EMPTY {
                // SAFETY: as above.
                found = unsafe { self.words.compare_and_swap(address, EMPTY, column) };
                if found == EMPTY {
                    return Some((address, true));
                }
            }
            if found == column {
                return Some((address, false));
            }
            slot = self.next(slot);
            left -= 1;
        }
        None
    }

    /// The address of the slot of a column that is there.
    ///
    /// # Safety
    /// The sub-warp's lanes have come together since the column was inserted.
    #[inline(always)]
    pub unsafe fn find(self, column: u32) -> usize {
        let mut slot = self.hash(column);
        // SAFETY: within the table, which no lane changes now.
        unsafe {
            while self.words.get(self.address(slot)) != column {
                slot = self.next(slot);
            }
        }
        self.address(slot)
    }

    /// Moves the columns to the first slots, in any order, and what belongs to them: `take` it from the
    /// address of a slot, `put` it to another. Returns how many there are.
    ///
    /// # Safety
    /// The sub-warp's lanes call this together.
    #[inline(always)]
    pub unsafe fn compact<V>(self, take: impl Fn(usize) -> V, put: impl Fn(usize, V)) -> usize {
        let mut before = 0;
        self.sub_warp.sync();
        let mut q = 0;
        while q < SLOTS {
            let from = self.address(self.slot_of_lane(q));
            // SAFETY: within the table; slots are read before one of them is written.
            let column = unsafe { self.words.get(from) };
            let with_it = (column != EMPTY).then(|| take(from));
            self.sub_warp.sync();
            let taken = self.sub_warp.ballot(column != EMPTY);
            if let Some(with_it) = with_it {
                let rank = (taken & ((1 << self.sub_warp.lane) - 1)).count_ones();
                let to = self.address(before + rank);
                // SAFETY: as above; no other lane writes it.
                unsafe { self.words.set(to, column) };
                put(to, with_it);
            }
            before += taken.count_ones();
            q += 1;
        }
        self.sub_warp.sync();
        before as usize
    }

    /// Takes `n` columns, at most [`Table::slots`], from `columns[start..]` into the first slots.
    ///
    /// # Safety
    /// They are there, all different; the sub-warp's lanes call this together.
    #[inline(always)]
    pub unsafe fn load(self, n: usize, columns: *const u32, start: usize) {
        // SAFETY: within the table, with which the lanes have done.
        unsafe {
            self.sub_warp.sync();
            let mut i = self.sub_warp.lane as usize;
            while i < n {
                self.words.set(self.address(i as u32), columns.ld_nc(start + i));
                i += self.sub_warp.lanes as usize;
            }
            self.sub_warp.sync();
        }
    }

    /// Calls `write` with the place, the column and the slot of each of the columns in the `n` first slots:
    /// the place is the number of smaller ones. Each lane has columns of its own.
    ///
    /// # Safety
    /// They are there, all different, and the lanes have come together since; the sub-warp is
    /// [in step](SubWarp::in_step), and all lanes of the warp call this.
    #[inline(always)]
    pub unsafe fn rank(self, n: usize, mut write: impl FnMut(usize, u32, usize)) {
        let (n, lanes, mut first) = (n as u32, self.sub_warp.lanes, self.sub_warp.lane);
        // SAFETY: within the table, which no lane changes now.
        let column = |i: u32| if i < n { unsafe { self.words.get(self.address(i)) } } else { EMPTY };
        while any(first < n) {
            let mut own = [EMPTY; RANKED];
            let mut ranks = [0u32; RANKED];
            unroll::<RANKED>(|q| own[q] = column(first + q as u32 * lanes));
            let mut i = 0;
            while any(i < n) {
                unroll::<RANKED>(|o| {
                    let other = column(i + o as u32);
                    unroll::<RANKED>(|q| ranks[q] += (other < own[q]) as u32);
                });
                i += RANKED as u32;
            }
            unroll::<RANKED>(|q| {
                if own[q] != EMPTY {
                    write(ranks[q] as usize, own[q], self.address(first + q as u32 * lanes));
                }
            });
            first += RANKED as u32 * lanes;
        }
    }
}

/// A block's bitmap of [`BITS`] columns, a window of all.
#[derive(Clone, Copy)]
pub struct Bitmap {
    words: Shared<u32>,
}

impl Bitmap {
    /// Words of a thread.
    const WORDS: usize = 2 * MEMORY / BLOCK as usize;

    /// The bitmap in [`MEMORY`], not yet cleared.
    #[inline(always)]
    pub fn of(memory: Shared<u64>) -> Self {
        Bitmap { words: memory.words() }
    }

    /// Calls `set` with each window of the columns in turn, to [`Bitmap::set`] those of the row, and then
    /// `take`. Three barriers.
    ///
    /// # Safety
    /// All threads of a block of [`BLOCK`] call this.
    #[inline(always)]
    pub unsafe fn for_each_window(
        self,
        n_cols: usize,
        set: impl Fn(core::ops::Range<usize>),
        mut take: impl FnMut(usize),
    ) {
        let mut start = 0;
        while start < n_cols {
            // SAFETY: within the bitmap; a barrier is between each step and the next.
            unsafe { unroll::<{ Self::WORDS }>(|q| self.words.set(self.word_of_thread(q), 0)) };
            thread::sync_threads();
            set(start..start + BITS);
            thread::sync_threads();
            take(start);
            thread::sync_threads();
            start += BITS;
        }
    }

    /// Word `q` of this thread's share: neighbouring threads have neighbouring ones.
    #[inline(always)]
    fn word_of_thread(self, q: usize) -> usize {
        q * BLOCK as usize + thread::thread_idx_x() as usize
    }

    /// Adds a column that is in the window.
    ///
    /// # Safety
    /// Within `set` of [`Bitmap::for_each_window`].
    #[inline(always)]
    pub unsafe fn set(self, window: &core::ops::Range<usize>, column: u32) {
        if window.contains(&(column as usize)) {
            let bit = column as usize - window.start;
            // SAFETY: within the bitmap.
            unsafe { self.words.or(bit / 32, 1 << (bit % 32)) };
        }
    }

    /// How many columns are in this thread's share.
    ///
    /// # Safety
    /// Within `take` of [`Bitmap::for_each_window`].
    #[inline(always)]
    pub unsafe fn count(self) -> u32 {
        let mut count = 0;
        // SAFETY: within the bitmap, which nobody changes now.
        unsafe {
            unroll::<{ Self::WORDS }>(|q| count += self.words.get(self.word_of_thread(q)).count_ones())
        };
        count
    }

    /// Writes the columns to `columns[start..]` in ascending order; returns their number. Two barriers.
    ///
    /// # Safety
    /// Within `take` of [`Bitmap::for_each_window`], whose window begins at `first`; `columns` has room for
    /// them, and `scratch` an element for each warp.
    #[inline(always)]
    pub unsafe fn write_ascending(
        self,
        first: usize,
        columns: *mut u32,
        start: usize,
        scratch: Shared<u64>,
    ) -> usize {
        let word = thread::thread_idx_x() as usize * Self::WORDS;
        // SAFETY: within the bitmap, which nobody changes now.
        unsafe {
            let mut count = 0;
            unroll::<{ Self::WORDS }>(|q| count += self.words.get(word + q).count_ones());
            let (before, total) = block_scan(u64::from(count), scratch);
            let mut place = start + before as usize;
            let mut q = 0;
            while q < Self::WORDS {
                let mut bits = self.words.get(word + q);
                while bits != 0 {
                    columns.st(place, (first + (word + q) * 32) as u32 + bits.trailing_zeros());
                    place += 1;
                    bits &= bits - 1;
                }
                q += 1;
            }
            total as usize
        }
    }
}

/// A list of rows, in any order: those that a table does not hold.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct LongRows {
    /// Their number.
    pub count: *mut u32,
    /// Which; room for all.
    pub rows: *mut u32,
}

// SAFETY: plain addresses of device memory; the kernels say who may use them when.
unsafe impl Send for LongRows {}
// SAFETY: as above.
unsafe impl Sync for LongRows {}

// Their number is read by `ld`: ptxas takes what `ld_nc` reads for constant, and so may read what a kernel
// begins with before the kernel waits for the one that writes it.
impl LongRows {
    /// No list: all rows of a matrix.
    pub const ALL: Self = LongRows { count: core::ptr::null_mut(), rows: core::ptr::null_mut() };

    /// Adds one.
    ///
    /// # Safety
    /// It is not there yet.
    #[inline(always)]
    pub unsafe fn push(self, row: usize) {
        // SAFETY: there is room for all rows.
        unsafe { self.rows.st(atomic::atomic_add_u32(self.count, 1) as usize, row as u32) }
    }

    /// How many rows these are of a matrix of `n_rows`.
    ///
    /// # Safety
    /// No kernel adds any meanwhile.
    #[inline(always)]
    pub unsafe fn count_of(self, n_rows: u64) -> usize {
        // SAFETY: the caller's promise.
        if self.count.is_null() { n_rows as usize } else { unsafe { self.count.ld(0) as usize } }
    }

    /// The `i`-th of them.
    ///
    /// # Safety
    /// As above; there are more than `i`.
    #[inline(always)]
    pub unsafe fn row(self, i: usize) -> usize {
        // SAFETY: the caller's promise.
        if self.count.is_null() { i } else { unsafe { self.rows.ld_nc(i) as usize } }
    }

    /// Calls `f` with the rows of this block.
    ///
    /// # Safety
    /// No kernel adds any meanwhile.
    #[inline(always)]
    pub unsafe fn for_each(self, mut f: impl FnMut(usize)) {
        // SAFETY: the caller's promise.
        unsafe {
            let count = self.count.ld(0);
            let mut i = thread::block_idx_x();
            while i < count {
                f(self.rows.ld_nc(i as usize) as usize);
                i += thread::grid_dim_x();
            }
        }
    }
}
