//! Random numbers that are a function of their place in the sequence: each thread has a stream of its own
//! without a state in memory, and the host draws the same numbers.
//!
//! ```
//! # use cuda_std::rand::{Philox4x32, Rng};
//! // Each thread draws from a stream of its own.
//! let draw = |thread| Philox4x32::new(2011, thread).next_u32();
//! assert_ne!(draw(0), draw(1));
//! assert_eq!(draw(7), draw(7));
//! ```

use core::convert::Infallible;
use rand_core::{SeedableRng, TryRng, utils};

#[doc(no_inline)]
pub use rand_core::Rng;

/// The factors of a round, and what the halves of the key grow by from round to round: the fractions of the
/// golden ratio and of the square root of 3.
const FACTORS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: u32 = 10;

/// The generator Philox4x32-10: 2^64 seeds, for each 2^64 streams of 2^66 numbers.
///
/// A block of four numbers is a bijection of a counter of 128 bits under a key of 64. The key is the seed;
/// the upper half of the counter is the number of the stream, the lower half that of the block. It passes
/// BigCrush, and is not for cryptography.
///
/// Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, SC 2011, section 4.3.
///
/// ```
/// use cuda_std::rand::{Philox4x32, Rng};
///
/// let mut rng = Philox4x32::new(2011, 7); // in a kernel: the number of the thread in place of the 7
/// let block = Philox4x32::block([0, 0, 7, 0], [2011, 0]);
/// assert_eq!([0; 4].map(|_: u32| rng.next_u32()), block);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Philox4x32 {
    key: [u32; 2],
    stream: u64,
    /// The next block.
    next: u64,
    /// The numbers that are left of the last one come first.
    numbers: [u32; 4],
    left: u32,
}

impl Philox4x32 {
    /// The beginning of stream `stream` of `seed`.
    ///
    /// ```
    /// # use cuda_std::rand::{Philox4x32, Rng};
    /// let mut rng = Philox4x32::new(1, 0);
    /// // From 0 to below 1.
    /// let x = f64::from(rng.next_u32()) * 2.0_f64.powi(-32);
    /// assert!((0.0..1.0).contains(&x));
    /// ```
    #[inline]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self { key: halves(seed), stream, next: 0, numbers: [0; 4], left: 0 }
    }

    /// The four numbers of a counter under a key; both begin with their lowest words.
    ///
    /// ```
    /// # use cuda_std::rand::{Philox4x32, Rng};
    /// let key = [2011, 0];
    /// assert_ne!(Philox4x32::block([0, 0, 0, 0], key), Philox4x32::block([1, 0, 0, 0], key));
    /// ```
    #[inline]
    pub fn block(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
        let (mut x, mut key) = (counter, key);
        for _ in 0..ROUNDS {
            let [low_0, high_0] = halves(product(FACTORS[0], x[0]));
            let [low_1, high_1] = halves(product(FACTORS[1], x[2]));
            x = [high_1 ^ x[1] ^ key[0], low_1, high_0 ^ x[3] ^ key[1], low_0];
            key = [key[0].wrapping_add(STEPS[0]), key[1].wrapping_add(STEPS[1])];
        }
        x
    }

    /// The next block of four; what is left of the one before is skipped. On a device this is faster than
    /// four times one number.
    ///
    /// ```
    /// # use cuda_std::rand::{Philox4x32, Rng};
    /// let (mut one, mut other) = (Philox4x32::new(1, 0), Philox4x32::new(1, 0));
    /// let [a, b, c, d] = one.next_block();
    /// assert_eq!([0; 4].map(|_: u32| other.next_u32()), [a, b, c, d]);
    /// ```
    #[inline]
    pub fn next_block(&mut self) -> [u32; 4] {
        let ([low, high], [stream_low, stream_high]) = (halves(self.next), halves(self.stream));
        self.next = self.next.wrapping_add(1);
        self.left = 0;
        Self::block([low, high, stream_low, stream_high], self.key)
    }

    /// Goes to block `block` of the stream, in no time.
    ///
    /// ```
    /// # use cuda_std::rand::{Philox4x32, Rng};
    /// let mut rng = Philox4x32::new(1, 0);
    /// let first = rng.next_u32();
    /// rng.set_block(1_000_000_000_000);
    /// rng.next_u32();
    /// rng.set_block(0);
    /// assert_eq!(rng.next_u32(), first);
    /// ```
    #[inline]
    pub fn set_block(&mut self, block: u64) {
        (self.next, self.left) = (block, 0);
    }

    #[inline]
    fn next(&mut self) -> u32 {
        if self.left == 0 {
            self.numbers = self.next_block();
            self.left = 4;
        }
        self.left -= 1;
        // Turned rather than indexed, for a device keeps arrays with such indices in memory.
        let [first, second, third, fourth] = self.numbers;
        self.numbers = [second, third, fourth, first];
        first
    }
}

