//! What rank 0 tells the others to do.

use crate::comm::{Comm, Given, Reader, Writer, check_same};
use crate::error::{Error, Result};
use crate::job::plan::Plan;
use crate::job::{Method, Options, Precond};
use crate::precond::{amg, ilu};
use crate::solver::Stop;

/// An order; `system` is the number of what was set up.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Order {
    /// Take rows to the device, and look at them. Ranks of one process then get the matrix.
    Look,
    /// Set up with these choices. Each rank then gets its piece.
    SetUp { system: u64, choices: Box<Choices> },
    /// Solve. Each rank then gets its part of the right-hand side, and of the start.
    Solve { system: u64, stop: Stop },
    /// Forget what was set up.
    Drop { system: u64 },
    /// End.
    Quit,
}

/// What every rank must know of the options of a solve, by name.
fn told(options: &Options) -> Given {
    let format = options.format.map(|format| ("format".to_string(), format.to_string()));
    let given = [
        ("sigma", options.sigma.unwrap_or(0).to_string()),
        ("block_size", options.block_size.to_string()),
        ("singular_blocks", options.singular_blocks.to_string()),
        ("precision", options.precision.to_string()),
        ("max_iterations", options.stop.max_iterations.to_string()),
        ("restart", options.restart.to_string()),
        ("sweeps", options.sweeps.to_string()),
        ("omega", format!("{:?}", options.omega)),
    ];
    let given = given.into_iter().map(|(name, value)| (name.to_string(), value));
    let ilu = ilu::Params::KEYS.iter().map(|key| (format!("ilu.{}", key.name), (key.written)(&options.ilu)));
    let amg = amg::Params::KEYS.iter().map(|key| (format!("amg.{}", key.name), (key.written)(&options.amg)));
    given.chain(format).chain(ilu).chain(amg).collect()
}

/// Refuses other options than those of rank 0, where each rank brings its own. All ranks call this.
///
/// # Errors
/// [`Error::Rank`] with the first rank whose options are others, and which.
pub(super) fn check_same_options(comm: &dyn Comm, options: &Options) -> Result<()> {
    let mut given = told(options);
    let more = [
        ("method", or_auto(options.method)),
        ("precond", or_auto(options.precond)),
        ("amg_precision", or_auto(options.amg_precision)),
        ("rtol", format!("{:?}", options.stop.rtol)),
        ("atol", format!("{:?}", options.stop.atol)),
    ];
    given.extend(more.map(|(name, value)| (name.to_string(), value)));
    check_same(comm, &given)
}

fn or_auto(name: Option<impl ToString>) -> String {
    name.map_or("auto".into(), |name| name.to_string())
}

/// What was chosen of a solve, as far as every rank must know it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choices {
    /// With method and preconditioner.
    pub options: Options,
    pub method: Method,
    pub precond: Precond,
    /// Vectors of a null space that the preconditioner is kept out of, element by element.
    pub projections: usize,
    /// Whether a hierarchy interpolates given vectors.
    pub has_near_null: bool,
}

impl Choices {
    pub fn of(plan: &Plan) -> Choices {
        let projections = plan.projections().map_or(0, |space| space.dimension());
        let has_near_null = plan.options.near_null.is_some();
        let choices = Choices::of_rows(plan.options.clone(), plan.method, plan.precond, projections);
        Choices { has_near_null, ..choices }
    }

    /// Where no rank has the whole matrix.
    pub fn of_rows(options: Options, method: Method, precond: Precond, projections: usize) -> Choices {
        let brings = method.description().own_preconditioner().is_some();
        let precond = if brings { Precond::None } else { precond };
        Choices { options, method, precond, projections, has_near_null: false }
    }

    /// A line for each choice.
    fn written(&self) -> String {
        let Choices { options, method, precond, projections, has_near_null } = self;
        let own = [
            format!("method {method}"),
            format!("precond {precond}"),
            format!("projections {projections}"),
            format!("near_null {has_near_null}"),
        ];
        let lines = told(options).into_iter().map(|(name, value)| format!("{name} {value}"));
        own.into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    }

    fn read(text: &str) -> Result<Choices> {
        let mut options = Options::default();
        let (mut method, mut precond, mut projections) = (Method::Cg, Precond::None, 0);
        let mut has_near_null = false;
        for line in text.lines() {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            let number = || value.parse::<usize>().map_err(|_| unknown(line));
            match key {
                "method" => method = value.parse()?,
                "precond" => precond = value.parse()?,
                "projections" => projections = number()?,
                "near_null" => has_near_null = value.parse().map_err(|_| unknown(line))?,
                "sigma" => options.sigma = Some(number()?).filter(|&sigma| sigma > 0),
                "block_size" => options.block_size = number()?,
                "singular_blocks" => options.singular_blocks = value.parse()?,
                "precision" => options.precision = value.parse()?,
                "max_iterations" => options.stop.max_iterations = number()? as u32,
                "restart" => options.restart = number()?,
                "sweeps" => options.sweeps = number()?,
                "omega" => options.omega = value.parse().map_err(|_| unknown(line))?,
                "format" => options.format = Some(value.parse()?),
                _ => match key.split_once('.') {
                    Some(("ilu", key)) => options.ilu.set(key, value)?,
                    Some(("amg", key)) => options.amg.set(key, value)?,
                    _ => return Err(unknown(line)),
                },
            }
        }
        Ok(Choices { options, method, precond, projections, has_near_null })
    }
}

fn unknown(what: &str) -> Error {
    Error::Option(format!("rank 0 says '{what}', which means nothing here: do all run the same program?"))
}

impl Order {
    pub fn written(&self) -> Vec<u8> {
        let message = Writer::new();
        let message = match self {
            Order::SetUp { system, choices } => {
                message.text("set up").put(&[*system]).text(&choices.written())
            }
            Order::Solve { system, stop } => {
                let most = u64::from(stop.max_iterations);
                message.text("solve").put(&[*system]).put(&[stop.rtol, stop.atol]).put(&[most])
            }
            Order::Drop { system } => message.text("drop").put(&[*system]),
            Order::Look => message.text("look"),
            Order::Quit => message.text("quit"),
        };
        message.bytes()
    }

    pub fn read(message: &[u8]) -> Result<Order> {
        let mut message = Reader::new(message);
        Ok(match message.text()?.as_str() {
            "set up" => {
                let system = message.one()?;
                Order::SetUp { system, choices: Box::new(Choices::read(&message.text()?)?) }
            }
            "solve" => {
                let system = message.one()?;
                let norms: Vec<f64> = message.take()?;
                let &[rtol, atol] = &norms[..] else { return Err(unknown("solve")) };
                let stop = Stop { rtol, atol, max_iterations: message.one::<u64>()? as u32 };
                Order::Solve { system, stop }
            }
            "drop" => Order::Drop { system: message.one()? },
            "look" => Order::Look,
            "quit" => Order::Quit,
            other => return Err(unknown(other)),
        })
    }
}
