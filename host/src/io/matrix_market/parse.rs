//! One chunk of the body, from bytes to numbers. Most of the reading time is spent here.

use super::header::Header;
use super::{Field, Layout, Symmetry};
use crate::io::source::preview;

/// The entries of some consecutive lines. Chunks are reused, so that memory is touched for the first time
/// only once.
#[derive(Default)]
pub(super) struct Chunk {
    /// Rows and columns, counted from 0. Empty for array files.
    pub rows: Vec<u32>,
    pub cols: Vec<u32>,
    pub values: Vec<f64>,
    /// Lines scanned, with comments and blank ones. If there is a fault, it is in the last of them.
    pub lines: u64,
    /// What is wrong with the line scanned last. Scanning ends there.
    pub fault: Option<String>,
}

/// A field and the text behind it, or what is wrong with the field.
type Scanned<'a, T> = Result<(T, &'a [u8]), String>;

impl Chunk {
    /// Replaces the contents by the entries in `text`, which are whole lines.
    pub fn scan(&mut self, text: &[u8], header: &Header) {
        self.rows.clear();
        self.cols.clear();
        self.values.clear();
        self.lines = 0;
        let Chunk { rows, cols, values, lines, .. } = self;
        let push = |(row, col, value)| {
            rows.push(row);
            cols.push(col);
            values.push(value);
        };
        self.fault = match (header.layout, header.field) {
            (Layout::Coordinate, Field::Real) => {
                each_line(text, lines, |line| coordinate(line, header, real), push)
            }
            (Layout::Coordinate, Field::Integer) => {
                each_line(text, lines, |line| coordinate(line, header, integer), push)
            }
            (Layout::Coordinate, Field::Pattern) => {
                each_line(text, lines, |line| coordinate(line, header, |rest| Ok((1.0, rest))), push)
            }
            (Layout::Array, Field::Integer) => each_line(text, lines, integer, |value| values.push(value)),
            (Layout::Array, _) => each_line(text, lines, real, |value| values.push(value)),
        }
        .err();
    }
}

/// The line of `text`, counted from 1, that holds entry `k`, counted from 0.
pub(super) fn line_of_entry(text: &[u8], k: usize) -> u64 {
    let holds_entry = |line: &[u8]| !matches!(line.trim_ascii().first(), None | Some(b'%'));
    let mut lines = text.split(|&b| b == b'\n').zip(1..).filter(|(line, _)| holds_entry(line));
    lines.nth(k).map_or(1, |(_, number)| number)
}

/// Reads every line that is neither blank nor a comment with `entry`, and hands the result to `push`.
#[inline(always)]
fn each_line<'a, E>(
    mut text: &'a [u8],
    lines: &mut u64,
    entry: impl Fn(&'a [u8]) -> Scanned<'a, E>,
    mut push: impl FnMut(E),
) -> Result<(), String> {
    while !text.is_empty() {
        *lines += 1;
        text = skip_blanks(text);
        text = match text.first() {
            None | Some(b'\n') => text,
            Some(b'%') => &text[text.iter().position(|&b| b == b'\n').unwrap_or(text.len())..],
            Some(_) => {
                let (found, rest) = entry(text)?;
                let rest = skip_blanks(rest);
                if rest.first().is_some_and(|&b| b != b'\n') {
                    return Err(surplus_field(rest));
                }
                push(found);
                rest
            }
        };
        text = text.get(1..).unwrap_or_default();
    }
    Ok(())
}

/// `row column [value]`.
#[inline(always)]
fn coordinate<'a>(
    line: &'a [u8],
    header: &Header,
    value: impl Fn(&'a [u8]) -> Scanned<'a, f64>,
) -> Scanned<'a, (u32, u32, f64)> {
    let (row, rest) = index(line, header.n_rows, "row")?;
    let (col, rest) = index(rest, header.n_cols, "column")?;
    let (value, rest) = value(rest)?;
    let misplaced = match header.symmetry {
        Symmetry::General => false,
        Symmetry::Symmetric => row < col,
        Symmetry::Skew => row < col || (row == col && value != 0.0),
    };
    if misplaced {
        return Err(misplaced_entry(row, col, header.symmetry));
    }
    Ok(((row, col, value), rest))
}

