//! The rows that a rank has of a matrix of a level, on their way to where they are multiplied.

use std::sync::Arc;

use arithmetic::compression::Compression;
use cuda_std::Real;

use super::part::{PartOfMatrix, PieceOfMatrix};
use crate::backend::distributed::Distributed;
use crate::comm::{Comm, Numbering, Piece, Reader, Writer, maxima};
use crate::error::Result;
use crate::matrix::rounding::Pivot;
use crate::matrix::{Csr, Format, choose_for_gpu, sell_padding_of};
use crate::setup::{Blocks, DistributedCsr, Parts, RoundedRows, Size, rows_at_root};

/// A matrix without rows of others, and the pivots of the rounding, where values are rounded so that a GPU can
/// compress them.
pub type OwnRounded<M> = (Blocks<DistributedCsr<M>>, Option<Pivot>);

/// The rows of this rank, without blocks rounded with these pivots if a GPU would compress the whole matrix.
/// All ranks call this.
pub fn rounded<T: Real, B: Parts<T> + RoundedRows<T>>(
    backend: &Distributed<B>,
    m: &Blocks<DistributedCsr<B::Csr>>,
    pivot: Option<Pivot>,
) -> Result<OwnRounded<B::Csr>> {
    let own = m.map(|plane| backend.in_own_rows(plane))?;
    let Some(pivot) = pivot.filter(|_| own.block() == 1) else { return Ok((own, None)) };
    Ok(match rounded_plane(backend, own.first(), pivot)? {
        Some(rounded) => (Blocks::scalar(rounded), Some(pivot)),
        None => (own, None),
    })
}

/// What this rank multiplies of it. All ranks call this.
pub fn part<T: Real, B: Parts<T>>(
    backend: &Distributed<B>,
    (own, pivot): &OwnRounded<B::Csr>,
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
    if !would_be_sell(comm, own, lengths)? {
        return Ok(None);
    }
    let reach = backend.agreed(inner.reach(own.local(), pivot, columns.own(), columns.numbers()))?;
    let reach = maxima(comm, &[f64::from(reach)])?[0] as u32;
    let Some(compression) = Compression::reaching(reach) else { return Ok(None) };
    let rounded = inner.rounded(own.local(), pivot, columns.own(), compression);
    backend.with_local(own, rounded).map(Some)
}

/// Whether a GPU would hold the whole matrix in reduced SELL, which rank 0 sees from the lengths of all rows.
fn would_be_sell<M>(comm: &dyn Comm, own: &DistributedCsr<M>, lengths: Vec<u32>) -> Result<bool> {
    let Size { n_rows, nnz, .. } = own.size();
    let mut answer = Vec::new();
    if let Some(messages) = comm.gather(Writer::new().put(own.rows().numbers()).put(&lengths).bytes())? {
        let mut of_all = vec![0; n_rows];
        for message in &messages {
            let mut message = Reader::new(message);
            let (numbers, lengths) = (message.take::<u32>()?, message.take::<u32>()?);
            numbers.into_iter().zip(lengths).for_each(|(row, length)| of_all[row as usize] = length);
        }
        let choice = choose_for_gpu(n_rows, nnz, |sigma| sell_padding_of(of_all.clone(), nnz as u64, sigma))?;
        answer = vec![u8::from(choice.format == Format::Sell)];
    }
    comm.broadcast(&mut answer)?;
    Ok(answer == [1])
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
        let (rows, columns) = rows_at_root(comm, (&rows, numbers.numbers()), &columns, numbers.total())?;
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
        let col_idx = rows.col_idx().iter().map(|&j| columns.numbers()[j as usize]).collect();
        let (row_ptr, values) = (rows.row_ptr().to_vec(), rows.values().to_vec());
        Csr::from_valid_parts(rows.n_rows(), columns.total(), row_ptr, col_idx, values)
    }

    /// The same where rank 0 has all elements that they are multiplied by.
    pub fn given_to_root(self, rank: usize) -> Self {
        let total = self.columns.total();
        let numbers = if rank == 0 { (0..total as u32).collect() } else { self.columns.numbers().to_vec() };
        let owners = vec![0; numbers.len()];
        let columns = Arc::new(Numbering::new(rank, numbers, owners, total));
        let rows = if rank == 0 { Arc::new(self.in_numbers()) } else { self.rows };
        Rows { rows, columns }
    }

    /// What this rank multiplies. All ranks call this.
    pub fn piece(&self, comm: &dyn Comm, pivot: Option<Pivot>) -> Result<PieceOfMatrix> {
        Ok(PieceOfMatrix { piece: Piece::of_rows(comm, &self.rows, &self.columns)?, pivot })
    }
}
