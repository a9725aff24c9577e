//! Arrays of numbers as bytes, one after another, each with its length in front.

use bytemuck::{AnyBitPattern, NoUninit};

use super::{Comm, received};
use crate::error::{Error, Result};
use crate::matrix::Csr;

/// A message that is being written.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub fn new() -> Self {
        Self::default()
    }
    pub fn put<U: NoUninit>(mut self, values: &[U]) -> Self {
        self.0.extend_from_slice(&(values.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytemuck::cast_slice(values));
        self
    }
    pub fn matrix(self, a: &Csr<f64>) -> Self {
        let row_ptr: Vec<u64> = a.row_ptr().iter().map(|&p| p as u64).collect();
        self.put(&[a.n_cols() as u64]).put(&row_ptr).put(a.col_idx()).put(a.values())
    }
    pub fn text(self, text: &str) -> Self {
        self.put(text.as_bytes())
    }
    pub fn bytes(self) -> Vec<u8> {
        self.0
    }
}

/// A message that is being read, in the order in which it was written.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(message: &'a [u8]) -> Self {
        Reader(message)
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or_else(cut_short)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub fn take<U: NoUninit + AnyBitPattern>(&mut self) -> Result<Vec<U>> {
        let length = self.bytes(size_of::<u64>())?.try_into().map(u64::from_le_bytes);
        let length = length.map_err(|_| cut_short())? as usize;
        let bytes = self.bytes(length.checked_mul(size_of::<U>()).ok_or_else(cut_short)?)?;
        Ok(bytemuck::pod_collect_to_vec(bytes))
    }

    /// An array of one number.
    pub fn one<U: NoUninit + AnyBitPattern>(&mut self) -> Result<U> {
        self.take()?.first().copied().ok_or_else(cut_short)
    }

    pub fn matrix(&mut self) -> Result<Csr<f64>> {
        let n_cols = self.one::<u64>()? as usize;
        let row_ptr: Vec<usize> = self.take::<u64>()?.into_iter().map(|p| p as usize).collect();
        let n_rows = row_ptr.len().checked_sub(1).ok_or_else(cut_short)?;
        Csr::new(n_rows, n_cols, row_ptr, self.take()?, self.take()?)
    }

    pub fn text(&mut self) -> Result<String> {
        Ok(String::from_utf8_lossy(&self.take::<u8>()?).into_owned())
    }
}

/// Sends a matrix to a rank that [receives](receive_matrix) it, its arrays as they are: a large one takes
/// longer to copy into a message, and out of it, than to send.
pub(crate) fn send_matrix(comm: &dyn Comm, to: usize, a: &Csr<f64>) -> Result<()> {
    let sizes = [a.n_rows() as u64, a.n_cols() as u64, a.nnz() as u64];
    comm.send(to, bytemuck::cast_slice(&sizes))?;
    let row_ptr: Vec<u64> = a.row_ptr().iter().map(|&p| p as u64).collect();
    let arrays =
        [bytemuck::cast_slice(&row_ptr), bytemuck::cast_slice(a.col_idx()), bytemuck::cast_slice(a.values())];
    comm.exchange(&arrays.map(|array| (to, array)), &mut [])
}

/// The matrix that a rank [sends](send_matrix).
pub(crate) fn receive_matrix(comm: &dyn Comm, from: usize) -> Result<Csr<f64>> {
    let sizes = comm.receive(from)?;
    let &[n_rows, n_cols, nnz] = &bytemuck::pod_collect_to_vec::<u8, u64>(&sizes)[..] else {
        return Err(cut_short());
    };
    let row_ptr: Vec<u64> = received(comm, &[], &[(from, n_rows as usize + 1)])?;
    let col_idx = received(comm, &[], &[(from, nnz as usize)])?;
    let values = received(comm, &[], &[(from, nnz as usize)])?;
    let row_ptr = row_ptr.into_iter().map(|p| p as usize).collect();
    Csr::new(n_rows as usize, n_cols as usize, row_ptr, col_idx, values)
}

fn cut_short() -> Error {
    Error::Option("a message between ranks is cut short: do all of them run the same program?".into())
}
