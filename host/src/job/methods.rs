//! The methods and preconditioners by name: what each holds, and how it is made.

use std::sync::Arc;

use cuda_std::Real;

use super::plan::{Plan, explain_empty_row};
use super::{Method, Options, Precond};
use crate::backend::gpu::Gpu;
use crate::error::Result;
use crate::matrix::{Csr, check, diagonal_blocks};
use crate::precond::amg::{self, AnyPrecision};
use crate::precond::{BlockJacobi, Identity, Jacobi, Preconditioner, Projected};
use crate::setup::Blocks;
use crate::solver::{Bicgstab, Cg, Gmres, IterativeSolver, JacobiIteration, Richardson, Steps};

/// Backends that a system can be solved on.
pub(super) trait Computes<T: Real>: AnyPrecision<T> + Steps<T> + Clone + Send + 'static {}

impl<T: Real, B: AnyPrecision<T> + Steps<T> + Clone + Send + 'static> Computes<T> for B {}

/// Vectors of length n of the method and its preconditioner.
pub(super) fn workspace_vectors(plan: &Plan) -> usize {
    let method = match plan.method {
        Method::Cg => Cg::<f64, Gpu>::VECTORS,
        Method::Bicgstab => Bicgstab::<f64, Gpu>::VECTORS,
        Method::Gmres => Gmres::<f64, Gpu>::vectors(plan.restart()),
        Method::Jacobi => JacobiIteration::<f64, Gpu>::VECTORS,
        Method::Amg => Richardson::<f64, Gpu>::VECTORS,
    };
    let precond = match plan.precond {
        Precond::None => 0,
        Precond::Jacobi => 1,
        // z, or the directions of flexible GMRES; the hierarchy is counted by itself.
        Precond::Amg if plan.method == Method::Gmres => plan.restart(),
        Precond::Amg => 1,
    };
    method + precond
}

/// Iterations that launch every kernel of the method; GMRES has one for bases of up to 8, 16 and 32. Where
/// iterations are recorded the third is the first of them.
pub(super) fn warm_up_iterations(plan: &Plan) -> u32 {
    match plan.method {
        Method::Gmres => plan.restart().min(33) as u32,
        Method::Cg | Method::Bicgstab | Method::Jacobi | Method::Amg => 3,
    }
}

/// The method with its workspace.
pub(super) fn solver<T: Real, B: Computes<T>>(
    plan: &Plan,
    backend: &B,
    a: &Csr<T>,
    m: &dyn Preconditioner<T, B>,
) -> Result<Box<dyn IterativeSolver<T, B>>> {
    let n = a.n_rows();
    let Options { block_size, omega, .. } = plan.options;
    Ok(match plan.method {
        Method::Cg => Box::new(Cg::new(backend, n, m)?),
        Method::Bicgstab => Box::new(Bicgstab::new(backend, n)?),
        Method::Gmres => Box::new(Gmres::new(backend, n, plan.restart())?),
        Method::Jacobi if block_size == 1 => Box::new(JacobiIteration::new(backend, a, omega)?),
        Method::Jacobi | Method::Amg => Box::new(Richardson::new(backend, n)?),
    })
}

/// Whether the method's workspace depends on the values of the matrix.
pub(super) fn holds_values(method: Method) -> bool {
    method == Method::Jacobi
}

/// A preconditioner, and with [`Precond::Amg`] what its hierarchy is.
pub(super) type Made<T, B> = (Box<dyn Preconditioner<T, B>>, Option<amg::Info>);

/// The preconditioner. `csr` is the matrix as a hierarchy is built from, which [`Precond::Amg`] needs, `product` the
/// matrix ready to be multiplied.
pub(super) fn preconditioner<T: Real, B: Computes<T>>(
    plan: &Plan,
    backend: &B,
    a: &Arc<Csr<T>>,
    csr: Option<Blocks<B::Csr>>,
    product: &B::Matrix,
) -> Result<Made<T, B>> {
    let Options { block_size, singular_blocks, omega, .. } = plan.options;
    let (m, info): Made<T, B> = match plan.precond {
        Precond::None => (Box::new(Identity), None),
        _ if plan.method == Method::Jacobi && block_size > 1 => {
            let m = BlockJacobi::setup(backend, a, block_size, singular_blocks)?.weighted(omega);
            (Box::new(m), None)
        }
        Precond::Jacobi if block_size > 1 => {
            (Box::new(BlockJacobi::setup(backend, a, block_size, singular_blocks)?), None)
        }
        Precond::Jacobi => (Box::new(Jacobi::setup(backend, a)?), None),
        Precond::Amg => {
            match block_size {
                1 => check::check_diagonal(&**a, "amg").map_err(|error| explain_empty_row(a, error))?,
                b => check::check_diagonal_blocks(&diagonal_blocks(a, b), b, "amg")?,
            }
            hierarchy(plan, backend, a, csr.expect("uploaded for a hierarchy"), product)?
        }
    };
    Ok(match plan.projections() {
        Some(null_space) => (Box::new(Projected::new(backend, m, null_space)?), info),
        None => (m, info),
    })
}

fn hierarchy<T: Real, B: Computes<T>>(
    plan: &Plan,
    backend: &B,
    a: &Arc<Csr<T>>,
    csr: Blocks<B::Csr>,
    product: &B::Matrix,
) -> Result<Made<T, B>> {
    let params = &plan.options.amg;
    // Blocks keep nothing, and are set up anew.
    let (m, info) = if plan.options.reusable && plan.options.block_size == 1 {
        drop(csr);
        backend.amg_reusable(a, params, plan.hierarchy_in_f32)?
    } else {
        backend.amg_of(csr, Some(product), params, plan.hierarchy_in_f32)?
    };
    Ok((m, Some(info)))
}
