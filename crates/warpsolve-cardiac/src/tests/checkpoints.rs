//! States in files.

use std::fs;

use super::*;
use crate::checkpoint::Fingerprint;
use warpsolve_host::backend::cpu::Cpu;
use warpsolve_host::backend::gpu::Gpu;
use warpsolve_host::error::Error;
use warpsolve_host::solver::cg::CgSteps;

/// v, phi and activation.
type Results = (Vec<f64>, Option<Vec<f64>>, Vec<f64>);

fn results<B: Cells + Assembles + CgSteps<f64> + Clone + 'static>(simulation: &Simulation<B>) -> Results {
    (simulation.v().unwrap(), simulation.phi_e().unwrap(), simulation.activation().unwrap())
}

fn check<B: Cells + Assembles + CgSteps<f64> + Clone + 'static>(
    backend: &B,
    mesh: &TetMesh,
    params: &Params,
    half: u32,
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("half.checkpoint");
    let mut whole = Simulation::new(backend, mesh, params).unwrap();
    for _ in 0..half {
        whole.step().unwrap();
    }
    whole.checkpoint().unwrap().save(&path).unwrap();
    let at_half = results(&whole);
    let reports: Vec<f64> = (0..half).map(|_| whole.step().unwrap().time).collect();
    assert_ne!(results(&whole), at_half);

    let state = Checkpoint::load(&path).unwrap();
    assert_eq!(state.time(), f64::from(half) * params.dt);
    let mut rest = Simulation::new(backend, mesh, &Params { max_iterations: 77, ..params.clone() }).unwrap();
    rest.restore(&state).unwrap();
    assert_eq!(results(&rest), at_half);
    assert!((0..half).map(|_| rest.step().unwrap().time).eq(reports));
    assert!(results(&rest) == results(&whole), "{}", params.formulation);
    // Back again.
    whole.restore(&state).unwrap();
    assert_eq!((whole.time(), results(&whole)), (state.time(), at_half));
}

#[test]
fn the_second_half_is_the_same_to_the_last_bit() {
    let mesh = slab([1.5, 1.0, 0.5], 0.25, FIBRE);
    for &formulation in Formulation::ALL {
        for (model, reorder) in [(Model::MitchellSchaeffer, true), (Model::TenTusscher, false)] {
            let params =
                Params { formulation, model, reorder, stimuli: vec![corner(0.6)], ..Params::default() };
            check(&Cpu::new(2).unwrap(), &mesh, &params, 20);
        }
        let small = slab([0.8, 0.6, 0.4], 0.2, FIBRE);
        check(&Gpu::simulated().unwrap(), &small, &accurate(formulation), 3);
    }
}

#[test]
fn others_are_refused() {
    let mesh = slab([1.0, 0.5, 0.5], 0.25, FIBRE);
    let cpu = Cpu::new(1).unwrap();
    let params = accurate(Formulation::Splitting);
    let state = Simulation::new(&cpu, &mesh, &params).unwrap().checkpoint().unwrap();
    let refused = |mesh: &TetMesh, params: &Params, state: &Checkpoint| {
        let mut simulation = Simulation::new(&cpu, mesh, params).unwrap();
        matches!(simulation.restore(state), Err(Error::Option(why)) if why.contains("another mesh"))
    };
    assert!(!refused(&mesh, &params, &state));
    assert!(refused(&mesh.clone().scaled(1.001), &params, &state));
    assert!(refused(&slab([1.0, 0.5, 0.5], 0.25, [1.0, 0.0, 0.0]), &params, &state));
    let other = |change: &dyn Fn(&mut Params)| {
        let mut params = params.clone();
        change(&mut params);
        refused(&mesh, &params, &state)
    };
    assert!(other(&|p| p.formulation = Formulation::Coupled));
    assert!(other(&|p| p.model = Model::TenTusscher));
    assert!(other(&|p| p.dt = 0.025));
    assert!(other(&|p| p.tissue.sigma_et = 0.25));
    assert!(other(&|p| p.stimuli[0].strength = 99.0));
    assert!(other(&|p| p.reorder = true));
    assert!(!other(&|p| p.max_iterations = 99));
    // Made up: the right fingerprint, vectors of the wrong sizes.
    for k in 0..state.vectors.len() {
        let mut wrong = state.clone();
        wrong.vectors[k].pop();
        assert!(refused(&mesh, &params, &wrong));
    }
}

