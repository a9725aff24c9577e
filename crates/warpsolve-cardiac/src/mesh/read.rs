//! Reads meshes of any known format.

use std::path::{Path, PathBuf};

use super::check::Mended;
use super::fibres::read_fibres;
use super::{HexMesh, Mesh, Raw, RawMesh, TetMesh, TriMesh};
use crate::io::scan::{plain, read_bytes, sibling};
use crate::io::{gmsh, tetgen, vtk};
use warpsolve_host::error::{Error, Result};

/// What to do with a mesh while it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOptions {
    /// Coordinates are multiplied by this: 10 for files in cm, 0.001 for micrometres. 1 by default.
    pub scale: f64,
    /// Whether to turn tetrahedra that are inside out while others are not, instead of refusing them.
    pub reorient: bool,
    /// Whether to leave out nodes without tetrahedra, instead of refusing them.
    pub drop_unreferenced: bool,
    /// Whether to leave out all connected components but the one with the most tetrahedra.
    pub largest_component: bool,
    /// A file with the fibres. Those in the mesh file, or in a file next to it, are then not used.
    pub fibres: Option<PathBuf>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            scale: 1.0,
            reorient: false,
            drop_unreferenced: false,
            largest_component: false,
            fibres: None,
        }
    }
}

/// What a file contained, and how it was repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadSummary {
    /// "VTU", "VTK", "Gmsh" or "TetGen".
    pub format: &'static str,
    /// Cells that were left out: vertices, lines and surfaces.
    pub skipped: usize,
    /// Tetrahedra of which two nodes were swapped.
    pub reoriented: usize,
    /// Nodes without tetrahedra that were left out.
    pub dropped: usize,
    /// Nodes of smaller components that were left out.
    pub apart: usize,
    /// The file of the fibres; `None` if there are none, or they are in the mesh file.
    pub fibres: Option<PathBuf>,
}

/// Reads a mesh: `.vtu` and `.vtk` (VTK), `.msh` (Gmsh), `.node` and `.ele` (TetGen, Chaste), any of them
/// also compressed by gzip. VTK and Gmsh files are recognised by their content, whatever their name.
///
/// Vertices, lines and surfaces are left out. Fibres come from `options.fibres`, or else from cell or point
/// data `fibre`, `fibres`, `fiber` or `fibers`, or else from a file of the same name that ends in `.ortho`,
/// `.axi` or `.lon`. Regions come from integer cell data `region`, `material`, `elemTag`, `medit:ref`,
/// `gmsh:physical` and the like, from physical groups of Gmsh, or from TetGen's region attribute.
///
/// # Errors
/// - [`Error::Io`] when a file cannot be read.
/// - [`Error::Parse`] with the line, or [`Error::Mesh`], when it is malformed or has cells other than linear
///   tetrahedra.
/// - Those of [`TetMesh::new`], with elements counted from 1 in the order of the file, other cells included.
/// - [`Error::Option`] when `scale` is not a positive finite number.
pub fn read(path: &Path, options: &ReadOptions) -> Result<TetMesh> {
    Ok(read_with_summary(path, options)?.0)
}

/// [`read`], with a summary of what was left out or repaired.
///
/// # Errors
/// Those of [`read`].
pub fn read_with_summary(path: &Path, options: &ReadOptions) -> Result<(TetMesh, ReadSummary)> {
    check_scale(options)?;
    let (format, raw) = read_raw(path)?;
    in_file(path, raw.into_solid().and_then(|raw| finish(raw, format, path, options)))
}

/// A mesh of tetrahedra, of triangles or of hexahedra.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyMesh {
    /// Of tetrahedra.
    Solid(TetMesh),
    /// Of triangles in a plane.
    Flat(TriMesh),
    /// Of hexahedra.
    Hexahedra(HexMesh),
}

