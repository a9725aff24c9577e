//! Arithmetic that is exact or correctly rounded: an instruction or two on the device, and `std`'s on the
//! host.

macro_rules! exact {
    ($($(#[$note:meta])* $name:ident($($x:ident),*): $f32:ident $f64:ident $std:ident;)*) => {
        /// In single precision.
        pub mod single {
            $(
                $(#[$note])*
                #[inline(always)]
                pub fn $name($($x: f32),*) -> f32 {
                    #[cfg(target_arch = "nvptx64")]
                    return core::intrinsics::$f32($($x),*);
                    #[cfg(not(target_arch = "nvptx64"))]
                    f32::$std($($x),*)
                }
            )*
        }

        /// In double precision.
        pub mod double {
            $(
                $(#[$note])*
                #[inline(always)]
                pub fn $name($($x: f64),*) -> f64 {
                    #[cfg(target_arch = "nvptx64")]
                    return core::intrinsics::$f64($($x),*);
                    #[cfg(not(target_arch = "nvptx64"))]
                    f64::$std($($x),*)
                }
            )*
        }
    };
}

exact! {
    /// sqrt(x), rounded to nearest.
    sqrt(x): sqrtf32 sqrtf64 sqrt;
    /// a b + c, rounded once.
    fma(a, b, c): fmaf32 fmaf64 mul_add;
    /// The largest integer up to x.
    floor(x): floorf32 floorf64 floor;
    /// The smallest integer from x on.
    ceil(x): ceilf32 ceilf64 ceil;
    /// The integer part.
    trunc(x): truncf32 truncf64 trunc;
    /// The nearest integer; of two, the one away from 0.
    round(x): roundf32 roundf64 round;
    /// The nearest integer; of two, the even one.
    round_ties_even(x): round_ties_even_f32 round_ties_even_f64 round_ties_even;
}
