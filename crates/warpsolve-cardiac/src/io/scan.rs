//! Reads words and numbers from files that are text or binary. The readers of meshes are built on it.
//!
//! A file is in memory as a whole. Every count is compared with the bytes that are left before memory is
//! allocated for so many items.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use warpsolve_host::error::{Error, Result};

/// The first two bytes of every gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The bytes of a file, decompressed where it is a gzip file, whatever its name.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let fail = |e| Error::io("read", path, e);
    let bytes = fs::read(path).map_err(fail)?;
    if !bytes.starts_with(&GZIP_MAGIC) {
        return Ok(bytes);
    }
    let mut plain = Vec::new();
    MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut plain).map_err(fail)?;
    Ok(plain)
}

/// The path with another extension. A final `.gz` is part of the extension that is replaced.
pub(crate) fn sibling(path: &Path, extension: &str) -> PathBuf {
    plain(path).with_extension(extension)
}

/// The path without a final `.gz`.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let compressed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    if compressed { path.with_extension("") } else { path.to_path_buf() }
}

/// How numbers are written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Words with blanks between.
    Text,
    /// Bytes, the least significant one first.
    Little,
    /// Bytes, the most significant one first.
    Big,
}

/// A type of numbers in files.
pub(crate) trait Number: Copy {
    /// Bytes of a number.
    const SIZE: usize;
    /// The type's name, for messages about a word that is not such a number.
    const NAME: &'static str;
    /// The number in `SIZE` bytes.
    fn from_bytes(bytes: &[u8], encoding: Encoding) -> Self;
    /// The number in a word.
    fn from_word(word: &str) -> Option<Self>;
}

macro_rules! numbers {
    ($name:literal: $($t:ty)*) => {$(
        impl Number for $t {
            const SIZE: usize = size_of::<$t>();
            const NAME: &'static str = $name;
            fn from_bytes(bytes: &[u8], encoding: Encoding) -> Self {
                let bytes = bytes.try_into().expect("as many bytes as the number has");
                match encoding {
                    Encoding::Big => Self::from_be_bytes(bytes),
                    Encoding::Little | Encoding::Text => Self::from_le_bytes(bytes),
                }
            }
            fn from_word(word: &str) -> Option<Self> {
                word.parse().ok()
            }
        }
    )*};
}
numbers!("a whole number": i8 u8 i16 u16 i32 u32 i64 u64);
numbers!("a number": f32 f64);

/// Reads a file from front to back.
pub(crate) struct Scanner<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
    /// The encoding of the numbers that follow. Lines are always text.
    pub encoding: Encoding,
}

impl<'a> Scanner<'a> {
    /// Starts at byte `at` of a file; `path` is for messages.
    pub fn new(path: &'a Path, bytes: &'a [u8], at: usize, encoding: Encoding) -> Self {
        Scanner { path, bytes, at, encoding }
    }

    /// An error at this position: the line if the file is text, else the byte.
    pub fn fail(&self, message: impl Into<String>) -> Error {
        if self.encoding == Encoding::Text {
            let line = 1 + self.bytes[..self.at].iter().filter(|&&b| b == b'\n').count();
            Error::parse(self.path, line as u64, message)
        } else {
            Error::Mesh(format!("{}: byte {}: {}", self.path.display(), self.at, message.into()))
        }
    }

