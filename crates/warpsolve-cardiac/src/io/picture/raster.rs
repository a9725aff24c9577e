//! Triangles on a grid of samples, the nearest to the viewer on top.

use warpsolve_host::fem::{Vec3, dot};

use super::canvas::{Canvas, Colour, WHITE};

/// Samples along each axis of a pixel. Their mean is its colour, so that edges are smooth.
pub(super) const OVERSAMPLING: usize = 3;

/// The colour and the depth of every sample. Coordinates are in samples, x to the right and y downwards.
/// Depth grows towards the viewer.
pub(super) struct Raster {
    width: usize,
    height: usize,
    colours: Vec<Colour>,
    depths: Vec<f32>,
}

impl Raster {
    /// A white picture of this many pixels.
    pub fn new(width: usize, height: usize) -> Raster {
        let (width, height) = (OVERSAMPLING * width, OVERSAMPLING * height);
        let n = width * height;
        Raster { width, height, colours: vec![WHITE; n], depths: vec![f32::NEG_INFINITY; n] }
    }

    /// Colours the samples in a triangle. `paint` gives the colour at barycentric coordinates.
    pub fn triangle(&mut self, corners: [Vec3; 3], mut paint: impl FnMut(Vec3) -> Colour) {
        let [a, b, c] = corners;
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        let range = |axis: usize, end: usize| {
            let low = a[axis].min(b[axis]).min(c[axis]).floor().max(0.0) as usize;
            let high = a[axis].max(b[axis]).max(c[axis]).ceil().max(0.0) as usize;
            low..high.min(end)
        };
        // A triangle seen from its edge covers nothing.
        if area == 0.0 {
            return;
        }
        for j in range(1, self.height) {
            for i in range(0, self.width) {
                let (x, y) = (i as f64 + 0.5, j as f64 + 0.5);
                let part = |p: Vec3, q: Vec3| ((p[0] - x) * (q[1] - y) - (p[1] - y) * (q[0] - x)) / area;
                let share = [part(b, c), part(c, a), part(a, b)];
                let sample = j * self.width + i;
                let depth = dot(share, corners.map(|p| p[2])) as f32;
                if share.iter().all(|&part| part >= 0.0) && depth > self.depths[sample] {
                    self.depths[sample] = depth;
                    self.colours[sample] = paint(share);
                }
            }
        }
    }

    /// The picture in pixels.
    pub fn averaged(&self) -> Canvas {
        let (width, height) = (self.width / OVERSAMPLING, self.height / OVERSAMPLING);
        Canvas::of(width, height, |x, y| {
            let mut sum = [0; 3];
            for j in 0..OVERSAMPLING {
                let row = (OVERSAMPLING * y + j) * self.width + OVERSAMPLING * x;
                for colour in &self.colours[row..row + OVERSAMPLING] {
                    (0..3).for_each(|k| sum[k] += usize::from(colour[k]));
                }
            }
            let n = OVERSAMPLING * OVERSAMPLING;
            sum.map(|s| ((s + n / 2) / n) as u8)
        })
    }
}

/// The mean of three vectors with barycentric weights.
pub(super) fn weighted(share: Vec3, vectors: [Vec3; 3]) -> Vec3 {
    std::array::from_fn(|x| dot(share, vectors.map(|v| v[x])))
}

/// |grad u| of the linear function with the values `u` at the corners, per sample along the picture.
pub(super) fn slope([a, b, c]: [Vec3; 3], u: Vec3) -> f64 {
    let (p, q) = ([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
    let area = p[0] * q[1] - p[1] * q[0];
    let (du, dw) = (u[1] - u[0], u[2] - u[0]);
    ((du * q[1] - dw * p[1]) / area).hypot((dw * p[0] - du * q[0]) / area)
}
