//! Which format holds a matrix: the names, the choice, and a matrix in whichever it is.

use super::padding::SLICE;
use super::padding::{Padding, sell_padding};
use super::{BlockCsr, BlockSell, Csr, Ell, Sell};
use crate::error::{Error, Result};
use cuda_std::Real;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// [`choose`] takes reduced SELL only where it stores at most this many entries for each nonzero.
///
/// SELL's coalesced loads gain about a fifth over CRS on the GPU; more padding than this spends it.
pub const WORTHWHILE_PADDING: f64 = 1.15;

/// The sorting windows that [`choose`] tries, in this order. A window of 1 leaves the rows where they
/// are; larger ones tear neighbours apart, which costs the cache hits of `x` and `y`.
///
/// Windows beyond 1024 gain little: where long rows are that rare, CRS is nearly as fast. And 1024 rows are what
/// one block of a GPU sorts in its shared memory.
pub const SORTING_WINDOWS: [usize; 3] = [1, 256, 1024];

/// With fewer rows than this, half as many as a large GPU runs threads, a thread a row is too little work at once
/// where rows are [long](LONG_ROW): what counts then is the time of one row (on an H200, the sweep of 38,597 rows
/// with 44 entries takes 20 us with a thread a row).
const FEW_ROWS: usize = 1 << 17;
/// So it is with twice as many rows and fewer entries than this: less than 20 us of a large GPU's bandwidth.
const FEW_ENTRIES: usize = 1 << 23;
/// Entries of a row in the mean from which several threads share it with a gain.
const LONG_ROW: usize = 16;

/// A storage format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Compressed row storage: no padding.
    Crs,
    /// ELLPACK: one width for the whole matrix.
    Ell,
    /// Reduced SELL-32-sigma: a width per slice of 32 rows.
    Sell,
    /// Compressed row storage of blocks of this size.
    BlockCrs(usize),
    /// Reduced SELL-32-sigma of blocks of this size.
    BlockSell(usize),
}

impl Format {
    /// Every name, but for the short ones: `csr`, `bcrs` and `bsell` are read as well.
    pub const NAMES: &[&str] = &["crs", "ell", "sell", "bcrs2", "bcrs3", "bsell2", "bsell3"];

    /// Unknowns that share a column index.
    pub fn block(self) -> usize {
        match self {
            Format::Crs | Format::Ell | Format::Sell => 1,
            Format::BlockCrs(block) | Format::BlockSell(block) => block,
        }
    }

    /// Whether rows are in slices, sorted within windows.
    pub fn is_sliced(self) -> bool {
        matches!(self, Format::Sell | Format::BlockSell(_))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Format::Crs => f.pad("crs"),
            Format::Ell => f.pad("ell"),
            Format::Sell => f.pad("sell"),
            Format::BlockCrs(block) => f.pad(&format!("bcrs{block}")),
            Format::BlockSell(block) => f.pad(&format!("bsell{block}")),
        }
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "crs" | "csr" => Ok(Format::Crs),
            "ell" => Ok(Format::Ell),
            "sell" => Ok(Format::Sell),
            "bcrs2" | "bcrs" => Ok(Format::BlockCrs(2)),
            "bcrs3" => Ok(Format::BlockCrs(3)),
            "bsell2" | "bsell" => Ok(Format::BlockSell(2)),
            "bsell3" => Ok(Format::BlockSell(3)),
            _ => Err(Error::Option(format!(
                "unknown format '{name}'; the formats are crs (or csr), ell, sell, and with blocks bcrs2, bcrs3, \
                 bsell2, bsell3"
            ))),
        }
    }
}

/// Where a matrix will be multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A few wide cores with deep caches.
    Cpu,
    /// Warps of 32 threads that want coalesced loads.
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

