//! What a factorisation will take.

use faer::dyn_stack::{MemBuffer, StackReq};
use faer::sparse::FaerError;

use super::kind::Kind;
use crate::error::{Error, Result};
use crate::memory::check_free;

/// What a factorisation will take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Which factorisation.
    pub kind: Kind,
    /// Entries of the factors: those of a symmetric matrix's exactly, those of L and U at most, whatever the
    /// pivots.
    pub entries: f64,
    /// Multiply-adds, in the same way; those of single entries whose last columns are full, which take less
    /// time, count for less.
    pub flops: f64,
    /// Whether they are done in dense blocks.
    pub in_blocks: bool,
    /// Bytes that it holds, in the same way.
    pub bytes: f64,
}

/// Multiply-adds a second in dense blocks, and of single entries.
const BLOCK_FLOPS: f64 = 3e10;
const ENTRY_FLOPS: f64 = 6e8;
/// Seconds for an entry of the factors: to store it, and a few solutions with it.
const STORED: f64 = 1.5e-8;

impl Prediction {
    /// Seconds, in order of magnitude, without the ordering.
    pub fn seconds(&self) -> f64 {
        let rate = if self.in_blocks { BLOCK_FLOPS } else { ENTRY_FLOPS };
        self.flops / rate + STORED * self.entries
    }

    /// Multiply-adds of single entries in so many seconds.
    pub fn entry_flops(seconds: f64) -> f64 {
        ENTRY_FLOPS * seconds
    }

    /// Refuses what does not fit, with the figures.
    pub fn check_memory(&self) -> Result<()> {
        let Prediction { kind, entries, bytes, .. } = self;
        check_free(bytes.ceil() as u64, || format!("{kind}, {entries:.2e} entries at most"))
    }
}

/// The error of a factorisation for which there is no memory, or no number large enough.
pub fn failed(error: FaerError) -> Error {
    Error::Matrix(match error {
        FaerError::OutOfMemory => "there is not enough memory for the factors".into(),
        error => format!("the factors cannot be computed: {error:?}"),
    })
}

/// Memory for intermediate results.
pub fn workspace(request: StackReq) -> Result<MemBuffer> {
    MemBuffer::try_new(request).map_err(|_| failed(FaerError::OutOfMemory))
}
