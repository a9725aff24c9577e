//! VTK's unstructured grids: VTU and legacy files are read, VTU files, PVTU lists of them and PVD series are
//! written.
//!
//! Formats: VTK File Formats (docs.vtk.org, "VTK File Formats"). The crate vtkio is not used: its stable
//! release cannot read compressed inline arrays, its errors do not say where, and it accepts truncated legacy
//! files.

mod arrays;
mod decode;
mod legacy;
mod pvd;
#[cfg(test)]
mod tests;
mod vtu;
mod write;

pub(crate) use legacy::parse as parse_legacy;
pub use pvd::Series;
pub(crate) use vtu::parse as parse_vtu;
pub use vtu::read_point_data;
pub use write::{VtuWriter, write_vtu};

use arrays::Values;

use crate::mesh::{Face, ONLY_TETRAHEDRA, ONLY_TRIANGLES, Raw, RawMesh};

/// Names of cell data that number regions, in lower case. The first name that is found counts.
const REGIONS: [&str; 14] = [
    "region",
    "regions",
    "regionid",
    "material",
    "materials",
    "materialid",
    "elemtag",
    "tag",
    "tags",
    "label",
    "labels",
    "medit:ref",
    "gmsh:physical",
    "cellentityids",
];
/// Names of the fibres' directions.
const FIBRES: [&str; 4] = ["fibre", "fibres", "fiber", "fibers"];

/// An unstructured grid as it is in a file.
#[derive(Default)]
struct Grid {
    /// x y z of each point.
    points: Vec<f64>,
    /// The points of all cells, one cell after the other.
    connectivity: Vec<i64>,
    /// Where each cell ends in `connectivity`.
    ends: Vec<i64>,
    /// VTK's number for the shape of each cell.
    types: Vec<i64>,
    cell_data: Vec<Attribute>,
    point_data: Vec<Attribute>,
}

/// Data of all cells or points.
struct Attribute {
    name: String,
    components: usize,
    values: Values,
}

/// Whether data of this name may be regions or fibres.
fn is_wanted(name: &str) -> bool {
    let name = name.to_lowercase();
    REGIONS.contains(&name.as_str()) || FIBRES.contains(&name.as_str())
}

fn find<'a>(data: &'a [Attribute], names: &[&str], components: usize) -> Option<&'a Attribute> {
    let matches =
        |name: &str| data.iter().find(|a| a.components == components && a.name.to_lowercase() == name);
    names.iter().find_map(|name| matches(name))
}

impl Grid {
    /// The tetrahedra, or else the triangles, with their regions and fibres, or what is wrong.
    fn into_mesh(self) -> Result<Raw, String> {
        let mut raw = Raw::default();
        raw.solid.points = self.points.as_chunks().0.to_vec();
        let n = raw.solid.points.len();
        if self.types.len() != self.ends.len() {
            return Err(format!("there are {} cells, but {} cell types", self.ends.len(), self.types.len()));
        }
        let (mut start, mut faces) = (0, Vec::new());
        for (cell, (&shape, &end)) in self.types.iter().zip(&self.ends).enumerate() {
            let number = cell + 1;
            let nodes = usize::try_from(end).ok().and_then(|end| self.connectivity.get(start..end));
            let nodes = nodes.ok_or_else(|| {
                format!(
                    "cell {number} ends at entry {end} of {}, after a start at {start}",
                    self.connectivity.len()
                )
            })?;
            start += nodes.len();
            match shape {
                10 => {
                    let nodes = nodes.try_into().map_err(|_| {
                        format!("element {number} is a tetrahedron, but has {} nodes", nodes.len())
                    })?;
                    raw.solid.push(number, nodes, 0, n)?;
                }
                12 => {
                    let nodes = nodes.try_into().map_err(|_| {
                        format!("element {number} is a hexahedron, but has {} nodes", nodes.len())
                    })?;
                    raw.hexahedra.push(number, nodes, 0, n)?;
                }
                5 => {
                    raw.solid.skipped += 1;
                    faces.extend(face(nodes, n).map(|face| (face, cell)));
                    let nodes: Result<[i64; 3], _> = nodes.try_into();
                    let triangle =
                        nodes.map_err(|_| format!("element {number} is a triangle of other than 3 nodes"));
                    // Beside tetrahedra it does not matter.
                    let pushed = triangle.and_then(|nodes| raw.flat.push(number, nodes, 0, n));
                    raw.not_flat = raw.not_flat.or(pushed.err());
                }
                // Strips and polygons, also of higher order.
                9 => {
                    raw.solid.skipped += 1;
                    faces.extend(face(nodes, n).map(|face| (face, cell)));
                    let why = || format!("element {number} is no triangle; {ONLY_TRIANGLES}");
                    raw.not_flat = raw.not_flat.or_else(|| Some(why()));
                }
                3 => {
                    raw.solid.skipped += 1;
                    faces.extend(face(nodes, n).map(|face| (face, cell)));
                }
                6..=8 | 22 | 23 | 28 | 30 | 34 | 36 | 61..=63 | 69 | 70 | 76 | 77 => {
                    raw.solid.skipped += 1;
                    let why = || format!("element {number} is no triangle; {ONLY_TRIANGLES}");
                    raw.not_flat = raw.not_flat.or_else(|| Some(why()));
                }
                // Empty cells, vertices and lines, also of higher order.
                0..=2 | 4 | 21 | 35 | 60 | 68 | 75 => raw.solid.skipped += 1,
                other => return Err(format!("element {number} is {}; {ONLY_TETRAHEDRA}", shape_name(other))),
            }
        }
        match (raw.is_flat(), raw.is_of_hexahedra()) {
            (true, _) => self.describe(&mut raw.flat)?,
            (_, true) => self.describe(&mut raw.hexahedra)?,
            (false, false) => self.describe(&mut raw.solid)?,
        }
        self.tag(faces, &mut raw);
        Ok(raw)
    }

