//! What a solve on several ranks was like.

use crate::comm::Quality;

/// What a solve on several ranks was like.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// How many ranks.
    pub ranks: usize,
    /// How rows were shared out: "blocks", "rcm", "metis", "given".
    pub partition: String,
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
