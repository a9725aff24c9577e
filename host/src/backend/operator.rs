//! What a matrix says of itself where a backend computes.

use crate::matrix::Padding;

/// A matrix where a backend computes, which answers for itself: what is said here is what a product does.
pub trait Operator {
    /// Rows.
    fn n_rows(&self) -> usize;
    /// Columns.
    fn n_cols(&self) -> usize;
    /// How it is stored: "crs", "sell", "diagonal runs", ..
    fn format(&self) -> String;
    /// Rows that were sorted at a time; 1 where they are in order.
    fn sigma(&self) -> usize {
        1
    }
    /// Whether columns and values are [compressed](gpu_kernels::spmv::compressed).
    fn is_compressed(&self) -> bool {
        false
    }
    /// Why it is stored so, where the backend decided that.
    fn reason(&self) -> Option<&str> {
        None
    }
    /// Entries that it stores, padding included.
    fn stored(&self) -> u64;
    /// Bytes that it takes.
    fn bytes(&self) -> u64;
    /// Bytes of it that a product must move, without those of vectors. Where a format is one of
    /// [`Format`](crate::matrix::Format), without padding.
    fn traffic(&self) -> u64;
    /// Where a product moves fewer bytes than in CRS, so that other matrices of its level, which do not, may
    /// be better left out: the entries in CRS that are as many bytes.
    fn entries_in_crs(&self) -> Option<usize> {
        None
    }
}

/// How an [`Operator`] is stored, for reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Storage {
    /// Its format: "crs", "sell", "diagonal runs", ..
    pub format: String,
    /// Rows that were sorted at a time; 1 where they are in order.
    pub sigma: usize,
    /// Whether columns and values are [compressed](gpu_kernels::spmv::compressed).
    pub compressed: bool,
    /// What it stores beside its nonzeros.
    pub padding: Padding,
    /// Why this format: one clause, such as "reduced SELL-32, sigma 1: 1.7 % padding"; may be empty.
    pub reason: String,
    /// Bytes that it takes.
    pub bytes: u64,
    /// Bytes of it that a product must move.
    pub traffic: u64,
}

impl Storage {
    /// Of `operator`, a matrix of `nnz` nonzeros; `chosen` is the reason of whoever chose its format before
    /// the backend had it.
    pub fn of(operator: &impl Operator, nnz: usize, chosen: &str) -> Storage {
        Storage {
            format: operator.format(),
            sigma: operator.sigma(),
            compressed: operator.is_compressed(),
            padding: Padding { stored: operator.stored(), nnz: nnz as u64 },
            reason: operator.reason().unwrap_or(chosen).into(),
            bytes: operator.bytes(),
            traffic: operator.traffic(),
        }
    }
}
