//! `solve`: its reports and other files.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::{Shell, TRIDIAGONAL, undocumented};

#[test]
fn the_report_has_every_key_with_its_type() {
    let shell = Shell::new();
    shell.file("a.mtx", TRIDIAGONAL);
    let report =
        shell.json("solve a.mtx --device cpu --solver gmres --threads 1 --format sell --sigma 32", 0);
    let strings = [
        ("schema", "warpsolve.solve/2"),
        ("version", env!("CARGO_PKG_VERSION")),
        ("matrix", "a.mtx"),
        ("symmetry", "symmetric"),
        ("solver", "gmres"),
        ("precond", "jacobi"),
        ("singular_blocks", "refuse"),
        ("precision", "f64"),
        ("format", "sell"),
        ("device", "CPU, 1 thread"),
        ("device_kind", "cpu"),
        ("stop_reason", "converged"),
        ("stop_message", "converged"),
    ];
    for (key, value) in strings {
        assert_eq!(report[key], value, "{key}");
    }
    for (key, value) in
        [("rows", 3), ("nonzeros", 7), ("duplicates", 1), ("restart", 30), ("sigma", 32), ("threads", 1)]
    {
        assert_eq!(report[key], value, "{key}");
    }
    // Three rows fill a slice of 32, each as long as the longest, 3.
    assert_eq!(report["padding"].as_f64().unwrap(), 96.0 / 7.0 - 1.0);
    let row_lengths = serde_json::json!({"min": 2, "mean": 7.0 / 3.0, "max": 3, "empty": 0});
    assert_eq!(report["row_lengths"], row_lengths);
    for key in [
        "relative_residual",
        "residual_norm",
        "threshold",
        "rtol",
        "atol",
        "read_seconds",
        "device_seconds",
        "setup_seconds",
        "warm_up_seconds",
        "upload_seconds",
        "solve_seconds",
        "total_seconds",
        "device_bytes",
        "bytes_moved",
        "bandwidth",
        "copy_bandwidth",
        "max_iterations",
        "iterations",
    ] {
        // A system of three rows may be solved exactly.
        let may_be_zero = ["atol", "warm_up_seconds", "residual_norm", "relative_residual"].contains(&key);
        let is_plausible = |v: f64| v > 0.0 || v == 0.0 && may_be_zero;
        assert!(report[key].as_f64().is_some_and(is_plausible), "{key}: {}", report[key]);
    }
    for key in ["omega", "no_gpu", "driver_version", "ptx_target", "counts", "amg"] {
        assert_eq!(report.get(key), Some(&Value::Null), "{key}");
    }
    assert!(report["warnings"].as_array().unwrap().is_empty() && report["format_reason"].is_string());
    assert!(report["copy_bandwidth"].as_f64().unwrap() > 1e8);
    assert!((1..=3).contains(&report["iterations"].as_u64().unwrap()));
    assert_eq!(undocumented(&report), [""; 0]);
}

#[test]
fn the_text_says_what_was_done() {
    let shell = Shell::new();
    shell.file("a.mtx", TRIDIAGONAL);
    let (stdout, stderr) = shell.run("solve a.mtx --solver cg --device cpu --threads 1 -v", 0);
    for part in [
        "matrix        a.mtx, stored as symmetric\n",
        "3 rows, 7 nonzeros, 2.3 a row\n",
        "1 duplicate entries summed\n",
        "device        CPU, 1 thread\n",
        "solver        CG, Jacobi preconditioner, f64\n",
        "result        converged after ",
        "recomputed in f64 (asked: 1e-8)\n",
        "\nread ",
        "\nset-up ",
        "\nupload ",
        "\nsolve ",
        "\ntotal ",
        "\nmemory ",
        "\nbandwidth ",
        "% of a triad's ",
        "2 to 3 nonzeros, 0 empty\n",
        "||r|| = ",
    ] {
        assert!(stdout.contains(part), "{part:?} is not in\n{stdout}");
    }
    assert!(!stdout.contains("expected"), "{stdout}");
    assert_eq!(stderr, "");
    let (stdout, stderr) = shell.run("solve a.mtx --solver cg --device sim -v --format ell", 0);
    for part in [
        "simulator\n",
        "ELL, as asked: ",
        "in the solve  ",
        "\nexpected      ",
        " launches, ",
        "means nothing in the simulator",
        "\ncapacity      4 multiprocessors, 1.0 GiB of memory, ",
        " in blocks of 256: ",
    ] {
        assert!(stdout.contains(part), "{part:?} is not in\n{stdout}");
    }
    assert_eq!(stderr, "");
    assert_eq!(shell.run("solve a.mtx --device cpu -q", 0), (String::new(), String::new()));
}

