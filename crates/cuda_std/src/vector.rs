//! Indices of two and three dimensions.

/// Without the feature `glam`: the fields of `glam`'s types, and what indices need of their functions. With
/// it they are these types.
#[cfg(not(feature = "glam"))]
macro_rules! vectors {
    ($($(#[$note:meta])* $name:ident, $length:literal: $($x:ident)*;)*) => {$(
        $(#[$note])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
        #[repr(C)]
        pub struct $name {
            $(#[doc = concat!("Along ", stringify!($x), ".")] pub $x: u32,)*
        }

        impl $name {
            /// From its parts.
            #[inline(always)]
            pub const fn new($($x: u32),*) -> Self {
                Self { $($x),* }
            }

            /// Its parts.
            #[inline(always)]
            pub const fn to_array(&self) -> [u32; $length] {
                [$(self.$x),*]
            }
        }
    )*};
}

#[cfg(not(feature = "glam"))]
vectors! {
    /// An index or a size in two dimensions; with the feature `glam` it is `glam::UVec2`.
    UVec2, 2: x y;
    /// An index or a size in three dimensions; with the feature `glam` it is `glam::UVec3`.
    UVec3, 3: x y z;
}

#[cfg(feature = "glam")]
pub use glam::{UVec2, UVec3};
