//! Parts of space, by which places of a mesh are named.

use std::fmt;

use warpsolve_host::number::{plain, vector};

/// Nodes outside of a shape by at most this share of the mesh's diameter count as inside.
const SLACK: f64 = 1e-9;

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

    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let finite = |point: &[f64; 3]| point.iter().all(|x| x.is_finite());
        match self {
            Shape::Box { low, high } if finite(low) && finite(high) && (0..3).all(|x| low[x] <= high[x]) => {
                Ok(())
            }
            Shape::Box { .. } => {
                Err(format!("the {self} is empty; give its lower corner, then its upper one"))
            }
            Shape::Ball { centre, radius } if finite(centre) && *radius > 0.0 && radius.is_finite() => Ok(()),
            Shape::Ball { .. } => {
                Err(format!("a {self}; the radius must be positive, and all numbers finite"))
            }
        }
    }

    /// Whether each of these points of a mesh is inside. The bounds are those of the mesh.
    pub(super) fn nodes(&self, points: &[[f64; 3]], [low, high]: [[f64; 3]; 2]) -> Vec<bool> {
        let slack = SLACK * (0..3).map(|x| (high[x] - low[x]).powi(2)).sum::<f64>().sqrt();
        points.iter().map(|&point| self.contains(point, slack)).collect()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Shape::Box { low, high } => write!(f, "box from {} to {} mm", vector(*low), vector(*high)),
            Shape::Ball { centre, radius } => {
                write!(f, "ball around {} mm with a radius of {} mm", vector(*centre), plain(*radius))
            }
        }
    }
}
