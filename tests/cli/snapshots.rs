//! What the program says, word for word: reports, help and errors, in `snapshots/`.
//!
//! Masked are times and rates, what the machine is, and residuals, because sums round as the instruction set
//! of the machine lets them. Iterations, sizes and formats are compared.

use std::fmt::Write;

use insta::Settings;
use serde_json::Value;

use super::{Shell, TRIDIAGONAL};

/// Patterns of what differs between runs and machines, and what stands for it.
const MASKS: [(&str, &str); 19] = [
    // Times, by the label or the words around them.
    (
        r"(?m)^(read|set-up|upload|warm-up|solve|steps|writing|total|time|open device) +[\d.]+ (?:s|ms|us)\b",
        "$1 [time]",
    ),
    (r"[\d.]+ (?:s|ms|us) (an iteration|each)", "[time] $1"),
    (r"but [\d.]+ (?:s|ms|us) for the first", "but [time] for the first"),
    (r", [\d.]+ (?:s|ms|us), \d+ MB/s", ", [time], [rate]"),
    // The phases of AMG's set-up, in ms.
    (r"(?m)^(its set-up +phase) +ms$", "$1  ms"),
    (r"(?m)^( {14}[a-zA-Z][a-zA-Z -]*?) +\d+\.\d\d$", "$1  [ms]"),
    // Rates.
    (r", \d+ MB/s", ", [rate]"),
    (r"(?m)^(bandwidth +)[\d.]+ GB/s.*$", "$1[rates]"),
    (r"to be moved, [\d.]+ GB/s", "to be moved, [rate]"),
    // A row of `spmv`, and the widths of its columns. Rounding depends on the vector instructions.
    (r"(?m)^(device +format +type +padding) .* check$", "$1  [figures]  check"),
    (r"(?m)^(\S.*?[\d.]+ %) .* (ok|FAIL) \S+$", "$1  [figures]  $2 [error]"),
    (r"(that of the scheme, \S+, to) \S+", "$1 [error]"),
    // Residuals of solves; other tests compare them with what was asked for.
    (r"(?m)^(residual +\|\|.* = )[\d.]+e-?\d+", "$1[residual]"),
    (r"(?m)^( +backward error .* = )[\d.]+e-?\d+", "$1[error]"),
    (r"(?m)^(solver's norm \|\|r\|\| = )[\d.]+e-?\d+", "$1[residual]"),
    // `info`: the devices, and what compiled the kernels.
    (r"(?ms)^(GPU|cuda:0) .*^kernels ", "[GPUs and CPU]\nkernels "),
    (r"(?m)(sm_\d+), \S.*$", "$1, [origin]"),
    (r"--device auto takes \S+", "--device auto takes [device]"),
    // The program's own.
    (concat!(r"warpsolve( +)", env!("CARGO_PKG_VERSION")), "warpsolve$1[version]"),
];

