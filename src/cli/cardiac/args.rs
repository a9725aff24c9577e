//! The arguments of `bidomain` and `monodomain`.

use std::fmt;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use warpsolve::cardiac::{Balance, Formulation, Model, Shape, StimulusKind};
use warpsolve::precond::amg;

use super::super::device::DeviceName;
use super::super::names::named;
use super::super::profile::ProfileArgs;
use super::super::values::{finite, not_negative, numbers, positive};
use super::points::Points;

#[derive(Debug, Args)]
pub struct BidomainArgs {
    /// How the two equations are solved: coupled (one system in phi_e and v_m), potentials (one system in the
    /// potentials inside and outside of the cells, lumped mass) or splitting (one after the other)
    #[arg(long, value_name = "NAME", default_value_t = Formulation::Coupled)]
    pub formulation: Formulation,
    #[command(flatten)]
    pub cardiac: CardiacArgs,
}

#[derive(Debug, Args)]
pub struct MonodomainArgs {
    #[command(flatten)]
    pub cardiac: CardiacArgs,
}

/// Lengths are in mm, times in ms, potentials in mV, conductivities in mS/mm, which is S/m.
#[derive(Debug, Args)]
pub struct CardiacArgs {
    #[command(flatten)]
    pub mesh: MeshArgs,
    #[command(flatten)]
    pub tissue: TissueArgs,
    #[command(flatten)]
    pub stimulus: StimulusArgs,
    #[command(flatten)]
    pub method: MethodArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// auto, cpu, cuda, cuda:N (the N-th GPU, from 0), cuda:all or cuda:N,M (a rank for each), sim (the
    /// kernels in a simulator: slow, for tests)
    #[arg(long, default_value = "auto",
          value_parser = named::<DeviceName>(&[DeviceName::NAMES]), hide_possible_values = true)]
    pub device: DeviceName,
    /// Threads on the host, with ranks those of each [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub threads: Option<u16>,
    /// Simulate the mesh in so many parts, each a thread with its own part of the device; under mpirun or
    /// srun every process is one, without this [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub ranks: Option<u16>,
    /// No report and no progress, only warnings and errors
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,
    /// More detail in the report
    #[arg(long, short)]
    pub verbose: bool,
    #[command(flatten)]
    pub profile: ProfileArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Mesh")]
