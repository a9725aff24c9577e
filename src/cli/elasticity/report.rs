//! The report for people, and the one for programs.

use serde::Serialize;
use warpsolve::Error;
use warpsolve::cardiac::mesh::Mesh;
use warpsolve::job::Report;
use warpsolve::number::{plain, vector};
use warpsolve::solver::StopReason;

use super::super::device::in_short;
use super::super::json::{VERSION, text as to_text};
use super::super::report::outcome;
use super::super::table::{Lines, duration, thousands};
use super::args::{ElasticityArgs, Plane};
use super::body::{Body, State};
use super::files::{DISPLACEMENT, FIELDS, STRESS};

/// All that a report says.
pub struct Facts<'a, const C: usize> {
    pub args: &'a ElasticityArgs,
    pub body: &'a Body<C>,
    pub state: &'a State,
    pub has_rigid_motions: bool,
    /// Why the CPU stands for a GPU.
    pub no_gpu: Option<&'a Error>,
    pub report: Report,
    /// Seconds from the start to the assembled system.
    pub assembly_seconds: f64,
    /// The relative residual that was asked for.
    pub rtol: f64,
    /// Seconds that stresses and files took.
    pub writing_seconds: f64,
    /// Seconds from the start to the last file but the reports.
    pub total_seconds: f64,
}

impl<const C: usize> Facts<'_, C> {
    /// The largest displacement (mm) and stress (N/mm^2), and their nodes.
    fn largest(&self) -> [(f64, usize); 2] {
        [&self.state.length, &self.state.von_mises].map(|values| {
            let largest = values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            largest.map_or((0.0, 0), |(node, value)| (*value, node))
        })
    }

    /// The displacement of a node, without what rounding leaves across it.
    fn displacement(&self, node: usize) -> [f64; 3] {
        /// Part of the length.
        const ROUNDING: f64 = 1e-9;
        let least = ROUNDING * self.state.length[node];
        self.state.displacement[node].map(|u| if u.abs() < least { 0.0 } else { u })
    }
}

fn plane<const C: usize>(plane: Option<Plane>) -> &'static str {
    match plane {
        _ if C != 3 => "",
        Some(Plane::Stress) => ", plane stress",
        _ => ", plane strain",
    }
}

/// The report.
pub fn text<const C: usize>(facts: &Facts<C>) -> String {
    let Facts { args, body, report, .. } = facts;
    let mut lines = Lines::default();
    let nodes = body.mesh.points().len();
    lines.add("mesh", &body.name);
    let count = |n: usize| thousands(n as u64);
    lines.add("", format!("{} nodes, {} {}", count(nodes), count(body.mesh.cells().len()), Mesh::<C>::CELLS));
    let (young, poisson) = (body.material.young(), body.material.poisson());
    lines.add("material", format!("E {} N/mm^2, nu {poisson}{}", plain(young), plane::<C>(args.plane)));
    let places: Vec<String> = args.clamps.iter().map(ToString::to_string).collect();
    let clamped = nodes - body.free.len();
    lines.add("clamped", format!("{}: {} nodes", places.join(", "), count(clamped)));
    for load in &args.loads {
        lines.add("load", format!("{} N on {}", vector(load.force), load.place));
    }
    if let Some(force) = args.body_force {
        lines.add("load", format!("{} N/mm^3", vector(force)));
    }
    lines.add("", format!("{} N in all", vector(body.force)));
    lines.gap();
    let (rows, nonzeros) = (count(report.n_rows), count(report.nnz));
    lines.add(
        "system",
        format!("{rows} rows, {nonzeros} nonzeros, {}, {}", report.format.format, report.precision),
    );
    let motions = if facts.has_rigid_motions { " that knows the rigid motions" } else { "" };
    let (method, precond) = (report.method.description(), report.precond.description().title);
    let precond = match method.is_stationary() {
        true => String::new(),
        false => format!(", {precond} preconditioner"),
    };
    lines.add("method", format!("{}{precond}{motions}", method.title));
    let no_gpu = facts.no_gpu.map(|error| format!(" (no GPU: {})", in_short(error)));
    lines.add("device", format!("{}{}", report.device, no_gpu.unwrap_or_default()));
    lines.add("result", outcome(report));
    lines.add(
        "residual",
        format!(
            "||b - A x|| / ||b|| = {:.2e}, recomputed in f64 (asked: {:e})",
            report.relative_residual, facts.rtol
        ),
    );
    let [(length, at), (stress, place)] = facts.largest();
    let (points, u) = (body.mesh.points(), facts.displacement(at));
    lines.add(
        "displacement",
        format!("at most {} mm, at {}: {}", plain(length), vector(points[at]), vector(u)),
    );
    lines.add("von Mises", format!("at most {} N/mm^2, at {}", plain(stress), vector(points[place])));
    lines.gap();
    for (label, seconds) in [
        ("assembly", facts.assembly_seconds),
        ("set-up", report.setup_seconds + report.warm_up_seconds + report.upload_seconds),
        ("solve", report.solve_seconds),
        ("writing", facts.writing_seconds),
        ("total", facts.total_seconds),
    ] {
        lines.add(label, format!("{:>8}", duration(seconds)));
    }
    if let Some(folder) = &args.out {
        lines.add("results", format!("in {}: {FIELDS}, {DISPLACEMENT}, {STRESS}", folder.display()));
    }
    lines.text()
}

