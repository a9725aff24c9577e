//! The nodes of a mesh that are unknowns: all but those whose values are given.

/// Nodes in ascending order, and their numbers among themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeNodes {
    nodes: Vec<u32>,
    /// The number of each node of the mesh among the free ones; [`FreeNodes::FIXED`] for the others.
    numbers: Vec<u32>,
}

impl FreeNodes {
    const FIXED: u32 = u32::MAX;

    /// Those of the nodes 0 to `n` for which `is_fixed` does not hold.
    pub fn new(n: usize, is_fixed: impl Fn(usize) -> bool) -> Self {
        let nodes: Vec<u32> = (0..n).filter(|&i| !is_fixed(i)).map(|i| i as u32).collect();
        let mut numbers = vec![Self::FIXED; n];
        for (number, &node) in nodes.iter().enumerate() {
            numbers[node as usize] = number as u32;
        }
        FreeNodes { nodes, numbers }
    }

    /// All of `n` nodes.
    pub fn all(n: usize) -> Self {
        FreeNodes::new(n, |_| false)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node of a number.
    pub fn node(&self, number: usize) -> usize {
        self.nodes[number] as usize
    }

    /// The number of a node, if it is free.
    pub fn number(&self, node: u32) -> Option<u32> {
        Some(self.numbers[node as usize]).filter(|&number| number != Self::FIXED)
    }

    /// The values of the free nodes.
    pub fn restrict<V: Copy>(&self, values: &[V]) -> Vec<V> {
        self.nodes.iter().map(|&node| values[node as usize]).collect()
    }

    /// The values of all nodes: `values` of the free ones, and `fixed` elsewhere.
    pub fn extend<V: Copy>(&self, values: &[V], fixed: V) -> Vec<V> {
        let mut all = vec![fixed; self.numbers.len()];
        self.nodes.iter().zip(values).for_each(|(&node, &value)| all[node as usize] = value);
        all
    }
}
