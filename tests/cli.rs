//! The program, from its arguments to its files and exit status.
//!
//! Residuals are computed here from the files that it reads and writes, never taken from its reports.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use warpsolve::io::matrix_market::{read_matrix, read_vector, write_vector};
use warpsolve::matrix::Csr;

/// The program in a folder of its own.
struct Shell(TempDir);

impl Shell {
    fn new() -> Shell {
        Shell(tempfile::tempdir().unwrap())
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn file(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpsolve"));
        command.current_dir(self.0.path()).args(line.split_whitespace());
        command
    }
    /// Runs a line of arguments; checks the status, and that nothing panicked or half-written is left.
    fn run(&self, line: &str, status: i32) -> (String, String) {
        let Output { status: found, stdout, stderr } = self.command(line).output().unwrap();
        let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
        assert_eq!(found.code(), Some(status), "{line}\n{stdout}\n{stderr}");
        assert!(!stderr.contains("panicked"), "{line}: {stderr}");
        assert!(
            !stdout.contains('\x1b') && !stderr.contains('\x1b'),
            "no colours in pipes: {stdout}{stderr}"
        );
        let left = fs::read_dir(self.0.path()).unwrap().map(|e| e.unwrap().file_name());
        let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with('.')).collect();
        assert!(left.is_empty(), "{left:?}");
        (stdout, stderr)
    }
    /// Runs `line --json -` and parses what comes.
    fn json(&self, line: &str, status: i32) -> Value {
        let (stdout, _) = self.run(&format!("{line} --json -"), status);
        serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("{line}: {e}\n{stdout}"))
    }
    fn matrix(&self, name: &str) -> Csr<f64> {
        read_matrix(&self.path(name), &mut |_, _| {}).unwrap().0
    }
    fn vector(&self, name: &str) -> Vec<f64> {
        read_vector(&self.path(name)).unwrap()
    }
}

/// `||b - A x||_2 / ||b||_2`
fn relative_residual(a: &Csr<f64>, x: &[f64], b: &[f64]) -> f64 {
    assert_eq!((x.len(), b.len()), (a.n_cols(), a.n_rows()));
    let square = |i: usize| {
        let (columns, values) = a.row(i);
        (b[i] - columns.iter().zip(values).map(|(&j, v)| v * x[j as usize]).sum::<f64>()).powi(2)
    };
    let norm_b = b.iter().map(|v| v * v).sum::<f64>().sqrt();
    (0..a.n_rows()).map(square).sum::<f64>().sqrt() / norm_b
}

/// A right-hand side of fractional numbers without a pattern.
fn rhs(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i as f64 * 0.7310585786).fract() - 0.25).collect()
}

const TRIDIAGONAL: &str = "%%MatrixMarket matrix coordinate real symmetric
3 3 6
1 1 4
2 1 -0.5
2 1 -0.5
2 2 4
3 2 -1
3 3 4
";

#[test]
fn every_solver_precond_format_and_precision_solves_on_the_cpu() {
    let shell = Shell::new();
    shell.run("gen convection-diffusion 11:3.5 n.mtx", 0);
    shell.run("gen tet 5 s.mtx.gz --seed 7 --shuffle", 0);
    let (n, s) = (shell.matrix("n.mtx"), shell.matrix("s.mtx.gz"));
    write_vector(&shell.path("nb.mtx"), &rhs(n.n_rows())).unwrap();
    write_vector(&shell.path("sb.mtx"), &rhs(s.n_rows())).unwrap();
    let common = "--device cpu --quiet --out x.mtx";
    for (a, b, file, options, within) in [
        (&s, "sb.mtx", "s.mtx.gz", "--solver cg --precond jacobi --format crs", 1e-7),
        (&s, "sb.mtx", "s.mtx.gz", "--solver cg --precond none --format ell --rtol 1e-11", 1e-10),
        (&s, "sb.mtx", "s.mtx.gz", "--format sell --sigma 64 --threads 1", 1e-7),
        (&s, "sb.mtx", "s.mtx.gz", "--precision f32 --rtol 1e-4", 1e-3),
        (&n, "nb.mtx", "n.mtx", "--solver bicgstab --format sell", 1e-7),
        (&n, "nb.mtx", "n.mtx", "--solver gmres --restart 7 --threads 2", 1e-7),
        (&n, "nb.mtx", "n.mtx", "--solver gmres --restart none --max-iter 400 --precond none", 1e-7),
        (&n, "nb.mtx", "n.mtx", "--solver jacobi --omega 0.9 --rtol 1e-5 --max-iter 20000", 1e-4),
        (&n, "nb.mtx", "n.mtx", "--solver auto --precond auto --format auto --atol 1e-3 --rtol 0", 1e-3),
    ] {
        shell.run(&format!("solve {file} --rhs {b} {options} {common}"), 0);
        let residual = relative_residual(a, &shell.vector("x.mtx"), &shell.vector(b));
        assert!(residual <= within, "{options}: {residual:e}");
        fs::remove_file(shell.path("x.mtx")).unwrap();
    }
}

