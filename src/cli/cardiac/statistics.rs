//! What the steps of a run took.

use warpsolve::cardiac::StepReport;

/// Of all steps.
#[derive(Debug, Clone, Default)]
pub struct Statistics {
    pub count: u64,
    pub parabolic: Iterations,
    pub elliptic: Iterations,
    /// The first step, in which a GPU's driver makes the kernels ready.
    pub first_seconds: f64,
    pub seconds: f64,
}

/// Of a system in all steps.
#[derive(Debug, Clone, Default)]
pub struct Iterations {
    pub sum: u64,
    pub least: u32,
    pub most: u32,
}

impl Statistics {
    /// Counts a step.
    pub fn add(&mut self, step: &StepReport) {
        let is_first = self.count == 0;
        if is_first {
            self.first_seconds = step.seconds;
        }
        self.count += 1;
        self.seconds += step.seconds;
        self.parabolic.add(step.parabolic_iterations, is_first);
        self.elliptic.add(step.elliptic_iterations, is_first);
    }

    /// Seconds of a step but the first, if there are others.
    pub fn mean_seconds(&self) -> f64 {
        match self.count {
            0 | 1 => self.seconds,
            count => (self.seconds - self.first_seconds) / (count - 1) as f64,
        }
    }
}

impl Iterations {
    fn add(&mut self, iterations: u32, is_first: bool) {
        self.sum += u64::from(iterations);
        self.least = if is_first { iterations } else { self.least.min(iterations) };
        self.most = self.most.max(iterations);
    }
}
