//! The benchmark of S. A. Niederer et al.: Verification of cardiac tissue electrophysiology simulators using
//! an N-version benchmark, Philosophical Transactions of the Royal Society A 369, 2011, 4331-4351.

use warpsolve::cardiac::mesh::Mesh;
use warpsolve::cardiac::{Shape, Stimulus, StimulusKind};

use super::super::table::{Align, table};
use super::points::Probe;

/// The tissue, mm.
pub const LENGTHS: [f64; 3] = [20.0, 7.0, 3.0];
/// The coarsest of the benchmark's three, mm.
pub const SPACING: f64 = 0.5;
/// Until when everything is activated, also where a coarse mesh slows the wave down, ms.
pub const T_END: f64 = 150.0;

/// The corner that is stimulated.
pub fn stimulus() -> Stimulus {
    let shape = Shape::Box { low: [0.0; 3], high: [1.5; 3] };
    let kind = StimulusKind::Transmembrane;
    Stimulus { kind, shape, start: 0.0, duration: 2.0, strength: 50.0, period: None, beats: None }
}

/// The spacings that figures are published for, mm.
const SPACINGS: [f64; 3] = [0.1, 0.2, 0.5];

/// A point of the benchmark, with activation times (ms, as printed) of two published codes at dt 0.005 ms,
/// one for each of [`SPACINGS`].
struct Published {
    name: &'static str,
    point: [f64; 3],
    /// fenicsx-beat, P1 on tetrahedra, and Cardioid, finite volumes.
    times: Option<[[&'static str; 3]; 2]>,
}

const fn at(name: &'static str, point: [f64; 3], times: Option<[[&'static str; 3]; 2]>) -> Published {
    Published { name, point, times }
}

const PUBLISHED: [Published; 9] = [
    at("P1", [0.0, 0.0, 0.0], Some([["1.225", "1.235", "1.215"], ["1.23", "1.23", "1.23"]])),
    at("P2", [0.0, 7.0, 0.0], Some([["25.5", "29.0", "50.8"], ["30.2", "39.6", "107.8"]])),
    at("P3", [20.0, 0.0, 0.0], Some([["31.3", "31.1", "33.8"], ["32.6", "34.7", "44.2"]])),
    at("P4", [20.0, 7.0, 0.0], Some([["37.8", "38.5", "58.0"], ["43.7", "52.7", "119.3"]])),
    at("P5", [0.0, 0.0, 3.0], Some([["8.0", "9.3", "14.0"], ["8.8", "11.1", "20.7"]])),
    at("P6", [0.0, 7.0, 3.0], None),
    at("P7", [20.0, 0.0, 3.0], None),
    at("P8", [20.0, 7.0, 3.0], Some([["37.9", "38.2", "55.8"], ["44.6", "53.7", "120.1"]])),
    at("P9", [10.0, 3.5, 1.5], Some([["17.8", "18.0", "25.6"], ["20.4", "23.8", "55.2"]])),
];

/// The eight corners and the centre.
pub fn points() -> impl Iterator<Item = [f64; 3]> {
    PUBLISHED.iter().map(|published| published.point)
}

/// Points of the diagonal, from the stimulated corner to the opposite one.
const OF_THE_DIAGONAL: u32 = 41;

/// The activation times along the diagonal, linear between nodes, as CSV; without a time where a node nearby
/// was never activated.
pub fn diagonal<const C: usize>(mesh: &Mesh<C>, activation: &[f64]) -> String {
    let mut text = String::from("distance_mm,x,y,z,activation_ms\n");
    for k in 0..OF_THE_DIAGONAL {
        let part = f64::from(k) / f64::from(OF_THE_DIAGONAL - 1);
        let point = LENGTHS.map(|length| part * length);
        let time = mesh.locate(point).and_then(|(t, weights)| {
            let times = mesh.cells()[t].map(|node| activation[node as usize]);
            let all = times.iter().all(|&time| time >= 0.0);
            all.then(|| times.iter().zip(weights).map(|(time, weight)| time * weight).sum::<f64>())
        });
        let distance = part * LENGTHS.iter().map(|length| length * length).sum::<f64>().sqrt();
        let [x, y, z] = point;
        let time = time.map(|time| format!("{time:.4}")).unwrap_or_default();
        text += &format!("{distance:.4},{x},{y},{z},{time}\n");
    }
    text
}

/// The activation times of the probes at [`points`], beside the published ones of the nearest spacing.
pub fn compare(probes: &[(Probe, Option<f64>)], spacing: f64) -> String {
    let far = |k: &usize| (SPACINGS[*k] / spacing).ln().abs();
    let column = (0..SPACINGS.len()).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(0);
    let columns = [
        ("point", Align::Left),
        ("x,y,z mm", Align::Left),
        ("activated, ms", Align::Right),
        ("fenicsx-beat", Align::Right),
        ("Cardioid", Align::Right),
    ];
    let rows: Vec<Vec<String>> = PUBLISHED
        .iter()
        .zip(probes)
        .map(|(published, (_, time))| {
            let [x, y, z] = published.point;
            let own = time.map_or("never".into(), |time| format!("{time:.2}"));
            let other =
                |code: usize| published.times.map_or("-".into(), |times| times[code][column].to_string());
            vec![published.name.into(), format!("{x},{y},{z}"), own, other(0), other(1)]
        })
        .collect();
    format!(
        "{}The codes: spacing {} mm, dt 0.005 ms, monodomain. fenicsx-beat has P1 elements on tetrahedra, Cardioid finite\n\
         volumes. P8, the last, tends to 42.5 to 43 ms when the mesh is refined; at 0.1 mm the codes of the paper\n\
         give 37.8 to 48.7 ms (Niederer et al., Phil. Trans. R. Soc. A 369, 2011, 4331-4351).\n",
        table(&columns, &rows),
        SPACINGS[column]
    )
}