/// Compares with `snapshots/NAME.snap`.
fn check(name: &str, text: &str) {
    let mut settings = Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (pattern, mask) in MASKS {
        settings.add_filter(pattern, mask);
    }
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// A line of arguments, and what the program prints.
fn shown(shell: &Shell, line: &str, status: i32) -> String {
    let (stdout, stderr) = shell.run(line, status);
    format!("$ warpsolve {line}\n{stdout}{stderr}")
}

/// A shell with a matrix, as text and binary.
fn shell() -> Shell {
    let shell = Shell::new();
    shell.run("gen tet 8 a.mtx --seed 3 -q", 0);
    shell.run("convert a.mtx a.wsm -q", 0);
    shell.file("small.mtx", TRIDIAGONAL);
    shell
}

#[test]
fn solve() {
    let shell = shell();
    for (name, line, status) in [
        ("solve", "solve a.mtx --device cpu --threads 2", 0),
        ("solve_verbose", "solve a.wsm --device cpu --threads 2 --format sell --solver bicgstab -v", 0),
        ("solve_amg", "solve --gen tet:16 --precond amg --device cpu --threads 2 -v", 0),
        ("solve_blocks", "solve --gen bidomain:6 --block-size 2 --precond amg --device cpu --threads 2", 0),
        ("solve_duplicates", "solve small.mtx --solver gmres --device cpu --threads 2 -v", 0),
        ("solve_unconverged", "solve a.mtx --solver cg --max-iter 3 --device cpu --threads 2", 2),
        ("solve_cg", "solve a.mtx --solver cg --device cpu --threads 2", 0),
        ("solve_plan", "solve --gen tet:24 --plan --device cpu --threads 2", 0),
        ("solve_simulator", "solve a.mtx --solver cg --device sim --threads 2 -v", 0),
    ] {
        check(name, &shown(&shell, line, status));
    }
}

#[test]
fn other_commands() {
    let shell = shell();
    for (name, lines) in [
        ("spmv", &["spmv a.mtx --device cpu,sim --precision f64,f32 --threads 2 --repeat 2"][..]),
        ("info", &["info"]),
        ("gen", &["gen tet 8 b.mtx --shuffle", "gen random-spd 50:4 b.wsm --seed 9"]),
        ("convert", &["convert a.mtx b.wsm", "convert a.wsm b.mtx --threads 2", "convert small.mtx b.mtx"]),
        ("example", &["example vadd 1001 --device cpu --threads 2", "example heat 50 3 --device sim"]),
        (
            "monodomain",
            &[
                "monodomain --slab 2,1,1 --spacing 0.5 --t-end 1 --every 0 --device cpu --threads 2 --out slab",
            ],
        ),
    ] {
        check(name, &lines.iter().map(|line| shown(&shell, line, 0)).collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn help() {
    let shell = Shell::new();
    let (main, _) = shell.run("--help", 0);
    check("help", &main);
    let commands =
        main.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = commands
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 9 && commands.contains(&"solve"), "{main}");
    for command in commands.into_iter().filter(|&command| command != "help") {
        check(&format!("help_{command}"), &shell.run(&format!("{command} --help"), 0).0);
    }
}

#[test]
fn errors() {
    let shell = shell();
    let head = "%%MatrixMarket matrix coordinate real general\n";
    shell.file("index.mtx", &format!("{head}2 2 2\n1 1 1\n3 2 1\n"));
    shell.file("wide.mtx", &format!("{head}2 3 2\n1 1 1\n2 2 1\n"));
    shell.file("hole.mtx", &format!("{head}2 2 2\n1 1 1\n2 1 1\n"));
    shell.file("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n1\n");
    shell.file("c.toml", "rtol = 1e-6\nmax_itr = 9\n");
    shell.file("noise.wsm", "noise");
    let lines = [
        "solve",
        "solve missing.mtx --device cpu",
        "solve index.mtx --device cpu",
        "solve wide.mtx --device cpu",
        "solve hole.mtx --precond jacobi --device cpu",
        "solve a.mtx --rhs b.mtx --device cpu",
        "solve noise.wsm --device cpu",
        "solve a.mtx --solver cgg",
        "solve a.mtx --precond ssor",
        "solve a.mtx --format coo",
        "solve a.mtx --device gpu",
        "solve a.mtx --rtol -1",
        "solve a.mtx --tol 1e-6",
        "solve a.mtx --amg degre=2",
        "solve a.mtx --config c.toml",
        "solve a.mtx --out a.mtx",
        "solve --gen tett:4",
        "gen tet 1 b.mtx",
        "gen cube 9 b.mtx",
        "convert a.mtx",
        "example lapalce",
        "completions csh",
        "frobnicate",
    ];
    check("errors", &lines.map(|line| shown(&shell, line, 1)).join("\n"));
}

#[test]
fn json() {
    let shell = shell();
    let mut text = String::new();
    for line in [
        "solve a.mtx --device cpu --threads 2",
        "solve a.mtx --precond amg --device sim --threads 2",
        "spmv a.mtx --format crs --device cpu --threads 2 --repeat 1",
        "example vadd 1001 --device cpu --threads 2",
    ] {
        let _ = writeln!(text, "$ warpsolve {line} --json -");
        outline("", &shell.json(line, 0), &mut text);
    }
    check("json", &text);
}

/// The keys and the types of their values, a line each.
fn outline(path: &str, value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| outline(&format!("{path}.{key}"), value, text))
        }
        Value::Array(items) => match items.first() {
            Some(first) => outline(&format!("{path}[]"), first, text),
            None => drop(writeln!(text, "{path}: empty list")),
        },
        _ => {
            let kind = match value {
                Value::Null => "null",
                Value::Bool(_) => "truth value",
                Value::Number(number) if number.is_f64() => "number",
                Value::Number(_) => "integer",
                _ => "string",
            };
            let _ = writeln!(text, "{path}: {kind}");
        }
    }
}
