//! Arrays of numbers as bytes, one after another, each with its length in front.

use bytemuck::{AnyBitPattern, NoUninit};

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

fn cut_short() -> Error {
    Error::Option("a message between ranks is cut short: do all of them run the same program?".into())
}
