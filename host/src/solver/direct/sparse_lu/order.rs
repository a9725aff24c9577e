//! The order of elimination.

/// Columns in the order of elimination.
pub struct Order {
    /// All of them.
    pub columns: Vec<usize>,
    /// Where each block of columns ends, whose pivots are in rows of their own.
    pub ends: Vec<usize>,
}

impl Order {
    /// One block.
    pub fn of(columns: Vec<usize>) -> Order {
        Order { ends: vec![columns.len()], columns }
    }

    /// Blocks, by the number of that of each column, which ascend.
    pub fn in_blocks(columns: Vec<usize>, block: &[u32]) -> Order {
        let is_end = |k: &usize| columns.get(*k).is_none_or(|&next| block[next] != block[columns[k - 1]]);
        Order { ends: (1..=columns.len()).filter(is_end).collect(), columns }
    }
}
