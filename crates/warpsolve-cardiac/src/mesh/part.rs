//! Parts of meshes.

use super::{Mesh, check::keep_nodes};

/// Some of the cells of a mesh, with their nodes renumbered.
pub(crate) struct Part<const C: usize> {
    pub points: Vec<[f64; 3]>,
    pub cells: Vec<[u32; C]>,
    /// The number that each cell has in the whole mesh, ascending.
    pub numbers: Vec<u32>,
    /// The number that each node has in the whole mesh, ascending.
    pub nodes: Vec<u32>,
}

impl<const C: usize> Part<C> {
    /// The cells that `keep` says, of a mesh with these points.
    pub fn of(points: &[[f64; 3]], cells: &[[u32; C]], keep: impl Fn(usize) -> bool) -> Self {
        let numbers: Vec<u32> = (0..cells.len()).filter(|&t| keep(t)).map(|t| t as u32).collect();
        let mut cells: Vec<[u32; C]> = numbers.iter().map(|&t| cells[t as usize]).collect();
        let mut points = points.to_vec();
        let mut is_used = vec![false; points.len()];
        cells.as_flattened().iter().for_each(|&node| is_used[node as usize] = true);
        let nodes = (0..points.len() as u32).filter(|&node| is_used[node as usize]).collect();
        keep_nodes(&mut points, &mut cells, &mut Vec::new(), &is_used);
        Part { points, cells, numbers, nodes }
    }
}

impl<const C: usize> Mesh<C> {
    /// The mesh of the cells that `keep` says, and the number that each of its nodes has here. Surfaces with
    /// numbers are left out.
    pub fn part(&self, keep: impl Fn(usize) -> bool) -> (Mesh<C>, Vec<u32>) {
        let Part { points, cells, numbers, nodes } = Part::of(&self.points, &self.cells, keep);
        let regions = self.regions.as_ref().map(|of| numbers.iter().map(|&t| of[t as usize]).collect());
        let fibres = self.fibres.as_ref().map(|of| numbers.iter().map(|&t| of[t as usize]).collect());
        (Mesh { points, cells, regions, fibres, tagged_faces: Vec::new() }, nodes)
    }
}
