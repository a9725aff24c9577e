//! The second half of a step: the voltage that the cells have changed diffuses.

use std::sync::Arc;
use warpsolve_host::backend::Then;
use warpsolve_host::solver::cg::CgSteps;

use super::domain::Domain;
use super::electrodes::{Electrode, electrodes};
use super::params::{Formulation, Params};
use super::stimulus::Stimulus;
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
    /// The extracellular stimuli, each with its currents in the rows of the system that has phi.
    electrodes: Vec<(Stimulus, B::Vector)>,
    is_grounded: bool,
    dt: f64,
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
        /// v* + phi, later -K_i v.
        sum: B::Vector,
        /// Copies the value of each node to its row, but for grounded nodes. `None` where there are none.
        once: Option<B::Matrix>,
    },
    Coupled {
        for_both: System<B>,
        /// -K_i v*.
        current: B::Vector,
        /// Copies the value of each node to its two rows, but for those of a grounded phi.
        twice: B::Matrix,
        /// Takes d from (phi, d).
        d_alone: B::Matrix,
    },
}

impl<B: Hierarchies<f64> + CgSteps<f64> + 'static> Diffusion<B> {
    /// Assembles the systems.
    pub fn new(backend: &B, domain: &Domain, params: &Params) -> Result<Self> {
        let space = domain.space()?;
        let stiffness = |[along, across]: [f64; 2]| {
            space.stiffness(|t| transversely_isotropic(domain.fibre(t), along, across))
        };
        let tissue = &params.tissue;
        let k = stiffness(match params.formulation {
            Formulation::Monodomain => tissue.sigma_m(),
            Formulation::Splitting | Formulation::Coupled => tissue.sigma_i(),
        });
        check::check_finite(&k)?;
        let mass = mass(&space, params.lumped_mass);
        let grounded = domain.grounded(params)?;
        let is_grounded = grounded.contains(&true);
        let for_d = || System::parabolic(backend, step_matrix(&mass, &k, params), params);
        let n = space.n_nodes();
        let (systems, unknowns) = match params.formulation {
            Formulation::Monodomain => (Systems::Monodomain { for_d: for_d()? }, 1),
            Formulation::Splitting => {
                let mut a = stiffness(tissue.sigma_ie());
                hold(&mut a, |row| grounded[row]);
                let once = is_grounded
                    .then(|| operator(backend, one_a_row(n, (0..n).map(|row| (row, !grounded[row])))?));
                let systems = Systems::Splitting {
                    for_d: for_d()?,
                    for_phi: System::elliptic(backend, "elliptic", a, 1, params)?,
                    sum: backend.zeros(n)?,
                    once: once.transpose()?,
                };
                (systems, 1)
            }
            Formulation::Coupled => {
                let mut a = fem::bidomain(&k, &stiffness(tissue.sigma_ie()), &mass, params.kappa())?;
                let is_held = |row: usize| row % 2 == 0 && grounded[row / 2];
                hold(&mut a, is_held);
                let twice = one_a_row(n, (0..2 * n).map(|row| (row / 2, !is_held(row))))?;
                let d_alone = one_a_row(2 * n, (0..n).map(|node| (2 * node + 1, true)))?;
                let systems = Systems::Coupled {
                    for_both: System::elliptic(backend, "coupled", a, 2, params)?,
                    current: backend.zeros(n)?,
                    twice: operator(backend, twice)?,
                    d_alone: operator(backend, d_alone)?,
                };
                (systems, 2)
            }
        };
        let in_rows = |Electrode { stimulus, currents }: Electrode| {
            let mut rows = vec![0.0; unknowns * n];
            for (node, current) in currents.into_iter().enumerate().filter(|(node, _)| !grounded[*node]) {
                rows[unknowns * node] = current;
            }
            Ok((stimulus, backend.vector(&rows)?))
        };
        let electrodes = electrodes(params, &domain.points, domain.bounds, &mass)?;
        Ok(Diffusion {
            minus_k: operator(backend, k.map_values(|v| -v))?,
            systems,
            electrodes: electrodes.into_iter().map(in_rows).collect::<Result<_>>()?,
            is_grounded,
            dt: params.dt,
            scalars: backend.scalars(1)?,
        })
    }

    /// Computes v at the time `to` (ms), and phi, from v* of the step that began at `from`.
    pub fn advance(&mut self, backend: &B, v: &mut B::Vector, [from, to]: [f64; 2]) -> Result<Iterations> {
        let Diffusion { minus_k, systems, electrodes, dt, scalars: s, .. } = self;
        // b += s
        let add_currents = |b: &mut B::Vector| {
            electrodes.iter().try_for_each(|(stimulus, currents)| match stimulus.share(from, *dt) {
                0.0 => Ok(()),
                share => backend.axpby(s, Coef::constant(share), currents, Coef::ONE, b),
            })
        };
        match systems {
            Systems::Monodomain { for_d } => {
                backend.multiply(minus_k, v, Then::Store { y: &mut for_d.b })?;
                let parabolic = for_d.solve(backend, to)?;
                backend.axpby(s, Coef::ONE, &for_d.x, Coef::ONE, v)?;
                Ok(Iterations { parabolic, elliptic: 0 })
            }
            Systems::Splitting { for_d, for_phi, sum, once } => {
                backend.copy(v, sum)?;
                backend.axpby(s, Coef::ONE, &for_phi.x, Coef::ONE, sum)?;
                backend.multiply(minus_k, sum, Then::Store { y: &mut for_d.b })?;
                let parabolic = for_d.solve(backend, to)?;
                backend.axpby(s, Coef::ONE, &for_d.x, Coef::ONE, v)?;
                match once {
                    None => backend.multiply(minus_k, v, Then::Store { y: &mut for_phi.b })?,
                    Some(once) => {
                        backend.multiply(minus_k, v, Then::Store { y: sum })?;
                        backend.multiply(once, sum, Then::Store { y: &mut for_phi.b })?;
                    }
                }
                add_currents(&mut for_phi.b)?;
                let elliptic = for_phi.solve(backend, to)?;
                Ok(Iterations { parabolic, elliptic })
            }
            Systems::Coupled { for_both, current, twice, d_alone } => {
                backend.multiply(minus_k, v, Then::Store { y: current })?;
                backend.multiply(twice, current, Then::Store { y: &mut for_both.b })?;
                add_currents(&mut for_both.b)?;
                let elliptic = for_both.solve(backend, to)?;
                backend.multiply(d_alone, &for_both.x, Then::Add { y: v })?;
                Ok(Iterations { parabolic: 0, elliptic })
            }
        }
    }

    /// phi of each node, with mean 0 over the nodes if nothing is grounded; `None` for the monodomain
    /// equation.
    pub fn phi(&self, backend: &B) -> Result<Option<Vec<f64>>> {
        let mut phi = match &self.systems {
            Systems::Monodomain { .. } => return Ok(None),
            Systems::Splitting { for_phi, .. } => backend.to_host(&for_phi.x)?,
            Systems::Coupled { for_both, .. } => {
                backend.to_host(&for_both.x)?.into_iter().step_by(2).collect()
            }
        };
        if !self.is_grounded {
            // After many steps the mean holds rounding errors.
            let mean = phi.iter().sum::<f64>() / phi.len() as f64;
            phi.iter_mut().for_each(|phi| *phi -= mean);
        }
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

/// Takes unknowns that are held at 0 out of a symmetric matrix, but for their diagonal entries: they stay 0
/// where the right-hand side is.
fn hold(a: &mut Csr<f64>, is_held: impl Fn(usize) -> bool) {
    let (row_ptr, col_idx, values) = a.parts_mut();
    for row in 0..row_ptr.len() - 1 {
        for k in row_ptr[row]..row_ptr[row + 1] {
            let column = col_idx[k] as usize;
            if column != row && (is_held(row) || is_held(column)) {
                values[k] = 0.0;
            }
        }
    }
}

/// The matrix of `n_cols` columns with a single entry in each row: its column, and 1 or 0.
fn one_a_row(n_cols: usize, entries: impl Iterator<Item = (usize, bool)>) -> Result<Csr<f64>> {
    let (columns, values): (Vec<u32>, Vec<f64>) =
        entries.map(|(column, is_one)| (column as u32, f64::from(is_one))).unzip();
    let n_rows = columns.len();
    Csr::new(n_rows, n_cols, (0..=n_rows).collect(), columns, values)
}

/// Uploads a matrix, in the format that the device chooses.
fn operator<B: Hierarchies<f64>>(backend: &B, a: Csr<f64>) -> Result<B::Matrix> {
    backend.operator(&backend.assembled(&Arc::new(a), 1)?)
}
