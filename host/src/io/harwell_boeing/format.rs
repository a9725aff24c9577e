//! Formats of Fortran, as far as these files have them: so many fields of one width in a line.

/// Fields of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Format {
    /// How many a line has at most.
    pub per_line: usize,
    /// How many characters each of them has.
    pub width: usize,
}

impl Format {
    /// "(16I5)", "(4E20.12)", "(1P,5D16.8)"; blanks in it mean nothing: "(5E 16.8)".
    pub fn parse(text: &str) -> Option<Format> {
        let text: String = text.split_whitespace().collect();
        let inner = text.strip_prefix('(')?.strip_suffix(')')?.to_ascii_uppercase();
        let at = inner.find(['I', 'E', 'D', 'F', 'G'])?;
        let (before, behind) = (&inner[..at], &inner[at + 1..]);
        let repeat = &before[before.trim_end_matches(|c: char| c.is_ascii_digit()).len()..];
        // What is in front can move a decimal point; that of the numbers is written out.
        let rest = before[..before.len() - repeat.len()].trim_end_matches(',');
        let is_scale = |scale: &str| scale.trim_start_matches(['-', '+']).parse::<u32>().is_ok();
        if !rest.is_empty() && !rest.strip_suffix('P').is_some_and(is_scale) {
            return None;
        }
        let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let width = behind[..digits].parse().ok()?;
        let per_line = if repeat.is_empty() { 1 } else { repeat.parse().ok()? };
        (width > 0 && per_line > 0).then_some(Format { per_line, width })
    }
}
