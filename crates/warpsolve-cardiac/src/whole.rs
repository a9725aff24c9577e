//! The mesh as a whole.

use super::order::Order;

/// How the values of a simulation come to the nodes of the mesh.
pub(super) struct Whole {
    pub order: Order,
    /// How many there are.
    pub nodes: usize,
    /// Those that have a cell of the heart, in the order of the simulation, ascending; `None` where all have.
    pub cell_nodes: Option<Vec<u32>>,
}

impl Whole {
    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.cell_nodes.as_ref().map_or(self.nodes, Vec::len)
    }

    /// Values of the cells at the nodes of the mesh, in its order, with `other` where there is no cell.
    pub fn at_nodes(&self, values: Vec<f64>, other: f64) -> Vec<f64> {
        let Some(nodes) = &self.cell_nodes else { return self.order.undo(values) };
        let mut all = vec![other; self.nodes];
        nodes.iter().zip(values).for_each(|(&node, value)| all[node as usize] = value);
        self.order.undo(all)
    }
}
