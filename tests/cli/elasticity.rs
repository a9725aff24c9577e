//! `elasticity`: beams against beam theory, meshes with physical surfaces, and what is refused.

use std::fs;

use serde_json::json;
use warpsolve::cardiac::io::vtk::write_vtu;
use warpsolve::cardiac::mesh::{Face, HexMesh, Mesh, TetMesh, TriMesh};

use super::{Shell, relative_residual, undocumented};

/// 6 x 1 x 1 mm of steel, clamped at one end.
const BEAM: &str = "elasticity --slab 6,1,1 --spacing 0.2 --clamp xmin --device cpu";

#[test]
fn a_bar_is_pulled_by_hookes_law_and_everything_is_written() {
    let shell = Shell::new();
    // nu = 0: nothing is hindered at the clamp, and u_x = F x / (E A) to the last digits.
    let line = format!("{BEAM} --poisson 0 --young 1000 --load xmax=30,0,0 --out r");
    let (stdout, stderr) = shell.run(&line, 0);
    assert!(stderr.is_empty(), "{stderr}");
    for part in ["1,116 nodes, 4,500 tetrahedra", "xmin: 36 nodes", "rigid motions", "at most 0.18 mm"] {
        assert!(stdout.contains(part), "{part:?} is not in\n{stdout}");
    }
    assert!(stdout.contains("at most 30 N/mm^2"), "{stdout}");
    let vtu = fs::read(shell.path("r/elasticity.vtu")).unwrap();
    let head = String::from_utf8_lossy(&vtu[..2000.min(vtu.len())]).into_owned();
    assert!(head.contains("Name=\"displacement\" NumberOfComponents=\"3\""), "{head}");
    assert!(head.contains("Name=\"von_mises\" NumberOfComponents=\"1\""), "{head}");
    assert!(!head.contains("fibre"), "fibres are of the heart: {head}");
    for picture in ["r/displacement.png", "r/von-mises.png"] {
        assert!(fs::read(shell.path(picture)).unwrap().starts_with(b"\x89PNG"));
    }
}

#[test]
fn a_beam_bends_under_its_weight_and_under_a_force() {
    let shell = Shell::new();
    let (e, length) = (210_000.0, 6.0f64);
    let stiffness = e / 12.0;
    let force = length.powi(3) / (3.0 * stiffness);
    let weight = length.powi(4) / (8.0 * stiffness);
    // Linear elements this large are too stiff by some tenths.
    for (load, theory) in
        [("--load zmax=0,0,0", 0.0), ("--load xmax=0,0,-1", force), ("--body-force 0,0,-1", weight)]
    {
        if theory == 0.0 {
            let (_, stderr) = shell.run(&format!("{BEAM} {load}"), 1);
            assert!(stderr.contains("no force acts"), "{stderr}");
            continue;
        }
        let run = shell.json(&format!("{BEAM} {load}"), 0);
        let ratio = run["largest_displacement"].as_f64().unwrap() / theory;
        assert!((0.7..1.05).contains(&ratio), "{load}: {ratio}");
        assert_eq!(run["largest_displacement_at"][0].as_f64().unwrap(), 6.0);
        assert!(run["relative_residual"].as_f64().unwrap() <= 1e-8);
        assert!(run["iterations"].as_u64().unwrap() < 40, "{run}");
    }
}

/// The file of a mesh for Gmsh, with the parts of its boundary at x = 0 and x = 1 in the groups 7 and 9.
fn msh<const C: usize>(mesh: &Mesh<C>) -> String {
    let mut text = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", mesh.points().len());
    for (i, [x, y, z]) in mesh.points().iter().enumerate() {
        text += &format!("{} {x} {y} {z}\n", i + 1);
    }
    let mut elements = Vec::new();
    let mut element = |shape: u32, group: i32, nodes: &[u32]| {
        let nodes: Vec<String> = nodes.iter().map(|node| (node + 1).to_string()).collect();
        elements.push(format!("{} {shape} 2 {group} 1 {}\n", elements.len() + 1, nodes.join(" ")));
    };
    for face in mesh.boundary() {
        let shape = match face {
            Face::Edge(_) => 1,
            Face::Triangle(_) => 2,
            Face::Quad(_) => 3,
        };
        for (group, x) in [(7, 0.0), (9, 1.0)] {
            if face.as_ref().iter().all(|&node| mesh.points()[node as usize][0] == x) {
                element(shape, group, face.as_ref());
            }
        }
    }
    let shape = [2, 4, 5][[3, 4, 8].iter().position(|&corners| corners == C).unwrap()];
    mesh.cells().iter().for_each(|cell| element(shape, 1, cell));
    text + &format!("$EndNodes\n$Elements\n{}\n{}$EndElements\n", elements.len(), elements.concat())
}

