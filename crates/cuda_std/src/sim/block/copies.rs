//! Copies from global to shared memory.

use super::Grid;
use crate::sim::copies::Copy;
use crate::sim::fault::{Access, FaultKind};
use crate::sim::report::Operation;
use crate::sim::shared::SharedBase;
use std::panic::Location;

impl Grid<'_> {
    /// Asks for a copy of words to `N` elements from element `i` on.
    #[track_caller]
    pub fn copy_async<const N: usize>(&self, base: SharedBase, i: usize, words: Vec<u32>) {
        let (cells, bytes, place) = (words.len() / N, 4 * words.len() as u64, Location::caller());
        if i + N > base.length {
            let (array, length) = (self.shared().name(base), base.length as u64);
            let (access, index) = (Access::Write, (i + N - 1) as u64);
            self.fault_at(place, FaultKind::SharedOutOfBounds { access, array, index, length });
        }
        let address = super::access::bank_address(base, i * cells);
        if !address.is_multiple_of(bytes) {
            self.fault_at(place, FaultKind::Misaligned { access: Access::Write, address, size: bytes });
        }
        self.note(Some(place), Operation::SharedStore, address, bytes);
        let copy = Copy { array: base.array, cell: i * cells, words, place };
        self.copies().borrow_mut().ask(copy);
    }

    pub fn commit_copies(&self) {
        self.copies().borrow_mut().commit();
    }

    /// Lets all groups but the last `but` be done.
    pub fn wait_for_copies(&self, but: usize) {
        let done = self.copies().borrow_mut().done(but);
        for Copy { array, cell, words, place } in done {
            let (base, cells) =
                (SharedBase { place: self.running.get(), array, length: 0 }, cell..cell + words.len());
            self.enter_shared(Access::Write, base, cells.clone(), place);
            let mut memory = self.shared().cells(base);
            memory[cells].iter_mut().zip(words).for_each(|(cell, word)| *cell = Some(word));
        }
    }
}
