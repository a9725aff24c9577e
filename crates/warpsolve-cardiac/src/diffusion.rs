//! The second half of a step: the voltage that the cells have changed diffuses.

use std::sync::Arc;
use warpsolve_host::backend::Then;
use warpsolve_host::solver::cg::CgSteps;

use super::domain::Domain;
use super::electrodes::{Electrode, electrodes};
use super::params::{Formulation, Params};
use super::regions::Conductivities;
use super::rows::{Rows, hold, mass, step_matrix};
use super::stimulus::Stimulus;
use super::system::System;
use warpsolve_host::backend::{Backend, Coef};
use warpsolve_host::error::Result;
use warpsolve_host::fem;
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
        /// v* + phi, later -K_i v, of each cell.
        sum: B::Vector,
        /// Where not every row of phi is that of a cell, because there is a bath or a ground.
        apart: Option<Apart<B>>,
    },
    /// Coupled, or in potentials.
    OneSystem {
        for_both: System<B>,
        /// -K_i v*.
        current: B::Vector,
        /// Copies the values of cells to the right-hand side.
        to_rows: B::Matrix,
        /// Takes d from the solution.
        d: B::Matrix,
        /// Which of a node's two unknowns is phi.
        phi: usize,
    },
}

/// The way between cells and the rows of phi.
struct Apart<B: Backend<f64>> {
    /// Copies the values of cells to the right-hand side.
    to_rows: B::Matrix,
    /// Takes phi at the cells.
    at_cells: B::Matrix,
}

