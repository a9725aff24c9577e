//! Copies from global to shared memory.

use super::Grid;
use crate::sim::copies::Copy;
use crate::sim::fault::{Access, FaultKind};
use crate::sim::report::Operation;
use crate::sim::shared::SharedBase;
use std::panic::Location;

impl Grid<'_> {
    /// Asks for a copy of bytes to `N` elements from element `i` on.
    #[track_caller]
    pub fn copy_async<const N: usize>(&self, base: SharedBase, i: usize, bytes: Vec<u8>) {
        let (start, size, place) = (i * (bytes.len() / N), bytes.len() as u64, Location::caller());
        if i + N > base.length {
            let (array, length) = (self.shared().name(base), base.length as u64);
            let (access, index) = (Access::Write, (i + N - 1) as u64);
            self.fault_at(place, FaultKind::SharedOutOfBounds { access, array, index, length });
        }
        let address = super::access::bank_address(base, start);
        if !address.is_multiple_of(size) {
            self.fault_at(place, FaultKind::Misaligned { access: Access::Write, address, size });
        }
        self.note(Some(place), Operation::SharedStore, address, size);
        let copy = Copy { array: base.array, start, bytes, place };
        self.copies().borrow_mut().ask(copy);
    }

    pub fn commit_copies(&self) {
        self.copies().borrow_mut().commit();
    }

    /// Lets all groups but the last `but` be done.
    pub fn wait_for_copies(&self, but: usize) {
        let done = self.copies().borrow_mut().done(but);
        for Copy { array, start, bytes, place } in done {
            let base = SharedBase { place: self.running.get(), array, length: 0 };
            self.enter_shared(Access::Write, base, start..start + bytes.len(), place);
            self.write_shared(base, start, &bytes);
        }
    }
}
