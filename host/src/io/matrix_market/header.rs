//! The banner, the comments below it, and the size line.

use std::path::Path;

use super::{Field, Layout, Symmetry};
use crate::error::{Error, Result};
use crate::io::source::{Source, preview};

/// A matrix with more rows than this must have an entry in every [`SPARSEST`]th row.
const ROWS_BELIEVED: u64 = 1 << 20;
/// Most rows for each entry. With more the matrix would have many empty rows, and its row pointers alone
/// might fill the memory: such a size line is taken for a mistake.
const SPARSEST: u64 = 64;

/// What some editors put before the first character.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Most bytes of the comment that are kept.
const COMMENT_KEPT: usize = 1 << 16;

/// The contents of the first lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub layout: Layout,
    pub field: Field,
    pub symmetry: Symmetry,
    pub n_rows: u64,
    pub n_cols: u64,
    /// Entries that should follow. It is only compared with; nothing is allocated for so many.
    pub entries: u64,
    /// Lines between banner and sizes, without their `%`.
    pub comment: String,
}

impl Header {
    /// Reads everything up to and including the size line.
    pub fn read(source: &mut Source) -> Result<Header> {
        let Some(banner) = source.next_line()? else {
            return Err(Error::parse(
                source.name(),
                1,
                "the file is empty; a Matrix Market file starts with %%MatrixMarket",
            ));
        };
        let (layout, field, symmetry) =
            banner_words(&banner).map_err(|message| Error::parse(source.name(), 1, message))?;
        let mut comment = String::new();
        while let Some(line) = source.next_line()? {
            let line = line.trim_ascii();
            match line.strip_prefix(b"%") {
                None if line.is_empty() => {}
                None => {
                    return Header::from_size_line(line, layout, field, symmetry)
                        .map(|header| Header { comment, ..header })
                        .map_err(|message| Error::parse(source.name(), source.line(), message));
                }
                Some(text) if comment.len() + text.len() < COMMENT_KEPT => {
                    comment += &String::from_utf8_lossy(text.strip_prefix(b" ").unwrap_or(text));
                    comment.push('\n');
                }
                Some(_) => {}
            }
        }
        let message = format!("the file ends before the size line ({})", shape_of(layout));
        Err(Error::parse(source.name(), source.line(), message))
    }

    fn from_size_line(
        line: &[u8],
        layout: Layout,
        field: Field,
        symmetry: Symmetry,
    ) -> std::result::Result<Header, String> {
        let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).collect();
        let expected = shape_of(layout);
        let count = if layout == Layout::Coordinate { 3 } else { 2 };
        if words.len() != count {
            return Err(format!(
                "the size line must be \"{expected}\", that is {count} numbers, but it has {} fields: {}",
                words.len(),
                preview(line)
            ));
        }
        let sizes = words.iter().map(|word| {
            std::str::from_utf8(word)
                .ok()
                .and_then(|word| word.parse::<u64>().ok())
                .ok_or_else(|| format!("{} in the size line \"{expected}\" is not a count", preview(word)))
        });
        let sizes = sizes.collect::<std::result::Result<Vec<u64>, String>>()?;
        let (n_rows, n_cols) = (sizes[0], sizes[1]);
        if n_rows.max(n_cols) > u32::MAX as u64 {
            return Err(format!(
                "{n_rows} x {n_cols}: more rows or columns than 32-bit indices reach ({})",
                u32::MAX
            ));
        }
        if symmetry != Symmetry::General && n_rows != n_cols {
            return Err(format!("a {} matrix must be square, not {n_rows} x {n_cols}", symmetry.word()));
        }
        let entries = match (layout, symmetry) {
            (Layout::Coordinate, _) => sizes[2],
            (Layout::Array, Symmetry::General) => n_rows * n_cols,
            (Layout::Array, Symmetry::Symmetric) => n_rows * (n_rows + 1) / 2,
            (Layout::Array, Symmetry::Skew) => n_rows * n_rows.saturating_sub(1) / 2,
        };
        if n_rows > ROWS_BELIEVED && n_rows / SPARSEST > entries {
            return Err(format!(
                "{n_rows} rows, but only {entries} entries: with fewer than one entry in {SPARSEST} rows \
                 the matrix is singular, and this size line is not believed"
            ));
        }
        Ok(Header { layout, field, symmetry, n_rows, n_cols, entries, comment: String::new() })
    }

    /// How many entries are announced, in words.
    fn announced(&self) -> String {
        let word = if self.layout == Layout::Coordinate { "entries" } else { "values" };
        format!("the header announces {} {word}", self.entries)
    }

    /// Which of `found` entries behind `before` others is one more than announced, if any is, and what to say
    /// of it; what is faulty behind the last one is one more too.
    pub fn surplus(&self, before: u64, found: u64, is_faulty: bool) -> Option<(usize, String)> {
        let room = self.entries.saturating_sub(before);
        let is_surplus = found > room || (found == room && is_faulty);
        is_surplus.then(|| (room as usize, format!("{}, but here is one more", self.announced())))
    }

    /// What to say of a file that ends after so many entries, where that is too early.
    pub fn truncated(&self, found: u64) -> Option<String> {
        (found < self.entries).then(|| format!("truncated: {}, but the file has {found}", self.announced()))
    }

    /// Refuses anything but an n x 1 vector.
    pub fn require_vector(&self, name: &Path, line: u64) -> Result<()> {
        if self.n_cols == 1 {
            return Ok(());
        }
        let message = format!("a vector must have one column, but this is {} x {}", self.n_rows, self.n_cols);
        Err(Error::parse(name, line, message))
    }

    /// Refuses anything but an n x k array of vectors, k at least 1, every entry of which is in the file; and
    /// one with so few entries that its size line is taken for a mistake.
    pub fn require_columns(&self, name: &Path, line: u64) -> Result<()> {
        let is_general = self.symmetry == Symmetry::General || self.n_cols == 1;
        let elements = self.n_rows.saturating_mul(self.n_cols);
        let is_believed = elements <= ROWS_BELIEVED || elements / SPARSEST <= self.entries;
        if self.n_cols > 0 && is_general && is_believed {
            return Ok(());
        }
        let (n_rows, n_cols, word) = (self.n_rows, self.n_cols, self.symmetry.word());
        let message = format!(
            "vectors must be the columns of a general array, but this is {n_rows} x {n_cols}, {word}"
        );
        Err(Error::parse(name, line, message))
    }
}