impl<B: Hierarchies<f64> + CgSteps<f64> + 'static> Diffusion<B> {
    /// Assembles the systems.
    pub fn new<const C: usize>(backend: &B, domain: &Domain<C>, params: &Params) -> Result<Self> {
        let (everywhere, tissue) = (domain.space()?, domain.tissue_space()?);
        let inside = tissue.as_ref().unwrap_or(&everywhere);
        let is_lumped = params.has_lumped_mass();
        let k = inside.stiffness(|t| {
            domain.tissue_conductivity(
                t,
                match params.formulation {
                    Formulation::Monodomain => Conductivities::sigma_m,
                    _ => Conductivities::sigma_i,
                },
            )
        });
        check::check_finite(&k)?;
        let cell_mass = mass(inside, is_lumped);
        let rows = Rows::new(domain, params)?;
        let for_d = || System::parabolic(backend, step_matrix(&cell_mass, &k, params), params);
        let outside =
            |of: fn(&Conductivities) -> [f64; 2]| everywhere.stiffness(|t| domain.conductivity(t, of));
        let systems = match params.formulation {
            Formulation::Monodomain => Systems::Monodomain { for_d: for_d()? },
            Formulation::Splitting => {
                let mut a = outside(Conductivities::sigma_ie);
                hold(&mut a, |row| rows.grounded[row]);
                let apart = || -> Result<Apart<B>> {
                    let to_rows = rows.selection(rows.nodes(), |row| rows.current_of(row))?;
                    let at_cells = rows.of_cells(1, |node| [(node, 1.0)])?;
                    Ok(Apart { to_rows: operator(backend, to_rows)?, at_cells: operator(backend, at_cells)? })
                };
                Systems::Splitting {
                    for_d: for_d()?,
                    for_phi: System::elliptic(backend, "elliptic", a, (1, 1), params)?,
                    sum: backend.zeros(k.n_rows())?,
                    apart: rows.are_apart().then(apart).transpose()?,
                }
            }
            Formulation::Coupled | Formulation::Potentials => {
                let (k_i, is_coupled) = (rows.spread(&k), params.formulation == Formulation::Coupled);
                let phi = usize::from(!is_coupled);
                let mut a = if is_coupled {
                    let k_ie = outside(Conductivities::sigma_ie);
                    fem::bidomain(&k_i, &k_ie, &rows.spread(&cell_mass), params.kappa())?
                } else {
                    let mut c = vec![0.0; rows.nodes()];
                    for (cell, mass) in inside.lumped_mass().into_iter().enumerate() {
                        c[rows.node(cell)] = params.kappa() * mass;
                    }
                    fem::potentials(&k_i, &outside(Conductivities::sigma_e), &c)?
                };
                hold(&mut a, |row| row % 2 == phi && rows.grounded[row / 2]);
                let name = if is_coupled { "coupled" } else { "potentials" };
                let to_rows = rows.selection(2 * rows.nodes(), |row| match (is_coupled, row % 2) {
                    (true, 0) => rows.current_of(row / 2),
                    (true, _) | (false, 0) => rows.cells[row / 2],
                    (false, _) => None,
                })?;
                let d = if is_coupled {
                    rows.of_cells(2, |node| [(2 * node + 1, 1.0)])?
                } else {
                    rows.of_cells(2, |node| [(2 * node, 1.0), (2 * node + 1, -1.0)])?
                };
                Systems::OneSystem {
                    for_both: System::elliptic(
                        backend,
                        name,
                        a,
                        (2, if is_coupled { 2 } else { 1 }),
                        params,
                    )?,
                    current: backend.zeros(k.n_rows())?,
                    to_rows: operator(backend, to_rows)?,
                    d: operator(backend, d)?,
                    phi,
                }
            }
        };
        let electrodes = match tissue {
            None => electrodes(params, domain, &cell_mass)?,
            Some(_) => electrodes(params, domain, &mass(&everywhere, is_lumped))?,
        };
        let (unknowns, phi) = match systems {
            Systems::OneSystem { phi, .. } => (2, phi),
            _ => (1, 0),
        };
        let in_rows = |Electrode { stimulus, currents }: Electrode| {
            let mut b = vec![0.0; unknowns * rows.nodes()];
            for (node, current) in currents.into_iter().enumerate().filter(|(node, _)| !rows.grounded[*node])
            {
                b[unknowns * node + phi] = current;
            }
            Ok((stimulus, backend.vector(&b)?))
        };
        Ok(Diffusion {
            minus_k: operator(backend, k.map_values(|v| -v))?,
            systems,
            electrodes: electrodes.into_iter().map(in_rows).collect::<Result<_>>()?,
            is_grounded: !params.grounds.is_empty(),
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
            Systems::Splitting { for_d, for_phi, sum, apart } => {
                backend.copy(v, sum)?;
                match apart {
                    None => backend.axpby(s, Coef::ONE, &for_phi.x, Coef::ONE, sum)?,
                    Some(apart) => backend.multiply(&apart.at_cells, &for_phi.x, Then::Add { y: sum })?,
                }
                backend.multiply(minus_k, sum, Then::Store { y: &mut for_d.b })?;
                let parabolic = for_d.solve(backend, to)?;
                backend.axpby(s, Coef::ONE, &for_d.x, Coef::ONE, v)?;
                match apart {
                    None => backend.multiply(minus_k, v, Then::Store { y: &mut for_phi.b })?,
                    Some(apart) => {
                        backend.multiply(minus_k, v, Then::Store { y: sum })?;
                        backend.multiply(&apart.to_rows, sum, Then::Store { y: &mut for_phi.b })?;
                    }
                }
                add_currents(&mut for_phi.b)?;
                let elliptic = for_phi.solve(backend, to)?;
                Ok(Iterations { parabolic, elliptic })
            }
            Systems::OneSystem { for_both, current, to_rows, d, .. } => {
                backend.multiply(minus_k, v, Then::Store { y: current })?;
                backend.multiply(to_rows, current, Then::Store { y: &mut for_both.b })?;
                add_currents(&mut for_both.b)?;
                let elliptic = for_both.solve(backend, to)?;
                backend.multiply(d, &for_both.x, Then::Add { y: v })?;
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
            Systems::OneSystem { for_both, phi, .. } => {
                backend.to_host(&for_both.x)?.into_iter().skip(*phi).step_by(2).collect()
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
            Systems::OneSystem { for_both, .. } => vec![for_both],
        }
    }

    pub fn systems_mut(&mut self) -> Vec<&mut System<B>> {
        match &mut self.systems {
            Systems::Monodomain { for_d } => vec![for_d],
            Systems::Splitting { for_d, for_phi, .. } => vec![for_d, for_phi],
            Systems::OneSystem { for_both, .. } => vec![for_both],
        }
    }
}

/// Uploads a matrix, in the format that the device chooses.
fn operator<B: Hierarchies<f64>>(backend: &B, a: Csr<f64>) -> Result<B::Matrix> {
    backend.operator(&backend.assembled(&Arc::new(a), 1)?)
}
