//! What an access of a warp takes: sectors of global memory, wavefronts of shared memory.

/// Bytes that global memory gives at once.
const SECTOR: u64 = 32;
/// Banks of shared memory, of four bytes each.
const BANKS: u64 = 32;
/// Bytes that a wavefront of shared memory moves at most.
const WAVEFRONT: u32 = 128;

/// The part of one lane in an access of its warp.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaneAccess {
    pub lane: u32,
    pub address: u64,
    pub bytes: u32,
}

/// What an access took, and the least that its data could have taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    pub moved: u64,
    pub least: u64,
}

fn distinct(mut numbers: Vec<u64>) -> u64 {
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len() as u64
}

/// The words of four bytes that a lane touches.
fn words(access: &LaneAccess) -> impl Iterator<Item = u64> + use<> {
    access.address / 4..(access.address + u64::from(access.bytes)).div_ceil(4)
}

/// Sectors of global memory. The least is what the distinct bytes would fill.
pub(super) fn sectors(access: &[LaneAccess]) -> Cost {
    let touched =
        access.iter().flat_map(|a| a.address / SECTOR..(a.address + u64::from(a.bytes)).div_ceil(SECTOR));
    let needed = 4 * distinct(access.iter().flat_map(words).collect());
    Cost { moved: distinct(touched.collect()), least: needed.div_ceil(SECTOR) }
}

/// Wavefronts of shared memory: in each of them every bank serves one word, to all lanes that want it.
///
/// Lanes that access 8 bytes each go by halves of the warp, 16 bytes by quarters. Atomic operations on one
/// word come one after the other.
pub(super) fn wavefronts(access: &[LaneAccess], atomic: bool) -> Cost {
    let mut cost = Cost { moved: 0, least: 0 };
    let together = WAVEFRONT / access.iter().map(|a| a.bytes).max().unwrap_or(4);
    for part in access.chunk_by(|a, b| a.lane / together == b.lane / together) {
        let mut wanted: Vec<u64> = part.iter().flat_map(words).collect();
        wanted.sort_unstable();
        if !atomic {
            wanted.dedup();
        }
        let mut banks = [0; BANKS as usize];
        wanted.iter().for_each(|word| banks[(word % BANKS) as usize] += 1);
        cost.moved += banks.into_iter().max().unwrap_or(0);
        cost.least += (wanted.len() as u64).div_ceil(BANKS);
    }
    cost
}

/// How many of the lanes come to an address after another lane.
pub(super) fn collisions(access: &[LaneAccess]) -> u64 {
    access.len() as u64 - distinct(access.iter().map(|a| a.address).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(bytes: u32, address: impl Fn(u64) -> u64) -> Vec<LaneAccess> {
        (0..32).map(|lane| LaneAccess { lane, address: address(lane.into()), bytes }).collect()
    }

    #[test]
    fn sectors_of_known_patterns() {
        let cost = |bytes, stride: u64, start: u64| {
            let Cost { moved, least } = sectors(&lanes(bytes, |lane| start + lane * stride));
            (moved, least)
        };
        assert_eq!(cost(4, 4, 4096), (4, 4));
        assert_eq!(cost(8, 8, 4096), (8, 8));
        assert_eq!(cost(16, 16, 4096), (16, 16));
        // Not at a multiple of 32: one more.
        assert_eq!(cost(4, 4, 4100), (5, 4));
        // Every second element, every eighth, everything further apart, and one for all.
        assert_eq!(cost(4, 8, 4096), (8, 4));
        assert_eq!(cost(4, 32, 4096), (32, 4));
        assert_eq!(cost(4, 400, 4096), (32, 4));
        assert_eq!(cost(4, 0, 4096), (1, 1));
    }

    #[test]
    fn wavefronts_of_known_strides() {
        let cost = |bytes, stride: u64| {
            let Cost { moved, least } = wavefronts(&lanes(bytes, |lane| lane * stride), false);
            (moved, least)
        };
        assert_eq!(cost(4, 4), (1, 1));
        assert_eq!(cost(4, 8), (2, 1));
        assert_eq!(cost(4, 4 * 32), (32, 1));
        assert_eq!(cost(4, 4 * 33), (1, 1));
        assert_eq!(cost(4, 0), (1, 1));
        assert_eq!(cost(8, 8), (2, 2));
        assert_eq!(cost(8, 16), (4, 2));
        assert_eq!(cost(16, 16), (4, 4));
    }

    #[test]
    fn atomic_operations_on_a_word_are_one_by_one() {
        let same = lanes(4, |_| 64);
        assert_eq!(wavefronts(&same, true), Cost { moved: 32, least: 1 });
        assert_eq!(collisions(&same), 31);
        let pairs = lanes(4, |lane| lane / 2 * 4);
        assert_eq!(wavefronts(&pairs, true), Cost { moved: 2, least: 1 });
        assert_eq!(collisions(&pairs), 16);
    }
}
