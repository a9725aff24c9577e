//! The report for people, and the one for programs.

use serde::Serialize;
use warpsolve::cardiac::mesh::Mesh;
use warpsolve::job::Report;
use warpsolve::number::{plain, vector};
use warpsolve::solver::StopReason;

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
    pub report: Report,
    /// Seconds from the start to the assembled system.
    pub assembly_seconds: f64,
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
    lines.add("clamped", format!("{}: {} nodes", places.join(", "), count(nodes - body.free.len())));
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
    lines.add("device", &report.device);
    lines.add("result", outcome(report));
    let [(length, at), (stress, place)] = facts.largest();
    let (points, u) = (body.mesh.points(), facts.state.displacement[at]);
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
    clamped_nodes: usize,
    young: f64,
    poisson: f64,
    force: [f64; 3],
    rows: usize,
    nonzeros: usize,
    method: String,
    precond: String,
    device: &'a str,
    converged: bool,
    iterations: u32,
    relative_residual: f64,
    largest_displacement: f64,
    largest_displacement_at: [f64; 3],
    largest_von_mises: f64,
    largest_von_mises_at: [f64; 3],
    assembly_seconds: f64,
    setup_seconds: f64,
    solve_seconds: f64,
    total_seconds: f64,
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
        clamped_nodes: points.len() - body.free.len(),
        young: body.material.young(),
        poisson: body.material.poisson(),
        force: body.force,
        rows: report.n_rows,
        nonzeros: report.nnz,
        method: report.method.to_string(),
        precond: report.precond.to_string(),
        device: &report.device,
        converged: report.outcome.reason == StopReason::Converged,
        iterations: report.outcome.iterations,
        relative_residual: report.relative_residual,
        largest_displacement: length,
        largest_displacement_at: points[at],
        largest_von_mises: stress,
        largest_von_mises_at: points[place],
        assembly_seconds: facts.assembly_seconds,
        setup_seconds: report.setup_seconds + report.warm_up_seconds + report.upload_seconds,
        solve_seconds: report.solve_seconds,
        total_seconds: facts.total_seconds,
    })
}
