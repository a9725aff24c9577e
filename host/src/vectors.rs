//! Functions compiled for every width of vector registers, of which the processor's is called.

/// `fn name<T: Bound>(..) { body }`, compiled three times: for AVX-512, for AVX2 with fused multiply-add, and
/// for what the target always has. All three give the same bits.
///
/// In the body, the constant `FMA` is true in the first two: there a fused multiply-add is one instruction,
/// and not a call of a library. What the body calls must be inlined too; otherwise it is compiled for the
/// target.
macro_rules! in_widest_vectors {
    (
        $(#[$doc:meta])*
        $vis:vis fn $name:ident<$($g:ident: $bound:path),*>($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? $body:block
    ) => {
        $(#[$doc])*
        $vis fn $name<$($g: $bound),*>($($arg: $type),*) $(-> $ret)? {
            #[inline(always)]
            fn any<$($g: $bound,)* const FMA: bool>($($arg: $type),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                fn avx512<$($g: $bound),*>($($arg: $type),*) $(-> $ret)? {
                    any::<$($g,)* true>($($arg),*)
                }
                #[target_feature(enable = "avx2,fma")]
                fn avx2<$($g: $bound),*>($($arg: $type),*) $(-> $ret)? {
                    any::<$($g,)* true>($($arg),*)
                }
                if is_x86_feature_detected!("avx512f") {
                    // SAFETY: the processor has it.
                    return unsafe { avx512::<$($g),*>($($arg),*) };
                } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has them.
                    return unsafe { avx2::<$($g),*>($($arg),*) };
                }
            }
            any::<$($g,)* false>($($arg),*)
        }
    };
}
pub(crate) use in_widest_vectors;
