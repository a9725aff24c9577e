//! Results in pieces: of every rank its own elements, in a file of their own, and a list of these files.

use std::path::{Path, absolute};

use super::piece::OwnPiece;
use super::requests::{Fields, Request};
use super::share::Unknowns;
use super::simulation::Simulation;
use warpsolve_host::backend::cells::{Cells, NOT_ACTIVATED};
use warpsolve_host::comm::agree_within;
use warpsolve_host::error::{Error, Result};
use warpsolve_host::precond::amg::Assembles;
use warpsolve_host::solver::cg::CgSteps;

impl<B: Cells + Assembles + CgSteps<f64> + Clone + 'static> Simulation<B> {
    /// Writes `v_m` and `phi_e` of each node in pieces, of a simulation
    /// [with them](super::Domain::with_pieces): every rank writes `NAME_R.vtu`, with R the rank, and the
    /// first then `NAME.pvtu`, which lists them. Each file appears when it is complete, and the list when all
    /// pieces have. An element is in one piece, a node in those of its elements; `node` is its number in the
    /// mesh, counted from 0. Other ranks write to this path too.
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
        let names = self.requests.watch(self.own_piece(of, &path))?;
        piece.list(&path, &names)
    }

    fn needed_piece(&self) -> Result<&OwnPiece> {
        self.piece.as_ref().ok_or_else(|| Error::Option("the simulation was made without pieces".into()))
    }

    /// Writes that of this rank; returns the names of what it has at its nodes. All ranks call this.
    pub(super) fn own_piece(&self, of: Fields, pvtu: &Path) -> Result<Vec<&'static str>> {
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
            None => written?,
            Some(comm) => agree_within(&**comm, written)?,
        }
        Ok(fields.into_iter().map(|(name, _)| name).collect())
    }

    /// Values of the cells at the nodes of a piece, with `other` where there is no cell.
    fn at_cells_of(&self, piece: &OwnPiece, own: &B::Vector, other: f64) -> Result<Vec<f64>> {
        let values = self.share.with_others(self.backend.to_host(own)?, Unknowns::Cells)?;
        Ok(piece.cells.iter().map(|cell| cell.map_or(other, |cell| values[cell as usize])).collect())
    }
}
