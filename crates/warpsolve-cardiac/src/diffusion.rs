//! The second half of a step: the voltage that the cells have changed diffuses.

use std::sync::Arc;
use warpsolve_host::backend::Then;
use warpsolve_host::solver::cg::CgSteps;

use super::params::{Formulation, Params};
use super::system::System;
use warpsolve_host::backend::{Backend, Coef};
use warpsolve_host::error::Result;
use warpsolve_host::fem::{self, P1, transversely_isotropic};
use warpsolve_host::matrix::{Csr, check};
use warpsolve_host::precond::amg::Hierarchies;

/// Iterations of a step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Iterations {
    pub parabolic: u32,
    pub elliptic: u32,
}

/// The systems of one formulation. The [module](super) has the equations.
pub(super) struct Diffusion<B: Backend<f64>> {
    /// -K_m or -K_i.
    minus_k: B::Matrix,
    systems: Systems<B>,
    scalars: B::Scalars,
}

// A simulation has one of these, so its size does not matter.
#[allow(clippy::large_enum_variant)]
enum Systems<B: Backend<f64>> {
    Monodomain {
        for_d: System<B>,
    },
    Splitting {
        for_d: System<B>,
        for_phi: System<B>,
        /// v* + phi.
        sum: B::Vector,
    },
    Coupled {
        for_both: System<B>,
        /// -K_i v*.
        current: B::Vector,
        /// Copies the value of each node to its two rows.
        twice: B::Matrix,
        /// Takes d from (phi, d).
        d_alone: B::Matrix,
    },
}

impl<B: Hierarchies<f64> + CgSteps<f64> + 'static> Diffusion<B> {
    /// Assembles the systems on `space`; `fibre(t)` is the direction of the fibres in tetrahedron t.
    pub fn new(
        backend: &B,
        space: &P1,
        fibre: impl Fn(usize) -> [f64; 3] + Sync,
        params: &Params,
    ) -> Result<Self> {
        let stiffness =
            |[along, across]: [f64; 2]| space.stiffness(|t| transversely_isotropic(fibre(t), along, across));
        let tissue = &params.tissue;
        let k = stiffness(match params.formulation {
            Formulation::Monodomain => tissue.sigma_m(),
            Formulation::Splitting | Formulation::Coupled => tissue.sigma_i(),
        });
        check::check_finite(&k)?;
        let mass = mass(space, params.lumped_mass);
        let for_d = || System::parabolic(backend, step_matrix(&mass, &k, params), params);
        let n = space.n_nodes();
        let systems = match params.formulation {
            Formulation::Monodomain => Systems::Monodomain { for_d: for_d()? },
            Formulation::Splitting => Systems::Splitting {
                for_d: for_d()?,
                for_phi: System::elliptic(backend, "elliptic", stiffness(tissue.sigma_ie()), 1, params)?,
                sum: backend.zeros(n)?,
            },
            Formulation::Coupled => {
                let a = fem::bidomain(&k, &stiffness(tissue.sigma_ie()), &mass, params.kappa())?;
                let twice = one_a_row(n, (0..2 * n).map(|row| row / 2))?;
                let d_alone = one_a_row(2 * n, (0..n).map(|node| 2 * node + 1))?;
                Systems::Coupled {
                    for_both: System::elliptic(backend, "coupled", a, 2, params)?,
                    current: backend.zeros(n)?,
                    twice: operator(backend, twice)?,
                    d_alone: operator(backend, d_alone)?,
                }
            }
        };
        let minus_k = operator(backend, k.map_values(|v| -v))?;
        Ok(Diffusion { minus_k, systems, scalars: backend.scalars(1)? })
    }

    /// Computes v at `time` (ms), and phi, from v*.
    pub fn advance(&mut self, backend: &B, v: &mut B::Vector, time: f64) -> Result<Iterations> {
        let (minus_k, s) = (&self.minus_k, &self.scalars);
        match &mut self.systems {
            Systems::Monodomain { for_d } => {
                backend.multiply(minus_k, v, Then::Store { y: &mut for_d.b })?;
                let parabolic = for_d.solve(backend, time)?;
                backend.axpby(s, Coef::ONE, &for_d.x, Coef::ONE, v)?;
                Ok(Iterations { parabolic, elliptic: 0 })
            }
            Systems::Splitting { for_d, for_phi, sum } => {
                backend.copy(v, sum)?;
                backend.axpby(s, Coef::ONE, &for_phi.x, Coef::ONE, sum)?;
                backend.multiply(minus_k, sum, Then::Store { y: &mut for_d.b })?;
                let parabolic = for_d.solve(backend, time)?;
                backend.axpby(s, Coef::ONE, &for_d.x, Coef::ONE, v)?;
                backend.multiply(minus_k, v, Then::Store { y: &mut for_phi.b })?;
                let elliptic = for_phi.solve(backend, time)?;
                Ok(Iterations { parabolic, elliptic })
            }
            Systems::Coupled { for_both, current, twice, d_alone } => {
                backend.multiply(minus_k, v, Then::Store { y: current })?;
                backend.multiply(twice, current, Then::Store { y: &mut for_both.b })?;
                let elliptic = for_both.solve(backend, time)?;
                backend.multiply(d_alone, &for_both.x, Then::Add { y: v })?;
                Ok(Iterations { parabolic: 0, elliptic })
            }
        }
    }

    /// phi of each node, with mean 0 over the nodes; `None` for the monodomain equation.
    pub fn phi(&self, backend: &B) -> Result<Option<Vec<f64>>> {
        let mut phi = match &self.systems {
            Systems::Monodomain { .. } => return Ok(None),
            Systems::Splitting { for_phi, .. } => backend.to_host(&for_phi.x)?,
            Systems::Coupled { for_both, .. } => {
                backend.to_host(&for_both.x)?.into_iter().step_by(2).collect()
            }
        };
        // After many steps the mean holds rounding errors.
        let mean = phi.iter().sum::<f64>() / phi.len() as f64;
        phi.iter_mut().for_each(|phi| *phi -= mean);
        Ok(Some(phi))
    }

    pub fn systems(&self) -> Vec<&System<B>> {
        match &self.systems {
            Systems::Monodomain { for_d } => vec![for_d],
            Systems::Splitting { for_d, for_phi, .. } => vec![for_d, for_phi],
            Systems::Coupled { for_both, .. } => vec![for_both],
        }
    }

    pub fn systems_mut(&mut self) -> Vec<&mut System<B>> {
        match &mut self.systems {
            Systems::Monodomain { for_d } => vec![for_d],
            Systems::Splitting { for_d, for_phi, .. } => vec![for_d, for_phi],
            Systems::Coupled { for_both, .. } => vec![for_both],
        }
    }
}

