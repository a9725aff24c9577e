//! Conversions, rounded as the name says.

use crate::math;

#[cfg(not(target_arch = "nvptx64"))]
use super::rounding::{Mode, single};

/// Bits of one kind as another.
macro_rules! bits {
    ($($(#[$note:meta])* $name:ident($x:ident: $from:ty) -> $to:ty: $value:expr, ($at:expr) = $result:expr;)*) => {$(
        $(#[$note])*
        #[doc = example!($name $at; = $result)]
        #[inline(always)]
        pub fn $name($x: $from) -> $to {
            $value
        }
    )*};
}

bits! {
    /// The bits.
    double_as_longlong(x: f64) -> i64: x.to_bits() as i64, (1.0) = 0x3ff0_0000_0000_0000;
    /// The number of these bits.
    longlong_as_double(x: i64) -> f64: f64::from_bits(x as u64), (0x3ff0_0000_0000_0000) = 1.0;
    /// The bits.
    float_as_int(x: f32) -> i32: x.to_bits() as i32, (1.0) = 0x3f80_0000;
    /// The number of these bits.
    int_as_float(x: i32) -> f32: f32::from_bits(x as u32), (0x3f80_0000) = 1.0;
    /// The upper half of the bits.
    double2hiint(d: f64) -> i32: (d.to_bits() >> 32) as i32, (1.0) = 0x3ff0_0000;
    /// The lower half of the bits.
    double2loint(d: f64) -> i32: d.to_bits() as i32, (1.0) = 0;
    /// The same number.
    int2double_rn(i: i32) -> f64: f64::from(i), (-1) = -1.0;
    /// The same number, which has no sign.
    uint2double_rn(i: i32) -> f64: f64::from(i as u32), (-1) = 4_294_967_295.0;
}

/// The number with these halves of its bits, the upper first.
#[doc = example!(hiloint2double 0x3ff0_0000, 0; = 1.0)]
#[inline(always)]
pub fn hiloint2double(x: i32, y: i32) -> f64 {
    f64::from_bits(u64::from(x as u32) << 32 | u64::from(y as u32))
}

#[cfg(feature = "half")]
bits! {
    /// The bits of the nearest f16.
    float2half_rn(f: f32) -> i16: half::f16::from_f32(f).to_bits() as i16, (1.0) = 0x3c00;
    /// The f16 of these bits.
    half2float(h: i16) -> f32: half::f16::from_bits(h as u16).to_f32(), (0x3c00) = 1.0;
}

macro_rules! to_integers {
    ($($t:ident $precision:ident $bits:ident as $integer:ident: $rd:ident $rn:ident $ru:ident $rz:ident;)*) => {$(
        to_integers!(@ $t $precision $bits $integer $rd floor "rounded down" 2);
        to_integers!(@ $t $precision $bits $integer $rn round_ties_even "the nearest" 2);
        to_integers!(@ $t $precision $bits $integer $ru ceil "rounded up" 3);
        to_integers!(@ $t $precision $bits $integer $rz trunc "rounded towards 0" 2);
    )*};
    (@ $t:ident $precision:ident $bits:ident $integer:ident $name:ident $round:ident $how:literal $result:literal) => {
        #[doc = concat!("The number, ", $how, ", as the bits of an `", stringify!($integer), "`; the nearest of")]
        /// these where it has none, and 0 for NaN.
        #[doc = example!($name 2.5; = $result)]
        #[inline(always)]
        pub fn $name(x: $t) -> $bits {
            math::$precision::$round(x) as $integer as $bits
        }
    };
}

to_integers! {
    f64 double i32 as i32: double2int_rd double2int_rn double2int_ru double2int_rz;
    f64 double i32 as u32: double2uint_rd double2uint_rn double2uint_ru double2uint_rz;
    f64 double i64 as i64: double2ll_rd double2ll_rn double2ll_ru double2ll_rz;
    f64 double i64 as u64: double2ull_rd double2ull_rn double2ull_ru double2ull_rz;
    f32 single i32 as i32: float2int_rd float2int_rn float2int_ru float2int_rz;
    f32 single i32 as u32: float2uint_rd float2uint_rn float2uint_ru float2uint_rz;
    f32 single i64 as i64: float2ll_rd float2ll_rn float2ll_ru float2ll_rz;
    f32 single i64 as u64: float2ull_rd float2ull_rn float2ull_ru float2ull_rz;
}

macro_rules! to_floats {
    (
        $($(#[$note:meta])* $from:ident as $exact:ident ($in:ident) to $to:ident ($out:ident, $module:ident)
        $types:literal, $at:literal $below:literal $above:literal: $rd:ident $rn:ident $ru:ident $rz:ident;)*
    ) => {$(
        to_floats!(@ $from $exact $in $to $out $module $rd Down "down" "cvt.rm" $types $at $below);
        to_floats!(@ $from $exact $in $to $out $module $rn Nearest "to nearest" "cvt.rn" $types $at $below);
        to_floats!(@ $from $exact $in $to $out $module $ru Up "up" "cvt.rp" $types $at $above);
        to_floats!(@ $from $exact $in $to $out $module $rz Zero "towards 0" "cvt.rz" $types $at $below);
    )*};
    (
        @ $from:ident $exact:ident $in:ident $to:ident $out:ident $module:ident $name:ident $mode:ident
        $how:literal $instruction:literal $types:literal $at:literal $result:literal
    ) => {
        #[doc = concat!("The number (the bits of an `", stringify!($exact), "`), rounded ", $how, ".")]
        #[doc = example!($name $at; = $result)]
        #[inline(always)]
        pub fn $name(x: $from) -> $to {
            #[cfg(target_arch = "nvptx64")]
            {
                let result: $to;
                // SAFETY: computes a number.
                unsafe {
                    core::arch::asm!(
                        concat!($instruction, $types, " {}, {};"),
                        out($out) result, in($in) x, options(pure, nomem, nostack, preserves_flags)
                    );
                }
                result
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let nearest = x as $exact as $to;
                let error = (x as $exact as i128 - nearest as i128) as $to;
                super::rounding::$module::moved(nearest, error, Mode::$mode)
            }
        }
    };
}

to_floats! {
    i32 as i32 (reg32) to f32 (reg32, single) ".f32.s32", 16_777_217 16_777_216.0 16_777_218.0:
        int2float_rd int2float_rn int2float_ru int2float_rz;
    i32 as u32 (reg32) to f32 (reg32, single) ".f32.u32", 16_777_217 16_777_216.0 16_777_218.0:
        uint2float_rd uint2float_rn uint2float_ru uint2float_rz;
    i64 as i64 (reg64) to f32 (reg32, single) ".f32.s64", 16_777_217 16_777_216.0 16_777_218.0:
        ll2float_rd ll2float_rn ll2float_ru ll2float_rz;
    i64 as u64 (reg64) to f32 (reg32, single) ".f32.u64", 16_777_217 16_777_216.0 16_777_218.0:
        ull2float_rd ull2float_rn ull2float_ru ull2float_rz;
    i64 as i64 (reg64) to f64 (reg64, double) ".f64.s64", 9_007_199_254_740_993 9_007_199_254_740_992.0 9_007_199_254_740_994.0:
        ll2double_rd ll2double_rn ll2double_ru ll2double_rz;
    i64 as u64 (reg64) to f64 (reg64, double) ".f64.u64", 9_007_199_254_740_993 9_007_199_254_740_992.0 9_007_199_254_740_994.0:
        ull2double_rd ull2double_rn ull2double_ru ull2double_rz;
}

macro_rules! to_single {
    ($($name:ident $mode:ident $how:literal $rounding:literal $result:literal;)*) => {$(
        #[doc = concat!("The number in single precision, rounded ", $how, ".")]
        #[doc = example!($name 0.1; = $result)]
        #[inline(always)]
        pub fn $name(d: f64) -> f32 {
            #[cfg(target_arch = "nvptx64")]
            {
                let result: f32;
                // SAFETY: computes a number.
                unsafe {
                    core::arch::asm!(
                        concat!("cvt", $rounding, ".f32.f64 {}, {};"),
                        out(reg32) result, in(reg64) d, options(pure, nomem, nostack, preserves_flags)
                    );
                }
                result
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let nearest = d as f32;
                let error = if d.is_finite() { (d - f64::from(nearest)).signum() } else { 0.0 };
                let exact = f64::from(nearest) == d;
                single::moved(nearest, if exact { 0.0 } else { error as f32 }, Mode::$mode)
            }
        }
    )*};
}

to_single! {
    double2float_rd Down "down" ".rm" 0.099999994;
    double2float_rn Nearest "to nearest" ".rn" 0.1;
    double2float_ru Up "up" ".rp" 0.1;
    double2float_rz Zero "towards 0" ".rz" 0.099999994;
}
