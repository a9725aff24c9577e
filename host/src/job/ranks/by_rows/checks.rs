//! What ranks find out of a matrix of which each has its rows, and what they refuse.

use std::sync::Arc;

use super::symmetry::compare_mirrored;
use crate::comm::{Comm, Piece, Quality, Ranges, agree, maxima, sums};
use crate::error::{Error, Result};
use crate::job::plan::fits_f32;
use crate::job::{Options, Precond, plan};
use crate::matrix::{Csr, Survey, Symmetry, Target, block, check};
use crate::precond::NullSpace;

/// What every rank knows of the matrix.
pub(super) struct Facts {
    pub n_rows: usize,
    pub nnz: usize,
    /// `||A||_inf`.
    pub norm: f64,
    pub symmetry: Symmetry,
    pub has_positive_diagonal: bool,
    /// Whether f32 holds the diagonal.
    pub fits_f32: bool,
    /// The first row without entries, counted from 0.
    pub empty_row: Option<usize>,
    pub quality: Quality,
    /// What this rank has of what the solution is kept out of.
    pub null_space: Option<NullSpace>,
}

impl Facts {
    /// Whether it is clear that every preconditioner can divide by the diagonal.
    pub fn is_divisible(&self, options: &Options) -> bool {
        options.block_size == 1 && self.has_positive_diagonal && self.fits_f32
    }
}

/// The facts of the matrix of which `a` are this rank's rows, and the rows as a piece of it. All ranks call
/// this.
///
/// A GPU takes its rows with the columns of the whole matrix, and those are kept for it.
///
/// # Errors
/// A matrix that is not square, not finite or not of whole blocks; [`Error::Rank`] where another rank has
/// failed.
pub(super) fn examine(
    comm: &dyn Comm,
    a: Csr<f64>,
    ranges: &Ranges,
    (block, target): (usize, Target),
) -> Result<(Facts, Piece)> {
    let own = ranges.of(comm.rank());
    agree(comm, check_sizes(&a, ranges, block))?;
    let a = Arc::new(a);
    let (survey, fingerprint) = Survey::of_rows(&a, own.start);
    agree(comm, if survey.is_finite { Ok(()) } else { check::check_rows_finite(&a, own.start) })?;
    let is_mirrored = add_up(comm, fingerprint)? == 0;
    let mut piece = Piece::of_range(comm, &a, ranges)?;
    let symmetry = match is_mirrored {
        true => Symmetry::Symmetric,
        false => compare_mirrored(comm, &piece, ranges)?,
    };
    let null_space = match symmetry.is_symmetric() {
        true => null_space(comm, &a, ranges, block)?,
        false => None,
    };
    let holds = |all: bool| if all { 0.0 } else { 1.0 };
    let empty_row = survey.empty_row.map_or(f64::NEG_INFINITY, |i| -(i as f64));
    let fits = fits_f32(survey.diagonal_magnitudes);
    let most = [survey.norm, holds(survey.has_positive_diagonal()), holds(fits), empty_row];
    let most = maxima(comm, &most)?;
    let facts = Facts {
        n_rows: ranges.n_rows(),
        nnz: sums(comm, &[a.nnz() as f64])?[0] as usize,
        norm: most[0],
        symmetry,
        has_positive_diagonal: most[1] == 0.0,
        fits_f32: most[2] == 0.0,
        empty_row: most[3].is_finite().then_some(-most[3] as usize),
        quality: piece.quality(comm)?,
        null_space,
    };
    if target != Target::Gpu {
        piece.local = piece.local.alone();
    }
    Ok((facts, piece))
}

/// Refuses many more ranks than rows, most of which would have nothing to do but to listen to all others.
pub(super) fn check_size(comm: &dyn Comm, n_rows: usize) -> Result<()> {
    /// Ranks that may be without rows.
    const FEW: usize = 64;
    match comm.size() {
        size if size > n_rows.max(FEW) => Err(Error::Option(format!(
            "there are {size} ranks for {n_rows} rows, and each needs rows of its own; take fewer ranks"
        ))),
        _ => Ok(()),
    }
}

fn check_sizes(a: &Csr<f64>, ranges: &Ranges, block: usize) -> Result<()> {
    let n = ranges.n_rows();
    check::check_shape((n, a.n_cols()))?;
    if block == 1 { Ok(()) } else { block::check_sizes((a.n_rows(), n), block) }
}

/// The sum over ranks, modulo 2^64, in halves that f64 holds.
fn add_up(comm: &dyn Comm, mine: u64) -> Result<u64> {
    let halves = comm.all_gather(&[(mine >> 32) as f64, (mine & 0xffff_ffff) as f64])?;
    Ok(halves
        .chunks_exact(2)
        .fold(0, |sum: u64, half| sum.wrapping_add(((half[0] as u64) << 32) + half[1] as u64)))
}

/// What this rank has of the null space of a symmetric matrix, if it is one that [`NullSpace::on_ranks`]
/// knows.
fn null_space(comm: &dyn Comm, a: &Csr<f64>, ranges: &Ranges, block: usize) -> Result<Option<NullSpace>> {
    let own = ranges.of(comm.rank());
    let unknowns: Vec<u32> = (own.start as u32..own.end as u32).collect();
    for kinds in NullSpace::kinds(block).filter(|&kinds| ranges.n_rows().is_multiple_of(kinds)) {
        let found = NullSpace::on_ranks(comm, a, &unknowns, own.start, kinds)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Refuses a diagonal that the preconditioner would have to divide by, and cannot: with the same error on
/// every rank. All ranks call this.
///
/// # Errors
/// [`Error::Diagonal`] and [`Error::Block`] with the first such row; [`Error::Rank`] where a rank has failed.
pub(super) fn check_divisible(
    comm: &dyn Comm,
    local: &Csr<f64>,
    ranges: &Ranges,
    precond: Precond,
    options: &Options,
) -> Result<()> {
    const WHATS: [&str; 7] = [
        "missing",
        "zero",
        "too small",
        check::TOO_SMALL_FOR_F32,
        "not finite",
        "missing or zero",
        "singular or badly scaled",
    ];
    let (first, b) = (ranges.of(comm.rank()).start, options.block_size);
    let found = match plan::check_divisible(local, precond, options) {
        Ok(()) => None,
        Err(Error::Diagonal { row, what, .. }) => Some((row - 1, what)),
        Err(Error::Block { first, what, .. }) => Some((first - 1, what)),
        Err(other) => return Err(other),
    };
    let none = [f64::INFINITY, 0.0];
    let place = |what: &str| WHATS.iter().position(|known| *known == what).unwrap_or(0);
    let mine = found.map_or(none, |(row, what)| [(first + row) as f64, place(what) as f64]);
    let all = comm.all_gather(&mine)?;
    let Some(fault) = all.chunks_exact(2).find(|fault| fault[0].is_finite()) else { return Ok(()) };
    let (row, what, method) = (fault[0] as usize, WHATS[fault[1] as usize], precond.description().name);
    Err(match b {
        1 => Error::Diagonal { row: row + 1, what, method },
        _ => Error::Block { node: row / b + 1, first: row + 1, last: row + b, what, method },
    })
}
