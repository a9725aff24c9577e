//! The documentation: its commands run and say what it shows, its links lead somewhere, and every option is
//! in the guide.
//!
//! Commands are the lines `$ ...` of blocks marked `console`, in README.md and docs/. They run in the order
//! of their page in one temporary folder a page, by `sh`, with the program in the PATH; `> ` continues a
//! here-document, `\` a line. A block's other lines must come in the output of the command above them,
//! whatever the numbers and units of time and memory; `...` stands for any lines. What a comment before a
//! block may ask for:
//!
//! ```text
//! <!-- test: status 2 -->    the last command's exit status
//! <!-- test: varies -->      the output depends on the machine, and is not compared
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Fewer commands than this have not been found where they are.
const LEAST_COMMANDS: usize = 40;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// README.md, CONTRIBUTING.md, CHANGELOG.md and the pages below docs, sorted.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].iter().map(|name| root().join(name)).collect();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

fn read(page: &Path) -> String {
    fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()))
}

fn name(page: &Path) -> &str {
    page.strip_prefix(root()).unwrap().to_str().unwrap()
}

/// A command of a page, and what is said of its outcome.
#[derive(Default)]
struct Step {
    line: usize,
    command: String,
    output: Vec<String>,
    status: i32,
    varies: bool,
}

/// The steps of a page's blocks marked `console`.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut inside, mut console, mut status, mut varies) = (false, false, 0, false);
    for (k, line) in text.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside;
            if console && !inside {
                steps.last_mut().expect("a block marked console has a command").status = status;
            }
            console = inside && language == "console";
            if !inside {
                (status, varies) = (0, false);
            }
        } else if console {
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step { line: k + 1, command: command.into(), varies, ..Step::default() });
            } else {
                let step = steps.last_mut().expect("a command comes before its output");
                match line.strip_prefix('>') {
                    Some(more) => step.command += &format!("\n{}", more.strip_prefix(' ').unwrap_or(more)),
                    None if step.command.ends_with('\\') => step.command += &format!("\n{line}"),
                    None => step.output.push(line.into()),
                }
            }
        } else if let Some(asked) = line.strip_prefix("<!-- test: ") {
            match asked.trim_end_matches(" -->") {
                "varies" => varies = true,
                asked => {
                    status =
                        asked.strip_prefix("status ").and_then(|n| n.parse().ok()).expect("test: status N")
                }
            }
        }
    }
    steps
}

/// A line without what differs from run to run and from machine to machine. Fractions, numbers of iterations,
/// and figures with a unit of time or memory become 0, these units u, and several blanks one.
fn shape(line: &str) -> String {
    const UNITS: [&str; 8] = ["ns", "us", "ms", "s", "B", "KiB", "MiB", "GiB"];
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_end_matches(',')).collect();
    let word = |(k, word): (usize, &&str)| {
        let number = word.parse::<f64>().is_ok();
        let next = words.get(k + 1).copied().unwrap_or_default();
        let varies = word.contains(['.', 'e']) || UNITS.contains(&next) || next.starts_with("iteration");
        match (number && varies, UNITS.contains(word)) {
            (true, _) => "0".to_string(),
            (_, true) => "u".to_string(),
            _ => word.to_string(),
        }
    };
    words.iter().enumerate().map(word).collect::<Vec<_>>().join(" ")
}

/// Why a step cannot run here.
fn skipped(step: &Step, folder: &Path) -> Option<String> {
    let words: Vec<&str> = step.command.split_whitespace().collect();
    if step.command.contains("--device cuda") {
        return Some("it needs a GPU".into());
    }
    let input = |word: &&&str| [".vtu", ".msh", ".node"].iter().any(|extension| word.ends_with(extension));
    words
        .iter()
        .find(input)
        .filter(|file| !folder.join(file).exists())
        .map(|file| format!("there is no {file}"))
}

/// What is wrong with a step that was run in `folder`, if anything.
fn fault(step: &Step, folder: &Path) -> Option<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_warpsolve")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let shell =
        Command::new("sh").arg("-c").arg(&step.command).current_dir(folder).env("PATH", path).output();
    let output = shell.expect("sh runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(step.status) {
        return Some(format!("{} instead of status {}\n{text}", output.status, step.status));
    }
    let found: BTreeSet<String> = text.lines().map(shape).collect();
    let compared =
        step.output.iter().filter(|line| !step.varies && *line != "..." && !line.starts_with("bandwidth "));
    let missing: Vec<&String> = compared.filter(|line| !found.contains(&shape(line))).collect();
    (!missing.is_empty()).then(|| format!("not in the output: {missing:#?}\n{text}"))
}