/// The mass matrix. `lumped`, it has its row sums on the diagonal, in the same pattern.
fn mass(space: &P1, lumped: bool) -> Csr<f64> {
    let mut mass = space.mass();
    if lumped {
        let sums = space.lumped_mass();
        let (row_ptr, col_idx, values) = mass.parts_mut();
        for (i, sum) in sums.into_iter().enumerate() {
            for k in row_ptr[i]..row_ptr[i + 1] {
                values[k] = if col_idx[k] as usize == i { sum } else { 0.0 };
            }
        }
    }
    mass
}

/// kappa M + theta K.
fn step_matrix(mass: &Csr<f64>, k: &Csr<f64>, params: &Params) -> Csr<f64> {
    let (kappa, theta) = (params.kappa(), params.theta);
    let mut a = k.clone();
    a.values_mut().iter_mut().zip(mass.values()).for_each(|(a, m)| *a = kappa * m + theta * *a);
    a
}

/// The matrix of `n_cols` columns whose row i has a single entry, 1, in column `columns[i]`.
fn one_a_row(n_cols: usize, columns: impl Iterator<Item = usize>) -> Result<Csr<f64>> {
    let columns: Vec<u32> = columns.map(|column| column as u32).collect();
    let n_rows = columns.len();
    Csr::new(n_rows, n_cols, (0..=n_rows).collect(), columns, vec![1.0; n_rows])
}

/// Uploads a matrix, in the format that the device chooses.
fn operator<B: Hierarchies<f64>>(backend: &B, a: Csr<f64>) -> Result<B::Matrix> {
    backend.operator(&backend.assembled(&Arc::new(a), 1)?)
}
