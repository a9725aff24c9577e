//! Pictures of a mesh: activation times, or another quantity, on its surface, as a PNG file.

mod canvas;
mod raster;
mod surface;
#[cfg(test)]
mod tests;
mod view;

use std::path::Path;

use crate::mesh::Mesh;
use warpsolve_host::error::{Error, Result};
use warpsolve_host::fem::{Vec3, dot};
use warpsolve_host::io::atomic::write_atomically;

use canvas::{BLACK, Canvas, Colour, LETTER, LINE, mix};
use raster::{OVERSAMPLING, Raster};
use surface::Surface;
use view::View;

/// Width of a picture, pixels.
const WIDTH: usize = 1280;
/// Least and largest height, pixels. In between it follows from the mesh.
const HEIGHTS: [f64; 2] = [480.0, 1120.0];
/// White margin around everything, pixels.
const MARGIN: usize = 32;
/// Width of the colour bar with its text, at the right, pixels.
const LEGEND: usize = 240;
/// Width of the colour bar, pixels.
const BAR: usize = 32;
/// Most steps between isochrones.
const MOST_LINES: f64 = 20.0;
/// Width of an isochrone, pixels.
const LINE_WIDTH: f64 = 1.3;
/// Where the colour map begins: below, black lines cannot be seen on the dark violet.
const DARKEST: f64 = 0.12;
/// The colour of nodes without a time.
const GREY: Colour = [184, 184, 184];
/// The direction to the light as the viewer sees it: right, up, towards the viewer. A unit vector.
const LIGHT: Vec3 = [-0.36, 0.48, 0.8];
/// The share of ambient light. It is large, so that shaded colours can still be found in the colour bar.
const AMBIENT: f64 = 0.65;

/// What a picture shows, in the words of its legend.
#[derive(Debug, Clone, Copy)]
pub struct Quantity<'a> {
    /// Its name and unit.
    pub name: &'a str,
    /// What its values are called.
    pub values: &'a str,
    /// The unit of the lines.
    pub unit: &'a str,
    /// What is said of nodes with a negative value, which are grey.
    pub missing: &'a str,
}

const ACTIVATION: Quantity =
    Quantity { name: "activation, ms", values: "activation times", unit: "ms", missing: "not activated" };

/// [`write_values`] of activation times (ms, one for each node; negative: never).
///
/// # Errors
/// Those of [`write_values`].
pub fn write_activation<const C: usize>(
    path: &Path,
    mesh: &Mesh<C>,
    times: &[f64],
    view: Option<[f64; 3]>,
) -> Result<()> {
    write_values(path, mesh, times, ACTIVATION, view)
}

/// Writes a picture of the surface of `mesh` with values that are not negative, one for each node, as colours
/// and as lines of equal values, with a colour bar. The file appears when it is complete.
///
/// `view` points from the mesh to the viewer. Without it, a flat mesh is seen from its largest side, and any
/// other from the front, -y, with z upwards.
///
/// The projection is orthographic, hidden surfaces are removed by a depth buffer (E. Catmull: A Subdivision
/// Algorithm for Computer Display of Curved Surfaces, 1974, section 3). The shading is Lambert's with
/// interpolated normals. The colour map is viridis, in which equal steps look equal. Faces with a corner
/// whose value is negative are grey.
///
/// # Errors
/// [`Error::Mesh`] when there is not one value for every node; [`Error::Option`] when `view` has no
/// direction; [`Error::Io`] when the file cannot be written.
pub fn write_values<const C: usize>(
    path: &Path,
    mesh: &Mesh<C>,
    values: &[f64],
    quantity: Quantity,
    view: Option<[f64; 3]>,
) -> Result<()> {
    if values.len() != mesh.points().len() {
        return Err(Error::Mesh(format!(
            "{}: there are {} {}, but the mesh has {} nodes",
            path.display(),
            values.len(),
            quantity.values,
            mesh.points().len()
        )));
    }
    let view = View::new(view.unwrap_or_else(|| view::best(mesh.bounding_box())))?;
    let canvas = draw(mesh, values, quantity, &view);
    write_atomically(path, |to| canvas.write_png(to))
}

/// The range of times that the colours show, ms.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scale {
    first: f64,
    last: f64,
    /// The time between two isochrones: 1, 2 or 5 times a power of ten.
    step: f64,
}

impl Scale {
    /// From the first to the last activation; `None` where nothing is activated.
    fn of(times: &[f64]) -> Option<Scale> {
        let activated = || times.iter().copied().filter(|&t| is_time(t));
        let (first, last) = (activated().reduce(f64::min)?, activated().reduce(f64::max)?);
        // The range must not be empty, also after rounding.
        let last = if last > 1.001 * first { last } else { first + 1e-3 * first.max(1.0) };
        let power = 10f64.powf(((last - first) / MOST_LINES).log10().floor());
        let fits = |step: &f64| (last - first) / step <= MOST_LINES;
        let step = [1.0, 2.0, 5.0].map(|n| n * power).into_iter().find(fits).unwrap_or(10.0 * power);
        Some(Scale { first, last, step })
    }

    fn colour(&self, time: f64) -> Colour {
        let fraction = ((time - self.first) / (self.last - self.first)).clamp(0.0, 1.0);
        let colour = colorous::VIRIDIS.eval_continuous(DARKEST + (1.0 - DARKEST) * fraction);
        [colour.r, colour.g, colour.b]
    }

