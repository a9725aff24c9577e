//! The fast approximations of PTX, in single precision.
//!
//! On the device each is an instruction, or two. On the host, the exact function rounded to `f32`: the
//! simulator is closer than the device, by up to the errors given here: NVIDIA's bounds (PTX ISA), and what
//! was the most over all of `f32` on an H200, in units in the last place (the program `errors` of
//! `examples/worked-kernels`).
//!
//! ```
//! use cuda_std::float::approx;
//!
//! let (x, exact) = (0.7_f32, 0.7_f64.sin());
//! assert!((f64::from(approx::sin(x)) - exact).abs() < 1e-6);
//! ```

macro_rules! approximations {
    ($($(#[$note:meta])* $name:ident: $instruction:literal, |$x:ident| $exact:expr, $at:literal $y:literal;)*) => {$(
        $(#[$note])*
        #[doc = concat!(
            "\n```\nlet y = cuda_std::float::approx::", stringify!($name), "(", $at, ");\n",
            "assert!((y - ", $y, ").abs() < 1e-3);\n```"
        )]
        #[inline(always)]
        pub fn $name(x: f32) -> f32 {
            #[cfg(target_arch = "nvptx64")]
            {
                let y: f32;
                // SAFETY: computes a number.
                unsafe {
                    core::arch::asm!(
                        concat!($instruction, " {}, {};"),
                        out(reg32) y, in(reg32) x, options(pure, nomem, nostack, preserves_flags)
                    );
                }
                y
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let $x = f64::from(x);
                ($exact) as f32
            }
        }
    )*};
}

approximations! {
    /// 2 to x, within 2 units in the last place by NVIDIA's manual; 2.38 were measured, just above the
    /// subnormal results.
    ex2: "ex2.approx.f32", |x| x.exp2(), 3.0 8.0;
    /// The logarithm to base 2, within 2^-22 (relative outside of 0.5 to 2, absolute within). Measured: 2.30,
    /// below 1 in units of 2^-23.
    lg2: "lg2.approx.f32", |x| x.log2(), 8.0 3.0;
    /// The sine, within 2^-20.5 between -pi and pi. Measured: 2.92 units of 2^-23.
    sin: "sin.approx.f32", |x| x.sin(), 0.5 0.4794;
    /// The cosine, within 2^-20.5 between -pi and pi. Measured: 3.39 units of 2^-23.
    cos: "cos.approx.f32", |x| x.cos(), 0.5 0.8776;
    /// The hyperbolic tangent, within 2^-11; measured: 134. From compute capability 7.5 on, in PTX 7.0, which
    /// `cuda_builder` asks for.
    tanh: "tanh.approx.f32", |x| x.tanh(), 0.5 0.4621;
    /// 1 / sqrt(x), within 2^-22.9. Measured: 1.51.
    rsqrt: "rsqrt.approx.f32", |x| 1.0 / x.sqrt(), 4.0 0.5;
    /// 1 / x, within 1 unit in the last place. Measured: 0.985.
    rcp: "rcp.approx.f32", |x| 1.0 / x, 4.0 0.25;
    /// The square root, within 2^-23. Measured: 0.944.
    sqrt: "sqrt.approx.f32", |x| x.sqrt(), 2.25 1.5;
}

/// x / y, within 2 units in the last place while `|y|` is between 2^-126 and 2^126.
///
/// ```
/// # use cuda_std::float::approx;
/// assert_eq!(approx::div(3.0, 2.0), 1.5);
/// ```
#[inline(always)]
pub fn div(x: f32, y: f32) -> f32 {
    #[cfg(target_arch = "nvptx64")]
    {
        let quotient: f32;
        // SAFETY: computes a number.
        unsafe {
            core::arch::asm!(
                "div.approx.f32 {}, {}, {};",
                out(reg32) quotient, in(reg32) x, in(reg32) y, options(pure, nomem, nostack, preserves_flags)
            );
        }
        quotient
    }
    #[cfg(not(target_arch = "nvptx64"))]
    {
        x / y
    }
}
