//! What a simulation looks for.

use std::cell::Cell;

/// What to look for beyond the checks that are always made.
///
/// ```
/// # use cuda_std::sim::{Options, Order};
/// let options = Options { races: true, order: Order::Shuffled(7), ..Options::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Report two threads that touch the same address with nothing to order them, one of them writing.
    /// Many times slower.
    pub races: bool,
    /// In which order the blocks run.
    pub order: Order,
    /// How many blocks run at a time, 1 at first. With more, another block may go on at every access to
    /// global memory that the simulator checks, as random numbers say: a kernel whose blocks must not be
    /// interleaved fails. The numbers are those of the seed of [`Order::Shuffled`], the same in every run.
    /// Many times slower. (Blocks of a cooperative launch, and of a cluster, have a place at once anyway, and
    /// with 1 go on by turns from barrier to barrier.)
    pub blocks_at_once: u32,
    /// Bytes of stack of a thread, 128 KiB at first; what is not touched takes no memory. A thread that needs
    /// more, for a large array or a deep recursion, ends the process, which says so first (on Unix).
    pub stack_bytes: usize,
    /// How many accesses to memory there may be while no thread waits or ends, 2^28 at first, some seconds:
    /// beyond that, the thread is taken for one that waits for ever for what another writes.
    pub patience: u64,
}

impl Options {
    /// What is always looked for, and nothing else.
    pub const DEFAULT: Options = Options {
        races: false,
        order: Order::Ascending,
        blocks_at_once: 1,
        stack_bytes: 128 << 10,
        patience: 1 << 28,
    };
}

impl Default for Options {
    fn default() -> Self {
        Options::DEFAULT
    }
}

/// The order of blocks. A device promises none, so a kernel must not rely on one.
///
/// ```
/// # use cuda_std::sim::{Options, Order};
/// // A test that runs its kernel in several orders finds out whether it relies on one.
/// let orders = [Order::Ascending, Order::Descending, Order::Shuffled(1), Order::Shuffled(2)];
/// let all = orders.map(|order| Options { order, ..Options::default() });
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// 0, 1, 2, ..
    #[default]
    Ascending,
    /// The last first.
    Descending,
    /// A random one, the same for the same seed.
    Shuffled(u64),
}

impl Order {
    /// The numbers below `count` in this order.
    pub(super) fn of(self, count: u32) -> Box<dyn Iterator<Item = u32>> {
        match self {
            Order::Ascending => Box::new(0..count),
            Order::Descending => Box::new((0..count).rev()),
            Order::Shuffled(seed) => Box::new(shuffled(count, seed).into_iter()),
        }
    }
}

/// Fisher and Yates's shuffle.
fn shuffled(count: u32, seed: u64) -> Vec<u32> {
    let random = Random(Cell::new(seed));
    let mut numbers: Vec<u32> = (0..count).collect();
    for i in (1..numbers.len()).rev() {
        numbers.swap(i, (random.next() % (i as u64 + 1)) as usize);
    }
    numbers
}

/// The generator SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Debug)]
pub(super) struct Random(Cell<u64>);

impl Random {
    pub fn of(order: Order) -> Self {
        let seed = if let Order::Shuffled(seed) = order { seed } else { 0 };
        Random(Cell::new(seed))
    }

    pub fn next(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mut random = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        random = (random ^ random >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        random ^ random >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_comes_once() {
        for order in [Order::Ascending, Order::Descending, Order::Shuffled(0), Order::Shuffled(7)] {
            let mut numbers = Vec::from_iter(order.of(101));
            numbers.sort_unstable();
            assert_eq!(numbers, Vec::from_iter(0..101));
        }
        let first = |seed| Vec::from_iter(Order::Shuffled(seed).of(101));
        assert_ne!(first(0), first(1));
        assert_eq!(first(3), first(3));
        assert_eq!(Vec::from_iter(Order::Descending.of(3)), [2, 1, 0]);
    }
}
