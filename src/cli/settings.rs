//! What can be set on the command line or in a `--config` file, and how the two become the options of a job.

use std::fmt::Display;

use clap::Args;
use warpsolve::job::{Method, Options, Permute, Precision, Precond, Reorder, Scale};
use warpsolve::matrix::Format;
use warpsolve::precond::SingularBlocks;
use warpsolve::precond::amg::{Coarsening, Cycle, SmootherKind};
use warpsolve::solver::{MAX_RESTART, Stop};
use warpsolve::{Error, Result};

use super::device::DeviceName;
use super::names::named;
use super::parameters::{Amg, Family, Ilu, Setting, are_of, help, settle};
use super::values::{OrAuto, Restart, not_negative, omega};

/// The name that leaves a choice open.
const AUTO: &[&str] = &["auto"];

/// Whatever is not given is `None`, so that two sources can be laid over one another.
#[derive(Debug, Clone, Default, Args)]
pub struct Settings {
    #[arg(long, help = solver_help(), value_parser = named::<OrAuto<Method>>(&[AUTO, Method::NAMES]), hide_possible_values = true)]
    pub solver: Option<OrAuto<Method>>,
    #[arg(long, help = precond_help(), value_parser = named::<OrAuto<Precond>>(&[AUTO, Precond::NAMES]), hide_possible_values = true)]
    pub precond: Option<OrAuto<Precond>>,
    #[arg(long, value_name = "NAME", help = with_amg(Coarsening::NAMES), value_parser = named::<Coarsening>(&[Coarsening::NAMES]), hide_possible_values = true)]
    coarsening: Option<Coarsening>,
    #[arg(long, value_name = "NAME", help = with_amg(SmootherKind::NAMES), value_parser = named::<SmootherKind>(&[SmootherKind::NAMES]), hide_possible_values = true)]
    smoother: Option<SmootherKind>,
    /// With --precond amg or --solver amg: v, w, f, k; auto takes w with mandel-brezina, else v [default:
    /// auto]
    #[arg(long, value_name = "NAME", value_parser = named::<OrAuto<Cycle>>(&[AUTO, Cycle::NAMES]), hide_possible_values = true)]
    cycle: Option<OrAuto<Cycle>>,
    /// With --precond amg: any of its parameters, such as pre=2,post=2,precision=f64; --help lists them
    #[arg(long, value_name = "KEY=VALUE,...", value_delimiter = ',', long_help = help::<Amg>())]
    pub amg: Vec<Setting<Amg>>,
    /// With --precond ilu: any of its parameters, such as kind=ilut,drop=1e-4; --help lists them
    #[arg(long, value_name = "KEY=VALUE,...", value_delimiter = ',', long_help = help::<Ilu>())]
    pub ilu: Vec<Setting<Ilu>>,
    /// Unknowns a node, 1 to 3, numbered node by node: with more than 1, matrix, jacobi and amg work on
    /// blocks [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    pub block_size: Option<u8>,
    /// With --precond jacobi and --block-size: refuse singular diagonal blocks, or take their pseudo-inverse
    /// [default: refuse]
    #[arg(long, value_name = "NAME", value_parser = named::<SingularBlocks>(&[SingularBlocks::NAMES]), hide_possible_values = true)]
    pub singular_blocks: Option<SingularBlocks>,
    /// crs, ell, sell, with blocks bcrs2, bcrs3, bsell2, bsell3; auto takes what is fastest on the device
    /// [default: auto]
    #[arg(long, value_parser = named::<OrAuto<Format>>(&[AUTO, Format::NAMES]), hide_possible_values = true)]
    pub format: Option<OrAuto<Format>>,
    /// With --format sell: rows sorted at a time, 1 or a multiple of 32 [default: 1]
    #[arg(long, value_name = "N")]
    pub sigma: Option<usize>,
    /// Solve in another numbering of the unknowns: none, rcm (reverse Cuthill-McKee), auto (rcm where
    /// products then need clearly fewer cache lines of x); x is in the given one [default: none]
    #[arg(long, value_name = "NAME", value_parser = named::<Reorder>(&[Reorder::NAMES]), hide_possible_values = true)]
    pub reorder: Option<Reorder>,
    /// Multiply rows and columns first: none, ruiz (the largest entry of each becomes about 1), matching (the
    /// entries of a matching of rows and columns do); x and the residual are those of the given system
    /// [default: none]
    #[arg(long, value_name = "NAME", value_parser = named::<Scale>(&[Scale::NAMES]), hide_possible_values = true)]
    pub scaling: Option<Scale>,
    /// Permute rows first: none, matching (the largest product of entries comes to the diagonal)
    /// [default: none]
    #[arg(long, value_name = "NAME", value_parser = named::<Permute>(&[Permute::NAMES]), hide_possible_values = true)]
    pub permute: Option<Permute>,
    /// f64 or f32; the residual is checked in f64 either way [default: f64]
    #[arg(long, value_parser = named::<Precision>(&[Precision::NAMES]), hide_possible_values = true)]
    pub precision: Option<Precision>,
    /// Converged at ||b - A x|| <= max(rtol ||b||, atol) [default: 1e-8]
    #[arg(long, value_name = "X", value_parser = not_negative, allow_negative_numbers = true)]
    pub rtol: Option<f64>,
    /// See --rtol [default: 0]
    #[arg(long, value_name = "X", value_parser = not_negative, allow_negative_numbers = true)]
    pub atol: Option<f64>,
    /// Most iterations, up to 10000000 [default: as many as their rate makes worth while, up to 20000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub max_iter: Option<u32>,
    #[arg(long, value_name = "N", help = parameter_help("restart", Options::default().restart))]
    pub restart: Option<Restart>,
    /// With --precond jacobi-sweeps: how many; odd for CG unless the weight is small [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub sweeps: Option<u16>,
    #[arg(long, value_name = "X", help = parameter_help("omega", Options::default().omega), value_parser = omega, allow_negative_numbers = true)]
    pub omega: Option<f64>,
    /// auto, cpu, cuda, cuda:N (the N-th GPU, from 0), sim (the kernels in a simulator: slow, for tests)
    /// [default: auto]
    #[arg(long, value_parser = named::<DeviceName>(&[DeviceName::NAMES]), hide_possible_values = true)]
    pub device: Option<DeviceName>,
    /// Threads on the host [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub threads: Option<u16>,
}

