//! What is to be simulated, with every option checked, and the mesh.

use std::fs;
use std::path::{Path, PathBuf};

use warpsolve::cardiac::mesh::{AnyMesh, Mesh, ReadOptions, ReadSummary, TetMesh, TriMesh, read_any};
use warpsolve::cardiac::{
    Conductivities, Formulation, Params, Region, Shape, Stimulus, StimulusKind, Tissue,
};
use warpsolve::number::plain;
use warpsolve::{Error, Result};

use super::super::output::is_same_file;
use super::args::{CardiacArgs, Lengths, MeshArgs, RegionArgs, StimulusArgs, TissueArgs};
use super::points::Probe;
use super::{files, niederer};

/// The conductivity of a bath where none is given, mS/mm.
const SIGMA_BATH: f64 = 1.0;
/// More steps than this are a slip in dt or t_end.
const MOST_STEPS: f64 = 1e9;

/// A simulation with its inputs and outputs.
pub struct Plan {
    pub source: Source,
    pub params: Params,
    /// Whether the place of the stimulus is left to [`at_the_apex`] of the mesh.
    pub default_stimulus: bool,
    /// ms
    pub t_end: f64,
    pub stops_when_activated: bool,
    pub out: Option<PathBuf>,
    /// From one frame to the next, ms; `None` for no frames.
    pub every: Option<f64>,
    /// Whether every rank writes its own part.
    pub pieces: bool,
    pub view: Option<[f64; 3]>,
    pub points: Vec<[f64; 3]>,
    pub checkpoint: Option<PathBuf>,
    pub checkpoint_every: Option<f64>,
    pub restart: Option<PathBuf>,
    pub other_stimuli: bool,
    /// Files that are read beside the mesh.
    inputs: Vec<PathBuf>,
    pub quiet: bool,
    pub verbose: bool,
}

/// Where the mesh comes from.
pub enum Source {
    File { path: PathBuf, options: ReadOptions },
    Slab { lengths: Lengths, spacing: f64, layer: Option<f64>, niederer: bool },
}

impl Plan {
    pub fn new(args: CardiacArgs, formulation: Formulation) -> Result<Plan> {
        let CardiacArgs { mesh, tissue, stimulus, method, output, quiet, verbose, .. } = args;
        let source = Source::from(mesh);
        let is_niederer = source.niederer().is_some();
        let (model, regions) = (tissue.model, regions(&tissue, &source)?);
        let default_stimulus = !is_niederer && stimulus.shapes.is_empty();
        let (balance, grounds) = (stimulus.balance, stimulus.grounds.clone());
        let mut params = Params {
            formulation,
            model,
            tissue: tissue_of(&tissue),
            regions,
            stimuli: if is_niederer { vec![niederer::stimulus()] } else { stimuli(stimulus)? },
            balance,
            grounds,
            dt: method.dt,
            theta: method.theta,
            cell_substeps: method.cell_substeps,
            lumped_mass: method.lumped_mass,
            rtol: method.rtol,
            parabolic_rtol: method.parabolic_rtol,
            max_iterations: method.max_iter,
            threshold: method.threshold,
            reorder: method.reorder,
            ..Params::default()
        };
        method.amg.iter().try_for_each(|(key, value)| params.amg.set(key, value))?;
        params.check()?;
        let t_end = method.t_end.unwrap_or(if is_niederer { niederer::T_END } else { 100.0 });
        if t_end / params.dt > MOST_STEPS {
            return Err(Error::Option(format!(
                "{} ms are {} steps of {} ms; use a larger --dt or a smaller --t-end",
                plain(t_end),
                plain(t_end / params.dt),
                plain(params.dt)
            )));
        }
        if params.dt > t_end {
            return Err(Error::Option(format!(
                "a step of {} ms is longer than the {} ms that are to be simulated; use a smaller --dt",
                plain(params.dt),
                plain(t_end)
            )));
        }
        let mut inputs = source.beside();
        inputs.extend(output.points.as_ref().and_then(|points| points.file.clone()));
        let asked = output.points.map(|points| points.list).unwrap_or_default();
        let benchmark_points = niederer::points().filter(|_| is_niederer);
        Ok(Plan {
            source,
            params,
            default_stimulus,
            t_end,
            stops_when_activated: method.stop_when_activated || is_niederer,
            out: output.out,
            every: Some(output.every).filter(|&every| every > 0.0),
            pieces: output.pieces,
            view: output.view,
            points: benchmark_points.chain(asked).collect(),
            checkpoint: output.checkpoint,
            checkpoint_every: output.checkpoint_every,
            restart: output.restart,
            other_stimuli: output.other_stimuli,
            inputs,
            quiet,
            verbose,
        })
    }

    /// The plan with the stimulus that is left to the mesh in its place.
    pub fn placed<const C: usize>(mut self, mesh: &Mesh<C>) -> Result<Plan> {
        if self.default_stimulus {
            let tissue = self.params.tissue_of(mesh)?;
            self.params.stimuli[0].shape = at_the_apex(tissue.as_ref().map_or(mesh, |(tissue, _)| tissue));
        }
        Ok(self)
    }

