//! Numbers of about 32 digits, and the functions that are measured, of them: the truth beside f64.
//!
//! A number is the sum of two, the second within half a unit in the last place of the first (Dekker, 1971;
//! Knuth, The Art of Computer Programming 2, 4.2.2).

mod functions;

pub use functions::*;

use std::ops::{Add, Div, Mul, Neg, Sub};

#[derive(Debug, Clone, Copy)]
pub struct Double {
    pub high: f64,
    pub low: f64,
}

pub const PI: Double = Double { high: std::f64::consts::PI, low: 1.224_646_799_147_353_2e-16 };
pub const LN_2: Double = Double { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };
/// Euler's constant.
pub const GAMMA: Double = Double { high: 0.577_215_664_901_532_9, low: -4.942_915_152_430_645e-18 };

pub fn double(high: f64) -> Double {
    Double { high, low: 0.0 }
}

fn sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let part = high - a;
    Double { high, low: (a - (high - part)) + (b - part) }
}

/// The same, if a is the larger.
fn ordered_sum(a: f64, b: f64) -> Double {
    let high = a + b;
    Double { high, low: b - (high - a) }
}

impl Add for Double {
    type Output = Double;

    fn add(self, other: Double) -> Double {
        let (high, low) = (sum(self.high, other.high), sum(self.low, other.low));
        let part = ordered_sum(high.high, high.low + low.high);
        ordered_sum(part.high, part.low + low.low)
    }
}

impl Neg for Double {
    type Output = Double;

    fn neg(self) -> Double {
        Double { high: -self.high, low: -self.low }
    }
}

impl Sub for Double {
    type Output = Double;

    fn sub(self, other: Double) -> Double {
        self + -other
    }
}

impl Mul for Double {
    type Output = Double;

    fn mul(self, other: Double) -> Double {
        let high = self.high * other.high;
        let low = self.high.mul_add(other.high, -high);
        ordered_sum(high, low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for Double {
    type Output = Double;

    fn div(self, other: Double) -> Double {
        let first = self.high / other.high;
        let rest = self - other * double(first);
        let second = rest.high / other.high;
        let rest = rest - other * double(second);
        ordered_sum(first, second) + double(rest.high / other.high)
    }
}

impl Double {
    /// Times a power of two.
    pub fn scaled(self, power: i32) -> Double {
        // In two steps, since the power may be beyond the largest number.
        let (first, second) = (2.0_f64.powi(power / 2), 2.0_f64.powi(power - power / 2));
        Double { high: self.high * first * second, low: self.low * first * second }
    }

    pub fn sqrt(self) -> Double {
        if self.high == 0.0 {
            return self;
        }
        let root = double(self.high.sqrt());
        root + (self - root * root) / root.scaled(1)
    }

    /// The distance of `found`, in units in the last place of the `f64` nearest to this.
    pub fn error(self, found: f64) -> f64 {
        let exponent = (self.high.to_bits() >> 52 & 0x7FF).max(1) as i32 - 1023;
        (double(found) - self).scaled(52 - exponent).high.abs()
    }
}
