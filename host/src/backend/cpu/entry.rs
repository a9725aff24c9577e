//! How entries of a matrix are stored.

use cuda_std::Real;

use super::pages::Number;

/// A stored entry of a matrix in T.
pub(super) trait Entry<T>: Number {
    /// Whether every number is stored as it is.
    const IS_EXACT: bool;

    /// The number nearest to `value`, towards zero, that can be stored.
    fn of(value: T) -> Self;
    /// The number.
    fn value(self) -> T;
}

impl<T: Real> Entry<T> for T {
    const IS_EXACT: bool = true;

    #[inline(always)]
    fn of(value: T) -> T {
        value
    }
    #[inline(always)]
    fn value(self) -> T {
        self
    }
}

/// The upper half of a number in f32, which T should be (bfloat16): sign, exponent, and the 7 bits of the
/// significand that [`gpu_kernels::spmv::compressed`] leaves of it at most.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(super) struct Bf16(u16);

// SAFETY: the bits of an integer.
unsafe impl Number for Bf16 {}

impl<T: Real> Entry<T> for Bf16 {
    const IS_EXACT: bool = false;

    #[inline(always)]
    fn of(value: T) -> Bf16 {
        Bf16(((value.to_f64() as f32).to_bits() >> u16::BITS) as u16)
    }
    #[inline(always)]
    fn value(self) -> T {
        T::from_f64(f32::from_bits(u32::from(self.0) << u16::BITS).into())
    }
}