/// "none, jacobi, amg (algebraic multigrid)" from names and what they stand for.
fn listed(choices: impl Iterator<Item = (&'static str, &'static str)>) -> String {
    let one = |(name, doc): (&str, &str)| match doc {
        "" => name.to_string(),
        doc => format!("{name} ({doc})"),
    };
    choices.map(one).collect::<Vec<_>>().join(", ")
}

fn solver_help() -> String {
    let methods = Method::ALL.iter().map(|method| method.description());
    let choices = listed(methods.map(|method| (method.name, method.doc)));
    format!(
        "{choices}; auto tries what suits the matrix, in turn, see --plan; with --precond it takes cg for a symmetric \
         matrix with a positive diagonal, else gmres [default: auto]"
    )
}

fn precond_help() -> String {
    let preconditioners = Precond::ALL.iter().map(|precond| precond.description());
    let choices = listed(preconditioners.map(|precond| (precond.name, precond.doc)));
    format!(
        "{choices}; auto tries what suits the matrix; with --solver it takes jacobi where the diagonal allows it \
         [default: auto]"
    )
}

/// "--solver gmres": the methods and preconditioners that take a parameter.
pub fn takers(parameter: &str) -> String {
    let methods = Method::ALL.iter().map(|method| method.description());
    let methods = methods.filter(|method| method.takes_parameter(parameter)).map(|method| method.name);
    let preconditioners = Precond::ALL.iter().filter(|&&precond| of(precond, parameter));
    let listed = |option: &str, names: Vec<&str>| {
        (!names.is_empty()).then(|| format!("--{option} {}", names.join(" or ")))
    };
    let solvers = listed("solver", methods.collect());
    let preconds = listed("precond", preconditioners.map(|precond| precond.description().name).collect());
    solvers.into_iter().chain(preconds).collect::<Vec<_>>().join(" or ")
}

fn of(precond: Precond, parameter: &str) -> bool {
    precond.description().takes_parameter(parameter)
}

fn parameter_help(parameter: &str, default: impl Display) -> String {
    let mut parameters = Method::ALL.iter().flat_map(|method| method.description().parameters);
    let doc = parameters.find(|known| known.name == parameter).map_or("", |parameter| parameter.doc);
    format!("With {}: {doc} [default: {default}]", takers(parameter))
}

