//! Scalars that live on the device: coefficients of vector updates.

use cuda_std::{Real, memory::*};

/// The coefficient `scale * (num[0] / den[0]) * (num[1] / den[1])` of a vector update.
///
/// The four pointers name scalars that earlier kernels left in device memory, so that Krylov methods
/// never wait for the host; a null pointer stands for 1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Coefficient<T> {
    /// The constant factor.
    pub scale: T,
    /// Numerators; null for 1.
    pub num: [*const T; 2],
    /// Denominators; null for 1.
    pub den: [*const T; 2],
}

impl<T: Real> Coefficient<T> {
    /// The value now.
    ///
    /// # Safety
    /// Every pointer is null or valid for one element.
    #[inline(always)]
    pub unsafe fn value(&self) -> T {
        let mut value = self.scale;
        for k in 0..2 {
            // SAFETY: the caller's promise; null is handled.
            unsafe {
                if !self.num[k].is_null() {
                    value *= self.num[k].ld(0);
                }
                if !self.den[k].is_null() {
                    value /= self.den[k].ld(0);
                }
            }
        }
        value
    }
}
