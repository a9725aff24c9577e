//! Parts of meshes.

use super::Mesh;

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
    /// Of a mesh with these points: these cells, each behind its number, ascending.
    pub fn of(points: &[[f64; 3]], cells: impl Iterator<Item = (u32, [u32; C])>) -> Self {
        let (mut numbers, mut cells): (Vec<u32>, Vec<[u32; C]>) = cells.unzip();
        numbers.shrink_to_fit();
        cells.shrink_to_fit();
        let is_used = are_used(cells.iter().copied(), points.len());
        let (mut nodes, places) = (nodes_that(&is_used), new_numbers(&is_used));
        nodes.shrink_to_fit();
        cells.as_flattened_mut().iter_mut().for_each(|node| *node = places[*node as usize]);
        let points = nodes.iter().map(|&node| points[node as usize]).collect();
        Part { points, cells, numbers, nodes }
    }

    /// What its cells have of a list for all cells.
    pub fn of_cells<T: Copy>(&self, all: Option<&[T]>) -> Option<Vec<T>> {
        all.map(|all| self.numbers.iter().map(|&t| all[t as usize]).collect())
    }

    /// The mesh of its cells, with what all cells have, and the number that each node has in the whole mesh.
    pub fn into_mesh(self, regions: Option<&[i32]>, fibres: Option<&[[f64; 3]]>) -> (Mesh<C>, Vec<u32>) {
        let (regions, fibres) = (self.of_cells(regions), self.of_cells(fibres));
        let Part { points, cells, nodes, .. } = self;
        (Mesh { points, cells, regions, fibres, tagged_faces: Vec::new() }, nodes)
    }
}

/// Whether each of so many nodes is one of these cells'.
pub(crate) fn are_used<const C: usize>(cells: impl Iterator<Item = [u32; C]>, nodes: usize) -> Vec<bool> {
    let mut are_used = vec![false; nodes];
    cells.flatten().for_each(|node| are_used[node as usize] = true);
    are_used
}

/// The nodes that `keep` says, ascending.
pub(crate) fn nodes_that(keep: &[bool]) -> Vec<u32> {
    keep.iter().zip(0..).filter(|(keep, _)| **keep).map(|(_, node)| node).collect()
}

/// The number that each node has where those that `keep` says are all; of others it says nothing.
pub(super) fn new_numbers(keep: &[bool]) -> Vec<u32> {
    let mut kept = 0;
    let number = |&keep: &bool| {
        kept += u32::from(keep);
        kept - u32::from(keep)
    };
    keep.iter().map(number).collect()
}

impl<const C: usize> Mesh<C> {
    /// The mesh of the cells that `keep` says, and the number that each of its nodes has here. Surfaces with
    /// numbers are left out.
    pub fn part(&self, keep: impl Fn(usize) -> bool) -> (Mesh<C>, Vec<u32>) {
        let cells = (0..).zip(self.cells.iter().copied()).filter(|&(t, _)| keep(t as usize));
        Part::of(&self.points, cells).into_mesh(self.regions(), self.fibres())
    }
}
