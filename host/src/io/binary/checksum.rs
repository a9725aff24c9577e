//! Checksums of pieces, and of the whole from those of its pieces.

use crc32fast::Hasher;

/// Bytes that one task reads or checks: they stay in the L2 cache.
pub(super) const CHUNK: usize = 1 << 18;

/// The checksum of some bytes.
pub(super) fn checksum(bytes: &[u8]) -> Hasher {
    let mut sum = Hasher::new();
    sum.update(bytes);
    sum
}

/// The checksum of two pieces in a row, from the checksum of each.
pub(super) fn joined(mut first: Hasher, second: Hasher) -> Hasher {
    first.combine(&second);
    first
}