    /// Refuses outputs that would be lost after the work, or take the place of inputs; makes the folder.
    pub fn check_outputs(&self) -> Result<()> {
        if let Some(folder) = &self.out {
            fs::create_dir_all(folder).map_err(|error| Error::io("create the folder", folder, error))?;
            for (path, what, advice) in
                [(self.source.file(), "mesh", "folder"), (self.checkpoint.as_deref(), "checkpoint", "file")]
            {
                if let Some(path) = path.filter(|path| is_result_in(path, folder)) {
                    return Err(Error::Option(format!(
                        "the {what} {} would be overwritten by the results in --out; name another {advice}",
                        path.display()
                    )));
                }
            }
        }
        if let Some(path) = &self.checkpoint {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let input = |other: &Path| other.exists() && is_same_file(path, other);
            let why = match folder {
                Some(folder) if !folder.is_dir() => "is in a folder that does not exist",
                _ if path.is_dir() => "is a folder",
                _ if self.source.file().is_some_and(input) => "is the mesh",
                _ if self.inputs.iter().any(|path| input(path)) => "is an input",
                _ => return Ok(()),
            };
            return Err(Error::Option(format!("the checkpoint {} {why}; name another file", path.display())));
        }
        Ok(())
    }

    /// How many steps lead from 0 to t_end.
    pub fn steps(&self) -> u64 {
        // A t_end that is a multiple but for rounding takes no further step.
        (self.t_end / self.params.dt - 1e-9).ceil() as u64
    }
}

/// Whether a run writes a file of this name into `folder`.
fn is_result_in(path: &Path, folder: &Path) -> bool {
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => return false,
    };
    path.file_name().is_some_and(files::is_of_a_run)
        && parent
            .canonicalize()
            .is_ok_and(|parent| folder.canonicalize().is_ok_and(|folder| folder == parent))
}

impl Source {
    /// The mesh, and what was found in its file.
    pub fn mesh(&self) -> Result<(AnyMesh, Option<ReadSummary>)> {
        let mesh = match self {
            Source::File { path, options } => {
                return read_any(path, options).map(|(mesh, summary)| (mesh, Some(summary)));
            }
            &Source::Slab { lengths, spacing, layer, .. } => match (lengths, layer) {
                (Lengths::Box(lengths), None) => AnyMesh::Solid(TetMesh::slab(lengths, spacing)?),
                (Lengths::Box(lengths), Some(layer)) => {
                    AnyMesh::Solid(TetMesh::slab_with_layer(lengths, layer, spacing)?)
                }
                (Lengths::Rectangle(lengths), layer) => {
                    AnyMesh::Flat(TriMesh::sheet(lengths, layer, spacing)?)
                }
            },
        };
        Ok((mesh, None))
    }

    /// The name in reports.
    pub fn name(&self) -> String {
        match self {
            Source::File { path, .. } => path.display().to_string(),
            Source::Slab { lengths, spacing, layer, niederer } => {
                let of = if *niederer { ", the benchmark of Niederer et al." } else { "" };
                let bath = layer.map_or(String::new(), |layer| format!(", {layer} mm of bath above"));
                format!("{lengths} mm, {}{bath}{of}", lengths.cut(*spacing, *layer))
            }
        }
    }

    /// Files that may be read beside that of the mesh: the other half of TetGen's, and fibres.
    fn beside(&self) -> Vec<PathBuf> {
        let Source::File { path, options } = self else { return Vec::new() };
        let stem = path.with_extension("");
        let bare = if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz")) {
            stem.with_extension("")
        } else {
            stem
        };
        let names = ["node", "ele", "lon", "ortho", "axi"];
        let siblings = names
            .iter()
            .flat_map(|name| [bare.with_extension(name), bare.with_extension(format!("{name}.gz"))]);
        siblings.chain(options.fibres.clone()).collect()
    }

    fn file(&self) -> Option<&Path> {
        match self {
            Source::File { path, .. } => Some(path),
            Source::Slab { .. } => None,
        }
    }

    /// The spacing, if this is the benchmark.
    pub fn niederer(&self) -> Option<f64> {
        match self {
            Source::Slab { spacing, niederer: true, .. } => Some(*spacing),
            _ => None,
        }
    }
}

impl From<MeshArgs> for Source {
    fn from(args: MeshArgs) -> Source {
        match (args.file, args.slab) {
            (Some(path), _) => {
                let options = ReadOptions {
                    scale: args.scale.unwrap_or(1.0),
                    reorient: args.reorient,
                    drop_unreferenced: args.drop_unreferenced,
                    largest_component: args.largest_component,
                    fibres: args.fibres,
                };
                Source::File { path, options }
            }
            (None, lengths) => Source::Slab {
                lengths: lengths.unwrap_or(Lengths::Box(niederer::LENGTHS)),
                spacing: args.spacing.unwrap_or(niederer::SPACING),
                layer: args.bath_layer,
                niederer: args.niederer,
            },
        }
    }
}