fn with_amg(names: &[&str]) -> String {
    format!("With --precond amg or --solver amg: {}", names.join(", "))
}

impl Settings {
    /// What one source says, in one form: AMG's parameters in one list, no parameter twice, and `--precond
    /// amg` or `ilu` said where they imply it.
    pub fn normalised(mut self) -> Result<Self> {
        let named = [
            ("coarsening", self.coarsening.take().map(|name| name.to_string())),
            ("smoother", self.smoother.take().map(|name| name.to_string())),
            ("cycle", self.cycle.take().map(|name| name.to_string())),
        ];
        for (key, value) in named {
            self.amg.extend(value.map(|value| Setting::new(key, value)));
        }
        settle(&self.amg, &mut self.precond)?;
        settle(&self.ilu, &mut self.precond)?;
        Ok(self)
    }

    /// These settings, normalised, and `base` for what they leave open. What `base` says about a method, a
    /// preconditioner or a format goes with it where another is chosen here; where it contradicts itself in
    /// what is left of it, [`Error::Option`].
    pub fn over(self, mut base: Settings) -> Result<Settings> {
        let method = self.solver.and_then(|name| name.0).map(Method::description);
        let precond = self.precond.and_then(|name| name.0);
        let without = |parameter: &str| method.is_some_and(|method| !method.takes_parameter(parameter));
        let given = |key: &str| self.amg.iter().any(|setting| setting.key == key);
        base.coarsening.take_if(|_| given("coarsening"));
        base.smoother.take_if(|_| given("smoother"));
        base.cycle.take_if(|_| given("cycle"));
        base.amg.retain(|setting| !given(&setting.key));
        base.ilu.retain(|setting| !self.ilu.iter().any(|other| other.key == setting.key));
        // These methods take no preconditioner, and amg its own parameters.
        if method.is_some_and(|method| method.is_stationary()) && self.precond.is_none() {
            base.precond = None;
        }
        let own = method.and_then(|method| method.own_preconditioner());
        if precond.or(own).is_some_and(|precond| !are_of::<Amg>(precond)) {
            (base.coarsening, base.smoother, base.cycle) = (None, None, None);
            base.amg.clear();
        }
        if precond.or(own).is_some_and(|precond| !are_of::<Ilu>(precond)) {
            base.ilu.clear();
        }
        if without("restart") {
            base.restart = None;
        }
        let takes_none = |parameter: &str| precond.is_some_and(|precond| !of(precond, parameter));
        if without("omega") && takes_none("omega") {
            base.omega = None;
        }
        if takes_none("sweeps") {
            base.sweeps = None;
        }
        if matches!(self.format, Some(OrAuto(Some(format))) if !format.is_sliced()) {
            base.sigma = None;
        }
        base.amg.extend(self.amg);
        base.ilu.extend(self.ilu);
        Settings {
            solver: self.solver.or(base.solver),
            precond: self.precond.or(base.precond),
            // Those given here are in the list.
            coarsening: base.coarsening,
            smoother: base.smoother,
            cycle: base.cycle,
            amg: base.amg,
            ilu: base.ilu,
            block_size: self.block_size.or(base.block_size),
            singular_blocks: self.singular_blocks.or(base.singular_blocks),
            format: self.format.or(base.format),
            sigma: self.sigma.or(base.sigma),
            reorder: self.reorder.or(base.reorder),
            scaling: self.scaling.or(base.scaling),
            permute: self.permute.or(base.permute),
            precision: self.precision.or(base.precision),
            rtol: self.rtol.or(base.rtol),
            atol: self.atol.or(base.atol),
            max_iter: self.max_iter.or(base.max_iter),
            restart: self.restart.or(base.restart),
            sweeps: self.sweeps.or(base.sweeps),
            omega: self.omega.or(base.omega),
            device: self.device.or(base.device),
            threads: self.threads.or(base.threads),
        }
        .normalised()
    }

