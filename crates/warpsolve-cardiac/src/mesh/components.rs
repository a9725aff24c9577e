//! Connected parts of a mesh.

use super::{Mesh, check::keep_nodes};

impl<const C: usize> Mesh<C> {
    /// The connected component of each node. Nodes of one cell are in the same component. Components
    /// are counted from 0 in the order of their first nodes.
    pub fn components(&self) -> Vec<u32> {
        // Disjoint sets, each a tree of parents whose root is its smallest node.
        let mut parent: Vec<u32> = (0..self.points.len() as u32).collect();
        for cell in &self.cells {
            for &node in &cell[1..] {
                let (a, b) = (root(&mut parent, cell[0]), root(&mut parent, node));
                parent[a.max(b) as usize] = a.min(b);
            }
        }
        let mut components = Vec::with_capacity(parent.len());
        let mut found = 0;
        for node in 0..parent.len() as u32 {
            let root = root(&mut parent, node);
            if root == node {
                components.push(found);
                found += 1;
            } else {
                components.push(components[root as usize]);
            }
        }
        components
    }

    /// Drops all components but the one with the most cells, the first of equals. Returns the number of
    /// dropped nodes.
    pub fn keep_largest_component(&mut self) -> usize {
        let components = self.components();
        let of = |tet: &[u32; C]| components[tet[0] as usize] as usize;
        let mut sizes = vec![0; components.iter().max().map_or(0, |&last| last as usize + 1)];
        for cell in &self.cells {
            sizes[of(cell)] += 1;
        }
        let largest = (0..sizes.len()).rev().max_by_key(|&component| sizes[component]).unwrap_or(0);
        let keep: Vec<bool> = self.cells.iter().map(|tet| of(tet) == largest).collect();
        retain(&mut self.cells, &keep);
        if let Some(regions) = &mut self.regions {
            retain(regions, &keep);
        }
        if let Some(fibres) = &mut self.fibres {
            retain(fibres, &keep);
        }
        let is_kept: Vec<bool> = components.iter().map(|&component| component as usize == largest).collect();
        keep_nodes(&mut self.points, &mut self.cells, &mut self.tagged_faces, &is_kept)
    }
}

fn retain<V>(values: &mut Vec<V>, keep: &[bool]) {
    let mut keep = keep.iter();
    values.retain(|_| *keep.next().expect("one for each value"));
}

/// The root of a node's tree. The path to it is halved on the way.
fn root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        let up = parent[parent[node as usize] as usize];
        parent[node as usize] = up;
        node = up;
    }
    node
}
