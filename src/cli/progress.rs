//! A bar on stderr, where that is a terminal.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use warpsolve::job::{CancellationToken, Stage};

use super::output::warn;
use super::signals;

/// The solve's bar is so many steps long, from `||r|| = ||b||` to the tolerance on a logarithmic scale.
const STEPS: u64 = 1000;
/// Time between two updates of the text.
const PERIOD: Duration = Duration::from_millis(50);
/// Time between two turns of a spinner.
const TICK: Duration = Duration::from_millis(100);

/// Shows what is being done. Does nothing with `--quiet` or without a terminal.
#[derive(Clone)]
pub struct Progress {
    visible: bool,
    shown: Arc<Mutex<Option<Shown>>>,
}

/// The bar of one stage.
struct Shown {
    stage: &'static str,
    bar: ProgressBar,
    updated: Option<Instant>,
}

impl Progress {
    /// Nothing is shown yet.
    pub fn new(quiet: bool) -> Progress {
        let visible = !quiet && !ProgressDrawTarget::stderr().is_hidden();
        Progress { visible, shown: Arc::default() }
    }

    fn shown(&self) -> MutexGuard<'_, Option<Shown>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the bar of `stage`, now and then, after making it if another was shown.
    fn show(
        &self,
        stage: &'static str,
        template: &str,
        length: Option<u64>,
        update: impl FnOnce(&ProgressBar),
    ) {
        if !self.visible {
            return;
        }
        let mut shown = self.shown();
        if shown.as_ref().is_none_or(|shown| shown.stage != stage) {
            if let Some(last) = shown.take() {
                last.bar.finish_and_clear();
            }
            // The templates are constants of this file; a default stands in for a wrong one.
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr())
                .with_style(style.progress_chars("=> "))
                .with_prefix(stage);
            bar.enable_steady_tick(TICK);
            *shown = Some(Shown { stage, bar, updated: None });
        }
        if let Some(Shown { bar, updated, .. }) = &mut *shown
            && updated.is_none_or(|moment| moment.elapsed() >= PERIOD)
        {
            *updated = Some(Instant::now());
            update(bar);
        }
    }

    /// Something of unknown length.
    pub fn stage(&self, stage: &'static str) {
        self.show(stage, "{prefix:<10} {spinner} {elapsed}", None, |_| {});
    }

    /// A factorisation that is predicted to take so many seconds and bytes.
    pub fn factorising(&self, seconds: f64, bytes: f64) {
        let predicted = format!("predicted: {seconds:.1} s, {:.2} GiB", bytes / (1u64 << 30) as f64);
        let template = "{prefix:<10} {spinner} {elapsed}, {msg}";
        self.show("factorisation", template, None, |bar| bar.set_message(predicted));
    }

    /// One of many pieces of work.
    pub fn working(&self, what: String) {
        self.show("measuring", "{prefix:<10} {spinner} {msg}, {elapsed}", None, |bar| bar.set_message(what));
    }

    /// Bytes read, and bytes in all.
    pub fn reading(&self, done: u64, all: u64) {
        let template = "{prefix:<10} [{bar:40}] {bytes} of {total_bytes}, {bytes_per_sec}";
        self.show("reading", template, Some(all), |bar| bar.set_position(done));
    }

    /// Iterations done and the newest residual norm, on the way from `first` to `threshold`.
    pub fn solving(&self, iterations: u32, norm: f64, first: f64, threshold: f64) {
        self.show("solve", "{prefix:<10} [{bar:40}] {msg}, {elapsed}", Some(STEPS), |bar| {
            let fraction = ((first / norm).ln() / (first / threshold).ln()).clamp(0.0, 1.0);
            // A fraction that is NaN becomes position 0.
            bar.set_position((fraction * STEPS as f64) as u64);
            bar.set_message(format!("iteration {iterations}, residual {:.1e}", norm / first));
        });
    }

    /// Removes the bar.
    pub fn clear(&self) {
        if let Some(last) = self.shown().take() {
            last.bar.finish_and_clear();
        }
    }
}

/// Shows what is being done, and lets Ctrl-C cancel from the first iteration or factorisation on: before that
/// nothing would be lost.
pub fn show(progress: Progress, cancellation: CancellationToken) -> impl FnMut(Stage) + Send {
    let mut is_listening = false;
    move |stage| {
        let can_be_cancelled = matches!(stage, Stage::Solve | Stage::Factorisation { .. });
        if can_be_cancelled && !is_listening {
            is_listening = true;
            if let Err(error) = signals::raise(&cancellation.flag()) {
                warn(&format!("a signal will end the program at once: {error}"));
            }
        }
        match stage {
            Stage::SetUp => progress.stage("set-up"),
            Stage::Upload => progress.stage("upload"),
            Stage::Factorisation { seconds, bytes } => progress.factorising(seconds, bytes),
            Stage::Iteration { iterations, norm, norm_b, threshold } => {
                progress.solving(iterations, norm, norm_b, threshold);
            }
            _ => {}
        }
    }
}
