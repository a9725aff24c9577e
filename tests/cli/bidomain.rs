//! Electrodes outside of the cells, baths, and tissue in a plane.

use serde_json::Value;
use std::fs;
use std::path::Path;
use warpsolve::cardiac::io::vtk::write_vtu;
use warpsolve::cardiac::mesh::{AnyMesh, ReadOptions, TetMesh, TriMesh, read, read_any};

use super::Shell;

const SLAB: &str = "--slab 3,0.6,0.3 --spacing 0.15 --model mitchell-schaeffer --device cpu --every 0";
/// An anode at one end, a cathode at the other.
const POLES: &str = "--stimulus box:0,0,0,0.3,1,1 --stimulus box:2.7,0,0,3,1,1 --stimulus-kind extracellular \
                     --stimulus-strength 400 --stimulus-strength=-300 --stimulus-duration 3";

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_cathode_starts_a_wave() {
    let shell = Shell::new();
    for formulation in ["coupled", "splitting", "potentials"] {
        for end in ["--balance-stimuli scale", "--balance-stimuli spread", "--ground ball:1.5,0.3,0,0.01"] {
            let line =
                format!("bidomain {SLAB} {POLES} --formulation {formulation} {end} --points 3,0,0;0,0,0");
            shell.run(&format!("{line} --t-end 5 --out r -q"), 0);
            let run = json(&shell.path("r/run.json"));
            let times = |k: usize| run["points"][k]["activation"].as_f64().unwrap_or(f64::INFINITY);
            assert!(times(0) < 4.0 && times(1) > times(0) + 1.0, "{formulation} {end}: {run}");
            let (kinds, grounds) = (&run["parameters"]["stimuli"], &run["parameters"]["grounds"]);
            assert_eq!(kinds[1]["kind"], "extracellular");
            assert_eq!(grounds.as_array().unwrap().len(), usize::from(end.starts_with("--ground")));
        }
    }
}

#[test]
fn electrodes_that_cannot_be_are_refused() {
    let shell = Shell::new();
    for (line, parts) in [
        (
            format!("bidomain {SLAB} {POLES}"),
            &[
                "stimulus 1 and stimulus 2 add up to ",
                " uA, but where nothing is grounded",
                "--balance-stimuli",
            ][..],
        ),
        (
            format!("bidomain {SLAB} --stimulus-kind extracellular --balance-stimuli scale"),
            &["stimulus 1 have one sign", "--balance-stimuli spread"],
        ),
        (format!("monodomain {SLAB} {POLES}"), &["stimulus 1 acts outside of the cells", "use a bidomain"]),
        (format!("monodomain {SLAB} --ground ball:0,0,0,1"), &["ground 1 acts outside of the cells"]),
        (format!("bidomain {SLAB} --ground ball:9,9,9,1"), &["ground 1 acts at no node"]),
        (format!("bidomain {SLAB} --ground ball:0,0,0,-1"), &["ground 1: a ball", "positive"]),
        (format!("bidomain {SLAB} --stimulus-kind outside"), &["transmembrane, extracellular"]),
        (format!("bidomain {SLAB} --balance-stimuli even"), &["refuse, spread, scale"]),
    ] {
        let (stdout, stderr) = shell.run(&line, 1);
        assert!(stdout.is_empty(), "{line}: {stdout}");
        for part in parts {
            assert!(stderr.contains(part), "{line}: {part:?} is not in\n{stderr}");
        }
    }
}

