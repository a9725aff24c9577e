//! Linear elasticity of an isotropic body.

use super::{FreeNodes, P1, Point, Vec3, cross, dot};
use crate::error::{Error, Result};
use crate::matrix::Csr;
use crate::parallel::*;

/// An isotropic linear elastic material.
///
/// With the displacement u, the strain eps = (grad u + grad u^T) / 2 and Lame's constants lambda, mu the
/// stress is
///
/// ```text
/// sigma = lambda tr(eps) I + 2 mu eps,   lambda = E nu / ((1 + nu) (1 - 2 nu)),   mu = E / (2 (1 + nu))
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elastic {
    young: f64,
    poisson: f64,
    /// Whether it is a thin sheet.
    is_thin: bool,
}

impl Elastic {
    /// A material of Young's modulus E (N/mm^2) and Poisson's ratio nu.
    ///
    /// # Errors
    /// [`Error::Option`] unless E is positive and finite, and -1 < nu < 0.5. At 0.5 a body cannot be
    /// compressed and lambda is infinite; near it linear elements are much too stiff.
    pub fn new(young: f64, poisson: f64) -> Result<Self> {
        if !(young > 0.0 && young.is_finite()) {
            return Err(Error::Option(format!("Young's modulus is {young}; it must be a positive number")));
        }
        if !(poisson > -1.0 && poisson < 0.5) {
            return Err(Error::Option(format!(
                "Poisson's ratio is {poisson}; it must lie between -1 and 0.5"
            )));
        }
        Ok(Elastic { young, poisson, is_thin: false })
    }

    /// The same material as a thin sheet in a plane, with no stress across it (plane stress). In its plane it
    /// is a material with `lambda = E nu / (1 - nu^2)`, and it becomes thinner where it is stretched.
    pub fn thin(self) -> Self {
        Elastic { is_thin: true, ..self }
    }

    /// E, N/mm^2.
    pub fn young(&self) -> f64 {
        self.young
    }

    /// nu.
    pub fn poisson(&self) -> f64 {
        self.poisson
    }

    /// lambda, N/mm^2.
    pub fn lambda(&self) -> f64 {
        if self.is_thin {
            return self.young * self.poisson / (1.0 - self.poisson * self.poisson);
        }
        self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))
    }

    /// mu, the shear modulus, N/mm^2.
    pub fn mu(&self) -> f64 {
        self.young / (2.0 * (1.0 + self.poisson))
    }
}

/// The material of one cell, and which cell it is.
struct Cell {
    number: u32,
    lambda: f64,
    mu: f64,
}

