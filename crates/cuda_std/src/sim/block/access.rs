//! What the threads of a grid do to memory.

use super::Grid;
use crate::ordering::Scope;
use crate::sim::fault::{Access, FaultKind, Place};
use crate::sim::race::{Caller, Races, Stamp, Word, parts};
use crate::sim::report::Operation;
use crate::sim::shared::SharedBase;
use std::ops::Range;
use std::panic::Location;

impl Grid<'_> {
    /// Notes that the running thread has waited for the grid in front.
    pub fn waited(&self) {
        self.now().waited[self.thread.get() as usize].set(true);
    }

    /// Notes that what the block did so far comes before what its next atomic operation announces.
    pub fn fence(&self) {
        self.in_races(Races::pass_fence);
    }

    /// Notes that what the block did before its last fence comes before what others do that synchronise at
    /// this address later.
    pub fn synchronise(&self, address: u64) {
        self.in_races(|races| races.synchronise(address));
    }

    /// The running thread, as races know it, for an access that is atomic for so many if it is at all.
    fn caller(&self, scope: Scope) -> Caller {
        let (now, thread) = (self.now(), self.thread());
        let [arrived, passed] = [&now.arrived, &now.passed].map(|counts| counts[thread as usize].get());
        Caller { thread, scope, cluster: self.cluster(), arrived, passed }
    }

    /// Faults unless `size` bytes at `address` may be accessed through a pointer to `base`, now.
    #[track_caller]
    pub fn check_global(&self, access: Access, scope: Scope, base: u64, address: u64, size: u64) {
        self.before_access(Location::caller());
        // Shared memory may be meant too, where a pointer says nothing of its kind.
        if self.shared().contains(address) {
            self.note(Some(Location::caller()), of_shared(access), address, size);
            return;
        }
        if let Err(kind) = self.memory.check(access, base, address, size) {
            self.fault_here(kind);
        }
        // A plain load may be of what no kernel writes; any other cannot.
        if access != Access::Read && !self.now().waited[self.thread.get() as usize].get() {
            self.fault_here(FaultKind::AccessBeforeWait { access });
        }
        self.note(Some(Location::caller()), of_global(access), address, size);
        let Some(races) = &self.races else { return };
        if access == Access::Atomic && scope != Scope::Block {
            self.synchronise(address);
        }
        for (word, bytes) in parts(address..address + size) {
            let entered = races.borrow_mut().enter(Word::Global(word), bytes, access, self.caller(scope));
            if let Err(other) = entered {
                self.fault_here(race(access, other, self.memory.place(word * 4)));
            }
        }
    }

    /// The bytes of element `i`, which has `N`, of a shared array.
    #[track_caller]
    fn shared_bytes<const N: usize>(&self, access: Access, base: SharedBase, i: usize) -> Range<usize> {
        self.check_remote(access, base);
        if i >= base.length {
            let (array, length) = (self.memory_of(base).name(base), base.length as u64);
            self.fault_here(FaultKind::SharedOutOfBounds { access, array, index: i as u64, length });
        }
        let bytes = i * N..(i + 1) * N;
        let address = bank_address(base, bytes.start);
        self.note(Some(Location::caller()), of_shared(access), address, N as u64);
        self.enter_shared(access, base, bytes.clone(), Location::caller());
        bytes
    }

    /// Faults if an access to bytes of a shared array, there in the source, races with another.
    pub fn enter_shared(
        &self,
        access: Access,
        base: SharedBase,
        bytes: Range<usize>,
        at: &'static Location<'static>,
    ) {
        let Some(races) = &self.races else { return };
        let (place, array) = (base.place as u32, base.array as u32);
        for (number, bytes) in parts(bytes.start as u64..bytes.end as u64) {
            let word = Word::Shared { place, array, number: number as u32 };
            let entered = races.borrow_mut().enter(word, bytes, access, self.caller(Scope::Device));
            if let Err(other) = entered {
                let place = Place::Shared { array: self.memory_of(base).name(base), offset: number * 4 };
                self.fault_at(at, race(access, other, place));
            }
        }
    }

    #[track_caller]
    pub fn load_shared<const N: usize>(&self, base: SharedBase, i: usize) -> [u8; N] {
        let bytes = self.shared_bytes::<N>(Access::Read, base, i);
        self.written(base, i, bytes)
    }

    /// What is in the bytes of element `i`, which must have been written.
    #[track_caller]
    fn written<const N: usize>(&self, base: SharedBase, i: usize, bytes: Range<usize>) -> [u8; N] {
        let mut value = [0; N];
        let is_written = {
            let memory = self.memory_of(base).bytes(base);
            let bytes = value.iter_mut().zip(&memory[bytes]);
            bytes.fold(true, |all, (to, from)| {
                *to = from.unwrap_or_default();
                all && from.is_some()
            })
        };
        if !is_written {
            let array = self.memory_of(base).name(base);
            self.fault_here(FaultKind::UnwrittenShared { array, index: i as u64 })
        }
        value
    }

    /// Element `i`, a word, for an access that others may make at the same time.
    #[track_caller]
    pub fn load_shared_word(&self, access: Access, base: SharedBase, i: usize) -> u32 {
        self.before_access(Location::caller());
        let bytes = self.shared_bytes::<4>(access, base, i);
        u32::from_le_bytes(self.written(base, i, bytes))
    }

    /// Sets element `i`, a word, as the second half of an atomic operation.
    pub fn set_shared_word(&self, base: SharedBase, i: usize, word: u32) {
        self.write_shared(base, 4 * i, &word.to_le_bytes());
    }

    #[track_caller]
    pub fn store_shared<const N: usize>(&self, base: SharedBase, i: usize, value: [u8; N]) {
        let bytes = self.shared_bytes::<N>(Access::Write, base, i);
        self.write_shared(base, bytes.start, &value);
    }

    /// Writes bytes into a shared array.
    pub(super) fn write_shared(&self, base: SharedBase, start: usize, bytes: &[u8]) {
        let mut memory = self.memory_of(base).bytes(base);
        memory[start..start + bytes.len()].iter_mut().zip(bytes).for_each(|(to, from)| *to = Some(*from));
    }
}

/// The address of a byte in shared memory as if each array began there anew, apart from the others, with a
/// first bank.
pub(super) fn bank_address(base: SharedBase, byte: usize) -> u64 {
    ((base.array as u64) << 32) | byte as u64
}

fn of_global(access: Access) -> Operation {
    match access {
        Access::Read | Access::VolatileRead => Operation::GlobalLoad,
        Access::Write | Access::VolatileWrite => Operation::GlobalStore,
        Access::Atomic => Operation::GlobalAtomic,
    }
}

fn of_shared(access: Access) -> Operation {
    match access {
        Access::Read | Access::VolatileRead => Operation::SharedLoad,
        Access::Write | Access::VolatileWrite => Operation::SharedStore,
        Access::Atomic => Operation::SharedAtomic,
    }
}

fn race(access: Access, (other, of_scope): (Stamp, bool), place: Place) -> FaultKind {
    let Stamp { access: other_access, block: other_block, thread: other_thread, .. } = other;
    match of_scope {
        true => FaultKind::ScopeRace { access, other_access, other_block, other_thread, place },
        false => FaultKind::Race { access, other_access, other_block, other_thread, place },
    }
}
