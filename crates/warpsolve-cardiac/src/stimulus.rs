//! Currents into the tissue from outside.

use super::shape::Shape;
use warpsolve_host::named::named;

named! {
    /// Where the current of a stimulus goes.
    "kind of stimulus" StimulusKind {
        /// Through the membrane, from the outside of the cells to their inside: I_stim.
        Transmembrane = "transmembrane",
        /// Into the space outside of the cells, by an electrode: I_e.
        Extracellular = "extracellular",
    }
}

named! {
    /// What is done where extracellular stimuli do not add up to 0 and nothing is grounded.
    "balance" Balance {
        /// They are refused.
        Refuse = "refuse",
        /// What is missing enters or leaves evenly everywhere.
        Spread = "spread",
        /// The weaker of anodes and cathodes are made as strong as the others.
        Scale = "scale",
    }
}

/// A current into a part of the tissue.
#[derive(Debug, Clone, PartialEq)]
pub struct Stimulus {
    /// Where the current goes.
    pub kind: StimulusKind,
    /// Where: at all nodes inside.
    pub shape: Shape,
    /// When it begins (ms).
    pub start: f64,
    /// How long it lasts (ms).
    pub duration: f64,
    /// Its strength (uA/mm^3). A transmembrane one changes v by strength / (chi Cm), in mV/ms. Of an
    /// extracellular one a positive strength is an anode, a negative one a cathode, where tissue is excited
    /// first.
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
