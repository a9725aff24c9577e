//! Checks of a mesh as it was read, and its repair, before finite elements use it.

use rayon::prelude::*;

use super::face::Face;
use super::part::{are_used, new_numbers};
use super::{Mesh, TaggedFace, signed_volume};
use warpsolve_host::error::{Error, MeshFault, Result};
use warpsolve_host::number::plain;

/// Cells whose volume is at most this part of the cube of their longest edge are degenerate, and triangles
/// whose area is of its square. For a good one the part is about 0.1. At 1e-12 its gradients are nothing but
/// rounding errors.
const FLATTEST: f64 = 1e-12;

/// Advice for cells that cannot be used.
pub(crate) const ONLY_TETRAHEDRA: &str = "only linear tetrahedra are read; mesh with tetrahedra of first \
                                          order, or split the cells (in ParaView: Tetrahedralize)";

/// Advice for polygons in a mesh without tetrahedra.
pub(crate) const ONLY_TRIANGLES: &str = "a mesh without tetrahedra is one of linear triangles; mesh with triangles of \
                                         first order, or split the cells (in ParaView: Triangulate)";

/// A mesh as it was read, unchecked.
#[derive(Debug)]
pub(crate) struct RawMesh<const C: usize = 4> {
    pub points: Vec<[f64; 3]>,
    pub cells: Vec<[u32; C]>,
    pub regions: Option<Vec<i32>>,
    pub fibres: Option<Vec<[f64; 3]>>,
    /// The number of each cell among all cells of the file, counted from 1. Empty if there are no others.
    pub numbers: Vec<usize>,
    /// Cells of the file of fewer dimensions: points, lines or, beside tetrahedra, surfaces.
    pub skipped: usize,
    /// Faces of the cells among them that have a number.
    pub tagged_faces: Vec<TaggedFace>,
    /// A triangle beside tetrahedra that is on none of them.
    pub loose: Option<usize>,
}

impl<const C: usize> Default for RawMesh<C> {
    fn default() -> Self {
        RawMesh {
            points: Vec::new(),
            cells: Vec::new(),
            regions: None,
            fibres: None,
            numbers: Vec::new(),
            skipped: 0,
            tagged_faces: Vec::new(),
            loose: None,
        }
    }
}

/// What a file has: a mesh of tetrahedra or of hexahedra, whose triangles and quads are its surfaces, or one
/// of triangles alone.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    /// It has the points of both.
    pub solid: RawMesh<4>,
    pub flat: RawMesh<3>,
    /// It has no points.
    pub hexahedra: RawMesh<8>,
    /// Why the triangles cannot be a mesh: there are other polygons, for one.
    pub not_flat: Option<String>,
}

impl Raw {
    /// Whether it has triangles, and neither tetrahedra nor hexahedra.
    pub fn is_flat(&self) -> bool {
        self.solid.cells.is_empty() && self.hexahedra.cells.is_empty() && !self.flat.cells.is_empty()
    }

    /// Whether it has hexahedra, and no tetrahedra.
    pub fn is_of_hexahedra(&self) -> bool {
        self.solid.cells.is_empty() && !self.hexahedra.cells.is_empty()
    }

    /// The mesh of triangles, if it is one.
    pub fn into_flat(self) -> Result<RawMesh<3>> {
        let Raw { solid, mut flat, not_flat, .. } = self;
        if let Some(why) = not_flat {
            return Err(Error::Mesh(why));
        }
        flat.points = solid.points;
        flat.skipped = solid.skipped - flat.cells.len();
        Ok(flat)
    }

    /// Keeps a face with its number for the mesh of whose cells it is one.
    pub fn add_tagged(&mut self, face: Face, tag: i32) {
        let faces = match face {
            Face::Edge(_) => &mut self.flat.tagged_faces,
            Face::Triangle(_) => &mut self.solid.tagged_faces,
            Face::Quad(_) => &mut self.hexahedra.tagged_faces,
        };
        faces.push((face, tag));
    }

