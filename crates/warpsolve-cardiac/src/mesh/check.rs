//! Checks of a mesh as it was read, and its repair, before finite elements use it.

use rayon::prelude::*;

use super::{TaggedFace, TetMesh, signed_volume};
use warpsolve_host::error::{Error, MeshFault, Result};

/// Tetrahedra whose volume is at most this part of the cube of their longest edge are degenerate. For a good
/// one the part is about 0.1. At 1e-12 its gradients are nothing but rounding errors.
const FLATTEST: f64 = 1e-12;

/// A mesh as it was read, unchecked.
#[derive(Debug, Default)]
pub(crate) struct RawMesh {
    pub points: Vec<[f64; 3]>,
    pub tets: Vec<[u32; 4]>,
    pub regions: Option<Vec<i32>>,
    pub fibres: Option<Vec<[f64; 3]>>,
    /// The number of each tetrahedron among all cells of the file, counted from 1. Empty if all cells are
    /// tetrahedra.
    pub numbers: Vec<usize>,
    /// Cells of the file that are points, lines or surfaces.
    pub skipped: usize,
    /// Triangles among them that have a number.
    pub tagged_faces: Vec<TaggedFace>,
}

/// What was repaired.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mended {
    pub reoriented: usize,
    pub dropped: usize,
}

impl TetMesh {
    /// Makes a mesh of these points and tetrahedra, and checks it.
    ///
    /// - `points`: coordinates of the nodes, mm.
    /// - `tets`: four nodes each, counted from 0. If the determinant |b - a, c - a, d - a| of all is
    ///   negative, the other convention of orientation was used, and the last two nodes of each are swapped.
    /// - `regions`: a number for each tetrahedron.
    /// - `fibres`: the fibre direction of each tetrahedron, of any length but 0; kept as unit vectors.
    ///
    /// # Errors
    /// Elements and nodes are counted from 1.
    /// - [`Error::Mesh`]: no tetrahedra; a node that is out of range, or has a coordinate that is not finite;
    ///   a tetrahedron that is there twice, or whose volume is at most 1e-12 h^3, h its longest edge;
    ///   `regions` or `fibres` of another length than `tets`; a fibre that is zero or not finite.
    /// - [`Error::MeshFault`]: tetrahedra of both orientations; a node in no tetrahedron.
    pub fn new(
        points: Vec<[f64; 3]>,
        tets: Vec<[u32; 4]>,
        regions: Option<Vec<i32>>,
        fibres: Option<Vec<[f64; 3]>>,
    ) -> Result<TetMesh> {
        let raw = RawMesh { points, tets, regions, fibres, ..RawMesh::default() };
        Ok(raw.check(false, false)?.0)
    }
}

impl RawMesh {
    /// The number of tetrahedron `t` in its file.
    fn number(&self, t: usize) -> usize {
        self.numbers.get(t).copied().unwrap_or(t + 1)
    }

    /// Adds cell `number`, a tetrahedron. `nodes` are counted from 0, those of the file from `first`. The
    /// error says what is wrong.
    pub fn push(&mut self, number: usize, nodes: [i64; 4], first: i64) -> std::result::Result<(), String> {
        let n = self.points.len();
        if let Some(node) = nodes.iter().find(|&&node| node < 0 || node as usize >= n) {
            let node = *node as i128 + first as i128;
            return Err(format!("element {number} has node {node}, but there are {n}, counted from {first}"));
        }
        self.tets.push(nodes.map(|node| node as u32));
        self.numbers.push(number);
        Ok(())
    }

    /// Checks everything, repairs what is allowed, and returns the mesh.
    pub fn check(mut self, reorient: bool, drop_unreferenced: bool) -> Result<(TetMesh, Mended)> {
        self.check_sizes()?;
        self.check_points()?;
        self.check_distinct()?;
        let reoriented = self.orient(reorient)?;
        let dropped = self.drop_unreferenced(drop_unreferenced)?;
        self.normalise_fibres()?;
        let RawMesh { points, tets, regions, fibres, tagged_faces, .. } = self;
        Ok((TetMesh { points, tets, regions, fibres, tagged_faces }, Mended { reoriented, dropped }))
    }

