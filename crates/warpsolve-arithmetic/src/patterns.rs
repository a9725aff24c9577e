//! Access patterns and branches of small programs.

/// Multiply-adds of a way that a thread takes in [`long_way`] and [`other_way`].
pub const STEPS: u32 = 64;

/// An index below `n` that looks random: the multiplications of MurmurHash3's end (Appleby 2011), and the
/// upper half of the product with n.
#[inline(always)]
pub fn strange(i: u32, n: u32) -> u32 {
    let mut h = i ^ (i >> 16);
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^= h >> 16;
    ((u64::from(h) * u64::from(n)) >> 32) as u32
}

/// `x = x b + a`, [`STEPS`] times from x = a.
#[inline(always)]
pub fn long_way(a: f32, b: f32) -> f32 {
    let mut x = a;
    for _ in 0..STEPS {
        x = x * b + a;
    }
    x
}

/// `x = (x - b) a`, [`STEPS`] times from x = b: as long as [`long_way`], and nothing in common with it.
#[inline(always)]
pub fn other_way(a: f32, b: f32) -> f32 {
    let mut x = b;
    for _ in 0..STEPS {
        x = (x - b) * a;
    }
    x
}