#[test]
fn physical_surfaces_of_a_mesh_are_clamped_and_loaded() {
    let shell = Shell::new();
    shell.file("cube.msh", &msh(&TetMesh::slab([1.0; 3], 1.0).unwrap()));
    let line = "elasticity cube.msh --clamp 7 --load 9=0,0,-2 --young 50 --device cpu --solver cg";
    let by_tags = shell.json(line, 0);
    assert_eq!(by_tags["clamped_nodes"], 4);
    assert_eq!(by_tags["force"][2].as_f64().unwrap(), -2.0);
    let by_sides = shell
        .json("elasticity cube.msh --clamp xmin --load xmax=0,0,-2 --young 50 --device cpu --solver cg", 0);
    assert_eq!(by_tags["largest_displacement"], by_sides["largest_displacement"]);
    let (_, stderr) = shell.run("elasticity cube.msh --clamp 8 --load 9=1,0,0 --device cpu", 1);
    assert!(stderr.contains("tag 8") && stderr.contains("[7, 9]"), "{stderr}");
    let (_, stderr) = shell.run("elasticity cube.msh --clamp box:0,0,0,1,1,1 --load 9=1,0,0 --device cpu", 1);
    assert!(stderr.contains("every node is clamped"), "{stderr}");
}

#[test]
fn the_generated_bar_is_solved_with_its_rigid_motions() {
    let shell = Shell::new();
    let with = |options: &str| shell.json(&format!("solve --gen elasticity:7 {options} --device cpu"), 0);
    let iterations = |run: &serde_json::Value| run["iterations"].as_u64().unwrap();
    let (plain, shuffled) = (with(""), with("--shuffle"));
    let (constant, jacobi) =
        (with("--precond amg --coarsening pmis"), with("--precond jacobi --block-size 3"));
    assert!(iterations(&plain) < 30 && iterations(&shuffled) < 30, "{plain} {shuffled}");
    assert!(iterations(&plain) < iterations(&constant), "{constant}");
    assert!(iterations(&plain) < iterations(&jacobi) / 4, "{jacobi}");
    shell.run("gen elasticity 4 a.mtx", 0);
    let a = shell.matrix("a.mtx");
    assert_eq!(a.n_rows(), 12 * 3 * 16);
    shell.run("solve a.mtx --device cpu --out x.mtx", 0);
    assert!(relative_residual(&a, &shell.vector("x.mtx"), &vec![1.0; a.n_rows()]) < 1e-7);
}