impl<const C: usize> P1<'_, C> {
    /// The matrix of -div sigma(u) = f, with three unknowns for each free node: the displacement along x, y
    /// and z (mm). The other nodes are clamped, u = 0. The surface is free where nothing else is said.
    ///
    /// ```text
    /// A_(i k)(j l) = integral of lambda d_k phi_i d_l phi_j + mu d_l phi_i d_k phi_j
    ///                            + mu delta_kl grad phi_i . grad phi_j
    /// ```
    ///
    /// `material(t)` is that of cell `t`; it is called once for each, from any thread. The matrix is
    /// symmetric to the last bit and positive semidefinite (N/mm). Without clamped nodes the rigid motions
    /// are its null space.
    ///
    /// Of triangles it has two unknowns for each free node, along x and y: plane strain, a body that is long
    /// along z and cannot move there, or with [`Elastic::thin`] plane stress.
    ///
    /// # Errors
    /// [`Error::Matrix`] for more unknowns than 32-bit indices reach.
    pub fn elasticity(
        &self,
        free: &FreeNodes,
        material: impl Fn(usize) -> Elastic + Sync,
    ) -> Result<Csr<f64>> {
        if C == 3 { self.solid::<2>(free, material) } else { self.solid::<3>(free, material) }
    }

    fn solid<const B: usize>(
        &self,
        free: &FreeNodes,
        material: impl Fn(usize) -> Elastic + Sync,
    ) -> Result<Csr<f64>> {
        let rows = B * free.len();
        if rows > u32::MAX as usize {
            return Err(Error::Matrix(format!("{rows} rows: more than 32-bit indices reach")));
        }
        let cell = |t: usize| {
            let material = material(t);
            Cell { number: t as u32, lambda: material.lambda(), mu: material.mu() }
        };
        Ok(self.gather(free, cell, |cell, c, k| {
            let mut row = [[0.0; B]; C];
            for point in self.integration(cell.number as usize) {
                let (scale, own) = (point.scale(), point.normals[c]);
                // Products of two numbers commute to the last bit, so the matrix is symmetric.
                for (couplings, n) in row.iter_mut().zip(&point.normals) {
                    for (l, coupling) in couplings.iter_mut().enumerate() {
                        let shear = if k == l { dot(own, *n) + own[l] * n[k] } else { own[l] * n[k] };
                        *coupling += scale * (cell.lambda * (own[k] * n[l]) + cell.mu * shear);
                    }
                }
            }
            row
        }))
    }

    /// The von Mises stress in each cell (N/mm^2) of the displacements `u` of all nodes (mm; in a plane the
    /// last component is 0):
    ///
    /// ```text
    /// sqrt(3/2 s : s),   s = sigma - tr(sigma) / 3 I = 2 mu (eps - tr(eps) / 3 I)
    /// ```
    ///
    /// with the strain of the cell, in a hexahedron its mean.
    ///
    /// A thin sheet has `eps_zz = -nu / (1 - nu) (eps_xx + eps_yy)`.
    ///
    /// # Errors
    /// [`Error::Dimension`] unless `u` has one entry for each node.
    pub fn von_mises(&self, u: &[Vec3], material: impl Fn(usize) -> Elastic + Sync) -> Result<Vec<f64>> {
        self.check_nodes("displacement", u.len())?;
        Ok(self.elements(|t| {
            let (material, mut eps) = (material(t), self.strain(t, u));
            if material.is_thin {
                eps[2][2] = -material.poisson / (1.0 - material.poisson) * (eps[0][0] + eps[1][1]);
            }
            let mean = (eps[0][0] + eps[1][1] + eps[2][2]) / 3.0;
            let deviator = |k: usize, l: usize| eps[k][l] - if k == l { mean } else { 0.0 };
            let square: f64 = (0..3).flat_map(|k| (0..3).map(move |l| deviator(k, l).powi(2))).sum();
            2.0 * material.mu() * (1.5 * square).sqrt()
        }))
    }

    /// The means of values of cells at each node, weighted by volume.
    ///
    /// # Errors
    /// [`Error::Dimension`] unless there is one value for each cell.
    pub fn at_nodes(&self, values: &[f64]) -> Result<Vec<f64>> {
        if values.len() != self.cells.len() {
            return Err(Error::Dimension {
                what: "values of cells",
                expected: self.cells.len(),
                found: values.len(),
            });
        }
        let volumes = self.elements(|t| self.volume(t));
        let mean = |i| {
            let sum = |f: &dyn Fn(usize) -> f64| self.around(i).iter().map(|&t| f(t as usize)).sum::<f64>();
            sum(&|t| volumes[t] * values[t]) / sum(&|t| volumes[t])
        };
        Ok((0..self.n_nodes()).into_par_iter().map(mean).collect())
    }

    /// The mean of eps = (grad u + grad u^T) / 2 in cell `t`.
    fn strain(&self, t: usize, u: &[Vec3]) -> [Vec3; 3] {
        let (u, volume) = (self.cells[t].map(|node| u[node as usize]), self.volume(t));
        let mut mean = [[0.0; 3]; 3];
        for point in self.integration(t) {
            let (eps, weight) = (strain(&point, &u), point.volume() / volume);
            (0..9).for_each(|m| mean[m / 3][m % 3] += weight * eps[m / 3][m % 3]);
        }
        mean
    }

    fn check_nodes(&self, what: &'static str, found: usize) -> Result<()> {
        match self.n_nodes() {
            expected if expected == found => Ok(()),
            expected => Err(Error::Dimension { what, expected, found }),
        }
    }
}