    /// The mesh of hexahedra.
    pub fn into_hexahedra(self) -> RawMesh<8> {
        let Raw { solid, hexahedra, .. } = self;
        RawMesh { points: solid.points, skipped: solid.skipped, ..hexahedra }
    }

    /// The mesh of tetrahedra, if they are alone.
    pub fn into_solid(self) -> Result<RawMesh<4>> {
        let Raw { mut solid, flat, hexahedra, not_flat } = self;
        if let Some(why) = not_flat.filter(|_| solid.cells.is_empty() && hexahedra.cells.is_empty()) {
            return Err(Error::Mesh(why));
        }
        if let Some(number) = hexahedra.numbers.first() {
            return Err(Error::Mesh(format!("element {number} is a hexahedron; {ONLY_TETRAHEDRA}")));
        }
        let is_used = are_used(solid.cells.iter().copied(), solid.points.len());
        let loose = flat.cells.iter().position(|face| face.iter().any(|&node| !is_used[node as usize]));
        solid.loose = loose.map(|face| flat.numbers[face]);
        Ok(solid)
    }
}

/// What was repaired.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mended {
    pub reoriented: usize,
    pub dropped: usize,
}

impl<const C: usize> Mesh<C> {
    /// Makes a mesh of these points and cells, and checks it.
    ///
    /// - `points`: coordinates of the nodes, mm.
    /// - `cells`: four nodes each, counted from 0, of triangles three, of hexahedra eight. If the determinant
    ///   |b - a, c - a, d - a| of all is negative, the other convention of orientation was used, and the last
    ///   two nodes of each are swapped, or the two faces of a hexahedron.
    /// - `regions`: a number for each cell.
    /// - `fibres`: the fibre direction of each cell, of any length but 0; kept as unit vectors.
    ///
    /// # Errors
    /// Elements and nodes are counted from 1.
    /// - [`Error::Mesh`]: no cells; a node that is out of range, or has a coordinate that is not finite; a
    ///   cell that is there twice, or whose volume is at most 1e-12 h^3, of a triangle 1e-12 h^2, h its
    ///   longest edge; a triangle across planes of constant z; `regions` or `fibres` of another length than
    ///   `cells`; a fibre that is zero or not finite.
    /// - [`Error::MeshFault`]: cells of both orientations; a node in no cell.
    pub fn new(
        points: Vec<[f64; 3]>,
        cells: Vec<[u32; C]>,
        regions: Option<Vec<i32>>,
        fibres: Option<Vec<[f64; 3]>>,
    ) -> Result<Mesh<C>> {
        let raw = RawMesh { points, cells, regions, fibres, ..RawMesh::default() };
        Ok(raw.check(false, false)?.0)
    }
}

impl<const C: usize> RawMesh<C> {
    /// The number of cell `t` in its file.
    fn number(&self, t: usize) -> usize {
        self.numbers.get(t).copied().unwrap_or(t + 1)
    }

    /// Adds cell `number`, of n points. `nodes` are counted from 0, those of the file from `first`. The error
    /// says what is wrong.
    pub fn push(
        &mut self,
        number: usize,
        nodes: [i64; C],
        first: i64,
        n: usize,
    ) -> std::result::Result<(), String> {
        if let Some(node) = nodes.iter().find(|&&node| node < 0 || node as usize >= n) {
            let node = *node as i128 + first as i128;
            return Err(format!("element {number} has node {node}, but there are {n}, counted from {first}"));
        }
        self.cells.push(nodes.map(|node| node as u32));
        self.numbers.push(number);
        Ok(())
    }

    /// Checks everything, repairs what is allowed, and returns the mesh.
    pub fn check(mut self, reorient: bool, drop_unreferenced: bool) -> Result<(Mesh<C>, Mended)> {
        self.check_sizes()?;
        self.check_points()?;
        self.check_distinct()?;
        let reoriented = self.orient(reorient)?;
        let dropped = self.drop_unreferenced(drop_unreferenced)?;
        self.normalise_fibres()?;
        let RawMesh { points, cells, regions, fibres, tagged_faces, .. } = self;
        Ok((Mesh { points, cells, regions, fibres, tagged_faces }, Mended { reoriented, dropped }))
    }

