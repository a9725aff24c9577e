//! Whether an iteration is worth going on with, by its residual norms.

/// Iterations of a window, and at least of one where little is waited for.
const WINDOW: u32 = 25;
const SHORT_WINDOW: u32 = 10;
/// A window of CG has one in so many of the iterations that it may do: its residual norms may grow until it
/// has seen most of the spectrum, and go down all the faster then.
const OF_CG: u32 = 8;
/// Windows in turn that must say the same, usually.
const LOOKS: u32 = 2;
/// Iterations that the last way may do before it is looked at, and those of its windows.
const FREE: u32 = 5000;
const LONG_WINDOW: u32 = 500;

/// Watches the least residual norm of each window. From its decrease since the window before follows how many
/// iterations are still needed. Where that is more than it is worth waiting for, whatever was done so far,
/// twice in turn, the iteration is given up; and where all would be twice as many.
#[derive(Debug, Clone)]
pub(super) struct Judge {
    /// Iterations at most that are worth waiting for.
    most: u32,
    /// Iterations before the first window, and in each.
    free: u32,
    window: u32,
    /// Of the window before: where it ended, and its least norm.
    last: Option<(u32, f64)>,
    /// The least norm of this window.
    least: f64,
    /// Windows in turn that said: too slow, and how many of them must say it.
    slow: u32,
    looks: u32,
}

impl Judge {
    /// One that waits for so many iterations.
    pub fn new(most: u32) -> Judge {
        Judge { most, free: 0, window: WINDOW, last: None, least: f64::INFINITY, slow: 0, looks: LOOKS }
    }

    /// The same for CG.
    pub fn of_cg(most: u32) -> Judge {
        Judge { window: WINDOW.max(most / OF_CG), ..Judge::new(most) }
    }

    /// One for a [glance](super::ladder::glance), which shows soon, with a method whose norms never grow at
    /// once.
    pub fn at_a_glance(most: u32, is_monotone: bool) -> Judge {
        let looks = if is_monotone { 1 } else { LOOKS };
        Judge { window: SHORT_WINDOW.max(most / OF_CG), looks, ..Judge::new(most) }
    }

    /// One for a way after which there is no other: nothing is lost by going on, as long as an end within so
    /// many iterations is in sight.
    pub fn of_the_last(most: u32) -> Judge {
        Judge { free: FREE, window: LONG_WINDOW, ..Judge::new(most) }
    }

    /// Takes a norm into account.
    pub fn observe(&mut self, iterations: u32, norm: f64, threshold: f64) {
        if iterations < self.free {
            return;
        }
        self.least = self.least.min(norm);
        let (from, before) = *self.last.get_or_insert((iterations, norm));
        let done = iterations.saturating_sub(from);
        if done < self.window {
            return;
        }
        // The decrease of ln ||r|| an iteration, and iterations to the threshold.
        let rate = (before / self.least).ln() / f64::from(done);
        let needed = (self.least / threshold).ln() / rate;
        let done = f64::from(iterations.min(self.most));
        let is_slow = rate <= 0.0 || f64::from(iterations) + needed > f64::from(self.most) + done;
        self.slow = if is_slow { self.slow + 1 } else { 0 };
        (self.last, self.least) = (Some((iterations, self.least)), f64::INFINITY);
    }

    /// Whether to end.
    pub fn gives_up(&self) -> bool {
        self.slow >= self.looks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The iteration in which a history is given up.
    fn end(most: u32, norm: impl Fn(u32) -> f64) -> Option<u32> {
        end_of(Judge::new(most), 2000, norm)
    }

    fn end_of(mut judge: Judge, iterations: u32, norm: impl Fn(u32) -> f64) -> Option<u32> {
        (0..iterations).find(|&k| {
            judge.observe(k, norm(k), 1e-8);
            judge.gives_up()
        })
    }

    #[test]
    fn what_will_not_make_it_is_left_early() {
        assert_eq!(end(200, |k| 0.8f64.powi(k as i32)), None);
        assert_eq!(end(200, |k| 0.99f64.powi(k as i32)), Some(2 * WINDOW));
        assert_eq!(end(200, |_| 1.0), Some(2 * WINDOW));
        // One slow stretch is forgiven.
        assert_eq!(end(300, |k| 0.8f64.powi(k.min(30) as i32 + k.saturating_sub(60) as i32)), None);
        // CG may begin with residuals that grow.
        assert_eq!(end(300, |k| 0.8f64.powi((k as i32 - 20).abs() - 20)), None);
        // Norms that jump are judged by the least of them.
        let jumps = |k: u32| 0.8f64.powi(k as i32) * if k.is_multiple_of(3) { 1.0 } else { 1e3 };
        assert_eq!(end(300, jumps), None);
    }

    /// As with the matrix of an elastic beam: nothing is gained until waves have gone through it.
    #[test]
    fn cg_is_waited_for() {
        let late = |k: u32| 0.8f64.powi(k.saturating_sub(60) as i32);
        assert_eq!(end(400, late), Some(2 * WINDOW));
        assert_eq!(end_of(Judge::of_cg(400), 2000, late), None);
        assert_eq!(end_of(Judge::of_cg(400), 2000, |_| 1.0), Some(2 * 400 / OF_CG));
        assert_eq!(end_of(Judge::of_cg(100), 2000, |_| 1.0), Some(2 * WINDOW));
    }

    #[test]
    fn the_last_way_goes_on_while_its_rate_promises_an_end() {
        let end = |norm: fn(u32) -> f64| end_of(Judge::of_the_last(100_000), 30_000, norm);
        assert_eq!(end(|k| (-1e-3 * f64::from(k)).exp()), None);
        assert_eq!(end(|k| (-1e-5 * f64::from(k)).exp()), Some(FREE + 2 * LONG_WINDOW));
        assert_eq!(end(|k| (-1e-3 * f64::from(k.min(9000))).exp()), Some(9000 + 2 * LONG_WINDOW));
    }
}
