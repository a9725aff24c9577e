//! run.json, the report for programs. docs/niederer.md describes every key.

use serde::Serialize;
use warpsolve::cardiac::{Params, RanksInfo, Region, Shape, Stimulus, StimulusKind, SystemInfo};
use warpsolve::precond::amg;

use super::super::json::{VERSION, device_kind, set_up_on, text as to_text};
use super::points::Probe;
use super::report::Facts;
use super::run::End;
use super::statistics::Iterations;

#[derive(Serialize)]
struct Run<'a> {
    schema: &'static str,
    version: &'static str,
    mesh: Mesh,
    parameters: Parameters<'a>,
    t_end: f64,
    device: &'a str,
    device_kind: &'static str,
    no_gpu: Option<String>,
    driver_version: Option<&'a str>,
    ptx_target: Option<&'a str>,
    threads: usize,
    ranks: Option<Ranks>,
    systems: Vec<System<'a>>,
    ended: &'static str,
    errors: Vec<String>,
    from_time: f64,
    to_time: f64,
    steps: u64,
    parabolic_iterations: Option<Counts>,
    elliptic_iterations: Option<Counts>,
    activated_nodes: usize,
    first_activation: Option<f64>,
    last_activation: Option<f64>,
    points: Vec<Point>,
    frames: usize,
    read_seconds: f64,
    setup_seconds: f64,
    first_step_seconds: f64,
    step_seconds: f64,
    steps_seconds: f64,
    output_seconds: f64,
    total_seconds: f64,
}

#[derive(Serialize)]
struct Mesh {
    source: String,
    nodes: usize,
    cells: usize,
    tetrahedra: usize,
    triangles: usize,
    volume: f64,
    low: [f64; 3],
    high: [f64; 3],
}

#[derive(Serialize)]
struct Parameters<'a> {
    formulation: String,
    model: String,
    sigma_il: f64,
    sigma_it: f64,
    sigma_el: f64,
    sigma_et: f64,
    regions: Vec<Regional>,
    chi: f64,
    cm: f64,
    stimuli: Vec<Stimulated>,
    grounds: Vec<Place>,
    balance: String,
    dt: f64,
    theta: f64,
    cell_substeps: u32,
    lumped_mass: bool,
    rtol: f64,
    parabolic_rtol: f64,
    max_iterations: u32,
    threshold: f64,
    reorder: bool,
    amg: &'a amg::Params,
}

#[derive(Serialize)]
struct Regional {
    tag: i32,
    sigma_il: f64,
    sigma_it: f64,
    sigma_el: f64,
    sigma_et: f64,
}

#[derive(Serialize)]
struct Stimulated {
    kind: StimulusKind,
    #[serde(flatten)]
    shape: Place,
    start: f64,
    duration: f64,
    strength: f64,
    period: Option<f64>,
    beats: Option<u32>,
}

#[derive(Serialize)]
#[serde(tag = "shape", rename_all = "lowercase")]
enum Place {
    Box { low: [f64; 3], high: [f64; 3] },
    Ball { centre: [f64; 3], radius: f64 },
}

#[derive(Serialize)]
struct System<'a> {
    system: &'a str,
    rows: usize,
    nonzeros: usize,
    format: &'a str,
    format_reason: &'a str,
    levels: Option<usize>,
    operator_complexity: Option<f64>,
    hierarchy_precision: Option<&'static str>,
}

#[derive(Serialize)]
struct Ranks {
    count: usize,
    least_nodes: usize,
    most_nodes: usize,
    shared: u64,
    peer_memory: bool,
    exchanges: u64,
    exchanged_bytes: u64,
    reductions: u64,
    levels: Option<usize>,
    hierarchy_set_up_on: Option<&'static str>,
}

#[derive(Serialize)]
struct Counts {
    mean: f64,
    min: u32,
    max: u32,
}

#[derive(Serialize)]
struct Point {
    point: [f64; 3],
    node: usize,
    distance: f64,
    activation: Option<f64>,
}

impl From<&Region> for Regional {
    fn from(&Region { tag, conductivities: of }: &Region) -> Self {
        Regional { tag, sigma_il: of.il, sigma_it: of.it, sigma_el: of.el, sigma_et: of.et }
    }
}

impl From<&Shape> for Place {
    fn from(shape: &Shape) -> Self {
        match *shape {
            Shape::Box { low, high } => Place::Box { low, high },
            Shape::Ball { centre, radius } => Place::Ball { centre, radius },
        }
    }
}

impl From<&Stimulus> for Stimulated {
    fn from(stimulus: &Stimulus) -> Self {
        let Stimulus { kind, start, duration, strength, period, beats, .. } = *stimulus;
        Stimulated { kind, shape: Place::from(&stimulus.shape), start, duration, strength, period, beats }
    }
}

