//! Which format holds a matrix best, decided by its row lengths.

use super::Csr;
use super::block::{block_lengths, blocks_in};
use super::format::{Format, SLICE};
use super::padding::{Padding, sell_padding, sell_padding_of};
use crate::error::Result;
use cuda_std::Real;

/// [`choose`] takes reduced SELL only where it stores at most this many entries for each nonzero.
///
/// SELL's coalesced loads gain about a fifth over CRS on the GPU; more padding than this spends it.
pub const WORTHWHILE_PADDING: f64 = 1.15;

/// The sorting windows that [`choose`] tries, in this order. A window of 1 leaves the rows where they
/// are; larger ones tear neighbours apart, which costs the cache hits of `x` and `y`.
///
/// Windows beyond 1024 gain little: where long rows are that rare, CRS is nearly as fast. And 1024 rows are
/// what one block of a GPU sorts in its shared memory.
pub const SORTING_WINDOWS: [usize; 3] = [1, 256, 1024];

/// With fewer rows than this, half as many as a large GPU runs threads, a thread a row is too little work at
/// once where rows are [long](LONG_ROW): then the time of one row decides (on an H200, the sweep of 38,597
/// rows with 44 entries takes 20 us with a thread a row).
const FEW_ROWS: usize = 1 << 17;
/// The same holds for twice as many rows with fewer entries than this: less than 20 us of a large GPU's
/// bandwidth.
const FEW_ENTRIES: usize = 1 << 23;
/// Entries of a row in the mean from which several threads share it with a gain.
const LONG_ROW: usize = 16;

/// Where a matrix will be multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A few wide cores with deep caches.
    Cpu,
    /// Warps of 32 threads that need coalesced loads.
    Gpu,
}

/// The format chosen, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The format.
    pub format: Format,
    /// The sorting window, for [`Format::Sell`]; 1 otherwise.
    pub sigma: usize,
    /// What the chosen format stores.
    pub padding: Padding,
    /// One clause with the figures: "reduced SELL-32, sigma 1: 1.7 % padding".
    pub reason: String,
}

/// Chooses a format: CRS on the CPU; on the GPU reduced SELL-32 with the smallest of [`SORTING_WINDOWS`]
/// whose padding is [worthwhile](WORTHWHILE_PADDING), or else CRS; CRS too for few long rows.
pub fn choose<T: Real>(a: &Csr<T>, target: Target) -> Choice {
    choose_by(a.n_rows(), a.nnz(), target, |sigma| sell_padding(a, sigma))
}

/// [`choose`], without the matrix itself: `padding(sigma)` is what reduced SELL-32-sigma would store.
fn choose_by(
    n_rows: usize,
    nnz: usize,
    target: Target,
    padding: impl FnMut(usize) -> Result<Padding>,
) -> Choice {
    match target {
        Target::Cpu => {
            let reason = "CRS: it has no padding, and a core reads rows one after another";
            Choice::crs(nnz, reason.to_string())
        }
        Target::Gpu => choose_for_gpu(n_rows, nnz, padding).expect("1 and multiples of 32 are windows"),
    }
}

/// Blocks may store up to this many values for each nonzero: 12 bytes of an entry in f64 over 9 bytes of a
/// value in a 2 x 2 block.
const WORTHWHILE_FILL: f64 = 1.3;

/// [`choose`] for b unknowns a node: a format of blocks, unless they would be mostly zeros.
pub fn choose_blocks<T: Real>(a: &Csr<T>, block: usize, target: Target) -> Result<Choice> {
    let lengths = block_lengths(a, block)?;
    let blocks = blocks_in(&lengths);
    if let Some(objection) = objection_to_blocks(block, blocks, a.nnz()) {
        let choice = choose(a, target);
        return Ok(Choice { reason: format!("{}; {objection}", choice.reason), ..choice });
    }
    let padding = |sigma| sell_padding_of(lengths.clone(), blocks, sigma);
    let mut choice = choose_by(lengths.len(), blocks as usize, target, padding).for_blocks(block);
    choice.padding.nnz = a.nnz() as u64;
    Ok(choice)
}

