//! The report for people.

use warpsolve::Error;
use warpsolve::cardiac::mesh::{Mesh, ReadSummary};
use warpsolve::cardiac::{
    Balance, Conductivities, Formulation, Model, Params, RanksInfo, Region, Shape, Stimulus, StimulusKind,
    SystemInfo, Tissue,
};
use warpsolve::launch::DeviceInfo;
use warpsolve::number::plain;
use warpsolve::precond::amg;

use super::super::device::in_short;
use super::super::report::{levels_on_ranks, told, unavailable};
use super::super::table::{Align, Lines, duration, table, thousands};
use super::plan::{Plan, probes};
use super::points::Probe;
use super::run::{End, Ran};
use super::statistics::Iterations;
use super::{niederer, outputs};

/// All that a report says.
pub struct Facts<'a, const C: usize> {
    pub mesh: &'a Mesh<C>,
    /// What was found in the file; `None` for a box.
    pub summary: Option<ReadSummary>,
    /// Its name.
    pub device: String,
    /// The GPU or simulator.
    pub gpu: Option<DeviceInfo>,
    /// Why `auto` took the CPU.
    pub no_gpu: Option<Error>,
    /// Threads on the host.
    pub threads: usize,
    /// Seconds for reading or making the mesh.
    pub read_seconds: f64,
    /// Seconds from the start to the last file but the reports.
    pub total_seconds: f64,
    pub plan: &'a Plan,
    pub ran: Ran,
}

impl<const C: usize> Facts<'_, C> {
    /// Activation times (ms): how many, the first, the last.
    pub fn activated(&self) -> (usize, Option<[f64; 2]>) {
        let times = || self.ran.activation.iter().copied().filter(|&time| time >= 0.0);
        (
            times().count(),
            times().reduce(f64::min).zip(times().reduce(f64::max)).map(|(first, last)| [first, last]),
        )
    }

    /// The probes with their activation times (ms).
    pub fn probes(&self) -> Vec<(Probe, Option<f64>)> {
        let time = |node: usize| self.ran.activation.get(node).copied().filter(|&time| time >= 0.0);
        probes(self.mesh, &self.plan.points).into_iter().map(|probe| (probe, time(probe.node))).collect()
    }

    /// Volume, mm^3, or area, mm^2.
    pub fn volume(&self) -> f64 {
        (0..self.mesh.cells().len()).map(|t| self.mesh.volume(t)).sum()
    }

    /// Unknowns that are solved for in a step.
    pub fn unknowns(&self) -> usize {
        self.ran.systems.iter().map(|system| system.rows).sum()
    }
}

/// The report.
pub fn text<const C: usize>(facts: &Facts<C>) -> String {
    let mut lines = Lines::default();
    what(&mut lines, facts);
    lines.gap();
    result(&mut lines, facts);
    lines.gap();
    times(&mut lines, facts);
    outputs_of(&mut lines, facts.plan, &facts.ran);
    let probes = facts.probes();
    let Params { model, tissue, .. } = &facts.plan.params;
    // Figures of other tissue do not compare.
    let has_benchmark_tissue = *model == Model::TenTusscher && *tissue == Tissue::default();
    let spacing = facts.plan.source.niederer().filter(|_| has_benchmark_tissue);
    let benchmark = spacing.map(|spacing| (spacing, niederer::points().count()));
    let asked = &probes[benchmark.map_or(0, |(_, count)| count)..];
    if !asked.is_empty() {
        lines.gap();
        points(&mut lines, asked);
    }
    let mut text = lines.text();
    if let Some((spacing, count)) = benchmark {
        text += &format!("\n{}", niederer::compare(&probes[..count], spacing));
    }
    text
}

