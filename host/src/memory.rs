//! How much memory the host has.

use crate::error::{Error, Result};

/// Refuses what takes more than there is; the detail says what that is.
///
/// # Errors
/// [`Error::HostMemory`].
pub(crate) fn check_free(needed: u64, detail: impl FnOnce() -> String) -> Result<()> {
    let free = free_memory();
    match needed <= free {
        true => Ok(()),
        false => Err(Error::HostMemory { needed, free, detail: detail() }),
    }
}

/// Bytes that the system says it can hand out; 64 GiB where it does not say.
pub(crate) fn free_memory() -> u64 {
    let available = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    available.map_or(64 << 30, |kib| kib * 1024)
}
