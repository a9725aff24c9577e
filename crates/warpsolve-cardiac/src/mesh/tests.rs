use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::fibres::parse_fibres;
mod flat;
mod hexahedra;

use super::*;
use crate::io::scan::testing::{FIBRES, POINTS, REGIONS, TETS};
use warpsolve_host::problem::random::uniform;

fn two() -> TetMesh {
    TetMesh::new(POINTS.to_vec(), TETS.to_vec(), Some(REGIONS.to_vec()), Some(FIBRES.to_vec())).unwrap()
}

fn error(points: &[[f64; 3]], tets: &[[u32; 4]]) -> String {
    TetMesh::new(points.to_vec(), tets.to_vec(), None, None).unwrap_err().to_string()
}

fn raw(points: &[[f64; 3]], tets: &[[u32; 4]]) -> RawMesh {
    RawMesh { points: points.to_vec(), cells: tets.to_vec(), ..RawMesh::default() }
}

/// The volume inside the faces that belong to one tetrahedron only, each face with its normal outwards.
fn volume_by_surface(mesh: &TetMesh) -> f64 {
    let mut faces: HashMap<[u32; 3], Option<[u32; 3]>> = HashMap::new();
    for &[a, b, c, d] in mesh.cells() {
        for face in [[b, c, d], [a, d, c], [a, b, d], [a, c, b]] {
            let mut key = face;
            key.sort_unstable();
            faces.entry(key).and_modify(|outer| *outer = None).or_insert(Some(face));
        }
    }
    let volume = |face: [u32; 3]| {
        let [a, b, c] = face.map(|node| mesh.points()[node as usize]);
        let cross = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
        (a[0] * cross[0] + a[1] * cross[1] + a[2] * cross[2]) / 6.0
    };
    faces.into_values().flatten().map(volume).sum()
}

fn total_volume(mesh: &TetMesh) -> f64 {
    (0..mesh.cells().len()).map(|t| mesh.volume(t)).sum()
}

#[test]
fn a_mesh_keeps_what_it_was_given() {
    let mesh = two();
    assert_eq!((mesh.points(), mesh.cells()), (&POINTS[..], &TETS[..]));
    assert_eq!((mesh.regions(), mesh.fibres()), (Some(&REGIONS[..]), Some(&FIBRES[..])));
    assert!((mesh.volume(0) - 1.0 / 6.0).abs() < 1e-15 && (mesh.volume(1) - 1.0 / 3.0).abs() < 1e-15);
    assert!((volume_by_surface(&mesh) - 0.5).abs() < 1e-15);
    assert_eq!(mesh.bounding_box(), [[0.0; 3], [1.0; 3]]);
    let mesh = mesh.scaled(10.0);
    assert_eq!(mesh.bounding_box(), [[0.0; 3], [10.0; 3]]);
    assert!((total_volume(&mesh) - 500.0).abs() < 1e-9);
}

#[test]
fn a_convention_is_turned_and_a_fault_refused() {
    let turned = TETS.map(|[a, b, c, d]| [b, a, c, d]);
    let (mesh, mended) = raw(&POINTS, &turned).check(false, false).unwrap();
    assert_eq!((mended.reoriented, mesh.cells()), (2, &[[1, 0, 3, 2], [2, 1, 4, 3]][..]));
    assert!((total_volume(&mesh) - 0.5).abs() < 1e-15 && mesh.volume(0) > 0.0);

    let mixed = [TETS[0], turned[1]];
    let message = error(&POINTS, &mixed);
    assert!(message.starts_with("element 2 is inside out") && message.contains("are 1 of 2"), "{message}");
    assert!(message.ends_with("see whether elements overlap"), "{message}");
    let (mesh, mended) = raw(&POINTS, &mixed).check(true, false).unwrap();
    assert_eq!((mended.reoriented, mesh.cells()[0]), (1, TETS[0]));
    assert!(mesh.volume(1) > 0.0);
}

