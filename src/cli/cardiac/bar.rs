//! A bar on stderr, where that is a terminal: how far the simulation has come.

use std::cell::Cell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use warpsolve::cardiac::StepReport;

use super::super::table::duration;
use super::statistics::Statistics;

/// Time between two updates of the text.
const PERIOD: Duration = Duration::from_millis(50);

/// The bar of the steps; it goes when this goes.
pub struct Bar {
    bar: ProgressBar,
    /// ms
    t_end: f64,
    updated: Cell<Instant>,
}

impl Bar {
    /// A bar of so many steps, the last one to `t_end` (ms).
    pub fn new(quiet: bool, steps: u64, t_end: f64) -> Bar {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let template = "{prefix:<10} [{bar:40}] {msg}, {elapsed}, {eta} to go";
        // The template is a constant; a default stands in for a wrong one.
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(steps), target)
            .with_style(style.progress_chars("=> "))
            .with_prefix("steps");
        Bar { bar, t_end, updated: Cell::new(Instant::now()) }
    }

    /// Shows the newest step, now and then.
    pub fn show(&self, step: &StepReport, all: &Statistics) {
        if self.updated.get().elapsed() < PERIOD {
            return;
        }
        self.updated.set(Instant::now());
        let iterations = match (step.parabolic_iterations, step.elliptic_iterations) {
            (parabolic, 0) => parabolic.to_string(),
            (0, elliptic) => elliptic.to_string(),
            (parabolic, elliptic) => format!("{parabolic} + {elliptic}"),
        };
        self.bar.set_message(format!(
            "{:.2} of {} ms, {iterations} iterations, {} a step",
            step.time,
            self.t_end,
            duration(all.mean_seconds())
        ));
        self.bar.set_position(all.count);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
