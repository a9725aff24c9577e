//! The lines below the size line: read, cut and parsed in parallel, checked against the header.

use rayon::prelude::*;

use super::header::Header;
use super::parse::{Chunk, line_of_entry};
use super::{Layout, Symmetry};
use crate::error::{Error, Result};
use crate::io::source::{Batch, Source};

/// The sizes of the pieces that the text is cut into, in bytes. No result depends on them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pieces {
    /// Bytes read at once, while the batch before is parsed.
    pub batch: usize,
    /// Bytes parsed by one task.
    pub chunk: usize,
}

impl Pieces {
    /// A batch fits in the last-level cache, a chunk and its entries fit in the L2 cache.
    pub const DEFAULT: Pieces = Pieces { batch: 8 << 20, chunk: 1 << 17 };
}

/// Every entry of the file, in its order.
#[derive(Default)]
pub(super) struct Entries {
    /// Rows and columns, counted from 0. Empty for array files, where they follow from the position.
    pub rows: Vec<u32>,
    pub cols: Vec<u32>,
    pub values: Vec<f64>,
}

impl Entries {
    /// Reads the rest of `source`. `progress(bytes done, bytes in all)` is called after every batch.
    ///
    /// The first faulty line of the text is reported, however the text is cut.
    pub fn read(
        source: &mut Source,
        header: &Header,
        pieces: Pieces,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Entries> {
        let mut entries = Entries::default();
        let (mut batch, mut next) = (Batch::default(), Batch::default());
        let mut chunks: Vec<Chunk> = Vec::new();
        source.fill(&next, &mut batch, pieces.batch);
        loop {
            let texts = cut(batch.lines(), pieces.chunk);
            chunks.resize_with(chunks.len().max(texts.len()), Chunk::default);
            let mut scan = || {
                let tasks = chunks.par_iter_mut().zip(&texts);
                tasks.with_max_len(1).for_each(|(chunk, text)| chunk.scan(text, header));
            };
            if batch.is_last() {
                scan();
            } else {
                rayon::join(scan, || source.fill(&batch, &mut next, pieces.batch));
            }
            for (chunk, text) in chunks.iter().zip(&texts) {
                entries.check(chunk, text, header, source)?;
                source.advance(chunk.lines, text.len());
                entries.append(chunk);
            }
            let (done, total) = source.progress();
            progress(done, total);
            if batch.is_last() {
                break;
            }
            std::mem::swap(&mut batch, &mut next);
        }
        if let Some(e) = batch.take_failure() {
            return Err(source.failure(e));
        }
        match header.truncated(entries.values.len() as u64) {
            Some(message) => Err(Error::parse(source.name(), source.line(), message)),
            None => Ok(entries),
        }
    }

    /// Refuses the first faulty or surplus line of a chunk.
    fn check(&self, chunk: &Chunk, text: &[u8], header: &Header, source: &Source) -> Result<()> {
        let (before, found) = (self.values.len() as u64, chunk.values.len() as u64);
        if let Some((entry, message)) = header.surplus(before, found, chunk.fault.is_some()) {
            let line = source.lines() + line_of_entry(text, entry);
            return Err(Error::parse(source.name(), line, message));
        }
        match &chunk.fault {
            Some(message) => Err(Error::parse(source.name(), source.lines() + chunk.lines, message)),
            None => Ok(()),
        }
    }

    fn append(&mut self, chunk: &Chunk) {
        self.rows.extend_from_slice(&chunk.rows);
        self.cols.extend_from_slice(&chunk.cols);
        self.values.extend_from_slice(&chunk.values);
    }

    /// Gives the values of an array their rows and columns. An array lists columns one after the other, with
    /// only the lower triangle of a symmetric or skew-symmetric matrix. Zeros are dropped.
    pub fn locate(&mut self, header: &Header) {
        if header.layout == Layout::Coordinate {
            return;
        }
        let mut values = std::mem::take(&mut self.values).into_iter();
        for col in 0..header.n_cols {
            let first_row = match header.symmetry {
                Symmetry::General => 0,
                Symmetry::Symmetric => col,
                Symmetry::Skew => col + 1,
            };
            for (row, value) in (first_row..header.n_rows).zip(&mut values) {
                if value != 0.0 {
                    self.rows.push(row as u32);
                    self.cols.push(col as u32);
                    self.values.push(value);
                }
            }
        }
    }
}

/// Cuts text at line ends into pieces of about `size` bytes.
pub(super) fn cut(mut text: &[u8], size: usize) -> Vec<&[u8]> {
    let mut pieces = Vec::with_capacity(text.len() / size + 1);
    while !text.is_empty() {
        let rest = text.get(size..).unwrap_or_default();
        let end = rest.iter().position(|&b| b == b'\n').map_or(text.len(), |at| size + at + 1);
        let (piece, rest) = text.split_at(end);
        pieces.push(piece);
        text = rest;
    }
    pieces
}