#[test]
fn unreferenced_nodes_are_refused_or_dropped() {
    let points = [&[[5.0; 3]], &POINTS[..3], &[[6.0; 3]], &POINTS[3..]].concat();
    let tets = [[1, 2, 3, 5], [2, 3, 5, 6]];
    let message = error(&points, &tets);
    assert!(message.starts_with("node 1 belongs to no tetrahedron, as do 2 of 7"), "{message}");
    let (mesh, mended) = raw(&points, &tets).check(false, true).unwrap();
    assert_eq!((mesh.points(), mesh.cells(), mended.dropped), (&POINTS[..], &TETS[..], 2));
}

#[test]
fn faults_are_named() {
    assert!(error(&POINTS, &[]).starts_with("there are no tetrahedra"));
    assert!(
        error(&POINTS, &[TETS[0], [1, 2, 3, 5]])
            .starts_with("element 2 has node 6 (counted from 1), but there are 5")
    );
    assert!(
        error(&POINTS, &[TETS[0], [1, 2, 3, 3]])
            .starts_with("element 2 is degenerate: volume 0, longest edge 1.4142")
    );
    let mut points = POINTS;
    points[4] = [0.5, 0.5, 1e-13];
    assert!(error(&points, &[TETS[0], [0, 1, 2, 4]]).starts_with("element 2 is degenerate"));
    points[4] = [0.5, 0.5, 1e-10];
    assert!(TetMesh::new(points.to_vec(), vec![TETS[0], [0, 1, 2, 4]], None, None).is_ok());
    points[4] = [1e200; 3];
    assert!(error(&points, &TETS).starts_with("element 2 is degenerate"));
    points[4][1] = f64::NAN;
    assert!(error(&points, &TETS).starts_with("node 5 is at ("));
    let with = |regions: Option<Vec<i32>>, fibres: Option<Vec<[f64; 3]>>| {
        TetMesh::new(POINTS.to_vec(), TETS.to_vec(), regions, fibres).map_err(|e| e.to_string())
    };
    assert!(
        with(Some(vec![1]), None).unwrap_err().starts_with("there are 1 region numbers, but 2 tetrahedra")
    );
    assert!(with(None, Some(vec![[1.0; 3]])).unwrap_err().starts_with("there are 1 fibres, but 2"));
    for wrong in [[0.0; 3], [f64::NAN, 1.0, 0.0], [f64::INFINITY, 0.0, 0.0]] {
        assert!(
            with(None, Some(vec![[1.0; 3], wrong])).unwrap_err().starts_with("the fibre of element 2 is")
        );
    }
    // Lengths whose squares are not numbers of 64 bits.
    let mesh = with(None, Some(vec![[3e-200, 0.0, 4e-200], [0.0, -3e200, 4e200]])).unwrap();
    for (fibre, expected) in mesh.fibres().unwrap().iter().zip([[0.6, 0.0, 0.8], [0.0, -0.6, 0.8]]) {
        assert!((0..3).all(|axis| (fibre[axis] - expected[axis]).abs() < 1e-15), "{fibre:?}");
    }
}

#[test]
fn components_are_counted_by_their_first_nodes() {
    // Nodes 0 2 4 6 8 are one part, 1 3 5 7 another.
    let mut points = vec![[0.0; 3]; 9];
    for (i, point) in POINTS.iter().enumerate() {
        points[2 * i] = *point;
        if i < 4 {
            points[2 * i + 1] = point.map(|x| x + 9.0);
        }
    }
    let mesh = TetMesh::new(points, vec![[2, 4, 6, 8], [1, 3, 5, 7], [0, 2, 4, 6]], None, None).unwrap();
    assert_eq!(mesh.components(), [0, 1, 0, 1, 0, 1, 0, 1, 0]);
    assert_eq!(two().components(), [0; 5]);
    let mut largest = mesh.clone();
    assert_eq!(largest.keep_largest_component(), 4);
    assert_eq!(largest.components(), [0; 5]);
    assert!((0..5).all(|node| largest.points()[node] == mesh.points()[2 * node]));
}

