//! Meshes of hexahedra: boxes, files, and what is refused.

use crate::io::gmsh;
use crate::io::scan::testing::damage;
use crate::io::vtk::write_vtu;
use crate::mesh::{AnyMesh, Face, HexMesh, ReadOptions, read, read_any};

#[test]
fn a_box_has_its_volume_and_its_sides() {
    let mesh = HexMesh::slab([2.0, 1.0, 0.5], 0.5).unwrap();
    assert_eq!((mesh.points().len(), mesh.cells().len()), (5 * 3 * 2, 4 * 2));
    assert!((0..8).all(|t| (mesh.volume(t) - 0.125).abs() < 1e-15));
    let sides = mesh.boundary();
    assert_eq!((sides.len(), mesh.surface().len()), (2 * (8 + 4 + 2), 4 * (8 + 4 + 2)));
    assert!(sides.iter().all(|face| matches!(face, Face::Quad(_))));
    // The triangles' normals point outwards: with the origin they enclose the volume.
    let volume: f64 = mesh
        .surface()
        .iter()
        .map(|face| {
            let [a, b, c] = face.map(|node| mesh.points()[node as usize]);
            warpsolve_host::fem::dot(a, warpsolve_host::fem::cross(b, c)) / 6.0
        })
        .sum();
    assert!((volume - 1.0).abs() < 1e-14, "{volume}");
}

#[test]
fn either_orientation_is_taken() {
    let mesh = HexMesh::slab([1.0; 3], 0.5).unwrap();
    let turn = |[a, b, c, d, e, f, g, h]: [u32; 8]| [e, f, g, h, a, b, c, d];
    let turned = mesh.cells().iter().map(|&cell| turn(cell)).collect();
    let read = HexMesh::new(mesh.points().to_vec(), turned, None, None).unwrap();
    assert_eq!(read.cells(), mesh.cells());
}

#[test]
fn files_of_hexahedra_are_read_with_the_numbers_of_their_sides() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let any = |name: &str| read_any(&path(name), &ReadOptions::default());
    let mesh = HexMesh::slab([1.0; 3], 0.5).unwrap();
    write_vtu(&path("box.vtu"), &mesh, &[]).unwrap();
    assert_eq!(any("box.vtu").unwrap().0, AnyMesh::Hexahedra(mesh));
    // Whoever wants tetrahedra says so.
    let message = read(&path("box.vtu"), &ReadOptions::default()).unwrap_err().to_string();
    assert!(message.contains("box.vtu: element 1 is a hexahedron; only linear tetrahedra"), "{message}");

    let nodes = "1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1";
    let file = |elements: &str| {
        let n = elements.lines().count();
        format!(
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n{nodes}\n$EndNodes\n\
             $Elements\n{n}\n{elements}\n$EndElements\n"
        )
    };
    let text = file("1 3 2 9 1 1 4 3 2\n2 5 2 7 1 1 2 3 4 5 6 7 8");
    std::fs::write(path("cube.msh"), &text).unwrap();
    let (AnyMesh::Hexahedra(cube), summary) = any("cube.msh").unwrap() else { panic!("hexahedra") };
    assert_eq!((cube.cells(), cube.regions()), (&[[0, 1, 2, 3, 4, 5, 6, 7]][..], Some(&[7][..])));
    assert_eq!((cube.tagged_faces(), summary.skipped), (&[(Face::Quad([0, 3, 2, 1]), 9)][..], 1));
    let name = std::path::Path::new("cube.msh");
    let whole = damage(text.as_bytes(), |bytes| Ok(gmsh::parse(name, bytes)?.into_hexahedra()));
    assert_eq!(whole, [text.len() - 1]);

    std::fs::write(path("both.msh"), file("1 4 2 1 1 1 2 3 5\n2 5 2 7 1 1 2 3 4 5 6 7 8")).unwrap();
    let message = any("both.msh").unwrap_err().to_string();
    assert!(message.contains("both.msh: element 2 is a hexahedron; only linear tetrahedra"), "{message}");
}