/// A row or column, which the file counts from 1. It is returned counted from 0.
#[inline(always)]
fn index<'a>(text: &'a [u8], size: u64, what: &str) -> Scanned<'a, u32> {
    let text = skip_blanks(text);
    let (mut rest, mut value) = (text, 0u64);
    while let [c @ b'0'..=b'9', tail @ ..] = rest {
        value = value.wrapping_mul(10).wrapping_add((c - b'0') as u64);
        rest = tail;
    }
    let digits = text.len() - rest.len();
    // 19 digits cannot overflow.
    if digits == 0 || digits > 19 || value == 0 || value > size || !at_field_end(rest) {
        return Err(bad_index(text, size, what));
    }
    Ok(((value - 1) as u32, rest))
}

#[inline(always)]
fn real(text: &[u8]) -> Scanned<'_, f64> {
    let (field, rest) = split_field(skip_blanks(text));
    match decimal(field) {
        Some(value) if value.is_finite() => Ok((value, rest)),
        _ => Ok((unusual_real(field)?, rest)),
    }
}

#[inline(always)]
fn decimal(field: &[u8]) -> Option<f64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

fn integer(text: &[u8]) -> Scanned<'_, f64> {
    let (field, _) = split_field(skip_blanks(text));
    let digits = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(bad_value(field, "an integer"));
    }
    real(text)
}

#[inline(always)]
fn skip_blanks(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\r', rest @ ..] = text {
        text = rest;
    }
    text
}

#[inline(always)]
fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

#[inline(always)]
fn at_field_end(rest: &[u8]) -> bool {
    rest.first().is_none_or(is_space)
}

#[inline(always)]
fn split_field(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(is_space).unwrap_or(text.len()))
}

/// Reads a number with Fortran's exponent (`1.5D-3`), and refuses everything that is not a finite number.
#[cold]
fn unusual_real(field: &[u8]) -> Result<f64, String> {
    let mut number = field.to_ascii_lowercase();
    if let Some(exponent) = number.iter_mut().find(|c| **c == b'd') {
        *exponent = b'e';
    }
    match decimal(&number) {
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err(format!("{} is not a finite number; every value must be", preview(field))),
        None => Err(bad_value(field, "a number")),
    }
}

#[cold]
fn bad_value(field: &[u8], expected: &str) -> String {
    if field.is_empty() {
        "the value is missing".into()
    } else {
        format!("{} is not {expected}", preview(field))
    }
}

#[cold]
fn bad_index(text: &[u8], size: u64, what: &str) -> String {
    let (field, _) = split_field(text);
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    if field.is_empty() {
        format!("the {what} index is missing")
    } else if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        format!("{} is not a {what} index", preview(field))
    } else if field.iter().all(|&c| c == b'0') {
        format!("{what} index 0: indices count from 1")
    } else {
        format!("{what} index {} is outside of 1..{size}", field.escape_ascii())
    }
}

#[cold]
fn misplaced_entry(row: u32, col: u32, symmetry: Symmetry) -> String {
    let (row, col) = (row as u64 + 1, col as u64 + 1);
    if row == col {
        return format!("entry ({row}, {col}) lies on the diagonal, which a skew-symmetric matrix has zero");
    }
    format!(
        "entry ({row}, {col}) lies above the diagonal, but a {} file holds the lower triangle only; \
         swap its indices, or declare the matrix general and list both triangles",
        symmetry.word()
    )
}

#[cold]
fn surplus_field(text: &[u8]) -> String {
    format!("{} is one field too many", preview(split_field(text).0))
}