fn what<const C: usize>(lines: &mut Lines, facts: &Facts<C>) {
    let Facts { mesh, plan, .. } = facts;
    let Params { model, tissue, formulation, .. } = &plan.params;
    let format = facts.summary.as_ref().map_or(String::new(), |summary| format!(" ({})", summary.format));
    lines.add("mesh", format!("{}{format}", plan.source.name()));
    let components = mesh.components().into_iter().max().map_or(0, |last| last + 1);
    lines.add(
        "",
        format!(
            "{} nodes, {} {}, {components} component{}, {} {}",
            thousands(mesh.points().len() as u64),
            thousands(mesh.cells().len() as u64),
            Mesh::<C>::CELLS,
            if components == 1 { "" } else { "s" },
            plain(facts.volume()),
            Mesh::<C>::UNIT
        ),
    );
    let [low, high] = mesh.bounding_box();
    lines.add("", format!("from {} to {} mm", point(low), point(high)));
    if let Some(ReadSummary { skipped, reoriented, dropped, apart, .. }) = facts.summary {
        let (turned, bare) =
            (format!("{} turned", Mesh::<C>::CELLS), format!("nodes without {} left out", Mesh::<C>::CELLS));
        for (count, what) in [
            (skipped, "cells left out: vertices, lines, surfaces"),
            (reoriented, turned.as_str()),
            (dropped, bare.as_str()),
            (apart, "nodes of smaller components left out"),
        ] {
            if count > 0 {
                lines.add("", format!("{} {what}", thousands(count as u64)));
            }
        }
    }
    let beside = facts.summary.as_ref().and_then(|summary| summary.fibres.as_ref());
    let fibres = match (beside, mesh.fibres()) {
        _ if !tissue.is_anisotropic() => "not used: the tissue is isotropic".into(),
        (Some(file), _) => file.display().to_string(),
        (None, Some(_)) if facts.summary.is_none() => "along x".into(),
        (None, Some(_)) => "of the mesh".into(),
        (None, None) => "none".into(),
    };
    lines.add("fibres", fibres);
    let Tissue { sigma_il, sigma_it, sigma_el, sigma_et, chi, cm } = tissue;
    lines.add(
        "tissue",
        format!(
            "inside {} along, {} across, outside {} along, {} across, mS/mm",
            plain(*sigma_il),
            plain(*sigma_it),
            plain(*sigma_el),
            plain(*sigma_et)
        ),
    );
    lines.add("", format!("chi {} /mm, Cm {} uF/mm^2", plain(*chi), plain(*cm)));
    for Region { tag, conductivities } in &plan.params.regions {
        let Conductivities { il, it, el, et } = conductivities;
        let text = match conductivities.is_bath() {
            true if el == et => format!("bath, {el} mS/mm"),
            _ => format!("inside {il} along, {it} across, outside {el} along, {et} across, mS/mm"),
        };
        lines.add("", format!("region {tag}: {text}"));
    }
    lines.add("cells", model.description());
    for (k, stimulus) in plan.params.stimuli.iter().enumerate() {
        lines.add(if k == 0 { "stimulus" } else { "" }, stimulus_text(stimulus, plan.default_stimulus));
    }
    for (k, ground) in plan.params.grounds.iter().enumerate() {
        lines.add(if k == 0 { "ground" } else { "" }, shape_text(ground));
    }
    match plan.params.balance {
        Balance::Refuse => {}
        Balance::Spread => lines.add("balance", "current that is missing enters or leaves evenly everywhere"),
        Balance::Scale => {
            lines.add("balance", "the weaker of anodes and cathodes made as strong as the others")
        }
    }
    let equations = match formulation {
        Formulation::Monodomain => "monodomain",
        Formulation::Splitting => "bidomain, one equation after the other",
        Formulation::Coupled => "bidomain, as one system",
        Formulation::Potentials => "bidomain, as one system in the potentials inside and outside",
    };
    lines.add("equations", format!("{equations}; {} unknowns", thousands(facts.unknowns() as u64)));
    let instead = facts.no_gpu.as_ref().map_or(String::new(), |e| format!(" (no GPU: {})", in_short(e)));
    lines.add("device", format!("{}{instead}", facts.device));
    if let Some(info) = &facts.ran.ranks {
        ranks(lines, info, facts.ran.systems.iter().find_map(|system| system.amg.as_ref()));
    }
    for system in &facts.ran.systems {
        system_of(lines, system, plan.verbose);
    }
    if plan.verbose {
        if let Some(gpu) = facts.gpu.as_ref().filter(|gpu| !gpu.ptx_target.is_empty()) {
            lines.add("kernels", format!("{}, driver {}", gpu.ptx_target, gpu.driver_version));
        }
        if let Some(error) = &facts.no_gpu {
            lines.add("GPU", unavailable(&error.to_string()));
        }
    }
}

/// How nodes were shared out, and what the ranks told each other.
fn ranks(lines: &mut Lines, info: &RanksInfo, hierarchy: Option<&amg::Info>) {
    let &RanksInfo { ranks, least_nodes, most_nodes, shared, .. } = info;
    let (least, most) = (thousands(least_nodes as u64), thousands(most_nodes as u64));
    let nodes = if least_nodes == most_nodes { most } else { format!("{least} to {most}") };
    lines.add("ranks", format!("{ranks} of {nodes} nodes, {} of others looked at", thousands(shared)));
    lines.add("", told(info.exchanges, info.exchanged_bytes, info.reductions, info.peer_memory));
    if let Some(hierarchy) = hierarchy {
        lines.add("", levels_on_ranks(hierarchy));
    }
}

fn point(p: [f64; 3]) -> String {
    let coordinates = p.map(|x| format!("{}", (x * 1e4).round() / 1e4));
    format!("({})", coordinates.join(", "))
}

fn shape_text(shape: &Shape) -> String {
    match *shape {
        Shape::Box { low, high } => format!("box from {} to {} mm", point(low), point(high)),
        Shape::Ball { centre, radius } => {
            format!("ball around {}, radius {} mm", point(centre), plain((radius * 1e4).round() / 1e4))
        }
    }
}

