//! Points whose activation is asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use warpsolve::cardiac::mesh::Mesh;
use warpsolve::{Error, Result};

use super::super::values::numbers;

/// Points of space, mm.
#[derive(Debug, Clone)]
pub struct Points {
    pub list: Vec<[f64; 3]>,
    /// Where they were read from.
    pub file: Option<PathBuf>,
}

impl FromStr for Points {
    type Err = Error;

    /// `X,Y,Z;X,Y,Z;..`, or the name of a file with a point a line; `#` begins a comment.
    fn from_str(text: &str) -> Result<Points> {
        let list: std::result::Result<Vec<[f64; 3]>, String> = text.split(';').map(numbers).collect();
        match list {
            Ok(list) => Ok(Points { list, file: None }),
            Err(_) if Path::new(text).is_file() => read(Path::new(text)),
            Err(why) => Err(Error::Option(format!(
                "there is no file '{text}', and as a list of points, X,Y,Z;X,Y,Z;..., {why}"
            ))),
        }
    }
}

fn read(path: &Path) -> Result<Points> {
    let text = fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
    let mut points = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or("").trim();
        if content.is_empty() {
            continue;
        }
        // Blanks, commas, or both.
        let words: Vec<&str> = content.split([',', ' ', '\t']).filter(|word| !word.is_empty()).collect();
        let point = numbers(&words.join(","))
            .map_err(|_| Error::parse(path, number as u64 + 1, "expected a point: 'x y z'"))?;
        points.push(point);
    }
    Ok(Points { list: points, file: Some(path.to_path_buf()) })
}

/// A point and the node nearest to it.
#[derive(Debug, Clone, Copy)]
pub struct Probe {
    /// mm
    pub point: [f64; 3],
    /// Counted from 0.
    pub node: usize,
    /// From the point to the node, mm.
    pub distance: f64,
}

impl Probe {
    /// Finds the node, the first one of several as near.
    pub fn new<const C: usize>(mesh: &Mesh<C>, point: [f64; 3]) -> Probe {
        let square = |p: &[f64; 3]| (0..3).map(|x| (p[x] - point[x]).powi(2)).sum::<f64>();
        let nodes = mesh.points().iter().map(square).enumerate();
        // A mesh has nodes.
        let (node, square) = nodes.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::NAN));
        Probe { point, node, distance: square.sqrt() }
    }
}
