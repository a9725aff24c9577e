//! Copies to shared memory that a thread has asked for, and that are not done before it waits.

use std::collections::VecDeque;
use std::panic::Location;

/// A copy under way.
#[derive(Debug)]
pub(super) struct Copy {
    /// The number of the shared array.
    pub array: usize,
    /// Its first byte there.
    pub start: usize,
    /// What comes there.
    pub bytes: Vec<u8>,
    /// Where it was asked for.
    pub place: &'static Location<'static>,
}

/// A barrier of bulk copies.
#[derive(Debug, Default)]
pub(super) struct Bulk {
    /// Phases that somebody has waited for.
    pub completed: u32,
    /// The copies of the present one.
    pub copies: Vec<Copy>,
    /// Whether it is closed.
    pub closed: bool,
}

/// Those of one thread.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// In no group yet.
    open: Vec<Copy>,
    groups: VecDeque<Vec<Copy>>,
}

impl Copies {
    pub fn ask(&mut self, copy: Copy) {
        self.open.push(copy);
    }

    pub fn commit(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.open));
    }

    /// Takes the copies of all groups but the last `but`.
    pub fn done(&mut self, but: usize) -> Vec<Copy> {
        let count = self.groups.len().saturating_sub(but);
        self.groups.drain(..count).flatten().collect()
    }
}
