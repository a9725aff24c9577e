//! Races: accesses to one address that nothing orders.
//!
//! What orders two accesses: the program, within a thread; `sync_threads`, within a block; `sync_warp`,
//! within a warp (taken to include all of its lanes); and between blocks a fence in the one, an atomic
//! operation of it after the fence, and a later atomic operation of the other on the same address. The last
//! is taken per block, not per thread: that all threads of the block have come to the fence is the business
//! of its barriers. An operation that is atomic for its block alone orders nothing for others, and races with
//! theirs. A barrier of the cluster orders what its threads did before they arrived and what they do after
//! they have waited, and a barrier of the grid orders everything.

use super::fault::Access;
use crate::lanes::WARP_SIZE;
use crate::ordering::Scope;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// An access, and where in the launch it was made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    pub access: Access,
    pub block: u32,
    pub thread: u32,
    /// Whom it is atomic for, if it is.
    scope: Scope,
    /// Number of the access in the launch.
    time: u64,
    /// How many barriers the block had passed.
    barrier: u32,
    /// How often the warp had synchronised.
    warp: u32,
    /// How many barriers the grid had passed.
    grid_barrier: u32,
    /// Its cluster, and how often the thread had arrived at a barrier of it and waited there.
    cluster: u32,
    arrived: u32,
    passed: u32,
}

impl Access {
    fn writes(self) -> bool {
        matches!(self, Access::Write | Access::VolatileWrite | Access::Atomic)
    }

    /// Meant to happen at the same time as others.
    fn concurrent(self) -> bool {
        matches!(self, Access::VolatileRead | Access::VolatileWrite | Access::Atomic)
    }
}

impl Stamp {
    fn conflicts(&self, other: &Stamp) -> bool {
        (self.access.writes() || other.access.writes())
            && !(self.access.concurrent() && other.access.concurrent() && !self.is_out_of_scope(other))
    }

    /// Whether one of the two is atomic for its own block alone, and the other of another block.
    pub fn is_out_of_scope(&self, other: &Stamp) -> bool {
        self.block != other.block && (self.scope == Scope::Block || other.scope == Scope::Block)
    }
}

/// What happened to four bytes, or to one of them.
#[derive(Debug, Clone, Default)]
struct History {
    /// The last write.
    write: Option<Stamp>,
    /// Reads since, by two different threads if there were two: whoever writes, one of them is another's.
    reads: [Option<Stamp>; 2],
}

/// Four bytes of global memory or of a shared array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Word {
    /// Address / 4.
    Global(u64),
    /// Place of the block, array and offset / 4.
    Shared { place: u32, array: u32, number: u32 },
}

/// The words of a range of bytes: their numbers, and which of their bytes are in it.
pub(super) fn parts(bytes: Range<u64>) -> impl Iterator<Item = (u64, Range<u8>)> {
    (bytes.start / 4..bytes.end.div_ceil(4)).map(move |word| {
        let [start, end] = [bytes.start, bytes.end].map(|byte| byte.clamp(4 * word, 4 * word + 4) - 4 * word);
        (word, start as u8..end as u8)
    })
}

/// Stands for all bytes of a word together.
const WHOLE: u8 = 4;

/// Who makes an access.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caller {
    pub thread: u32,
    /// Whom the access is atomic for, if it is.
    pub scope: Scope,
    pub cluster: u32,
    /// How often it has arrived at a barrier of the cluster, and waited there.
    pub arrived: u32,
    pub passed: u32,
}

/// The accesses of a launch.
#[derive(Debug, Default)]
pub(super) struct Races {
    /// Of words, and by their bytes of those that are split.
    words: FxHashMap<(Word, u8), History>,
    /// The words of which somebody has accessed a part.
    split: FxHashSet<Word>,
    time: u64,
    /// How many barriers the grid has passed.
    grid_barrier: u32,
    /// The block that runs.
    block: u32,
    now: Progress,
    /// The other blocks, where they have a place at the same time.
    others: FxHashMap<u32, Progress>,
    /// For every address of atomic operations what they released.
    releases: FxHashMap<u64, Releases>,
}

/// How far a block has come.
#[derive(Debug, Default)]
struct Progress {
    /// How many barriers it has passed.
    barrier: u32,
    /// How often each warp has synchronised.
    warps: Vec<u32>,
    /// Time of its last fence.
    fence: u64,
    /// Its atomic operations: the address, and how many operations on it came before.
    acquired: Vec<(u64, usize)>,
}

/// What atomic operations on an address released.
#[derive(Debug, Default)]
struct Releases {
    /// How many there were.
    count: usize,
    /// By block: how many came before, and the time of the block's last fence.
    by_block: FxHashMap<u32, Vec<(usize, u64)>>,
}

impl Races {
    pub fn start_block(&mut self, block: u32, threads: u32) {
        self.resume_block(block);
        self.now = Progress { warps: vec![0; threads.div_ceil(WARP_SIZE) as usize], ..Progress::default() };
    }

