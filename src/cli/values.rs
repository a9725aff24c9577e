//! Values of options, read from their text.

use std::fmt::{self, Display};
use std::str::FromStr;

use warpsolve::Error;

/// A name, or "auto" for `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrAuto<T>(pub Option<T>);

impl<T: FromStr<Err = Error>> FromStr for OrAuto<T> {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self, Error> {
        if name == "auto" {
            return Ok(OrAuto(None));
        }
        match name.parse() {
            Err(Error::Option(message)) => Err(Error::Option(format!("{message}, auto"))),
            parsed => parsed.map(|value| OrAuto(Some(value))),
        }
    }
}

impl<T: Display> Display for OrAuto<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.0 {
            Some(name) => name.fmt(f),
            None => f.write_str("auto"),
        }
    }
}

/// The length of GMRES cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    /// After so many iterations.
    After(usize),
    /// Never.
    Never,
}

impl FromStr for Restart {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(n) if (1..=warpsolve::solver::MAX_RESTART).contains(&n) => Ok(Restart::After(n)),
            _ if text == "none" => Ok(Restart::Never),
            _ => {
                Err(format!("it takes a whole number from 1 to {}, or none", warpsolve::solver::MAX_RESTART))
            }
        }
    }
}

/// A tolerance.
pub fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err("it takes a finite number, 0 or more".into()),
    }
}

/// A weight of the Jacobi method.
pub fn omega(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 2.0 => Ok(x),
        _ => Err("it takes a number between 0 and 2, both excluded".into()),
    }
}

/// Any number but NaN and infinities.
pub fn finite(text: &str) -> Result<f64, String> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite()).ok_or("it takes a finite number".into())
}

/// A length, a time, a share.
pub fn positive(text: &str) -> Result<f64, String> {
    finite(text).ok().filter(|&x| x > 0.0).ok_or("it takes a finite number above 0".into())
}

/// N numbers with commas between.
pub fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let found: Result<Vec<f64>, _> = text.split(',').map(finite).collect();
    found
        .ok()
        .and_then(|found| found.try_into().ok())
        .ok_or(format!("it takes {N} numbers with commas between"))
}
