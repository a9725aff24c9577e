//! A column and the number of a value in 32 bits, for matrices that have few different values.

/// Different values at most: a table of them in f64 stays in the caches nearest to a GPU's threads.
pub const MOST_VALUES: usize = 1024;

/// How an entry's 32 bits are divided: the distance of its column from its row, signed, in the lower ones,
/// and the number of its value in the others.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coding {
    distance_bits: u32,
}

impl Coding {
    /// For so many different values in columns that are at most `reach` from their row; none where both do
    /// not fit.
    pub fn of(reach: u32, values: usize) -> Option<Self> {
        let distance_bits = u32::BITS - reach.leading_zeros() + 1;
        let fits =
            values <= MOST_VALUES && distance_bits < u32::BITS && values <= 1 << (u32::BITS - distance_bits);
        fits.then_some(Coding { distance_bits })
    }

    /// A column so far from the row, and value number `k`.
    #[inline(always)]
    pub fn encode(self, distance: i32, k: u32) -> u32 {
        k << self.distance_bits | distance as u32 & ((1 << self.distance_bits) - 1)
    }

    /// The column's distance from the row, and the number of the value.
    #[inline(always)]
    pub fn decode(self, entry: u32) -> (i32, u32) {
        let above = u32::BITS - self.distance_bits;
        ((entry << above) as i32 >> above, entry >> self.distance_bits)
    }
}

/// The number of the value with these bits among those of a table, ascending by their bits; that of a
/// neighbour where it is not there.
#[inline(always)]
pub fn number_of(bits: u64, values: u32, at: impl Fn(u32) -> u64) -> u32 {
    let (mut first, mut count) = (0, values);
    while count > 1 {
        let half = count / 2;
        if at(first + half) <= bits {
            first += half;
        }
        count -= half;
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        for (reach, values) in [(0, 1), (1, 1024), (77, 3), (65_536, 1024), (2_097_151, 1024), (1 << 29, 2)] {
            let coding = Coding::of(reach, values).unwrap();
            for distance in [0, 1.min(reach as i32), reach as i32, -(reach as i32)] {
                for k in [0, values as u32 / 2, values as u32 - 1] {
                    assert_eq!(coding.decode(coding.encode(distance, k)), (distance, k), "{reach} {values}");
                }
            }
        }
        for (reach, values) in [(1, 1025), (2_097_152, 1024), (1 << 30, 2), (u32::MAX, 1)] {
            assert_eq!(Coding::of(reach, values), None, "{reach} {values}");
        }
    }

    #[test]
    fn values_are_found_in_their_table() {
        for values in [1, 2, 3, 7, 8, 1024] {
            let table: Vec<u64> = (0..values).map(|k| 3 * k + 1).collect();
            for (k, &bits) in table.iter().enumerate() {
                assert_eq!(number_of(bits, values as u32, |k| table[k as usize]), k as u32);
            }
        }
    }
}
