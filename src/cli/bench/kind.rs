//! The tables.

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Dot,
    Spmv,
    Cg,
    Gmres,
    Amg,
    Block,
    Threads,
    Elasticity,
    Patterns,
    Unified,
    Loops,
    Programs,
    Shapes,
    Exchange,
    Native,
}

/// Every table, in the order in which they are measured.
pub const ALL: [Kind; 15] = [
    Kind::Dot,
    Kind::Spmv,
    Kind::Cg,
    Kind::Gmres,
    Kind::Amg,
    Kind::Block,
    Kind::Threads,
    Kind::Elasticity,
    Kind::Patterns,
    Kind::Unified,
    Kind::Loops,
    Kind::Programs,
    Kind::Shapes,
    Kind::Exchange,
    Kind::Native,
];

impl Kind {
    /// Whether it measures vectors or programs alone, and no matrix.
    pub fn has_no_matrix(self) -> bool {
        matches!(self, Kind::Patterns | Kind::Unified | Kind::Programs)
    }
}
