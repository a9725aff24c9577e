//! Parameters of a preconditioner that are set by `--amg key=value,..` and the like, or by a table of that
//! name in a `--config` file.

use std::marker::PhantomData;
use std::str::FromStr;

use warpsolve::job::{Options, Precision, Precond};
use warpsolve::named::unknown;
use warpsolve::precond::{Key, amg, ilu};
use warpsolve::{Error, Result};

use super::values::OrAuto;

/// A key as help and messages show it.
pub struct Known {
    pub name: &'static str,
    pub takes: &'static str,
    pub default: String,
}

/// The parameters of one preconditioner.
pub trait Family: Clone + Send + Sync + 'static {
    /// Of this one.
    const PRECOND: Precond;
    /// The option and the table.
    const OPTION: &'static str;
    /// A setting, for help.
    const EXAMPLE: &'static str;

    /// Everything that can be set.
    fn keys() -> Vec<Known>;
    /// Sets one.
    fn set(options: &mut Options, key: &str, value: &str) -> Result<()>;
    /// [`Error::Option`] where one is out of its range.
    fn check(options: &Options) -> Result<()>;
}

fn known<P>(keys: &[Key<P>]) -> Vec<Known> {
    keys.iter().map(|key| Known { name: key.name, takes: key.takes, default: (key.default)() }).collect()
}

/// Those of multigrid.
#[derive(Debug, Clone)]
pub struct Amg;

impl Amg {
    /// The number type of the hierarchy, which is no field of [`amg::Params`], but is set beside them.
    pub const PRECISION: &'static str = "precision";
    /// Many parameters at once; those that are given beside it stay.
    pub const PRESET: &'static str = "preset";

    /// Applies the settings, the preset first. With one every level is in the format that was asked for, as
    /// the source documents have it.
    pub fn apply(settings: &[Setting<Amg>], options: &mut Options) -> Result<()> {
        let (presets, others): (Vec<_>, Vec<_>) =
            settings.iter().partition(|setting| setting.key == Self::PRESET);
        presets.iter().chain(&others).try_for_each(|setting| setting.apply(options))?;
        if presets.iter().any(|preset| preset.value != "none") {
            let asked = options.format.filter(|format| format.block() == 1);
            options.amg.format = options.amg.format.or(asked);
        }
        Self::check(options)
    }
}

impl Family for Amg {
    const PRECOND: Precond = Precond::Amg;
    const OPTION: &'static str = "amg";
    const EXAMPLE: &'static str = "pre=2,post=2";

    fn keys() -> Vec<Known> {
        let precision = Known { name: Self::PRECISION, takes: "f32 or f64", default: "f32".into() };
        let preset = Known {
            name: Self::PRESET,
            takes: "paper (the source documents' multigrid) or none",
            default: "none".into(),
        };
        known(&amg::Params::KEYS).into_iter().chain([precision, preset]).collect()
    }
    fn set(options: &mut Options, key: &str, value: &str) -> Result<()> {
        if key == Self::PRECISION {
            options.amg_precision = Some(value.parse()?);
            return Ok(());
        }
        if key == Self::PRESET {
            match value {
                "paper" => {
                    options.amg = amg::Params::paper();
                    options.amg_precision = Some(Precision::F64);
                }
                "none" => {}
                _ => return Err(Error::Option("preset takes paper or none".into())),
            }
            return Ok(());
        }
        options.amg.set(key, value)
    }
    fn check(options: &Options) -> Result<()> {
        options.amg.check()
    }
}

/// Those of incomplete factorisations.
#[derive(Debug, Clone)]
pub struct Ilu;

impl Family for Ilu {
    const PRECOND: Precond = Precond::Ilu;
    const OPTION: &'static str = "ilu";
    const EXAMPLE: &'static str = "kind=ilut,drop=1e-4";

    fn keys() -> Vec<Known> {
        known(&ilu::Params::KEYS)
    }
    fn set(options: &mut Options, key: &str, value: &str) -> Result<()> {
        options.ilu.set(key, value)
    }
    fn check(options: &Options) -> Result<()> {
        options.ilu.check()
    }
}

/// One `key=value`, of a known key and a permitted value.
#[derive(Debug, Clone)]
pub struct Setting<F> {
    pub key: String,
    pub value: String,
    family: PhantomData<F>,
}

impl<F: Family> Setting<F> {
    /// Of a key and a value that are known to fit.
    pub fn new(key: &str, value: String) -> Self {
        Setting { key: key.into(), value, family: PhantomData }
    }

    pub fn apply(&self, options: &mut Options) -> Result<()> {
        F::set(options, &self.key, &self.value)
    }
}

impl<F: Family> FromStr for Setting<F> {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        if text.is_empty() {
            let example = F::EXAMPLE.split(',').next().unwrap_or_default();
            return Err(Error::Option(format!("a parameter is empty; each is key=value, such as {example}")));
        }
        let (key, value) = text.split_once('=').map_or((text, None), |(key, value)| (key, Some(value)));
        let keys = F::keys();
        let Some(Known { takes, .. }) = keys.iter().find(|known| known.name == key) else {
            return Err(unknown("key", key, &keys.iter().map(|known| known.name).collect::<Vec<_>>()));
        };
        let Some(value) = value else {
            return Err(Error::Option(format!("{key} lacks its value, {key}=VALUE; it takes {takes}")));
        };
        let setting = Setting::new(key, value.into());
        let mut options = Options::default();
        setting.apply(&mut options)?;
        F::check(&options)?;
        Ok(setting)
    }
}

/// Whether the parameters are those of this preconditioner.
pub fn are_of<F: Family>(precond: Precond) -> bool {
    precond.description().takes_parameter(F::OPTION)
}

/// [`Error::Option`] where one of `settings` is given twice, or goes with another preconditioner than that
/// which is chosen; where none is, they imply theirs.
pub fn settle<F: Family>(settings: &[Setting<F>], precond: &mut Option<OrAuto<Precond>>) -> Result<()> {
    let title = F::PRECOND.description().title;
    for (k, setting) in settings.iter().enumerate() {
        if settings[..k].iter().any(|other| other.key == setting.key) {
            return Err(Error::Option(format!("{title}'s {} is given twice", setting.key)));
        }
    }
    match (*precond, settings.first()) {
        (None | Some(OrAuto(None)), Some(_)) => *precond = Some(OrAuto(Some(F::PRECOND))),
        (Some(OrAuto(Some(chosen))), Some(Setting { key, .. })) if !are_of::<F>(chosen) => {
            return Err(Error::Option(format!(
                "{key} is a parameter of the preconditioner {}, but the preconditioner is {chosen}; leave one of them \
                 out",
                F::PRECOND
            )));
        }
        _ => {}
    }
    Ok(())
}

/// All keys with what they take and their defaults, for `--help`.
pub fn help<F: Family>() -> String {
    let line = |known: Known| format!("\n  {}: {} [default: {}]", known.name, known.takes, known.default);
    let keys = F::keys().into_iter().map(line).collect::<String>();
    format!("With --precond {}: any of its parameters, such as {}{keys}", F::PRECOND, F::EXAMPLE)
}
