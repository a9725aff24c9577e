//! `--config`: settings from a file, JSON or TOML.
//!
//! Its keys are the names of the options with `_` for `-`, and `amg` is a table of AMG's parameters. Every entry is
//! read as the option of its name is, so that there is one definition of names, types and ranges.

use std::fs;
use std::path::Path;

use clap::{Args, Command, Parser};
use serde_json::{Map, Value};
use warpsolve::named::unknown;
use warpsolve::{Error, Result};

use super::settings::Settings;

/// The entries of a file as arguments.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Arguments {
    #[command(flatten)]
    settings: Settings,
}

/// Reads the settings of a file.
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
    let entries = match parse(&text) {
        Ok(Value::Object(entries)) => entries,
        Ok(_) => return Err(Error::parse(path, 1, "an object is expected, {\"solver\": \"cg\", ...}")),
        Err((line, message)) => return Err(Error::parse(path, line, message)),
    };
    settings(entries).map_err(|error| Error::Option(format!("{}: {error}", path.display())))
}

fn json(text: &str) -> std::result::Result<Value, (u64, String)> {
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        (error.line() as u64, message.into())
    })
}

fn toml(text: &str) -> std::result::Result<Value, (u64, String)> {
    ::toml::from_str(text).map_err(|error| {
        let before = error.span().map_or("", |span| text.get(..span.start).unwrap_or(text));
        (1 + before.matches('\n').count() as u64, error.message().to_string())
    })
}

fn settings(entries: Map<String, Value>) -> Result<Settings> {
    let mut arguments = Vec::new();
    for (key, value) in entries {
        match (key.as_str(), value) {
            ("amg", Value::Object(table)) => {
                for (key, value) in table {
                    arguments.push(format!("--amg={key}={}", text(&key, value)?));
                }
            }
            ("amg", _) => return Err(Error::Option("'amg' takes a table of parameters".into())),
            (_, value) => {
                check_key(&key)?;
                arguments.push(format!("--{}={}", key.replace('_', "-"), text(&key, value)?));
            }
        }
    }
    match Arguments::try_parse_from(arguments) {
        Ok(Arguments { settings }) => settings.normalised(),
        Err(error) => {
            // clap adds advice on how to call the program.
            let text = error.render().to_string();
            let message = text.lines().next().unwrap_or_default();
            Err(Error::Option(message.strip_prefix("error: ").unwrap_or(message).into()))
        }
    }
}

/// A number, a name or a truth value as it would stand on the command line.
fn text(key: &str, value: Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(Error::Option(format!("'{key}' takes a finite number or a name"))),
    }
}

fn check_key(key: &str) -> Result<()> {
    let command = Settings::augment_args(Command::new("settings"));
    let mut keys: Vec<&str> = command.get_arguments().map(|argument| argument.get_id().as_str()).collect();
    keys.sort_unstable();
    if keys.contains(&key) { Ok(()) } else { Err(unknown("key", key, &keys)) }
}
