//! Parts of meshes.

use super::{TetMesh, check::keep_nodes};

/// Some of the cells of a mesh, with their nodes renumbered.
pub(crate) struct Part {
    pub points: Vec<[f64; 3]>,
    pub tets: Vec<[u32; 4]>,
    /// The number that each tetrahedron has in the whole mesh, ascending.
    pub cells: Vec<u32>,
    /// The number that each node has in the whole mesh, ascending.
    pub nodes: Vec<u32>,
}

impl Part {
    /// The cells that `keep` says, of a mesh with these points.
    pub fn of(points: &[[f64; 3]], tets: &[[u32; 4]], keep: impl Fn(usize) -> bool) -> Part {
        let cells: Vec<u32> = (0..tets.len()).filter(|&t| keep(t)).map(|t| t as u32).collect();
        let mut tets: Vec<[u32; 4]> = cells.iter().map(|&t| tets[t as usize]).collect();
        let mut points = points.to_vec();
        let mut is_used = vec![false; points.len()];
        tets.as_flattened().iter().for_each(|&node| is_used[node as usize] = true);
        let nodes = (0..points.len() as u32).filter(|&node| is_used[node as usize]).collect();
        keep_nodes(&mut points, &mut tets, &mut Vec::new(), &is_used);
        Part { points, tets, cells, nodes }
    }
}

impl TetMesh {
    /// The mesh of the tetrahedra that `keep` says, and the number that each of its nodes has here. Surfaces
    /// with numbers are left out.
    pub fn part(&self, keep: impl Fn(usize) -> bool) -> (TetMesh, Vec<u32>) {
        let Part { points, tets, cells, nodes } = Part::of(&self.points, &self.tets, keep);
        let regions = self.regions.as_ref().map(|of| cells.iter().map(|&t| of[t as usize]).collect());
        let fibres = self.fibres.as_ref().map(|of| cells.iter().map(|&t| of[t as usize]).collect());
        (TetMesh { points, tets, regions, fibres, tagged_faces: Vec::new() }, nodes)
    }
}
