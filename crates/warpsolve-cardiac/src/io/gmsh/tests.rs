use super::*;
use crate::io::scan::testing::{POINTS, REGIONS, Sink, TETS, damage};
use crate::mesh::RawMesh;

const ENCODINGS: [Encoding; 3] = [Encoding::Text, Encoding::Little, Encoding::Big];
/// The nodes' numbers in the files: with gaps and out of order.
const TAGS: [u64; 5] = [3, 9, 1, 4, 70];

fn begin(version: &str, encoding: Encoding) -> Sink {
    let mut file = Sink::new(encoding);
    let binary = i32::from(encoding != Encoding::Text);
    file.text(&format!("$Comments\nby hand\n$EndComments\n$MeshFormat\n{version} {binary} 8\n"));
    if binary == 1 {
        file.i32s([1]);
        file.text("\n");
    }
    file.text("$EndMeshFormat\n$PhysicalNames\n1\n3 7 \"wall\"\n$EndPhysicalNames\n");
    file
}

fn version_2(encoding: Encoding) -> Vec<u8> {
    let mut file = begin("2.2", encoding);
    file.text("$Nodes\n5\n");
    for (tag, point) in TAGS.iter().zip(POINTS) {
        file.i32s([*tag as i32]);
        file.f64s(point);
        if encoding == Encoding::Text {
            file.text("\n");
        }
    }
    file.text("\n$EndNodes\n$Elements\n3\n");
    let tets = TETS.map(|tet| tet.map(|node| TAGS[node as usize] as i32));
    if encoding == Encoding::Text {
        file.text("1 2 2 5 1 3 9 1\n");
        for (number, (tet, region)) in tets.into_iter().zip(REGIONS).enumerate() {
            file.i32s([number as i32 + 2, 4, 2, region, 1]);
            file.i32s(tet);
            file.text("\n");
        }
    } else {
        file.i32s([2, 1, 2, 1, 5, 1, 3, 9, 1, 4, 2, 2]);
        for (number, (tet, region)) in tets.into_iter().zip(REGIONS).enumerate() {
            file.i32s([number as i32 + 2, region, 1]);
            file.i32s(tet);
        }
    }
    file.text("\n$EndElements\n");
    file.bytes
}

fn version_4(encoding: Encoding) -> Vec<u8> {
    let mut file = begin("4.1", encoding);
    // One point, no curve, one surface, and a volume for each tetrahedron.
    file.text("$Entities\n");
    file.u64s([1, 0, 1, 2]);
    file.i32s([1]);
    file.f64s([0.0; 3]);
    file.u64s([0]);
    file.i32s([1]);
    file.f64s([0.5; 6]);
    file.u64s([1]);
    file.i32s([5]);
    file.u64s([2]);
    file.i32s([1, -2]);
    for (volume, region) in REGIONS.into_iter().enumerate() {
        file.i32s([volume as i32 + 1]);
        file.f64s([0.0; 6]);
        file.u64s([2]);
        file.i32s([region, 99]);
        file.u64s([0]);
    }
    // The first two nodes belong to a surface and have parameters.
    file.text("\n$EndEntities\n$Nodes\n");
    file.u64s([2, 5, 1, 70]);
    file.i32s([2, 1, 1]);
    file.u64s([2, TAGS[0], TAGS[1]]);
    for point in &POINTS[..2] {
        file.f64s(*point);
        file.f64s([0.1, 0.2]);
    }
    file.i32s([3, 1, 0]);
    file.u64s([3, TAGS[2], TAGS[3], TAGS[4]]);
    file.f64s(POINTS[2..].as_flattened().iter().copied());
    file.text("\n$EndNodes\n$Elements\n");
    file.u64s([3, 3, 1, 3]);
    file.i32s([2, 1, 2]);
    file.u64s([1, 1, 3, 9, 1]);
    for (volume, tet) in TETS.into_iter().enumerate() {
        file.i32s([3, volume as i32 + 1, 4]);
        file.u64s([1, volume as u64 + 2]);
        file.u64s(tet.map(|node| TAGS[node as usize]));
    }
    file.text("\n$EndElements\n");
    file.bytes
}

fn read(bytes: &[u8]) -> Result<RawMesh> {
    parse(Path::new("heart.msh"), bytes)?.into_solid()
}

#[test]
fn every_version_and_encoding_gives_the_same() {
    for encoding in ENCODINGS {
        for file in [version_2(encoding), version_4(encoding)] {
            let mesh = read(&file).unwrap();
            assert_eq!((mesh.points.as_slice(), mesh.cells.as_slice()), (&POINTS[..], &TETS[..]));
            assert_eq!((mesh.regions.as_deref(), mesh.skipped), (Some(&REGIONS[..]), 1));
            assert_eq!(mesh.numbers, [2, 3]);
        }
    }
}

#[test]
fn damaged_files_are_no_meshes() {
    for encoding in ENCODINGS {
        for file in [version_2(encoding), version_4(encoding)] {
            // Only what follows the last section may be missing.
            assert_eq!(damage(&file, read), [file.len() - 1], "{encoding:?}");
        }
    }
}

#[test]
fn errors_say_where_and_what_to_do() {
    let text = String::from_utf8(version_2(Encoding::Text)).unwrap();
    let error = |from: &str, to: &str| {
        assert!(text.contains(from));
        read(text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
    };
    assert!(
        error("2.2 0 8", "4 0 8").contains("heart.msh:5: version '4' cannot be read; save as 4.1 or 2.2")
    );
    assert!(error("2 4 2 7", "2 6 2 7").contains("element 2 is a prism; only linear tetrahedra are read"));
    assert!(error("2 4 2 7", "2 11 2 7").contains("a quadratic tetrahedron"));
    assert!(error("$Elements\n3", "$Elements\n300000000000").contains("element"));
    assert!(error("\n9 1 ", "\n3 1 ").contains("node 3 is there twice"));
    assert!(error("70 ", "71 ").contains("element 3 has node 70, which is not among the nodes"));
    let error =
        read(b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n9999999999\n1 0 0 0\n").unwrap_err().to_string();
    assert!(error.starts_with("heart.msh:6: nodes: 9999999999 are announced, but only"), "{error}");
}