#[test]
fn commands_run_and_say_what_is_shown() {
    let (mut run, mut left_out, mut faults) = (0, 0, String::new());
    for page in pages() {
        let folder = tempfile::tempdir().unwrap();
        for step in steps(&read(&page)) {
            let place = format!("{}:{}: {}", name(&page), step.line, step.command);
            if let Some(reason) = skipped(&step, folder.path()) {
                println!("skipped: {place} ({reason})");
                left_out += 1;
                continue;
            }
            run += 1;
            if let Some(fault) = fault(&step, folder.path()) {
                faults += &format!("\n{place}\n{fault}");
            }
        }
    }
    println!("{run} commands run, {left_out} left out");
    assert!(faults.is_empty(), "{faults}");
    assert!(run >= LEAST_COMMANDS, "only {run} commands were found");
}

/// Of README.md everything is run: what is for the program here, Rust as doc tests (`src/lib.rs`). Only
/// cargo's commands are left to the reader.
#[test]
fn every_block_of_the_readme_is_run() {
    let text = read(&root().join("README.md"));
    let (steps, folder) = (steps(&text), tempfile::tempdir().unwrap());
    assert!(steps.len() >= 4, "the README has fewer commands than it had");
    for step in &steps {
        assert_eq!(skipped(step, folder.path()), None, "not run: {}", step.command);
    }
    let doc_tests = "#[cfg(doctest)]\n#[doc = include_str!(\"../README.md\")]\n";
    assert!(read(&root().join("src/lib.rs")).contains(doc_tests), "its Rust code is not run");
    let mut block = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), block) {
            (Some(language), None) => {
                let is_run = ["console", "rust", "sh"].contains(&language);
                assert!(is_run, "a block marked `{language}` in the README is not run");
                block = Some(language);
            }
            (Some(_), Some(_)) => block = None,
            (None, Some("sh")) => assert!(line.starts_with("cargo "), "not run: {line}"),
            _ => {}
        }
    }
}

/// Targets of a page's links, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut code = false;
    let prose = text.lines().filter(|line| {
        let fence = line.starts_with("```");
        code ^= fence;
        !code && !fence
    });
    prose
        .flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split_once(')')))
        .map(|(target, _)| target.to_string())
        .collect()
}

