//! What a matrix file contains.

/// How the entries of a file of text are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Entries one by one: a line `row column value` for each, or in a
    /// [Harwell-Boeing](super::harwell_boeing) file those of one column after another.
    Coordinate,
    /// All values of a dense matrix, column by column.
    Array,
}

/// What kind of numbers a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Decimal numbers.
    Real,
    /// Whole numbers, read as the nearest `f64`.
    Integer,
    /// Positions only; every value is 1.
    Pattern,
}

/// Which entries stand for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symmetry {
    /// None.
    General,
    /// Only the lower triangle is stored: `a_ji = a_ij`.
    Symmetric,
    /// Only the strictly lower triangle is stored: `a_ji = -a_ij`, `a_ii = 0`.
    Skew,
}

impl Symmetry {
    /// The word in the banner.
    pub fn word(self) -> &'static str {
        match self {
            Symmetry::General => "general",
            Symmetry::Symmetric => "symmetric",
            Symmetry::Skew => "skew-symmetric",
        }
    }
}

/// What was found in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// How text lists the entries; `None` in a [binary](super::binary) file.
    pub layout: Option<Layout>,
    /// Kind of numbers.
    pub field: Field,
    /// Which triangle was stored; the matrix returned always has both, and so does a binary file.
    pub symmetry: Symmetry,
    /// Entries listed in the file.
    pub entries_in_file: u64,
    /// Entries of the file that were added to an earlier one at the same position.
    pub duplicates: u64,
    /// Entries listed with the value zero; the matrix keeps them. Zeros of an array are dropped.
    pub explicit_zeros: u64,
    /// Bytes of the file, of text once it is uncompressed.
    pub bytes: u64,
    /// The comment above the sizes, without `%`. A long one is cut.
    pub comment: String,
}
