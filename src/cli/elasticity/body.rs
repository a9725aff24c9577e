//! The elastic body: its mesh, what holds it and what pulls at it, and the system that follows.

use warpsolve::cardiac::mesh::{ReadOptions, TetMesh, read_with_summary};
use warpsolve::fem::{Elastic, FreeNodes, P1, face_shares};
use warpsolve::matrix::Csr;
use warpsolve::precond::amg::NearNull;
use warpsolve::{Error, Result};

use super::args::{ElasticityArgs, Load};

/// What is to be solved.
pub struct Body {
    pub mesh: TetMesh,
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

impl Body {
    pub fn new(args: &ElasticityArgs) -> Result<Body> {
        let material = Elastic::new(args.young, args.poisson)?;
        let (mesh, name) = mesh(args)?;
        let mut is_clamped = vec![false; mesh.points().len()];
        for place in &args.clamps {
            is_clamped.iter_mut().zip(place.nodes(&mesh)?).for_each(|(clamped, is_in)| *clamped |= is_in);
        }
        let free = FreeNodes::new(is_clamped.len(), |i| is_clamped[i]);
        if free.is_empty() {
            return Err(Error::Mesh("every node is clamped: nothing can move".into()));
        }
        let space = P1::new(mesh.points(), mesh.cells())?;
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
            add(&face_shares(mesh.points(), &place.faces(&mesh)?)?, *force);
        }
        let force = std::array::from_fn(|x| forces.iter().map(|f| f[x]).sum());
        let b = free.restrict(&forces).into_flattened();
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
        NearNull::rigid_motions(&[0, 1, 2].map(|x| points.iter().map(|p| p[x]).collect()))
    }

    /// Displacement and stress at every node.
    pub fn state(&self, x: &[f64]) -> Result<State> {
        let displacement = self.free.extend(x.as_chunks::<3>().0, [0.0; 3]);
        let space = P1::new(self.mesh.points(), self.mesh.cells())?;
        let von_mises = space.at_nodes(&space.von_mises(&displacement, |_| self.material)?)?;
        let length = displacement.iter().map(|u| u.iter().map(|x| x * x).sum::<f64>().sqrt()).collect();
        Ok(State { displacement, length, von_mises })
    }
}

fn mesh(args: &ElasticityArgs) -> Result<(TetMesh, String)> {
    if let Some(path) = &args.file {
        let options = ReadOptions {
            scale: args.scale.unwrap_or(1.0),
            reorient: args.reorient,
            drop_unreferenced: args.drop_unreferenced,
            largest_component: args.largest_component,
            fibres: None,
        };
        let (mesh, summary) = read_with_summary(path, &options)?;
        return Ok((mesh, format!("{} ({})", path.display(), summary.format)));
    }
    let (lengths, spacing) = (args.slab.unwrap_or([1.0; 3]), args.spacing.unwrap_or(1.0));
    let [x, y, z] = lengths;
    Ok((TetMesh::slab(lengths, spacing)?, format!("box of {x} x {y} x {z} mm, spacing {spacing} mm")))
}
