//! Fibre files: `.lon` of openCARP, `.ortho` and `.axi` of Chaste.
//!
//! There is a line `fx fy fz` for each tetrahedron. The directions of sheets and normals may follow on it.
//! The first line may be a single number, that of the elements (Chaste) or of the directions, 1 or 2
//! (openCARP). `#` begins a comment.

use std::path::Path;

use crate::io::scan::{read_bytes, shorten};
use warpsolve_host::error::{Error, Result};

/// The first direction of each of `n` elements.
pub(super) fn read_fibres(path: &Path, n: usize) -> Result<Vec<[f64; 3]>> {
    parse_fibres(path, &read_bytes(path)?, n)
}

pub(super) fn parse_fibres(path: &Path, bytes: &[u8], n: usize) -> Result<Vec<[f64; 3]>> {
    let text = String::from_utf8_lossy(bytes);
    let mut fibres = Vec::new();
    let mut header = true;
    for (line, text) in text.lines().enumerate() {
        let fail = |message| Error::parse(path, line as u64 + 1, message);
        let words: Vec<&str> = text.split('#').next().unwrap_or("").split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        if std::mem::take(&mut header) && words.len() == 1 {
            let announced = words[0].parse::<usize>();
            if !announced.as_ref().is_ok_and(|&count| count == n || count == 1 || count == 2) {
                return Err(fail(format!(
                    "'{}' announces neither as many fibres as there are tetrahedra ({n}) nor 1 or 2 of each",
                    shorten(words[0])
                )));
            }
            continue;
        }
        let fibre: Vec<f64> = words.iter().map_while(|word| word.parse().ok()).collect();
        if fibre.len() < words.len() || !matches!(words.len(), 3 | 6 | 9) {
            return Err(fail(format!(
                "expected 3, 6 or 9 numbers: 'fx fy fz', not '{}'",
                shorten(text.trim())
            )));
        }
        fibres.push([fibre[0], fibre[1], fibre[2]]);
    }
    if fibres.len() == n {
        return Ok(fibres);
    }
    Err(Error::Mesh(format!(
        "{}: there are {} fibres, but the mesh has {n} tetrahedra",
        path.display(),
        fibres.len()
    )))
}