    /// How far an isochrone covers a sample at `time`, from 0 to 1. From one sample to the next the time
    /// changes by `slope`.
    fn line(&self, time: f64, slope: f64) -> f64 {
        let phase = time / self.step;
        let distance = (phase - phase.round()).abs() * self.step / slope;
        let half = 0.5 * LINE_WIDTH * OVERSAMPLING as f64;
        // A face with one time gives 0 / 0, and has no line.
        if distance.is_nan() { 0.0 } else { (half + 0.5 - distance).clamp(0.0, 1.0) }
    }

    /// The isochrones.
    fn marks(self) -> impl Iterator<Item = f64> {
        let first = (self.first / self.step).ceil() as i64;
        let marks = (first..).map(move |k| k as f64 * self.step);
        marks.take_while(move |&mark| mark <= self.last).take(1 + MOST_LINES as usize)
    }

    /// A time with as many digits as the step needs.
    fn text(&self, time: f64) -> String {
        let decimals = (-self.step.log10().floor()).max(0.0) as usize;
        format!("{time:.decimals$}")
    }
}

fn is_time(t: f64) -> bool {
    t >= 0.0 && t.is_finite()
}

fn draw<const C: usize>(mesh: &Mesh<C>, times: &[f64], quantity: Quantity, view: &View) -> Canvas {
    // mm are scaled to pixels so that the mesh fills the space next to the legend.
    let points: Vec<Vec3> = mesh.points().iter().map(|&p| view.see(p)).collect();
    let (low, high) = bounds(&points);
    let extent = [high[0] - low[0], high[1] - low[1]];
    let space = (WIDTH - LEGEND - 2 * MARGIN) as f64;
    let [least, most] = HEIGHTS.map(|height| height - 2.0 * MARGIN as f64);
    let room = (space * extent[1] / extent[0]).clamp(least, most);
    let zoom = (space / extent[0]).min(room / extent[1]);
    let height = room as usize + 2 * MARGIN;
    let offset =
        [(space - zoom * extent[0]) / 2.0, (room - zoom * extent[1]) / 2.0].map(|x| x + MARGIN as f64);
    let fine = OVERSAMPLING as f64;
    let place = |p: Vec3| {
        let (x, y) = (offset[0] + zoom * (p[0] - low[0]), offset[1] + zoom * (high[1] - p[1]));
        [fine * x, fine * y, p[2]]
    };

    let scale = Scale::of(times);
    let mut raster = Raster::new(WIDTH, height);
    for face in Surface::of(mesh).faces(&points) {
        // The far side of a closed surface is hidden.
        if face.normal[2] <= 0.0 {
            continue;
        }
        let corners = face.nodes.map(|node| place(points[node as usize]));
        let time = face.nodes.map(|node| times[node as usize]);
        let scale = scale.filter(|_| time.iter().all(|&t| is_time(t)));
        let slope = raster::slope(corners, time);
        raster.triangle(corners, |share| {
            let normal = raster::weighted(share, face.corner_normals);
            let light = dot(normal, LIGHT).max(0.0) / dot(normal, normal).sqrt();
            let colour = scale.map_or(GREY, |scale| {
                let time = dot(share, time);
                mix(scale.colour(time), BLACK, 0.8 * scale.line(time, slope))
            });
            mix(BLACK, colour, AMBIENT + (1.0 - AMBIENT) * light)
        });
    }
    let mut canvas = raster.averaged();
    let some_never = times.iter().any(|&t| !is_time(t));
    legend(&mut canvas, scale, quantity, some_never);
    canvas
}

fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    let fold = |start: f64, with: fn(f64, f64) -> f64| {
        points.iter().fold([start; 3], |bound, p| std::array::from_fn(|x| with(bound[x], p[x])))
    };
    (fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max))
}

/// Draws the colour bar, with the first activation at its foot, and explains the lines and the grey.
fn legend(canvas: &mut Canvas, scale: Option<Scale>, quantity: Quantity, some_never: bool) {
    let left = WIDTH - LEGEND;
    let mut foot = canvas.height() - MARGIN;
    if some_never {
        foot -= LINE;
        canvas.fill([left, foot], [BAR, LINE - 4], GREY);
        canvas.text([left + BAR + LETTER, foot], quantity.missing);
        foot -= LINE / 2;
    }
    let Some(scale) = scale else { return };
    canvas.text([left, MARGIN], quantity.name);
    foot -= LINE;
    canvas.text([left, foot], &format!("a line every {} {}", scale.text(scale.step), quantity.unit));
    // Half a line above and below for the numbers at the ends.
    let (top, bottom) = (MARGIN + 2 * LINE, foot - LINE);
    let row_of = |time: f64| {
        let fraction = (scale.last - time) / (scale.last - scale.first);
        top + (fraction * (bottom - top - 1) as f64).round() as usize
    };
    for row in top..bottom {
        let fraction = (bottom - 1 - row) as f64 / (bottom - top - 1) as f64;
        let colour = scale.colour(scale.first + fraction * (scale.last - scale.first));
        canvas.fill([left, row], [BAR, 1], colour);
    }
    let mut free = usize::MAX;
    for mark in scale.marks() {
        let row = row_of(mark);
        canvas.fill([left, row], [BAR + LETTER / 2, 1], BLACK);
        // Numbers are written upwards, as long as there is room.
        if row <= free {
            canvas.text([left + BAR + LETTER, row - LINE / 2 + 2], &scale.text(mark));
            free = row - LINE;
        }
    }
}
