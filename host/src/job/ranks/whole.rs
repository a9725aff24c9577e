//! The whole matrix on one rank of several.

use std::sync::Arc;

use cuda_std::Real;

use crate::comm::Partition;
use crate::error::Result;
use crate::job::Precond;
use crate::job::plan::Plan;
use crate::job::progress::Watch;
use crate::job::setup::{Computes, Number, Operators, Times, operators};
use crate::matrix::Csr;
use crate::precond::{Parameters, Source};

/// What rank 0 has that the others have not: the whole.
pub(super) struct Root<'a> {
    pub plan: &'a Plan,
    pub partition: &'a Arc<Partition>,
    pub watch: &'a mut Watch,
    pub times: &'a mut Times,
}

/// The whole matrix, on rank 0, and what a hierarchy is set up from beside.
pub(super) struct Whole<T: Real, B: Computes<T>> {
    a: Arc<Csr<T>>,
    operators: Operators<B::Matrix, B::Csr>,
    parameters: Parameters,
    pub precond: Precond,
    pub partition: Arc<Partition>,
}

impl<T: Number, B: Computes<T>> Whole<T, B> {
    pub fn new(backend: &B, Root { plan, partition, watch, times }: Root) -> Result<Self> {
        let a = T::matrix(&plan.a)?;
        let operators = operators(plan, backend, &a, None, watch, times)?;
        // New values are set up anew.
        let parameters = Parameters { reusable: false, ..plan.preconditioner_parameters() };
        Ok(Whole { a, operators, parameters, precond: plan.precond, partition: partition.clone() })
    }

    pub fn source<'a>(&'a mut self, backend: &'a B) -> Source<'a, T, B> {
        let Whole { a, operators: Operators { matrix: product, csr }, parameters, .. } = self;
        Source { backend, a, csr: csr.take(), product, parameters }
    }
}
