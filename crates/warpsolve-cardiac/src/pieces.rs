//! Results in pieces: of every rank its own elements, in a file of their own, and a list of these files.

use std::path::{Path, absolute};

use super::domain::Assembled;
use super::requests::Request;
use super::share::{Share, Unknowns};
use super::simulation::Simulation;
use super::whole::Whole;
use crate::io::vtk::VtuWriter;
use crate::mesh::{Mesh, Part};
use warpsolve_host::backend::cells::{Cells, NOT_ACTIVATED};
use warpsolve_host::comm::agree_within;
use warpsolve_host::error::{Error, Result};
use warpsolve_host::precond::amg::Assembles;
use warpsolve_host::solver::cg::CgSteps;

/// What the files have at their nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fields {
    /// `v_m`, and `phi_e` of the bidomain equations.
    Potentials,
    Activation,
}

/// What a rank writes.
pub(super) struct OwnPiece {
    writer: VtuWriter,
    /// Its nodes, among those that this rank assembles for.
    nodes: Vec<u32>,
    /// The cell of each, among those that this rank assembles for.
    cells: Vec<Option<u32>>,
    /// Ranks that have elements to write.
    ranks: Vec<usize>,
}

impl OwnPiece {
    /// The elements whose first node is this rank's: every one is that of one rank. `cell_nodes` are the
    /// nodes that have a cell, among those that this rank assembles for; `None` where all have. All ranks
    /// call this.
    pub fn of<const C: usize>(
        mesh: &Assembled<C>,
        cell_nodes: Option<&[u32]>,
        whole: &Whole,
        share: &Share,
    ) -> Result<Self> {
        let mut is_own = vec![false; mesh.points.len()];
        share.own_places(Unknowns::Nodes(1)).into_iter().for_each(|node| is_own[node as usize] = true);
        let is_first_own = |t: usize| mesh.cells[t].iter().min().is_some_and(|&node| is_own[node as usize]);
        let part = mesh.part(is_first_own);
        let (fibres, regions) = (mesh.fibres.as_deref(), mesh.regions.as_deref());
        let (fibres, regions) = (part.of_cells(fibres), part.of_cells(regions));
        let Part { points, cells, nodes, .. } = part;
        let counts = share.counts(cells.len())?;
        let numbers = share.numbers(Unknowns::Nodes(1));
        let numbers: Vec<u32> = nodes.iter().map(|&node| whole.order.node(numbers[node as usize])).collect();
        let cell = |&node: &u32| match cell_nodes {
            None => Some(node),
            Some(nodes) => nodes.binary_search(&node).ok().map(|cell| cell as u32),
        };
        Ok(OwnPiece {
            writer: VtuWriter::new(&Mesh::of_parts(points, cells, regions, fibres)).numbered(&numbers),
            cells: nodes.iter().map(cell).collect(),
            nodes,
            ranks: (0..counts.len()).filter(|&rank| counts[rank] > 0).collect(),
        })
    }

    /// Writes the piece of a rank, if it has elements, with values at its nodes.
    fn write(&self, rank: usize, pvtu: &Path, fields: &[(&str, Vec<f64>)]) -> Result<()> {
        if !self.ranks.contains(&rank) {
            return Ok(());
        }
        let fields: Vec<(&str, &[f64])> = fields.iter().map(|(name, values)| (*name, &values[..])).collect();
        self.writer.write(&pvtu.with_file_name(name(pvtu, rank)), &fields)
    }

    /// Writes the list of all pieces.
    fn list(&self, pvtu: &Path, fields: &[&str]) -> Result<()> {
        let pieces: Vec<String> = self.ranks.iter().map(|&rank| name(pvtu, rank)).collect();
        self.writer.write_list(pvtu, fields, &pieces)
    }
}

/// The name of the file of a rank: `NAME_R.vtu` beside `NAME.pvtu`.
fn name(pvtu: &Path, rank: usize) -> String {
    format!("{}_{rank}.vtu", pvtu.file_stem().unwrap_or_default().to_string_lossy())
}

