//! Where the text comes from: a file or memory, compressed or not, cut into batches of whole lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Result};

/// Bytes of the longest line that is certain to be read. Matrix Market itself allows 1024.
const LONGEST_LINE: usize = 1 << 20;
/// The first two bytes of every gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Text that is read once, from front to back.
pub(super) struct Source<'a> {
    reader: BufReader<Box<dyn Read + Send + 'a>>,
    name: &'a Path,
    compressed: bool,
    /// Bytes on disk, and how many of them have been read.
    size: u64,
    position: Arc<AtomicU64>,
    /// Lines handed out so far.
    lines: u64,
    /// Bytes of text handed out so far.
    bytes: u64,
}

/// Some lines of the text.
#[derive(Default)]
pub(super) struct Batch {
    text: Vec<u8>,
    /// Bytes of `text` that are whole lines; the rest belongs to the next batch.
    whole: usize,
    /// Set on the last batch: whether the text ended or failed.
    end: Option<io::Result<()>>,
}

impl Batch {
    /// The whole lines. Only the last line of the text may end without a line break.
    pub fn lines(&self) -> &[u8] {
        &self.text[..self.whole]
    }
    /// Whether nothing follows.
    pub fn is_last(&self) -> bool {
        self.end.is_some()
    }
    /// The error that the text ended with, if it did.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.end.take()?.err()
    }
}

/// Counts the bytes that are read, so that progress can be shown in bytes of the file.
struct Counted<R> {
    inner: R,
    position: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.position.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl<'a> Source<'a> {
    /// Opens a file.
    pub fn open(path: &'a Path) -> Result<Self> {
        let fail = |e| Error::io("read", path, e);
        let file = File::open(path).map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        Source::new(file, size, path)
    }

    /// Takes text from memory; `name` is for messages.
    pub fn from_bytes(bytes: &'a [u8], name: &'a Path) -> Result<Self> {
        Source::new(bytes, bytes.len() as u64, name)
    }

    fn new(reader: impl Read + Send + 'a, size: u64, name: &'a Path) -> Result<Self> {
        let position = Arc::new(AtomicU64::new(0));
        let mut reader = BufReader::new(Counted { inner: reader, position: position.clone() });
        let start = reader.fill_buf().map_err(|e| Error::io("read", name, e))?;
        let compressed = start.starts_with(&GZIP_MAGIC);
        let reader: Box<dyn Read + Send> =
            if compressed { Box::new(MultiGzDecoder::new(reader)) } else { Box::new(reader) };
        Ok(Source { reader: BufReader::new(reader), name, compressed, size, position, lines: 0, bytes: 0 })
    }

    /// The file's name for messages.
    pub fn name(&self) -> &'a Path {
        self.name
    }
    /// The line handed out last, counted from 1; 1 before the first.
    pub fn line(&self) -> u64 {
        self.lines.max(1)
    }
    /// Lines handed out.
    pub fn lines(&self) -> u64 {
        self.lines
    }
    /// Bytes of text handed out.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Whether it is compressed in the file.
    pub fn is_compressed(&self) -> bool {
        self.compressed
    }
    /// Bytes of the file that were read, and its size.
    pub fn progress(&self) -> (u64, u64) {
        (self.position.load(Ordering::Relaxed).min(self.size), self.size)
    }
    /// Notes that `lines` more lines of `bytes` bytes have been used.
    pub fn advance(&mut self, lines: u64, bytes: usize) {
        self.lines += lines;
        self.bytes += bytes as u64;
    }

    /// One line with its end, or none at the end of the text.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut limited = self.reader.by_ref().take(LONGEST_LINE as u64 + 1);
        match limited.read_until(b'\n', &mut line) {
            Ok(_) if line.len() > LONGEST_LINE => Err(self.failure(too_long())),
            Ok(0) => Ok(None),
            Ok(n) => {
                self.advance(1, n);
                Ok(Some(line))
            }
            Err(e) => Err(self.failure(e)),
        }
    }

    /// Fills `batch` with the rest of `previous`, an incomplete line, and about `size` bytes more.
    pub fn fill(&mut self, previous: &Batch, batch: &mut Batch, size: usize) {
        batch.text.clear();
        batch.text.extend_from_slice(&previous.text[previous.whole..]);
        batch.whole = 0;
        while batch.end.is_none() && batch.whole == 0 {
            let start = batch.text.len();
            batch.text.reserve(size);
            let outcome = self.reader.by_ref().take(size as u64).read_to_end(&mut batch.text);
            let newline = batch.text[start..].iter().rposition(|&b| b == b'\n');
            batch.whole = newline.map_or(0, |at| start + at + 1);
            let ended = matches!(outcome, Ok(n) if n < size);
            if let Err(e) = outcome {
                batch.end = Some(Err(e));
            } else if batch.text.len() - batch.whole > LONGEST_LINE {
                batch.end = Some(Err(too_long()));
            } else if ended {
                batch.whole = batch.text.len();
                batch.end = Some(Ok(()));
            }
        }
    }

    /// The error of a failed read: damaged data on the next line, or a failure of the disk.
    pub fn failure(&self, e: io::Error) -> Error {
        let damaged = match e.kind() {
            ErrorKind::InvalidData => true,
            ErrorKind::InvalidInput | ErrorKind::UnexpectedEof => self.compressed,
            _ => false,
        };
        match (damaged, self.compressed) {
            (false, _) => Error::io("read", self.name, e),
            (true, false) => Error::parse(self.name, self.lines + 1, e.to_string()),
            (true, true) => Error::parse(
                self.name,
                self.lines + 1,
                format!("{e} (the gzip data are damaged or cut short after this line; fetch the file again)"),
            ),
        }
    }
}

fn too_long() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("the line is longer than {LONGEST_LINE} bytes"))
}

/// The start of some text in quotes, with escapes for what cannot be printed.
pub(super) fn preview(text: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text = text.trim_ascii();
    let dots = if text.len() > SHOWN { "..." } else { "" };
    format!("\"{}{dots}\"", text[..text.len().min(SHOWN)].escape_ascii())
}
