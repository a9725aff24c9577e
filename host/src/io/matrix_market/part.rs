//! Some lines of a file, for readers of whom each takes its part of the bytes. What is wrong is said as if
//! one had read all of them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use rayon::prelude::*;

use super::body::{Pieces, cut};
use super::header::Header;
use super::parse::{Chunk, line_of_entry};
use super::{Layout, Symmetry};
use crate::error::{Error, Result};
use crate::io::source::Source;

/// How many samples of a text are compared, and the bytes of each.
const SAMPLES: u64 = 63;
const SAMPLE: u64 = 4096;

/// A file of plain text with an entry on each line.
pub struct EntryFile {
    path: PathBuf,
    header: Header,
    /// Lines and bytes up to the first entry, and bytes in all.
    lines: u64,
    begin: u64,
    end: u64,
}

/// What is in one of several parts of the lines.
pub struct Part {
    /// Rows and columns, counted from 0, as they are in the file: of a symmetric matrix one triangle.
    pub rows: Vec<u32>,
    /// Columns.
    pub cols: Vec<u32>,
    /// Values.
    pub values: Vec<f64>,
    /// Lines, up to what is wrong, if anything is.
    lines: u64,
    fault: Option<String>,
}

/// How much is in a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// Lines.
    pub lines: u64,
    /// Entries.
    pub entries: u64,
}

impl EntryFile {
    /// Opens the file and reads its header.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be read; [`Error::Parse`] with the faulty line of the header;
    /// [`Error::Option`] where it is compressed, or lists all elements without their places.
    pub fn open(path: &Path) -> Result<EntryFile> {
        let mut source = Source::open(path)?;
        let header = Header::read(&mut source)?;
        let what = match (source.is_compressed(), header.layout) {
            (true, _) => "is compressed",
            (_, Layout::Array) => "is an array",
            _ => {
                let (lines, begin, (_, end)) = (source.lines(), source.bytes(), source.progress());
                return Ok(EntryFile { path: path.into(), header, lines, begin, end });
            }
        };
        let path = path.display();
        Err(Error::Option(format!(
            "{path} {what}, of which no part can be read alone; this writes a file that can: warpsolve convert \
             {path} A.wsm"
        )))
    }

    /// Rows of the matrix.
    pub fn n_rows(&self) -> usize {
        self.header.n_rows as usize
    }
    /// Columns of the matrix.
    pub fn n_cols(&self) -> usize {
        self.header.n_cols as usize
    }

    /// What tells this file from another, without a look at all of it: sizes, and a checksum of some of its
    /// text.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be read.
    pub fn fingerprint(&self) -> Result<String> {
        let sum = self.checksum().map_err(|error| Error::io("read", &self.path, error))?;
        let Header { n_rows, n_cols, .. } = &self.header;
        Ok(format!("{n_rows} x {n_cols} in {} bytes with checksum {sum:08x}", self.end))
    }

    /// Of samples from the beginning to the end.
    fn checksum(&self) -> io::Result<u32> {
        let mut file = File::open(&self.path)?;
        let mut sum = Hasher::new();
        for k in 0..=SAMPLES {
            let mut sample = Vec::new();
            file.seek(SeekFrom::Start(self.end.saturating_sub(SAMPLE) * k / SAMPLES))?;
            file.by_ref().take(SAMPLE).read_to_end(&mut sample)?;
            sum.update(&sample);
        }
        Ok(sum.finalize())
    }

    /// The sign of the entries that are left out: those above the diagonal; `None` where none are.
    pub fn mirrored(&self) -> Option<f64> {
        match self.header.symmetry {
            Symmetry::General => None,
            Symmetry::Symmetric => Some(1.0),
            Symmetry::Skew => Some(-1.0),
        }
    }

    /// The lines that begin in the `k`-th of `count` parts of the bytes.
    fn text(&self, k: usize, count: usize) -> Result<Vec<u8>> {
        let fail = |e| Error::io("read", &self.path, e);
        let at = |k: usize| {
            let bytes = u128::from(self.end - self.begin) * k as u128 / count as u128;
            self.begin + bytes as u64
        };
        let (first, end) = (at(k), at(k + 1));
        let mut reader = BufReader::new(File::open(&self.path).map_err(fail)?);
        let mut text = Vec::new();
        let mut place = first;
        if k > 0 {
            // A line that has begun before belongs to the part before, unless it ends there.
            reader.seek(SeekFrom::Start(first - 1)).map_err(fail)?;
            place = first - 1 + reader.read_until(b'\n', &mut text).map_err(fail)? as u64;
            text.clear();
        } else {
            reader.seek(SeekFrom::Start(first)).map_err(fail)?;
        }
        let mut lines = reader.by_ref().take(end.saturating_sub(place));
        lines.read_to_end(&mut text).map_err(fail)?;
        if text.last().is_some_and(|&last| last != b'\n') {
            reader.read_until(b'\n', &mut text).map_err(fail)?;
        }
        Ok(text)
    }

    /// The entries in the `k`-th of `count` parts.
    ///
    /// # Errors
    /// [`Error::Io`] where they cannot be read. What is wrong with a line [`EntryFile::check`] says.
    pub fn part(&self, k: usize, count: usize) -> Result<Part> {
        let text = self.text(k, count)?;
        let texts = cut(&text, Pieces::DEFAULT.chunk);
        let mut chunks: Vec<Chunk> = texts.iter().map(|_| Chunk::default()).collect();
        let tasks = chunks.par_iter_mut().zip(&texts);
        tasks.with_max_len(1).for_each(|(chunk, text)| chunk.scan(text, &self.header));
        let mut part = Part { rows: vec![], cols: vec![], values: vec![], lines: 0, fault: None };
        for mut chunk in chunks {
            part.rows.append(&mut chunk.rows);
            part.cols.append(&mut chunk.cols);
            part.values.append(&mut chunk.values);
            part.lines += chunk.lines;
            if chunk.fault.is_some() {
                part.fault = chunk.fault;
                break;
            }
        }
        Ok(part)
    }

    /// Refuses the `k`-th part where a line is faulty or surplus, and the last one where lines are missing;
    /// `counts` are those of all parts. The first part that is refused is what is wrong with the file.
    ///
    /// # Errors
    /// [`Error::Parse`] with the line.
    pub fn check(&self, part: &Part, k: usize, counts: &[Count]) -> Result<()> {
        let lines = self.lines + counts[..k].iter().map(|count| count.lines).sum::<u64>();
        let before: u64 = counts[..k].iter().map(|count| count.entries).sum();
        let found = part.values.len() as u64;
        if let Some((entry, message)) = self.header.surplus(before, found, part.fault.is_some()) {
            let line = lines + line_of_entry(&self.text(k, counts.len())?, entry);
            return Err(Error::parse(&self.path, line, message));
        }
        let is_last = k + 1 == counts.len();
        let truncated = || self.header.truncated(before + found).filter(|_| is_last);
        if let Some(message) = part.fault.clone().or_else(truncated) {
            return Err(Error::parse(&self.path, lines + part.lines, message));
        }
        Ok(())
    }
}

impl Part {
    /// How much it is.
    pub fn count(&self) -> Count {
        Count { lines: self.lines, entries: self.values.len() as u64 }
    }
}
