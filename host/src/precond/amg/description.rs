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
    is_fused: |_| false,
    vectors: |_| 0,
};

pub fn make<T: Real, B: AnyPrecision<T>>(source: Source<T, B>) -> Result<Box<dyn Preconditioner<T, B>>> {
    let Source { backend, a, csr, product, parameters } = source;
    let planes = csr.as_ref().filter(|planes| planes.block() > 1);
    // The host says which block is singular.
    if planes.map(|planes| backend.singular_blocks(planes)).transpose()? != Some(0) {
        check::check_divisible(a, parameters.block_size, DESCRIPTION.name)?;
    }
    let (amg, in_f32) = (&parameters.amg, parameters.hierarchy_in_f32);
    // Blocks and near-null vectors keep nothing, and are set up anew.
    let near_null = parameters.near_null.as_deref();
    let (m, _) = if parameters.reusable && parameters.block_size == 1 && near_null.is_none() {
        drop(csr);
        backend.amg_reusable(a, amg, in_f32)?
    } else {
        let csr = csr.expect("uploaded for a hierarchy");
        backend.amg_of(csr, Some(product), amg, near_null, in_f32)?
    };
    Ok(m)
}