    fn check_sizes(&self) -> Result<()> {
        let n = self.tets.len();
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
                    "there are {length} {what}, but {n} tetrahedra; give one for each"
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
        for (t, tet) in self.tets.iter().enumerate() {
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

    /// Refuses a tetrahedron that is there twice. It would conduct twice as much.
    fn check_distinct(&self) -> Result<()> {
        let sorted = |t: u32| {
            let mut tet = self.tets[t as usize];
            tet.sort_unstable();
            (tet, t)
        };
        let mut all: Vec<([u32; 4], u32)> = (0..self.tets.len() as u32).into_par_iter().map(sorted).collect();
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
        for (t, &tet) in self.tets.iter().enumerate() {
            let volume = signed_volume(&self.points, tet);
            let h = longest_edge(&self.points, tet);
            // Written so that NaN, which comes of coordinates that overflow, is refused too.
            let is_sound = volume.is_finite() && volume.abs() > FLATTEST * h * h * h;
            if !is_sound {
                return Err(Error::Mesh(format!(
                    "element {} is degenerate: volume {:e}, longest edge {h:e}; more than {FLATTEST:e} of \
                     the edge's cube is needed; remove the element or mesh anew",
                    self.number(t),
                    volume.abs()
                )));
            }
            if volume < 0.0 {
                first = if inverted == 0 { t } else { first };
                inverted += 1;
            }
        }
        // If all have a negative volume, the program that wrote them has the other convention.
        if inverted > 0 && inverted < self.tets.len() && !reorient {
            return Err(Error::MeshFault {
                fault: MeshFault::InsideOut,
                message: format!(
                    "element {} is inside out (its volume is negative), as are {inverted} of {}; see whether \
                     elements overlap",
                    self.number(first),
                    self.tets.len()
                ),
            });
        }
        if inverted > 0 {
            for tet in &mut self.tets {
                if signed_volume(&self.points, *tet) < 0.0 {
                    tet.swap(2, 3);
                }
            }
        }
        Ok(inverted)
    }

    /// Drops nodes without tetrahedra, whose rows would be zero in every matrix; returns how many.
    fn drop_unreferenced(&mut self, drop: bool) -> Result<usize> {
        let mut is_used = vec![false; self.points.len()];
        for &node in self.tets.as_flattened() {
            is_used[node as usize] = true;
        }
        let Some(first) = is_used.iter().position(|is_used| !is_used) else { return Ok(0) };
        if !drop {
            return Err(Error::MeshFault {
                fault: MeshFault::UnreferencedNodes,
                message: format!(
                    "node {} belongs to no tetrahedron, as do {} of {}",
                    first + 1,
                    is_used.iter().filter(|is_used| !*is_used).count(),
                    self.points.len()
                ),
            });
        }
        Ok(keep_nodes(&mut self.points, &mut self.tets, &mut self.tagged_faces, &is_used))
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

/// Keeps these nodes. The others, which belong to no tetrahedron, are dropped, with the faces that have one;
/// returns how many.
pub(super) fn keep_nodes(
    points: &mut Vec<[f64; 3]>,
    tets: &mut [[u32; 4]],
    faces: &mut Vec<TaggedFace>,
    keep: &[bool],
) -> usize {
    let before = points.len();
    let mut new_numbers = Vec::with_capacity(before);
    let mut kept = 0;
    for &keep in keep {
        new_numbers.push(kept);
        kept += u32::from(keep);
    }
    faces.retain(|(nodes, _)| nodes.iter().all(|&node| keep[node as usize]));
    let mut keep = keep.iter();
    points.retain(|_| *keep.next().expect("one for each node"));
    for node in tets.as_flattened_mut().iter_mut().chain(faces.iter_mut().flat_map(|(nodes, _)| nodes)) {
        *node = new_numbers[*node as usize];
    }
    before - points.len()
}

fn longest_edge(points: &[[f64; 3]], tet: [u32; 4]) -> f64 {
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
