//! Why a system may have no solution, of which each rank has its rows.

use crate::comm::{Comm, Piece, Ranges, Reader, Writer, all_to_all, sums};
use crate::error::Result;
use crate::precond::{NullSpace, Sum};

/// The norm of what no x reaches in b, of which this rank has its part: of the elements in rows without
/// entries. All ranks call this.
///
/// # Errors
/// [`Error::Rank`](crate::Error::Rank) where a rank has failed.
pub(super) fn out_of_reach(comm: &dyn Comm, piece: &Piece, b: &[f64]) -> Result<f64> {
    let (local, border) = (piece.local.csr(), &piece.border);
    let mut is_empty: Vec<bool> = (0..local.n_rows()).map(|row| local.is_empty_row(row)).collect();
    for (k, &row) in border.rows.iter().enumerate() {
        is_empty[row as usize] &= border.entries.is_empty_row(k);
    }
    let squares = b.iter().zip(&is_empty).filter(|(_, is_empty)| **is_empty).map(|(b, _)| b * b);
    Ok(sums(comm, &[squares.sum::<f64>()])?[0].sqrt())
}

/// What [`NullSpace::why_singular`] says of the whole. All ranks call this.
///
/// # Errors
/// [`Error::Rank`](crate::Error::Rank) where a rank has failed.
pub(super) fn why_singular(
    comm: &dyn Comm,
    piece: &Piece,
    ranges: &Ranges,
    b: &[f64],
) -> Result<Option<String>> {
    let own = ranges.of(comm.rank());
    let (local, border) = (piece.local.csr(), &piece.border);
    let ghosts = border.links.received(comm, |place| own.start as u32 + place)?;
    let mut rows = vec![Sum::default(); local.n_rows()];
    let mut columns = vec![Sum::default(); local.n_rows()];
    let mut of_others = vec![Sum::default(); ghosts.len()];
    Sum::add_entries(local, &mut rows, |i| i, &mut columns);
    Sum::add_entries(&border.entries, &mut rows, |k| border.rows[k] as usize, &mut of_others);
    let mut messages = vec![Vec::new(); comm.size()];
    for (&column, sum) in ghosts.iter().zip(&of_others) {
        messages[ranges.owner(column as usize)].push([f64::from(column), sum.sum, sum.magnitudes]);
    }
    let written =
        |sums: Vec<[f64; 3]>| if sums.is_empty() { Vec::new() } else { Writer::new().put(&sums).bytes() };
    for message in all_to_all(comm, messages.into_iter().map(written).collect())? {
        if message.is_empty() {
            continue;
        }
        for [column, sum, magnitudes] in Reader::new(&message).take::<[f64; 3]>()? {
            let of_column = &mut columns[column as usize - own.start];
            of_column.sum += sum;
            of_column.magnitudes += magnitudes;
        }
    }
    let left = |sums: &[Sum]| sums.iter().filter(|sum| !sum.vanishes()).count() as f64;
    let Sum { sum, magnitudes } = Sum::of(b);
    let of_all = sums(comm, &[left(&columns), left(&rows), sum, magnitudes])?;
    let b = Sum { sum: of_all[2], magnitudes: of_all[3] };
    Ok(NullSpace::why(of_all[0] == 0.0, of_all[1] == 0.0, b))
}
