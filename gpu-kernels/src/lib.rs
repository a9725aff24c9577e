//! The GPU kernels of warpsolve.
//!
//! One source, three ways to run it: compiled to PTX for a GPU, run thread by thread in the simulator of
//! `cuda_std`, and, through the structs that `#[kernel]` makes, named and typed for whoever launches it.
//!
//! Conventions of every kernel:
//!
//! - One-dimensional grids and blocks; [`BLOCK`] threads a block wherever there is a reduction. Along y a
//!   grid has the launches that are made at once (`batched`), of which a body sees its own alone.
//! - The last argument of a kernel that a solver's loop launches is a [`monitor::Guard`], or a
//!   [`monitor::Monitor`] with one in it. Once it is raised the kernel does nothing: a solver raises it on
//!   the device the moment it has converged or broken down, and whatever the host queued before it learns
//!   of that leaves every vector as it is.
//! - On devices of compute capability 9.0 and later a kernel starts while the one in front of it on the
//!   stream still runs. `#[kernel]` makes every thread wait for that one's end before the body begins. A
//!   kernel under `#[kernel(.., waits)]` calls [`cuda_std::thread::grid_dependency_wait`] itself: every
//!   thread does, on every path, the early returns too, and before it loads nothing but what no kernel
//!   writes (matrix structure and values) and stores nothing at all.
//! - Reductions add in an order that depends on the sizes and the grid alone, so that every run on the same
//!   device gives the same bits.
#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]
#![allow(clippy::missing_safety_doc, clippy::too_many_arguments)]

pub mod blas1;
pub mod block_cg;
pub mod border;
pub mod cells;
pub mod coefficient;
pub mod epilogue;
pub mod examples;
pub mod gram_schmidt;
pub mod incomplete;
pub mod krylov;
pub mod monitor;
pub mod ranks;
pub mod reduce;
pub mod setup;
mod sizes;
pub mod spmv;
pub mod triangular;

use arithmetic::unroll;
pub use sizes::{BLOCK, MAX_REDUCTION_BLOCKS};

