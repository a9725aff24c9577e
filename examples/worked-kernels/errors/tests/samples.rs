//! Errors of samples, beside the largest that a GPU found: what comes from `libm` has the same bits on both.

use cuda_std::atomic::AtomicU64;
use cuda_std::sim::launch;
use errors::{BLOCK, MEASURED, Measured, error};

/// Some of the numbers of every exponent, of both signs.
fn samples() -> impl Iterator<Item = f32> {
    (0..1 << 18).map(|k: u32| f32::from_bits(k.wrapping_mul(0x9E37_79B1) ^ k))
}

fn error_at(measured: &Measured, x: f32) -> f32 {
    error((measured.found)(x), (measured.truth)(f64::from(x)), measured.absolute)
}

fn largest(measured: &Measured) -> f32 {
    samples().filter(|x| x.abs() <= measured.up_to).map(|x| error_at(measured, x)).fold(0.0, f32::max)
}

#[test]
fn no_sample_is_farther_off_than_the_largest_error() {
    for measured in MEASURED {
        let found = largest(measured);
        assert!(found <= measured.largest + 5e-4, "{}: {found} of {}", measured.function, measured.largest);
        // Neither are they all exact.
        assert!(found > 0.2, "{}: {found}", measured.function);
    }
}

#[test]
fn distances_are_in_units_in_the_last_place() {
    let next = f32::from_bits(1.0_f32.to_bits() + 1);
    assert_eq!(error(next, 1.0, false), 1.0);
    assert_eq!(error(1.0, f64::from(next), true), 1.0);
    assert_eq!(error(3.0, 2.0, false), 4_194_304.0);
    // The smallest number's place is that of all below the normal ones.
    assert_eq!(error(f32::from_bits(3), 0.0, false), 3.0);
    assert_eq!(error(f32::INFINITY, 1e300, false), 0.0);
    assert_eq!(error(f32::MAX, 1e300, false), 0.0);
    assert_eq!((error(f32::NAN, f64::NAN, false), error(f32::NAN, 1.0, false)), (0.0, f32::INFINITY));
    assert_eq!(error(1.0, f64::NAN, false), f32::INFINITY);
}

#[test]
fn kernels_find_the_largest_with_its_place() {
    let worst = [AtomicU64::new(0)];
    // Some numbers from 1 on.
    let (first, count) = (1.0_f32.to_bits(), 1000);
    // SAFETY: there is room for the result.
    unsafe { launch!(errors::cbrt<<<3, (BLOCK)>>>(first, count, 2.0, 0, worst.as_ptr())) }.unwrap();
    let measured = MEASURED.iter().find(|measured| measured.kernel == "cbrt").unwrap();
    let all = (first..first + count).map(f32::from_bits);
    let expected = all.map(|x| error_at(measured, x)).fold(0.0, f32::max);
    let [worst] = worst.map(|worst| worst.into_inner());
    assert_eq!(f32::from_bits((worst >> 32) as u32), expected);
    assert_eq!(error_at(measured, f32::from_bits(worst as u32)), expected);
}