#[test]
fn tissue_lies_in_a_bath() {
    let shell = Shell::new();
    let tissue = "--model mitchell-schaeffer --isotropic --stimulus box:0,0,0,0.5,9,9 --t-end 15";
    let steps = "--every 5 --stop-when-activated --device cpu --points 1.5,0,0.5;1.5,0,0";
    let line = format!("{tissue} {steps}");
    let slab = "--slab 2,0.5,0.5 --spacing 0.25";
    let (stdout, stderr) = shell.run(&format!("bidomain {slab} --bath-layer 0.5 {line} --out layer"), 0);
    assert!(stderr.is_empty(), "{stderr}");
    for part in [
        "spacing 0.25 mm, 0.5 mm of bath above",
        "region 1: bath, 1 mS/mm",
        "activated     every node of the tissue",
    ] {
        assert!(stdout.contains(part), "{part:?} is not in\n{stdout}");
    }
    let run = json(&shell.path("layer/run.json"));
    assert_eq!((&run["mesh"]["nodes"], &run["mesh"]["cells"]), (&135.into(), &81.into()));
    assert_eq!((&run["activated_nodes"], &run["ended"]), (&81.into(), &"activated".into()));
    let documented = include_str!("../../docs/niederer.md");
    for object in [&run["parameters"], &run["parameters"]["regions"][0], &run["mesh"]] {
        for key in object.as_object().unwrap().keys() {
            assert!(documented.contains(&format!("`{key}`")), "docs/niederer.md lacks {key}");
        }
    }
    let mesh = TetMesh::slab_with_layer([2.0, 0.5, 0.5], 0.5, 0.25).unwrap();
    assert_eq!(read(&shell.path("layer/activation.vtu"), &ReadOptions::default()).unwrap(), mesh);
    assert!(fs::read(shell.path("layer/activation.png")).unwrap().len() > 5000);

    // The same from a file, by tag, and as a region that conducts outside of the cells alone.
    write_vtu(&shell.path("heart.vtu"), &mesh, &[]).unwrap();
    let times = |options: &str, folder: &str| {
        shell.run(&format!("bidomain heart.vtu {options} {line} --out {folder} -q"), 0);
        fs::read(shell.path(folder).join("activation.vtu")).unwrap()
    };
    let layer = fs::read(shell.path("layer/activation.vtu")).unwrap();
    assert!(times("--bath 1 --sigma-bath 1", "tag") == layer);
    assert!(times("--region 1:il=0,it=0,el=1,et=1", "region") == layer);
    assert!(times("--bath 1 --sigma-bath 0.1", "poor") != layer);
    assert!(times("--region 1:il=0.05", "slow") != layer);
    // The stimulus that nobody placed is in the tissue.
    let (stdout, _) =
        shell.run(&format!("bidomain {slab} --bath-layer 0.5 --t-end 0.1 --every 0 --device cpu"), 0);
    assert!(stdout.contains("stimulus      ball around (0, 0, 0)"), "{stdout}");
}

#[test]
fn regions_that_cannot_be_are_refused() {
    let shell = Shell::new();
    let mesh = TetMesh::slab_with_layer([1.0; 3], 1.0, 0.5).unwrap();
    write_vtu(&shell.path("heart.vtu"), &mesh, &[]).unwrap();
    write_vtu(&shell.path("plain.vtu"), &TetMesh::slab([1.0; 3], 0.5).unwrap(), &[]).unwrap();
    for (line, parts) in [
        ("bidomain plain.vtu --bath 1", &["region 1 is named, but the mesh has no regions"][..]),
        ("bidomain heart.vtu --bath 3", &["region 3 is not in the mesh, whose regions are [0, 1]"]),
        ("bidomain heart.vtu --bath 0 --bath 1", &["all of the mesh is bath: there is no tissue"]),
        ("bidomain heart.vtu --bath 1 --region 1:el=3", &["region 1: it is named twice"]),
        ("bidomain heart.vtu --region 1:il=0", &["region 1: sigma_il and sigma_it are 0 and 0.019"]),
        ("bidomain heart.vtu --region 1:il=0,it=0,el=0,et=0", &["region 1: it conducts nowhere"]),
        ("bidomain heart.vtu --region 1:il=-1", &["--region", "0 or more"]),
        ("bidomain heart.vtu --region 1:sigma=1", &["it takes TAG:il=X,it=X,el=X,et=X"]),
        ("bidomain heart.vtu --sigma-bath 1", &["--sigma-bath goes with --bath or --bath-layer"]),
        ("bidomain heart.vtu --bath-layer 1", &["--bath-layer"]),
        ("bidomain --niederer --bath-layer 1", &["--bath-layer"]),
        (
            "bidomain heart.vtu --bath 1 --stimulus box:0,0,1.4,1,1,2",
            &["stimulus 1 acts at no cell: all 18 nodes within its box", "are in the bath"],
        ),
        ("monodomain heart.vtu --bath 1", &["region 1: it conducts only inside or only outside"]),
    ] {
        let (stdout, stderr) = shell.run(&format!("{line} --device cpu"), 1);
        assert!(stdout.is_empty(), "{line}: {stdout}");
        for part in parts {
            assert!(stderr.contains(part), "{line}: {part:?} is not in\n{stderr}");
        }
    }
}

