//! Random numbers whose sequence is part of the definition of the problems: it never changes.
//!
//! SplitMix64: G. L. Steele, D. Lea, C. H. Flood: Fast splittable pseudorandom number generators, OOPSLA
//! 2014. Each number is a mixing function of a counter, so any number of the sequence can be computed by
//! itself, and threads agree.

/// The counter's stride: 2^64 over the golden ratio.
const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Number `index` of the sequence of `seed`.
#[inline]
pub fn number(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(STRIDE));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Number `index` of the sequence of `seed`, uniform in [0, 1) in steps of 2^-53.
#[inline]
pub fn uniform(seed: u64, index: u64) -> f64 {
    const STEP: f64 = 1.0 / (1u64 << 53) as f64;
    (number(seed, index) >> 11) as f64 * STEP
}

/// Number `index` of the sequence of `seed`, uniform in 0..n (to 1 part in 2^64 / n).
#[inline]
pub fn below(seed: u64, index: u64, n: u64) -> u64 {
    ((u128::from(number(seed, index)) * u128::from(n)) >> 64) as u64
}

/// A random permutation of 0..n (Fisher and Yates).
pub fn permutation(n: u32, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n).collect();
    for i in (1..n as usize).rev() {
        order.swap(i, below(seed, i as u64, i as u64 + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_is_splitmix64() {
        // The published generator's first numbers from the state 1234567.
        let published: [u64; 5] = [
            6457827717110365317,
            3203168211198807973,
            9817491932198370423,
            4593380528125082431,
            16408922859458223821,
        ];
        for (index, expected) in published.into_iter().enumerate() {
            assert_eq!(number(1234567, index as u64), expected);
        }
    }

    #[test]
    fn uniform_fills_the_unit_interval() {
        let sample: Vec<f64> = (0..10_000).map(|i| uniform(7, i)).collect();
        assert!(sample.iter().all(|&u| (0.0..1.0).contains(&u)));
        let mean = sample.iter().sum::<f64>() / 1e4;
        // The mean of 10,000 has a standard deviation of 0.0029.
        assert!((mean - 0.5).abs() < 0.015, "{mean}");
        assert!(sample.iter().any(|&u| u < 0.01) && sample.iter().any(|&u| u > 0.99));
    }

    #[test]
    fn permutation_names_everything_once_and_moves_it() {
        for n in [0, 1, 2, 1001] {
            let order = permutation(n, 3);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..n));
        }
        let fixed = permutation(1001, 3).iter().enumerate().filter(|&(i, &o)| i == o as usize).count();
        // The mean is 1.
        assert!(fixed < 12, "{fixed} of 1001 stayed");
        assert_ne!(permutation(1001, 3), permutation(1001, 4));
    }
}
