//! A mesh as a simulation takes it: checked, with its nodes in order, and of several ranks what this one
//! assembles on.

use std::borrow::Cow;
use std::sync::Arc;

use super::assembled::Assembled;
use super::bisection::bisected;
use super::checkpoint::{Fingerprint, fingerprint};
use super::order::Order;
use super::params::Params;
use super::piece::OwnPiece;
use super::places::{Nodes, Placed, Places};
use super::regions::Conductivities;
use super::requests::check_same;
use super::share::{Share, Unknowns};
use super::whole::Whole;
use crate::mesh::{Mesh, Part, are_used, nodes_that};
use warpsolve_host::comm::{Comm, agree};
use warpsolve_host::error::{Error, MeshFault, Result};
use warpsolve_host::fem::{P1, transversely_isotropic};

/// What a rank simulates of a mesh: alone all of it, one of several the elements around its nodes.
pub struct Domain<'m, const C: usize> {
    mesh: Assembled<'m, C>,
    /// What of it has cells; `None` where all has.
    tissue: Option<Part<C>>,
    places: Places,
    of: Remains,
}

/// What is left of a domain when its systems are assembled.
pub(super) struct Remains {
    pub params: Params,
    pub fingerprint: Fingerprint,
    pub whole: Whole,
    pub share: Share,
    pub piece: Option<OwnPiece>,
}

impl<'m, const C: usize> Domain<'m, C> {
    /// Of a rank that is alone, or of one of several, which talk like this. All ranks call this.
    ///
    /// # Errors
    /// - [`Error::Option`]: a parameter out of its range ([`Params::check`]), a stimulus or a ground that no
    ///   node is within, a region that is not in the mesh, a mesh without tissue.
    /// - [`Error::MeshFault`]: a mesh of several components, or without fibres where the tissue conducts
    ///   differently along and across them.
    /// - [`Error::Rank`] with those of another rank.
    pub fn new(mesh: &'m Mesh<C>, params: &Params, comm: Option<&Arc<dyn Comm>>) -> Result<Self> {
        match comm {
            None => Self::alone(mesh, params),
            Some(comm) => Domain::part(mesh, params, comm),
        }
    }

    fn alone(mesh: &'m Mesh<C>, params: &Params) -> Result<Self> {
        params.check()?;
        let is_tissue = checked(mesh, params)?;
        let order = Order::of(mesh, params.reorder);
        let (points, cells) = (order.points(mesh), order.cells(mesh));
        let (fibres, regions) = (mesh.fibres().map(Cow::from), mesh.regions().map(Cow::from));
        let all = Assembled { points, cells, fibres, regions };
        let tissue = is_tissue.map(|is_tissue| all.part(|t| is_tissue[t]));
        let cell_nodes = tissue.as_ref().map(|tissue| tissue.nodes.clone());
        let whole = Whole { order, nodes: all.points.len(), cell_nodes };
        let share = Share::all(whole.cells(), whole.nodes);
        let fingerprint = fingerprint(mesh, params);
        let remains = Remains { params: params.clone(), fingerprint, whole, share, piece: None };
        Self::placed(all, tissue, mesh.bounding_box(), remains)
    }

