//! TetGen's meshes, which Chaste uses as well: nodes in `.node`, tetrahedra in `.ele`.
//!
//! ```text
//! .node:  nodes 3 attributes markers        .ele:  tetrahedra 4 attributes
//!         number x y z ...                         number a b c d ... region
//! ```
//! Nodes are counted from 0 or 1; the first node's number says from which. `#` begins a comment. The last
//! attribute of a tetrahedron is its region (TetGen -A). Format: H. Si, TetGen manual, section 5 (file
//! formats).

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use super::scan::{read_bytes, shorten, sibling};
use crate::mesh::RawMesh;
use warpsolve_host::error::{Error, Result};

/// Reads the mesh in a `.node` or `.ele` file and the other file next to it.
pub(crate) fn read(path: &Path) -> Result<RawMesh> {
    let (nodes, elements) = (part(path, "node"), part(path, "ele"));
    parse((&nodes, &read_bytes(&nodes)?), (&elements, &read_bytes(&elements)?))
}

/// The path itself, or the file with that extension next to it, compressed or not.
fn part(path: &Path, extension: &str) -> PathBuf {
    let plain = sibling(path, extension);
    let compressed = sibling(path, &format!("{extension}.gz"));
    if path == compressed || (!plain.is_file() && compressed.is_file()) { compressed } else { plain }
}

fn parse(nodes: (&Path, &[u8]), elements: (&Path, &[u8])) -> Result<RawMesh> {
    let mut mesh = RawMesh::default();
    let (first, points) = parse_nodes(nodes.0, nodes.1)?;
    mesh.points = points;

    let mut file = Table::open(elements.0, elements.1, "'tetrahedra 4 attributes'")?;
    let corners = file.header.get(1).copied().unwrap_or(4);
    if corners != 4 {
        return Err(file.fail(format!(
            "elements have {corners} nodes; only linear tetrahedra, of 4, are read (TetGen without -o2)"
        )));
    }
    let attributes = file.header.get(2).copied().unwrap_or(0) as usize;
    let mut regions = Vec::new();
    while let Some(words) = file.row()? {
        let mut corners = [0i64; 4];
        for (corner, word) in corners.iter_mut().zip(words.get(1..5).unwrap_or_default()) {
            *corner =
                word.parse().map_err(|_| file.fail(format!("'{}' is no node number", shorten(word))))?;
        }
        if words.len() != 5 + attributes {
            let expected = format!("a number, 4 nodes and {attributes} attributes");
            return Err(file.fail(format!("{expected} are expected, but there are {} words", words.len())));
        }
        let corners = corners.map(|corner| corner.saturating_sub(first));
        mesh.push(file.rows, corners, first, mesh.points.len()).map_err(|message| file.fail(message))?;
        if attributes > 0 {
            let region = words.last().and_then(|word| word.parse::<f64>().ok());
            let region = region
                .filter(|&region| f64::from(region as i32) == region)
                .ok_or_else(|| file.fail("the last attribute is no region: a whole number of 32 bits"))?;
            regions.push(region as i32);
        }
    }
    mesh.regions = (attributes > 0).then_some(regions);
    Ok(mesh)
}

/// The number of the first node, and the nodes.
fn parse_nodes(path: &Path, bytes: &[u8]) -> Result<(i64, Vec<[f64; 3]>)> {
    let mut file = Table::open(path, bytes, "'nodes 3 attributes markers'")?;
    if file.header.get(1) != Some(&3) {
        return Err(file.fail("nodes must have 3 coordinates: 'nodes 3 attributes markers'"));
    }
    let mut points = Vec::new();
    let mut first = 0;
    while let Some(words) = file.row()? {
        let number: Option<i64> = words[0].parse().ok();
        if points.is_empty() {
            first = number.filter(|number| (0..=1).contains(number)).ok_or_else(|| {
                file.fail(format!("the first node must have number 0 or 1, not '{}'", shorten(words[0])))
            })?;
        }
        let expected = first + points.len() as i64;
        if number != Some(expected) {
            return Err(file.fail(format!("node {expected} is expected, not '{}'", shorten(words[0]))));
        }
        let mut point = [0.0; 3];
        for (axis, x) in point.iter_mut().enumerate() {
            *x = words.get(1 + axis).and_then(|word| word.parse().ok()).ok_or_else(|| {
                file.fail(format!("node {number} needs three coordinates: 'number x y z'", number = expected))
            })?;
        }
        points.push(point);
    }
    Ok((first, points))
}

/// A file with a header, and as many rows as the header says.
struct Table<'a> {
    path: &'a Path,
    /// Where the next line begins.
    rest: &'a [u8],
    line: u64,
    header: Vec<u64>,
    /// Rows read so far.
    rows: usize,
}

impl<'a> Table<'a> {
    fn open(path: &'a Path, bytes: &'a [u8], form: &str) -> Result<Self> {
        let mut table = Table { path, rest: bytes, line: 0, header: Vec::new(), rows: 0 };
        let words = table.words().unwrap_or_default();
        table.header = words.iter().map_while(|word| word.parse().ok()).collect();
        if words.is_empty() || table.header.len() < words.len() {
            return Err(table.fail(format!("the file must begin with {form}, whole numbers in text")));
        }
        Ok(table)
    }

    fn fail(&self, message: impl Into<String>) -> Error {
        Error::parse(self.path, self.line.max(1), message)
    }

    /// The words of the next line that is not empty.
    fn words(&mut self) -> Option<Vec<&'a str>> {
        while !self.rest.is_empty() {
            let length = self.rest.iter().position(|&b| b == b'\n').unwrap_or(self.rest.len());
            let text = &self.rest[..length];
            self.rest = &self.rest[(length + 1).min(self.rest.len())..];
            self.line += 1;
            let text = text.split(|&b| b == b'#').next().unwrap_or_default();
            let words: Vec<&str> = text
                .split(u8::is_ascii_whitespace)
                .filter(|word| !word.is_empty())
                // Bytes that are not text are not a number either.
                .map(|word| std::str::from_utf8(word).unwrap_or("?"))
                .collect();
            if !words.is_empty() {
                return Some(words);
            }
        }
        None
    }

    /// The words of the next row, at least one; `None` behind the last.
    fn row(&mut self) -> Result<Option<Vec<&'a str>>> {
        let announced = self.header[0];
        match self.words() {
            Some(_) if self.rows as u64 == announced => {
                Err(self
                    .fail(format!("there are more than the {announced} rows that the first line announces")))
            }
            Some(words) => {
                self.rows += 1;
                Ok(Some(words))
            }
            None if self.rows as u64 == announced => Ok(None),
            None => {
                Err(self
                    .fail(format!("the file ends after {} of {announced} rows; is it complete?", self.rows)))
            }
        }
    }
}
