//! One suite, every backend.
//!
//! To add a backend, add a line to `backends!`; to add a case, a generic function in one of the modules and
//! its name to `cases!`. Expected values are computed here, in f64, by dense or naive loops.

use std::sync::{Arc, OnceLock};

use warpsolve::backend::cpu::Cpu;
use warpsolve::backend::gpu::Gpu;
use warpsolve::backend::reference::Reference;
use warpsolve::launch::Launch;
use warpsolve::launch::sim::Sim;

mod amg;
mod block_cg;
mod blocks;
mod cells;
mod compressed;
mod data;
mod gmres;
#[path = "../gpu/mod.rs"]
mod gpu;
mod ilu;
mod reductions;
mod setup;
mod solvers;
mod sparse;
mod vectors;

macro_rules! cases {
    ($backend:expr, $of_solves:tt) => {
        cases! { $backend, [in_f64: f64, in_f32: f32];
            vectors: copies_and_fills, updates, coefficients_from_scalars, diagonal_scaling,
                columns_have_the_bits_of_one_alone,
                a_breakdown_raises_the_guard, a_raised_guard_leaves_everything_alone;
            reductions: dots, sums, maxima, angle_steps, reductions_repeat_to_the_last_bit, empty_vectors;
            sparse: products, accumulated_products, scaled_products, residuals, sweeps, sweeps_of_corrections, sweeps_with_norm, products_with_dots, wide_and_empty_rows;
            blocks: diagonals_of_blocks, sweeps_of_blocks, hierarchies_of_blocks, block_jacobi, jacobi_sweeps, multigrid_of_blocks;
            setup: strong_entries, transposes, sparse_products, independent_sets, aggregates, levels, levels_of_blocks;
            block_cg: products_of_blocks, combinations_of_blocks, a_raised_guard_leaves_blocks_alone, blocks_of_any_width_converge;
            gmres: orthogonalisation, more_vectors_than_one_launch_takes, rotations_and_solution;
        }
        cases! { $backend, $of_solves;
            amg: hierarchies, every_part_with_cg, numbers_of_steps, in_the_precision_of_the_solver, unsymmetric_matrices,
                set_up_on_the_host, compressed_matrices_cost_no_iteration, a_raised_guard_leaves_a_cycle_alone, little_to_coarsen, disconnected_parts;
            compressed: smoothing_operators, rounded_corrections;
            ilu: incomplete_factors, triangles_of_another_size_are_refused, a_raised_guard_leaves_triangles_alone, gmres_with_factors;
            solvers: cg_steps, directions, cg, cg_without_preconditioner, bicgstab, gmres, lgmres, minres, idr, jacobi, limits,
                indefinite_matrices, not_finite, zero_right_hand_side, tiny_systems;
        }
    };
    ($backend:expr, $types:tt; $($module:ident: $($case:ident),*;)*) => {
        $($(
            mod $case {
                use super::*;
                case! { $backend, $module, $case, $types }
            }
        )*)*
    };
}

/// A case in each of these types.
macro_rules! case {
    ($backend:expr, $module:ident, $case:ident, [$($in_type:ident: $type:ty),*]) => {
        $(
            #[test]
            fn $in_type() {
                let Some(backend) = $backend else { return };
                crate::$module::$case::<$type, _>(&backend);
            }
        )*
    };
}

/// Cases of what exists in double precision only.
macro_rules! cases_in_f64 {
    ($backend:expr, $($module:ident: $($case:ident),*;)*) => {
        $($(
            #[test]
            fn $case() {
                let Some(backend) = $backend else { return };
                crate::$module::$case(&backend);
            }
        )*)*
    };
}

/// What is made of kernels is in both types too, but not in each of the simulators, as the kernels are the
/// same: where every access is watched, which takes long, in f64, and in f32 where it is not.
macro_rules! backends {
    ($($name:ident = $backend:expr, solves in $of_solves:tt;)*) => {
        $(mod $name {
            use super::*;
            cases!($backend, $of_solves);
            cases_in_f64! { $backend, cells: reactions, no_cells_and_no_steps, activations, an_action_potential; }
        })*
    };
}

backends! {
    reference = Some(Reference::new()), solves in [in_f64: f64, in_f32: f32];
    cpu_1_thread = Some(Cpu::new(1).unwrap()), solves in [in_f64: f64, in_f32: f32];
    cpu_3_threads = Some(Cpu::new(3).unwrap()), solves in [in_f64: f64, in_f32: f32];
    simulator = Some(Gpu::simulated().unwrap()), solves in [in_f32: f32];
    simulator_strict = Some(Gpu::new(Arc::new(Sim::strict())).unwrap()), solves in [in_f64: f64];
    driver = on_gpu(), solves in [in_f64: f64, in_f32: f32];
}

/// The first GPU, opened once for all cases; see [`gpu::driver`].
fn on_gpu() -> Option<Gpu> {
    static DRIVER: OnceLock<Option<Arc<dyn Launch>>> = OnceLock::new();
    let driver = DRIVER.get_or_init(|| gpu::driver().map(|driver| Arc::new(driver) as Arc<dyn Launch>));
    driver.clone().map(|driver| Gpu::new(driver).unwrap())
}
