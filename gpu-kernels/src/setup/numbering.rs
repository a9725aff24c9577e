//! Cuthill and McKee's numbering (1969) of a connected graph, level by level from a root, in the order in
//! which one thread would find it; and a matrix in another numbering.
//!
//! ```text
//! claim   each unknown of a level offers its place to its neighbours; an unknown has the least that it was offered
//! count   each unknown counts those that have its place: its children, which are the next level
//! place   they follow the children of those in front, by degree and by number
//! ```
//!
//! Where the order within levels does not matter, one kernel a level does (`reach`).

use cuda_std::{
    Real,
    atomic::{AtomicU32, Ordering},
    kernel,
    memory::*,
    shared, thread,
};

use super::independent_set::off_diagonal;
use super::interpolate::Rows;
use super::product::position;
use super::scan::block_scan;
use super::sub_warp::{Pattern, SubWarp};
use crate::sizes::BLOCK;

/// Blocks of a search at most: each thread of a block takes the sum of one.
pub const SEARCH_BLOCKS: u32 = BLOCK;
/// No place was offered yet, and no unknown.
const NONE: u32 = u32::MAX;
/// Behind all pairs of a degree and a number.
const NO_KEY: u64 = u64::MAX;

/// A search from a root.
///
/// A kernel may begin while the one in front of it ends (programmatic dependent launch), and the read-only
/// path keeps what was there before: what it adds to is next to what it reads. So that is read otherwise.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Search {
    /// A symmetric graph.
    pub graph: Pattern,
    /// Neighbours of each unknown.
    pub degrees: *const u32,
    /// The unknowns that were found, in their order.
    pub order: *mut u32,
    /// The place of the first neighbour of each unknown that was found.
    pub offered: *mut u32,
    /// Where the levels begin.
    pub starts: *mut u32,
    /// Unknowns of each level that were reached; 0 before.
    pub counts: *mut u32,
    /// Children that each block has found.
    pub sums: *mut u32,
}

// SAFETY: plain addresses; the kernels say who may use them when.
unsafe impl Send for Search {}
// SAFETY: as above.
unsafe impl Sync for Search {}

impl Search {
    /// The places of a level. The first thread says where the next one begins.
    ///
    /// # Safety
    /// The levels in front of it have begun and are whole, and it is.
    #[inline(always)]
    unsafe fn level(&self, level: u32) -> (usize, usize) {
        let level = level as usize;
        // SAFETY: the caller's promise.
        unsafe {
            let first = self.starts.ld(level);
            let end = first + self.counts.ld(level);
            if thread::index_x() == 0 {
                self.starts.st(level + 1, end);
            }
            (first as usize, end as usize)
        }
    }

    /// Calls `f` with the tile of places that the sub-warps of this block have at a time, until all of its
    /// share of the level was had. All threads of the block go through it together.
    #[inline(always)]
    fn for_each_tile(
        &self,
        sub_warp: SubWarp,
        (first, end): (usize, usize),
        mut f: impl FnMut(Option<usize>),
    ) {
        let at_once = (BLOCK / sub_warp.lanes) as usize;
        let within = (thread::thread_idx_x() / sub_warp.lanes) as usize;
        let share = (end - first).div_ceil(at_once).div_ceil(thread::grid_dim_x() as usize) * at_once;
        let mut base = first + share * thread::block_idx_x() as usize;
        let behind = end.min(base + share);
        while base < behind {
            let place = base + within;
            f((place < behind).then_some(place));
            base += at_once;
        }
    }

    /// Calls `f` with what was offered to the neighbours of the unknown in this place, and to itself.
    ///
    /// # Safety
    /// It was placed.
    #[inline(always)]
    unsafe fn for_each_offer(&self, sub_warp: SubWarp, place: usize, mut f: impl FnMut(&AtomicU32)) {
        // SAFETY: the caller's promise. There is an offer for each unknown.
        unsafe {
            let (_, start, end) = self.row(place);
            let mut e = start + sub_warp.lane as usize;
            while e < end {
                f(&*self.offered.wrapping_add(self.graph.col_idx.ld_nc(e) as usize).cast::<AtomicU32>());
                e += sub_warp.lanes as usize;
            }
        }
    }

