//! How long a piece of work takes, over and over.

use std::time::Instant;

use cuda_std::Real;

use crate::backend::Backend;
use crate::backend::gpu::Gpu;
use crate::error::Result;
use crate::launch::Counts;

/// Calls before the first that is timed, and as many for an estimate of how long one takes.
const WARM_UP: usize = 10;
/// Short work is timed several times in a row, so long that the clock's own microsecond disappears.
const BATCH_SECONDS: f64 = 0.5e-3;
/// Most calls in a row.
const MAX_BATCH: usize = 16;

/// The times of some work that was done over and over.
#[derive(Debug, Clone)]
pub struct Timing {
    /// Seconds of one call, ascending, one for each repeat.
    pub seconds: Vec<f64>,
    /// Calls timed together for each of them.
    pub batch: usize,
    /// What the device was asked for in all these calls; `None` on the CPU.
    pub counts: Option<Counts>,
}

impl Timing {
    /// Of times in any order, at least one.
    pub fn of(mut seconds: Vec<f64>) -> Timing {
        seconds.sort_by(f64::total_cmp);
        Timing { seconds, batch: 1, counts: None }
    }

    /// The median.
    pub fn median(&self) -> f64 {
        self.quantile(2)
    }

    /// First and third quartile: half of the times lie between them.
    pub fn quartiles(&self) -> (f64, f64) {
        (self.quantile(1), self.quantile(3))
    }

    /// The time below which `quarters` of four lie, between two times in proportion.
    fn quantile(&self, quarters: usize) -> f64 {
        let position = (self.seconds.len() - 1) * quarters;
        let (below, above) = (self.seconds[position / 4], self.seconds[position.div_ceil(4)]);
        below + (position % 4) as f64 / 4.0 * (above - below)
    }
}

/// Times `repeat` calls of `work` (at least one), or as many batches of them where one is short.
///
/// With a `gpu` the time is its own, between two events, and all is queued before the first wait, so that the
/// device never runs dry; without, it is the wall clock's, each batch to its end.
pub(super) fn time<T: Real, B: Backend<T>>(
    backend: &B,
    gpu: Option<&Gpu>,
    repeat: usize,
    work: &mut dyn FnMut() -> Result<()>,
) -> Result<Timing> {
    let mut calls = |count: usize| (0..count).try_for_each(|_| work());
    // A kernel is loaded at its first use, which says nothing of how long it takes.
    calls(WARM_UP)?;
    backend.synchronize()?;
    let start = Instant::now();
    calls(WARM_UP)?;
    backend.synchronize()?;
    let estimate = start.elapsed().as_secs_f64() / WARM_UP as f64;
    let batch = ((BATCH_SECONDS / estimate) as usize).clamp(1, MAX_BATCH);
    let before = gpu.map(|gpu| gpu.device().counters().snapshot());
    let mut seconds = Vec::new();
    match gpu {
        Some(gpu) => {
            let device = gpu.device();
            let mut moments = Vec::new();
            for _ in 0..repeat.max(1) {
                let start = device.record()?;
                calls(batch)?;
                moments.push((start, device.record()?));
            }
            for (start, end) in &moments {
                seconds.push(device.elapsed(start, end)? / batch as f64);
            }
        }
        None => {
            for _ in 0..repeat.max(1) {
                let start = Instant::now();
                calls(batch)?;
                backend.synchronize()?;
                seconds.push(start.elapsed().as_secs_f64() / batch as f64);
            }
        }
    }
    let counts = gpu.zip(before).map(|(gpu, before)| gpu.device().counters().snapshot().since(&before));
    Ok(Timing { batch, counts, ..Timing::of(seconds) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Memory, Vectors};

    #[test]
    fn quartiles_are_of_the_sorted_times() {
        let timing = Timing::of(vec![5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!((timing.median(), timing.quartiles()), (3.0, (2.0, 4.0)));
        let even = Timing::of(vec![4.0, 1.0, 2.0, 3.0]);
        assert_eq!((even.median(), even.quartiles()), (2.5, (1.75, 3.25)));
        let one = Timing::of(vec![7.0]);
        assert_eq!((one.median(), one.quartiles()), (7.0, (7.0, 7.0)));
    }

    #[test]
    fn every_call_is_counted() {
        let gpu = Gpu::simulated().unwrap();
        let mut x = Memory::<f64>::zeros(&gpu, 5).unwrap();
        let mut calls = 0;
        let timing = time::<f64, _>(&gpu, Some(&gpu), 3, &mut || {
            calls += 1;
            gpu.fill(1.5, &mut x)
        });
        let timing = timing.unwrap();
        assert_eq!((timing.seconds.len(), calls), (3, 2 * WARM_UP + 3 * timing.batch));
        assert_eq!(timing.counts.unwrap().launches, 3 * timing.batch as u64);
    }
}
