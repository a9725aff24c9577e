//! Ways in which a program can be run: what keeping the data on the device saves, and what the order of loops
//! does.

use crate::named::named;

named! {
    /// Where the data are between two steps.
    "way of transfers" Transfers {
        /// On the device.
        Resident = "resident",
        /// On the host: a step begins with a copy of what it reads to the device, and ends with a copy of
        /// what it has written back, as it is where each parallel region maps its arrays.
        EveryStep = "every-step",
    }
}

named! {
    /// Which points neighbouring threads take.
    "order of loops" Loops {
        /// Those of a column, whose elements are a row apart: the loops as the source has them first. On the
        /// CPU the inner loop runs down a column.
        AsWritten = "as-written",
        /// Neighbours in memory.
        Coalesced = "coalesced",
    }
}

/// How a program is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Where the data are between two steps.
    pub transfers: Transfers,
    /// Which points neighbouring threads take.
    pub loops: Loops,
    /// A line about the state, read from the device, every so many steps (at least 1).
    pub lines: Option<u32>,
}

impl Way {
    /// Whether there is a line after so many steps.
    pub(super) fn has_line(self, steps: u32) -> bool {
        self.lines.is_some_and(|every| steps.is_multiple_of(every))
    }
}

impl Default for Way {
    fn default() -> Way {
        Way { transfers: Transfers::Resident, loops: Loops::Coalesced, lines: None }
    }
}