#[test]
fn every_solver_solves_in_the_simulator() {
    let shell = Shell::new();
    shell.run("gen convection-diffusion 6:2 n.mtx", 0);
    let n = shell.matrix("n.mtx");
    for options in
        ["--solver bicgstab --format crs", "--solver gmres --format ell --restart 9", "--format sell"]
    {
        let report = shell.json(&format!("solve n.mtx {options} --device sim --out x.mtx"), 0);
        let residual = relative_residual(&n, &shell.vector("x.mtx"), &vec![1.0; n.n_rows()]);
        assert!(residual <= 1e-7, "{options}: {residual:e}");
        assert_eq!(report["device"], "simulator");
        assert_eq!(report["device_kind"], "sim");
        assert_eq!(report["copy_bandwidth"], Value::Null);
        let counts = &report["counts"];
        assert!(counts["launches"].as_u64().unwrap() > report["iterations"].as_u64().unwrap());
        assert_eq!(report["ptx_target"], Value::Null);
    }
}

#[test]
fn the_report_has_every_key_with_its_type() {
    let shell = Shell::new();
    shell.file("a.mtx", TRIDIAGONAL);
    let report =
        shell.json("solve a.mtx --device cpu --solver gmres --threads 1 --format sell --sigma 32", 0);
    let strings = [
        ("schema", "warpsolve.solve/1"),
        ("version", env!("CARGO_PKG_VERSION")),
        ("matrix", "a.mtx"),
        ("symmetry", "symmetric"),
        ("solver", "gmres"),
        ("precond", "jacobi"),
        ("precision", "f64"),
        ("format", "sell"),
        ("device", "CPU, 1 threads"),
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
        assert!(report[key].as_f64().is_some_and(|v| v >= 0.0), "{key}: {}", report[key]);
    }
    for key in ["omega", "no_gpu", "driver_version", "ptx_target", "counts"] {
        assert_eq!(report.get(key), Some(&Value::Null), "{key}");
    }
    assert!(report["warnings"].as_array().unwrap().is_empty() && report["format_reason"].is_string());
    assert!(report["copy_bandwidth"].as_f64().unwrap() > 1e8);
    assert!((1..=3).contains(&report["iterations"].as_u64().unwrap()));
    let documented = include_str!("../docs/report-schema.md");
    for key in report.as_object().unwrap().keys() {
        assert!(documented.contains(&format!("| `{key}` |")), "docs/report-schema.md lacks {key}");
    }
}

