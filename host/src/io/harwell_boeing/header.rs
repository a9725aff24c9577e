//! The lines in front of the columns.

use super::format::Format;
use super::text::Text;
use crate::error::Result;
use crate::io::summary::{Field, Symmetry};

/// What the header says.
pub struct Header {
    /// The title, without the key behind it.
    pub title: String,
    pub field: Field,
    pub symmetry: Symmetry,
    pub n_rows: usize,
    pub n_cols: usize,
    pub entries: usize,
    /// The formats of pointers, row indices and values.
    pub pointers: Format,
    pub indices: Format,
    pub values: Format,
}

/// Columns of the first line that are the title's.
const TITLE: usize = 72;

impl Header {
    pub fn read(text: &mut Text) -> Result<Header> {
        let title = text.line("the title")?;
        if title.starts_with("%%MatrixMarket") {
            return Err(text.fault("this is a Matrix Market file; its name must end in .mtx"));
        }
        let title = title.chars().take(TITLE).collect::<String>().trim().to_string();
        let counts = text.line("the numbers of lines")?;
        let counts: Vec<u64> = counts.split_whitespace().map_while(|word| word.parse().ok()).collect();
        if counts.len() < 4 {
            return Err(text.fault("no numbers of lines, in all, of pointers, of indices and of values"));
        }
        let right_hand_sides = counts.get(4).is_some_and(|&lines| lines > 0);
        let sizes = text.line("the matrix type")?;
        let (kind, sizes) = sizes.split_at_checked(3).unwrap_or((&sizes, ""));
        let (field, symmetry) = kind_of(text, kind)?;
        let sizes: Vec<usize> = sizes.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let &[n_rows, n_cols, entries, ..] = &sizes[..] else {
            return Err(text.fault("no numbers of rows, columns and entries behind the matrix type"));
        };
        if symmetry != Symmetry::General && n_rows != n_cols {
            return Err(text.fault(format!(
                "a matrix that is {} has {n_rows} rows and {n_cols} columns",
                symmetry.word()
            )));
        }
        let line = text.line("the formats")?;
        let mut formats = line.split_inclusive(')').map(Format::parse);
        let mut format = |what: &str| {
            let format = formats.next().flatten();
            format.ok_or_else(|| {
                text.fault(format!("no format of {what}, as (16I5) or (4E20.12) is one: '{}'", line.trim()))
            })
        };
        let (pointers, indices) = (format("pointers")?, format("row indices")?);
        let values = match field {
            Field::Pattern => indices,
            _ => format("values")?,
        };
        if right_hand_sides {
            text.line("the formats of right-hand sides")?;
        }
        Ok(Header { title, field, symmetry, n_rows, n_cols, entries, pointers, indices, values })
    }
}

/// What the three letters of a matrix type say.
fn kind_of(text: &Text, kind: &str) -> Result<(Field, Symmetry)> {
    let [numbers, symmetry, form] =
        <[u8; 3]>::try_from(kind.to_ascii_lowercase().as_bytes()).unwrap_or([b' '; 3]);
    let unknown = || text.fault(format!("'{kind}' is no matrix type, as RUA and RSA are some"));
    let field = match numbers {
        b'r' => Field::Real,
        b'i' => Field::Integer,
        b'p' => Field::Pattern,
        b'c' => return Err(text.fault(format!("'{kind}': complex numbers are not supported"))),
        _ => return Err(unknown()),
    };
    let symmetry = match symmetry {
        b'u' | b'r' => Symmetry::General,
        b's' => Symmetry::Symmetric,
        b'z' => Symmetry::Skew,
        _ => return Err(unknown()),
    };
    match form {
        b'a' => Ok((field, symmetry)),
        b'e' => Err(text.fault(format!("'{kind}': element matrices are not supported; assemble them first"))),
        _ => Err(unknown()),
    }
}