/// The name of every entry point.
#[cfg(not(target_arch = "nvptx64"))]
pub fn entries() -> Vec<&'static str> {
    use crate::{
        blas1::*, cells::*, gram_schmidt::*, incomplete::*, krylov::*, monitor::*, reduce::*, setup::*,
        triangular::*,
    };
    [
        ACTIVATE_ENTRIES,
        aggregate::AGGREGATED_ENTRIES,
        aggregate::AGGREGATED_LENGTHS_ENTRIES,
        aggregate::JOIN_NEIGHBOURS_ENTRIES,
        aggregate::JOIN_ROOTS_ENTRIES,
        aggregate::NUMBER_AGGREGATES_ENTRIES,
        aggregate::TENTATIVE_ENTRIES,
        aggregate::TENTATIVE_LENGTHS_ENTRIES,
        ANGLE_STEP_ENTRIES,
        ARRANGED_LENGTHS_ENTRIES,
        ARRANGED_ROWS_ENTRIES,
        AXPBY_ENTRIES,
        AXPBYPCZ_ENTRIES,
        block_cg::BLOCK_CG_LENGTHS_ENTRIES,
        block_cg::BLOCK_CG_RESIDUALS_ENTRIES,
        block_cg::BLOCK_COMBINATION_ENTRIES,
        block_cg::BLOCK_PRODUCTS_ENTRIES,
        CG_STEP_ENTRIES,
        border::ADD_BORDER_ENTRIES,
        border::ARRANGE_ENTRIES,
        border::ADD_BORDER_DOT_ENTRIES,
        border::GATHER_ENTRIES,
        border::PUT_ENTRIES,
        border::RECEIVE_ENTRIES,
        border::TAKE_RECEIVED_ENTRIES,
        border::TAKE_ZEROS_ENTRIES,
        blocks::BLOCK_NORMS_ENTRIES,
        blocks::COUNT_SINGULAR_BLOCKS_ENTRIES,
        blocks::DAMP_BLOCKS_ENTRIES,
        blocks::INVERT_DIAGONAL_BLOCKS_ENTRIES,
        check::CHECK_ROWS_ENTRIES,
        convert::FILL_SELL_ENTRIES,
        convert::COMPRESS_ENTRIES,
        convert::REACH_ENTRIES,
        convert::ROUND_ENTRIES,
        convert::SHORTEN_ENTRIES,
        convert::ROUND_SCALED_ENTRIES,
        convert::SLICE_WIDTHS_ENTRIES,
        convert::SORT_WINDOWS_ENTRIES,
        dictionary::COLLECT_VALUES_ENTRIES,
        dictionary::ENCODE_ENTRIES,
        COLOUR_ENTRIES,
        DIRECTION_ENTRIES,
        DOT_ENTRIES,
        ELIMINATE_PIVOTS_ENTRIES,
        ELIMINATE_ROWS_ENTRIES,
        FACTOR_FACTS_ENTRIES,
        FILL_ENTRIES,
        FIND_LONG_ROWS_ENTRIES,
        GMRES_ROTATE_ENTRIES,
        GMRES_SOLVE_ENTRIES,
        GMRES_START_ENTRIES,
        GRAM_SCHMIDT_ENTRIES,
        independent_set::INDEPENDENT_REACH_ENTRIES,
        independent_set::INDEPENDENT_REMOVE_ENTRIES,
        independent_set::INDEPENDENT_SELECT_ENTRIES,
        independent_set::INDEPENDENT_START_ENTRIES,
        interpolate::EXTENDED_DIVISORS_ENTRIES,
        interpolate::EXTENDED_SHARES_ENTRIES,
        interpolate::EXTENDED_WEIGHTS_ENTRIES,
        interpolate::RESTRICTED_ENTRIES,
        interpolate::RESTRICTED_LENGTHS_ENTRIES,
        interpolate::ROW_MEANS_ENTRIES,
        interpolate::SUBTRACT_SCALED_ENTRIES,
        interpolate::TRUNCATED_ENTRIES,
        interpolate::TRUNCATED_LENGTHS_ENTRIES,
        INVERSE_LENGTHS_ENTRIES,
        INVERSE_ROWS_ENTRIES,
        inverse::DENSE_ENTRIES_ENTRIES,
        inverse::DENSE_ROWS_ENTRIES,
        inverse::DENSE_SYMMETRY_ENTRIES,
        inverse::GAUSS_JORDAN_ENTRIES,
        near_null::COARSE_VECTOR_ENTRIES,
        near_null::GATHER_ENTRIES,
        near_null::MAGNITUDES_ENTRIES,
        near_null::ORTHONORMAL_ENTRIES,
        near_null::ORTHONORMAL_LENGTHS_ENTRIES,
        near_null::ORTHONORMAL_ROWS_ENTRIES,
        near_null::PUT_VECTOR_ENTRIES,
        NOISY_ENTRIES,
        LANCZOS_STEP_ENTRIES,
        NORM_MAX_ENTRIES,
        ranks::REDUCE_RANKS_ENTRIES,
        numbering::CLAIM_CHILDREN_ENTRIES,
        numbering::COUNT_CHILDREN_ENTRIES,
        numbering::COUNT_NEIGHBOURS_ENTRIES,
        numbering::PLACE_CHILDREN_ENTRIES,
        numbering::REACH_NEIGHBOURS_ENTRIES,
        numbering::REORDERED_COLUMNS_ENTRIES,
        numbering::REORDERED_LENGTHS_ENTRIES,
        numbering::REORDERED_VALUES_ENTRIES,
        numbering::REVERSE_ORDER_ENTRIES,
        numbering::SEARCH_FROM_ENTRIES,
        OBSERVE_ENTRIES,
        parts::ENTRIES_AT_ENTRIES,
        parts::MARK_COUNTED_ENTRIES,
        parts::MARK_OWN_ENTRIES,
        parts::NARROW_POINTERS_ENTRIES,
        parts::NUMBERS_OF_MARKED_ENTRIES,
        parts::NUMBERS_OF_RUNS_ENTRIES,
        parts::NUMBERS_THROUGH_ENTRIES,
        parts::NUMBERS_THROUGH_RUNS_ENTRIES,
        parts::PART_ELEMENTS_ENTRIES,
        parts::PART_ENTRIES_ENTRIES,
        parts::PART_LENGTHS_ENTRIES,
        parts::PUT_NUMBERS_ENTRIES,
        parts::ROWS_IN_PLACES_ENTRIES,
        parts::TAKE_NUMBERS_ENTRIES,
        planes::BLOCK_ENTRIES_ENTRIES,
        planes::BLOCK_LENGTHS_ENTRIES,
        product::COUNT_COLUMNS_ENTRIES,
        product::COUNT_COLUMNS_LONG_ENTRIES,
        product::MULTIPLY_ENTRIES,
        product::WRITE_COLUMNS_ENTRIES,
        product::WRITE_COLUMNS_LONG_ENTRIES,
        product::WRITE_PRODUCT_ENTRIES,
        REACT_ENTRIES,
        ROW_LARGEST_ENTRIES,
        SCALE_ROWS_ENTRIES,
        rounding::REACH_OF_ROWS_ENTRIES,
        rounding::ROUND_ROWS_ENTRIES,
        scan::SPAN_SCAN_ENTRIES,
        scan::SPAN_SUMS_ENTRIES,
        SCALE_BLOCKS_ENTRIES,
        strength::DAMP_ENTRIES,
        strength::EXTRACT_DIAGONAL_ENTRIES,
        strength::SMOOTHING_DIAGONAL_ENTRIES,
        strength::ROW_WEIGHTS_ENTRIES,
        strength::STRONG_ENTRIES_ENTRIES,
        strength::STRONG_LENGTHS_ENTRIES,
        survey::COMPARE_MIRRORED_ENTRIES,
        survey::COUNT_INDEFINITE_PAIRS_ENTRIES,
        survey::LARGEST_OF_ROWS_ENTRIES,
        survey::SURVEY_ROWS_ENTRIES,
        SUM_ENTRIES,
        transpose::COUNT_ROWS_ENTRIES,
        transpose::SCATTER_ROWS_ENTRIES,
        transpose::SORT_ROWS_ENTRIES,
        transpose::SORT_ROWS_LONG_ENTRIES,
        transpose::TRANSPOSE_VALUES_ENTRIES,
        TRIANGLE_CHAIN_ENTRIES,
        TRIANGLE_LENGTHS_ENTRIES,
        TRIANGLE_LEVEL_ENTRIES,
        TRIANGLES_ENTRIES,
        twins::COUNT_TWINS_ENTRIES,
        twins::FIND_TWINS_ENTRIES,
        twins::LIST_ROWS_ENTRIES,
        twins::MULTIPLY_TWINS_ENTRIES,
        twins::REPEAT_COLUMNS_ENTRIES,
        twins::REPEAT_LENGTHS_ENTRIES,
        twins::START_ROWS_ENTRIES,
        twins::THIN_COLUMNS_ENTRIES,
        twins::THIN_LENGTHS_ENTRIES,
    ]
    .concat()
    .into_iter()
    .chain(spmv::entries())
    .chain(examples::entries())
    .collect()
}
