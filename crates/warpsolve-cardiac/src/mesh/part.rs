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
        let mut is_used = vec![false; points.len()];
        cells.as_flattened().iter().for_each(|&node| is_used[node as usize] = true);
        let is_used = |&node: &u32| is_used[node as usize];
        let mut nodes: Vec<u32> = (0..points.len() as u32).filter(is_used).collect();
        nodes.shrink_to_fit();
        let mut places = vec![0; points.len()];
        nodes.iter().zip(0..).for_each(|(&node, place)| places[node as usize] = place);
        cells.as_flattened_mut().iter_mut().for_each(|node| *node = places[*node as usize]);
        let points = nodes.iter().map(|&node| points[node as usize]).collect();
        Part { points, cells, numbers, nodes }
    }

    /// What its cells have of a list for all cells.
    pub fn of_cells<T: Copy>(&self, all: Option<&[T]>) -> Option<Vec<T>> {
        all.map(|all| self.numbers.iter().map(|&t| all[t as usize]).collect())
    }
}

impl<const C: usize> Mesh<C> {
    /// The mesh of the cells that `keep` says, and the number that each of its nodes has here. Surfaces with
    /// numbers are left out.
    pub fn part(&self, keep: impl Fn(usize) -> bool) -> (Mesh<C>, Vec<u32>) {
        let cells = (0..).zip(self.cells.iter().copied()).filter(|&(t, _)| keep(t as usize));
        let part = Part::of(&self.points, cells);
        let (regions, fibres) = (part.of_cells(self.regions()), part.of_cells(self.fibres()));
        (
            Mesh { points: part.points, cells: part.cells, regions, fibres, tagged_faces: Vec::new() },
            part.nodes,
        )
    }

    /// The mesh of these points and cells, which are those of a mesh.
    pub(crate) fn of_parts(
        points: Vec<[f64; 3]>,
        cells: Vec<[u32; C]>,
        regions: Option<Vec<i32>>,
        fibres: Option<Vec<[f64; 3]>>,
    ) -> Mesh<C> {
        Mesh { points, cells, regions, fibres, tagged_faces: Vec::new() }
    }
}
