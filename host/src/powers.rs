//! Powers of two, by which numbers are multiplied without rounding.

/// The exponent of a number that is not 0: `2^e <= |v| < 2^(e + 1)`, but for rounding.
pub(crate) fn exponent(v: f64) -> i32 {
    v.abs().log2().floor() as i32
}

/// `v 2^e`, which rounds only where it leaves the range of f64.
pub(crate) fn times(v: f64, e: i32) -> f64 {
    // From the least number to the largest, and beyond: no power overflows before the product does.
    let part = f64::from(e / 3).exp2();
    v * part * part * f64::from(e - 2 * (e / 3)).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_range_is_reached_without_rounding() {
        for v in [1.0, 1.75, 3.0, 1e-200, 5e-324, f64::MAX] {
            let e = exponent(v);
            let near_one = times(v, -e);
            assert!((0.5..=2.0).contains(&near_one), "{v:e}: {near_one}");
            assert_eq!(times(near_one, e), v);
        }
        assert_eq!((times(1.5, 2100), times(1.5, -2200)), (f64::INFINITY, 0.0));
    }
}