    /// Whether unknown j is reached here and now.
    ///
    /// # Safety
    /// There is such an unknown.
    #[inline(always)]
    unsafe fn is_first(&self, j: u32) -> bool {
        // SAFETY: the caller's promise. There is an offer for each unknown.
        let offered = unsafe { &*self.offered.wrapping_add(j as usize).cast::<AtomicU32>() };
        offered.load(Ordering::Relaxed) == NONE
            && offered.compare_exchange(NONE, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The unknown in this place, its first entry, and the one behind its last.
    ///
    /// # Safety
    /// It was placed.
    #[inline(always)]
    unsafe fn row(&self, place: usize) -> (u32, usize, usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let i = self.order.ld(place);
            let (start, end) = self.graph.range(i as usize);
            (i, start, end)
        }
    }

    /// Children of the unknown in this place, which this lane sees.
    ///
    /// # Safety
    /// It was placed, and its level was claimed.
    #[inline(always)]
    unsafe fn children_of(&self, sub_warp: SubWarp, place: usize) -> u64 {
        // SAFETY: the caller's promise.
        unsafe {
            let (i, start, end) = self.row(place);
            let (mut found, mut e) = (0, start + sub_warp.lane as usize);
            while e < end {
                found += u64::from(self.is_child(place, i, self.graph.col_idx.ld_nc(e)));
                e += sub_warp.lanes as usize;
            }
            found
        }
    }

    /// Whether j is a child of i, which is in this place.
    ///
    /// # Safety
    /// As of [`Search::children_of`].
    #[inline(always)]
    unsafe fn is_child(&self, place: usize, i: u32, j: u32) -> bool {
        // SAFETY: the caller's promise.
        j != i && unsafe { self.offered.ld(j as usize) } == place as u32
    }

    /// `(degree, number)` of the child of i, in this place, that entry e is, in the order of pairs;
    /// [`NO_KEY`] where it is none.
    ///
    /// # Safety
    /// As of [`Search::children_of`].
    #[inline(always)]
    unsafe fn key(&self, place: usize, i: u32, e: usize, end: usize) -> u64 {
        if e >= end {
            return NO_KEY;
        }
        // SAFETY: the caller's promise.
        unsafe {
            let j = self.graph.col_idx.ld_nc(e);
            match self.is_child(place, i, j) {
                true => u64::from(self.degrees.ld_nc(j as usize)) << 32 | u64::from(j),
                false => NO_KEY,
            }
        }
    }

    /// Puts the children of the unknown in this place to places from `first` on, by degree and by number.
    ///
    /// # Safety
    /// As of [`Search::children_of`]; the lanes of the sub-warp are here together.
    #[inline(always)]
    unsafe fn put_children(&self, sub_warp: SubWarp, place: usize, first: u32) {
        let lanes = sub_warp.lanes as usize;
        // SAFETY: the caller's promise.
        unsafe {
            let (i, start, end) = self.row(place);
            let mut mine = start;
            while mine < end {
                let key = self.key(place, i, mine + sub_warp.lane as usize, end);
                let (mut before, mut others) = (0, start);
                while others < end {
                    let other = match others == mine {
                        true => key,
                        false => self.key(place, i, others + sub_warp.lane as usize, end),
                    };
                    let children = sub_warp.ballot(other != NO_KEY);
                    sub_warp.in_order(children, other, |other| before += u32::from(other < key));
                    others += lanes;
                }
                if key != NO_KEY {
                    self.order.st((first + before) as usize, key as u32);
                }
                mine += lanes;
            }
        }
    }
}

/// `degrees[i]` = the neighbours of i.
#[kernel]
pub unsafe fn count_neighbours(n: u64, graph: Pattern, degrees: *mut u32) {
    let mut i = thread::index_x();
    // SAFETY: the launcher's graph has n rows, and there is room for as many numbers.
    unsafe {
        while i < n as usize {
            degrees.st(i, off_diagonal(graph, i));
            i += thread::stride();
        }
    }
}

/// Level 0 is the root, and nothing was offered.
#[kernel]
pub unsafe fn search_from(n: u64, root: u32, search: Search) {
    let mut i = thread::index_x();
    // SAFETY: the launcher's arrays are for n unknowns.
    unsafe {
        if i == 0 {
            search.order.st(0, root);
            search.starts.st(0, 0);
            search.counts.st(0, 1);
        }
        while i < n as usize {
            // Nobody's place is smaller than the root's.
            search.offered.st(i, if i == root as usize { 0 } else { NONE });
            i += thread::stride();
        }
    }
}

/// The next level, in any order.
#[kernel]
pub unsafe fn reach_neighbours(level: u32, log2_lanes: u32, search: Search) {
    let scratch = shared![u64; 8];
    let start = shared![u32; 1];
    let sub_warp = SubWarp::of(log2_lanes);
    // SAFETY: the launcher's arrays are those of a search that has come to this level.
    unsafe {
        let (first, end) = search.level(level);
        let reached = &*search.counts.wrapping_add(level as usize + 1).cast::<AtomicU32>();
        search.for_each_tile(sub_warp, (first, end), |place| {
            let (_, first_entry, end_of_row) = place.map_or((0, 0, 0), |place| search.row(place));
            let mut base = first_entry;
            // All rows of a block are gone through together.
            while thread::sync_threads_or(u32::from(base < end_of_row)) != 0 {
                let e = base + sub_warp.lane as usize;
                let j = if e < end_of_row { search.graph.col_idx.ld_nc(e) } else { NONE };
                let is_first = j != NONE && search.is_first(j);
                let (before, total) = block_scan(u64::from(is_first), scratch);
                if thread::thread_idx_x() == 0 {
                    start.set(0, reached.fetch_add(total as u32, Ordering::Relaxed));
                }
                thread::sync_threads();
                if is_first {
                    search.order.st(end + start.get(0) as usize + before as usize, j);
                }
                base += sub_warp.lanes as usize;
            }
        });
    }
}

/// The unknowns of a level claim.
#[kernel]
pub unsafe fn claim_children(level: u32, log2_lanes: u32, search: Search) {
    let sub_warp = SubWarp::of(log2_lanes);
    // SAFETY: the launcher's arrays are those of a search that has come to this level.
    unsafe {
        let (first, end) = search.level(level);
        let mut place = first + sub_warp.first();
        while place < end {
            search.for_each_offer(sub_warp, place, |offered| {
                if offered.load(Ordering::Relaxed) > place as u32 {
                    offered.fetch_min(place as u32, Ordering::Relaxed);
                }
            });
            place += sub_warp.stride();
        }
    }
}

/// `sums[b]` = the children of block b's share of a level.
#[kernel]
pub unsafe fn count_children(level: u32, log2_lanes: u32, search: Search) {
    let scratch = shared![u64; 8];
    let sub_warp = SubWarp::of(log2_lanes);
    let mut found = 0;
    // SAFETY: the launcher's arrays are those of a search that has come to this level.
    unsafe {
        search.for_each_tile(sub_warp, search.level(level), |place| {
            found += place.map_or(0, |place| search.children_of(sub_warp, place));
        });
        let (_, total) = block_scan(found, scratch);
        if thread::thread_idx_x() == 0 {
            search.sums.st(thread::block_idx_x() as usize, total as u32);
        }
    }
}

/// The next level.
#[kernel]
pub unsafe fn place_children(level: u32, log2_lanes: u32, search: Search) {
    let scratch = shared![u64; 8];
    let start = shared![u32; 1];
    let sub_warp = SubWarp::of(log2_lanes);
    let (t, block) = (thread::thread_idx_x(), thread::block_idx_x());
    // SAFETY: the launcher's arrays are those of a search whose children in this level were counted by as
    // many blocks as this launch has, and a block's threads at most.
    unsafe {
        let (first, end) = search.level(level);
        let sum = if t < thread::grid_dim_x() { search.sums.ld(t as usize) } else { 0 };
        let (before, total) = block_scan(u64::from(sum), scratch);
        if t == block {
            start.set(0, end as u32 + before as u32);
        }
        if t == 0 && block == 0 {
            search.counts.st(level as usize + 1, total as u32);
        }
        thread::sync_threads();
        let mut next = start.get(0);
        search.for_each_tile(sub_warp, (first, end), |place| {
            let found = place.map_or(0, |place| search.children_of(sub_warp, place));
            let (before, total) = block_scan(found, scratch);
            let first = next + sub_warp.from_lane(before as u32, 0);
            if let Some(place) = place {
                search.put_children(sub_warp, place, first);
            }
            next += total as u32;
        });
    }
}

/// `reversed` is the order from its end, `places` where each unknown is there.
#[kernel]
pub unsafe fn reverse_order(n: u64, order: *const u32, reversed: *mut u32, places: *mut u32) {
    let mut k = thread::index_x();
    // SAFETY: the launcher's arrays have n elements.
    unsafe {
        while k < n as usize {
            let i = order.ld(n as usize - 1 - k);
            reversed.st(k, i);
            places.st(i as usize, k as u32);
            k += thread::stride();
        }
    }
}

/// `lengths[k]` = the entries of row `order[k]`.
#[kernel]
pub unsafe fn reordered_lengths(n: u64, a: Pattern, order: *const u32, lengths: *mut u32) {
    let mut k = thread::index_x();
    // SAFETY: the launcher's arrays have n elements, and the matrix those rows.
    unsafe {
        while k < n as usize {
            let (start, end) = a.range(order.ld_nc(k) as usize);
            lengths.st(k, (end - start) as u32);
            k += thread::stride();
        }
    }
}

/// The places of the columns of row `order[k]`, in row k, not sorted.
#[kernel]
pub unsafe fn reordered_columns(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    order: *const u32,
    places: *const u32,
    row_ptr: *const u32,
    columns: *mut u32,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    let mut k = sub_warp.first();
    // SAFETY: the launcher's arrays have n elements, and there is room for all entries.
    unsafe {
        while k < n as usize {
            let (start, end) = a.range(order.ld_nc(k) as usize);
            let to = row_ptr.ld_nc(k) as usize;
            let mut e = sub_warp.lane as usize;
            while e < end - start {
                columns.st(to + e, places.ld_nc(a.col_idx.ld_nc(start + e) as usize));
                e += sub_warp.lanes as usize;
            }
            k += sub_warp.stride();
        }
    }
}

/// The values in the other numbering, in its pattern.
#[kernel(T = [f32, f64])]
pub unsafe fn reordered_values<T: Real>(
    n: u64,
    log2_lanes: u32,
    a: Rows<T>,
    order: *const u32,
    reordered: Pattern,
    values: *mut T,
) {
    let sub_warp = SubWarp::of(log2_lanes);
    // SAFETY: the launcher's matrices have n rows, and the same entries.
    unsafe {
        sub_warp.for_each_entry(n, reordered, |k, e| {
            let (row, column) = (order.ld_nc(k), order.ld_nc(reordered.col_idx.ld_nc(e) as usize));
            let (start, end) = a.pattern.range(row as usize);
            values.st(e, a.values.ld_nc(position(a.pattern.col_idx, start, end, column)));
        });
    }
}