    /// Gives faces the regions of the cells that they are in the file.
    fn tag(&self, faces: Vec<(Face, usize)>, raw: &mut Raw) {
        let Some(regions) = find(&self.cell_data, &REGIONS, 1) else { return };
        for (face, cell) in faces {
            if let Some(tag) = regions.values.whole(cell) {
                raw.add_tagged(face, tag);
            }
        }
    }

    /// Adds regions and fibres.
    fn describe<const C: usize>(&self, mesh: &mut RawMesh<C>) -> Result<(), String> {
        let cells = |number: &usize| number - 1;
        if let Some(regions) = find(&self.cell_data, &REGIONS, 1) {
            let region = |cell| {
                regions.values.whole(cell).ok_or_else(|| {
                    let name = &regions.name;
                    format!(
                        "cell data '{name}' of element {} is no region: a whole number of 32 bits",
                        cell + 1
                    )
                })
            };
            mesh.regions = Some(mesh.numbers.iter().map(cells).map(region).collect::<Result<_, _>>()?);
        }
        if let Some(fibres) = find(&self.cell_data, &FIBRES, 3) {
            mesh.fibres =
                Some(mesh.numbers.iter().map(cells).map(|cell| fibres.values.vector(cell)).collect());
        } else if let Some(fibres) = find(&self.point_data, &FIBRES, 3) {
            mesh.fibres = Some(mesh.cells.iter().map(|&cell| mean_direction(cell, &fibres.values)).collect());
        }
        Ok(())
    }
}

/// A line, a triangle or a quad of these nodes, if they are among the n nodes.
fn face(nodes: &[i64], n: usize) -> Option<Face> {
    let node = |&node: &i64| u32::try_from(node).ok().filter(|&node| (node as usize) < n);
    let nodes: Vec<u32> = nodes.iter().map(node).collect::<Option<_>>()?;
    match nodes[..] {
        [a, b] => Some(Face::Edge([a, b])),
        [a, b, c] => Some(Face::Triangle([a, b, c])),
        [a, b, c, d] => Some(Face::Quad([a, b, c, d])),
        _ => None,
    }
}

/// The mean of a cell's directions. Each is turned to point along the first one, because a fibre has no sign.
fn mean_direction<const C: usize>(cell: [u32; C], fibres: &Values) -> [f64; 3] {
    let directions = cell.map(|node| fibres.vector(node as usize));
    let mut sum = [0.0; 3];
    for f in directions {
        let along: f64 = (0..3).map(|axis| f[axis] * directions[0][axis]).sum();
        for axis in 0..3 {
            sum[axis] += if along < 0.0 { -f[axis] } else { f[axis] };
        }
    }
    sum
}

fn shape_name(shape: i64) -> String {
    let name = match shape {
        11 => "a voxel",
        13 => "a wedge",
        14 => "a pyramid",
        24 => "a quadratic tetrahedron",
        25 | 29 => "a quadratic hexahedron",
        42 => "a polyhedron",
        71 | 78 => "a tetrahedron of higher order",
        _ => return format!("a cell of VTK's type {shape}"),
    };
    name.to_string()
}