#[test]
fn a_slab_is_filled_with_positive_tetrahedra() {
    let mesh = TetMesh::slab([2.0, 0.7, 0.3], 0.1).unwrap();
    assert_eq!((mesh.points().len(), mesh.cells().len()), (21 * 8 * 4, 6 * 20 * 7 * 3));
    let cube = 0.1f64.powi(3);
    assert!((0..mesh.cells().len()).all(|t| (mesh.volume(t) * 6.0 / cube - 1.0).abs() < 1e-12));
    assert!((volume_by_surface(&mesh) - 0.42).abs() < 1e-14);
    // z runs fastest, and the far ends are exact.
    let node = |i: usize, j: usize, k: usize| mesh.points()[(i * 8 + j) * 4 + k];
    assert!((0..3).all(|axis| (node(7, 3, 2)[axis] - [0.7, 0.3, 0.2][axis]).abs() < 1e-15));
    assert_eq!(node(20, 7, 3), [2.0, 0.7, 0.3]);
    assert_eq!(mesh.fibres().unwrap(), vec![[1.0, 0.0, 0.0]; mesh.cells().len()]);
    // It is what the checks let through, unchanged.
    let again =
        TetMesh::new(mesh.points().to_vec(), mesh.cells().to_vec(), None, mesh.fibres().map(Vec::from));
    assert_eq!(again.unwrap(), mesh);
    // Parts are never longer than asked for.
    assert_eq!(TetMesh::slab([1.0, 0.2, 0.31], 0.3).unwrap().points().len(), 5 * 2 * 3);
    for (lengths, spacing) in
        [([0.0, 1.0, 1.0], 0.1), ([1.0; 3], f64::NAN), ([1.0; 3], -1.0), ([1e3; 3], 0.1)]
    {
        assert!(TetMesh::slab(lengths, spacing).is_err());
    }
}

#[test]
fn fibre_files_with_and_without_a_first_line_are_read() {
    let parse = |text: &str| parse_fibres(Path::new("h.lon"), text.as_bytes(), 2).map_err(|e| e.to_string());
    let expected = vec![[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]];
    assert_eq!(parse("0 0.6 0.8\n1 0 0\n").unwrap(), expected);
    assert_eq!(parse("2\n0 0.6 0.8\n1 0 0").unwrap(), expected);
    assert_eq!(parse("# f s\n1 # one\n0 .6 .8 1 0 0\n\n1 0 0 0 1 0\n").unwrap(), expected);
    assert_eq!(parse("0 .6 .8 1 0 0 0 0 1\r\n1 0 0 0 1 0 0 0 1\r\n").unwrap(), expected);
    assert_eq!(parse("1 0 0\n").unwrap_err(), "h.lon: there are 1 fibres, but the mesh has 2 tetrahedra");
    assert!(parse("3\n1 0 0\n1 0 0\n").unwrap_err().starts_with("h.lon:1: '3' announces neither"));
    assert!(parse("1 0 0\n1 0 x\n").unwrap_err().starts_with("h.lon:2: expected 3, 6 or 9 numbers"));
    assert!(parse("1 0 0\n1 0\n").unwrap_err().starts_with("h.lon:2: expected"));
    for cut in 0.."2\n0 0.6 0.8\n1 0 0\n".len() - 1 {
        assert!(parse(&"2\n0 0.6 0.8\n1 0 0\n"[..cut]).is_err());
    }
}

#[test]
fn files_are_known_and_mended_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| fs::write(path(name), text).unwrap();
    let options = ReadOptions::default();
    write("h.node", "5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 9 9 9\n");
    write("h.ele", "1 4 0\n1 1 2 3 4\n");
    let message = read(&path("h.ele"), &options).unwrap_err().to_string();
    assert!(message.contains("h.ele: node 5 belongs to no tetrahedron"), "{message}");

    write("h.lon", "1\n0 2 0\n");
    let mend = ReadOptions { scale: 10.0, drop_unreferenced: true, ..options.clone() };
    let (mesh, summary) = read_with_summary(&path("h.node"), &mend).unwrap();
    assert_eq!((mesh.points().len(), mesh.points()[1]), (4, [10.0, 0.0, 0.0]));
    assert_eq!(mesh.fibres().unwrap(), [[0.0, 1.0, 0.0]]);
    let expected = ReadSummary {
        format: "TetGen",
        skipped: 0,
        reoriented: 0,
        dropped: 1,
        apart: 0,
        fibres: Some(path("h.lon")),
    };
    assert_eq!(summary, expected);
    write("other.txt", "0 0 -3\n");
    let given = ReadOptions { fibres: Some(path("other.txt")), ..mend.clone() };
    assert_eq!(read(&path("h.ele"), &given).unwrap().fibres().unwrap(), [[0.0, 0.0, -1.0]]);
    let scaled = ReadOptions { scale: -1.0, ..options.clone() };
    assert!(read(&path("h.ele"), &scaled).unwrap_err().to_string().contains("cannot be scaled by -1"));

    // VTK by its content; a triangle counts as an element and is left out.
    write(
        "h.txt",
        "# vtk DataFile Version 2.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n\
         0 0 0 1 0 0 0 1 0 0 0 0\n\
         CELLS 2 9\n3 0 1 2 4 0 1 2 3\nCELL_TYPES 2\n5 10\n",
    );
    let message = read(&path("h.txt"), &options).unwrap_err().to_string();
    assert!(message.contains("h.txt: element 2 is degenerate"), "{message}");
    write("h.bin", "\u{0}\u{1}garbage");
    assert!(read(&path("h.bin"), &options).unwrap_err().to_string().contains("not a known mesh format"));
    assert!(read(&path("nowhere.vtu"), &options).unwrap_err().to_string().starts_with("cannot read"));
}

