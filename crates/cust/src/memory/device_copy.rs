//! Types whose bits may go to the device.

use std::marker::PhantomData;
use std::num::*;

/// A type that may be copied to the device and back, bit by bit.
///
/// The derive implements it for a struct, enum or union whose fields all do. It should have a layout that the
/// kernel knows too: `#[repr(C)]`.
///
/// ```
/// use cust::DeviceCopy;
///
/// #[derive(Clone, Copy, DeviceCopy)]
/// #[repr(C)]
/// struct Particle<T> {
///     position: [T; 3],
///     charge: f32,
/// }
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, cust::DeviceCopy)]
/// struct OnTheHost(&'static [f32]);
/// ```
///
/// # Safety
/// The type has no reference to memory of the host.
pub unsafe trait DeviceCopy: Copy {}

macro_rules! device_copy {
    ($($kind:ty)*) => {
        $(
            // SAFETY: numbers.
            unsafe impl DeviceCopy for $kind {}
        )*
    };
}

device_copy! {
    u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char
    NonZeroU8 NonZeroU16 NonZeroU32 NonZeroU64 NonZeroU128 NonZeroUsize
    NonZeroI8 NonZeroI16 NonZeroI32 NonZeroI64 NonZeroI128 NonZeroIsize
}

macro_rules! device_copy_of_parts {
    ($([$($part:ident)*] $kind:ty;)*) => {
        $(
            // SAFETY: all that is in it may be copied.
            unsafe impl<$($part: DeviceCopy),*> DeviceCopy for $kind {}
        )*
    };
}

device_copy_of_parts! {
    [T] Option<T>;
    [T] Wrapping<T>;
    [A B] Result<A, B>;
    [A B] (A, B);
    [A B C] (A, B, C);
    [A B C D] (A, B, C, D);
    [A B C D E] (A, B, C, D, E);
    [A B C D E F] (A, B, C, D, E, F);
    [A B C D E F G] (A, B, C, D, E, F, G);
    [A B C D E F G H] (A, B, C, D, E, F, G, H);
}

// SAFETY: all elements may be copied.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {}
// SAFETY: there is nothing in it.
unsafe impl DeviceCopy for () {}
// SAFETY: there is nothing in it.
unsafe impl<T: ?Sized> DeviceCopy for PhantomData<T> {}