/// The name of a heading in links.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[test]
fn links_and_includes_lead_somewhere() {
    let mut faults = String::new();
    let mut count = 0;
    for page in pages() {
        let text = read(&page);
        let folder = page.parent().unwrap();
        for link in links(&text).iter().filter(|link| !link.contains("://")) {
            count += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { folder.join(file) };
            let there = target.exists()
                && (heading.is_empty()
                    || read(&target)
                        .lines()
                        .filter_map(|line| line.strip_prefix('#'))
                        .any(|line| anchor(line.trim_start_matches('#')) == heading));
            if !there {
                faults += &format!("{}: {link} is not there\n", name(&page));
            }
        }
        for include in text.split("{{#include ").skip(1).filter_map(|rest| rest.split_once("}}")) {
            count += 1;
            let (file, part) = include.0.split_once(':').unwrap_or((include.0, ""));
            let source = fs::read_to_string(folder.join(file)).unwrap_or_default();
            let there = match part.parse::<usize>() {
                Ok(line) => line >= 1 && line <= source.lines().count(),
                Err(_) => {
                    part.is_empty()
                        || source.lines().any(|l| l.trim_end().ends_with(&format!("ANCHOR: {part}")))
                }
            };
            if !there || source.is_empty() {
                faults += &format!("{}: {} is not there\n", name(&page), include.0);
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(count >= 60, "only {count} links were found");
}

/// Words of a page in backticks that are paths from the root of the repository; those with a capital stand
/// for any.
fn paths(text: &str) -> Vec<&str> {
    const FOLDERS: [&str; 9] =
        ["crates/", "docs/", "examples/", "fuzz/", "gpu-kernels/", "host/", "scripts/", "src/", "tests/"];
    let is_path = |word: &&str| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/_-.".contains(c);
        FOLDERS.iter().any(|folder| word.starts_with(folder)) && word.chars().all(plain)
    };
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).filter(is_path).collect()
}

#[test]
fn files_that_pages_name_are_there() {
    let mut faults = String::new();
    let mut count = 0;
    for page in pages() {
        let text = read(&page);
        for path in paths(&text) {
            count += 1;
            if !root().join(path).exists() {
                faults += &format!("{}: {path} is not there\n", name(&page));
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(count >= 60, "only {count} paths were found");
}

#[test]
fn the_summary_names_every_page() {
    let summary = links(&read(&root().join("docs/SUMMARY.md")));
    for page in pages().iter().filter_map(|page| page.strip_prefix(root().join("docs")).ok()) {
        let page = page.to_str().unwrap();
        assert!(
            page == "SUMMARY.md" || summary.iter().any(|link| link == page),
            "{page} is not in SUMMARY.md"
        );
    }
}

/// What `--help` says of a command and its subcommands.
fn help(command: &[String]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_warpsolve")).args(command).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The names below "Commands:", except for help itself.
fn commands(help: &str) -> Vec<&str> {
    let lines =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // What an explanation goes on with stands further to the right.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").collect()
}

/// The long options that a text of `--help` begins lines with.
fn options(help: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in help.lines() {
        let mut words = line.trim_start().split([' ', ',', '[']).filter(|word| !word.is_empty());
        let long = words.find(|word| !(word.len() == 2 && word.starts_with('-'))).unwrap_or_default();
        let plain = long.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if plain && long.starts_with("--") && long != "--help" {
            found.push(long);
        }
    }
    found
}

#[test]
fn the_guide_has_every_command_and_option() {
    let is_guide = |page: &PathBuf| name(page).starts_with("docs/guide/");
    let guide: Vec<String> = pages().iter().filter(|page| is_guide(page)).map(|page| read(page)).collect();
    let mut missing = Vec::new();
    let mut to_do: Vec<Vec<String>> = vec![vec![]];
    let mut seen = 0;
    while let Some(command) = to_do.pop() {
        let text = help(&command);
        let below = commands(&text).into_iter().map(|name| [&command[..], &[name.to_string()]].concat());
        to_do.extend(below);
        let Some(first) = command.first() else { continue };
        seen += 1;
        // A subcommand is on the page of its command.
        let heading = |line: &str| line.starts_with('#') && line.contains(&format!("`{first}`"));
        let Some(page) = guide.iter().find(|page| page.lines().any(heading)) else {
            missing.push(format!("a heading for `{first}`"));
            continue;
        };
        let lacks = |word: &&str| !page.contains(&format!("`{word}`"));
        let words = command[1..].iter().map(String::as_str).chain(options(&text));
        missing.extend(words.filter(lacks).map(|word| format!("`{word}` of {}", command.join(" "))));
    }
    assert!(seen >= 7, "only {seen} commands were found");
    assert!(missing.is_empty(), "the guide lacks {}", missing.join(", "));
}

/// The rows about the source documents: of the tables whose first column is the source.
fn rows_of_the_sources() -> Vec<String> {
    let text = read(&root().join("docs/sources/index.md"));
    let mut is_in = false;
    let of_source = |line: &&str| {
        is_in = line.starts_with("| source |") || is_in && line.starts_with('|');
        is_in && !line.starts_with("| source |") && !line.starts_with("|---")
    };
    text.lines().filter(of_source).map(str::to_string).collect()
}

fn codes(row: &str) -> impl Iterator<Item = &str> {
    row.split('`').skip(1).step_by(2)
}

/// Every row of the tables of the source documents has a command, and the program knows its options.
#[test]
fn every_row_of_the_sources_has_a_command_that_is_understood() {
    let rows = rows_of_the_sources();
    assert!(rows.len() > 50, "{} rows", rows.len());
    let mut unknown = Vec::new();
    for row in &rows {
        let is_command = |code: &str| code.starts_with("warpsolve ") || code.starts_with("cargo ");
        if !codes(row).any(is_command) {
            unknown.push(format!("no command: {row}"));
        }
        for command in codes(row).filter_map(|code| code.strip_prefix("warpsolve ")) {
            // With --help nothing is computed, but what stands before it is read.
            let mut program = Command::new(env!("CARGO_BIN_EXE_warpsolve"));
            let output = program.args(command.split(' ')).arg("--help").output().unwrap();
            if !output.status.success() {
                unknown.push(format!("{command}: {}", String::from_utf8_lossy(&output.stderr)));
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

/// Those that name a whole system, and not a file or a table.
#[test]
fn commands_of_the_sources_do_what_their_rows_say() {
    let rows = rows_of_the_sources();
    let starts = ["warpsolve solve --gen ", "warpsolve elasticity --slab ", "warpsolve bidomain --slab "];
    let is_whole = |code: &&str| starts.iter().any(|start| code.starts_with(start));
    let commands: Vec<&str> = rows.iter().flat_map(|row| codes(row)).filter(is_whole).collect();
    assert!(commands.len() >= 7, "{commands:?}");
    for command in commands {
        let mut program = Command::new(env!("CARGO_BIN_EXE_warpsolve"));
        let output = program.args(command.split(' ').skip(1)).args(["--device", "cpu"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{command}\n{text}");
        assert!(!text.contains("activated     no node"), "{command}\n{text}");
    }
}