    /// Goes on with a block.
    pub fn resume_block(&mut self, block: u32) {
        let before = std::mem::take(&mut self.now);
        self.others.insert(std::mem::replace(&mut self.block, block), before);
        self.now = self.others.remove(&block).unwrap_or_default();
    }

    /// All that came before is ordered before all that comes.
    pub fn pass_grid_barrier(&mut self) {
        self.grid_barrier += 1;
    }

    pub fn pass_barrier(&mut self) {
        self.now.barrier += 1;
    }

    pub fn sync_warp(&mut self, thread: u32) {
        self.now.warps[(thread / WARP_SIZE) as usize] += 1;
    }

    pub fn pass_fence(&mut self) {
        self.now.fence = self.time;
    }

    /// Enters an atomic operation, which releases what the block did before its last fence.
    pub fn synchronise(&mut self, address: u64) {
        let releases = self.releases.entry(address).or_default();
        self.now.acquired.push((address, releases.count));
        releases.by_block.entry(self.block).or_default().push((releases.count, self.now.fence));
        releases.count += 1;
    }

    /// Enters an access to some bytes of a word; the error is an earlier one that it races with, and whether
    /// for their scopes alone.
    pub fn enter(
        &mut self,
        word: Word,
        mut bytes: Range<u8>,
        access: Access,
        caller: Caller,
    ) -> Result<(), (Stamp, bool)> {
        self.time += 1;
        let is_whole = bytes == (0..WHOLE);
        if is_whole && (self.split.is_empty() || !self.split.contains(&word)) {
            return self.enter_part(word, WHOLE, access, caller);
        }
        if self.split.insert(word) {
            let history = self.words.remove(&(word, WHOLE)).unwrap_or_default();
            self.words.extend((0..WHOLE).map(|byte| ((word, byte), history.clone())));
        }
        bytes.try_for_each(|byte| self.enter_part(word, byte, access, caller))
    }

    fn enter_part(
        &mut self,
        word: Word,
        part: u8,
        access: Access,
        caller: Caller,
    ) -> Result<(), (Stamp, bool)> {
        let Caller { thread, scope, cluster, arrived, passed } = caller;
        let warp = self.now.warps[(thread / WARP_SIZE) as usize];
        let (block, time, barrier, grid_barrier) =
            (self.block, self.time, self.now.barrier, self.grid_barrier);
        let now = Stamp {
            access,
            block,
            thread,
            scope,
            time,
            barrier,
            warp,
            grid_barrier,
            cluster,
            arrived,
            passed,
        };
        let Races { words, now: progress, releases, .. } = self;
        let history = words.entry((word, part)).or_default();
        let ordered = |before: &Stamp| match word {
            Word::Shared { .. } if before.cluster != now.cluster => true, // another cluster's memory
            _ => progress.is_behind(before, &now, releases),
        };
        let rival = |before: &&Stamp| before.conflicts(&now) && !ordered(before);
        let earlier = history.write.iter().chain(history.reads.iter().flatten());
        let race = earlier.into_iter().find(rival).copied();
        if access.writes() {
            *history = History { write: Some(now), reads: [None; 2] };
        } else if history.reads[0].as_ref().is_none_or(&ordered) {
            history.reads[0] = Some(now);
        } else if history.reads[1].as_ref().is_none_or(&ordered) {
            history.reads[1] = Some(now);
        }
        let of_scope = |other: &Stamp| other.access.concurrent() && access.concurrent();
        race.map_or(Ok(()), |other| Err((other, of_scope(&other))))
    }

    /// Forgets the accesses to words of a shared array, of which these are the bytes.
    pub fn forget_shared(&mut self, place: u32, array: u32, bytes: Range<usize>) {
        for number in bytes.start / 4..bytes.end / 4 {
            let word = Word::Shared { place, array, number: number as u32 };
            self.split.remove(&word);
            for part in 0..=WHOLE {
                self.words.remove(&(word, part));
            }
        }
    }
}

impl Progress {
    /// Whether something orders `before` before `now`, an access of the block that has come so far.
    fn is_behind(&self, before: &Stamp, now: &Stamp, releases: &FxHashMap<u64, Releases>) -> bool {
        if before.grid_barrier < now.grid_barrier {
            return true;
        }
        if before.cluster == now.cluster && before.arrived < now.passed {
            return true;
        }
        if before.block == now.block {
            let same_warp = before.thread / WARP_SIZE == now.thread / WARP_SIZE;
            return before.thread == now.thread
                || before.barrier < now.barrier
                || same_warp && before.warp < now.warp;
        }
        self.acquired.iter().any(|(address, count)| {
            let of_block = releases[address].by_block.get(&before.block);
            let mut earlier = of_block.into_iter().flatten().take_while(|(number, _)| number < count);
            earlier.any(|(_, fence)| before.time <= *fence)
        })
    }
}
