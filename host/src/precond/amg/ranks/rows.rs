//! The rows that a rank has of a matrix of a level, on their way to where they are multiplied.

use std::ops::Range;

use arithmetic::compression::Compression;
use cuda_std::Real;

use super::part::{PartOfMatrix, PartOn};
use crate::backend::distributed::Distributed;
use crate::comm::{Numbering, Reader, Writer, maxima, sums};
use crate::error::Result;
use crate::matrix::rounding::Pivot;
use crate::matrix::{Format, Padding, SORTING_WINDOWS, choose_for_gpu, sell_padding_of};
use crate::setup::{Blocks, DistributedCsr, Parts, RoundedRows, Size};

/// A matrix, and the pivots of the rounding, where values are rounded so that a GPU can compress them.
pub type Rounded<M> = (Blocks<DistributedCsr<M>>, Option<Pivot>);

/// The rows of this rank, without blocks rounded with these pivots if a GPU would compress the whole matrix.
/// All ranks call this.
pub fn rounded<T: Real, B: Parts<T> + RoundedRows<T>>(
    backend: &Distributed<B>,
    m: &Blocks<DistributedCsr<B::Csr>>,
    pivot: Option<Pivot>,
) -> Result<Rounded<B::Csr>> {
    let Some(pivot) = pivot.filter(|_| m.block() == 1) else { return Ok((m.clone(), None)) };
    Ok(match rounded_plane(backend, m.first(), pivot)? {
        Some(rounded) => (Blocks::scalar(rounded), Some(pivot)),
        None => (m.clone(), None),
    })
}

/// What this rank multiplies of it. All ranks call this.
pub fn part<T: Real, B: Parts<T>>(
    backend: &Distributed<B>,
    (m, pivot): &Rounded<B::Csr>,
) -> Result<PartOn<T, B>> {
    let (local, border) = backend.split(m)?;
    Ok(PartOfMatrix { local, border, pivot: *pivot })
}

/// The rows of this rank, rounded so that a GPU can compress them; `None` where it would not. All ranks call
/// this.
fn rounded_plane<T: Real, B: Parts<T> + RoundedRows<T>>(
    backend: &Distributed<B>,
    a: &DistributedCsr<B::Csr>,
    pivot: Pivot,
) -> Result<Option<DistributedCsr<B::Csr>>> {
    let (comm, inner, columns) = (&**backend.comm(), backend.inner(), a.columns());
    if !would_be_sell(backend, a)? {
        return Ok(None);
    }
    let own = (a.rows().own(), columns.own());
    let reach = backend.agreed(inner.reach(a.local(), pivot, own, &columns.numbers()))?;
    let reach = maxima(comm, &[f64::from(reach)])?[0] as u32;
    let Some(compression) = Compression::reaching(reach) else { return Ok(None) };
    let rounded = inner.rounded(a.local(), pivot, own, compression);
    backend.with_values(a, rounded).map(Some)
}

/// Whether a GPU would hold the whole matrix in reduced SELL. Each rank looks at the windows of rows that are
/// all its own, rank 0 at the others. All ranks call this.
fn would_be_sell<T: Real, B: Parts<T> + RoundedRows<T>>(
    backend: &Distributed<B>,
    a: &DistributedCsr<B::Csr>,
) -> Result<bool> {
    let (comm, inner) = (&**backend.comm(), backend.inner());
    let Size { n_rows, nnz, .. } = a.size();
    let Windows { whole, split } = Windows::of(a.rows(), comm.rank(), n_rows);
    let lengths = |(number, rows): (u32, Range<usize>)| {
        let lengths = inner.row_lengths(a.local(), rows)?;
        Ok((number..).zip(lengths).map(|(number, length)| [number, length]).collect::<Vec<_>>())
    };
    let split = backend.agreed(split.into_iter().map(lengths).collect::<Result<Vec<_>>>())?.concat();
    let mut of_several = Vec::new();
    for message in comm.gather(Writer::new().put(&split).bytes())?.iter().flatten() {
        of_several.extend(Reader::new(message).take::<[u32; 2]>()?);
    }
    of_several.sort_unstable();
    let of_several: Vec<u32> = of_several.into_iter().map(|[_, length]| length).collect();
    let choice = choose_for_gpu(n_rows, nnz, |sigma| {
        let stored = |rows: &Range<usize>| inner.stored_in_sell(a.local(), rows.clone(), sigma);
        let here = backend.agreed(whole.iter().map(stored).sum::<Result<u64>>())?;
        let stored = (here + sell_padding_of(of_several.clone(), 0, sigma)?.stored) as f64;
        Ok(Padding { stored: sums(comm, &[stored])?[0] as u64, nnz: nnz as u64 })
    })?;
    Ok(choice.format == Format::Sell)
}

/// Windows of rows, of the largest size that rows are sorted in, which the smaller ones divide.
struct Windows {
    /// Rows in windows that are all here.
    whole: Vec<Range<usize>>,
    /// The others; in front their first numbers.
    split: Vec<(u32, Range<usize>)>,
}

impl Windows {
    /// Of the rows of `rank` among these, of `n_rows` in all.
    fn of(rows: &Numbering, rank: usize, n_rows: usize) -> Windows {
        const WINDOW: usize = SORTING_WINDOWS[SORTING_WINDOWS.len() - 1];
        let (mut whole, mut split) = (Vec::new(), Vec::new());
        let mut place = 0;
        for (number, count, owner) in rows.rows() {
            let (number, run) = (number as usize, place..place + count);
            place = run.end;
            if owner as usize != rank {
                continue;
            }
            // The last window ends with the matrix.
            let behind = if number + count == n_rows { n_rows } else { (number + count) / WINDOW * WINDOW };
            let first = number.next_multiple_of(WINDOW).min(number + count);
            let there = first..behind.max(first);
            let places = |numbers: Range<usize>| {
                run.start + (numbers.start - number)..run.start + (numbers.end - number)
            };
            whole.push(places(there.clone()));
            for numbers in [number..there.start, there.end..number + count] {
                split.push((numbers.start as u32, places(numbers)));
            }
        }
        whole.retain(|rows| !rows.is_empty());
        split.retain(|(_, rows)| !rows.is_empty());
        Windows { whole, split }
    }
}