#[command(group = ArgGroup::new("tissue").args(["file", "slab", "niederer"]).required(true))]
pub struct MeshArgs {
    /// Tetrahedra, or triangles in a plane: .vtu, .vtk (VTK), .msh (Gmsh); tetrahedra: .node and .ele
    /// (TetGen, Chaste); also with .gz
    #[arg(value_name = "MESH")]
    pub file: Option<PathBuf>,
    /// A box from the origin on instead of a file, or with two lengths a rectangle of triangles, fibres along
    /// x: its lengths, mm
    #[arg(long, value_name = "LX,LY[,LZ]", value_parser = lengths, requires = "spacing", allow_hyphen_values = true)]
    pub slab: Option<Lengths>,
    /// Between the nodes of a box at most, mm; the sides are cut into equal parts [default with --niederer:
    /// 0.5]
    #[arg(long, value_name = "H", value_parser = positive, allow_negative_numbers = true, conflicts_with = "file")]
    pub spacing: Option<f64>,
    /// A bath of this thickness on the upper side of a box, where z is largest, of a rectangle where y is,
    /// mm: region 1; the tissue is region 0
    #[arg(long, value_name = "H", value_parser = positive, allow_negative_numbers = true, requires = "slab", conflicts_with_all = ["file", "niederer"])]
    pub bath_layer: Option<f64>,
    /// The benchmark of Niederer et al. 2011: a box of 20 x 7 x 3 mm, stimulated in a corner, until all of it
    /// is activated
    #[arg(long)]
    pub niederer: bool,
    /// Coordinates of the file are multiplied by this: 10 for cm, 0.001 for micrometres [default: 1]
    #[arg(long, value_name = "X", value_parser = positive, allow_negative_numbers = true, conflicts_with_all = ["slab", "niederer"])]
    pub scale: Option<f64>,
    /// Turn tetrahedra that are inside out while others are not
    #[arg(long, conflicts_with_all = ["slab", "niederer"])]
    pub reorient: bool,
    /// Leave out nodes without tetrahedra
    #[arg(long, conflicts_with_all = ["slab", "niederer"])]
    pub drop_unreferenced: bool,
    /// Leave out all parts of a mesh in pieces but the one with the most tetrahedra
    #[arg(long, conflicts_with_all = ["slab", "niederer"])]
    pub largest_component: bool,
    /// Fibres: .lon (openCARP), .ortho, .axi (Chaste) [default: in the mesh, or beside it under its name]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["slab", "niederer"])]
    pub fibres: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Tissue (the defaults are those of Niederer et al. 2011)")]
pub struct TissueArgs {
    /// mitchell-schaeffer (2003, 2 variables), ten-tusscher (and Panfilov 2006, epicardial, 19 variables)
    #[arg(long, value_name = "NAME", default_value_t = Model::TenTusscher,
          value_parser = named::<Model>(&[Model::NAMES]), hide_possible_values = true)]
    pub model: Model,
    /// Conductivity inside of the cells along the fibres, mS/mm [default: 0.17]
    #[arg(long, value_name = "X", value_parser = positive, allow_negative_numbers = true)]
    pub sigma_il: Option<f64>,
    /// Inside, across the fibres [default: 0.019]
    #[arg(long, value_name = "X", value_parser = positive, allow_negative_numbers = true)]
    pub sigma_it: Option<f64>,
    /// Outside, along the fibres [default: 0.62]
    #[arg(long, value_name = "X", value_parser = positive, allow_negative_numbers = true)]
    pub sigma_el: Option<f64>,
    /// Outside, across the fibres [default: 0.24]
    #[arg(long, value_name = "X", value_parser = positive, allow_negative_numbers = true)]
    pub sigma_et: Option<f64>,
    /// No fibres: conducts across as along
    #[arg(long, conflicts_with_all = ["sigma_it", "sigma_et", "niederer"])]
    pub isotropic: bool,
    /// Conductivities of a region of the mesh, where they differ; may be given several times. Both of a pair
    /// may be 0: il and it where there are no cells, el and et where nothing conducts outside of them
    #[arg(long = "region", value_name = "TAG:il=X,it=X,el=X,et=X", value_parser = region, conflicts_with = "niederer")]
    pub regions: Vec<RegionArgs>,
    /// A region of the mesh without cells, such as blood or a torso; may be given several times
    #[arg(long = "bath", value_name = "TAG", allow_negative_numbers = true, conflicts_with = "niederer")]
    pub baths: Vec<i32>,
    /// Conductivity of baths [default: 1]
    #[arg(long, value_name = "X", value_parser = positive, allow_negative_numbers = true)]
    pub sigma_bath: Option<f64>,
    /// The membrane's surface to volume ratio, 1/mm [default: 140]
    #[arg(long, value_name = "X", value_parser = positive, allow_negative_numbers = true)]
    pub chi: Option<f64>,
    /// The membrane's capacity, uF/mm^2 [default: 0.01]
    #[arg(long, value_name = "X", value_parser = positive, allow_negative_numbers = true)]
    pub cm: Option<f64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Stimulus")]
