//! The rows that a rank has of a matrix of a level, on their way to where they are multiplied.

use std::sync::Arc;

use arithmetic::compression::Compression;
use cuda_std::Real;

use super::part::{PartOfMatrix, PieceOfMatrix};
use crate::backend::distributed::Distributed;
use crate::comm::{Comm, Numbering, Piece, Reader, Row, Writer, maxima, sums};
use crate::error::Result;
use crate::matrix::rounding::Pivot;
use crate::matrix::{Csr, Format, Padding, SORTING_WINDOWS, choose_for_gpu, sell_padding_of};
use crate::setup::{Blocks, DistributedCsr, Parts, RoundedRows, Size, rows_at_root};

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
    let own = backend.in_own_rows(m.first())?;
    Ok(match rounded_plane(backend, &own, pivot)? {
        Some(rounded) => (Blocks::scalar(rounded), Some(pivot)),
        None => (Blocks::scalar(own), None),
    })
}

/// What this rank multiplies of it. All ranks call this.
pub fn part<T: Real, B: Parts<T>>(
    backend: &Distributed<B>,
    (own, pivot): &Rounded<B::Csr>,
) -> Result<PartOfMatrix<B::Csr>> {
    let (local, border) = backend.split(own)?;
    Ok(PartOfMatrix { local, border, pivot: *pivot })
}

/// The rows of this rank, rounded so that a GPU can compress them; `None` where it would not. All ranks call
/// this.
fn rounded_plane<T: Real, B: Parts<T> + RoundedRows<T>>(
    backend: &Distributed<B>,
    own: &DistributedCsr<B::Csr>,
    pivot: Pivot,
) -> Result<Option<DistributedCsr<B::Csr>>> {
    let (comm, inner, columns) = (&**backend.comm(), backend.inner(), own.columns());
    let lengths = backend.agreed(inner.row_lengths(own.local()))?;
    if !would_be_sell(comm, own, &lengths)? {
        return Ok(None);
    }
    let reach = backend.agreed(inner.reach(own.local(), pivot, columns.own(), &columns.numbers()))?;
    let reach = maxima(comm, &[f64::from(reach)])?[0] as u32;
    let Some(compression) = Compression::reaching(reach) else { return Ok(None) };
    let rounded = inner.rounded(own.local(), pivot, columns.own(), compression);
    backend.with_local(own, rounded).map(Some)
}

/// Whether a GPU would hold the whole matrix in reduced SELL. Each rank looks at the windows of rows that are
/// all its own, rank 0 at the others. All ranks call this.
fn would_be_sell<M>(comm: &dyn Comm, own: &DistributedCsr<M>, lengths: &[u32]) -> Result<bool> {
    let Size { n_rows, nnz, .. } = own.size();
    let (whole, split) = windows(&own.rows().numbers().expanded(), lengths, n_rows);
    let mut of_several = Vec::new();
    for message in comm.gather(Writer::new().put(&split).bytes())?.iter().flatten() {
        of_several.extend(Reader::new(message).take::<[u32; 2]>()?);
    }
    of_several.sort_unstable();
    let of_several: Vec<u32> = of_several.into_iter().map(|[_, length]| length).collect();
    let choice = choose_for_gpu(n_rows, nnz, |sigma| {
        let stored = |lengths: &[u32]| Ok(sell_padding_of(lengths.to_vec(), 0, sigma)?.stored);
        let stored = (stored(&whole)? + stored(&of_several)?) as f64;
        Ok(Padding { stored: sums(comm, &[stored])?[0] as u64, nnz: nnz as u64 })
    })?;
    Ok(choice.format == Format::Sell)
}

/// The lengths of rows, which have these numbers, in windows that are whole here; and number and length of
/// the others. Windows are the largest that rows are sorted in, which the smaller ones divide.
fn windows(numbers: &[u32], lengths: &[u32], n_rows: usize) -> (Vec<u32>, Vec<[u32; 2]>) {
    const WINDOW: usize = SORTING_WINDOWS[SORTING_WINDOWS.len() - 1];
    let (mut whole, mut split) = (Vec::with_capacity(lengths.len()), Vec::new());
    let mut first = 0;
    for of_window in numbers.chunk_by(|a, b| *a as usize / WINDOW == *b as usize / WINDOW) {
        let range = first..first + of_window.len();
        first = range.end;
        let start = of_window[0] as usize / WINDOW * WINDOW;
        if of_window.len() == WINDOW.min(n_rows - start) {
            whole.extend_from_slice(&lengths[range]);
        } else {
            split.extend(of_window.iter().zip(&lengths[range]).map(|(&number, &length)| [number, length]));
        }
    }
    (whole, split)
}

/// Rows on the host, of the last level that is shared out.
pub struct Rows<T> {
    rows: Arc<Csr<T>>,
    columns: Arc<Numbering>,
}

impl<T: Real> Rows<T> {
    /// All rows, blocks written out, on rank 0; no other has any then. All ranks call this.
    pub fn at_root<B: Parts<T>>(
        backend: &Distributed<B>,
        m: &Blocks<DistributedCsr<B::Csr>>,
    ) -> Result<Self> {
        let comm = &**backend.comm();
        let (rows, columns) = backend.own_rows(m)?;
        let numbers = m.first().rows().of_own(comm.rank()).written_out(comm.rank(), m.block());
        let (rows, columns) = rows_at_root(comm, (&rows, &numbers.numbers()), &columns, numbers.total())?;
        Ok(Rows { rows: Arc::new(rows), columns: Arc::new(columns) })
    }

    /// The rows of this rank, blocks written out. All ranks call this.
    pub fn own<B: Parts<T>>(backend: &Distributed<B>, m: &Blocks<DistributedCsr<B::Csr>>) -> Result<Self> {
        let (rows, columns) = backend.own_rows(m)?;
        Ok(Rows { rows, columns })
    }

    /// The rows with columns as the whole matrix has them.
    pub fn in_numbers(&self) -> Csr<T> {
        let Rows { rows, columns } = self;
        let numbers = columns.numbers().expanded();
        let col_idx = rows.col_idx().iter().map(|&j| numbers[j as usize]).collect();
        let (row_ptr, values) = (rows.row_ptr().to_vec(), rows.values().to_vec());
        Csr::from_valid_parts(rows.n_rows(), columns.total(), row_ptr, col_idx, values)
    }

    /// The same where rank 0 has all elements that they are multiplied by.
    pub fn given_to_root(self, rank: usize) -> Self {
        let total = self.columns.total();
        let given = |(number, count, _): Row| (number, count, 0);
        let columns = match rank {
            0 => Numbering::of_rows(rank, [(0, total, 0)], total),
            _ => Numbering::of_rows(rank, self.columns.rows().map(given), total),
        };
        let columns = Arc::new(columns);
        let rows = if rank == 0 { Arc::new(self.in_numbers()) } else { self.rows };
        Rows { rows, columns }
    }

    /// What this rank multiplies. All ranks call this.
    pub fn piece(&self, comm: &dyn Comm, pivot: Option<Pivot>) -> Result<PieceOfMatrix> {
        Ok(PieceOfMatrix { piece: Piece::of_rows(comm, &self.rows, &self.columns)?, pivot })
    }
}
