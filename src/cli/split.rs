//! `--split`: which unknowns of a saddle point are multipliers.

use std::path::Path;
use std::sync::Arc;

use warpsolve::precond::schur::Split;
use warpsolve::{Error, Result};

/// A number, of the unknowns before the multipliers, or a file with the rows of these, one a line, from 1.
pub fn read(name: &str) -> Result<Split> {
    if let Ok(first) = name.parse() {
        return Ok(Split::From(first));
    }
    let path = Path::new(name);
    let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
    let row = |(k, line): (usize, &str)| match line.trim().parse::<usize>() {
        Ok(row) if row > 0 => Ok(row - 1),
        _ => {
            let what = format!("'{line}' is no row: each line has that of one multiplier, from 1");
            Err(Error::parse(path, k as u64 + 1, what))
        }
    };
    let rows = text.lines().enumerate().map(row).collect::<Result<_>>()?;
    Ok(Split::Multipliers(Arc::new(rows)))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_split_is_a_number_or_a_file_of_rows() {
        assert_eq!(read("17").unwrap(), Split::From(17));
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"3\n 1\n").unwrap();
        let name = file.path().to_str().unwrap().to_string();
        assert_eq!(read(&name).unwrap(), Split::Multipliers(Arc::new(vec![2, 0])));
        file.write_all(b"0\n").unwrap();
        let error = read(&name).unwrap_err().to_string();
        assert!(error.contains(":3:") && error.contains("'0' is no row"), "{error}");
    }
}
