//! Where the data of a program are between its steps: what keeping them on the device saves.

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