/// Why a matrix with so many entries is not stored in so many blocks, where they would be mostly zeros.
pub(crate) fn objection_to_blocks(block: usize, blocks: u64, nnz: usize) -> Option<String> {
    let fill = Padding { stored: blocks * (block * block) as u64, nnz: nnz as u64 };
    let is_worthwhile = fill.factor() <= WORTHWHILE_FILL;
    (!is_worthwhile)
        .then(|| format!("{block} x {block} blocks would have {:.0} % zeros more", fill.percent()))
}

impl Choice {
    /// Of a format that is chosen when the matrix is where it is used: what it takes there is about what CRS
    /// would.
    pub(crate) fn to_be_made(block: usize, nnz: usize) -> Self {
        let format = if block > 1 { Format::BlockSell(block) } else { Format::Sell };
        Choice { format, ..Choice::crs(nnz, String::new()) }
    }

    fn crs(nnz: usize, reason: String) -> Self {
        let nnz = nnz as u64;
        Choice { format: Format::Crs, sigma: 1, padding: Padding { stored: nnz, nnz }, reason }
    }

    /// The choice for a matrix of blocks, from that for the pattern of its blocks; itself for blocks of 1.
    pub(crate) fn for_blocks(mut self, block: usize) -> Self {
        if block > 1 {
            self.format = match self.format {
                Format::Sell => Format::BlockSell(block),
                _ => Format::BlockCrs(block),
            };
            let square = (block * block) as u64;
            self.padding = Padding { stored: square * self.padding.stored, nnz: square * self.padding.nnz };
            self.reason = format!("{block} x {block} blocks, {}", self.reason);
        }
        self
    }
}

/// [`choose`] for [`Target::Gpu`], without the matrix itself: `padding(sigma)` is what reduced SELL-32-sigma
/// would store. Where that is chosen, `sigma` is the last window that was asked for.
pub(crate) fn choose_for_gpu(
    n_rows: usize,
    nnz: usize,
    mut padding: impl FnMut(usize) -> Result<Padding>,
) -> Result<Choice> {
    let few = n_rows < FEW_ROWS || n_rows < 2 * FEW_ROWS && nnz < FEW_ENTRIES;
    if few && nnz >= LONG_ROW * n_rows {
        let reason = format!("CRS: only with several threads a row do {n_rows} rows keep a GPU busy");
        return Ok(Choice::crs(nnz, reason));
    }
    let mut unsorted = None;
    let mut best = (f64::INFINITY, 1);
    // Windows beyond one that already holds every row sort the same way.
    let longest = n_rows.next_multiple_of(SLICE);
    for (k, &sigma) in SORTING_WINDOWS.iter().enumerate() {
        if k > 1 && SORTING_WINDOWS[k - 1] >= longest {
            break;
        }
        let padding = padding(sigma)?;
        if padding.factor() <= WORTHWHILE_PADDING {
            let mut reason = format!("reduced SELL-32, sigma {sigma}: {:.1} % padding", padding.percent());
            if let Some(percent) = unsorted {
                reason += &format!(" ({percent:.1} % with the rows in order)");
            }
            return Ok(Choice { format: Format::Sell, sigma, padding, reason });
        }
        unsorted.get_or_insert(padding.percent());
        if padding.factor() < best.0 {
            best = (padding.factor(), sigma);
        }
    }
    let reason = format!(
        "CRS: reduced SELL-32 would have {:.1} % padding at its best (sigma {}), more than the {:.0} % it gains",
        100.0 * (best.0 - 1.0),
        best.1,
        100.0 * (WORTHWHILE_PADDING - 1.0)
    );
    Ok(Choice::crs(nnz, reason))
}