impl<B: Cells + Assembles + CgSteps<f64> + Clone + 'static> Simulation<B> {
    /// Writes `v_m` and `phi_e` of each node in pieces, of a simulation
    /// [with them](super::Domain::with_pieces): every rank writes `NAME_R.vtu`, with R the rank, and the first
    /// then `NAME.pvtu`, which lists them. Each file appears when it is complete, and the list when all pieces
    /// have. An element is in one piece, a node in those of its elements; `node` is its number in the mesh,
    /// counted from 0. Other ranks write to this path too.
    ///
    /// # Errors
    /// - [`Error::Io`] where a file cannot be written, of several ranks [`Error::Rank`], which all get.
    /// - [`Error::Option`] without pieces, or for a path that is not in UTF-8.
    pub fn write_frame(&self, pvtu: &Path) -> Result<()> {
        self.write_pieces(Fields::Potentials, pvtu)
    }

    /// The same of the times of [`Simulation::activation`], as `activation`.
    ///
    /// # Errors
    /// Those of [`Simulation::write_frame`].
    pub fn write_activation(&self, pvtu: &Path) -> Result<()> {
        self.write_pieces(Fields::Activation, pvtu)
    }

    fn write_pieces(&self, of: Fields, pvtu: &Path) -> Result<()> {
        // Processes may have other working folders.
        let path = absolute(pvtu).map_err(|source| Error::io("find", pvtu, source))?;
        let text = path.to_str().map(String::from).ok_or_else(|| {
            Error::Option(format!(
                "{} is not in UTF-8, as the name of a file in pieces must be",
                pvtu.display()
            ))
        })?;
        let piece = self.needed_piece()?;
        self.requests.ask(Request::Piece { of, pvtu: text })?;
        self.requests.watch(self.own_piece(of, &path))?;
        let names = match of {
            Fields::Activation => vec!["activation"],
            Fields::Potentials if self.diffusion.has_phi() => vec!["v_m", "phi_e"],
            Fields::Potentials => vec!["v_m"],
        };
        piece.list(&path, &names)
    }

    fn needed_piece(&self) -> Result<&OwnPiece> {
        self.piece.as_ref().ok_or_else(|| Error::Option("the simulation was made without pieces".into()))
    }

    /// Writes that of this rank. All ranks call this.
    pub(super) fn own_piece(&self, of: Fields, pvtu: &Path) -> Result<()> {
        let piece = self.needed_piece()?;
        let fields = match of {
            Fields::Activation => {
                vec![("activation", self.at_cells_of(piece, &self.activation, NOT_ACTIVATED)?)]
            }
            Fields::Potentials => {
                let v = self.at_cells_of(piece, &self.v, self.params.model.rest())?;
                let phi = self.diffusion.phi(&self.backend, &self.share)?;
                let phi = phi.map(|own| self.share.with_others(own, Unknowns::Nodes(1))).transpose()?;
                let at_nodes = |phi: Vec<f64>| piece.nodes.iter().map(|&node| phi[node as usize]).collect();
                [("v_m", v)].into_iter().chain(phi.map(|phi| ("phi_e", at_nodes(phi)))).collect()
            }
        };
        let written = piece.write(self.share.rank(), pvtu, &fields);
        match self.share.comm() {
            None => written,
            Some(comm) => agree_within(&**comm, written),
        }
    }

    /// Values of the cells at the nodes of a piece, with `other` where there is no cell.
    fn at_cells_of(&self, piece: &OwnPiece, own: &B::Vector, other: f64) -> Result<Vec<f64>> {
        let values = self.share.with_others(self.backend.to_host(own)?, Unknowns::Cells)?;
        Ok(piece.cells.iter().map(|cell| cell.map_or(other, |cell| values[cell as usize])).collect())
    }
}
