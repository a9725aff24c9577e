//! What a solve on several ranks was like.

use crate::comm::Quality;

/// What a solve on several ranks was like.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// How many ranks.
    pub ranks: usize,
    /// How rows were shared out: "blocks", "rcm", "metis", "given".
    pub partition: String,
    /// Whether no rank had more of the matrix than its rows; otherwise rank 0 had the whole.
    pub by_rows: bool,
    /// Why method and preconditioner are what they are, where nobody had named them and no rank had the whole
    /// matrix to try ways with.
    pub choice: Option<String>,
    /// How good that is.
    pub quality: Quality,
    /// Whether ranks wrote each other's device memory; otherwise all went through the host.
    pub peer_memory: bool,
    /// Exchanges of elements between products, of the rank with most.
    pub exchanges: u64,
    /// Bytes that all ranks sent in them.
    pub exchanged_bytes: u64,
    /// Reductions over ranks.
    pub reductions: u64,
}
