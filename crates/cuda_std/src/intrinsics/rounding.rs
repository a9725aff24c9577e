//! Arithmetic that is rounded down (`rd`), to nearest (`rn`), up (`ru`) or towards 0 (`rz`).

/// Where to round to.
#[cfg(not(target_arch = "nvptx64"))]
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mode {
    Down,
    Nearest,
    Up,
    Zero,
}

/// The host's results: the nearest number, moved by one if the error, whose sign is exact, asks for it.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! on_the_host {
    ($module:ident $t:ident) => {
        pub(super) mod $module {
            use super::Mode;

            /// The number next to `nearest` that `mode` asks for, if the exact one is `error` more.
            pub fn moved(nearest: $t, error: $t, mode: Mode) -> $t {
                if nearest.is_infinite() && error == 0.0 {
                    return nearest;
                }
                // Where the exact number is finite, and too large.
                let (above, below) = match nearest {
                    $t::INFINITY => (false, true),
                    $t::NEG_INFINITY => (true, false),
                    _ => (error > 0.0, error < 0.0),
                };
                let down = mode == Mode::Down || mode == Mode::Zero && nearest > 0.0;
                let up = mode == Mode::Up || mode == Mode::Zero && nearest < 0.0;
                match nearest {
                    _ if above && up => nearest.next_up(),
                    _ if below && down => nearest.next_down(),
                    _ => nearest,
                }
            }

            /// The error of a sum (Knuth), 0 where it is infinite for good.
            fn error_of_sum(x: $t, y: $t, sum: $t) -> $t {
                if !(x.is_finite() && y.is_finite()) {
                    return 0.0;
                }
                let part = sum - x;
                (x - (sum - part)) + (y - part)
            }

            pub fn add([x, y]: [$t; 2], mode: Mode) -> $t {
                let sum = x + y;
                // A sum that vanishes is -0 when rounded down.
                if sum == 0.0
                    && mode == Mode::Down
                    && (x != 0.0 || x.is_sign_negative() != y.is_sign_negative())
                {
                    return -0.0;
                }
                moved(sum, error_of_sum(x, y, sum), mode)
            }

            pub fn sub([x, y]: [$t; 2], mode: Mode) -> $t {
                add([x, -y], mode)
            }

            pub fn mul([x, y]: [$t; 2], mode: Mode) -> $t {
                let product = x * y;
                let finite = x.is_finite() && y.is_finite();
                moved(product, if finite { x.mul_add(y, -product) } else { 0.0 }, mode)
            }

            pub fn div([x, y]: [$t; 2], mode: Mode) -> $t {
                let quotient = x / y;
                if !(x.is_finite() && y.is_finite()) || y == 0.0 {
                    return quotient;
                }
                moved(quotient, (-quotient).mul_add(y, x) * y.signum(), mode)
            }

            pub fn rcp([x]: [$t; 1], mode: Mode) -> $t {
                div([1.0, x], mode)
            }

            pub fn sqrt([x]: [$t; 1], mode: Mode) -> $t {
                let root = x.sqrt();
                if x.is_finite() { moved(root, (-root).mul_add(root, x), mode) } else { root }
            }

            pub fn fma([x, y, z]: [$t; 3], mode: Mode) -> $t {
                let result = x.mul_add(y, z);
                if !(x.is_finite() && y.is_finite() && z.is_finite()) {
                    return result;
                }
                let product = x * y;
                let low = x.mul_add(y, -product);
                let sum = product + z;
                let rest = error_of_sum(product, z, sum);
                // Exactly sum + rest + low, of which the first less the result is exact.
                moved(result, (sum - result) + (rest + low), mode)
            }
        }
    };
}

#[cfg(not(target_arch = "nvptx64"))]
on_the_host!(double f64);
#[cfg(not(target_arch = "nvptx64"))]
on_the_host!(single f32);

macro_rules! rounded {
    ($t:ident $class:ident $module:ident: $(
        $(#[$note:meta])* $operation:ident($($x:ident),*) $instruction:literal: $rd:ident $rn:ident $ru:ident $rz:ident;
    )*) => {$(
        rounded!(@ $t $class $module $operation ($($x),*) [$(#[$note])*] $rd "down" Down $instruction ".rm");
        rounded!(@ $t $class $module $operation ($($x),*) [$(#[$note])*] $rn "to nearest" Nearest $instruction ".rn");
        rounded!(@ $t $class $module $operation ($($x),*) [$(#[$note])*] $ru "up" Up $instruction ".rp");
        rounded!(@ $t $class $module $operation ($($x),*) [$(#[$note])*] $rz "towards 0" Zero $instruction ".rz");
    )*};
    (
        @ $t:ident $class:ident $module:ident $operation:ident ($($x:ident),*) [$(#[$note:meta])*]
        $name:ident $how:literal $mode:ident $instruction:literal $rounding:literal
    ) => {
        $(#[$note])*
        #[doc = concat!("Rounded ", $how, ".")]
        #[inline(always)]
        pub fn $name($($x: $t),*) -> $t {
            #[cfg(target_arch = "nvptx64")]
            {
                let result: $t;
                // SAFETY: computes a number.
                unsafe {
                    core::arch::asm!(
                        concat!($instruction, $rounding, ".", stringify!($t), " {}" $(, ", {", stringify!($x), "}")*, ";"),
                        out($class) result, $($x = in($class) $x,)*
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                result
            }
            #[cfg(not(target_arch = "nvptx64"))]
            $module::$operation([$($x),*], Mode::$mode)
        }
    };
}

rounded! { f64 reg64 double:
    /// x + y.
    add(x, y) "add": dadd_rd dadd_rn dadd_ru dadd_rz;
    /// x - y.
    sub(x, y) "sub": dsub_rd dsub_rn dsub_ru dsub_rz;
    /// x y.
    mul(x, y) "mul": dmul_rd dmul_rn dmul_ru dmul_rz;
    /// x / y.
    div(x, y) "div": ddiv_rd ddiv_rn ddiv_ru ddiv_rz;
    /// 1 / x.
    rcp(x) "rcp": drcp_rd drcp_rn drcp_ru drcp_rz;
    /// sqrt(x).
    sqrt(x) "sqrt": dsqrt_rd dsqrt_rn dsqrt_ru dsqrt_rz;
    /// x y + z.
    fma(x, y, z) "fma": fma_rd fma_rn fma_ru fma_rz;
}

rounded! { f32 reg32 single:
    /// x + y.
    add(x, y) "add": fadd_rd fadd_rn fadd_ru fadd_rz;
    /// x - y.
    sub(x, y) "sub": fsub_rd fsub_rn fsub_ru fsub_rz;
    /// x y.
    mul(x, y) "mul": fmul_rd fmul_rn fmul_ru fmul_rz;
    /// x / y.
    div(x, y) "div": fdiv_rd fdiv_rn fdiv_ru fdiv_rz;
    /// 1 / x.
    rcp(x) "rcp": frcp_rd frcp_rn frcp_ru frcp_rz;
    /// sqrt(x).
    sqrt(x) "sqrt": fsqrt_rd fsqrt_rn fsqrt_ru fsqrt_rz;
    /// x y + z.
    fma(x, y, z) "fma": fmaf_rd fmaf_rn fmaf_ru fmaf_rz;
}

/// 1 / sqrt(x), rounded to nearest but for a few numbers in a billion.
#[inline]
pub fn frsqrt_rn(x: f32) -> f32 {
    (1.0 / crate::math::double::sqrt(x.into())) as f32
}
