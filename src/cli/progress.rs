//! A bar on stderr, where that is a terminal.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The solve's bar is so many steps long, from `||r|| = ||b||` to the tolerance on a logarithmic scale.
const STEPS: u64 = 1000;
/// Time between two updates of the text.
const PERIOD: Duration = Duration::from_millis(50);

/// Shows what is being done. Does nothing with `--quiet` or without a terminal.
#[derive(Clone)]
pub struct Progress {
    bar: ProgressBar,
    state: std::sync::Arc<Mutex<State>>,
}

struct State {
    stage: &'static str,
    updated: Instant,
}

impl Progress {
    /// A bar that is not yet visible.
    pub fn new(quiet: bool) -> Progress {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let state = State { stage: "", updated: Instant::now() };
        Progress { bar: ProgressBar::with_draw_target(None, target), state: Mutex::new(state).into() }
    }

    /// Begins a stage, unless it is the present one. Returns whether the text is due.
    fn begin(&self, stage: &'static str, style: &str, length: Option<u64>) -> bool {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if state.stage != stage {
            self.bar.reset();
            if let Some(length) = length {
                self.bar.set_length(length);
            }
            // The templates are constants of this file; a default stands in for a wrong one.
            let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
            self.bar.set_style(style.progress_chars("=> "));
            self.bar.set_message("");
            self.bar.set_prefix(stage);
            self.bar.enable_steady_tick(Duration::from_millis(100));
            *state = State { stage, updated: Instant::now() };
            return true;
        }
        let due = state.updated.elapsed() >= PERIOD;
        if due {
            state.updated = Instant::now();
        }
        due
    }

    /// Something of unknown length.
    pub fn stage(&self, stage: &'static str) {
        if !self.bar.is_hidden() {
            self.begin(stage, "{prefix:<10} {spinner} {elapsed}", None);
        }
    }

    /// Bytes read, and bytes in all.
    pub fn reading(&self, done: u64, all: u64) {
        if !self.bar.is_hidden() {
            let style = "{prefix:<10} [{bar:40}] {bytes} of {total_bytes}, {bytes_per_sec}";
            self.begin("reading", style, Some(all));
            self.bar.set_position(done);
        }
    }

    /// Iterations done and the newest residual norm, on the way from `first` to `threshold`.
    pub fn solving(&self, iterations: u32, norm: f64, first: f64, threshold: f64) {
        if self.bar.is_hidden()
            || !self.begin("solve", "{prefix:<10} [{bar:40}] {msg}, {elapsed}", Some(STEPS))
        {
            return;
        }
        let fraction = ((first / norm).ln() / (first / threshold).ln()).clamp(0.0, 1.0);
        // A fraction that is NaN becomes position 0.
        self.bar.set_position((fraction * STEPS as f64) as u64);
        self.bar.set_message(format!("{iterations} iterations, residual {:.1e}", norm / first));
    }

    /// Removes the bar.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner).stage = "";
    }
}
