//! `--config`: settings from a file, JSON or TOML.
//!
//! Its keys are the names of the options with `_` for `-`, and `amg` and `ilu` are tables of these
//! preconditioners' parameters. Every entry is read as the option of its name is, so that there is one
//! definition of names, types and ranges; and it is read while the parser stands at it, so that errors come
//! with its line.

use std::error::Error as _;
use std::fmt;
use std::fs;
use std::marker::PhantomData;
use std::path::Path;

use clap::{Args, Command, Parser};
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, Unexpected, Visitor};
use warpsolve::named::unknown;
use warpsolve::{Error, Result};

use super::parameters::{Amg, Family, Ilu, Setting};
use super::settings::Settings;

/// Options as clap reads them.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Arguments {
    #[command(flatten)]
    settings: Settings,
}

/// Reads the settings of a file. Whether they contradict one another is for [`Settings::over`] to see, since
/// the command line may settle it.
pub fn read(path: &Path) -> Result<Settings> {
    let parse = match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => json,
        Some("toml") => toml,
        _ => {
            let path = path.display();
            return Err(Error::Option(format!("--config takes a .json or a .toml file, not '{path}'")));
        }
    };
    let text = fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
    let Entries { options, amg, ilu } =
        parse(&text).map_err(|(line, message)| Error::parse(path, line, message))?;
    let mut settings = arguments(options).map_err(|message| Error::parse(path, 1, message))?;
    (settings.amg, settings.ilu) = (amg, ilu);
    Ok(settings)
}

fn json(text: &str) -> std::result::Result<Entries, (u64, String)> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        (error.line() as u64, message.into())
    })
}

fn toml(text: &str) -> std::result::Result<Entries, (u64, String)> {
    ::toml::from_str(text).map_err(|error| {
        let before = error.span().map_or("", |span| text.get(..span.start).unwrap_or(text));
        (1 + before.matches('\n').count() as u64, error.message().to_string())
    })
}

/// Settings of options `--name=value`; what is wrong with the value, where clap refuses one.
fn arguments(options: impl IntoIterator<Item = String>) -> std::result::Result<Settings, String> {
    match Arguments::try_parse_from(options) {
        Ok(Arguments { settings }) => Ok(settings),
        Err(error) => Err(match error.source() {
            Some(why) => why.to_string(),
            None => error.render().to_string().lines().next().unwrap_or_default().into(),
        }),
    }
}

/// What a file holds, each entry looked at by itself.
#[derive(Default)]
struct Entries {
    /// `--name=value`.
    options: Vec<String>,
    amg: Vec<Setting<Amg>>,
    ilu: Vec<Setting<Ilu>>,
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Whole;
        impl<'de> Visitor<'de> for Whole {
            type Value = Entries;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object, {\"solver\": \"cg\", ...}")
            }
            fn visit_map<A: MapAccess<'de>>(self, table: A) -> std::result::Result<Entries, A::Error> {
                let command = Settings::augment_args(Command::new("settings"));
                let mut known: Vec<&str> = command.get_arguments().map(|a| a.get_id().as_str()).collect();
                known.sort_unstable();
                let mut entries = Entries::default();
                each_entry(table, &known, |table, key| {
                    match key {
                        "amg" => entries.amg = table.next_value::<Table<Amg>>()?.0,
                        "ilu" => entries.ilu = table.next_value::<Table<Ilu>>()?.0,
                        _ => entries.options.push(table.next_value_seed(Value { key, read: option })?),
                    }
                    Ok(())
                })?;
                Ok(entries)
            }
        }
        deserializer.deserialize_map(Whole)
    }
}

/// A preconditioner's table.
struct Table<F>(Vec<Setting<F>>);

impl<'de, F: Family> Deserialize<'de> for Table<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Parameters<F>(PhantomData<F>);
        impl<'de, F: Family> Visitor<'de> for Parameters<F> {
            type Value = Table<F>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                write!(f, "a table of parameters for '{}'", F::OPTION)
            }
            fn visit_map<A: MapAccess<'de>>(self, table: A) -> std::result::Result<Table<F>, A::Error> {
                let known: Vec<&str> = F::keys().iter().map(|known| known.name).collect();
                let mut parameters = Vec::new();
                each_entry(table, &known, |table, key| {
                    parameters.push(table.next_value_seed(Value { key, read: parameter::<F> })?);
                    Ok(())
                })?;
                Ok(Table(parameters))
            }
        }
        deserializer.deserialize_map(Parameters(PhantomData))
    }
}

/// Has `take` read the value of every key; each must be known, and comes once.
fn each_entry<'de, A: MapAccess<'de>>(
    mut table: A,
    known: &[&str],
    mut take: impl FnMut(&mut A, &str) -> std::result::Result<(), A::Error>,
) -> std::result::Result<(), A::Error> {
    let mut before = Vec::new();
    while let Some(key) = table.next_key_seed(Key { known, before: &before })? {
        take(&mut table, &key)?;
        before.push(key);
    }
    Ok(())
}

struct Key<'a> {
    known: &'a [&'a str],
    before: &'a [String],
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = String;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<String, D::Error> {
        let key = String::deserialize(deserializer)?;
        if !self.known.contains(&key.as_str()) {
            return Err(de::Error::custom(unknown("key", &key, self.known)));
        }
        // A TOML parser finds this out by itself.
        if self.before.contains(&key) {
            return Err(de::Error::custom(format_args!("'{key}' is given twice")));
        }
        Ok(key)
    }
}

/// A number, a name or a truth value, which `read(key, text)` takes as it would stand on the command line.
struct Value<'a, V> {
    key: &'a str,
    read: fn(&str, &str) -> std::result::Result<V, String>,
}

impl<V> Value<'_, V> {
    fn read<E: de::Error>(self, text: &str) -> std::result::Result<V, E> {
        let Value { key, read } = self;
        read(key, text).map_err(|why| E::custom(format_args!("invalid value '{text}' for '{key}': {why}")))
    }
}

impl<'de, V> DeserializeSeed<'de> for Value<'_, V> {
    type Value = V;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<V, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<V> Visitor<'_> for Value<'_, V> {
    type Value = V;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a finite number or a name for '{}'", self.key)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<V, E> {
        self.read(text)
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> std::result::Result<V, E> {
        self.read(&value.to_string())
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> std::result::Result<V, E> {
        self.read(&value.to_string())
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> std::result::Result<V, E> {
        self.read(&value.to_string())
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> std::result::Result<V, E> {
        if !value.is_finite() {
            return Err(E::invalid_value(Unexpected::Float(value), &self));
        }
        self.read(&format!("{value:?}"))
    }
}

/// `--name=value`, where clap takes it.
fn option(key: &str, text: &str) -> std::result::Result<String, String> {
    let option = format!("--{}={text}", key.replace('_', "-"));
    arguments([option.clone()]).map(|_| option)
}

fn parameter<F: Family>(key: &str, text: &str) -> std::result::Result<Setting<F>, String> {
    format!("{key}={text}").parse().map_err(|error: Error| error.to_string())
}