    fn check_sizes(&self) -> Result<()> {
        let n = self.cells.len();
        let cells = Mesh::<C>::CELLS;
        if n == 0 {
            return Err(Error::Mesh(format!(
                "there are no tetrahedra (but {} points, lines or surfaces); mesh the volume",
                self.skipped
            )));
        }
        if self.points.len() > u32::MAX as usize {
            return Err(Error::Mesh(format!(
                "there are {} nodes, more than 32 bits count",
                self.points.len()
            )));
        }
        let given = [
            ("region numbers", self.regions.as_ref().map(Vec::len)),
            ("fibres", self.fibres.as_ref().map(Vec::len)),
        ];
        for (what, length) in given {
            if let Some(length) = length.filter(|&length| length != n) {
                return Err(Error::Mesh(format!(
                    "there are {length} {what}, but {n} {cells}; give one for each"
                )));
            }
        }
        Ok(())
    }

    fn check_points(&self) -> Result<()> {
        if let Some(node) = self.points.iter().position(|point| !point.iter().all(|x| x.is_finite())) {
            let [x, y, z] = self.points[node];
            return Err(Error::Mesh(format!(
                "node {} is at ({x}, {y}, {z}); coordinates must be finite numbers",
                node + 1
            )));
        }
        for (t, tet) in self.cells.iter().enumerate() {
            if let Some(node) = tet.iter().find(|&&node| node as usize >= self.points.len()) {
                return Err(Error::Mesh(format!(
                    "element {} has node {} (counted from 1), but there are {}",
                    self.number(t),
                    *node as u64 + 1,
                    self.points.len()
                )));
            }
        }
        Ok(())
    }

