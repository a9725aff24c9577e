//! GMRES with the factors as its preconditioner (Carson and Higham 2017), where they are too inaccurate for
//! refinement: it takes the few directions in which they err to pieces.

use std::sync::Arc;

use super::factorisation::Factorisation;
use crate::backend::cpu::Cpu;
use crate::backend::{Memory, Products};
use crate::error::Result;
use crate::matrix::{AnyMatrix, Csr};
use crate::precond::Preconditioner;
use crate::solver::gmres::Gmres;
use crate::solver::iterative::{IterativeSolver, Observer, OnProgress};
use crate::solver::outcome::Stop;

/// Iterations at most: each takes as long as a step of refinement.
const ITERATIONS: usize = 30;

/// `M = A^-1`, nearly.
struct Nearly<'a>(&'a mut Factorisation);

impl Preconditioner<f64, Cpu> for Nearly<'_> {
    fn apply(&mut self, _: &Cpu, r: &Vec<f64>, z: &mut Vec<f64>) -> Result<()> {
        z.copy_from_slice(&self.0.solve(r, &[], &[]));
        Ok(())
    }
}

/// Who ends a solve ends this part of it; its steps are not those of the whole.
pub struct Part<'a>(pub OnProgress<'a>);

impl Observer for Part<'_> {
    fn observe(&mut self, _: u32, _: f64) {}

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// d with `||r - A d||_2` at most `threshold`, or as small as the iterations make it.
pub fn correction(
    a: &Arc<Csr<f64>>,
    r: &[f64],
    factorisation: &mut Factorisation,
    threshold: f64,
    on_progress: OnProgress,
) -> Result<Vec<f64>> {
    let cpu = Cpu::shared();
    let matrix = cpu.matrix(&Arc::new(AnyMatrix::Crs(a.clone())))?;
    let (b, mut d) = (cpu.vector(r)?, Memory::<f64>::zeros(&cpu, r.len())?);
    let stop = Stop { rtol: 0.0, atol: threshold, max_iterations: ITERATIONS as u32 };
    let mut gmres = Gmres::new(&cpu, r.len(), ITERATIONS)?;
    gmres.solve(&cpu, &matrix, &mut Nearly(factorisation), &b, &mut d, &stop, &mut Part(on_progress))?;
    Memory::<f64>::to_host(&cpu, &d)
}