/// [`read_with_summary`] of a file that may have hexahedra instead of tetrahedra, or neither but triangles in
/// a plane of constant z. VTK and Gmsh have such files.
///
/// # Errors
/// Those of [`read`]; [`Error::Mesh`] for other polygons beside triangles, or triangles in no such plane.
pub fn read_any(path: &Path, options: &ReadOptions) -> Result<(AnyMesh, ReadSummary)> {
    check_scale(options)?;
    let (format, raw) = read_raw(path)?;
    if raw.is_of_hexahedra() {
        let read = in_file(path, finish(raw.into_hexahedra(), format, path, options));
        return read.map(|(mesh, summary)| (AnyMesh::Hexahedra(mesh), summary));
    }
    if !raw.is_flat() {
        let read = in_file(path, raw.into_solid().and_then(|raw| finish(raw, format, path, options)));
        return read.map(|(mesh, summary)| (AnyMesh::Solid(mesh), summary));
    }
    let read = raw.into_flat().and_then(|raw| finish(raw, format, path, options));
    in_file(path, read).map(|(mesh, summary)| (AnyMesh::Flat(mesh), summary))
}

fn check_scale(options: &ReadOptions) -> Result<()> {
    let scale = options.scale;
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(Error::Option(format!("a mesh cannot be scaled by {scale}; give a positive number")));
    }
    Ok(())
}

/// Gives faults of the mesh as a whole the file's name.
fn in_file<M>(path: &Path, mesh: Result<M>) -> Result<M> {
    mesh.map_err(|error| match error {
        Error::Mesh(message) => Error::Mesh(format!("{}: {message}", path.display())),
        Error::MeshFault { fault, message } => {
            Error::MeshFault { fault, message: format!("{}: {message}", path.display()) }
        }
        other => other,
    })
}

fn read_raw(path: &Path) -> Result<(&'static str, Raw)> {
    if matches!(extension(path).as_str(), "node" | "ele") {
        let solid = tetgen::read(path)?;
        return Ok(("TetGen", Raw { solid, ..Raw::default() }));
    }
    let bytes = read_bytes(path)?;
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
    let start = start.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with("# vtk") {
        Ok(("VTK", vtk::parse_legacy(path, &bytes)?))
    } else if start.starts_with('<') {
        Ok(("VTU", vtk::parse_vtu(path, &bytes)?))
    } else if start.starts_with('$') {
        Ok(("Gmsh", gmsh::parse(path, &bytes)?))
    } else {
        Err(Error::Mesh(format!(
            "{}: this is not a known mesh format: .vtu, .vtk (VTK), .msh (Gmsh), .node and .ele (TetGen)",
            path.display()
        )))
    }
}

fn finish<const C: usize>(
    mut raw: RawMesh<C>,
    format: &'static str,
    path: &Path,
    options: &ReadOptions,
) -> Result<(Mesh<C>, ReadSummary)> {
    for x in raw.points.as_flattened_mut() {
        *x *= options.scale;
    }
    let beside = if raw.fibres.is_none() { fibres_beside(path) } else { None };
    let fibres = options.fibres.clone().or(beside);
    if let Some(file) = &fibres {
        raw.fibres = Some(read_fibres(file, raw.cells.len())?);
    }
    let skipped = raw.skipped;
    let (mut mesh, mended) = raw.check(options.reorient, options.drop_unreferenced)?;
    let apart = if options.largest_component { mesh.keep_largest_component() } else { 0 };
    let Mended { reoriented, dropped } = mended;
    Ok((mesh, ReadSummary { format, skipped, reoriented, dropped, apart, fibres }))
}

fn fibres_beside(path: &Path) -> Option<PathBuf> {
    let names = ["ortho", "axi", "lon", "ortho.gz", "axi.gz", "lon.gz"];
    names.into_iter().map(|extension| sibling(path, extension)).find(|file| file.is_file())
}

/// The extension in lower case, without `.gz`.
fn extension(path: &Path) -> String {
    plain(path).extension().unwrap_or_default().to_string_lossy().to_lowercase()
}
