//! The elastic body: its mesh, what holds it and what pulls at it, and the system that follows.

use warpsolve::cardiac::mesh::{AnyMesh, HexMesh, Mesh, ReadOptions, TetMesh, TriMesh, read_any};
use warpsolve::fem::{Elastic, FreeNodes, P1};
use warpsolve::matrix::Csr;
use warpsolve::number::plain;
use warpsolve::precond::amg::NearNull;
use warpsolve::problem::Elements;
use warpsolve::{Error, Result};

use super::super::cardiac::Lengths;
use super::args::{ElasticityArgs, Load, Plane};
use super::hold::check_held;

/// What is to be solved.
pub struct Body<const C: usize> {
    pub mesh: Mesh<C>,
    /// The name of the mesh in reports.
    pub name: String,
    pub material: Elastic,
    pub free: FreeNodes,
    pub a: Csr<f64>,
    /// The forces on the unknowns, N.
    pub b: Vec<f64>,
    /// The sum of all forces, N.
    pub force: [f64; 3],
}

/// What came out, at the nodes.
pub struct State {
    /// mm
    pub displacement: Vec<[f64; 3]>,
    /// |displacement|, mm
    pub length: Vec<f64>,
    /// N/mm^2
    pub von_mises: Vec<f64>,
}

impl<const C: usize> Body<C> {
    pub fn new(args: &ElasticityArgs, mesh: Mesh<C>, name: String) -> Result<Body<C>> {
        let material = match (C, args.plane) {
            (3, Some(Plane::Stress)) => Elastic::new(args.young, args.poisson)?.thin(),
            (3, _) | (_, None) => Elastic::new(args.young, args.poisson)?,
            (_, Some(_)) => {
                return Err(Error::Option("--plane goes with a mesh of triangles; leave it out".into()));
            }
        };
        let mut is_clamped = vec![false; mesh.points().len()];
        for place in &args.clamps {
            is_clamped.iter_mut().zip(place.nodes(&mesh)?).for_each(|(clamped, is_in)| *clamped |= is_in);
        }
        let free = FreeNodes::new(is_clamped.len(), |i| is_clamped[i]);
        if free.is_empty() {
            return Err(Error::Mesh("every node is clamped: nothing can move".into()));
        }
        let space = P1::new(mesh.points(), mesh.cells())?;
        check_held(&mesh, &is_clamped)?;
        let a = space.elasticity(&free, |_| material)?;
        let mut forces = vec![[0.0; 3]; mesh.points().len()];
        let mut add = |shares: &[f64], force: [f64; 3]| {
            for (sum, share) in forces.iter_mut().zip(shares) {
                (0..3).for_each(|x| sum[x] += share * force[x]);
            }
        };
        if let Some(force) = args.body_force {
            add(&space.lumped_mass(), force);
        }
        for Load { place, force } in &args.loads {
            add(&place.shares(&mesh)?, *force);
        }
        let force = std::array::from_fn(|x| forces.iter().map(|f| f[x]).sum());
        if C == 3 && force[2] != 0.0 {
            return Err(Error::Option(format!(
                "forces of {} N act along z, across the plane of the mesh; give forces with 0 as their last number",
                plain(force[2])
            )));
        }
        let b: Vec<f64> =
            free.restrict(&forces).iter().flat_map(|f| f[..Mesh::<C>::DIRECTIONS].to_vec()).collect();
        if b.iter().all(|f| *f == 0.0) {
            return Err(Error::Option(
                "no force acts on what can move; give a --load or a --body-force".into(),
            ));
        }
        Ok(Body { mesh, name, material, free, a, b, force })
    }

    /// The rigid motions of the nodes that can move.
    pub fn rigid_motions(&self) -> Result<NearNull> {
        let points = self.free.restrict(self.mesh.points());
        let along = |x: usize| points.iter().map(|p| p[x]).collect();
        NearNull::rigid_motions(&(0..Mesh::<C>::DIRECTIONS).map(along).collect::<Vec<Vec<f64>>>())
    }

    /// Displacement and stress at every node.
    pub fn state(&self, x: &[f64]) -> Result<State> {
        let in_space = |u: &[f64]| std::array::from_fn(|x| u.get(x).copied().unwrap_or(0.0));
        let of_free: Vec<[f64; 3]> = x.chunks_exact(Mesh::<C>::DIRECTIONS).map(in_space).collect();
        let displacement = self.free.extend(&of_free, [0.0; 3]);
        let space = P1::new(self.mesh.points(), self.mesh.cells())?;
        let von_mises = space.at_nodes(&space.von_mises(&displacement, |_| self.material)?)?;
        let length = displacement.iter().map(|u| u.iter().map(|x| x * x).sum::<f64>().sqrt()).collect();
        Ok(State { displacement, length, von_mises })
    }
}

/// The mesh and its name in reports.
pub fn mesh(args: &ElasticityArgs) -> Result<(AnyMesh, String)> {
    if let Some(path) = &args.file {
        let options = ReadOptions {
            scale: args.scale.unwrap_or(1.0),
            reorient: args.reorient,
            drop_unreferenced: args.drop_unreferenced,
            largest_component: args.largest_component,
            fibres: None,
        };
        let (mesh, summary) = read_any(path, &options)?;
        return Ok((mesh, format!("{} ({})", path.display(), summary.format)));
    }
    let (lengths, spacing) = (args.slab.unwrap_or(Lengths::Box([1.0; 3])), args.spacing.unwrap_or(1.0));
    let mesh = match (lengths, args.elements) {
        (Lengths::Box(lengths), Some(Elements::Hexahedra)) => {
            AnyMesh::Hexahedra(HexMesh::slab(lengths, spacing)?.without_fibres())
        }
        (Lengths::Box(lengths), _) => AnyMesh::Solid(TetMesh::slab(lengths, spacing)?.without_fibres()),
        (Lengths::Rectangle(lengths), None) => {
            AnyMesh::Flat(TriMesh::sheet(lengths, None, spacing)?.without_fibres())
        }
        (Lengths::Rectangle(_), Some(_)) => {
            let why = "--elements goes with a --slab of three lengths; a rectangle is made of triangles";
            return Err(Error::Option(why.into()));
        }
    };
    Ok((mesh, format!("{lengths} mm, {}", lengths.cut(spacing, None))))
}
