//! The elements that a rank writes in a file of their own.

use std::path::Path;

use super::assembled::Assembled;
use super::share::{Share, Unknowns};
use super::whole::Whole;
use crate::io::vtk::VtuWriter;
use warpsolve_host::error::Result;

/// What a rank writes.
pub(super) struct OwnPiece {
    writer: VtuWriter,
    /// Its nodes, among those that this rank assembles for.
    pub nodes: Vec<u32>,
    /// The cell of each, among those that this rank assembles for.
    pub cells: Vec<Option<u32>>,
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
        let counts = share.counts(part.cells.len())?;
        let (mesh, nodes) = part.into_mesh(mesh.regions.as_deref(), mesh.fibres.as_deref());
        let numbers = share.numbers(Unknowns::Nodes(1));
        let numbers: Vec<u32> = nodes.iter().map(|&node| whole.order.node(numbers[node as usize])).collect();
        let cell = |&node: &u32| match cell_nodes {
            None => Some(node),
            Some(nodes) => nodes.binary_search(&node).ok().map(|cell| cell as u32),
        };
        Ok(OwnPiece {
            writer: VtuWriter::new(&mesh).numbered(&numbers),
            cells: nodes.iter().map(cell).collect(),
            nodes,
            ranks: (0..counts.len()).filter(|&rank| counts[rank] > 0).collect(),
        })
    }

    /// Writes the piece of a rank, if it has elements, with values at its nodes.
    pub fn write(&self, rank: usize, pvtu: &Path, fields: &[(&str, Vec<f64>)]) -> Result<()> {
        if !self.ranks.contains(&rank) {
            return Ok(());
        }
        let fields: Vec<(&str, &[f64])> = fields.iter().map(|(name, values)| (*name, &values[..])).collect();
        self.writer.write(&pvtu.with_file_name(name(pvtu, rank)), &fields)
    }

    /// Writes the list of all pieces.
    pub fn list(&self, pvtu: &Path, fields: &[&str]) -> Result<()> {
        let pieces: Vec<String> = self.ranks.iter().map(|&rank| name(pvtu, rank)).collect();
        self.writer.write_list(pvtu, fields, &pieces)
    }
}

/// The name of the file of a rank: `NAME_R.vtu` beside `NAME.pvtu`.
fn name(pvtu: &Path, rank: usize) -> String {
    format!("{}_{rank}.vtu", pvtu.file_stem().unwrap_or_default().to_string_lossy())
}