/// eps at a point, of the displacements of the corners.
fn strain<const C: usize>(point: &Point<C>, u: &[Vec3; C]) -> [Vec3; 3] {
    // det is |det|: the normals' sign is that of the orientation, and goes into the square alone.
    let gradient =
        |k: usize, l: usize| u.iter().zip(&point.normals).map(|(u, n)| u[k] * n[l]).sum::<f64>() / point.det;
    std::array::from_fn(|k| std::array::from_fn(|l| 0.5 * (gradient(k, l) + gradient(l, k))))
}

/// The share of each of `points` in the area of `faces`: what a force that is spread over the faces evenly
/// becomes at the nodes. Faces are edges of a plane, triangles or quads, by the number of their corners;
/// an edge and a triangle belong to their corners in equal parts, a quad as its bilinear functions have it.
/// The shares add up to 1.
///
/// # Errors
/// [`Error::Mesh`] for no faces, or faces without an area.
pub fn face_shares<F: AsRef<[u32]>>(points: &[Vec3], faces: &[F]) -> Result<Vec<f64>> {
    let mut shares = vec![0.0; points.len()];
    for face in faces {
        let nodes = face.as_ref();
        match *nodes {
            [a, b, c, d] => {
                let parts = quad_parts([a, b, c, d].map(|node| points[node as usize]));
                nodes.iter().zip(parts).for_each(|(&node, part)| shares[node as usize] += part);
            }
            _ => {
                let part = area(points, nodes) / nodes.len() as f64;
                nodes.iter().for_each(|&node| shares[node as usize] += part);
            }
        }
    }
    let whole: f64 = shares.iter().sum();
    if !(whole > 0.0 && whole.is_finite()) {
        let count = faces.len();
        return Err(Error::Mesh(format!(
            "{count} faces of no area: there is nothing that a force could act on"
        )));
    }
    shares.iter_mut().for_each(|share| *share /= whole);
    Ok(shares)
}

/// The length of an edge, or the area of a triangle.
fn area(points: &[Vec3], nodes: &[u32]) -> f64 {
    let from_first = |c: usize| difference(points[nodes[c] as usize], points[nodes[0] as usize]);
    match nodes.len() {
        2 => length(from_first(1)),
        _ => 0.5 * length(cross(from_first(1), from_first(2))),
    }
}

/// The integrals of the four bilinear functions over a quad, by 2 x 2 points of Gauss, each of weight 1.
fn quad_parts(p: [Vec3; 4]) -> [f64; 4] {
    const CORNERS: [[f64; 2]; 4] = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let mut parts = [0.0; 4];
    for [x, y] in CORNERS.map(|corner| corner.map(|x| x / 3.0f64.sqrt())) {
        let along = |of: &dyn Fn([f64; 2]) -> f64| -> Vec3 {
            std::array::from_fn(|k| CORNERS.iter().zip(p).map(|(&corner, p)| of(corner) * p[k]).sum())
        };
        let (dx, dy) = (along(&|[a, b]| 0.25 * a * (1.0 + b * y)), along(&|[a, b]| 0.25 * b * (1.0 + a * x)));
        let area = length(cross(dx, dy));
        for (part, [a, b]) in parts.iter_mut().zip(CORNERS) {
            *part += 0.25 * (1.0 + a * x) * (1.0 + b * y) * area;
        }
    }
    parts
}

fn difference(a: Vec3, b: Vec3) -> Vec3 {
    std::array::from_fn(|x| a[x] - b[x])
}

fn length(v: Vec3) -> f64 {
    dot(v, v).sqrt()
}