fn shape_of(layout: Layout) -> &'static str {
    match layout {
        Layout::Coordinate => "rows columns entries",
        Layout::Array => "rows columns",
    }
}

/// Reads `%%MatrixMarket matrix <layout> <field> <symmetry>`, in any case.
fn banner_words(line: &[u8]) -> std::result::Result<(Layout, Field, Symmetry), String> {
    let lower = line.to_ascii_lowercase();
    let words: Vec<&[u8]> = lower.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).collect();
    if lower.starts_with(BYTE_ORDER_MARK) {
        return Err("the file begins with a byte order mark (UTF-8); save it without".into());
    }
    if lower.trim_ascii().contains(&b'\r') {
        return Err("lines end with carriage returns alone, as on old Macs; end them with line feeds".into());
    }
    if words.first() != Some(&&b"%%matrixmarket"[..]) {
        return Err(format!(
            "not a Matrix Market file: it must start with %%MatrixMarket, but starts with {}",
            preview(line)
        ));
    }
    if words.len() != 5 {
        return Err(format!(
            "the banner must be \"%%MatrixMarket matrix <coordinate|array> <real|integer|pattern> \
             <general|symmetric|skew-symmetric>\", but it has {} words instead of 5",
            words.len()
        ));
    }
    let unknown = |what: &str, word: &[u8], expected: &str| {
        Err(format!("unknown {what} {} in the banner; expected {expected}", preview(word)))
    };
    if words[1] != b"matrix" {
        return unknown("object", words[1], "matrix");
    }
    let layout = match words[2] {
        b"coordinate" => Layout::Coordinate,
        b"array" => Layout::Array,
        word => return unknown("format", word, "coordinate or array"),
    };
    let field = match words[3] {
        b"real" | b"double" => Field::Real,
        b"integer" => Field::Integer,
        b"pattern" => Field::Pattern,
        b"complex" => {
            return Err(
                "complex matrices are not supported; write the system as a real one of twice the size, \
                        [Re -Im; Im Re]"
                    .into(),
            );
        }
        word => return unknown("field", word, "real, integer or pattern"),
    };
    let symmetry = match words[4] {
        b"general" => Symmetry::General,
        b"symmetric" => Symmetry::Symmetric,
        b"skew-symmetric" => Symmetry::Skew,
        b"hermitian" => return Err("hermitian matrices are complex, and those are not supported".into()),
        word => return unknown("symmetry", word, "general, symmetric or skew-symmetric"),
    };
    match (layout, field, symmetry) {
        (Layout::Array, Field::Pattern, _) => {
            Err("an array cannot be a pattern: it would hold no values".into())
        }
        (_, Field::Pattern, Symmetry::Skew) => {
            Err("a pattern cannot be skew-symmetric: it has no signs".into())
        }
        accepted => Ok(accepted),
    }
}
