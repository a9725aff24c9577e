//! Results in pieces against those of one file.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::io::vtk::read_point_data;
use crate::mesh::{ReadOptions, read};
use warpsolve_host::backend::cpu::Cpu;
use warpsolve_host::backend::distributed::Distributed;
use warpsolve_host::comm::Comm;
use warpsolve_host::error::{Error, Result};
use warpsolve_host::job::ranks::together;

/// A rank of a simulation that writes pieces.
fn rank(comm: &Arc<dyn Comm>, mesh: &TetMesh, params: &Params) -> Result<Simulation<Distributed<Cpu>>> {
    let backend = Distributed::connected::<f64>(Cpu::new(1)?, comm.clone())?;
    Simulation::on(&backend, Domain::part(mesh, params, comm)?.with_pieces()?)
}

/// What `work` gives on the first of so many ranks; with 0 on a rank that is alone.
fn with_pieces(
    size: usize,
    mesh: &TetMesh,
    params: &Params,
    check: impl Fn(&[Vec<f64>], &dyn Fn(&Path, &Path) -> Result<()>) -> Result<()>,
) -> Result<()> {
    fn work<B: Cells + Assembles + CgSteps<f64> + Clone + 'static>(
        mut simulation: Simulation<B>,
        check: impl Fn(&[Vec<f64>], &dyn Fn(&Path, &Path) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        for _ in 0..30 {
            simulation.step()?;
        }
        let fields = [Some(simulation.v()?), simulation.phi_e()?, Some(simulation.activation()?)];
        let fields: Vec<Vec<f64>> = fields.into_iter().map(Option::unwrap_or_default).collect();
        let write = |frame: &Path, activation: &Path| {
            simulation.write_frame(frame)?;
            simulation.write_activation(activation)
        };
        check(&fields, &write)
    }
    if size == 0 {
        let domain = Domain::new(mesh, params, None)?.with_pieces()?;
        return work(Simulation::on(&Cpu::new(1)?, domain)?, check);
    }
    together(size, |comm| work(rank(comm, mesh, params)?, &check), |comm| rank(comm, mesh, params)?.serve())
}

/// The files that a PVTU file lists.
fn pieces(pvtu: &Path) -> Vec<std::path::PathBuf> {
    let text = fs::read_to_string(pvtu).unwrap();
    let names = text.split("<Piece Source=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    names.map(|name| pvtu.with_file_name(name.replace("&amp;", "&"))).collect()
}

/// Every node and every element of the mesh is in the pieces, with these bits.
fn assert_same(pvtu: &Path, mesh: &TetMesh, name: &str, expected: &[f64]) {
    let (mut seen, mut cells) = (vec![false; mesh.points().len()], Vec::new());
    for file in pieces(pvtu) {
        let (part, values) =
            (read(&file, &ReadOptions::default()).unwrap(), read_point_data(&file, name).unwrap());
        let nodes: Vec<usize> =
            read_point_data(&file, "node").unwrap().into_iter().map(|node| node as usize).collect();
        for (k, &node) in nodes.iter().enumerate() {
            assert_eq!(part.points()[k], mesh.points()[node]);
            assert_eq!(values[k].to_bits(), expected[node].to_bits(), "{name} at node {node} in {file:?}");
            seen[node] = true;
        }
        let of = |t: usize| (part.regions().map(|of| of[t]), part.fibres().map(|of| of[t].map(f64::to_bits)));
        cells.extend(
            (0..part.cells().len()).map(|t| (part.cells()[t].map(|k| nodes[k as usize] as u32), of(t))),
        );
    }
    assert!(seen.into_iter().all(|is_seen| is_seen));
    let of = |t: usize| (mesh.regions().map(|of| of[t]), mesh.fibres().map(|of| of[t].map(f64::to_bits)));
    let mut all: Vec<_> = (0..mesh.cells().len()).map(|t| (mesh.cells()[t], of(t))).collect();
    cells.sort_unstable();
    all.sort_unstable();
    assert!(cells == all, "an element is in one piece");
}

fn with_bath(formulation: Formulation, reorder: bool) -> (TetMesh, Params) {
    let mesh = TetMesh::slab_with_layer([1.5, 1.0, 0.5], 0.5, 0.25).unwrap();
    let bath = Region { tag: TetMesh::LAYER, conductivities: Conductivities::bath(1.0) };
    (mesh, Params { regions: vec![bath], reorder, ..accurate(formulation) })
}

#[test]
fn pieces_have_the_bits_of_one_file() {
    let plain = (slab([1.5, 1.0, 0.5], 0.25, FIBRE), accurate(Formulation::Monodomain));
    let cases = [plain, with_bath(Formulation::Coupled, true), with_bath(Formulation::Splitting, false)];
    for (mesh, params) in cases {
        for size in [0, 1, 2, 3, 5] {
            let folder = tempfile::tempdir().unwrap();
            let (frame, activation) =
                (folder.path().join("v & w_000000.pvtu"), folder.path().join("activation.pvtu"));
            with_pieces(size, &mesh, &params, |fields, write| {
                write(&frame, &activation)?;
                assert_eq!(pieces(&frame).len(), size.max(1));
                assert_same(&frame, &mesh, "v_m", &fields[0]);
                if params.formulation != Formulation::Monodomain {
                    assert_same(&frame, &mesh, "phi_e", &fields[1]);
                }
                assert_same(&activation, &mesh, "activation", &fields[2]);
                Ok(())
            })
            .unwrap();
        }
    }
}

#[test]
fn ranks_without_elements_write_no_file() {
    let mesh = TetMesh::slab([1.0; 3], 1.0).unwrap();
    let params = accurate(Formulation::Monodomain);
    let folder = tempfile::tempdir().unwrap();
    let [frame, activation] = ["v.pvtu", "activation.pvtu"].map(|name| folder.path().join(name));
    with_pieces(13, &mesh, &params, |fields, write| {
        write(&frame, &activation)?;
        assert!((1..=6).contains(&pieces(&frame).len()), "{:?}", pieces(&frame));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2 + 2 * pieces(&frame).len());
        assert_same(&frame, &mesh, "v_m", &fields[0]);
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_piece_that_cannot_be_written_is_told_by_all() {
    let (mesh, params) = with_bath(Formulation::Coupled, false);
    for failing in [0, 2] {
        let folder = tempfile::tempdir().unwrap();
        let [frame, activation] = ["v.pvtu", "activation.pvtu"].map(|name| folder.path().join(name));
        // A folder is in the way.
        fs::create_dir(folder.path().join(format!("v_{failing}.vtu"))).unwrap();
        with_pieces(3, &mesh, &params, |_, write| {
            let why = write(&frame, &activation).unwrap_err();
            assert!(matches!(&why, Error::Rank { rank, .. } if *rank == failing), "{why}");
            assert!(why.to_string().contains(&format!("v_{failing}.vtu")), "{why}");
            assert!(!frame.exists());
            // They all go on.
            write(&folder.path().join("w.pvtu"), &activation)
        })
        .unwrap();
    }
    let domain = Domain::new(&mesh, &params, None).unwrap();
    let without = Simulation::on(&Cpu::new(1).unwrap(), domain).unwrap();
    assert!(without.write_frame(Path::new("v.pvtu")).unwrap_err().to_string().contains("without pieces"));
}
