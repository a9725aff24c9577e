//! Loops that must vanish: arrays that live in registers can only be indexed by constants.

/// Calls `f(0), f(1), ..., f(W - 1)`, on a device in straight-line code, `W <= 32`.
///
/// The compiler unrolls a loop only where it expects a gain; an array indexed in a loop that stays one
/// goes to local memory, which is device memory.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub fn unroll<const W: usize>(mut f: impl FnMut(usize)) {
    const { assert!(W <= 32) };
    macro_rules! calls {
        ($($i:literal)*) => { $(if $i < W { f($i) })* };
    }
    calls!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
}

/// The same as a loop: on the host 32 calls in place of one would take the compiler minutes.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
pub fn unroll<const W: usize>(f: impl FnMut(usize)) {
    const { assert!(W <= 32) };
    (0..W).for_each(f);
}
