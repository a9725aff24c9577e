//! Lines of a file, and the fields in them.

use std::path::Path;

use super::format::Format;
use crate::error::{Error, Result};
use crate::io::source::Source;

/// The text of a file, read line by line.
pub struct Text<'a>(Source<'a>);

/// Where a field is.
pub struct Place<'a> {
    name: &'a Path,
    line: u64,
}

impl<'a> Text<'a> {
    /// Opens a file.
    pub fn open(path: &'a Path) -> Result<Text<'a>> {
        Source::open(path).map(Text)
    }

    /// Takes text from memory; `name` is for messages.
    #[cfg(test)]
    pub fn of_bytes(bytes: &'a [u8], name: &'a Path) -> Result<Text<'a>> {
        Source::from_bytes(bytes, name).map(Text)
    }

    /// Goes on to the end, so that a damaged file is told; how many bytes the text has.
    pub fn finish(mut self) -> Result<u64> {
        while self.0.next_line()?.is_some() {}
        Ok(self.0.bytes())
    }

    /// A fault of the line that was read last.
    pub fn fault(&self, message: impl Into<String>) -> Error {
        self.place().fault(message)
    }

    fn place(&self) -> Place<'a> {
        Place { name: self.0.name(), line: self.0.line() }
    }

    /// The next line, without its end.
    ///
    /// # Errors
    /// Where there is none; `what` says what it should have.
    pub fn line(&mut self, what: &str) -> Result<String> {
        let Some(line) = self.0.next_line()? else {
            let message = format!("the file ends where {what} should be");
            return Err(Error::parse(self.0.name(), self.0.lines() + 1, message));
        };
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        Ok(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned())
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
            let (line, place) = (self.line(what)?, self.place());
            if line.is_empty() {
                return Err(place.fault(format!("an empty line where a {what} should be")));
            }
            for field in line.as_bytes().chunks(width).take(left.min(per_line)) {
                let field = std::str::from_utf8(field).map_err(|_| place.fault(format!("no {what}")))?;
                take(field.trim(), &place)?;
                left -= 1;
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
    pub fn number(&self, field: &str) -> Result<f64> {
        let mut text = field.replace(['d', 'D'], "e");
        if let Some(sign) = text.rfind(['+', '-'])
            && sign > 0
            && !text[..sign].ends_with(['e', 'E'])
        {
            text.insert(sign, 'e');
        }
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| self.fault(format!("'{field}' is no finite value")))
    }
}
