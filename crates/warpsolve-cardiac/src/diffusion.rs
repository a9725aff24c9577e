//! The second half of a step: the voltage that the cells have changed diffuses.

use std::sync::Arc;

use super::domain::Domain;
use super::electrodes::{Electrode, electrodes};
use super::formulations::{Assembly, Systems, operator};
use super::params::Params;
use super::rows::mass;
use super::share::{Share, Unknowns};
use super::stimulus::Stimulus;
use super::system::System;
use warpsolve_host::backend::{Backend, Coef, Then};
use warpsolve_host::error::Result;
use warpsolve_host::precond::amg::Assembles;
use warpsolve_host::solver::cg::CgSteps;

/// Iterations of a step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Iterations {
    pub parabolic: u32,
    pub elliptic: u32,
}

/// The second half of every step.
pub(super) struct Diffusion<B: Backend<f64>> {
    /// -K_m or -K_i.
    minus_k: Arc<B::Matrix>,
    systems: Systems<B>,
    /// The extracellular stimuli, each with its currents in the rows of the system that has phi.
    electrodes: Vec<(Stimulus, B::Vector)>,
    is_grounded: bool,
    dt: f64,
    scalars: B::Scalars,
}

impl<B: Assembles + CgSteps<f64> + 'static> Diffusion<B> {
    /// Assembles the systems. All ranks call this.
    pub fn new<const C: usize>(backend: &B, domain: &Domain<C>, params: &Params) -> Result<Self> {
        let (share, cells) = (domain.share(), Unknowns::Cells);
        let (everywhere, tissue) = (share.agree(domain.space())?, share.agree(domain.tissue_space())?);
        let inside = tissue.as_ref().unwrap_or(&everywhere);
        let assembly = share.agree(Assembly::new(backend, domain, params, &everywhere, inside))?;
        let systems = assembly.systems()?;
        let of_all = tissue.as_ref().map(|_| mass(&everywhere, params.has_lumped_mass()));
        let of_all = of_all.as_ref().unwrap_or(&assembly.mass);
        let electrodes = share.agree(electrodes(params, domain.places(), share, of_all))?;
        let (unknowns, phi) = match systems {
            Systems::OneSystem { phi, .. } => (2, phi),
            _ => (1, 0),
        };
        let grounded = share.own(assembly.rows.grounded, Unknowns::Nodes(1));
        let in_rows = |Electrode { stimulus, currents }: Electrode| {
            let mut b = vec![0.0; unknowns * grounded.len()];
            for (node, current) in currents.into_iter().enumerate() {
                b[unknowns * node + phi] = if grounded[node] { 0.0 } else { current };
            }
            Ok((stimulus, backend.vector(&b)?))
        };
        let minus_k = operator(backend, share, assembly.k.map_values(|v| -v), (cells, cells))?;
        Ok(Diffusion {
            minus_k,
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

    /// phi of each node of this rank, with mean 0 over all nodes if nothing is grounded; `None` for the
    /// monodomain equation. All ranks call this.
    pub fn phi(&self, backend: &B, share: &Share) -> Result<Option<Vec<f64>>> {
        let mut phi: Vec<f64> = match &self.systems {
            Systems::Monodomain { .. } => return Ok(None),
            Systems::Splitting { for_phi, .. } => backend.to_host(&for_phi.x)?,
            Systems::OneSystem { for_both, phi, .. } => {
                backend.to_host(&for_both.x)?.into_iter().skip(*phi).step_by(2).collect()
            }
        };
        if !self.is_grounded {
            // After many steps the mean holds rounding errors.
            let [sum, nodes] = share.sums([phi.iter().sum(), phi.len() as f64])?;
            let mean = sum / nodes;
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