/// Chooses a format: CRS on the CPU; on the GPU reduced SELL-32 with the smallest of
/// [`SORTING_WINDOWS`] whose padding is [worthwhile](WORTHWHILE_PADDING), or else CRS; CRS too for few long rows.
pub fn choose<T: Real>(a: &Csr<T>, target: Target) -> Choice {
    match target {
        Target::Cpu => {
            let reason = "CRS: it has no padding, and a core reads rows one after another";
            Choice::crs(a.nnz(), reason.to_string())
        }
        Target::Gpu => choose_for_gpu(a.n_rows(), a.nnz(), |sigma| sell_padding(a, sigma))
            .expect("1 and multiples of 32 are windows"),
    }
}

/// Blocks are worth their zeros up to so many values stored for each nonzero: 12 bytes of an entry in f64 over 9 of a
/// value in a 2 x 2 block.
const WORTHWHILE_FILL: f64 = 1.3;

/// [`choose`] for b unknowns a node: a format of blocks, unless they would be mostly zeros.
pub fn choose_blocks<T: Real>(a: &Csr<T>, block: usize, target: Target) -> Result<Choice> {
    let blocks = BlockCsr::from_csr(a, block)?;
    let stored = blocks.values().len() as u64;
    let fill = Padding { stored, nnz: a.nnz() as u64 };
    if fill.factor() > WORTHWHILE_FILL {
        let mut choice = choose(a, target);
        choice.reason += &format!("; {block} x {block} blocks would have {:.0} % zeros more", fill.percent());
        return Ok(choice);
    }
    let mut choice = choose(&blocks.plane(0, 0), target).of_blocks(block);
    choice.padding.nnz = fill.nnz;
    Ok(choice)
}

impl Choice {
    fn crs(nnz: usize, reason: String) -> Self {
        let nnz = nnz as u64;
        Choice { format: Format::Crs, sigma: 1, padding: Padding { stored: nnz, nnz }, reason }
    }

    /// The choice for a matrix of blocks, from that for the pattern of its blocks; itself for blocks of 1.
    pub(crate) fn of_blocks(mut self, block: usize) -> Self {
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

/// [`choose`] for [`Target::Gpu`], wherever the matrix is: `padding(sigma)` is what reduced SELL-32-sigma would
/// store. Where that is chosen, `sigma` is the last window that was asked for.
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

/// A matrix in any of the formats.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyMatrix<T> {
    /// In compressed row storage.
    Crs(Arc<Csr<T>>),
    /// In ELLPACK.
    Ell(Ell<T>),
    /// In reduced SELL-32-sigma.
    Sell(Sell<T>),
    /// In compressed row storage of blocks.
    BlockCrs(BlockCsr<T>),
    /// In reduced SELL-32-sigma of blocks.
    BlockSell(BlockSell<T>),
}

impl<T: Real> AnyMatrix<T> {
    /// Converts to `format`, sharing a CRS matrix rather than copying it; `sigma` matters to [`Format::Sell`] alone.
    ///
    /// [`Error::Padding`] and [`Error::Option`] as [`Ell::from_csr`] and [`Sell::from_csr`] say.
    pub fn from_csr(a: &Arc<Csr<T>>, format: Format, sigma: usize) -> Result<Self> {
        Ok(match format {
            Format::Crs => AnyMatrix::Crs(a.clone()),
            Format::Ell => AnyMatrix::Ell(Ell::from_csr(a)?),
            Format::Sell => AnyMatrix::Sell(Sell::from_csr(a, sigma)?),
            Format::BlockCrs(block) => AnyMatrix::BlockCrs(BlockCsr::from_csr(a, block)?),
            Format::BlockSell(block) => {
                AnyMatrix::BlockSell(BlockSell::from_blocks(&BlockCsr::from_csr(a, block)?, sigma)?)
            }
        })
    }