pub struct StimulusArgs {
    /// Where current is led in: box:X0,Y0,Z0,X1,Y1,Z1 or ball:X,Y,Z,R in mm; may be given several times
    /// [default: a ball around the lowest node, with a radius of 5 % of the diagonal of the mesh's box, or
    /// two edges]
    #[arg(long = "stimulus", value_name = "SHAPE", value_parser = shape, conflicts_with = "niederer")]
    pub shapes: Vec<Shape>,
    /// transmembrane (into the cells through their membrane) or extracellular (by an electrode outside of
    /// them: a positive strength is an anode, a negative one a cathode); once for all, or once for each
    /// --stimulus, as the next four [default: transmembrane]
    #[arg(long = "stimulus-kind", value_name = "NAME", conflicts_with = "niederer",
          value_parser = named::<StimulusKind>(&[StimulusKind::NAMES]), hide_possible_values = true)]
    pub kinds: Vec<StimulusKind>,
    /// uA/mm^3 [default: 50]
    #[arg(long = "stimulus-strength", value_name = "X", value_parser = finite, allow_hyphen_values = true, conflicts_with = "niederer")]
    pub strengths: Vec<f64>,
    /// ms [default: 2]
    #[arg(long = "stimulus-duration", value_name = "MS", value_parser = positive, allow_negative_numbers = true, conflicts_with = "niederer")]
    pub durations: Vec<f64>,
    /// ms [default: 0]
    #[arg(long = "stimulus-start", value_name = "MS", value_parser = not_negative, allow_negative_numbers = true, conflicts_with = "niederer")]
    pub starts: Vec<f64>,
    /// From one beginning to the next, ms [default: not repeated]
    #[arg(long = "stimulus-period", value_name = "MS", value_parser = positive, allow_negative_numbers = true, conflicts_with = "niederer")]
    pub periods: Vec<f64>,
    /// How often a stimulus with a period acts [default: to the end]
    #[arg(long = "stimulus-beats", value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "niederer")]
    pub beats: Vec<u32>,
    /// What is done where extracellular stimuli do not add up to 0 and nothing is grounded: refuse, spread
    /// (what is missing enters or leaves evenly everywhere), scale (anodes or cathodes, the weaker ones)
    #[arg(long = "balance-stimuli", value_name = "NAME", default_value_t = Balance::Refuse,
          value_parser = named::<Balance>(&[Balance::NAMES]), hide_possible_values = true)]
    pub balance: Balance,
    /// Where the potential outside of the cells is 0: box:X0,Y0,Z0,X1,Y1,Z1 or ball:X,Y,Z,R; may be given
    /// several times
    #[arg(long = "ground", value_name = "SHAPE", value_parser = shape)]
    pub grounds: Vec<Shape>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub struct MethodArgs {
    /// A time step, ms
    #[arg(long, value_name = "MS", value_parser = positive, allow_negative_numbers = true, default_value_t = 0.05)]
    pub dt: f64,
    /// How long to simulate, ms [default: 100; with --niederer 150]
    #[arg(long, value_name = "MS", value_parser = positive, allow_negative_numbers = true)]
    pub t_end: Option<f64>,
    /// End as soon as every node was activated (implied by --niederer)
    #[arg(long)]
    pub stop_when_activated: bool,
    /// Weight of the new voltage: 1 backward Euler, 0.5 Crank-Nicolson; coupled takes 1
    #[arg(long, value_name = "X", value_parser = finite, allow_negative_numbers = true, default_value_t = 1.0)]
    pub theta: f64,
    /// Steps of the cells within a time step
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), default_value_t = 1)]
    pub cell_substeps: u32,
    /// A diagonal mass matrix: its row sums
    #[arg(long)]
    pub lumped_mass: bool,
    /// Tolerance of the elliptic or the coupled system, relative to its right-hand side, down to what
    /// rounding leaves
    #[arg(long, value_name = "X", value_parser = positive, allow_negative_numbers = true, default_value_t = 1e-6)]
    pub rtol: f64,
    /// The same of the parabolic system
    #[arg(long, value_name = "X", value_parser = positive, allow_negative_numbers = true, default_value_t = 1e-8)]
    pub parabolic_rtol: f64,
    /// Most iterations of a solve
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000), default_value_t = 1000)]
    pub max_iter: u32,
    /// A parameter of the multigrid hierarchy, such as smoother=jacobi; `solve --help` lists them (precision
    /// is chosen here)
    #[arg(long, value_name = "KEY=VALUE,...", value_delimiter = ',', value_parser = amg_setting)]
    pub amg: Vec<(String, String)>,
    /// Number the nodes along a space-filling curve, for faster products
    #[arg(long)]
    pub reorder: bool,
    /// Activated is what first reaches this, mV
    #[arg(long, value_name = "MV", value_parser = finite, allow_hyphen_values = true, default_value_t = 0.0)]
    pub threshold: f64,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// A folder for the results: v.pvd with its frames, activation.vtu, activation.png, steps.csv, run.json,
    /// report.txt
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// From one frame to the next, ms; 0 for none
    #[arg(long, value_name = "MS", value_parser = not_negative, allow_negative_numbers = true, default_value_t = 5.0)]
    pub every: f64,
    /// Every rank writes its own part of the frames and of the activation times: NAME_R.vtu, listed in
    /// NAME.pvtu, which ParaView opens
    #[arg(long, requires = "out")]
    pub pieces: bool,
    /// From where the picture is seen: a direction towards the viewer [default: what shows most]
    #[arg(long, value_name = "X,Y,Z", value_parser = direction, allow_hyphen_values = true, requires = "out")]
    pub view: Option<[f64; 3]>,
    /// Report when the nodes nearest to these were activated: "X,Y,Z;X,Y,Z;...", or a file with a point a
    /// line
    #[arg(long, value_name = "POINTS", allow_hyphen_values = true)]
    pub points: Option<Points>,
    /// Write the state here: at the end, also of a run that is interrupted (Ctrl-C), and with
    /// --checkpoint-every
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// From one checkpoint to the next, ms
    #[arg(long, value_name = "MS", value_parser = positive, allow_negative_numbers = true, requires = "checkpoint")]
    pub checkpoint_every: Option<f64>,
    /// Go on from a checkpoint of the same mesh and parameters; results in --out are continued
    #[arg(long, value_name = "FILE")]
    pub restart: Option<PathBuf>,
    /// With --restart: the stimuli may be others than those of the checkpoint
    #[arg(long, requires = "restart")]
    pub other_stimuli: bool,
}

