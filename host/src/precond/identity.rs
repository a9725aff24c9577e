//! No preconditioner.

use cuda_std::Real;

use super::description::{Description, Source};
use super::preconditioner::{ForColumns, Preconditioner, Shape, Traffic};
use crate::backend::{Backend, Columns, OneColumn};
use crate::error::Result;
use crate::setup::Algebra;

pub(super) const DESCRIPTION: Description = Description {
    name: "none",
    doc: "",
    title: "no",
    parameters: &[],
    divides_by_diagonal: false,
    from_csr: false,
    has_hierarchy: false,
    factorises: false,
    is_fused: |_| true,
    vectors: |_| 0,
};

pub(super) fn make<T: Real, B: Algebra<T>>(_: Source<T, B>) -> Result<Box<dyn Preconditioner<T, B>>> {
    Ok(Box::new(Identity))
}

/// No preconditioner: `z = r`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity;

impl<T: Real, B: Backend<T>> Preconditioner<T, B> for Identity {
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        backend.copy(r, z)
    }
    fn shape(&self) -> Shape<'_, B::Vector> {
        Shape::Identity
    }
    fn traffic(&self, vector: u64) -> Traffic {
        Traffic { apply: 2 * vector, in_cg: 0 }
    }
    fn for_columns(&self, _: &Columns<B>) -> Result<Option<ForColumns<T, B>>>
    where
        B: OneColumn,
    {
        Ok(Some(Box::new(Identity)))
    }
}
