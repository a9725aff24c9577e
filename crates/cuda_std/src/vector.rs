//! Indices of two and three dimensions.

/// Without the feature `glam`: the fields of `glam`'s types, and what indices need of their functions. With
/// it they are these types.
#[cfg(not(feature = "glam"))]
macro_rules! vectors {
    ($($(#[$note:meta])* $name:ident, $length:literal: $($x:ident $value:literal)*;)*) => {$(
        $(#[$note])*
        #[doc = concat!(
            "\n```\nlet place = cuda_std::", stringify!($name), " { ", $(stringify!($x), ": ", $value, ", ",)* "};\n",
            "assert_eq!(place.x, 1);\n```"
        )]
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
        #[repr(C)]
        pub struct $name {
            $(#[doc = concat!("Along ", stringify!($x), ".")] pub $x: u32,)*
        }

        impl $name {
            /// From its parts.
            #[doc = concat!(
                "\n```\nlet place = cuda_std::", stringify!($name), "::new(", $($value, ", ",)* ");\n",
                "assert_eq!(place.y, 2);\n```"
            )]
            #[inline(always)]
            pub const fn new($($x: u32),*) -> Self {
                Self { $($x),* }
            }

            /// Its parts.
            #[doc = concat!(
                "\n```\nlet place = cuda_std::", stringify!($name), "::new(", $($value, ", ",)* ");\n",
                "assert_eq!(place.to_array(), [", $($value, ", ",)* "]);\n```"
            )]
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
    UVec2, 2: x 1 y 2;
    /// An index or a size in three dimensions; with the feature `glam` it is `glam::UVec3`.
    UVec3, 3: x 1 y 2 z 3;
}

#[cfg(feature = "glam")]
pub use glam::{UVec2, UVec3};
