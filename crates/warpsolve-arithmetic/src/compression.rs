//! A column and a rounded value in 32 bits; the kernel that multiplies such matrices says why.

/// How an entry's 32 bits are divided: the distance of the column from the pivot's, signed, in the lower
/// ones, and the upper ones of the value in f32 in the others.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    distance_bits: u32,
}

impl Compression {
    /// Sign, exponent and 7 bits of the significand: more would not save iterations.
    const LEAST: u32 = 16;
    /// With fewer than 3 bits of the significand iterations are lost.
    const MOST: u32 = 20;

    /// For columns that are at most `reach` from their row's pivot; none where those are too far.
    pub fn reaching(reach: u32) -> Option<Self> {
        let distance_bits = (u32::BITS - reach.leading_zeros() + 1).max(Self::LEAST);
        (distance_bits <= Self::MOST).then_some(Compression { distance_bits })
    }

    /// The nearest value that can be compressed, of two equally near ones that of larger magnitude; the
    /// smaller one where the larger would be infinite.
    #[inline(always)]
    pub fn round(self, value: f32) -> f32 {
        let (bits, last) = (value.to_bits(), 1 << self.distance_bits);
        let mask = !(last - 1);
        let nearest = f32::from_bits(bits.wrapping_add(last / 2) & mask);
        if nearest.is_finite() { nearest } else { f32::from_bits(bits & mask) }
    }

    /// A rounded value so far from the pivot.
    #[inline(always)]
    pub fn compress(self, distance: i32, rounded: f32) -> u32 {
        rounded.to_bits() | distance as u32 & ((1 << self.distance_bits) - 1)
    }

    /// Distance and value.
    #[inline(always)]
    pub fn decompress(self, entry: u32) -> (i32, f32) {
        let above = u32::BITS - self.distance_bits;
        ((entry << above) as i32 >> above, f32::from_bits(entry >> self.distance_bits << self.distance_bits))
    }
}

/// The larger of the distances of the first and the last column of a row from its pivot's, columns ascending.
#[inline(always)]
pub fn reach_of_row(pivot: u32, first: u32, last: u32) -> u32 {
    pivot.saturating_sub(first).max(last.saturating_sub(pivot))
}
