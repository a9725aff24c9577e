//! The direction from which a mesh is seen.

use warpsolve_host::error::{Error, Result};
use warpsolve_host::fem::{Vec3, cross, dot};

/// An orthographic projection: three perpendicular unit vectors.
pub(super) struct View {
    right: Vec3,
    up: Vec3,
    /// The direction to the viewer.
    toward: Vec3,
}

impl View {
    /// The view from the direction `toward`, with z upwards, or y where the view is along z.
    pub fn new(toward: Vec3) -> Result<View> {
        let unit = |v: Vec3| v.map(|x| x / dot(v, v).sqrt());
        // Scaled before it is squared, so that nothing overflows.
        let largest = toward.into_iter().map(f64::abs).fold(0.0, f64::max);
        let toward = unit(toward.map(|x| x / largest));
        if toward.iter().any(|x| !x.is_finite()) {
            return Err(Error::Option(
                "a view needs a direction towards the viewer: three finite numbers, not all 0".into(),
            ));
        }
        let upwards = if toward[2].abs() < 0.8 { [0.0, 0.0, 1.0] } else { [0.0, 1.0, 0.0] };
        let right = unit(cross(upwards, toward));
        Ok(View { right, up: cross(toward, right), toward })
    }

    /// A point or a vector in the viewer's coordinates: right, up, towards the viewer.
    pub fn see(&self, p: Vec3) -> Vec3 {
        [dot(p, self.right), dot(p, self.up), dot(p, self.toward)]
    }
}

/// The view of a mesh in this bounding box. One in a plane of constant z is seen from above. A flat mesh is
/// seen from its largest side, a little from below and from the left; any other from the front.
pub(super) fn best([low, high]: [Vec3; 2]) -> Vec3 {
    let extent = |axis: usize| high[axis] - low[axis];
    if extent(2) == 0.0 {
        return [0.0, 0.0, 1.0];
    }
    let mut axes = [0, 1, 2];
    axes.sort_by(|&a, &b| extent(a).total_cmp(&extent(b)));
    if extent(axes[0]) > 0.6 * extent(axes[1]) {
        return [0.0, -1.0, 0.0];
    }
    match axes[0] {
        0 => [1.0, -0.25, 0.45],
        1 => [-0.25, -1.0, 0.45],
        _ => [-0.25, -0.45, 1.0],
    }
}