#[test]
fn the_report_for_programs_has_what_the_text_has() {
    let shell = Shell::new();
    let line = "elasticity --slab 2,1,1 --spacing 0.3 --clamp xmin --load xmax=0,0,-1 --body-force 0,0,-2";
    let run = shell.json(&format!("{line} --device cpu"), 0);
    assert_eq!(undocumented(&run), [""; 0]);
    assert_eq!(run["clamps"], json!(["xmin"]));
    assert_eq!(run["loads"], json!([{"place": "xmax", "force": [0.0, 0.0, -1.0]}]));
    assert_eq!(run["body_force"], json!([0.0, 0.0, -2.0]));
    assert_eq!((&run["stop_reason"], &run["rigid_motions"]), (&"converged".into(), &true.into()));
    let u: Vec<f64> =
        run["displacement_there"].as_array().unwrap().iter().map(|u| u.as_f64().unwrap()).collect();
    let length = u.iter().map(|u| u * u).sum::<f64>().sqrt();
    assert!((length / run["largest_displacement"].as_f64().unwrap() - 1.0).abs() < 1e-8, "{run}");
    let (text, _) = shell.run(&format!("{line} --device cpu"), 0);
    for part in
        ["residual", "spacing at most 0.3 mm", &format!("{:.2e}", run["relative_residual"].as_f64().unwrap())]
    {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    // Blocks are those of the nodes, and multigrid on them is another; so is that of another numbering.
    for options in ["--block-size 3", "--reorder rcm", "--scaling ruiz", "--permute matching"] {
        let (_, stderr) = shell.run(&format!("{line} --device cpu {options} --precond amg"), 0);
        assert!(stderr.contains("does not know the rigid motions"), "{options}: {stderr}");
    }
    // Recurrences of MINRES do not stand a hierarchy in f32 here.
    let run = shell.json(&format!("{line} --device cpu --solver minres"), 0);
    assert!(run["iterations"].as_u64().unwrap() < 60, "{run}");
}

#[test]
fn pictures_show_the_body_under_load_if_asked() {
    let shell = Shell::new();
    let draw = |options: &str| {
        shell.run(&format!("{BEAM} --load xmax=0,0,-1 --out r -q {options}"), 0);
        fs::read(shell.path("r/displacement.png")).unwrap()
    };
    let at_rest = draw("");
    assert!(at_rest == draw("--exaggerate 0") && at_rest != draw("--exaggerate 300"));
    let (_, stderr) = shell.run(&format!("{BEAM} --load xmax=0,0,-1 --exaggerate 2"), 1);
    assert!(stderr.contains("--out"), "{stderr}");
}

#[test]
fn a_quiet_run_still_warns_that_it_has_not_converged() {
    let shell = Shell::new();
    let line = "elasticity --slab 2,1,1 --spacing 0.5 --clamp xmin --load xmax=0,0,1 --device cpu -q";
    let (stdout, stderr) = shell.run(&format!("{line} --precond jacobi --max-iter 3"), 2);
    assert_eq!(stderr, "warning: NOT converged after 3 iterations: iteration limit reached\n");
    assert!(stdout.is_empty(), "{stdout}");
}

#[test]
fn a_plane_is_pulled_and_bends_as_theory_says() {
    let shell = Shell::new();
    let beam = "elasticity --slab 6,1 --spacing 0.1 --clamp xmin --device cpu";
    // nu = 0: strain and stress are one, and u_x = F x / (E A).
    for plane in ["strain", "stress"] {
        let line = format!("{beam} --poisson 0 --young 1000 --load xmax=30,0,0 --plane {plane} --out r");
        let (stdout, stderr) = shell.run(&line, 0);
        assert!(stderr.is_empty(), "{stderr}");
        for part in [
            "rectangle of 6 x 1 mm, spacing 0.1 mm",
            "671 nodes, 1,200 triangles",
            "xmin: 11 nodes",
            "rigid motions",
            "at most 0.18 mm",
            "at most 30 N/mm^2",
            &format!("plane {plane}"),
        ] {
            assert!(stdout.contains(part), "{part:?} is not in\n{stdout}");
        }
        assert!(fs::read(shell.path("r/von-mises.png")).unwrap().starts_with(b"\x89PNG"));
    }
    // Beam theory, with E of a thin sheet, and E / (1 - nu^2) where the body cannot move along z.
    let theory = 6.0f64.powi(3) / (3.0 * 210_000.0 / 12.0);
    let bends = |plane: &str| {
        let run = shell.json(&format!("{beam} --load xmax=0,-1,0 --plane {plane}"), 0);
        assert_eq!(
            (&run["triangles"], &run["tetrahedra"], &run["plane"]),
            (&1200.into(), &0.into(), &plane.into())
        );
        assert!(run["iterations"].as_u64().unwrap() < 30, "{run}");
        run["largest_displacement"].as_f64().unwrap() / theory
    };
    let (stress, strain) = (bends("stress"), bends("strain"));
    assert!((0.9..1.05).contains(&stress), "{stress}");
    assert!((strain / stress / 0.91 - 1.0).abs() < 0.02, "{strain} {stress}");
    // Without a word it is plane strain; from a file as from a rectangle.
    let plain = shell.json(&format!("{beam} --load xmax=0,-1,0"), 0);
    assert_eq!(plain["largest_displacement"].as_f64().unwrap() / theory, strain);
    write_vtu(&shell.path("beam.vtu"), &TriMesh::sheet([6.0, 1.0], None, 0.1).unwrap(), &[]).unwrap();
    let read = shell.json("elasticity beam.vtu --clamp xmin --load xmax=0,-1,0 --device cpu", 0);
    assert_eq!(read["largest_displacement"], plain["largest_displacement"]);
    for (line, part) in [
        (format!("{beam} --load xmax=0,0,-1"), "act along z, across the plane of the mesh"),
        (format!("{beam} --load 7=0,1,0"), "it has no lines with numbers"),
        (format!("{beam} --load xmax=0,1,0 --plane thin"), "strain, stress"),
        (format!("{BEAM} --load xmax=0,1,0 --plane stress"), "--plane goes with a mesh of triangles"),
    ] {
        let (_, stderr) = shell.run(&line, 1);
        assert!(stderr.contains(part), "{line}: {stderr}");
    }
}

/// Faces with numbers hold and pull as the sides do that they are.
fn by_tags_as_by_sides(shell: &Shell, mesh: &str, force: &str) {
    let run = |clamp: &str, load: &str| {
        let line = format!("elasticity {mesh} --clamp {clamp} --load {load}={force} --young 50 --device cpu");
        shell.json(&format!("{line} --solver cg --precond jacobi"), 0)
    };
    let (tags, sides) = (run("7", "9"), run("xmin", "xmax"));
    for key in ["clamped_nodes", "force", "largest_displacement"] {
        assert_eq!(tags[key], sides[key], "{mesh} {key}");
    }
}

#[test]
fn lines_with_numbers_in_a_plane_are_clamped_and_loaded() {
    let shell = Shell::new();
    let sheet = TriMesh::sheet([1.0, 0.5], None, 0.25).unwrap();
    shell.file("sheet.msh", &msh(&sheet));
    by_tags_as_by_sides(&shell, "sheet.msh", "0,-2,0");
    // The same in a file of VTK: regions of lines.
    let vtk = "# vtk DataFile Version 3.0\nsquare\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n\
               0 0 0 1 0 0 1 1 0 0 1 0\nCELLS 4 14\n3 0 1 2\n3 0 2 3\n2 3 0\n2 1 2\nCELL_TYPES 4\n5 5 3 3\n\
               CELL_DATA 4\nSCALARS region int 1\nLOOKUP_TABLE default\n1 1 7 9\n";
    shell.file("square.vtk", vtk);
    by_tags_as_by_sides(&shell, "square.vtk", "1,0,0");
    let (_, stderr) = shell.run("elasticity square.vtk --clamp 7 --load 8=1,0,0 --device cpu", 1);
    assert!(stderr.contains("tag 8") && stderr.contains("lines with the numbers [7, 9]"), "{stderr}");
}

#[test]
fn hexahedra_are_generated_written_and_read() {
    let shell = Shell::new();
    let bar = "elasticity --slab 6,1,1 --spacing 0.25 --elements hexahedra --clamp xmin --device cpu";
    // nu = 0: u_x = F x / (E A) to the last digits.
    let (stdout, stderr) =
        shell.run(&format!("{bar} --poisson 0 --young 1000 --load xmax=30,0,0 --out r"), 0);
    assert!(stderr.is_empty(), "{stderr}");
    for part in [
        "625 nodes, 384 hexahedra",
        "xmin: 25 nodes",
        "rigid motions",
        "at most 0.18 mm",
        "at most 30 N/mm^2",
    ] {
        assert!(stdout.contains(part), "{part:?} is not in\n{stdout}");
    }
    assert!(fs::read(shell.path("r/von-mises.png")).unwrap().starts_with(b"\x89PNG"));
    // Beam theory, closer than tetrahedra of this size come.
    let load = "--load xmax=0,0,-1";
    let theory = 6.0f64.powi(3) / (3.0 * 210_000.0 / 12.0);
    let run = shell.json(&format!("{bar} {load}"), 0);
    let ratio = run["largest_displacement"].as_f64().unwrap() / theory;
    assert!((0.9..1.03).contains(&ratio), "{ratio}");
    assert_eq!((&run["hexahedra"], &run["tetrahedra"]), (&384.into(), &0.into()));
    assert!(run["iterations"].as_u64().unwrap() < 30, "{run}");
    let read = shell.json(&format!("elasticity r/elasticity.vtu --clamp xmin --device cpu {load}"), 0);
    assert_eq!(read["largest_displacement"], run["largest_displacement"]);
    shell.file("cubes.msh", &msh(&HexMesh::slab([1.0, 0.5, 0.5], 0.25).unwrap()));
    by_tags_as_by_sides(&shell, "cubes.msh", "0,0,-2");
    for (line, part) in [
        (
            "bidomain cubes.msh --isotropic --t-end 1",
            "cubes.msh: the mesh has hexahedra, and the heart needs",
        ),
        ("elasticity --slab 1,1 --spacing 1 --elements hexahedra --clamp xmin", "made of triangles"),
        ("elasticity cubes.msh --elements hexahedra --clamp xmin", "cannot be used with"),
        ("solve --gen elasticity:3:cubes", "tetrahedra or hexahedra"),
    ] {
        let (_, stderr) = shell.run(line, 1);
        assert!(stderr.contains(part), "{line}: {stderr}");
    }
    let generated = shell.json("solve --gen elasticity:5:hexahedra --device cpu", 0);
    assert_eq!(generated["rows"], 12 * 4 * 25);
    assert!(generated["iterations"].as_u64().unwrap() < 30, "{generated}");
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let shell = Shell::new();
    let cube = HexMesh::slab([1.0; 3], 1.0).unwrap();
    let file = msh(&cube);
    shell.file("cube.msh", &file);
    shell.file("cut.msh", &file[..file.len() - 40]);
    shell.file("nan.msh", &file.replacen("2 0 0 1\n", "2 nan 0 1\n", 1));
    let corners = cube.cells()[0].map(|node| (node + 1).to_string());
    let mut twisted = corners.clone();
    twisted.swap(2, 3);
    shell.file("twisted.msh", &file.replace(&corners.join(" "), &twisted.join(" ")));
    shell.file("negative.msh", &file.replace(" 2 7 1 ", " 2 -7 1 "));
    shell.json("elasticity negative.msh --clamp -7 --load xmax=1,0,0 --device cpu", 0);
    let body = "elasticity --slab 1,1,1 --spacing 0.5";
    // A second cube, which shares no node with the first and lies within the same range of x.
    let beside = |[x, y, z]: &[f64; 3]| [*x, y + 3.0, *z];
    let points = cube.points().iter().copied().chain(cube.points().iter().map(beside)).collect();
    let second = cube.cells()[0].map(|node| node + cube.points().len() as u32);
    let two = HexMesh::new(points, vec![cube.cells()[0], second], None, None).unwrap();
    shell.file("two.msh", &msh(&two));
    let (_, stderr) = shell.run("elasticity two.msh --clamp 7 --load 9=1,0,0 --device cpu -q", 0);
    assert!(stderr.is_empty(), "{stderr}");
    for (line, part) in [
        (
            "elasticity two.msh --clamp box:-1,-1,-1,0.1,1,1 --load 9=1,0,0".to_string(),
            "a piece of the mesh, 8 nodes with node 9, is held by no clamp",
        ),
        (
            "elasticity two.msh --clamp box:-1,-1,-1,0.1,1,1 --clamp ball:0,3,0,0.1 --load 9=1,0,0".into(),
            "are all at (0, 3, 0): a piece of the mesh, 8 nodes with node 9, can turn around that place",
        ),
        ("elasticity cut.msh --clamp 7 --load 9=1,0,0".into(), "cut.msh:"),
        ("elasticity nan.msh --clamp 7 --load 9=1,0,0".into(), "node 2 is at (NaN, 0, 1)"),
        ("elasticity twisted.msh --clamp 7 --load 9=1,0,0".into(), "hexahedron 1: it is folded"),
        ("elasticity cube.msh --clamp 3 --load 9=1,0,0".into(), "quads with the numbers [7, 9]"),
        (format!("{body} --clamp xmin"), "no force acts on what can move"),
        (format!("{body} --clamp xmin --load xmin=1,0,0"), "no force acts on what can move"),
        (format!("{body} --clamp xmin --load xmax=nan,0,0"), "it takes 3 numbers"),
        (
            format!("{body} --clamp ball:0,0,0,0.1 --load xmax=1,0,0"),
            "are all at (0, 0, 0): the body can turn",
        ),
        (format!("{body} --clamp box:0,0,0,0,0,1 --load xmax=1,0,0"), "a line, from (0, 0, 0) to (0, 0, 1)"),
        (format!("{body} --clamp xmin --load xmax=1,0,0 --block-size 2"), "use --block-size 3"),
        ("elasticity --slab 1,1 --spacing 1 --clamp xmin --block-size 3".into(), "use --block-size 2"),
        ("elasticity --clamp xmin".into(), "<MESH|--slab"),
        (format!("{body} --clamp xmin --load xmax=1,0"), "it takes 3 numbers"),
        (format!("{body} --clamp middle --load xmax=1,0,0"), "it takes xmin, xmax"),
        (
            format!("{body} --clamp box:5,5,5,6,6,6 --load xmax=1,0,0"),
            "in the box from (5, 5, 5) to (6, 6, 6)",
        ),
        (format!("{body} --clamp xmin --load xmax=1,0,0 --poisson 0.5"), "it must lie between -1 and 0.5"),
        (format!("{body} --clamp xmin --load xmax=1,0,0 --young 1e308 --device cpu"), "a finite number"),
        ("elasticity --slab -1,1,1 --spacing 1 --clamp xmin".into(), "positive numbers of mm, not -1"),
        ("elasticity --slab 1,1,1 --spacing 1e-300 --clamp xmin".into(), "a larger spacing than 1e-300 mm"),
        ("elasticity --slab 1e300,1e300,1e300 --spacing 1e300 --clamp xmin".into(), "volume is NaN"),
        ("elasticity --slab 1e-200,1e-200,1e-200 --spacing 1 --clamp xmin".into(), "volume is 0"),
    ] {
        let (stdout, stderr) = shell.run(&line, 1);
        assert!(stdout.is_empty() && stderr.contains(part), "{line}: {stdout}{stderr}");
    }
}