fn stimulus_text(stimulus: &Stimulus, is_default: bool) -> String {
    let kind = match stimulus.kind {
        StimulusKind::Transmembrane => "",
        StimulusKind::Extracellular => "outside of the cells, ",
    };
    let place = shape_text(&stimulus.shape);
    let chosen = if is_default { " (around the lowest node)" } else { "" };
    let Stimulus { start, duration, strength, period, beats, .. } = stimulus;
    let again = period.map_or(String::new(), |period| format!(", every {} ms", plain(period)));
    let [strength, duration, start] = [strength, duration, start].map(|x| plain(*x));
    let times = beats.map_or(String::new(), |beats| format!(", {beats} times"));
    format!("{kind}{place}{chosen}: {strength} uA/mm^3 for {duration} ms from {start} ms on{again}{times}")
}

fn system_of(lines: &mut Lines, system: &SystemInfo, verbose: bool) {
    let (rows, nonzeros) = (thousands(system.rows as u64), thousands(system.nnz as u64));
    let precond = match &system.amg {
        None => "Jacobi".into(),
        Some(info) => {
            let (count, s) = (info.levels.len(), if info.levels.len() == 1 { "" } else { "s" });
            format!("AMG, {count} level{s}, {}, complexity {:.2}", info.precision, info.operator_complexity())
        }
    };
    lines.add(
        system.name,
        format!("{rows} rows, {nonzeros} nonzeros, {}; CG with {precond}", system.format.format),
    );
    if verbose {
        lines.add("", &system.format.reason);
    }
}

fn result<const C: usize>(lines: &mut Lines, facts: &Facts<C>) {
    let Facts { ran, plan, .. } = facts;
    let [begin, now] = ran.times;
    let how = match ran.end {
        None => "FAILED",
        Some(End::Interrupted) => "interrupted",
        Some(End::Time | End::Activated) => "simulated",
    };
    // A multiple of dt, without what rounding adds.
    let [begin, now] = [begin, now].map(|time| (time * 1e6).round() / 1e6);
    let from = if begin > 0.0 { format!("from {begin} ") } else { String::new() };
    let count = ran.steps.count;
    let plural = if count == 1 { "" } else { "s" };
    let until = if ran.end.is_none() { "in the step after" } else { "to" };
    let (steps, dt) = (thousands(count), plain(plan.params.dt));
    let text = format!("{how} {from}{until} {now} ms, {steps} step{plural} of {dt} ms");
    lines.add("result", text);
    let nodes = ran.cells;
    let of_tissue = if nodes < facts.mesh.points().len() { " of the tissue" } else { "" };
    let (activated, times) = facts.activated();
    let share = match activated {
        0 => "no node".into(),
        n if n == nodes => format!("every node{of_tissue}"),
        n => format!("{} of {} nodes{of_tissue}", thousands(n as u64), thousands(nodes as u64)),
    };
    let times = times.map_or(String::new(), |[first, last]| format!(", from {first:.3} to {last:.3} ms"));
    lines.add("activated", format!("{share}{times}"));
    let mean = |Iterations { sum, least, most }: &Iterations| {
        format!("{:.1} a step, {least} to {most}", *sum as f64 / count.max(1) as f64)
    };
    for system in &ran.systems {
        let iterations = if system.name == "parabolic" { &ran.steps.parabolic } else { &ran.steps.elliptic };
        if count > 0 {
            lines.add("iterations", format!("{}: {}", system.name, mean(iterations)));
        }
    }
}

fn times<const C: usize>(lines: &mut Lines, facts: &Facts<C>) {
    let Facts { ran, .. } = facts;
    let steps = match ran.steps.count {
        0 => String::new(),
        1 => "    one".into(),
        _ => {
            let (each, first) = (ran.steps.mean_seconds(), ran.steps.first_seconds);
            format!("    {} each, but {} for the first", duration(each), duration(first))
        }
    };
    for (label, seconds, note) in [
        ("read", facts.read_seconds, ""),
        ("set-up", ran.setup_seconds, ""),
        ("steps", ran.steps.seconds, steps.as_str()),
        ("writing", ran.output_seconds, ""),
        ("total", facts.total_seconds, ""),
    ] {
        lines.add(label, format!("{:>8}{note}", duration(seconds)));
    }
}

fn outputs_of(lines: &mut Lines, plan: &Plan, ran: &Ran) {
    if let Some(folder) = &plan.out {
        lines.add("results", format!("in {}: {}", folder.display(), outputs::names(plan, ran.frames)));
    }
    if let Some(path) = &plan.checkpoint {
        lines.add("checkpoint", format!("{}; --restart goes on from it", path.display()));
    }
}

fn points(lines: &mut Lines, probes: &[(Probe, Option<f64>)]) {
    let columns = [
        ("x,y,z mm", Align::Left),
        ("nearest node", Align::Right),
        ("mm away", Align::Right),
        ("activated, ms", Align::Right),
    ];
    let row = |(probe, time): &(Probe, Option<f64>)| {
        let [x, y, z] = probe.point;
        let time = time.map_or("never".into(), |time| format!("{time:.3}"));
        vec![format!("{x},{y},{z}"), (probe.node + 1).to_string(), format!("{:.3}", probe.distance), time]
    };
    let rows: Vec<Vec<String>> = probes.iter().map(row).collect();
    for (k, line) in table(&columns, &rows).lines().enumerate() {
        lines.add(if k == 0 { "points" } else { "" }, line);
    }
}