#[test]
fn tissue_may_lie_in_a_plane() {
    let shell = Shell::new();
    let sheet = TriMesh::sheet([3.0, 0.9], None, 0.3).unwrap();
    write_vtu(&shell.path("sheet.vtu"), &sheet, &[]).unwrap();
    let steps = "--stimulus box:0,0,0,0.3,0.9,0 --t-end 12 --every 4 --device cpu --points 1.5,0.3,0;3,0.3,0";
    let slab =
        "--slab 3,0.9,0.6 --spacing 0.3 --stimulus box:0,0,0,0.3,0.9,0.6 --t-end 12 --every 0 --device cpu";
    for command in
        ["monodomain", "bidomain", "bidomain --formulation splitting", "bidomain --formulation potentials"]
    {
        let (stdout, stderr) = shell.run(&format!("{command} --slab 3,0.9 --spacing 0.3 {steps} --out r"), 0);
        assert!(stderr.is_empty(), "{stderr}");
        for part in [
            "rectangle of 3 x 0.9 mm, spacing 0.3 mm",
            "44 nodes, 60 triangles, 1 component, 2.7 mm^2",
            "activated     every node",
        ] {
            assert!(stdout.contains(part), "{command}: {part:?} is not in\n{stdout}");
        }
        let run = json(&shell.path("r/run.json"));
        assert_eq!((&run["mesh"]["triangles"], &run["mesh"]["tetrahedra"]), (&60.into(), &0.into()));
        let (mesh, _) = read_any(&shell.path("r/v_000003.vtu"), &ReadOptions::default()).unwrap();
        assert_eq!(mesh, AnyMesh::Flat(sheet.clone()));
        assert!(fs::read(shell.path("r/activation.png")).unwrap().len() > 5000);
        let times = |run: &Value| [0, 1].map(|k| run["points"][k]["activation"].as_f64().unwrap());
        let [near, far] = times(&run);
        // The same from its file, and as fast as in space.
        let points = "--points 1.5,0.3,0.3;3,0.3,0.3";
        shell.run(&format!("{command} sheet.vtu {steps} --out file -q"), 0);
        assert_eq!(times(&json(&shell.path("file/run.json"))), [near, far]);
        shell.run(&format!("{command} {slab} {points} --out space -q"), 0);
        let in_space = times(&json(&shell.path("space/run.json")));
        assert!(
            ((far - near) / (in_space[1] - in_space[0]) - 1.0).abs() < 0.02,
            "{command}: {run} {in_space:?}"
        );
    }
    // A bath along one side, and a stimulus at the node of smallest y.
    let (stdout, _) = shell.run(
        "bidomain --slab 3,0.6 --spacing 0.3 --bath-layer 0.6 --t-end 1 --every 0 --device cpu --threads 1",
        0,
    );
    for part in ["0.6 mm of bath above", "ball around (0, 0, 0)", "region 1: bath, 1 mS/mm"] {
        assert!(stdout.contains(part), "{part:?} is not in\n{stdout}");
    }
}

#[test]
fn planes_that_cannot_be_are_refused() {
    let shell = Shell::new();
    let gmsh = |name: &str, elements: &str| {
        let nodes = "1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1";
        let n = elements.lines().count();
        let text = format!(
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n{nodes}\n$EndNodes\n\
             $Elements\n{n}\n{elements}\n$EndElements\n"
        );
        shell.file(name, &text);
    };
    gmsh("mixed.msh", "1 4 2 7 1 1 2 3 5\n2 2 2 7 1 1 3 4");
    gmsh("quadrangle.msh", "1 2 2 7 1 1 2 3\n2 3 2 7 1 1 2 3 4");
    gmsh("tilted.msh", "1 2 2 7 1 1 2 3\n2 2 2 7 1 1 3 4\n3 2 2 7 1 1 2 5");
    for (line, parts) in [
        (
            "bidomain mixed.msh",
            &[
                "mixed.msh: element 2 is a triangle with nodes that belong to no tetrahedron",
                "one kind alone",
            ][..],
        ),
        ("bidomain quadrangle.msh", &["quadrangle.msh: element 2 is no linear triangle", "split the cells"]),
        ("bidomain tilted.msh", &["element 3 is a triangle that does not lie in a plane of constant z"]),
        ("elasticity tilted.msh --clamp xmin --load xmax=0,0,1", &["does not lie in a plane of constant z"]),
        ("bidomain --slab 1,1,1,1 --spacing 1", &["2 or 3 numbers with commas between"]),
        ("bidomain --slab 1,-1 --spacing 1", &["positive numbers of mm, not -1"]),
    ] {
        let (stdout, stderr) = shell.run(&format!("{line} --device cpu"), 1);
        assert!(stdout.is_empty(), "{line}: {stdout}");
        for part in parts {
            assert!(stderr.contains(part), "{line}: {part:?} is not in\n{stderr}");
        }
    }
}
