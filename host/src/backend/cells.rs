//! What a simulation of the heart asks of its cells: the reaction between two steps of diffusion.
//!
//! Potentials are in mV and time in ms. The models are those of [`arithmetic::cells`], one source for every
//! backend; their results agree to the last bit.

use crate::parallel::*;
use arithmetic::cells::{CellModel, activation};

use super::{Backend, cpu::Cpu, memory::check_lengths, reference::Reference};
use crate::error::{Error, Result};
use crate::named::named;
use crate::vectors::in_widest_vectors;

pub use arithmetic::cells::NOT_ACTIVATED;

named! {
    /// A model of the cell membrane.
    "cell model" Model {
        /// Mitchell and Schaeffer 2003: two variables, the shape of an action potential.
        MitchellSchaeffer = "mitchell-schaeffer",
        /// Ten Tusscher and Panfilov 2006, a human epicardial cell: 19 variables.
        TenTusscher = "ten-tusscher",
    }
}

/// `$work` with the type `$M` of the model.
macro_rules! with_model {
    ($model:expr, $M:ident => $work:expr) => {
        match $model {
            $crate::backend::cells::Model::MitchellSchaeffer => {
                type $M = arithmetic::cells::MitchellSchaeffer;
                $work
            }
            $crate::backend::cells::Model::TenTusscher => {
                type $M = arithmetic::cells::TenTusscher;
                $work
            }
        }
    };
}
pub(super) use with_model;

impl Model {
    /// Authors and year.
    pub fn description(self) -> &'static str {
        with_model!(self, M => M::NAME)
    }
    /// The number of variables besides v.
    pub fn states(self) -> usize {
        self.initial().len()
    }
    /// The variables besides v at rest; [`arithmetic::cells`] says what each one is.
    pub fn initial(self) -> &'static [f64] {
        with_model!(self, M => M::INITIAL)
    }
    /// v at rest, in mV.
    pub fn rest(self) -> f64 {
        with_model!(self, M => M::REST)
    }
    /// `n` cells at rest: v, and their states as [`Cells::react`] takes them.
    pub fn at_rest(self, n: usize) -> (Vec<f64>, Vec<f64>) {
        let states = self.initial().iter().flat_map(|&x| std::iter::repeat_n(x, n)).collect();
        (vec![self.rest(); n], states)
    }
}

/// A backend that knows cells. No guard stops these operations.
pub trait Cells: Backend<f64> {
    /// Advances all cells by `dt` ms in `substeps` equal steps: `dv/dt = -I_ion(v, w) + scale s_i` for cell i
    /// with the stimulus `(scale, s)`, `scale s_i` in mV/ms.
    ///
    /// `v` has the potentials of n cells in mV; variable k of cell i is `states[k n + i]`.
    ///
    /// # Errors
    /// [`Error::Option`] if `dt` is not positive and finite, or `substeps` is 0. If a step is too long for
    /// the model, the results are meaningless, and finally NaN. [`Error::Length`] if the vectors' lengths do
    /// not fit together.
    #[track_caller]
    fn react(
        &self,
        model: Model,
        dt: f64,
        substeps: u32,
        stimulus: Option<(f64, &Self::Vector)>,
        v: &mut Self::Vector,
        states: &mut Self::Vector,
    ) -> Result<()>;

    /// Writes to `times` when each node's potential first reached `threshold` (mV) from below, if that was in
    /// `(t, t + dt]`: on the straight line from `before`, the potential at time t, to `after`, the one at
    /// `t + dt`. `times` starts as [`NOT_ACTIVATED`], which is negative; other elements are left as they are.
    ///
    /// # Errors
    /// [`Error::Length`] if the vectors' lengths differ; those of the device.
    #[track_caller]
    fn activate(
        &self,
        t: f64,
        dt: f64,
        threshold: f64,
        before: &Self::Vector,
        after: &Self::Vector,
        times: &mut Self::Vector,
    ) -> Result<()>;
}

/// Refuses what [`Cells::react`] cannot do; returns the length of a substep.
pub(super) fn check(
    model: Model,
    dt: f64,
    substeps: u32,
    stimulus: Option<usize>,
    n: usize,
    states: usize,
) -> Result<f64> {
    check_lengths("react", n, &[("the stimulus", stimulus.unwrap_or(n))])?;
    check_lengths("react", model.states() * n, &[("states", states)])?;
    if dt > 0.0 && dt.is_finite() && substeps > 0 {
        return Ok(dt / f64::from(substeps));
    }
    Err(Error::Option(format!(
        "a time step of {dt} ms in {substeps} steps of the cells: it must be positive, in at least 1 step"
    )))
}

impl Cells for Reference {
    fn react(
        &self,
        model: Model,
        dt: f64,
        substeps: u32,
        stimulus: Option<(f64, &Vec<f64>)>,
        v: &mut Vec<f64>,
        states: &mut Vec<f64>,
    ) -> Result<()> {
        let n = v.len();
        let dt = check(model, dt, substeps, stimulus.map(|(_, s)| s.len()), n, states.len())?;
        let stimulus = |i: usize| stimulus.map_or(0.0, |(scale, s)| scale * s[i]);
        with_model!(model, M => for i in 0..n {
            let mut state: <M as CellModel>::State = std::array::from_fn(|k| states[k * n + i]);
            for _ in 0..substeps {
                v[i] = M::step(v[i], &mut state, dt, stimulus(i));
            }
            for (k, x) in state.into_iter().enumerate() {
                states[k * n + i] = x;
            }
        });
        Ok(())
    }

