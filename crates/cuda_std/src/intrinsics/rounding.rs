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
        $(#[$note:meta])* $operation:ident($($x:ident),*) $instruction:literal $at:tt:
        $rd:ident $below:literal, $rn:ident $near:literal, $ru:ident $above:literal, $rz:ident $cut:literal;
    )*) => {$(
        rounded!(@ $t $class $module $operation ($($x),*) [$(#[$note])*] $rd $at $below "down" Down $instruction ".rm");
        rounded!(@ $t $class $module $operation ($($x),*) [$(#[$note])*] $rn $at $near "to nearest" Nearest $instruction ".rn");
        rounded!(@ $t $class $module $operation ($($x),*) [$(#[$note])*] $ru $at $above "up" Up $instruction ".rp");
        rounded!(@ $t $class $module $operation ($($x),*) [$(#[$note])*] $rz $at $cut "towards 0" Zero $instruction ".rz");
    )*};
    (
        @ $t:ident $class:ident $module:ident $operation:ident ($($x:ident),*) [$(#[$note:meta])*]
        $name:ident ($($at:literal),*) $result:literal $how:literal $mode:ident $instruction:literal
        $rounding:literal
    ) => {
        $(#[$note])*
        #[doc = concat!("Rounded ", $how, ".")]
        #[doc = example!($name $($at),*; = $result)]
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
    add(x, y) "add" (1.0, 1e-20):
        dadd_rd 1.0, dadd_rn 1.0, dadd_ru 1.0000000000000002, dadd_rz 1.0;
    /// x - y.
    sub(x, y) "sub" (1.0, 1e-20):
        dsub_rd 0.9999999999999999, dsub_rn 1.0, dsub_ru 1.0, dsub_rz 0.9999999999999999;
    /// x y.
    mul(x, y) "mul" (0.1, 3.0):
        dmul_rd 0.3, dmul_rn 0.30000000000000004, dmul_ru 0.30000000000000004, dmul_rz 0.3;
    /// x / y.
    div(x, y) "div" (1.0, 3.0):
        ddiv_rd 0.3333333333333333, ddiv_rn 0.3333333333333333, ddiv_ru 0.33333333333333337, ddiv_rz 0.3333333333333333;
    /// 1 / x.
    rcp(x) "rcp" (3.0):
        drcp_rd 0.3333333333333333, drcp_rn 0.3333333333333333, drcp_ru 0.33333333333333337, drcp_rz 0.3333333333333333;
    /// sqrt(x).
    sqrt(x) "sqrt" (2.0):
        dsqrt_rd 1.414213562373095, dsqrt_rn 1.4142135623730951, dsqrt_ru 1.4142135623730951, dsqrt_rz 1.414213562373095;
    /// x y + z.
    fma(x, y, z) "fma" (0.1, 3.0, 0.1):
        fma_rd 0.4, fma_rn 0.4, fma_ru 0.4, fma_rz 0.4;
}

rounded! { f32 reg32 single:
    /// x + y.
    add(x, y) "add" (1.0, 1e-20):
        fadd_rd 1.0, fadd_rn 1.0, fadd_ru 1.0000001, fadd_rz 1.0;
    /// x - y.
    sub(x, y) "sub" (1.0, 1e-20):
        fsub_rd 0.99999994, fsub_rn 1.0, fsub_ru 1.0, fsub_rz 0.99999994;
    /// x y.
    mul(x, y) "mul" (0.1, 3.0):
        fmul_rd 0.29999998, fmul_rn 0.3, fmul_ru 0.3, fmul_rz 0.29999998;
    /// x / y.
    div(x, y) "div" (1.0, 3.0):
        fdiv_rd 0.3333333, fdiv_rn 0.33333334, fdiv_ru 0.33333334, fdiv_rz 0.3333333;
    /// 1 / x.
    rcp(x) "rcp" (3.0):
        frcp_rd 0.3333333, frcp_rn 0.33333334, frcp_ru 0.33333334, frcp_rz 0.3333333;
    /// sqrt(x).
    sqrt(x) "sqrt" (2.0):
        fsqrt_rd 1.4142135, fsqrt_rn 1.4142135, fsqrt_ru 1.4142137, fsqrt_rz 1.4142135;
    /// x y + z.
    fma(x, y, z) "fma" (0.1, 3.0, 0.1):
        fmaf_rd 0.4, fmaf_rn 0.4, fmaf_ru 0.4, fmaf_rz 0.4;
}

/// 1 / sqrt(x), rounded to nearest but for a few numbers in a billion.
#[doc = example!(frsqrt_rn 4.0; = 0.5)]
#[inline]
pub fn frsqrt_rn(x: f32) -> f32 {
    (1.0 / crate::math::double::sqrt(x.into())) as f32
}