#[test]
fn the_text_says_what_was_done() {
    let shell = Shell::new();
    shell.file("a.mtx", TRIDIAGONAL);
    let (stdout, stderr) = shell.run("solve a.mtx --device cpu --threads 1 -v", 0);
    for part in [
        "matrix        a.mtx, stored as symmetric\n",
        "3 rows, 7 nonzeros, 2.3 a row\n",
        "1 duplicate entries summed\n",
        "device        CPU, 1 threads\n",
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
    assert_eq!(stderr, "");
    let (stdout, stderr) = shell.run("solve a.mtx --device sim -v --format ell", 0);
    for part in
        ["simulator\n", "ELL, as asked: ", "in the solve  ", " launches, ", "means nothing in the simulator"]
    {
        assert!(stdout.contains(part), "{part:?} is not in\n{stdout}");
    }
    assert_eq!(stderr, "");
    assert_eq!(shell.run("solve a.mtx --device cpu -q", 0), (String::new(), String::new()));
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
    let line = line.replace("--out x.mtx.gz", "--out no/x.mtx");
    let (_, stderr) = shell.run(&format!("{line} --history no/h.csv --json r2.json"), 1);
    assert!(stderr.contains("error: cannot create no/x.mtx") && stderr.contains("no/h.csv"), "{stderr}");
    assert!(shell.path("r2.json").exists());
}

#[test]
fn an_unconverged_solve_exits_with_2_and_writes_everything() {
    let shell = Shell::new();
    shell.run("gen poisson2d 17 a.mtx", 0);
    let a = shell.matrix("a.mtx");
    let report = shell.json("solve a.mtx --max-iter 5 --device cpu --out x.mtx --history h.csv", 2);
    assert_eq!((&report["stop_reason"], &report["iterations"]), (&"iteration_limit".into(), &5.into()));
    let residual = relative_residual(&a, &shell.vector("x.mtx"), &vec![1.0; a.n_rows()]);
    let reported = report["relative_residual"].as_f64().unwrap();
    assert!((residual - reported).abs() <= 1e-12 * residual, "{residual:e} {reported:e}");
    assert_eq!(fs::read_to_string(shell.path("h.csv")).unwrap().lines().count(), 7);
    let (stdout, _) = shell.run("solve a.mtx --max-iter 5 --device cpu", 2);
    assert!(stdout.contains("NOT converged after 5 iterations: iteration limit reached"), "{stdout}");
    let (_, stderr) = shell.run("solve a.mtx --max-iter 1 --device cpu --quiet", 2);
    assert_eq!(stderr, "warning: NOT converged after 1 iteration: iteration limit reached\n");
}

#[test]
fn an_indefinite_matrix_stops_cg_and_nan_becomes_null() {
    let shell = Shell::new();
    shell.file("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 -1\n2 2 -3\n");
    let report = shell.json("solve a.mtx --solver cg --precond none --device cpu", 2);
    assert_eq!(report["stop_reason"], "indefinite_operator");
    assert!(report["stop_message"].as_str().unwrap().contains("--solver gmres"));
    // The squares of these overflow f64: no norm of the residual is finite.
    shell.file("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1e300\n1e300\n");
    let report = shell.json("solve a.mtx --rhs b.mtx --solver gmres --device cpu", 2);
    assert_eq!(report["stop_reason"], "not_finite");
    assert_eq!(report["residual_norm"], Value::Null);
}

#[test]
fn empty_and_trivial_systems_are_solved() {
    let shell = Shell::new();
    shell.file("empty.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    shell.file("one.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n");
    shell.file("zero.mtx", "%%MatrixMarket matrix array real general\n1 1\n0\n");
    for device in ["cpu", "sim"] {
        for options in [
            "--solver cg",
            "--solver bicgstab",
            "--solver gmres --format sell",
            "--solver jacobi --format ell",
            "--precond none --precision f32",
            "",
        ] {
            let common = format!("--device {device} {options} --out x.mtx");
            let report = shell.json(&format!("solve empty.mtx {common}"), 0);
            assert_eq!((&report["rows"], &report["iterations"]), (&0.into(), &0.into()));
            assert_eq!(report["relative_residual"], 0.0);
            assert_eq!(shell.vector("x.mtx"), [0.0; 0]);
            shell.run(&format!("solve one.mtx {common} --quiet"), 0);
            assert_eq!(shell.vector("x.mtx"), [0.25]);
            let (stdout, _) = shell.run(&format!("solve one.mtx --rhs zero.mtx {common}"), 0);
            assert!(stdout.contains("converged after 0 iterations"), "{stdout}");
            assert_eq!(shell.vector("x.mtx"), [0.0]);
        }
    }
}

#[test]
fn a_true_residual_that_misses_is_warned_of() {
    let shell = Shell::new();
    let line = "solve --gen poisson2d:40 --precision f32 --rtol 1e-12 --device cpu --solver cg -q";
    let (_, stderr) = shell.run(line, 0);
    assert!(stderr.starts_with("warning: the true residual misses the tolerance: "), "{stderr}");
    assert!(stderr.contains("use --precision f64"), "{stderr}");
}

#[test]
fn a_nonsymmetric_matrix_under_cg_is_warned_of() {
    let shell = Shell::new();
    let output =
        shell.command("solve --gen convection-diffusion:9:50 --solver cg --device cpu -q").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("warning: the matrix is not symmetric: entry ("), "{stderr}");
    assert!(stderr.contains("--solver gmres or bicgstab"), "{stderr}");
}

#[test]
fn malformed_input_is_refused_with_its_place() {
    let shell = Shell::new();
    let head = "%%MatrixMarket matrix coordinate real general\n";
    shell.file("short.mtx", &format!("{head}2 2 3\n1 1 1\n"));
    shell.file("index.mtx", &format!("{head}2 2 2\n1 1 1\n3 2 1\n"));
    shell.file("nan.mtx", &format!("{head}2 2 2\n1 1 nan\n2 2 1\n"));
    shell.file("wide.mtx", &format!("{head}2 3 2\n1 1 1\n2 2 1\n"));
    shell.file("hole.mtx", &format!("{head}2 2 2\n1 1 1\n1 2 1\n"));
    shell.file("complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
    shell.file("noise.mtx", "\u{0}\u{1}not a matrix");
    shell.file("ok.mtx", TRIDIAGONAL);
    for (line, expected) in [
        ("missing.mtx", "error: cannot read missing.mtx: No such file"),
        ("short.mtx", "short.mtx:"),
        ("index.mtx", "index.mtx:4: "),
        ("nan.mtx", "nan.mtx:3: "),
        ("wide.mtx", "2 x 3"),
        ("hole.mtx --precond jacobi", "error: row 2: the diagonal entry is missing"),
        ("complex.mtx", "complex.mtx:1: complex"),
        ("noise.mtx", "noise.mtx:1: "),
        ("ok.mtx --rhs wide.mtx", "wide.mtx:2: "),
        ("ok.mtx --rhs one.mtx", "cannot read one.mtx"),
        ("ok.mtx --rhs two.mtx", "right-hand side has 2 entries, but the matrix has 3 rows"),
        ("ok.mtx --format sell --sigma 7", "sigma"),
        ("--gen tet:99999999", "99999999"),
    ] {
        shell.file("two.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n1\n");
        let (stdout, stderr) = shell.run(&format!("solve {line} --device cpu --out x.mtx"), 1);
        assert!(stderr.starts_with("error: ") && stderr.contains(expected), "{line}: {stderr}");
        assert_eq!(stderr.matches("No such file").count(), stderr.contains("No such file") as usize);
        assert!(stdout.is_empty() && !shell.path("x.mtx").exists(), "{line}: {stdout}");
    }
}

#[test]
fn wrong_options_are_named_and_exit_with_1() {
    let shell = Shell::new();
    shell.file("a.mtx", TRIDIAGONAL);
    for (line, parts) in [
        ("solve", &["A.mtx"][..]),
        ("solve a.mtx --gen tet:4", &["--gen"]),
        ("solve a.mtx --shuffle", &["--gen"]),
        ("solve --gen tett:4", &["did you mean 'tet'"]),
        ("solve a.mtx --rtol -1", &["--rtol"]),
        ("solve a.mtx --rtol=-1", &["--rtol", "finite number, 0 or more"]),
        ("solve a.mtx --rtol nan", &["--rtol", "finite number, 0 or more"]),
        ("solve a.mtx --atol inf", &["--atol", "finite number, 0 or more"]),
        ("solve a.mtx --rtol 0", &["--rtol 0", "--atol above 0"]),
        ("solve a.mtx --max-iter 0", &["--max-iter", "1..=10000000"]),
        ("solve a.mtx --restart 0", &["--restart", "1 to 1024, or none"]),
        ("solve a.mtx --restart 9 --solver cg", &["--restart goes with --solver gmres"]),
        ("solve a.mtx --omega 2", &["--omega", "between 0 and 2"]),
        ("solve a.mtx --omega 1", &["--omega goes with --solver jacobi"]),
        ("solve a.mtx --sigma 32", &["--sigma goes with --format sell"]),
        ("solve a.mtx --solver lu", &["--solver", "cg, bicgstab, gmres, jacobi, auto"]),
        ("solve a.mtx --precond ilu", &["--precond", "none, jacobi, auto"]),
        ("solve a.mtx --format coo", &["--format", "crs", "ell", "sell, auto"]),
        ("solve a.mtx --precision f16", &["--precision", "f32, f64"]),
        ("solve a.mtx --device gpu", &["--device", "auto, cpu, cuda, cuda:N", "sim"]),
        ("solve a.mtx --threads 0", &["--threads", "1..=4096"]),
        ("solve a.mtx -q -v", &["--quiet"]),
        ("gen tet 1 b.mtx", &["at least 2"]),
        ("gen cube 9 b.mtx", &["unknown problem 'cube'"]),
        ("spmv a.mtx --repeat 0", &["--repeat"]),
        ("spmv a.mtx --format crs,coo", &["--format", "coo"]),
        ("frobnicate", &["frobnicate"]),
        ("", &["Usage"]),
    ] {
        let (stdout, stderr) = shell.run(line, 1);
        assert!(stdout.is_empty(), "{line}: {stdout}");
        for part in parts {
            assert!(stderr.contains(part), "{line}: {part:?} is not in\n{stderr}");
        }
    }
    let (stdout, _) = shell.run("--version", 0);
    assert_eq!(stdout, format!("warpsolve {}\n", env!("CARGO_PKG_VERSION")));
    for line in ["--help", "solve --help", "gen --help", "spmv --help", "info --help"] {
        assert!(shell.run(line, 0).0.contains("Usage: warpsolve"), "{line}");
    }
}

#[test]
fn every_generated_problem_can_be_read_and_solved() {
    let shell = Shell::new();
    for (kind, size, rows, symmetry) in [
        ("tet", "4", 48, "symmetric"),
        ("poisson2d", "7", 49, "symmetric"),
        ("poisson3d", "3", 27, "symmetric"),
        ("anisotropic", "5:0.25", 25, "symmetric"),
        ("convection-diffusion", "5", 25, "general"),
        ("random-spd", "31:4", 31, "symmetric"),
    ] {
        let (stdout, stderr) = shell.run(&format!("gen {kind} {size} a.mtx --seed 5"), 0);
        assert!(stdout.contains(&format!("{rows} rows, ")) && stdout.contains(symmetry), "{stdout}");
        assert_eq!(stderr, "");
        let a = shell.matrix("a.mtx");
        assert_eq!(a.n_rows(), rows);
        shell.run("solve a.mtx --device cpu --out x.mtx -q", 0);
        let residual = relative_residual(&a, &shell.vector("x.mtx"), &vec![1.0; rows]);
        assert!(residual < 1e-7, "{kind}: {residual:e}");
        // A generated system is the one that `gen` writes.
        shell.run(&format!("solve --gen {kind}:{size} --seed 5 --device cpu --out y.mtx -q"), 0);
        assert_eq!(shell.vector("x.mtx"), shell.vector("y.mtx"), "{kind}");
    }
    shell.run("gen poisson2d 9 plain.mtx -q", 0);
    shell.run("gen poisson2d 9 mixed.mtx -q --shuffle", 0);
    let (plain, mixed) = (shell.matrix("plain.mtx"), shell.matrix("mixed.mtx"));
    assert!(plain != mixed && plain.nnz() == mixed.nnz());
}

#[test]
fn spmv_tabulates_formats_precisions_and_devices() {
    let shell = Shell::new();
    let (stdout, stderr) =
        shell.run("spmv --gen poisson2d:9 --device cpu,sim --precision f64,f32 --repeat 2", 0);
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines.len(), 3 + 2 * 2 * 3, "{stdout}");
    assert!(lines[0].contains("81 rows, 369 nonzeros") && lines[2].starts_with("device"), "{stdout}");
    assert!(lines[3..].iter().all(|line| line.contains(" ok ") && line.contains(" us ")), "{stdout}");
    assert_eq!(stderr, "");

    // A full row among short ones: ELLPACK refuses, and the others go on.
    let mut arrow = String::from("%%MatrixMarket matrix coordinate pattern symmetric\n300 300 599\n1 1\n");
    (2..=300).for_each(|i| arrow += &format!("{i} {i}\n{i} 1\n"));
    shell.file("arrow.mtx", &arrow);
    let report = shell.json("spmv arrow.mtx --device cpu --repeat 3 --sigma 32 --format ell,sell,crs", 0);
    assert_eq!(report["schema"], "warpsolve.spmv/1");
    let results = report["results"].as_array().unwrap();
    assert!(results[0]["refused"].as_str().unwrap().contains("ell would store"), "{report}");
    assert!(results[0].get("median_seconds").is_none());
    for (k, format) in [(1, "sell"), (2, "crs")] {
        let row = &results[k];
        assert_eq!(
            (&row["format"], &row["refused"], &row["correct"]),
            (&format.into(), &Value::Null, &true.into())
        );
        let seconds = ["min_seconds", "median_seconds", "max_seconds"].map(|key| row[key].as_f64().unwrap());
        assert!(seconds[0] > 0.0 && seconds.is_sorted(), "{row}");
        // 898 nonzeros at 12 bytes, 300 rows at 20.
        let bandwidth = (898 * 12 + 300 * 20) as f64 / seconds[1];
        assert!((row["bandwidth"].as_f64().unwrap() / bandwidth - 1.0).abs() < 1e-12);
        assert!(row["copy_bandwidth"].as_f64().unwrap() > 1e8);
    }
    let documented = include_str!("../docs/report-schema.md");
    for key in results[1].as_object().unwrap().keys().chain(report.as_object().unwrap().keys()) {
        assert!(documented.contains(&format!("| `{key}` |")), "docs/report-schema.md lacks {key}");
    }
    assert!(shell.run("spmv arrow.mtx --device cpu --repeat 1", 0).0.contains("refused: ell would store"));
}

#[test]
fn info_and_auto_agree_on_the_gpu() {
    let shell = Shell::new();
    let info: Value = serde_json::from_str(&shell.run("info --json", 0).0).unwrap();
    assert_eq!(
        (&info["schema"], &info["version"]),
        (&"warpsolve.info/1".into(), &env!("CARGO_PKG_VERSION").into())
    );
    let targets: Vec<&str> = info["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kernels| kernels["target"].as_str().unwrap())
        .collect();
    assert_eq!(targets, ["sm_90", "sm_70"]);
    assert!(info["threads"].as_u64().unwrap() >= 1);
    let documented = include_str!("../docs/report-schema.md");
    for key in info.as_object().unwrap().keys() {
        assert!(documented.contains(&format!("| `{key}` |")), "docs/report-schema.md lacks {key}");
    }
    let (text, _) = shell.run("info", 0);
    let auto = info["auto"].as_str().unwrap();
    assert!(text.contains(&format!("--device auto takes {auto}")), "{text}");

    let report = shell.json("solve --gen poisson2d:9", 0);
    let no_gpu = info["devices"].as_array().unwrap().is_empty();
    assert_eq!(no_gpu, auto == "cpu");
    assert_eq!(report["device_kind"], if no_gpu { "cpu" } else { "cuda" });
    if no_gpu {
        let reason = info["no_gpu"].as_str().unwrap();
        assert!(text.contains("GPU           none: "), "{text}");
        assert_eq!(report["no_gpu"], reason);
        let (stdout, _) = shell.run("solve --gen poisson2d:9 -v", 0);
        assert!(stdout.contains(" threads (no GPU: ") && stdout.contains(reason), "{stdout}");
        let (stdout, stderr) = shell.run("solve --gen poisson2d:9 --device cuda", 1);
        assert!(stdout.is_empty() && stderr.starts_with("error: no GPU: "), "{stdout}{stderr}");
        assert!(stderr.contains("--device cpu"), "{stderr}");
        // The devices that are there are measured all the same.
        let (stdout, stderr) = shell.run("spmv --gen poisson2d:9 --device cuda,cpu --repeat 1", 1);
        assert!(stdout.contains("CPU, ") && stderr.starts_with("error: no GPU: "), "{stdout}{stderr}");
    }
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

#[test]
fn outputs_may_be_no_ordinary_files() {
    let shell = Shell::new();
    let (stdout, _) =
        shell.run("solve --gen poisson2d:3 --device cpu -q --out /dev/stdout --json /dev/null", 0);
    assert!(stdout.starts_with("%%MatrixMarket matrix array real general\n9 1\n"), "{stdout}");
    assert!(Path::new("/dev/null").exists());
}
