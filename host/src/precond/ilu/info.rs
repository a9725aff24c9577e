//! What was factorised, for reports, and what it is expected to take.

use super::params::{Kind, Params, Solves};

/// What was factorised, for reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// What it was factorised with.
    pub params: Params,
    /// Whether it is `L D L^T` with a positive D.
    pub is_symmetric: bool,
    /// Whether rows were permuted to bring large entries to the diagonal.
    pub is_matched: bool,
    /// Entries of L and U, the diagonal once.
    pub entries: usize,
    /// Pivots that were too small, and changed.
    pub changed_pivots: usize,
    /// What was added to the diagonal of a symmetric matrix to keep pivots positive, as a share of it.
    pub shift: f64,
    /// How it is applied.
    pub solves: Solves,
    /// Levels of L and of U, 1 of inverses: steps, one after the other.
    pub levels: [usize; 2],
    /// Bytes of the factors, or of the inverses.
    pub bytes: u64,
}

impl Info {
    /// "ILU(0)", "IC(1)", "ILUT", "DILU", ..
    pub fn title(&self) -> String {
        let Params { kind, fill, .. } = self.params;
        match (kind, self.is_symmetric) {
            (Kind::Levels, false) => format!("ILU({fill})"),
            (Kind::Levels, true) => format!("IC({fill})"),
            (Kind::Threshold, false) => "ILUT".into(),
            (Kind::Threshold, true) => "ICT".into(),
            (Kind::Diagonal, _) => "DILU".into(),
        }
    }
}

/// About how many bytes the factors of a matrix with so many rows and entries will take, with what is there
/// beside them while they are computed: A in CRS, and twice in f64.
pub(crate) fn expected_bytes(params: &Params, n_rows: usize, nnz: usize, number: usize) -> u64 {
    let entries = match params.kind {
        Kind::Levels => nnz as f64 * f64::from(1 + params.fill),
        Kind::Threshold => nnz as f64 * params.growth,
        Kind::Diagonal => nnz as f64,
    };
    let set_up = nnz * (4 + number + 4 + 8 + 8) + n_rows * 5 * 4;
    // U^T, a row of f64 for each of L or U^T, and `N_U^T` before it is `N_U`.
    let inverses = if params.may_be_inverted(true) { nnz * (12 + 8 + (4 + number) / 2) } else { 0 };
    (entries * (4 + number) as f64) as u64 + (n_rows * 2 * (12 + number) + set_up + inverses) as u64
}
