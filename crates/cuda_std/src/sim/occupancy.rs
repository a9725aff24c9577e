//! How many blocks a multiprocessor holds at once.

use std::fmt;

/// What a multiprocessor has (CUDA C++ Programming Guide, table "Technical Specifications per Compute
/// Capability").
///
/// ```
/// # use cuda_std::sim::{Limit, Multiprocessor};
/// let h100 = Multiprocessor::of((9, 0)).expect("known");
/// assert_eq!(h100.shared_bytes, 228 * 1024);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multiprocessor {
    /// Threads at once.
    pub threads: u32,
    /// Blocks at once.
    pub blocks: u32,
    /// Registers of 32 bits.
    pub registers: u32,
    /// Bytes of shared memory.
    pub shared_bytes: u32,
    /// Bytes of it that every block takes for the system.
    pub reserved_bytes: u32,
}

/// Registers are given to warps in units of so many.
const REGISTER_UNIT: u32 = 256;
/// A multiprocessor has four parts, each with a fourth of the registers.
const PARTS: u32 = 4;
/// Shared memory is given to blocks in units of so many bytes.
const SHARED_UNIT: u32 = 128;

/// What keeps further blocks from a multiprocessor.
///
/// ```
/// # use cuda_std::sim::{Limit, Multiprocessor};
/// let a100 = Multiprocessor::of((8, 0)).expect("known");
/// // 128 threads of 255 registers: registers are what there is too little of.
/// assert_eq!(a100.occupancy(128, 255, 0).limit, Limit::Registers);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Its number of threads.
    Threads,
    /// Its number of blocks.
    Blocks,
    /// Its registers.
    Registers,
    /// Its shared memory.
    SharedMemory,
}

/// How full a multiprocessor is with the blocks of a kernel.
///
/// ```
/// # use cuda_std::sim::{Limit, Multiprocessor};
/// let h100 = Multiprocessor::of((9, 0)).expect("known");
/// let occupancy = h100.occupancy(256, 40, 0);
/// assert_eq!(occupancy.to_string(), "48 of 64 warps (6 blocks, as many as registers allow)");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks at once.
    pub blocks: u32,
    /// Warps at once.
    pub warps: u32,
    /// Warps that there could be.
    pub most_warps: u32,
    /// What there is too little of for one more block.
    pub limit: Limit,
}

impl Multiprocessor {
    /// That of devices of a compute capability: 7.0, 7.5, 8.0, 8.6, 8.9 and 9.0 are known.
    ///
    /// ```
    /// # use cuda_std::sim::{Limit, Multiprocessor};
    /// assert_eq!(Multiprocessor::of((8, 6)).expect("known").threads, 1536);
    /// assert!(Multiprocessor::of((5, 0)).is_none());
    /// ```
    pub fn of(compute_capability: (u32, u32)) -> Option<Self> {
        let (threads, blocks, shared_kib, reserved_bytes) = match compute_capability {
            (7, 0) => (2048, 32, 96, 0),
            (7, 5) => (1024, 16, 64, 0),
            (8, 0) => (2048, 32, 164, 1024),
            (8, 6) => (1536, 16, 100, 1024),
            (8, 9) => (1536, 24, 100, 1024),
            (9, 0) => (2048, 32, 228, 1024),
            _ => return None,
        };
        let shared_bytes = shared_kib * 1024;
        Some(Self { threads, blocks, registers: 65536, shared_bytes, reserved_bytes })
    }

    /// Blocks of so many threads, with so many registers a thread and bytes of shared memory a block.
    ///
    /// ```
    /// # use cuda_std::sim::{Limit, Multiprocessor};
    /// let h100 = Multiprocessor::of((9, 0)).expect("known");
    /// // 256 threads a block, 32 registers a thread, 48 KiB of shared memory a block.
    /// let occupancy = h100.occupancy(256, 32, 48 * 1024);
    /// assert_eq!((occupancy.blocks, occupancy.limit), (4, Limit::SharedMemory));
    /// ```
    pub fn occupancy(&self, threads: u32, registers: u32, shared_bytes: u32) -> Occupancy {
        let warps = threads.div_ceil(32).max(1);
        let of_warp = (registers * 32).next_multiple_of(REGISTER_UNIT);
        let by_registers = match of_warp {
            0 => u32::MAX,
            _ => self.registers / PARTS / of_warp * PARTS / warps,
        };
        let of_block = (shared_bytes + self.reserved_bytes).next_multiple_of(SHARED_UNIT);
        let by_shared = self.shared_bytes.checked_div(of_block).unwrap_or(u32::MAX);
        let limits = [
            (self.threads / 32 / warps, Limit::Threads),
            (self.blocks, Limit::Blocks),
            (by_registers, Limit::Registers),
            (by_shared, Limit::SharedMemory),
        ];
        let (blocks, limit) = limits.into_iter().min_by_key(|limit| limit.0).expect("there are limits");
        Occupancy { blocks, warps: blocks * warps, most_warps: self.threads / 32, limit }
    }
}

/// "48 of 64 warps (6 blocks, as many as registers allow)"
impl fmt::Display for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Occupancy { blocks, warps, most_warps, limit } = self;
        let limit = match limit {
            Limit::Threads => "threads allow",
            Limit::Blocks => "there can be",
            Limit::Registers => "registers allow",
            Limit::SharedMemory => "shared memory allows",
        };
        write!(f, "{warps} of {most_warps} warps ({blocks} blocks, as many as {limit})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of NVIDIA's occupancy calculator for compute capability 9.0.
    #[test]
    fn known_occupancies() {
        let h100 = Multiprocessor::of((9, 0)).unwrap();
        let of = |threads, registers, shared| {
            let Occupancy { blocks, warps, limit, .. } = h100.occupancy(threads, registers, shared);
            (blocks, warps, limit)
        };
        assert_eq!(of(256, 32, 0), (8, 64, Limit::Threads));
        assert_eq!(of(32, 32, 0), (32, 32, Limit::Blocks));
        // 40 * 32 = 1280 registers a warp, 12 warps in each part, 48 in all.
        assert_eq!(of(256, 40, 0), (6, 48, Limit::Registers));
        assert_eq!(of(1024, 64, 0), (1, 32, Limit::Registers));
        assert_eq!(of(256, 255, 0), (1, 8, Limit::Registers));
        // 48 KiB and 1 KiB for the system go into 228 KiB four times.
        assert_eq!(of(128, 32, 48 * 1024), (4, 16, Limit::SharedMemory));
        assert_eq!(
            h100.occupancy(256, 40, 0).to_string(),
            "48 of 64 warps (6 blocks, as many as registers allow)"
        );
    }

    #[test]
    fn an_unknown_device_has_none() {
        assert_eq!(Multiprocessor::of((5, 0)), None);
    }
}
