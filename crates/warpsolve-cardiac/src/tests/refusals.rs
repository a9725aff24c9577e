//! What cannot be simulated says why.

use super::*;
use warpsolve_host::backend::cpu::Cpu;
use warpsolve_host::error::{Error, MeshFault, Result};

fn new(mesh: &TetMesh, params: &Params) -> Result<Simulation<Cpu>> {
    Simulation::new(&Cpu::new(1).unwrap(), mesh, params)
}

fn refusal(mesh: &TetMesh, params: &Params) -> Error {
    new(mesh, params).err().expect("refused")
}

#[test]
fn parameters_out_of_their_range_are_refused() {
    let mesh = slab([1.0, 0.5, 0.5], 0.25, FIBRE);
    let says = |expected: &str, change: &dyn Fn(&mut Params)| {
        let mut params = accurate(Formulation::Splitting);
        change(&mut params);
        match refusal(&mesh, &params) {
            Error::Option(why) => assert!(why.contains(expected), "{why}"),
            other => panic!("{expected}: {other:?}"),
        }
    };
    for dt in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        says("the time step dt is", &|p| p.dt = dt);
    }
    says("the conductivity sigma_il is -0.1 mS/mm", &|p| p.tissue.sigma_il = -0.1);
    says("the conductivity sigma_it is 0 mS/mm", &|p| p.tissue.sigma_it = 0.0);
    says("the conductivity sigma_el is NaN", &|p| p.tissue.sigma_el = f64::NAN);
    says("the conductivity sigma_et is inf", &|p| p.tissue.sigma_et = f64::INFINITY);
    says("chi is -140", &|p| p.tissue.chi = -140.0);
    says("cm is 0", &|p| p.tissue.cm = 0.0);
    says("kappa = chi cm / dt is inf", &|p| (p.tissue.chi, p.dt) = (1e300, 1e-300));
    says("theta is 0.4", &|p| p.theta = 0.4);
    says("use theta = 1", &|p| (p.formulation, p.theta) = (Formulation::Coupled, 0.5));
    says("must be at least 1", &|p| p.cell_substeps = 0);
    says("must be at least 1", &|p| p.max_iterations = 0);
    says("parabolic_rtol is 1;", &|p| p.parabolic_rtol = 1.0);
    says("rtol is NaN", &|p| p.rtol = f64::NAN);
    says("the threshold of activation is NaN", &|p| p.threshold = f64::NAN);
    says("degree", &|p| p.amg.degree = Some(0));
    says("stimulus 1: it lasts 0 ms", &|p| p.stimuli[0].duration = 0.0);
    says("stimulus 1: it starts at -1 ms", &|p| p.stimuli[0].start = -1.0);
    says("stimulus 1: its strength is NaN", &|p| p.stimuli[0].strength = f64::NAN);
    says("it is repeated every 0.5 ms, but lasts 1 ms", &|p| p.stimuli[0].period = Some(0.5));
    says("a number of beats is 1 or more", &|p| p.stimuli[0].beats = Some(3));
    says("stimulus 2: the box from", &|p| {
        let shape = Shape::Box { low: [1.0; 3], high: [0.0; 3] };
        p.stimuli.push(Stimulus { shape, ..corner(1.0) })
    });
    says("a radius of 0 mm", &|p| p.stimuli[0].shape = Shape::Ball { centre: [0.0; 3], radius: 0.0 });
    says("stimulus 1 acts at no node: none of 45 is within", &|p| {
        p.stimuli[0].shape = Shape::Ball { centre: [5.0; 3], radius: 1.0 }
    });
}

#[test]
fn meshes_that_do_not_do_are_refused() {
    let whole = slab([1.0, 0.5, 0.5], 0.25, FIBRE);
    let (points, tets) = (whole.points().to_vec(), whole.cells().to_vec());
    let bare = TetMesh::new(points.clone(), tets.clone(), None, None).unwrap();
    let params = accurate(Formulation::Monodomain);
    let why = refusal(&bare, &params);
    assert!(matches!(&why, Error::MeshFault { fault: MeshFault::NoFibres, .. }), "{why}");
    let tissue = Tissue { sigma_it: 0.17, sigma_et: 0.62, ..Tissue::default() };
    assert!(new(&bare, &Params { tissue, ..params.clone() }).is_ok());

    let n = points.len();
    let moved = points.iter().map(|&[x, y, z]| [x + 9.0, y, z]);
    let twice = points.iter().copied().chain(moved).collect();
    let other = tets.iter().map(|tet| tet.map(|node| node + n as u32));
    let tets: Vec<_> = tets.iter().copied().chain(other).collect();
    let fibres = vec![FIBRE; tets.len()];
    let two = TetMesh::new(twice, tets, None, Some(fibres)).unwrap();
    let why = refusal(&two, &params);
    assert!(matches!(&why, Error::MeshFault { fault: MeshFault::Components, .. }), "{why}");
    let why = why.to_string();
    assert!(why.contains("2 components") && why.contains("node 46"), "{why}");
}

#[test]
fn solves_that_do_not_converge_say_when() {
    let mesh = slab([1.5, 1.0, 0.5], 0.25, FIBRE);
    for (formulation, name) in [
        (Formulation::Monodomain, "parabolic"),
        (Formulation::Splitting, "parabolic"),
        (Formulation::Coupled, "coupled"),
        (Formulation::Potentials, "potentials"),
    ] {
        let params = Params { max_iterations: 1, ..accurate(formulation) };
        let why = new(&mesh, &params).unwrap().step().unwrap_err();
        let expected = format!(
            "the {name} system of the step to 0.05 ms was not solved: iteration limit reached after 1"
        );
        assert!(matches!(&why, Error::Option(why) if why.starts_with(&expected)), "{why}");
    }
}

#[test]
fn voltages_that_are_no_numbers_are_found() {
    let mesh = slab([1.5, 1.0, 0.5], 0.25, FIBRE);
    for &formulation in Formulation::ALL {
        for reorder in [false, true] {
            let mut simulation = new(&mesh, &Params { reorder, ..accurate(formulation) }).unwrap();
            let mut state = simulation.checkpoint().unwrap();
            state.vectors[0][17] = f64::NAN;
            simulation.restore(&state).unwrap();
            let node = 1 + simulation.v().unwrap().iter().position(|v| v.is_nan()).unwrap();
            assert_eq!(node == 18, !reorder, "node {node}");
            let why = simulation.step().unwrap_err();
            let place = format!("node {node} in the step to 0.05 ms");
            assert!(
                matches!(&why, Error::NotFinite { what: "the transmembrane voltage", value, position }
                    if value.is_nan() && position.starts_with(&place)),
                "{why}"
            );
        }
        // Forward Euler of the cells beyond every limit of stability: the voltage overflows, or before
        // that an elliptic system whose right-hand side is too large to be multiplied by itself.
        let mut params = Params { dt: 50.0, ..accurate(formulation) };
        params.stimuli[0].duration = 500.0;
        let mut simulation = new(&mesh, &params).unwrap();
        let why = (0..20).find_map(|_| simulation.step().err()).expect("it blows up");
        assert!(why.to_string().contains("smaller"), "{why}");
    }
}