    /// The format.
    pub fn format(&self) -> Format {
        match self {
            AnyMatrix::Crs(_) => Format::Crs,
            AnyMatrix::Ell(_) => Format::Ell,
            AnyMatrix::Sell(_) => Format::Sell,
            AnyMatrix::BlockCrs(a) => Format::BlockCrs(a.block()),
            AnyMatrix::BlockSell(a) => Format::BlockSell(a.block()),
        }
    }
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        match self {
            AnyMatrix::Crs(a) => a.n_rows(),
            AnyMatrix::Ell(a) => a.n_rows(),
            AnyMatrix::Sell(a) => a.n_rows(),
            AnyMatrix::BlockCrs(a) => a.block() * a.block_rows(),
            AnyMatrix::BlockSell(a) => a.block() * a.pattern().n_rows(),
        }
    }
    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        match self {
            AnyMatrix::Crs(a) => a.n_cols(),
            AnyMatrix::Ell(a) => a.n_cols(),
            AnyMatrix::Sell(a) => a.n_cols(),
            AnyMatrix::BlockCrs(a) => a.block() * a.block_cols(),
            AnyMatrix::BlockSell(a) => a.block() * a.pattern().n_cols(),
        }
    }
    /// Number of entries without padding.
    pub fn nnz(&self) -> usize {
        match self {
            AnyMatrix::Crs(a) => a.nnz(),
            AnyMatrix::Ell(a) => a.nnz(),
            AnyMatrix::Sell(a) => a.nnz(),
            AnyMatrix::BlockCrs(a) => a.values().len(),
            AnyMatrix::BlockSell(a) => a.block().pow(2) * a.pattern().nnz(),
        }
    }
    /// Number of entries with padding.
    pub fn stored(&self) -> usize {
        match self {
            AnyMatrix::Crs(a) => a.nnz(),
            AnyMatrix::Ell(a) => a.stored(),
            AnyMatrix::Sell(a) => a.stored(),
            AnyMatrix::BlockCrs(a) => a.values().len(),
            AnyMatrix::BlockSell(a) => a.values().len(),
        }
    }
    /// Stored entries beside nonzeros.
    pub fn padding(&self) -> Padding {
        Padding { stored: self.stored() as u64, nnz: self.nnz() as u64 }
    }

    /// Bytes that the arrays take on a device: 4 a column, the values, and CRS's row pointers at 4 (8 from 2^32 entries
    /// on), or SELL's slice pointers at 8 and its permutation at 4.
    pub fn bytes(&self) -> u64 {
        let square = self.format().block().pow(2) as u64;
        let crs = |row_ptr: &[usize]| {
            let entries = row_ptr.last().copied().unwrap_or(0);
            row_ptr.len() as u64 * if entries > u32::MAX as usize { 8 } else { 4 }
        };
        let sell =
            |a: &Sell<T>| 8 * a.slice_ptr().len() as u64 + 4 * a.permutation().map_or(0, <[u32]>::len) as u64;
        let pointers = match self {
            AnyMatrix::Crs(a) => crs(a.row_ptr()),
            AnyMatrix::Ell(_) => 0,
            AnyMatrix::Sell(a) => sell(a),
            AnyMatrix::BlockCrs(a) => crs(a.row_ptr()),
            AnyMatrix::BlockSell(a) => sell(a.pattern()),
        };
        let stored = self.stored() as u64;
        stored / square * 4 + stored * size_of::<T>() as u64 + pointers
    }
}

/// The bytes that the bandwidth of `y = A x` is stated with, for formats of blocks of this size (1 without): `value_bytes`
/// a nonzero, 4 a column index of a block, 4 a row pointer, and `x` and `y` once each. In f64 12 a nonzero, 4 a row, 16 a
/// row; with blocks of 2 x 2 36 a block, 2 a row, 16 a row.
///
/// Padding is not in it: a format that reads more than it must is slower by this measure, not faster.
pub fn spmv_bytes(nnz: usize, n_rows: usize, value_bytes: usize, block: usize) -> u64 {
    matrix_traffic(nnz, n_rows, value_bytes, block) + (2 * value_bytes * n_rows) as u64
}

/// The part of [`spmv_bytes`] that is the matrix's, without x and y.
pub(crate) fn matrix_traffic(nnz: usize, n_rows: usize, value_bytes: usize, block: usize) -> u64 {
    let (nnz, rows, value, block) = (nnz as u64, n_rows as u64, value_bytes as u64, block as u64);
    nnz * value + 4 * nnz / (block * block) + 4 * rows / block
}
