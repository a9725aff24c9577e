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
    Exchange,
}

/// Every table, in the order in which they are measured.
pub const ALL: [Kind; 9] = [
    Kind::Dot,
    Kind::Spmv,
    Kind::Cg,
    Kind::Gmres,
    Kind::Amg,
    Kind::Block,
    Kind::Threads,
    Kind::Elasticity,
    Kind::Exchange,
];