    /// That of one of several ranks, which no longer needs the mesh. All ranks call this.
    ///
    /// # Errors
    /// Those of [`Domain::new`].
    pub fn part(mesh: &Mesh<C>, params: &Params, comm: &Arc<dyn Comm>) -> Result<Domain<'static, C>> {
        agree(&**comm, params.check())?;
        let fingerprint = fingerprint(mesh, params);
        agree(&**comm, check_same(&**comm, fingerprint))?;
        let is_tissue = agree(&**comm, checked(mesh, params))?;
        let order = Order::of(mesh, params.reorder);
        let (points, renumbering) = (order.points(mesh), order.renumbering());
        let owners = bisected(&points, comm.size());
        let is_own = |&node: &u32| owners[node as usize] as usize == comm.rank();
        let cells = || (0..).zip(mesh.cells()).map(|(t, &cell)| (t, renumbering.cell(cell)));
        let part = Part::of(&points, cells().filter(|(_, cell)| cell.iter().any(is_own)));
        let has_cells = |is_tissue: &Vec<bool>| {
            let tissue = cells().filter(|&(t, _)| is_tissue[t as usize]);
            nodes_that(&are_used(tissue.map(|(_, cell)| cell), points.len()))
        };
        let cell_nodes = is_tissue.as_ref().map(has_cells);
        let (fibres, regions) = (part.of_cells(mesh.fibres()), part.of_cells(mesh.regions()));
        let its = Assembled {
            points: part.points.into(),
            cells: part.cells.into(),
            fibres: fibres.map(Cow::from),
            regions: regions.map(Cow::from),
        };
        let tissue = is_tissue.map(|is_tissue| its.part(|t| is_tissue[part.numbers[t] as usize]));
        let local_cells = tissue.as_ref().map(|tissue| &tissue.nodes[..]);
        let share = Share::of(comm, (&part.nodes, &owners), cell_nodes.as_deref(), local_cells);
        let whole = Whole { order, nodes: points.len(), cell_nodes };
        let remains = Remains { params: params.clone(), fingerprint, whole, share, piece: None };
        Domain::placed(its, tissue, mesh.bounding_box(), remains)
    }

    /// With stimuli and grounds in their places. All ranks call this.
    fn placed(
        mesh: Assembled<'m, C>,
        tissue: Option<Part<C>>,
        bounds: [[f64; 3]; 2],
        of: Remains,
    ) -> Result<Self> {
        let nodes = Nodes {
            points: &mesh.points,
            cells: tissue.as_ref().map(|tissue| &tissue.nodes[..]),
            bounds,
            total: of.whole.nodes,
            share: &of.share,
        };
        let places = of.share.agree(Places::of(&nodes, &of.params))?;
        Ok(Domain { mesh, tissue, places, of })
    }

    /// The same, which can write results in pieces ([`Simulation::write_frame`](super::Simulation)). All
    /// ranks call this.
    ///
    /// # Errors
    /// [`Error::Rank`] where a rank has failed.
    pub fn with_pieces(mut self) -> Result<Self> {
        self.of.piece = Some(OwnPiece::of(&self.mesh, self.cell_nodes(), &self.of.whole, &self.of.share)?);
        Ok(self)
    }

    pub(super) fn params(&self) -> &Params {
        &self.of.params
    }

    /// What this rank has of it.
    pub(super) fn share(&self) -> &Share {
        &self.of.share
    }

    /// Where stimuli and grounds are.
    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    pub(super) fn into_remains(self) -> Remains {
        self.of
    }

    /// The elements that this rank assembles on.
    pub(super) fn space(&self) -> Result<P1<'_, C>> {
        P1::new(&self.mesh.points, &self.mesh.cells)
    }

    /// Those of them on the tissue, with their own numbers of nodes; `None` where all are.
    pub(super) fn tissue_space(&self) -> Result<Option<P1<'_, C>>> {
        self.tissue.as_ref().map(|tissue| P1::new(&tissue.points, &tissue.cells)).transpose()
    }

    /// Nodes that this rank assembles for.
    pub(super) fn nodes(&self) -> usize {
        self.mesh.points.len()
    }

    /// Those of them that have a cell of the heart, ascending; `None` where all have.
    pub(super) fn cell_nodes(&self) -> Option<&[u32]> {
        self.tissue.as_ref().map(|tissue| tissue.nodes.as_slice())
    }

    /// Whether some of the mesh has no cells.
    pub(super) fn has_bath(&self) -> bool {
        self.tissue.is_some()
    }

    /// The conductivity tensor of element t along and across its fibres. Without fibres all is isotropic,
    /// and their direction does not matter.
    pub(super) fn conductivity(&self, t: usize, of: impl Fn(&Conductivities) -> [f64; 2]) -> [[f64; 3]; 3] {
        let Assembled { fibres, regions, .. } = &self.mesh;
        let [along, across] = of(&self.params().conductivities(regions.as_ref().map(|tags| tags[t])));
        let fibre = fibres.as_ref().map_or([1.0, 0.0, 0.0], |fibres| fibres[t]);
        transversely_isotropic(fibre, along, across)
    }

    /// [`Domain::conductivity`] of element t of the tissue.
    pub(super) fn tissue_conductivity(
        &self,
        t: usize,
        of: impl Fn(&Conductivities) -> [f64; 2],
    ) -> [[f64; 3]; 3] {
        self.conductivity(self.tissue.as_ref().map_or(t, |tissue| tissue.numbers[t] as usize), of)
    }

    /// 1 for the cells of this rank at which a stimulus acts, 0 for the others.
    pub(super) fn cells_within(&self, placed: &Placed) -> Vec<f64> {
        let within = match self.cell_nodes() {
            None => placed.within.clone(),
            Some(nodes) => nodes.iter().map(|&node| placed.within[node as usize]).collect(),
        };
        self.share().own(within, Unknowns::Cells).into_iter().map(f64::from).collect()
    }
}

/// Whether each element has cells of the heart, `None` where all have, of a mesh that can be simulated.
fn checked<const C: usize>(mesh: &Mesh<C>, params: &Params) -> Result<Option<Vec<bool>>> {
    check_connected(mesh)?;
    let is_tissue = params.tissue_cells(mesh)?;
    let regions = || params.regions.iter().any(|region| region.conductivities.is_anisotropic());
    if mesh.fibres().is_none() && (params.tissue.is_anisotropic() || regions()) {
        return Err(Error::MeshFault {
            fault: MeshFault::NoFibres,
            message: "the mesh has no fibres, along and across which the tissue conducts differently".into(),
        });
    }
    Ok(is_tissue)
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
