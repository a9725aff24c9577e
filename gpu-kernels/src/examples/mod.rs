//! The kernels of the small programs that tutorials on GPUs are made of; `warpsolve example` runs them.
//!
//! A file for each concept. The arithmetic of an element is a function over numbers that the CPU calls too,
//! every operation rounded as IEEE 754 says and none fused, so that all backends give the same bits where no
//! sum is reordered. A kernel whose name ends in `_sum` or `_max` ends in one reduction over the grid.

pub mod dense;
pub mod modified;
pub mod patterns;
pub mod pointwise;
pub mod stencil;

/// The names of these kernels.
#[cfg(not(target_arch = "nvptx64"))]
pub fn entries() -> Vec<&'static str> {
    [
        dense::DENSE_DOTS_ENTRIES,
        dense::DENSE_NORMALISE_ENTRIES,
        dense::DENSE_PARTIAL_SUMS_ENTRIES,
        dense::DENSE_SUBTRACT_SUM_ENTRIES,
        dense::DENSE_SWEEP_SUM_ENTRIES,
        modified::MODIFIED_NORMALISE_ENTRIES,
        modified::MODIFIED_SUBTRACT_ENTRIES,
        modified::REARRANGE_ENTRIES,
        patterns::BRANCH_ENTRIES,
        patterns::READ_FIELDS_ENTRIES,
        patterns::READ_STRANGELY_ENTRIES,
        patterns::READ_STRIDED_ENTRIES,
        pointwise::PI_SUM_ENTRIES,
        pointwise::VADD_ENTRIES,
        stencil::STENCIL_BY_COLUMNS_ENTRIES,
        stencil::STENCIL_ENTRIES,
        stencil::STENCIL_MAX_ENTRIES,
    ]
    .concat()
}
