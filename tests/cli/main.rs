//! The program, from its arguments to its files and exit status.
//!
//! Residuals are computed here from the files that it reads and writes, never taken from its reports.

mod amg;
mod bench;
mod bidomain;
mod by_rows;
mod cardiac;
mod config;
mod convert;
mod elasticity;
mod example;
mod new;
mod paper;
mod profile;
mod refusals;
mod report;
mod shells;
mod snapshots;
mod solve;
mod tools;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use warpsolve::io::matrix::read_matrix;
use warpsolve::io::matrix_market::read_vector;
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
        // Help is as wide as the terminal.
        command.env("COLUMNS", "100").current_dir(self.0.path()).args(line.split_whitespace());
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

/// The keys of a JSON object that docs/report-schema.md does not describe.
fn undocumented(object: &Value) -> Vec<&String> {
    let documented = include_str!("../../docs/report-schema.md");
    let keys = object.as_object().expect("a JSON object").keys();
    keys.filter(|key| !documented.contains(&format!("`{key}`"))).collect()
}
