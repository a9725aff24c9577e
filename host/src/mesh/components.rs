//! Connected parts of a mesh.

use super::TetMesh;

impl TetMesh {
    /// The connected component of each node: nodes of one tetrahedron are in the same. Components are counted
    /// from 0 in the order of their first nodes.
    pub fn components(&self) -> Vec<u32> {
        // Disjoint sets, each a tree of parents whose root is its smallest node.
        let mut parent: Vec<u32> = (0..self.points.len() as u32).collect();
        for tet in &self.tets {
            for &node in &tet[1..] {
                let (a, b) = (root(&mut parent, tet[0]), root(&mut parent, node));
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
}

/// The root of a node's tree; halves the path to it.
fn root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        let up = parent[parent[node as usize] as usize];
        parent[node as usize] = up;
        node = up;
    }
    node
}