/// A direction in space.
pub fn direction(text: &str) -> Result<[f64; 3], String> {
    match numbers(text)? {
        [0.0, 0.0, 0.0] => Err("it takes a direction: three numbers, not all 0".into()),
        direction => Ok(direction),
    }
}

/// A region, and those of its conductivities il, it, el, et that are its own.
#[derive(Debug, Clone)]
pub struct RegionArgs {
    pub tag: i32,
    pub sigma: [Option<f64>; 4],
}

fn region(text: &str) -> Result<RegionArgs, String> {
    let usage = "it takes TAG:il=X,it=X,el=X,et=X, or some of these";
    let (tag, list) = text.split_once(':').ok_or(usage)?;
    let mut region = RegionArgs { tag: tag.trim().parse().map_err(|_| usage)?, sigma: [None; 4] };
    for setting in list.split(',') {
        let (key, value) = setting.split_once('=').ok_or(usage)?;
        let k = ["il", "it", "el", "et"].iter().position(|name| *name == key.trim()).ok_or(usage)?;
        region.sigma[k] = Some(not_negative(value.trim()).map_err(|why| format!("{key}: {why}"))?);
    }
    Ok(region)
}

/// The lengths of a box or of a rectangle.
#[derive(Debug, Clone, Copy)]
pub enum Lengths {
    Box([f64; 3]),
    Rectangle([f64; 2]),
}

/// Two or three lengths.
pub fn lengths(text: &str) -> Result<Lengths, String> {
    match text.split(',').count() {
        2 => numbers(text).map(Lengths::Rectangle),
        3 => numbers(text).map(Lengths::Box),
        _ => Err("it takes 2 or 3 numbers with commas between".into()),
    }
}

/// A part of space.
pub fn shape(text: &str) -> Result<Shape, String> {
    match text.split_once(':') {
        Some(("box", rest)) => {
            let [x0, y0, z0, x1, y1, z1] = numbers(rest)?;
            Ok(Shape::Box { low: [x0, y0, z0], high: [x1, y1, z1] })
        }
        Some(("ball", rest)) => {
            let [x, y, z, radius] = numbers(rest)?;
            Ok(Shape::Ball { centre: [x, y, z], radius })
        }
        _ => Err("it takes box:X0,Y0,Z0,X1,Y1,Z1 or ball:X,Y,Z,R".into()),
    }
}

impl Lengths {
    /// How sides, and a layer beside them, are cut: "spacing 0.5 mm", or where one of them is no multiple of
    /// that, "spacing at most 0.5 mm".
    pub fn cut(&self, spacing: f64, layer: Option<f64>) -> String {
        /// Parts of a part that are rounding.
        const ROUNDING: f64 = 1e-9;
        let sides: &[f64] = match self {
            Lengths::Box(sides) => sides,
            Lengths::Rectangle(sides) => sides,
        };
        let is_even = |side: &f64| {
            let parts = side / spacing;
            parts.round() >= 1.0 && (parts - parts.round()).abs() <= ROUNDING * parts.max(1.0)
        };
        let at_most = if sides.iter().chain(&layer).all(is_even) { "" } else { "at most " };
        format!("spacing {at_most}{spacing} mm")
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Lengths::Box([x, y, z]) => write!(f, "box of {x} x {y} x {z}"),
            Lengths::Rectangle([x, y]) => write!(f, "rectangle of {x} x {y}"),
        }
    }
}

fn amg_setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("it takes KEY=VALUE")?;
    let mut params = amg::Params::default();
    params.set(key, value).and_then(|()| params.check()).map_err(|error| error.to_string())?;
    Ok((key.into(), value.into()))
}