#[derive(Serialize)]
struct Run<'a> {
    schema: &'static str,
    version: &'static str,
    mesh: &'a str,
    nodes: usize,
    tetrahedra: usize,
    hexahedra: usize,
    triangles: usize,
    plane: Option<Plane>,
    clamps: Vec<String>,
    clamped_nodes: usize,
    young: f64,
    poisson: f64,
    loads: Vec<Pull>,
    body_force: Option<[f64; 3]>,
    force: [f64; 3],
    rows: usize,
    nonzeros: usize,
    format: String,
    precision: String,
    method: String,
    precond: String,
    rigid_motions: bool,
    device: &'a str,
    no_gpu: Option<String>,
    converged: bool,
    stop_reason: &'static str,
    iterations: u32,
    relative_residual: f64,
    warnings: Vec<String>,
    largest_displacement: f64,
    largest_displacement_at: [f64; 3],
    displacement_there: [f64; 3],
    largest_von_mises: f64,
    largest_von_mises_at: [f64; 3],
    assembly_seconds: f64,
    setup_seconds: f64,
    solve_seconds: f64,
    writing_seconds: f64,
    total_seconds: f64,
}

/// A force on the faces of a place.
#[derive(Serialize)]
struct Pull {
    place: String,
    force: [f64; 3],
}

/// The report for programs.
pub fn json<const C: usize>(facts: &Facts<C>) -> String {
    let Facts { args, body, report, .. } = facts;
    let [(length, at), (stress, place)] = facts.largest();
    let points = body.mesh.points();
    to_text(&Run {
        schema: "warpsolve.elasticity/1",
        version: VERSION,
        mesh: &body.name,
        nodes: points.len(),
        tetrahedra: if C == 4 { body.mesh.cells().len() } else { 0 },
        hexahedra: if C == 8 { body.mesh.cells().len() } else { 0 },
        triangles: if C == 3 { body.mesh.cells().len() } else { 0 },
        plane: (C == 3).then(|| args.plane.unwrap_or(Plane::Strain)),
        clamps: args.clamps.iter().map(ToString::to_string).collect(),
        clamped_nodes: points.len() - body.free.len(),
        young: body.material.young(),
        poisson: body.material.poisson(),
        loads: args
            .loads
            .iter()
            .map(|load| Pull { place: load.place.to_string(), force: load.force })
            .collect(),
        body_force: args.body_force,
        force: body.force,
        rows: report.n_rows,
        nonzeros: report.nnz,
        format: report.format.format.to_string(),
        precision: report.precision.to_string(),
        method: report.method.to_string(),
        precond: report.precond.to_string(),
        rigid_motions: facts.has_rigid_motions,
        device: &report.device,
        no_gpu: facts.no_gpu.map(ToString::to_string),
        converged: report.outcome.reason == StopReason::Converged,
        stop_reason: report.outcome.reason.name(),
        iterations: report.outcome.iterations,
        relative_residual: report.relative_residual,
        warnings: report.warnings.iter().map(ToString::to_string).collect(),
        largest_displacement: length,
        largest_displacement_at: points[at],
        displacement_there: facts.displacement(at),
        largest_von_mises: stress,
        largest_von_mises_at: points[place],
        assembly_seconds: facts.assembly_seconds,
        setup_seconds: report.setup_seconds + report.warm_up_seconds + report.upload_seconds,
        solve_seconds: report.solve_seconds,
        writing_seconds: facts.writing_seconds,
        total_seconds: facts.total_seconds,
    })
}
