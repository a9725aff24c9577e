//! Bulk copies, and the barriers that count their bytes.

use super::Grid;
use crate::sim::copies::Copy;
use crate::sim::exchange::State;
use crate::sim::fault::{Access, FaultKind};
use crate::sim::report::Operation;
use crate::sim::shared::SharedBase;
use std::panic::Location;

/// The unit of copies in bytes.
const UNIT: u64 = 16;

impl Grid<'_> {
    #[track_caller]
    pub fn bulk_init(&self, barrier: SharedBase) {
        self.store_shared(barrier, 0, [0; 8]);
        self.now().bulk.borrow_mut().insert(barrier.array, Default::default());
    }

    /// Faults unless the word is a barrier.
    #[track_caller]
    fn bulk_barrier(&self, barrier: SharedBase) {
        self.load_shared::<8>(barrier, 0);
        if !self.now().bulk.borrow().contains_key(&barrier.array) {
            let array = self.shared().name(barrier);
            self.fault_here(FaultKind::NoBarrier { array });
        }
    }

    /// Asks for a copy of bytes to elements from `i` on, of `size` bytes each.
    #[track_caller]
    pub fn bulk_copy(&self, barrier: SharedBase, to: SharedBase, i: usize, size: usize, bytes: Vec<u8>) {
        self.bulk_barrier(barrier);
        let (place, length, count) = (Location::caller(), bytes.len() as u64, bytes.len() / size);
        if i + count > to.length {
            let (array, length) = (self.shared().name(to), to.length as u64);
            let (access, index) = (Access::Write, (i + count).saturating_sub(1) as u64);
            self.fault_at(place, FaultKind::SharedOutOfBounds { access, array, index, length });
        }
        let start = i * size;
        let address = super::access::bank_address(to, start);
        for multiple in [address, address + length] {
            if !multiple.is_multiple_of(UNIT) {
                let kind = FaultKind::Misaligned { access: Access::Write, address: multiple, size: UNIT };
                self.fault_at(place, kind);
            }
        }
        for unit in (0..length).step_by(UNIT as usize) {
            self.note(Some(place), Operation::SharedStore, address + unit, UNIT);
        }
        let range = start..start + bytes.len();
        self.enter_shared(Access::Write, to, range.clone(), place);
        // Whoever has waited reads what came; nobody can before.
        self.in_races(|races| races.forget_shared(to.place as u32, to.array as u32, range.clone()));
        self.shared().bytes(to)[range].fill(None);
        let copy = Copy { array: to.array, start, bytes, place };
        self.now().bulk.borrow_mut().entry(barrier.array).or_default().copies.push(copy);
    }

    #[track_caller]
    pub fn bulk_commit(&self, barrier: SharedBase) {
        self.bulk_barrier(barrier);
        let again = {
            let mut bulk = self.now().bulk.borrow_mut();
            std::mem::replace(&mut bulk.entry(barrier.array).or_default().closed, true)
        };
        if again {
            let array = self.shared().name(barrier);
            self.fault_here(FaultKind::PhaseNotWaitedFor { array });
        }
    }

    #[track_caller]
    pub fn bulk_wait(&self, barrier: SharedBase, phase: u32) {
        self.bulk_barrier(barrier);
        let place = Location::caller();
        if !self.bulk_is_complete(barrier.array, phase) {
            self.wait(State::Copies { barrier: barrier.array, phase, place });
        }
        let landed = {
            let mut bulk = self.now().bulk.borrow_mut();
            let barrier = bulk.entry(barrier.array).or_default();
            if barrier.completed % 2 == phase % 2 {
                barrier.completed += 1;
                barrier.closed = false;
                std::mem::take(&mut barrier.copies)
            } else {
                Vec::new()
            }
        };
        for Copy { array, start, bytes, .. } in landed {
            self.write_shared(SharedBase { place: barrier.place, array, length: 0 }, start, &bytes);
        }
    }

    /// As the device sees it: whether the present phase is closed, or is not that of this parity.
    fn bulk_is_complete(&self, barrier: usize, phase: u32) -> bool {
        let bulk = self.now().bulk.borrow();
        bulk.get(&barrier).is_some_and(|it| it.closed || it.completed % 2 != phase % 2)
    }

    /// Lets threads go on whose copies are there; returns whether there were any.
    pub(super) fn complete_copies(&self) -> bool {
        let mut complete = false;
        for state in &self.now().states {
            if let State::Copies { barrier, phase, .. } = state.get()
                && self.bulk_is_complete(barrier, phase)
            {
                state.set(State::Ready(0));
                complete = true;
            }
        }
        complete
    }
}
