//! What a thread may use: stack, and accesses without an end.

use super::Grid;
#[cfg(unix)]
use super::current;
use crate::sim::exchange::State;
use crate::sim::fault::FaultKind;
use std::panic::Location;

impl Grid<'_> {
    /// Says that the running thread's stack is too small, if an address is just beyond it.
    #[cfg(unix)]
    pub(super) fn name_small_stack(address: u64, line: &mut dyn std::io::Write) {
        if let Some(grid) = current().filter(|grid| grid.is_beyond_stack(address)) {
            let (name, block, thread, bytes) = (grid.name, grid.block(), grid.thread(), grid.stack_bytes());
            // What does not fit is cut off.
            let _ = writeln!(
                line,
                "kernel {name}, block {block}, thread {thread}: the stack of {bytes} bytes is too small; \
                 Options::stack_bytes makes it larger"
            );
        }
    }

    /// Whether an address is just beyond the end of the running thread's stack.
    #[cfg(unix)]
    fn is_beyond_stack(&self, address: u64) -> bool {
        /// How far behind the end they are at most; an eighth of that lies in front of the yielder.
        const PAGES: u64 = 64 << 10;
        let beginning = self.now().yielders[self.thread() as usize].get() as u64;
        let end = beginning.saturating_sub(self.stack_bytes() as u64);
        (end.saturating_sub(PAGES)..end + PAGES / 8).contains(&address)
    }

    /// Bytes of a thread's stack.
    pub(super) fn stack_bytes(&self) -> usize {
        self.options.stack_bytes
    }

    /// Before an access to memory, there in the source: faults if it is one too many, and lets other blocks
    /// go on where they are to be interleaved.
    pub(super) fn before_access(&self, place: &'static Location<'static>) {
        let accesses = self.accesses.get() + 1;
        self.accesses.set(accesses);
        if accesses > self.options.patience {
            self.fault_at(place, FaultKind::Endless { accesses: self.options.patience });
        }
        if self.options.blocks_at_once > 1 && self.random.next().is_multiple_of(2) {
            self.preempted.set(true);
            self.wait(State::Ready(0));
        }
    }
}