/// A mesh that is not part of the repository.
fn real(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/meshes").join(name);
    if path.is_file() {
        return Some(path);
    }
    println!("skipped: there is no {}", path.display());
    None
}

#[test]
fn elements_that_are_there_twice_are_refused() {
    let [a, b, c, d] = TETS[1];
    let twice = [TETS[0], TETS[1], [b, c, a, d]];
    assert_eq!(error(&POINTS, &twice), "elements 2 and 3 have the same nodes; leave one of them out");
}

#[test]
fn points_are_found_in_their_tetrahedra() {
    let mesh = TetMesh::slab([2.0, 1.0, 0.5], 0.25).unwrap();
    for k in 0..200u64 {
        let point: [f64; 3] = std::array::from_fn(|axis| [2.0, 1.0, 0.5][axis] * uniform(axis as u64, k));
        let (t, weights) = mesh.locate(point).unwrap();
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for axis in 0..3 {
            let term = |k: usize| weights[k] * mesh.points()[mesh.cells()[t][k] as usize][axis];
            assert!(((0..4).map(term).sum::<f64>() - point[axis]).abs() < 1e-12);
        }
    }
    let (t, weights) = mesh.locate([2.0, 1.0, 0.5]).unwrap();
    let corner = weights.iter().position(|&weight| (weight - 1.0).abs() < 1e-9).unwrap();
    assert_eq!(mesh.points()[mesh.cells()[t][corner] as usize], [2.0, 1.0, 0.5]);
    assert_eq!(mesh.locate([2.001, 0.5, 0.2]), None);
}

#[test]
fn real_meshes_are_read_whole() {
    let known = [
        ("heartT4.ele.gz", 32_505, 128_976, 2),
        ("biventricle31k.vtu", 30_834, 111_126, 1),
        ("biventricle142k.vtu", 141_718, 552_132, 1),
    ];
    for (name, points, tets, components) in known {
        let Some(path) = real(name) else { continue };
        let (mesh, summary) = read_with_summary(&path, &ReadOptions::default()).unwrap();
        assert_eq!((mesh.points().len(), mesh.cells().len()), (points, tets));
        let largest = ReadOptions { largest_component: true, ..ReadOptions::default() };
        let (largest, account) = read_with_summary(&path, &largest).unwrap();
        assert_eq!(largest.points().len() + account.apart, points);
        assert!(largest.components().iter().all(|&component| component == 0));
        assert_eq!(largest == mesh, components == 1, "{name}");
        let (by_tets, by_surface) = (total_volume(&mesh), volume_by_surface(&mesh));
        println!("{name}: {by_tets} mm^3, {:?}, {summary:?}", mesh.bounding_box());
        assert!((by_tets / by_surface - 1.0).abs() < 1e-10, "{name}: {by_tets} {by_surface}");
        assert_eq!(mesh.components().into_iter().max(), Some(components - 1), "{name}");
        if let Some(regions) = mesh.regions() {
            let mut tags = regions.to_vec();
            tags.sort_unstable();
            tags.dedup();
            assert_eq!((name, tags.len()), ("heartT4.ele.gz", 12));
        }
    }
}
