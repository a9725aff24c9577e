//! Meshes of triangles in a plane.

use super::*;
use crate::io::vtk::write_vtu;

fn new(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<TriMesh, String> {
    TriMesh::new(points.to_vec(), triangles.to_vec(), None, None).map_err(|error| error.to_string())
}

#[test]
fn sheets_have_the_sizes_they_say() {
    let sheet = TriMesh::sheet([2.0, 1.0], None, 0.3).unwrap();
    assert_eq!((sheet.points().len(), sheet.cells().len(), sheet.regions()), (8 * 5, 2 * 7 * 4, None));
    let area: f64 = (0..sheet.cells().len()).map(|t| sheet.volume(t)).sum();
    assert!((area - 2.0).abs() < 1e-12, "{area}");
    assert!((0..sheet.cells().len()).all(|t| sheet.volume(t) > 0.0));
    assert_eq!((sheet.bounding_box(), sheet.surface().len()), ([[0.0; 3], [2.0, 1.0, 0.0]], 56));
    assert!(sheet.components().iter().all(|&component| component == 0));
    let (t, weights) = sheet.locate([1.1, 0.4, 0.0]).unwrap();
    for axis in 0..2 {
        let term = |k: usize| weights[k] * sheet.points()[sheet.cells()[t][k] as usize][axis];
        assert!(((0..3).map(term).sum::<f64>() - [1.1, 0.4][axis]).abs() < 1e-12);
    }
    assert_eq!(sheet.locate([2.1, 0.4, 0.0]), None);

    let layered = TriMesh::sheet([2.0, 1.0], Some(0.5), 0.25).unwrap();
    let area = |tag: i32| -> f64 {
        let of = layered.regions().unwrap().iter().enumerate().filter(|(_, region)| **region == tag);
        of.map(|(t, _)| layered.volume(t)).sum()
    };
    assert!((area(TriMesh::SLAB) - 2.0).abs() < 1e-12 && (area(TriMesh::LAYER) - 1.0).abs() < 1e-12);
    for (lengths, layer, spacing) in
        [([0.0, 1.0], None, 0.5), ([1.0; 2], Some(-1.0), 0.5), ([1.0; 2], None, 0.0), ([9.0; 2], None, 1e-6)]
    {
        assert!(TriMesh::sheet(lengths, layer, spacing).is_err(), "{lengths:?} {layer:?} {spacing}");
    }
}

#[test]
fn triangles_that_are_no_plane_mesh_are_refused() {
    let square = [[0.0, 0.0, 2.0], [1.0, 0.0, 2.0], [1.0, 1.0, 2.0], [0.0, 1.0, 2.0]];
    let mesh = new(&square, &[[0, 1, 2], [0, 2, 3]]).unwrap();
    // Of the other orientation all are turned.
    assert_eq!(new(&square, &[[0, 2, 1], [0, 3, 2]]).unwrap(), mesh);
    let message = new(&square, &[[0, 1, 2], [0, 3, 2]]).unwrap_err();
    assert!(message.contains("element 2 is inside out (its area is negative)"), "{message}");
    let mut tilted = square;
    tilted[3][2] = 3.0;
    let message = new(&tilted, &[[0, 1, 2], [0, 2, 3]]).unwrap_err();
    assert!(
        message.contains("element 2 is a triangle that does not lie in a plane of constant z"),
        "{message}"
    );
    let mut flat = square;
    flat[2] = [2.0, 0.0, 2.0];
    let message = new(&flat, &[[0, 1, 2], [0, 2, 3]]).unwrap_err();
    assert!(message.starts_with("element 1 is degenerate: area 0,"), "{message}");
    let message = new(&square, &[[0, 1, 2]]).unwrap_err();
    assert!(message.contains("node 4 belongs to no triangle, as do 1 of 4"), "{message}");
}

#[test]
fn files_of_triangles_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let any = |name: &str| read_any(&path(name), &ReadOptions::default());
    let refused = |name: &str| any(name).unwrap_err().to_string();
    let sheet = TriMesh::sheet([2.0, 1.0], Some(0.5), 0.25).unwrap();
    write_vtu(&path("sheet.vtu"), &sheet, &[]).unwrap();
    let (mesh, summary) = any("sheet.vtu").unwrap();
    assert_eq!((mesh, summary.skipped), (AnyMesh::Flat(sheet), 0));
    // Whoever wants tetrahedra says so.
    let message = read(&path("sheet.vtu"), &ReadOptions::default()).unwrap_err().to_string();
    assert!(message.contains("there are no tetrahedra (but 96 points, lines or surfaces)"), "{message}");
    let solid = TetMesh::slab([1.0; 3], 0.5).unwrap();
    write_vtu(&path("slab.vtu"), &solid, &[]).unwrap();
    assert_eq!(any("slab.vtu").unwrap().0, AnyMesh::Solid(solid));

    let gmsh = |name: &str, elements: &str| {
        let nodes = "1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1";
        let n = elements.lines().count();
        let text = format!(
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n{nodes}\n$EndNodes\n\
             $Elements\n{n}\n{elements}\n$EndElements\n"
        );
        std::fs::write(path(name), text).unwrap();
    };
    let lines = "1 1 2 9 1 1 2\n";
    gmsh("flat.msh", &format!("{lines}2 2 2 7 1 1 2 3\n3 2 2 8 1 1 3 4"));
    let options = ReadOptions { drop_unreferenced: true, ..ReadOptions::default() };
    let (AnyMesh::Flat(mesh), summary) = read_any(&path("flat.msh"), &options).unwrap() else { panic!() };
    assert_eq!((mesh.cells(), mesh.regions()), (&[[0, 1, 2], [0, 2, 3]][..], Some(&[7, 8][..])));
    assert_eq!((summary.skipped, summary.dropped, summary.format), (1, 1, "Gmsh"));
    assert_eq!(mesh.tagged_faces(), [(Face::Edge([0, 1]), 9)]);
    gmsh("quadrangle.msh", "1 2 2 7 1 1 2 3\n2 3 2 7 1 1 2 3 4");
    assert!(refused("quadrangle.msh").contains("element 2 is no linear triangle; a mesh without tetrahedra"));
    gmsh("quads.msh", "1 3 2 7 1 1 2 3 4");
    assert!(refused("quads.msh").contains("split the cells (in ParaView: Triangulate)"));
    gmsh("missing.msh", "1 2 2 7 1 1 2 3\n2 2 2 7 1 1 2 6");
    assert!(refused("missing.msh").contains("element 2 has node 6, which is not among the nodes"));
    // A surface of the tetrahedron is left out; a triangle beside it makes two meshes.
    gmsh("surface.msh", "1 4 2 7 1 1 2 3 5\n2 2 2 7 1 1 2 3");
    assert!(matches!(read_any(&path("surface.msh"), &options), Ok((AnyMesh::Solid(_), _))));
    gmsh("mixed.msh", "1 4 2 7 1 1 2 3 5\n2 2 2 7 1 1 3 4");
    let message = refused("mixed.msh");
    assert!(
        message.contains("element 2 is a triangle with nodes that belong to no tetrahedron"),
        "{message}"
    );

    let vtk = |name: &str, cells: &str, types: &str| {
        let (n, m) = (types.split(' ').count(), cells.split_whitespace().count());
        let text = format!(
            "# vtk DataFile Version 2.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 float\n\
             0 0 0 1 0 0 1 1 0 0 1 0 0 0 1\nCELLS {n} {m}\n{cells}\nCELL_TYPES {n}\n{types}\n"
        );
        std::fs::write(path(name), text).unwrap();
    };
    vtk("flat.vtk", "3 0 1 2 3 0 2 3 2 0 1", "5 5 3");
    assert!(matches!(read_any(&path("flat.vtk"), &options), Ok((AnyMesh::Flat(_), _))));
    vtk("quadrangle.vtk", "3 0 1 2 4 0 1 2 3", "5 9");
    assert!(refused("quadrangle.vtk").contains("element 2 is no triangle; a mesh without tetrahedra"));
    vtk("quads.vtk", "4 0 1 2 3", "9");
    assert!(refused("quads.vtk").contains("element 1 is no triangle; a mesh without tetrahedra"));
    vtk("mixed.vtk", "4 0 1 2 4 3 0 2 3", "10 5");
    assert!(refused("mixed.vtk").contains("mixed.vtk: element 2 is a triangle with nodes"));
    vtk("bad.vtk", "3 0 1 2 3 0 2 9", "5 5");
    assert!(refused("bad.vtk").contains("element 2 has node 9"), "{}", refused("bad.vtk"));
}

#[test]
fn damaged_files_of_triangles_do_no_harm() {
    use crate::io::{gmsh, scan::testing::damage, vtk};
    let path = Path::new("sheet");
    let msh = b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 1 1 0\n$EndNodes\n\
                $Elements\n2\n1 1 2 9 1 1 2\n2 2 2 7 1 1 2 3\n$EndElements\n";
    let whole = damage(msh, |bytes| gmsh::parse(path, bytes)?.into_flat());
    assert!(whole.contains(&(msh.len() - 1)));
    let vtk_file = b"# vtk DataFile Version 2.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 3 float\n\
                     0 0 0 1 0 0 1 1 0\nCELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n5\nCELL_DATA 1\n\
                     SCALARS region int 1\nLOOKUP_TABLE default\n4\n";
    let whole = damage(vtk_file, |bytes| vtk::parse_legacy(path, bytes)?.into_flat());
    assert!(whole.contains(&(vtk_file.len() - 1)));
}
