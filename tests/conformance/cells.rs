//! The reaction of heart cells: every backend gives the bits of a plain loop over cells.

use warpsolve::backend::cells::{Cells, Model, NOT_ACTIVATED};
use warpsolve::error::Error;

use crate::data::*;
use arithmetic::cells::{CellModel, MitchellSchaeffer, TenTusscher};

/// `cells` in states between rest and the middle of an action potential, and a stimulus between -1 and 1.
fn somewhere(model: Model, n: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (mut v, mut states) = model.at_rest(n);
    assert_eq!((v.len(), states.len()), (n, model.states() * n));
    for (v, x) in v.iter_mut().zip(random::<f64>(21, n)) {
        *v += 55.0 * (1.0 + x);
    }
    for (state, x) in states.iter_mut().zip(random::<f64>(22, model.states() * n)) {
        *state *= 1.0 - 0.1 * (1.0 + x);
    }
    (v, states, random(23, n))
}

/// One cell after the other.
fn expected<M: CellModel>(
    dt: f64,
    substeps: u32,
    scale: f64,
    stimulus: &[f64],
    v: &mut [f64],
    states: &mut [f64],
) {
    let n = v.len();
    for i in 0..n {
        let mut state = M::State::default();
        for k in 0..M::STATES {
            state.as_mut()[k] = states[k * n + i];
        }
        for _ in 0..substeps {
            v[i] = M::step(v[i], &mut state, dt / f64::from(substeps), scale * stimulus[i]);
        }
        for k in 0..M::STATES {
            states[k * n + i] = state.as_ref()[k];
        }
    }
}

pub fn reactions<B: Cells>(b: &B) {
    for model in [Model::MitchellSchaeffer, Model::TenTusscher] {
        for (n, substeps, scale) in [(1, 3, 12.0), (33, 2, 12.0), (515, 1, -5.0), (1000, 2, 0.0)] {
            let (mut v, mut states, stimulus) = somewhere(model, n);
            let (mut x, mut w) = (b.vector(&v).unwrap(), b.vector(&states).unwrap());
            let s = b.vector(&stimulus).unwrap();
            for step in 0..3 {
                // No stimulus is a stimulus of 0.
                let s = (scale != 0.0).then_some((scale, &s));
                let dt = [0.02, 0.005, 0.1][step];
                b.react(model, dt, substeps, s, &mut x, &mut w).unwrap();
                match model {
                    Model::MitchellSchaeffer => {
                        expected::<MitchellSchaeffer>(dt, substeps, scale, &stimulus, &mut v, &mut states)
                    }
                    Model::TenTusscher => {
                        expected::<TenTusscher>(dt, substeps, scale, &stimulus, &mut v, &mut states)
                    }
                }
            }
            assert!(v.iter().chain(&states).all(|x| x.is_finite()), "{model} {n}");
            assert_same_bits(&b.to_host(&x).unwrap(), &v);
            assert_same_bits(&b.to_host(&w).unwrap(), &states);
        }
    }
}

pub fn no_cells_and_no_steps<B: Cells>(b: &B) {
    let (mut v, mut states) = (b.vector(&[]).unwrap(), b.vector(&[]).unwrap());
    b.react(Model::TenTusscher, 0.1, 1, None, &mut v, &mut states).unwrap();
    let (rest, initial) = Model::TenTusscher.at_rest(5);
    let (mut v, mut states) = (b.vector(&rest).unwrap(), b.vector(&initial).unwrap());
    for (dt, substeps) in [(0.0, 1), (-0.1, 1), (f64::NAN, 1), (f64::INFINITY, 1), (0.1, 0)] {
        let refused = b.react(Model::TenTusscher, dt, substeps, None, &mut v, &mut states);
        assert!(matches!(refused, Err(Error::Option(_))), "{dt} {substeps}");
    }
    assert_same_bits(&b.to_host(&v).unwrap(), &rest);
    assert_same_bits(&b.to_host(&states).unwrap(), &initial);
}

pub fn activations<B: Cells>(b: &B) {
    for n in SIZES {
        let [before, after] = [24, 25].map(|seed| random::<f64>(seed, n));
        // A third was activated before.
        let mut times: Vec<f64> =
            (0..n).map(|i| if i % 3 == 1 { i as f64 / 7.0 } else { NOT_ACTIVATED }).collect();
        let (x, y, mut z) =
            (b.vector(&before).unwrap(), b.vector(&after).unwrap(), b.vector(&times).unwrap());
        b.activate(3.0, 0.5, 0.1, &x, &y, &mut z).unwrap();
        for i in 0..n {
            if i % 3 != 1 && before[i] < 0.1 && 0.1 <= after[i] {
                times[i] = 3.0 + 0.5 * ((0.1 - before[i]) / (after[i] - before[i]));
            }
        }
        assert_same_bits(&b.to_host(&z).unwrap(), &times);
    }
}

pub fn an_action_potential<B: Cells>(b: &B) {
    // Cell 0 is stimulated, cell 1 is not.
    let (dt, n) = (0.02, 2);
    for (model, first, above) in
        [(Model::MitchellSchaeffer, 0.8..1.25, 5.0), (Model::TenTusscher, 0.8..1.8, 15.0)]
    {
        let (v, states) = model.at_rest(n);
        let (mut v, mut states) = (b.vector(&v).unwrap(), b.vector(&states).unwrap());
        let (mut before, mut times) = (b.zeros(n).unwrap(), b.vector(&[NOT_ACTIVATED; 2]).unwrap());
        let s = b.vector(&[1.0, 0.0]).unwrap();
        for i in 0..250 {
            let t = f64::from(i) * dt;
            b.copy(&v, &mut before).unwrap();
            let stimulus = if i < 100 { Some((40.0, &s)) } else { None };
            b.react(model, dt, 1, stimulus, &mut v, &mut states).unwrap();
            b.activate(t, dt, -30.0, &before, &v, &mut times).unwrap();
        }
        let (v, times) = (b.to_host(&v).unwrap(), b.to_host(&times).unwrap());
        assert!(first.contains(&times[0]) && times[1] == NOT_ACTIVATED, "{model}: {times:?}");
        assert!(v[0] > above && (v[1] - model.rest()).abs() < 1.0, "{model}: {v:?}");
    }
}