    /// Refuses a cell that is there twice. It would conduct twice as much.
    fn check_distinct(&self) -> Result<()> {
        let sorted = |t: u32| {
            let mut tet = self.cells[t as usize];
            tet.sort_unstable();
            (tet, t)
        };
        let mut all: Vec<([u32; C], u32)> =
            (0..self.cells.len() as u32).into_par_iter().map(sorted).collect();
        all.par_sort_unstable();
        match all.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            None => Ok(()),
            Some(pair) => Err(Error::Mesh(format!(
                "elements {} and {} have the same nodes; leave one of them out",
                self.number(pair[0].1 as usize),
                self.number(pair[1].1 as usize)
            ))),
        }
    }

    /// Makes all volumes positive; returns how many were not.
    fn orient(&mut self, reorient: bool) -> Result<usize> {
        let mut inverted = 0;
        let mut first = 0;
        for (t, &tet) in self.cells.iter().enumerate() {
            let volume = signed_volume(&self.points, tet);
            let h = longest_edge(&self.points, tet);
            // Written so that NaN, which comes of coordinates that overflow, is refused too.
            let (size, of, power) =
                if C == 3 { (h * h, "area", "square") } else { (h * h * h, "volume", "cube") };
            if C == 3
                && tet.iter().any(|&node| self.points[node as usize][2] != self.points[tet[0] as usize][2])
            {
                return Err(Error::Mesh(format!(
                    "element {} is a triangle that does not lie in a plane of constant z; turn a flat mesh into \
                     such a plane, or mesh the volume with tetrahedra",
                    self.number(t)
                )));
            }
            let is_sound = volume.is_finite() && volume.abs() > FLATTEST * size;
            if !is_sound {
                return Err(Error::Mesh(format!(
                    "element {} is degenerate: {of} {}, longest edge {}; more than {FLATTEST:e} of \
                     the edge's {power} is needed; remove the element or mesh anew",
                    self.number(t),
                    plain(volume.abs()),
                    plain(h)
                )));
            }
            if volume < 0.0 {
                first = if inverted == 0 { t } else { first };
                inverted += 1;
            }
        }
        // If all have a negative volume, the program that wrote them has the other convention.
        if inverted > 0 && inverted < self.cells.len() && !reorient {
            return Err(Error::MeshFault {
                fault: MeshFault::InsideOut,
                message: format!(
                    "element {} is inside out (its {} is negative), as are {inverted} of {}; see whether \
                     elements overlap",
                    self.number(first),
                    if C == 3 { "area" } else { "volume" },
                    self.cells.len()
                ),
            });
        }
        if inverted > 0 {
            for tet in &mut self.cells {
                if signed_volume(&self.points, *tet) < 0.0 {
                    match C {
                        // Round the other face first.
                        8 => tet.rotate_left(4),
                        _ => tet.swap(C - 2, C - 1),
                    }
                }
            }
        }
        Ok(inverted)
    }

    /// Drops nodes without cells, whose rows would be zero in every matrix; returns how many.
    fn drop_unreferenced(&mut self, drop: bool) -> Result<usize> {
        let is_used = are_used(self.cells.iter().copied(), self.points.len());
        let Some(first) = is_used.iter().position(|is_used| !is_used) else { return Ok(0) };
        if let Some(triangle) = self.loose.filter(|_| !drop) {
            return Err(Error::MeshFault {
                fault: MeshFault::UnreferencedNodes,
                message: format!(
                    "element {triangle} is a triangle with nodes that belong to no tetrahedron: a mesh has \
                     tetrahedra, or triangles in a plane, but not both; save one kind alone"
                ),
            });
        }
        if !drop {
            return Err(Error::MeshFault {
                fault: MeshFault::UnreferencedNodes,
                message: format!(
                    "node {} belongs to no {}, as do {} of {}",
                    first + 1,
                    Mesh::<C>::CELL,
                    is_used.iter().filter(|is_used| !*is_used).count(),
                    self.points.len()
                ),
            });
        }
        Ok(keep_nodes(&mut self.points, &mut self.cells, &mut self.tagged_faces, &is_used))
    }

    fn normalise_fibres(&mut self) -> Result<()> {
        let Some(mut fibres) = self.fibres.take() else { return Ok(()) };
        for (t, fibre) in fibres.iter_mut().enumerate() {
            // Unit vectors stay the same to the last bit.
            if (fibre.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() <= 4.0 * f64::EPSILON {
                continue;
            }
            // Dividing by the largest component first keeps squares from over- or underflowing.
            let largest = fibre.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let [x, y, z] = fibre.map(|x| x / largest);
            let norm = (x * x + y * y + z * z).sqrt();
            if !norm.is_finite() {
                let [x, y, z] = *fibre;
                return Err(Error::Mesh(format!(
                    "the fibre of element {} is ({x}, {y}, {z}); it needs a direction, \
                     also where the tissue is isotropic",
                    self.number(t)
                )));
            }
            *fibre = [x / norm, y / norm, z / norm];
        }
        self.fibres = Some(fibres);
        Ok(())
    }
}

/// Keeps these nodes. The others, which belong to no cell, are dropped, with the faces that have one;
/// returns how many.
pub(super) fn keep_nodes<const C: usize>(
    points: &mut Vec<[f64; 3]>,
    cells: &mut [[u32; C]],
    faces: &mut Vec<TaggedFace>,
    keep: &[bool],
) -> usize {
    let (before, new_numbers) = (points.len(), new_numbers(keep));
    faces.retain(|(face, _)| face.as_ref().iter().all(|&node| keep[node as usize]));
    let mut keep = keep.iter();
    points.retain(|_| *keep.next().expect("one for each node"));
    for node in
        cells.as_flattened_mut().iter_mut().chain(faces.iter_mut().flat_map(|(face, _)| face.as_mut()))
    {
        *node = new_numbers[*node as usize];
    }
    before - points.len()
}

fn longest_edge<const C: usize>(points: &[[f64; 3]], tet: [u32; C]) -> f64 {
    let p = tet.map(|node| points[node as usize]);
    let mut longest = 0.0f64;
    for (i, a) in p.iter().enumerate() {
        for b in &p[i + 1..] {
            let square = (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>();
            longest = longest.max(square.sqrt());
        }
    }
    longest
}
