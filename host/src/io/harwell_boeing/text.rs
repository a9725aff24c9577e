//! Lines of a file, and the fields in them.

use std::io::{ErrorKind, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::format::Format;
use crate::error::{Error, Result};

/// The first two bytes of every gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The text of a file, read line by line.
pub struct Text<'a> {
    name: &'a Path,
    bytes: Vec<u8>,
    /// Where the next line begins.
    at: usize,
    /// Lines so far.
    lines: u64,
}

/// Where a field is.
pub struct Place<'a> {
    name: &'a Path,
    line: u64,
}

impl<'a> Text<'a> {
    /// All of a file, uncompressed.
    pub fn read(path: &'a Path) -> Result<Text<'a>> {
        let bytes = std::fs::read(path).map_err(|error| Error::io("read", path, error))?;
        Text::of_bytes(bytes, path)
    }

    /// The same of bytes; `name` is for messages.
    pub fn of_bytes(mut bytes: Vec<u8>, name: &'a Path) -> Result<Text<'a>> {
        if bytes.starts_with(&GZIP_MAGIC) {
            let mut text = Vec::new();
            MultiGzDecoder::new(&bytes[..])
                .read_to_end(&mut text)
                .map_err(|error| Error::io("read", name, error))?;
            bytes = text;
        }
        Ok(Text { name, bytes, at: 0, lines: 0 })
    }

    /// How long it is.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// A fault of the line that was read last.
    pub fn fault(&self, message: impl Into<String>) -> Error {
        self.place().fault(message)
    }

    fn place(&self) -> Place<'a> {
        Place { name: self.name, line: self.lines }
    }

    /// The next line, without its end.
    ///
    /// # Errors
    /// Where there is none; `what` says what it should have.
    pub fn line(&mut self, what: &str) -> Result<String> {
        let range = self.next_line(what)?;
        Ok(String::from_utf8_lossy(&self.bytes[range]).into_owned())
    }

    fn next_line(&mut self, what: &str) -> Result<std::ops::Range<usize>> {
        if self.at >= self.bytes.len() {
            let end = std::io::Error::new(
                ErrorKind::UnexpectedEof,
                format!("the file ends where {what} should be"),
            );
            return Err(Error::parse(self.name, self.lines + 1, end.to_string()));
        }
        let rest = &self.bytes[self.at..];
        let len = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let range = self.at..self.at + len - usize::from(rest[..len].ends_with(b"\r"));
        self.at += len + 1;
        self.lines += 1;
        Ok(range)
    }

    /// Calls `take` for each of `count` fields of lines in this format.
    ///
    /// # Errors
    /// Those of `take`, and where lines or fields are missing.
    pub fn fields(
        &mut self,
        Format { per_line, width }: Format,
        count: usize,
        what: &str,
        mut take: impl FnMut(&str, &Place) -> Result<()>,
    ) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let range = self.next_line(what)?;
            let (line, place) = (&self.bytes[range], self.place());
            for field in line.chunks(width).take(left.min(per_line)) {
                let field = std::str::from_utf8(field).map_err(|_| place.fault(format!("no {what}")))?;
                take(field.trim(), &place)?;
                left -= 1;
            }
            if line.is_empty() {
                return Err(place.fault(format!("an empty line where a {what} should be")));
            }
        }
        Ok(())
    }
}

impl Place<'_> {
    /// A fault there.
    pub fn fault(&self, message: impl Into<String>) -> Error {
        Error::parse(self.name, self.line, message)
    }

    /// A whole number.
    pub fn whole(&self, field: &str, what: &str) -> Result<usize> {
        field.parse().map_err(|_| self.fault(format!("'{field}' is no {what}")))
    }

    /// A finite number, with the exponents of Fortran: 1.5D+3, and 1.5+300, whose letter had no room.
    pub fn number(&self, field: &str, what: &str) -> Result<f64> {
        let mut text = field.replace(['d', 'D'], "e");
        if let Some(sign) = text.rfind(['+', '-'])
            && sign > 0
            && !text[..sign].ends_with(['e', 'E'])
        {
            text.insert(sign, 'e');
        }
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| self.fault(format!("'{field}' is no finite {what}")))
    }
}
