//! The systems of the formulations.

use std::sync::Arc;

use super::domain::Domain;
use super::params::{Formulation, Params};
use super::regions::Conductivities;
use super::rows::{Rows, hold, mass, step_matrix};
use super::share::{Share, Unknowns};
use super::system::System;
use warpsolve_host::backend::Backend;
use warpsolve_host::error::Result;
use warpsolve_host::fem::{self, P1};
use warpsolve_host::matrix::{Csr, check};
use warpsolve_host::precond::amg::Assembles;
use warpsolve_host::solver::cg::CgSteps;

/// The systems of one formulation. The [module](super) has the equations.
// A simulation has one of these, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub(super) enum Systems<B: Backend<f64>> {
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
        to_rows: Arc<B::Matrix>,
        /// Takes d from the solution.
        d: Arc<B::Matrix>,
        /// Which of a node's two unknowns is phi.
        phi: usize,
    },
}

/// The way between cells and the rows of phi.
pub(super) struct Apart<B: Backend<f64>> {
    /// Copies the values of cells to the right-hand side.
    pub to_rows: Arc<B::Matrix>,
    /// Takes phi at the cells.
    pub at_cells: Arc<B::Matrix>,
}

/// What the systems are assembled from.
pub(super) struct Assembly<'a, B, const C: usize> {
    backend: &'a B,
    domain: &'a Domain<'a, C>,
    params: &'a Params,
    /// All of the mesh.
    everywhere: &'a P1<'a, C>,
    /// The tissue.
    inside: &'a P1<'a, C>,
    pub rows: Rows,
    /// K_m or K_i, of the cells.
    pub k: Csr<f64>,
    /// M of the cells.
    pub mass: Csr<f64>,
}

impl<'a, B: Assembles + CgSteps<f64> + 'static, const C: usize> Assembly<'a, B, C> {
    pub fn new(
        backend: &'a B,
        domain: &'a Domain<'a, C>,
        params: &'a Params,
        everywhere: &'a P1<'a, C>,
        inside: &'a P1<'a, C>,
    ) -> Result<Self> {
        let of = match params.formulation {
            Formulation::Monodomain => Conductivities::sigma_m,
            _ => Conductivities::sigma_i,
        };
        let k = inside.stiffness(|t| domain.tissue_conductivity(t, of));
        check::check_finite(&k)?;
        let (rows, mass) = (Rows::new(domain), mass(inside, params.has_lumped_mass()));
        Ok(Assembly { backend, domain, params, everywhere, inside, rows, k, mass })
    }

    /// The systems of the formulation.
    pub fn systems(&self) -> Result<Systems<B>> {
        match self.params.formulation {
            Formulation::Monodomain => Ok(Systems::Monodomain { for_d: self.for_d()? }),
            Formulation::Splitting => self.splitting(),
            Formulation::Coupled => self.coupled(),
            Formulation::Potentials => self.potentials(),
        }
    }

    fn share(&self) -> &'a Share {
        self.domain.share()
    }

    /// kappa M + theta K
    fn for_d(&self) -> Result<System<B>> {
        let a = step_matrix(&self.mass, &self.k, self.params);
        System::parabolic(self.backend, self.share(), a, self.params)
    }

    /// The stiffness matrix of all of the mesh.
    fn outside(&self, of: fn(&Conductivities) -> [f64; 2]) -> Csr<f64> {
        self.everywhere.stiffness(|t| self.domain.conductivity(t, of))
    }

    fn splitting(&self) -> Result<Systems<B>> {
        let Assembly { backend, domain, params, rows, .. } = self;
        let (share, nodes, cells) = (self.share(), Unknowns::Nodes(1), Unknowns::Cells);
        let mut k_ie = self.outside(Conductivities::sigma_ie);
        hold(&mut k_ie, |row| rows.grounded[row]);
        let apart = || -> Result<Apart<B>> {
            let to_rows = rows.selection(rows.nodes(), |row| rows.current_of(row))?;
            let at_cells = rows.of_cells(1, |node| [(node, 1.0)])?;
            Ok(Apart {
                to_rows: operator(*backend, share, to_rows, (nodes, cells))?,
                at_cells: operator(*backend, share, at_cells, (cells, nodes))?,
            })
        };
        Ok(Systems::Splitting {
            for_d: self.for_d()?,
            for_phi: System::elliptic(*backend, share, "elliptic", k_ie, (1, 1), params)?,
            sum: backend.zeros(share.count(cells))?,
            apart: (domain.has_bath() || !params.grounds.is_empty()).then(apart).transpose()?,
        })
    }

    fn coupled(&self) -> Result<Systems<B>> {
        let (rows, k_ie) = (&self.rows, self.outside(Conductivities::sigma_ie));
        let mass = rows.spread(&self.mass);
        let mut a = fem::bidomain(&rows.spread(&self.k), &k_ie, &mass, self.params.kappa())?;
        hold(&mut a, |row| row % 2 == 0 && rows.grounded[row / 2]);
        // -K_i v* in both rows.
        let to_rows = rows.selection(2 * rows.nodes(), |row| match row % 2 {
            0 => rows.current_of(row / 2),
            _ => rows.cells[row / 2],
        })?;
        let d = rows.of_cells(2, |node| [(2 * node + 1, 1.0)])?;
        let for_both = System::elliptic(self.backend, self.share(), "coupled", a, (2, 2), self.params)?;
        self.one_system(for_both, to_rows, d, 0)
    }

    fn potentials(&self) -> Result<Systems<B>> {
        let (rows, k_e) = (&self.rows, self.outside(Conductivities::sigma_e));
        let mut c = vec![0.0; rows.nodes()];
        for (cell, mass) in self.inside.lumped_mass().into_iter().enumerate() {
            c[rows.node(cell)] = self.params.kappa() * mass;
        }
        let mut a = fem::potentials(&rows.spread(&self.k), &k_e, &c)?;
        hold(&mut a, |row| row % 2 == 1 && rows.grounded[row / 2]);
        // -K_i v* in the rows of u_i.
        let to_rows = rows.selection(2 * rows.nodes(), |row| match row % 2 {
            0 => rows.cells[row / 2],
            _ => None,
        })?;
        // (u_i - v*) - u_e
        let d = rows.of_cells(2, |node| [(2 * node, 1.0), (2 * node + 1, -1.0)])?;
        let for_both = System::elliptic(self.backend, self.share(), "potentials", a, (2, 1), self.params)?;
        self.one_system(for_both, to_rows, d, 1)
    }

    fn one_system(
        &self,
        for_both: System<B>,
        to_rows: Csr<f64>,
        d: Csr<f64>,
        phi: usize,
    ) -> Result<Systems<B>> {
        let (backend, share, both, cells) = (self.backend, self.share(), Unknowns::Nodes(2), Unknowns::Cells);
        Ok(Systems::OneSystem {
            for_both,
            current: backend.zeros(share.count(cells))?,
            to_rows: operator(backend, share, to_rows, (both, cells))?,
            d: operator(backend, share, d, (cells, both))?,
            phi,
        })
    }
}

/// Uploads a matrix, in the format that the device chooses. All ranks call this.
pub(super) fn operator<B: Assembles>(
    backend: &B,
    share: &Share,
    a: Csr<f64>,
    (rows, columns): (Unknowns, Unknowns),
) -> Result<Arc<B::Matrix>> {
    backend.product(&backend.rows(share.piece(a, rows, columns)?, 1)?)
}