#[test]
fn residuals_are_those_of_what_was_solved() {
    let shell = Shell::new();
    let line =
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 1\n2 1 -1\n2 2 2\n3 2 -1\n3 3 1\n";
    shell.file("a.mtx", line);
    shell.file("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n0\n0.5\n");
    shell.file("c.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n0\n-1\n");
    let (stdout, _) = shell.run("solve a.mtx --rhs b.mtx --device cpu", 0);
    assert!(stdout.contains("\nresidual      ||P b - A x|| / ||P b|| = "), "{stdout}");
    assert!(stdout.contains(" with P b the projected right-hand side, recomputed in f64"), "{stdout}");
    let (stdout, stderr) = shell.run("solve a.mtx --rhs c.mtx --device cpu", 0);
    assert!(
        stdout.contains("\nresidual      ||b - A x|| / ||b|| = ") && stderr.is_empty(),
        "{stdout}{stderr}"
    );
    shell.file("empty.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    for device in ["cpu", "sim"] {
        let (stdout, _) = shell.run(&format!("solve empty.mtx --device {device} -v"), 0);
        assert!(stdout.contains(" = 0.00e0, recomputed") && !stdout.contains("-0.00e0"), "{stdout}");
    }
}

#[test]
fn outputs_go_where_they_should() {
    let shell = Shell::new();
    let line = "solve --gen random-spd:57:5 --seed 3 --shuffle --device cpu --solver cg -q --out x.mtx.gz";
    shell.run(&format!("{line} --history h.csv --json r.json"), 0);
    let report: Value = serde_json::from_str(&fs::read_to_string(shell.path("r.json")).unwrap()).unwrap();
    assert_eq!(report["matrix"], "random-spd:57:5 (generated, seed 3, shuffled)");
    assert_eq!((&report["symmetry"], &report["rows"]), (&Value::Null, &57.into()));
    assert_eq!(shell.vector("x.mtx.gz").len(), 57);

    let history = fs::read_to_string(shell.path("h.csv")).unwrap();
    let lines: Vec<&str> = history.lines().collect();
    assert_eq!(lines[0], "iteration,residual_norm,relative");
    assert_eq!(lines.len() as u64, 2 + report["iterations"].as_u64().unwrap());
    for (k, line) in lines[1..].iter().enumerate() {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        assert_eq!((fields.len(), fields[0]), (3, k as f64));
        assert!((fields[1] / fields[2] - 57f64.sqrt()).abs() < 1e-12, "b is all ones: {line}");
    }
    assert!(lines[1].ends_with(",1e0"), "x = 0 leaves all of b: {}", lines[1]);

    // Each output is tried, whatever fails before it.
    let line = line.replace("--out x.mtx.gz", "--out /dev/full");
    let (_, stderr) = shell.run(&format!("{line} --history /proc/h.csv --json r2.json"), 1);
    assert!(stderr.contains("/dev/full") && stderr.contains("/proc/h.csv"), "{stderr}");
    assert!(shell.path("r2.json").exists());
}

#[test]
fn outputs_may_be_no_ordinary_files() {
    let shell = Shell::new();
    let (stdout, _) =
        shell.run("solve --gen poisson2d:3 --device cpu -q --out /dev/stdout --json /dev/null", 0);
    assert!(stdout.starts_with("%%MatrixMarket matrix array real general\n9 1\n"), "{stdout}");
    assert!(Path::new("/dev/null").exists());
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let shell = Shell::new();
    for line in ["solve --gen poisson2d:5 --device cpu", "info", "--help"] {
        let mut child = shell.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && stderr.is_empty(), "{line}: {stderr}");
    }
}
