//! LGMRES (Baker, Jessup, Manteuffel 2005): restarted GMRES whose cycles also search along what the last few
//! cycles added to x. Where a cycle undoes what the one before it did, and GMRES stagnates, that keeps it
//! from doing so.

use cuda_std::Real;

use super::description::{Description, Parameter, Parameters};
use super::gmres::{DESCRIPTION as GMRES, Gmres, GmresSteps, expected_cycle};
use super::iterative::IterativeSolver;
use super::on_host::OnHost;
use crate::error::Result;
use crate::precond::Preconditioner;

/// Cycles that are remembered, of which the paper tries 1 to 5.
const REMEMBERED: usize = 3;

pub(super) const DESCRIPTION: Description = Description {
    doc: "GMRES that remembers cycles",
    parameters: &[Parameter { name: "restart", doc: GMRES.parameters[0].doc }],
    descends: true,
    title_parameters: GMRES.title_parameters,
    ..Description::new("lgmres", "LGMRES", |parameters, _| {
        2 * expected_cycle(parameters) + 3 + remembered(parameters.restart)
    })
};

/// Cycles that ones of this length remember: of short ones some iterations must be left for the space itself.
fn remembered(restart: usize) -> usize {
    REMEMBERED.min(restart / 3)
}

pub(super) fn make<T: Real, B: GmresSteps<T> + 'static>(
    backend: &B,
    a: &dyn OnHost<T>,
    _: &dyn Preconditioner<T, B>,
    parameters: &Parameters,
) -> Result<Box<dyn IterativeSolver<T, B>>> {
    let restart = parameters.restart;
    Ok(Box::new(Gmres::new(backend, a.n_rows(), restart)?.remembering(backend, remembered(restart))?))
}
