//! Whether an iteration is worth going on with, by its residual norms.

/// Iterations of a window.
const WINDOW: u32 = 25;
/// Windows in turn that must say the same.
const LOOKS: u32 = 2;

/// Watches the least residual norm of each window. From its decrease since the window before follows how many
/// iterations are still needed; where that is too many twice in turn, the iteration is given up.
#[derive(Debug, Clone)]
pub(super) struct Judge {
    /// Iterations at most that are worth waiting for.
    most: u32,
    /// Of the window before: where it ended, and its least norm.
    last: Option<(u32, f64)>,
    /// The least norm of this window.
    least: f64,
    /// Windows in turn that said: too slow.
    slow: u32,
}

impl Judge {
    /// One that waits for so many iterations.
    pub fn new(most: u32) -> Judge {
        Judge { most, last: None, least: f64::INFINITY, slow: 0 }
    }

    /// Takes a norm into account.
    pub fn observe(&mut self, iterations: u32, norm: f64, threshold: f64) {
        self.least = self.least.min(norm);
        let (from, before) = *self.last.get_or_insert((iterations, norm));
        let done = iterations.saturating_sub(from);
        if done < WINDOW {
            return;
        }
        // The decrease of ln ||r|| an iteration, and iterations to the threshold.
        let rate = (before / self.least).ln() / f64::from(done);
        let needed = (self.least / threshold).ln() / rate;
        let is_slow = rate <= 0.0 || f64::from(iterations) + needed > f64::from(self.most);
        self.slow = if is_slow { self.slow + 1 } else { 0 };
        (self.last, self.least) = (Some((iterations, self.least)), f64::INFINITY);
    }

    /// Whether to end.
    pub fn gives_up(&self) -> bool {
        self.slow >= LOOKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The iteration in which a history is given up.
    fn end(most: u32, norm: impl Fn(u32) -> f64) -> Option<u32> {
        let mut judge = Judge::new(most);
        (0..2000).find(|&k| {
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
}