    /// What was set that nothing uses under these `options`, and what would.
    pub fn ignored(&self, options: &Options) -> Vec<String> {
        let not_compressed = options.amg_precision == Some(Precision::F64) || options.block_size > 1;
        let ignored = |Setting { key, value, .. }: &Setting<Amg>| match options.amg.needs(key) {
            Some(by) if value != "auto" => Some(format!("AMG's {key} is ignored: it goes with {by}")),
            _ if key == Amg::PRECISION && value == "f64" && options.precision == Precision::F32 => {
                Some("AMG's precision is ignored: f64 goes with --precision f64".into())
            }
            _ if key == "compressed" && value == "true" && not_compressed => {
                Some("AMG's compressed is ignored: it goes with precision=f32 and without blocks".into())
            }
            _ => None,
        };
        let of_ilu = |setting: &Setting<Ilu>| {
            let by = options.ilu.needs(&setting.key).filter(|_| setting.value != "auto")?;
            Some(format!("ILU's {} is ignored: it goes with {by}", setting.key))
        };
        self.amg.iter().filter_map(ignored).chain(self.ilu.iter().filter_map(of_ilu)).collect()
    }

    /// The options of the job, with every combination checked.
    pub fn options(&self) -> Result<Options> {
        let refuse = |message: &str| Err(Error::Option(message.into()));
        let takes = |method: Method, parameter| method.description().takes_parameter(parameter);
        let method = self.solver.and_then(|name| name.0);
        let precond = self.precond.and_then(|name| name.0);
        let format = self.format.and_then(|name| name.0);
        if self.sigma.is_some() && !format.is_some_and(Format::is_sliced) {
            return refuse("--sigma goes with --format sell or bsell");
        }
        if self.restart.is_some() && method.is_some_and(|method| !takes(method, "restart")) {
            return refuse(&format!("--restart goes with {}", takers("restart")));
        }
        let is_of_precond = |parameter| precond.is_some_and(|precond| of(precond, parameter));
        if self.omega.is_some()
            && !is_of_precond("omega")
            && !method.is_some_and(|method| takes(method, "omega"))
        {
            return refuse(&format!("--omega goes with {}", takers("omega")));
        }
        if self.sweeps.is_some() && !is_of_precond("sweeps") {
            return refuse(&format!("--sweeps goes with {}", takers("sweeps")));
        }
        if self.singular_blocks == Some(SingularBlocks::PseudoInverse)
            && (self.block_size.unwrap_or(1) < 2
                || precond.is_some_and(|precond| !of(precond, "singular-blocks")))
        {
            return refuse(
                "--singular-blocks goes with --block-size 2 or 3, and --precond jacobi or --solver jacobi",
            );
        }
        let own = method.and_then(|method| method.description().own_preconditioner());
        if own.is_some() && precond.is_some_and(|precond| !(precond.description().is_fused)(1)) {
            let name = method.map_or("", |method| method.description().title);
            return refuse(&format!(
                "the {name} method takes no preconditioner; use --solver cg, gmres or bicgstab"
            ));
        }
        let defaults = Options::default();
        let stop = Stop {
            rtol: self.rtol.unwrap_or(defaults.stop.rtol),
            atol: self.atol.unwrap_or(defaults.stop.atol),
            max_iterations: self.max_iter.unwrap_or(defaults.stop.max_iterations),
        };
        if stop.rtol == 0.0 && stop.atol == 0.0 {
            return refuse("--rtol 0 needs an --atol above 0: rounding lets no residual become 0");
        }
        let mut options = Options {
            method,
            precond,
            format,
            sigma: self.sigma,
            reorder: self.reorder.unwrap_or(defaults.reorder),
            scaling: self.scaling.unwrap_or(defaults.scaling),
            permute: self.permute.unwrap_or(defaults.permute),
            block_size: self.block_size.map_or(defaults.block_size, usize::from),
            singular_blocks: self.singular_blocks.unwrap_or(defaults.singular_blocks),
            precision: self.precision.unwrap_or(defaults.precision),
            stop,
            restart: match self.restart {
                None => defaults.restart,
                Some(Restart::After(n)) => n,
                Some(Restart::Never) => MAX_RESTART,
            },
            sweeps: self.sweeps.map_or(defaults.sweeps, usize::from),
            omega: self.omega.unwrap_or(defaults.omega),
            ..defaults
        };
        Amg::apply(&self.amg, &mut options)?;
        self.ilu.iter().try_for_each(|setting| setting.apply(&mut options))?;
        Ilu::check(&options)?;
        Ok(options)
    }
}
