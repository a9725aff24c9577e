//! Currents into the tissue from outside.

/// A part of space (mm).
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// All points between two corners.
    Box {
        /// The smallest coordinates.
        low: [f64; 3],
        /// The largest coordinates.
        high: [f64; 3],
    },
    /// All points at most `radius` from a centre.
    Ball {
        /// The centre.
        centre: [f64; 3],
        /// The radius.
        radius: f64,
    },
}

impl Shape {
    /// Whether `point` is inside, or at most `slack` outside, because rounding moves nodes on a surface.
    pub fn contains(&self, point: [f64; 3], slack: f64) -> bool {
        match self {
            Shape::Box { low, high } => {
                (0..3).all(|x| point[x] >= low[x] - slack && point[x] <= high[x] + slack)
            }
            Shape::Ball { centre, radius } => {
                let square: f64 = (0..3).map(|x| (point[x] - centre[x]).powi(2)).sum();
                square.sqrt() <= radius + slack
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        let finite = |point: &[f64; 3]| point.iter().all(|x| x.is_finite());
        match self {
            Shape::Box { low, high } if finite(low) && finite(high) && (0..3).all(|x| low[x] <= high[x]) => {
                Ok(())
            }
            Shape::Box { low, high } => Err(format!(
                "the box from {low:?} to {high:?} mm is empty; give its lower corner, then its upper one"
            )),
            Shape::Ball { centre, radius } if finite(centre) && *radius > 0.0 && radius.is_finite() => Ok(()),
            Shape::Ball { centre, radius } => Err(format!(
                "a ball around {centre:?} with a radius of {radius} mm; it must be positive, and all numbers finite"
            )),
        }
    }
}

/// A current into the cells of a part of the tissue.
#[derive(Debug, Clone, PartialEq)]
pub struct Stimulus {
    /// Where: at all nodes inside.
    pub shape: Shape,
    /// When it begins (ms).
    pub start: f64,
    /// How long it lasts (ms).
    pub duration: f64,
    /// Its strength (uA/mm^3). It changes v by strength / (chi Cm), in mV/ms.
    pub strength: f64,
    /// The time from one beginning to the next (ms), if it is repeated.
    pub period: Option<f64>,
    /// How often it acts, if it is repeated; `None`: to the end. A train of S1 has a number of beats.
    pub beats: Option<u32>,
}

impl Stimulus {
    /// Checks the ranges. The error says what is wrong.
    pub(super) fn check(&self) -> Result<(), String> {
        self.shape.check()?;
        let Stimulus { start, duration, strength, period, beats, .. } = *self;
        if beats == Some(0) || (beats.is_some() && period.is_none()) {
            return Err(
                "a number of beats is 1 or more, of a stimulus that is repeated; give it a period".into()
            );
        }
        if !(start >= 0.0 && start.is_finite()) {
            return Err(format!("it starts at {start} ms; that must be a time from 0 on"));
        }
        if !(duration > 0.0 && duration.is_finite()) {
            return Err(format!("it lasts {duration} ms; that must be a positive finite number"));
        }
        if !strength.is_finite() {
            return Err(format!("its strength is {strength} uA/mm^3; it must be finite"));
        }
        match period {
            Some(period) if !(period >= duration && period.is_finite()) => Err(format!(
                "it is repeated every {period} ms, but lasts {duration} ms; take a period at least as long"
            )),
            _ => Ok(()),
        }
    }

    /// How long it has been on until time `t`, in all (ms).
    fn on_until(&self, t: f64) -> f64 {
        let since = t - self.start;
        if since <= 0.0 {
            return 0.0;
        }
        match self.period {
            None => since.min(self.duration),
            Some(period) => {
                let last = f64::from(self.beats.unwrap_or(u32::MAX) - 1);
                let beats = (since / period).floor().min(last);
                beats * self.duration + (since - beats * period).min(self.duration)
            }
        }
    }

    /// The share of the time from `t` to `t + dt` in which it is on, so that the charge does not depend on
    /// the steps.
    pub(super) fn share(&self, t: f64, dt: f64) -> f64 {
        // Rounding errors of the differences of times are smaller.
        const RESOLUTION: f64 = 1e9;
        let share = (self.on_until(t + dt) - self.on_until(t)) / dt;
        (share * RESOLUTION).round() / RESOLUTION
    }
}