/// The lower half and the upper one.
#[inline]
fn halves(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

/// All bits of the product. Left to itself, LLVM takes two multiplications for the halves.
#[inline(always)]
fn product(x: u32, y: u32) -> u64 {
    #[cfg(target_arch = "nvptx64")]
    {
        let product: u64;
        // SAFETY: computes a number.
        unsafe {
            core::arch::asm!(
                "mul.wide.u32 {}, {}, {};",
                out(reg64) product, in(reg32) x, in(reg32) y, options(pure, nomem, nostack, preserves_flags)
            );
        }
        product
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        u64::from(x) * u64::from(y)
    }
}

impl TryRng for Philox4x32 {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next())
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        utils::next_u64_via_u32(self)
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        utils::fill_bytes_via_next_word(bytes, || Ok(self.next()))
    }
}

/// Stream 0 of the seed, which is a number of 64 bits, lowest byte first.
impl SeedableRng for Philox4x32 {
    type Seed = [u8; 8];

    fn from_seed(seed: [u8; 8]) -> Self {
        Self::new(u64::from_le_bytes(seed), 0)
    }

    fn seed_from_u64(seed: u64) -> Self {
        Self::new(seed, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines `philox4x32 10` of Random123's file `kat_vectors`.
    #[test]
    fn blocks_are_the_published_ones() {
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        for (counter, key, expected) in [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (pi, [0xa409_3822, 0x299f_31d0], [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]),
        ] {
            assert_eq!(Philox4x32::block(counter, key), expected);
        }
    }

    #[test]
    fn a_stream_is_its_blocks_one_after_the_other() {
        let (seed, stream) = (0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210);
        let mut rng = Philox4x32::new(seed, stream);
        let block = |k: u32| Philox4x32::block([k, 0, 0x7654_3210, 0xfedc_ba98], [0x89ab_cdef, 0x0123_4567]);
        let expected: Vec<u32> = (0..3).flat_map(block).collect();
        let found: Vec<u32> = (0..12).map(|_| rng.next_u32()).collect();
        assert_eq!(found, expected);
        rng.set_block(1);
        assert_eq!(rng.next_u32(), expected[4]);
        assert_eq!(rng.next_block(), expected[8..]);
        // Beyond 2^32 blocks the second word counts.
        rng.set_block(u64::from(u32::MAX));
        rng.next_block();
        let next = Philox4x32::block([0, 1, 0x7654_3210, 0xfedc_ba98], [0x89ab_cdef, 0x0123_4567]);
        assert_eq!(rng.next_u32(), next[0]);
    }

    #[test]
    fn wider_numbers_and_bytes_are_made_of_words() {
        let new = || Philox4x32::seed_from_u64(5);
        let [a, b, c, _] = new().next_block();
        assert_eq!(new().next_u64(), u64::from(b) << 32 | u64::from(a));
        let mut bytes = [0; 10];
        Philox4x32::from_seed([5, 0, 0, 0, 0, 0, 0, 0]).fill_bytes(&mut bytes);
        assert_eq!(bytes[..8], new().next_u64().to_le_bytes());
        assert_eq!(bytes[8..], c.to_le_bytes()[..2]);
    }

    /// The mean of numbers in [0, 1) is 1/2, with a deviation of 1 / sqrt(12 n); streams do not go together.
    #[test]
    fn streams_are_uniform_and_independent() {
        let (n, mut sum, mut product) = (20_000, 0.0, 0.0);
        let (mut a, mut b) = (Philox4x32::new(1, 0), Philox4x32::new(1, 1));
        for _ in 0..n {
            let [x, y] = [&mut a, &mut b].map(|rng| f64::from(rng.next_u32()) / 2.0_f64.powi(32) - 0.5);
            sum += x;
            product += x * y;
        }
        let deviation = (f64::from(n) / 12.0).sqrt();
        assert!(sum.abs() < 4.0 * deviation && product.abs() < 4.0 * deviation / 12.0_f64.sqrt());
    }
}
