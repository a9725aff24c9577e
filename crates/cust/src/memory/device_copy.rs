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
/// With the features `impl_half`, `impl_glam`, `impl_vek`, `impl_mint` and `impl_num_complex`, types of these
/// crates implement it.
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

#[cfg(feature = "impl_half")]
device_copy! { half::f16 half::bf16 }

#[cfg(feature = "impl_num_complex")]
device_copy_of_parts! { [T] num_complex::Complex<T>; }

#[cfg(feature = "impl_glam")]
device_copy! {
    glam::Vec2 glam::Vec3 glam::Vec3A glam::Vec4 glam::DVec2 glam::DVec3 glam::DVec4
    glam::IVec2 glam::IVec3 glam::IVec4 glam::UVec2 glam::UVec3 glam::UVec4
    glam::Mat2 glam::Mat3 glam::Mat3A glam::Mat4 glam::DMat2 glam::DMat3 glam::DMat4
    glam::Quat glam::DQuat glam::Affine2 glam::Affine3A glam::DAffine2 glam::DAffine3
}

#[cfg(feature = "impl_mint")]
device_copy_of_parts! {
    [T] mint::Point2<T>;
    [T] mint::Point3<T>;
    [T] mint::Vector2<T>;
    [T] mint::Vector3<T>;
    [T] mint::Vector4<T>;
    [T] mint::Quaternion<T>;
    [T] mint::RowMatrix2<T>;
    [T] mint::RowMatrix3<T>;
    [T] mint::RowMatrix3x4<T>;
    [T] mint::RowMatrix4<T>;
    [T] mint::ColumnMatrix2<T>;
    [T] mint::ColumnMatrix3<T>;
    [T] mint::ColumnMatrix3x4<T>;
    [T] mint::ColumnMatrix4<T>;
}

#[cfg(feature = "impl_vek")]
device_copy_of_parts! {
    [T] vek::Vec2<T>;
    [T] vek::Vec3<T>;
    [T] vek::Vec4<T>;
    [T] vek::Extent2<T>;
    [T] vek::Extent3<T>;
    [T] vek::Mat2<T>;
    [T] vek::Mat3<T>;
    [T] vek::Mat4<T>;
    [T] vek::mat::row_major::Mat2<T>;
    [T] vek::mat::row_major::Mat3<T>;
    [T] vek::mat::row_major::Mat4<T>;
    [T] vek::Quaternion<T>;
}

#[cfg(test)]
mod tests {
    use super::DeviceCopy;

    /// The size that the device sees.
    #[allow(dead_code, reason = "for features")]
    fn size<T: DeviceCopy>() -> usize {
        size_of::<T>()
    }

    #[test]
    fn types_of_other_crates_may_be_copied() {
        #[cfg(feature = "impl_half")]
        assert_eq!(size::<half::bf16>(), 2);
        #[cfg(feature = "impl_num_complex")]
        assert_eq!(size::<num_complex::Complex<f64>>(), 16);
        #[cfg(feature = "impl_glam")]
        assert_eq!(size::<glam::Vec3>(), 12);
        #[cfg(feature = "impl_mint")]
        assert_eq!(size::<mint::Vector3<f32>>(), 12);
        #[cfg(feature = "impl_vek")]
        assert_eq!(size::<vek::Vec3<f32>>(), 12);
    }
}