    fn activate(
        &self,
        t: f64,
        dt: f64,
        threshold: f64,
        before: &Vec<f64>,
        after: &Vec<f64>,
        times: &mut Vec<f64>,
    ) -> Result<()> {
        check_lengths("activate", times.len(), &[("before", before.len()), ("after", after.len())])?;
        for ((time, &before), &after) in times.iter_mut().zip(before).zip(after) {
            *time = activation(*time, t, dt, threshold, before, after);
        }
        Ok(())
    }
}

/// Cells side by side, which the compiler makes vectors of: one register with AVX-512, two with AVX2.
const LANES: usize = 8;
/// Cells of a task: some tens of microseconds.
const CHUNK: usize = 512;
/// The largest number of variables besides v that a model has.
const MAX_STATES: usize = 32;

/// What one thread of the CPU works at.
struct Chunk<'a> {
    stimulus: Option<(f64, &'a [f64])>,
    v: &'a mut [f64],
    /// A slice for each variable.
    states: Vec<&'a mut [f64]>,
}

impl Chunk<'_> {
    fn react<M: CellModel>(&mut self, dt: f64, substeps: u32) {
        in_widest_vectors! {
            fn react<M: CellModel>(chunk: &mut Chunk, dt: f64, substeps: u32) {
                chunk.react_any::<M>(dt, substeps)
            }
        }
        react::<M>(self, dt, substeps)
    }

    /// Copies [`LANES`] cells at a time, so that the compiler sees that nothing overlaps.
    #[inline(always)]
    fn react_any<M: CellModel>(&mut self, dt: f64, substeps: u32) {
        const { assert!(M::STATES <= MAX_STATES) };
        // Lanes behind the last cell compute what nobody reads, from numbers as good as the others.
        let mut v = [M::REST; LANES];
        let mut stimulus = [0.0; LANES];
        let mut states = [[0.0; LANES]; MAX_STATES];
        for (lanes, &x) in states.iter_mut().zip(M::INITIAL) {
            *lanes = [x; LANES];
        }
        for first in (0..self.v.len()).step_by(LANES) {
            let cells = first..self.v.len().min(first + LANES);
            let width = cells.len();
            v[..width].copy_from_slice(&self.v[cells.clone()]);
            for (lanes, x) in states.iter_mut().zip(&self.states) {
                lanes[..width].copy_from_slice(&x[cells.clone()]);
            }
            if let Some((scale, s)) = self.stimulus {
                for (lane, &s) in stimulus.iter_mut().zip(&s[cells.clone()]) {
                    *lane = scale * s;
                }
            }
            for _ in 0..substeps {
                for l in 0..LANES {
                    let mut state = M::State::default();
                    for (k, x) in state.as_mut().iter_mut().enumerate() {
                        *x = states[k][l];
                    }
                    v[l] = M::step(v[l], &mut state, dt, stimulus[l]);
                    for (k, &x) in state.as_ref().iter().enumerate() {
                        states[k][l] = x;
                    }
                }
            }
            self.v[cells.clone()].copy_from_slice(&v[..width]);
            for (lanes, x) in states.iter().zip(&mut self.states) {
                x[cells.clone()].copy_from_slice(&lanes[..width]);
            }
        }
    }
}

impl Cells for Cpu {
    fn react(
        &self,
        model: Model,
        dt: f64,
        substeps: u32,
        stimulus: Option<(f64, &Vec<f64>)>,
        v: &mut Vec<f64>,
        states: &mut Vec<f64>,
    ) -> Result<()> {
        let n = v.len();
        let dt = check(model, dt, substeps, stimulus.map(|(_, s)| s.len()), n, states.len())?;
        let mut columns: Vec<_> = states.chunks_mut(n.max(1)).map(|x| x.chunks_mut(CHUNK)).collect();
        let chunks: Vec<Chunk> = v
            .chunks_mut(CHUNK)
            .enumerate()
            .map(|(c, v)| Chunk {
                stimulus: stimulus.map(|(scale, s)| (scale, &s[c * CHUNK..][..v.len()])),
                v,
                states: columns.iter_mut().filter_map(Iterator::next).collect(),
            })
            .collect();
        self.install(|| {
            chunks
                .into_par_iter()
                .for_each(|mut chunk| with_model!(model, M => chunk.react::<M>(dt, substeps)))
        });
        Ok(())
    }

    fn activate(
        &self,
        t: f64,
        dt: f64,
        threshold: f64,
        before: &Vec<f64>,
        after: &Vec<f64>,
        times: &mut Vec<f64>,
    ) -> Result<()> {
        check_lengths("activate", times.len(), &[("before", before.len()), ("after", after.len())])?;
        let nodes = times.par_iter_mut().with_min_len(CHUNK).zip(before.par_iter()).zip(after.par_iter());
        let first_crossing = |((time, &before), &after): ((&mut f64, &f64), &f64)| {
            *time = activation(*time, t, dt, threshold, before, after)
        };
        self.install(|| nodes.for_each(first_crossing));
        Ok(())
    }
}
