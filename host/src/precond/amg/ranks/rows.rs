//! The rows that a rank has of a matrix of a level, on their way to where they are multiplied.

use std::sync::Arc;

use cuda_std::Real;

use super::part::PartOfMatrix;
use crate::backend::distributed::Distributed;
use crate::comm::{Comm, Numbering, Piece, Reader, Writer, maxima};
use crate::error::Result;
use crate::matrix::rounding::{Pivot, Rounding};
use crate::matrix::{Csr, Format, choose_for_gpu, sell_padding_of};
use crate::setup::{Blocks, DistributedCsr, Matrices, Size, rows_at_root};

/// Rows on the host.
pub struct Rows<T> {
    rows: Csr<T>,
    columns: Arc<Numbering>,
    /// The pivots of the rounding, where values are rounded so that a GPU can compress them.
    pivot: Option<Pivot>,
}

impl<T: Real> Rows<T> {
    /// All rows, blocks written out, on rank 0; no other has any then. All ranks call this.
    pub fn at_root<B: Matrices<T>>(
        backend: &Distributed<B>,
        m: &Blocks<DistributedCsr<B::Csr>>,
    ) -> Result<Self> {
        let comm = &**backend.comm();
        let (rows, columns) = backend.own_rows(m)?;
        let numbers = m.first().rows().of_own(comm.rank()).written_out(comm.rank(), m.block());
        let (rows, columns) = rows_at_root(comm, (&rows, numbers.numbers()), &columns, numbers.total())?;
        Ok(Rows { rows, columns: Arc::new(columns), pivot: None })
    }

    /// The rows with columns as the whole matrix has them.
    pub fn in_numbers(&self) -> Csr<T> {
        let Rows { rows, columns, .. } = self;
        let col_idx = rows.col_idx().iter().map(|&j| columns.numbers()[j as usize]).collect();
        let (row_ptr, values) = (rows.row_ptr().to_vec(), rows.values().to_vec());
        Csr::from_valid_parts(rows.n_rows(), columns.total(), row_ptr, col_idx, values)
    }

    /// The same where rank 0 has all elements that they are multiplied by.
    pub fn given_to_root(self, rank: usize) -> Self {
        let Rows { ref columns, pivot, .. } = self;
        let total = columns.total();
        let numbers = if rank == 0 { (0..total as u32).collect() } else { columns.numbers().to_vec() };
        let owners = vec![0; numbers.len()];
        let columns = Arc::new(Numbering::new(rank, numbers, owners, total));
        let rows = if rank == 0 { self.in_numbers() } else { self.rows };
        Rows { rows, columns, pivot }
    }

    /// What this rank multiplies. All ranks call this.
    pub fn part(&self, comm: &dyn Comm) -> Result<PartOfMatrix> {
        let all: Vec<u32> = (0..self.rows.n_rows() as u32).collect();
        Ok(PartOfMatrix { piece: Piece::of_rows(comm, &self.rows, &all, &self.columns)?, pivot: self.pivot })
    }
}

/// The rows of this rank, blocks written out; without blocks rounded with these pivots if a GPU would
/// compress the whole matrix. All ranks call this.
pub fn rounded<T: Real, B: Matrices<T>>(
    backend: &Distributed<B>,
    m: &Blocks<DistributedCsr<B::Csr>>,
    pivot: Option<Pivot>,
) -> Result<Rows<T>> {
    let comm = &**backend.comm();
    let (rows, columns) = backend.own_rows(m)?;
    let Some(pivot) = pivot.filter(|_| m.block() == 1) else {
        return Ok(Rows { rows, columns, pivot: None });
    };
    if !would_be_sell(comm, m.first(), &rows)? {
        return Ok(Rows { rows, columns, pivot: None });
    }
    let diagonal = |i: usize| columns.own().get(i).copied().unwrap_or(0);
    let number = |j: u32| columns.numbers().get(j as usize).copied().unwrap_or(0);
    let all = |reach: u32| Ok(maxima(comm, &[f64::from(reach)])?[0] as u32);
    let Some(rounding) = Rounding::of_rows(&rows, pivot, diagonal, number, all)? else {
        return Ok(Rows { rows, columns, pivot: None });
    };
    let rows = rows.with_rows(|range, values| rounding.values(range, values));
    Ok(Rows { rows, columns, pivot: Some(pivot) })
}

/// Whether a GPU would hold the whole matrix in reduced SELL, which rank 0 sees from the lengths of all rows.
fn would_be_sell<T: Real, M>(comm: &dyn Comm, m: &DistributedCsr<M>, rows: &Csr<T>) -> Result<bool> {
    let Size { n_rows, nnz, .. } = m.size();
    let lengths: Vec<u32> = (0..rows.n_rows()).map(|i| rows.row_len(i) as u32).collect();
    let mut answer = Vec::new();
    if let Some(messages) = comm.gather(Writer::new().put(&m.rows().own_numbers()).put(&lengths).bytes())? {
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