impl<'a> From<&'a Params> for Parameters<'a> {
    fn from(params: &'a Params) -> Self {
        let tissue = &params.tissue;
        Parameters {
            formulation: params.formulation.to_string(),
            model: params.model.to_string(),
            sigma_il: tissue.sigma_il,
            sigma_it: tissue.sigma_it,
            sigma_el: tissue.sigma_el,
            sigma_et: tissue.sigma_et,
            regions: params.regions.iter().map(Regional::from).collect(),
            chi: tissue.chi,
            cm: tissue.cm,
            stimuli: params.stimuli.iter().map(Stimulated::from).collect(),
            grounds: params.grounds.iter().map(Place::from).collect(),
            balance: params.balance.to_string(),
            dt: params.dt,
            theta: params.theta,
            cell_substeps: params.cell_substeps,
            lumped_mass: params.lumped_mass,
            rtol: params.rtol,
            parabolic_rtol: params.parabolic_rtol,
            max_iterations: params.max_iterations,
            threshold: params.threshold,
            reorder: params.reorder,
            amg: &params.amg,
        }
    }
}

impl<'a> From<&'a SystemInfo> for System<'a> {
    fn from(info: &'a SystemInfo) -> Self {
        let hierarchy = info.amg.as_ref();
        System {
            system: info.name,
            rows: info.rows,
            nonzeros: info.nnz,
            format: &info.format.format,
            format_reason: &info.format.reason,
            levels: hierarchy.map(|info| info.levels.len()),
            operator_complexity: hierarchy.map(|info| info.operator_complexity()),
            hierarchy_precision: hierarchy.map(|info| info.precision),
        }
    }
}

impl Ranks {
    fn of(info: &RanksInfo, hierarchy: Option<&amg::Info>) -> Self {
        let &RanksInfo {
            ranks,
            least_nodes,
            most_nodes,
            shared,
            peer_memory,
            exchanges,
            exchanged_bytes,
            reductions,
        } = info;
        Ranks {
            count: ranks,
            least_nodes,
            most_nodes,
            shared,
            peer_memory,
            exchanges,
            exchanged_bytes,
            reductions,
            levels: hierarchy.map(|info| info.on_ranks),
            hierarchy_set_up_on: hierarchy.map(set_up_on),
        }
    }
}

impl From<(Probe, Option<f64>)> for Point {
    fn from((probe, activation): (Probe, Option<f64>)) -> Self {
        Point { point: probe.point, node: probe.node + 1, distance: probe.distance, activation }
    }
}

/// The file.
pub fn text<const C: usize>(facts: &Facts<C>) -> String {
    let Facts { mesh, plan, ran, gpu, .. } = facts;
    let [low, high] = mesh.bounding_box();
    let (activated_nodes, activation) = facts.activated();
    let count = ran.steps.count;
    let counts = |is_solved: bool, iterations: &Iterations| {
        let mean = iterations.sum as f64 / count.max(1) as f64;
        (is_solved && count > 0).then_some(Counts { mean, min: iterations.least, max: iterations.most })
    };
    let has = |parabolic: bool| ran.systems.iter().any(|system| (system.name == "parabolic") == parabolic);
    to_text(&Run {
        schema: "warpsolve.cardiac/1",
        version: VERSION,
        mesh: Mesh {
            source: plan.source.name(),
            nodes: mesh.points().len(),
            cells: ran.cells,
            tetrahedra: if C == 4 { mesh.cells().len() } else { 0 },
            triangles: if C == 3 { mesh.cells().len() } else { 0 },
            volume: facts.volume(),
            low,
            high,
        },
        parameters: Parameters::from(&plan.params),
        t_end: plan.t_end,
        device: &facts.device,
        device_kind: device_kind(gpu.as_ref()),
        no_gpu: facts.no_gpu.as_ref().map(ToString::to_string),
        driver_version: gpu.as_ref().map(|info| info.driver_version.as_str()).filter(|text| !text.is_empty()),
        ptx_target: gpu.as_ref().map(|info| info.ptx_target.as_str()).filter(|text| !text.is_empty()),
        threads: facts.threads,
        ranks: ran
            .ranks
            .as_ref()
            .map(|info| Ranks::of(info, ran.systems.iter().find_map(|system| system.amg.as_ref()))),
        systems: ran.systems.iter().map(System::from).collect(),
        ended: match ran.end {
            None => "failed",
            Some(End::Time) => "t_end",
            Some(End::Activated) => "activated",
            Some(End::Interrupted) => "interrupted",
        },
        errors: ran.failures.iter().map(ToString::to_string).collect(),
        from_time: ran.times[0],
        to_time: ran.times[1],
        steps: count,
        parabolic_iterations: counts(has(true), &ran.steps.parabolic),
        elliptic_iterations: counts(has(false), &ran.steps.elliptic),
        activated_nodes,
        first_activation: activation.map(|[first, _]| first),
        last_activation: activation.map(|[_, last]| last),
        points: facts.probes().into_iter().map(Point::from).collect(),
        frames: ran.frames,
        read_seconds: facts.read_seconds,
        setup_seconds: ran.setup_seconds,
        first_step_seconds: ran.steps.first_seconds,
        step_seconds: ran.steps.mean_seconds(),
        steps_seconds: ran.steps.seconds,
        output_seconds: ran.output_seconds,
        total_seconds: facts.total_seconds,
    })
}
