//! What this process was given on the command line, to be compared with the other processes of a launcher.

use std::ffi::OsString;

use clap::{Arg, CommandFactory};
use warpsolve::comm::Given;

use super::args::Cli;

/// Options that are each process's own: where it computes, and what it writes, which the first alone does.
const OWN: [&str; 10] = [
    "threads",
    "out",
    "json",
    "history",
    "checkpoint",
    "quiet",
    "verbose",
    "profile",
    "profile_trace",
    "notify",
];

/// Which command the arguments are for, and its options that must be the same in all processes.
pub fn given(arguments: impl IntoIterator<Item = OsString>) -> [Given; 2] {
    let program = Cli::command();
    let matches = program.clone().get_matches_from(arguments);
    let (name, matches) = matches.subcommand().unzip();
    let named = [("version", env!("CARGO_PKG_VERSION")), ("command", name.unwrap_or("none"))];
    let mut options = Given::new();
    let command = name.and_then(|name| program.find_subcommand(name));
    for option in command.into_iter().flat_map(|command| command.get_arguments()) {
        let id = option.get_id().as_str();
        let values = matches.and_then(|matches| matches.try_get_raw(id).ok().flatten());
        let values: Vec<_> = values.into_iter().flatten().map(|value| value.to_string_lossy()).collect();
        // A switch that is off was not given.
        if !OWN.contains(&id) && !values.is_empty() && values != ["false"] {
            options.insert(as_written(option), of_all(id, values.join(" ")));
        }
    }
    [named.map(|(name, value)| (name.into(), value.into())).into(), options]
}

/// The name of an option on the command line.
fn as_written(option: &Arg) -> String {
    option.get_long().map_or_else(|| option.get_id().to_string(), |long| format!("--{long}"))
}

/// What of a value must be the same: of devices their kind, as each process may have another GPU.
fn of_all(id: &str, value: String) -> String {
    match (id, value.split_once(':')) {
        ("device", Some((kind, _))) => kind.into(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &str) -> [Given; 2] {
        given(arguments.split_whitespace().map(OsString::from))
    }

    #[test]
    fn what_is_each_process_s_own_is_left_out() {
        let first = of(
            "warpsolve solve A.wsm --device cuda:1 --threads 2 --out x.mtx --json r.json --amg pre=2,post=2",
        );
        assert_eq!(first, of("warpsolve solve --amg pre=2,post=2 A.wsm --device cuda --quiet"));
        let [command, options] = &first;
        assert_eq!(
            (&*command["command"], &*options["file"], &*options["--device"]),
            ("solve", "A.wsm", "cuda")
        );
        assert!(!options.contains_key("--by-rows"));
        for other in [
            "solve B.wsm --device cuda --amg pre=2,post=2",
            "solve A.wsm --device cpu --amg pre=2,post=2",
            "solve A.wsm --device cuda --amg pre=2,post=3",
            "solve A.wsm --device cuda --amg pre=2,post=2 --by-rows",
            "convert A.wsm B.wsm",
        ] {
            assert_ne!(first, of(&format!("warpsolve {other}")), "{other}");
        }
        assert_eq!(of("warpsolve")[0]["command"], "none");
    }

    #[test]
    fn own_options_are_there() {
        let program = Cli::command();
        let commands = ["solve", "bidomain", "monodomain"].map(|name| program.find_subcommand(name).unwrap());
        let known = |id: &str| commands.iter().any(|c| c.get_arguments().any(|option| option.get_id() == id));
        assert_eq!(OWN.into_iter().find(|id| !known(id)), None);
    }
}
