//! A mesh as a simulation takes it: checked, with its nodes in order, and of several ranks what this one
//! assembles on.

use std::borrow::Cow;
use std::sync::Arc;

use super::order::Order;
use super::params::Params;
use super::regions::Conductivities;
use super::shape::Shape;
use super::share::{Assembled, Share, Unknowns};
use crate::mesh::{Mesh, Part};
use warpsolve_host::comm::Comm;
use warpsolve_host::error::{Error, MeshFault, Result};
use warpsolve_host::fem::{P1, transversely_isotropic};

/// Points, elements, fibres and conductivities, of all of the mesh and of its tissue.
pub(super) struct Domain<'m, const C: usize> {
    /// Of the whole mesh.
    points: Cow<'m, [[f64; 3]]>,
    cells: Cow<'m, [[u32; C]]>,
    fibres: Option<&'m [[f64; 3]]>,
    regions: Option<&'m [i32]>,
    params: &'m Params,
    /// The nodes of the whole mesh that have a cell of the heart, ascending; `None` where all have.
    cell_nodes: Option<Vec<u32>>,
    /// The corners of the mesh's bounding box.
    bounds: [[f64; 3]; 2],
    /// What this rank assembles on; `None` where that is all.
    assembled: Option<Part<C>>,
    /// What of that has cells; `None` where all has.
    tissue: Option<Part<C>>,
    share: Share,
}

impl<'m, const C: usize> Domain<'m, C> {
    /// Of one rank, or of one of several.
    ///
    /// # Errors
    /// [`Error::MeshFault`] for a mesh of several components, or without fibres where the tissue conducts
    /// differently along and across them; [`Error::Option`] for regions that are not there.
    pub fn new(
        mesh: &'m Mesh<C>,
        order: &Order,
        params: &'m Params,
        comm: Option<&Arc<dyn Comm>>,
    ) -> Result<Self> {
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
        let of_all = is_tissue.as_ref().map(|is_tissue| Part::of(&points, &cells, |t| is_tissue[t]));
        let (nodes, cell_nodes) = (points.len(), of_all.as_ref().map(|tissue| tissue.nodes.clone()));
        let count = cell_nodes.as_ref().map_or(nodes, Vec::len);
        let (assembled, tissue, share) = match comm {
            None => (None, of_all, Share::all(count, nodes)),
            Some(comm) => {
                let its = Assembled::new(&points, &cells, comm.rank(), comm.size());
                let Part { points, cells, numbers, .. } = &its.part;
                let tissue = is_tissue.map(|is| Part::of(points, cells, |t| is[numbers[t] as usize]));
                let local = tissue.as_ref().map(|tissue| &tissue.nodes[..]);
                let share = Share::of(comm, &its, cell_nodes.as_deref(), local);
                (Some(its.part), tissue, share)
            }
        };
        let (fibres, regions, bounds) = (mesh.fibres(), mesh.regions(), mesh.bounding_box());
        Ok(Domain { points, cells, fibres, regions, params, cell_nodes, bounds, assembled, tissue, share })
    }

    /// What this rank has of it.
    pub fn share(&self) -> &Share {
        &self.share
    }

    /// The same, with the number of all nodes, and those of them that have a cell of the heart; `None` where
    /// all have.
    pub fn into_share(self) -> (Share, usize, Option<Vec<u32>>) {
        (self.share, self.points.len(), self.cell_nodes)
    }

    /// The elements that this rank assembles on.
    pub fn space(&self) -> Result<P1<'_, C>> {
        match &self.assembled {
            None => P1::new(&self.points, &self.cells),
            Some(part) => P1::new(&part.points, &part.cells),
        }
    }

    /// Those of them on the tissue, with their own numbers of nodes; `None` where all are.
    pub fn tissue_space(&self) -> Result<Option<P1<'_, C>>> {
        self.tissue.as_ref().map(|tissue| P1::new(&tissue.points, &tissue.cells)).transpose()
    }

    /// Nodes that this rank assembles for.
    pub fn nodes(&self) -> usize {
        self.assembled.as_ref().map_or(self.points.len(), |part| part.points.len())
    }

    /// Those of them that have a cell of the heart, ascending; `None` where all have.
    pub fn cell_nodes(&self) -> Option<&[u32]> {
        self.tissue.as_ref().map(|tissue| tissue.nodes.as_slice())
    }

    /// Whether some of the mesh has no cells.
    pub fn has_bath(&self) -> bool {
        self.cell_nodes.is_some()
    }

    /// The conductivity tensor of element t along and across its fibres. Without fibres all is isotropic,
    /// and their direction does not matter.
    pub fn conductivity(&self, t: usize, of: impl Fn(&Conductivities) -> [f64; 2]) -> [[f64; 3]; 3] {
        let t = self.assembled.as_ref().map_or(t, |part| part.numbers[t] as usize);
        let [along, across] = of(&self.params.conductivities(self.regions.map(|tags| tags[t])));
        let fibre = self.fibres.map_or([1.0, 0.0, 0.0], |fibres| fibres[t]);
        transversely_isotropic(fibre, along, across)
    }

    /// [`Domain::conductivity`] of element t of the tissue.
    pub fn tissue_conductivity(&self, t: usize, of: impl Fn(&Conductivities) -> [f64; 2]) -> [[f64; 3]; 3] {
        self.conductivity(self.tissue.as_ref().map_or(t, |tissue| tissue.numbers[t] as usize), of)
    }

    /// Whether each node that this rank assembles for is inside. `what` stands at the place, for the message.
    ///
    /// # Errors
    /// [`Error::Option`] where none of the mesh is.
    pub fn nodes_within(&self, shape: &Shape, what: &str) -> Result<Vec<bool>> {
        let within = shape.nodes(what, &self.points, self.bounds)?;
        Ok(self.share.assembled(within, Unknowns::Nodes(1)))
    }

    /// 1 for the cells of this rank at which a stimulus acts, 0 for the others.
    ///
    /// # Errors
    /// [`Error::Option`] where it acts at none of the mesh.
    pub fn cells_within(&self, shape: &Shape, what: &str) -> Result<Vec<f64>> {
        let within = shape.nodes(what, &self.points, self.bounds)?;
        let cells: Vec<bool> = match &self.cell_nodes {
            None => within,
            Some(nodes) => {
                let cells: Vec<bool> = nodes.iter().map(|&node| within[node as usize]).collect();
                if !cells.contains(&true) {
                    return Err(Error::Option(format!(
                        "{what} acts at no cell: all {} nodes within its {shape} are in the bath; move it into the \
                         tissue, or make it extracellular",
                        within.iter().filter(|is_in| **is_in).count()
                    )));
                }
                cells
            }
        };
        let its = self.share.own(self.share.assembled(cells, Unknowns::Cells), Unknowns::Cells);
        Ok(its.into_iter().map(f64::from).collect())
    }

    /// Whether each node that this rank assembles for is grounded.
    ///
    /// # Errors
    /// [`Error::Option`] for a ground that no node is within.
    pub fn grounded(&self, params: &Params) -> Result<Vec<bool>> {
        let mut grounded = vec![false; self.nodes()];
        for (k, ground) in params.grounds.iter().enumerate() {
            let within = self.nodes_within(ground, &format!("ground {}", k + 1))?;
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
