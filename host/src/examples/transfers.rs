//! Where the data of a program are between its steps: what keeping them on the device saves.

use super::machine::Machine;
use crate::error::Result;
use crate::named::named;

named! {
    /// Where the data are between two steps.
    "way of transfers" Transfers {
        /// On the device.
        Resident = "resident",
        /// On the host: a step begins with a copy of what it reads to the device, and ends with a copy of what
        /// it has written back, as it is where each parallel region maps its arrays.
        EveryStep = "every-step",
    }
}

/// `v = step(u)`, then with u and v exchanged, `limit` times or until a step says that it was the last. Between
/// the steps the data are on the host. The last iterate is in u; how many steps there were.
pub(super) fn travel<M: Machine>(
    m: &M,
    limit: u32,
    [x, y]: [&mut M::Vector; 2],
    mut step: impl FnMut(&M::Vector, &mut M::Vector) -> Result<bool>,
) -> Result<u32> {
    let (mut u, mut v) = (m.to_host(x)?, m.to_host(y)?);
    for k in 1..=limit {
        m.update_device(x, &u)?;
        let goes_on = step(x, y)?;
        m.update_host(y, &mut v)?;
        std::mem::swap(&mut u, &mut v);
        if !goes_on || k == limit {
            std::mem::swap(x, y);
            return Ok(k);
        }
    }
    Ok(0)
}