#[test]
fn another_stimulus_begins_where_the_last_one_has_led() {
    let mesh = slab([1.5, 1.0, 0.5], 0.25, FIBRE);
    let cpu = Cpu::new(2).unwrap();
    let s1 = Params { stimuli: vec![corner(0.6)], ..accurate(Formulation::Coupled) };
    let s2 = Stimulus { start: 1.0, ..corner(0.4) };
    let mut first = Simulation::new(&cpu, &mesh, &s1).unwrap();
    let steps = (0.8 / s1.dt).round() as u32;
    for _ in 0..steps {
        first.step().unwrap();
    }
    let state = first.checkpoint().unwrap();
    let both = Params { stimuli: vec![s1.stimuli[0].clone(), s2], ..s1.clone() };
    let mut second = Simulation::new(&cpu, &mesh, &both).unwrap();
    let refused = second.restore(&state).unwrap_err().to_string();
    assert!(refused.contains("its stimuli differ"), "{refused}");
    second.restore_for_other_stimuli(&state).unwrap();
    // The same as if S2 had been known from the beginning: it acts later.
    let mut whole = Simulation::new(&cpu, &mesh, &both).unwrap();
    for _ in 0..steps {
        whole.step().unwrap();
    }
    for _ in 0..steps {
        first.step().unwrap();
        second.step().unwrap();
        whole.step().unwrap();
    }
    assert!(results(&second) == results(&whole) && results(&second) != results(&first));
}

#[test]
fn damaged_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.checkpoint");
    let state = Checkpoint {
        fingerprint: Fingerprint { stimuli: 3, rest: 5 },
        steps: 7,
        dt: 0.5,
        vectors: vec![vec![1.0, f64::NAN], vec![], vec![-0.0; 9]],
    };
    state.save(&path).unwrap();
    let good = fs::read(&path).unwrap();
    assert_eq!(good.len(), 48 + 3 * 8 + 11 * 8 + 4);
    let loaded = Checkpoint::load(&path).unwrap();
    assert!(
        loaded.vectors[0][1].is_nan() && loaded.vectors[1..] == state.vectors[1..] && loaded.time() == 3.5
    );

    let refusal = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        match Checkpoint::load(&path) {
            Err(error @ Error::Io { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    for length in 0..good.len() {
        refusal(&good[..length]);
    }
    for place in 0..good.len() {
        let mut bad = good.clone();
        bad[place] ^= 0x10;
        refusal(&bad);
    }
    let longer = [&good[..], &[0; 8]].concat();
    assert!(refusal(&longer).contains("its size"));
    assert!(refusal(&good[..60]).contains("it ends too early"));
    assert!(refusal(&[0x20; 200]).contains("this is not a checkpoint"));
    let with = |place: usize, value: u64| {
        let mut bytes = good.clone();
        bytes[place..place + 8].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    // Sizes that would take all memory, or wrap around.
    assert!(refusal(&with(40, u64::MAX)).contains("too many vectors"));
    for size in [u64::MAX, u64::MAX / 8, 1 << 61, 1 << 40] {
        assert!(refusal(&with(48, size)).contains("its size"));
    }
    let version = [&good[..16], &9u32.to_le_bytes(), &good[20..]].concat();
    assert!(refusal(&version).contains("version 9, and only version 3"));
    assert!(Checkpoint::load(folder.path()).unwrap_err().to_string().contains("not an ordinary file"));
    let missing = Checkpoint::load(&folder.path().join("none")).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read") && missing.contains("none"), "{missing}");
}
