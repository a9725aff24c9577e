//! The storage formats by name.

use crate::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Rows of a slice, the C of SELL-C-sigma: one warp.
pub const SLICE: usize = 32;

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
    /// Every name, except for the short ones: `csr`, `bcrs` and `bsell` are read as well.
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

impl serde::Serialize for Format {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
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
