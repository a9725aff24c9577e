//! A mesh as a simulation takes it: checked, with its nodes in order.

use std::borrow::Cow;

use super::order::Order;
use super::params::Params;
use super::regions::Conductivities;
use crate::mesh::{Mesh, Part};
use warpsolve_host::error::{Error, MeshFault, Result};
use warpsolve_host::fem::{P1, transversely_isotropic};

/// Points, cells, fibres and conductivities, of all of the mesh and of its tissue.
pub(super) struct Domain<'m, const C: usize> {
    pub points: Cow<'m, [[f64; 3]]>,
    cells: Cow<'m, [[u32; C]]>,
    fibres: Option<&'m [[f64; 3]]>,
    regions: Option<&'m [i32]>,
    params: &'m Params,
    /// What has cells; `None` where all has.
    tissue: Option<Part<C>>,
    /// The corners of its bounding box.
    pub bounds: [[f64; 3]; 2],
}

impl<'m, const C: usize> Domain<'m, C> {
    /// # Errors
    /// [`Error::MeshFault`] for a mesh of several components, or without fibres where the tissue conducts
    /// differently along and across them; [`Error::Option`] for regions that are not there.
    pub fn new(mesh: &'m Mesh<C>, order: &Order, params: &'m Params) -> Result<Self> {
        check_connected(mesh)?;
        let is_tissue = params.tissue_cells(mesh)?;
        let is_anisotropic = || {
            let tissue = params.tissue.is_anisotropic();
            tissue || params.regions.iter().any(|region| region.conductivities.is_anisotropic())
        };
        if mesh.fibres().is_none() && is_anisotropic() {
            return Err(Error::MeshFault {
                fault: MeshFault::NoFibres,
                message: "the mesh has no fibres, along and across which the tissue conducts differently"
                    .into(),
            });
        }
        let (points, cells) = order.renumbered(mesh);
        let tissue = is_tissue.map(|is_tissue| Part::of(&points, &cells, |t| is_tissue[t]));
        let (fibres, regions, bounds) = (mesh.fibres(), mesh.regions(), mesh.bounding_box());
        Ok(Domain { points, cells, fibres, regions, params, tissue, bounds })
    }

    /// The elements on all of it.
    pub fn space(&self) -> Result<P1<'_, C>> {
        P1::new(&self.points, &self.cells)
    }

    /// The elements on the tissue, with its own numbers of nodes; `None` where that is all.
    pub fn tissue_space(&self) -> Result<Option<P1<'_, C>>> {
        self.tissue.as_ref().map(|tissue| P1::new(&tissue.points, &tissue.cells)).transpose()
    }

    /// The node of each cell of the heart; `None` where every node has one, in the same order.
    pub fn cell_nodes(&self) -> Option<&[u32]> {
        self.tissue.as_ref().map(|tissue| tissue.nodes.as_slice())
    }

    /// Nodes that have a cell of the heart.
    pub fn nodes_with_cells(&self) -> usize {
        self.cell_nodes().map_or(self.points.len(), <[u32]>::len)
    }

    /// The conductivity tensor of element t along and across its fibres. Without fibres all is isotropic,
    /// and their direction does not matter.
    pub fn conductivity(&self, t: usize, of: impl Fn(&Conductivities) -> [f64; 2]) -> [[f64; 3]; 3] {
        let [along, across] = of(&self.params.conductivities(self.regions.map(|tags| tags[t])));
        let fibre = self.fibres.map_or([1.0, 0.0, 0.0], |fibres| fibres[t]);
        transversely_isotropic(fibre, along, across)
    }

    /// [`Domain::conductivity`] of element t of the tissue.
    pub fn tissue_conductivity(&self, t: usize, of: impl Fn(&Conductivities) -> [f64; 2]) -> [[f64; 3]; 3] {
        self.conductivity(self.tissue.as_ref().map_or(t, |tissue| tissue.numbers[t] as usize), of)
    }

    /// Whether each node is grounded.
    ///
    /// # Errors
    /// [`Error::Option`] for a ground that no node is within.
    pub fn grounded(&self, params: &Params) -> Result<Vec<bool>> {
        let mut grounded = vec![false; self.points.len()];
        for (k, ground) in params.grounds.iter().enumerate() {
            let within = ground.nodes(&format!("ground {}", k + 1), &self.points, self.bounds)?;
            grounded.iter_mut().zip(within).for_each(|(grounded, is_in)| *grounded |= is_in);
        }
        Ok(grounded)
    }
}

impl Params {
    /// The part of `mesh` that has cells, with the number that each of its nodes has in `mesh`; `None` where
    /// all of it has cells.
    ///
    /// # Errors
    /// [`Error::Option`] for a region that is not in the mesh, or where everything is bath.
    pub fn tissue_of<const C: usize>(&self, mesh: &Mesh<C>) -> Result<Option<(Mesh<C>, Vec<u32>)>> {
        let is_tissue = self.tissue_cells(mesh)?;
        Ok(is_tissue.map(|is_tissue| mesh.part(|t| is_tissue[t])))
    }

    /// Whether each element has cells of the heart; `None` where all have.
    pub(super) fn tissue_cells<const C: usize>(&self, mesh: &Mesh<C>) -> Result<Option<Vec<bool>>> {
        if self.regions.is_empty() {
            return Ok(None);
        }
        let Some(tags) = mesh.regions() else {
            return Err(Error::Option(format!(
                "region {} is named, but the mesh has no regions; number them in the mesh's file",
                self.regions[0].tag
            )));
        };
        if let Some(region) = self.regions.iter().find(|region| !tags.contains(&region.tag)) {
            let mut known = tags.to_vec();
            known.sort_unstable();
            known.dedup();
            return Err(Error::Option(format!(
                "region {} is not in the mesh, whose regions are {known:?}; name one of these",
                region.tag
            )));
        }
        let is_tissue: Vec<bool> =
            tags.iter().map(|&tag| !self.conductivities(Some(tag)).is_bath()).collect();
        if !is_tissue.contains(&true) {
            return Err(Error::Option(
                "all of the mesh is bath: there is no tissue; leave a region that has cells".into(),
            ));
        }
        Ok(is_tissue.contains(&false).then_some(is_tissue))
    }
}

/// Refuses a mesh in several pieces. No wave would cross from one to another, and phi would be defined up to
/// a constant in each of them.
fn check_connected<const C: usize>(mesh: &Mesh<C>) -> Result<()> {
    let components = mesh.components();
    match components.iter().position(|&component| component > 0) {
        None => Ok(()),
        Some(node) => Err(Error::MeshFault {
            fault: MeshFault::Components,
            message: format!(
                "the mesh has {} components that share no nodes (node {} is not in that of node 1); merge nodes \
                 that are there twice",
                components.iter().max().map_or(0, |&last| last + 1),
                node + 1
            ),
        }),
    }
}
