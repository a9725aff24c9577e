//! A thread a cell: the ionic models of [`arithmetic::cells`].

use arithmetic::cells::{CellModel, MitchellSchaeffer, TenTusscher, activation};
use cuda_std::{kernel, memory::*, thread};

/// `substeps` steps of `dt` ms for each of `n` cells. Variable k of cell i is `states[k n + i]`; the stimulus
/// is `scale stimulus[i]` in mV/ms, or none where the pointer is null.
#[kernel(M = [MitchellSchaeffer, TenTusscher])]
pub unsafe fn react<M: CellModel>(
    n: u64,
    dt: f64,
    substeps: u32,
    scale: f64,
    stimulus: *const f64,
    v: *mut f64,
    states: *mut f64,
) {
    let n = n as usize;
    let mut i = thread::index_x();
    while i < n {
        // SAFETY: the launcher's arguments are valid for n cells.
        unsafe {
            let mut state = M::State::default();
            for (k, x) in state.as_mut().iter_mut().enumerate() {
                *x = states.ld(k * n + i);
            }
            let stimulus = if stimulus.is_null() { 0.0 } else { scale * stimulus.ld_nc(i) };
            let mut potential = v.ld(i);
            for _ in 0..substeps {
                potential = M::step(potential, &mut state, dt, stimulus);
            }
            v.st(i, potential);
            for (k, &x) in state.as_ref().iter().enumerate() {
                states.st(k * n + i, x);
            }
        }
        i += thread::stride();
    }
}

/// [`activation`] for each of `n` nodes; `times` starts as
/// [`NOT_ACTIVATED`](arithmetic::cells::NOT_ACTIVATED).
#[kernel]
pub unsafe fn activate(
    n: u64,
    t: f64,
    dt: f64,
    threshold: f64,
    before: *const f64,
    after: *const f64,
    times: *mut f64,
) {
    let mut i = thread::index_x();
    while i < n as usize {
        // SAFETY: the launcher's vectors have n elements.
        unsafe {
            let time = activation(times.ld(i), t, dt, threshold, before.ld_nc(i), after.ld_nc(i));
            times.st(i, time);
        }
        i += thread::stride();
    }
}