    /// The rest of this line without the blanks around it, or `None` at the end of the file. Bytes that are
    /// not UTF-8 are replaced.
    pub fn line(&mut self) -> Option<String> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return None;
        }
        let length = rest.iter().position(|&b| b == b'\n');
        self.at += length.map_or(rest.len(), |length| length + 1);
        Some(String::from_utf8_lossy(&rest[..length.unwrap_or(rest.len())]).trim().to_string())
    }

    /// The next line that is not blank.
    pub fn filled_line(&mut self) -> Option<String> {
        self.skip_blanks();
        self.line()
    }

    /// The next word, or "" at the end of the file.
    pub fn word(&mut self) -> &'a str {
        self.skip_blanks();
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        match std::str::from_utf8(&rest[..length]) {
            Ok(word) => {
                self.at += length;
                word
            }
            // This is neither a keyword nor a number, so the caller reports it.
            Err(_) => "?",
        }
    }

    /// Moves to the next byte that is not blank.
    pub fn skip_blanks(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len());
    }

    /// Moves behind the end of a line whose words have been read. There numbers in bytes begin.
    pub fn end_line(&mut self) -> Result<()> {
        match self.line().as_deref() {
            None | Some("") => Ok(()),
            Some(words) => Err(self.fail(format!("'{}' is not expected here", shorten(words)))),
        }
    }

    /// The next word as a number. It is text in binary files too.
    pub fn worded<T: Number>(&mut self, what: &str) -> Result<T> {
        let word = self.word();
        T::from_word(word).ok_or_else(|| {
            let found = if word.is_empty() {
                "nothing is left".into()
            } else {
                format!("there is '{}'", shorten(word))
            };
            self.fail(format!("{what} must be {}, but {found} here", T::NAME))
        })
    }

    /// The next number. `what` names it in messages.
    pub fn number<T: Number>(&mut self, what: &str) -> Result<T> {
        if self.encoding == Encoding::Text {
            return self.worded(what);
        }
        let Some(bytes) = self.bytes.get(self.at..self.at + T::SIZE) else {
            return Err(self.fail(format!("the file ends within {what}; is it complete?")));
        };
        self.at += T::SIZE;
        Ok(T::from_bytes(bytes, self.encoding))
    }

    /// The next `n` numbers.
    pub fn numbers<T: Number>(&mut self, n: usize, what: &str) -> Result<Vec<T>> {
        self.check_count(n, T::SIZE, what)?;
        (0..n).map(|_| self.number(what)).collect()
    }

    /// Refuses `n` items of at least `size` bytes each (as text, a digit and a blank) if the file is too
    /// short for them.
    pub fn check_count(&self, n: usize, size: usize, what: &str) -> Result<()> {
        let size = if self.encoding == Encoding::Text { 2 } else { size };
        // There may be no blank behind the last word of a text.
        let left = self.bytes.len() - self.at + 1;
        if n.checked_mul(size).is_some_and(|needed| needed <= left) {
            return Ok(());
        }
        Err(self.fail(format!(
            "{what}: {n} are announced, but only {} bytes are left; is the file complete?",
            left - 1
        )))
    }

    /// Moves behind the next `mark`. Returns whether there is one.
    pub fn skip_past(&mut self, mark: &str) -> bool {
        let found = self.bytes[self.at..].windows(mark.len()).position(|window| window == mark.as_bytes());
        self.at = found.map_or(self.bytes.len(), |found| self.at + found + mark.len());
        found.is_some()
    }

    /// Whether nothing but blanks is left.
    pub fn at_end(&mut self) -> bool {
        self.skip_blanks();
        self.at == self.bytes.len()
    }
}

/// The beginning of a text, for a message.
pub(crate) fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

/// For the tests of all readers.
#[cfg(test)]
pub(crate) mod testing {
    use super::Encoding;
    use crate::mesh::RawMesh;
    use warpsolve_host::error::Result;

    /// Two tetrahedra of volumes 1/6 and 1/3 that share a face.
    pub const POINTS: [[f64; 3]; 5] =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]];
    pub const TETS: [[u32; 4]; 2] = [[0, 1, 2, 3], [1, 2, 3, 4]];
    pub const REGIONS: [i32; 2] = [7, -12];
    pub const FIBRES: [[f64; 3]; 2] = [[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]];

    /// Writes numbers in any encoding.
    pub struct Sink {
        pub bytes: Vec<u8>,
        pub encoding: Encoding,
    }

    macro_rules! put {
        ($name:ident $t:ty) => {
            pub fn $name(&mut self, values: impl IntoIterator<Item = $t>) {
                for value in values {
                    match self.encoding {
                        Encoding::Text => self.bytes.extend(format!("{value} ").bytes()),
                        Encoding::Little => self.bytes.extend(value.to_le_bytes()),
                        Encoding::Big => self.bytes.extend(value.to_be_bytes()),
                    }
                }
            }
        };
    }

    impl Sink {
        pub fn new(encoding: Encoding) -> Self {
            Sink { bytes: Vec::new(), encoding }
        }
        pub fn text(&mut self, text: &str) {
            self.bytes.extend(text.bytes());
        }
        put!(u8s u8);
        put!(i32s i32);
        put!(i64s i64);
        put!(u64s u64);
        put!(f64s f64);
    }

    /// The file cut off after each byte, and with each byte replaced by some others, must give a mesh or an
    /// error. Returns the lengths at which a cut file gave a mesh.
    pub fn damage<const C: usize>(file: &[u8], parse: impl Fn(&[u8]) -> Result<RawMesh<C>>) -> Vec<usize> {
        for at in 0..file.len() {
            let mut damaged = file.to_vec();
            for byte in [b'9', b'-', b' ', b'<', b'$', 0, 0xff, file[at] ^ 1, file[at] ^ 0x80] {
                damaged[at] = byte;
                // Where it still is a mesh file, checking it must not fail either.
                let _ = parse(&damaged).and_then(|mesh| mesh.check(true, true));
            }
        }
        (0..file.len()).filter(|&length| parse(&file[..length]).is_ok()).collect()
    }
}