/// The regions with conductivities of their own.
fn regions(args: &TissueArgs, source: &Source) -> Result<Vec<Region>> {
    let layer = matches!(source, Source::Slab { layer: Some(_), .. }).then_some(TetMesh::LAYER);
    let baths: Vec<i32> = args.baths.iter().copied().chain(layer).collect();
    if args.sigma_bath.is_some() && baths.is_empty() {
        return Err(Error::Option("--sigma-bath goes with --bath or --bath-layer".into()));
    }
    let bath = Conductivities::bath(args.sigma_bath.unwrap_or(SIGMA_BATH));
    let Conductivities { il, it, el, et } = tissue_of(args).conductivities();
    let own = |RegionArgs { tag, sigma }: &RegionArgs| {
        let [il, it, el, et] = std::array::from_fn(|k| sigma[k].unwrap_or([il, it, el, et][k]));
        Region { tag: *tag, conductivities: Conductivities { il, it, el, et } }
    };
    let baths = baths.into_iter().map(|tag| Region { tag, conductivities: bath });
    Ok(args.regions.iter().map(own).chain(baths).collect())
}

fn tissue_of(args: &TissueArgs) -> Tissue {
    let defaults = Tissue::default();
    let sigma_il = args.sigma_il.unwrap_or(defaults.sigma_il);
    let sigma_el = args.sigma_el.unwrap_or(defaults.sigma_el);
    let across =
        |given: Option<f64>, default, along| if args.isotropic { along } else { given.unwrap_or(default) };
    Tissue {
        sigma_il,
        sigma_it: across(args.sigma_it, defaults.sigma_it, sigma_il),
        sigma_el,
        sigma_et: across(args.sigma_et, defaults.sigma_et, sigma_el),
        chi: args.chi.unwrap_or(defaults.chi),
        cm: args.cm.unwrap_or(defaults.cm),
    }
}

/// The stimuli; without a shape one that is still to get its place.
fn stimuli(args: StimulusArgs) -> Result<Vec<Stimulus>> {
    let StimulusArgs { shapes, kinds, strengths, durations, starts, periods, beats, .. } = args;
    let count = shapes.len().max(1);
    let lists = [
        ("kind", kinds.len()),
        ("strength", strengths.len()),
        ("duration", durations.len()),
        ("start", starts.len()),
        ("period", periods.len()),
        ("beats", beats.len()),
    ];
    if let Some((name, given)) = lists.into_iter().find(|&(_, given)| given > 1 && given != count) {
        return Err(Error::Option(format!(
            "--stimulus-{name} is given {given} times, for {count} stimuli; give it once for all, or once for each"
        )));
    }
    fn of<T: Copy>(list: &[T], k: usize) -> Option<T> {
        list.get(k).or(list.first()).copied()
    }
    let open = Shape::Ball { centre: [0.0; 3], radius: 1.0 };
    let stimulus = |k: usize| Stimulus {
        kind: of(&kinds, k).unwrap_or(StimulusKind::Transmembrane),
        shape: shapes.get(k).unwrap_or(&open).clone(),
        start: of(&starts, k).unwrap_or(0.0),
        duration: of(&durations, k).unwrap_or(2.0),
        strength: of(&strengths, k).unwrap_or(50.0),
        period: of(&periods, k),
        beats: of(&beats, k),
    };
    Ok((0..count).map(stimulus).collect())
}

/// A ball around the lowest node, of 5 % of the diagonal of the mesh's box, or two mean edges if these are
/// longer: a wave does not start from one node.
fn at_the_apex<const C: usize>(mesh: &Mesh<C>) -> Shape {
    const SHARE: f64 = 0.05;
    const EDGES: f64 = 2.0;
    // The edge of a cube that a node has to itself, of which there are six tetrahedra, or of a square, of
    // which there are two triangles.
    let volume: f64 = (0..mesh.cells().len()).map(|t| mesh.volume(t)).sum();
    let mean = volume / mesh.cells().len() as f64;
    let edge = if C == 3 { (2.0 * mean).sqrt() } else { (6.0 * mean).cbrt() };
    let [low, high] = mesh.bounding_box();
    let square: f64 = (0..3).map(|x| (high[x] - low[x]).powi(2)).sum();
    // The first one of those, and in a plane the one of smallest y.
    let up = C - 2;
    let lowest = mesh.points().iter().min_by(|a, b| a[up].total_cmp(&b[up]));
    // A mesh has nodes.
    Shape::Ball { centre: lowest.copied().unwrap_or(low), radius: (SHARE * square.sqrt()).max(EDGES * edge) }
}

/// The nodes nearest to the plan's points.
pub fn probes<const C: usize>(mesh: &Mesh<C>, points: &[[f64; 3]]) -> Vec<Probe> {
    points.iter().map(|&point| Probe::new(mesh, point)).collect()
}
