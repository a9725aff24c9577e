use std::fs;

use super::*;
use crate::io::scan::testing::{POINTS, REGIONS, TETS, damage};

/// Both files, numbered from `first`.
fn files(first: usize) -> (String, String) {
    let mut nodes = "# by hand\n\n5 3 1 0 # attributes\n".to_string();
    for (i, [x, y, z]) in POINTS.iter().enumerate() {
        nodes += &format!("  {} {x:e} {y} {z}  7 # node\r\n", i + first);
    }
    let mut elements = "2\t4 2\n".to_string();
    for (i, (tet, region)) in TETS.iter().zip(REGIONS).enumerate() {
        let [a, b, c, d] = tet.map(|node| node as usize + first);
        elements += &format!("{} {a} {b} {c} {d} 0.5 {region}.0\n", i + first);
    }
    (nodes, elements + "# the end\n")
}

fn read_text(nodes: &str, elements: &str) -> Result<RawMesh> {
    parse((Path::new("h.node"), nodes.as_bytes()), (Path::new("h.ele"), elements.as_bytes()))
}

#[test]
fn numbers_count_from_0_or_1() {
    for first in [0, 1] {
        let (nodes, elements) = files(first);
        let mesh = read_text(&nodes, &elements).unwrap();
        assert_eq!((mesh.points.as_slice(), mesh.cells.as_slice()), (&POINTS[..], &TETS[..]));
        assert_eq!(mesh.regions.as_deref(), Some(&REGIONS[..]));
    }
}

#[test]
fn either_file_finds_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let (nodes, elements) = files(1);
    let (node, ele) = (folder.path().join("h.01.node.gz"), folder.path().join("h.01.ele"));
    let mut gz = flate2::write::GzEncoder::new(fs::File::create(&node).unwrap(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, nodes.as_bytes()).unwrap();
    gz.finish().unwrap();
    fs::write(&ele, elements).unwrap();
    for path in [&node, &ele] {
        assert_eq!(read(path).unwrap().cells, TETS);
    }
    fs::remove_file(&node).unwrap();
    let error = read(&ele).unwrap_err().to_string();
    assert!(error.starts_with("cannot read") && error.contains("h.01.node"), "{error}");
}

#[test]
fn damaged_files_are_no_meshes() {
    let (nodes, elements) = files(1);
    // What is left of the last number's line is complete where only blanks and comments are missing, and a
    // shorter last number is one too.
    let whole = damage(nodes.as_bytes(), |cut| {
        parse((Path::new("h.node"), cut), (Path::new("h.ele"), elements.as_bytes()))
    });
    assert!(whole.iter().all(|&length| length >= nodes.trim_end().len() - " 1  7 # node".len()), "{whole:?}");
    let whole = damage(elements.as_bytes(), |cut| {
        parse((Path::new("h.node"), nodes.as_bytes()), (Path::new("h.ele"), cut))
    });
    assert!(whole.iter().all(|&length| length >= elements.len() - "-12.0\n# the end\n".len()), "{whole:?}");
}

#[test]
fn errors_say_where_and_what_to_do() {
    let (nodes, elements) = files(1);
    let node_error = |from: &str, to: &str| {
        assert!(nodes.contains(from));
        read_text(&nodes.replacen(from, to, 1), &elements).unwrap_err().to_string()
    };
    assert!(node_error("5 3", "5 2").starts_with("h.node:3: nodes must have 3 coordinates"));
    assert!(node_error("5 3", "6 3").contains("ends after 5 of 6 rows; is it complete?"));
    assert!(node_error("5 3", "4 3").starts_with("h.node:8: there are more than the 4 rows"));
    assert!(node_error("  3 0e0", "  4 0e0").starts_with("h.node:6: node 3 is expected, not '4'"));
    assert!(node_error("1e0 0 0", "one 0 0").starts_with("h.node:5: node 2 needs three coordinates"));
    let element_error = |from: &str, to: &str| {
        assert!(elements.contains(from));
        read_text(&nodes, &elements.replacen(from, to, 1)).unwrap_err().to_string()
    };
    assert_eq!(
        element_error("2 2 3 4 5 ", "2 2 3 4 6 "),
        "h.ele:3: element 2 has node 6, but there are 5, counted from 1"
    );
    assert!(element_error("2\t4 2", "2 10 2").contains("elements have 10 nodes; only linear tetrahedra"));
    assert!(element_error("7.0", "7.5").starts_with("h.ele:2: the last attribute is no region"));
    assert!(element_error("0.5 7.0", "7.0").contains("are expected, but there are 6 words"));
}
