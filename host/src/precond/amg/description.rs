//! Multigrid by name.

use cuda_std::Real;

use super::AnyPrecision;
use crate::error::Result;
use crate::matrix::check;
use crate::precond::description::{Description, Source};
use crate::precond::preconditioner::Preconditioner;

pub const DESCRIPTION: Description = Description {
    name: "amg",
    doc: "algebraic multigrid",
    title: "AMG",
    parameters: &["amg"],
    divides_by_diagonal: true,
    from_csr: true,
    has_hierarchy: true,
    factorises: false,
    is_fused: |_| false,
    vectors: |_| 0,
};

pub fn make<T: Real, B: AnyPrecision<T>>(source: Source<T, B>) -> Result<Box<dyn Preconditioner<T, B>>> {
    if source.regular_planes()?.is_none() {
        check::check_divisible(source.a, source.parameters.block_size, DESCRIPTION.name)?;
    }
    let Source { backend, a, csr, product, parameters } = source;
    let (amg, in_f32) = (&parameters.amg, parameters.hierarchy_in_f32);
    // Blocks and near-null vectors keep nothing, and are set up anew.
    let near_null = parameters.near_null.as_deref();
    let csr = csr.expect("uploaded for a hierarchy");
    let (m, _) = if parameters.reusable && parameters.block_size == 1 && near_null.is_none() {
        backend.amg_reusable(a, csr.first().clone(), amg, in_f32)?
    } else {
        backend.amg_of(csr, Some(product), amg, near_null, in_f32)?
    };
    Ok(m)
}
