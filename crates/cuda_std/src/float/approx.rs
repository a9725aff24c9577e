//! The fast approximations of PTX, in single precision.
//!
//! On the device each is an instruction, or two. On the host, the exact function rounded to `f32`: the
//! simulator is closer than the device, by up to the errors given here: NVIDIA's bounds (PTX ISA), and what
//! was the most over all of `f32` on an H200, in units in the last place (the program `errors` of
//! `examples/worked-kernels`).

macro_rules! approximations {
    ($($(#[$note:meta])* $name:ident: $instruction:literal, |$x:ident| $exact:expr;)*) => {$(
        $(#[$note])*
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
    ex2: "ex2.approx.f32", |x| x.exp2();
    /// The logarithm to base 2, within 2^-22 (relative outside of 0.5 to 2, absolute within). Measured: 2.30,
    /// below 1 in units of 2^-23.
    lg2: "lg2.approx.f32", |x| x.log2();
    /// The sine, within 2^-20.5 between -pi and pi. Measured: 2.92 units of 2^-23.
    sin: "sin.approx.f32", |x| x.sin();
    /// The cosine, within 2^-20.5 between -pi and pi. Measured: 3.39 units of 2^-23.
    cos: "cos.approx.f32", |x| x.cos();
    /// The hyperbolic tangent, within 2^-11; measured: 134. From compute capability 7.5 on, in PTX 7.0, which
    /// `cuda_builder` asks for.
    tanh: "tanh.approx.f32", |x| x.tanh();
    /// 1 / sqrt(x), within 2^-22.9. Measured: 1.51.
    rsqrt: "rsqrt.approx.f32", |x| 1.0 / x.sqrt();
    /// 1 / x, within 1 unit in the last place. Measured: 0.985.
    rcp: "rcp.approx.f32", |x| 1.0 / x;
    /// The square root, within 2^-23. Measured: 0.944.
    sqrt: "sqrt.approx.f32", |x| x.sqrt();
}

/// x / y, within 2 units in the last place while `|y|` is between 2^-126 and 2^126.
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
