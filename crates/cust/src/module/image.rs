//! Machine code from a toolkit: is all of it within the given bytes?
//!
//! The driver is given an address and no length. It reads as far as the headers say.

/// Whether `bytes` is a cubin (an ELF file) or a fatbin that ends within them.
pub(super) fn is_whole(bytes: &[u8]) -> bool {
    elf_end(bytes).or_else(|| fatbin_end(bytes)).is_some_and(|end| end <= bytes.len() as u64)
}

/// Where a 64-bit little-endian ELF file ends: its header, its tables of segments and sections, and what
/// those name.
fn elf_end(bytes: &[u8]) -> Option<u64> {
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let segments = Table { at: u64_at(bytes, 32)?, entry: u16_at(bytes, 54)?, count: u16_at(bytes, 56)? };
    let sections = Table { at: u64_at(bytes, 40)?, entry: u16_at(bytes, 58)?, count: u16_at(bytes, 60)? };
    let mut end = 64.max(segments.end()?).max(sections.end()?);
    for entry in segments.entries() {
        end = end.max(u64_at(bytes, entry + 8)?.checked_add(u64_at(bytes, entry + 32)?)?);
    }
    for entry in sections.entries() {
        // A section without bits (SHT_NOBITS: .bss, shared memory) names nothing of the file.
        if u32_at(bytes, entry + 4)? != 8 {
            end = end.max(u64_at(bytes, entry + 24)?.checked_add(u64_at(bytes, entry + 32)?)?);
        }
    }
    Some(end)
}

/// Where a fatbin ends, which says how long its header is and how long the rest.
fn fatbin_end(bytes: &[u8]) -> Option<u64> {
    if u32_at(bytes, 0)? != 0xba55_ed50 {
        return None;
    }
    u64_at(bytes, 8)?.checked_add(u16_at(bytes, 6)?)
}

/// A table of an ELF file.
struct Table {
    at: u64,
    entry: u64,
    count: u64,
}

impl Table {
    fn end(&self) -> Option<u64> {
        self.at.checked_add(self.entry * self.count)
    }

    fn entries(&self) -> impl Iterator<Item = u64> {
        (0..self.count).map(|i| self.at + i * self.entry)
    }
}

fn bytes_at<const N: usize>(bytes: &[u8], at: u64) -> Option<[u8; N]> {
    bytes.get(usize::try_from(at).ok()?..)?.first_chunk().copied()
}

fn u16_at(bytes: &[u8], at: u64) -> Option<u64> {
    bytes_at(bytes, at).map(|two| u16::from_le_bytes(two).into())
}

fn u32_at(bytes: &[u8], at: u64) -> Option<u32> {
    bytes_at(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: u64) -> Option<u64> {
    bytes_at(bytes, at).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One section of 16 bytes behind the header and one without bits, and the table of sections at the end.
    fn elf() -> Vec<u8> {
        let mut file = vec![0; 80 + 2 * 64];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[40..48].copy_from_slice(&80_u64.to_le_bytes());
        file[58..62].copy_from_slice(&[64, 0, 2, 0]);
        file[80 + 4] = 1;
        file[80 + 24..80 + 32].copy_from_slice(&64_u64.to_le_bytes());
        file[80 + 32..80 + 40].copy_from_slice(&16_u64.to_le_bytes());
        file[144 + 4] = 8;
        file[144 + 32..144 + 40].copy_from_slice(&(1_u64 << 40).to_le_bytes());
        file
    }

    #[test]
    fn an_image_that_is_cut_short_is_not_whole() {
        let whole = elf();
        assert!(is_whole(&whole));
        for length in 0..whole.len() {
            assert!(!is_whole(&whole[..length]), "{length} bytes");
        }
        let mut large = elf();
        large[80 + 32..80 + 40].copy_from_slice(&(whole.len() as u64 - 63).to_le_bytes());
        assert!(!is_whole(&large));
        large[80 + 32..80 + 40].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(!is_whole(&large));

        let fatbin = [0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 4, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9];
        assert!(is_whole(&fatbin) && !is_whole(&fatbin[..19]) && !is_whole(b"// PTX"));
    }
}
