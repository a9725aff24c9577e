//! `solve --by-rows`, against solves in which rank 0 has the whole matrix.

use std::fs;

use serde_json::Value;

use super::{Shell, relative_residual, rhs, undocumented};

const CPU: &str = "--device cpu --threads 1";

fn vector(shell: &Shell, name: &str, values: &[f64]) {
    let lines: String = values.iter().map(|v| format!("{v:e}\n")).collect();
    shell.file(name, &format!("%%MatrixMarket matrix array real general\n{} 1\n{lines}", values.len()));
}

#[test]
fn files_and_generators_give_the_bits_of_the_whole() {
    let shell = Shell::new();
    shell.run("gen tet 8 a.wsm -q", 0);
    let b = rhs(448);
    vector(&shell, "b.mtx", &b);
    shell.run("convert b.mtx b.wsm -q", 0);
    let way = format!("--solver cg --precond amg --amg rank_rows=60 --ranks 3 {CPU}");
    shell.run("convert a.wsm a.mtx -q", 0);
    for (rhs, of_rows) in [("", ""), ("--rhs b.mtx", "--rhs b.wsm"), ("--rhs b.mtx", "--rhs b.mtx")] {
        shell.run(&format!("solve a.wsm {way} {rhs} --out whole.mtx -q"), 0);
        let whole = fs::read(shell.path("whole.mtx")).unwrap();
        for source in ["a.wsm", "a.mtx", "--gen tet:8"] {
            let report = shell.json(&format!("solve {source} {way} {of_rows} --by-rows --out x.mtx"), 0);
            assert!(fs::read(shell.path("x.mtx")).unwrap() == whole, "{source} {of_rows}");
            assert_eq!(report["stop_reason"], "converged");
            let entries = shell.matrix("a.wsm").nnz();
            assert_eq!((&report["rows"], &report["nonzeros"]), (&Value::from(448), &Value::from(entries)));
            assert_eq!(report["ranks"]["by_rows"], true);
            assert_eq!(report["ranks"]["choice"], Value::Null);
            assert_eq!(undocumented(&report["ranks"]), Vec::<&String>::new());
        }
    }
    let x = shell.vector("x.mtx");
    assert!(relative_residual(&shell.matrix("a.wsm"), &x, &b) <= 1.0001e-8);
}

#[test]
fn what_was_chosen_is_said_with_its_reason() {
    let shell = Shell::new();
    let (stdout, stderr) =
        shell.run(&format!("solve --gen convection-diffusion:12 --by-rows --ranks 2 {CPU}"), 0);
    assert!(stdout.contains("each its own rows") && stderr.is_empty(), "{stdout}{stderr}");
    assert!(stdout.contains("chosen        the matrix is not symmetric: entry ("), "{stdout}");
    assert!(stdout.contains("GMRES(30), ILU preconditioner"), "{stdout}");
    let report = shell.json(&format!("solve --gen poisson2d:9 --by-rows {CPU}"), 0);
    assert_eq!((&report["solver"], &report["precond"]), (&Value::from("cg"), &Value::from("amg")));
    assert_eq!(report["ranks"]["choice"], "the matrix is symmetric, with a positive diagonal");
    assert_eq!(report["row_lengths"]["max"], 5);
}

#[test]
fn what_is_singular_is_warned_of_as_of_the_whole() {
    let shell = Shell::new();
    // A cycle, in one direction: rows and columns add up to 0.
    let entries = (1..=6).map(|i| format!("{i} {i} 1\n{} {i} -1\n", i % 6 + 1)).collect::<String>();
    shell.file("cycle.mtx", &format!("%%MatrixMarket matrix coordinate real general\n6 6 12\n{entries}"));
    shell.file("hole.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 2\n2 2 0\n3 3 1\n");
    for (line, warning) in [
        (
            "cycle.mtx --solver gmres --precond none",
            "warning: the matrix is singular, the entries of every column",
        ),
        ("hole.mtx --solver gmres --precond none", "warning: row 2 is empty: the matrix is singular"),
    ] {
        for ranks in ["", "--ranks 3 --by-rows"] {
            let (_, stderr) = shell.run(&format!("solve {line} {ranks} {CPU}"), 2);
            assert!(stderr.contains(warning), "{line} {ranks}: {stderr}");
        }
    }
    // Of b the empty row leaves 1, whatever x is.
    for method in ["gmres --precond none", "bicgstab --precond none"] {
        for ranks in ["", "--ranks 2 --by-rows"] {
            let report = shell.json(&format!("solve hole.mtx --solver {method} {ranks} {CPU}"), 2);
            assert_eq!(report["stop_reason"], "no_solution", "{method} {ranks}: {report}");
        }
    }
    let (_, stderr) = shell.run(&format!("solve hole.mtx --ranks 500 --by-rows {CPU}"), 1);
    assert!(stderr.contains("there are 500 ranks for 3 rows"), "{stderr}");
}

#[test]
fn what_it_does_not_do_is_refused() {
    let shell = Shell::new();
    shell.run("gen poisson2d 4 a.mtx -q", 0);
    shell.run("gen poisson2d 4 a.wsm -q", 0);
    let refused = |line: &str, what: &str| {
        let (_, stderr) = shell.run(&format!("solve {line} --by-rows --ranks 2 {CPU}"), 1);
        assert!(stderr.starts_with("error: ") && stderr.contains(what), "{line}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    };
    shell.run("convert a.wsm a.mtx.gz -q", 0);
    refused("a.mtx.gz", "a.mtx.gz is compressed, of which no part can be read alone");
    vector(&shell, "b.mtx", &[1.0; 15]);
    refused("b.mtx", "warpsolve convert b.mtx A.wsm");
    refused("a.wsm --rhs b.mtx", "b.mtx has 15 rows and 1 columns; the right-hand side has 16 rows");
    refused("a.wsm --rhs none.mtx", "none.mtx");
    refused("a.wsm --rhs a.wsm", "a.wsm has 16 rows and 16 columns; the right-hand side has 16 rows");
    shell.file("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n2 2 1\n");
    refused("wide.mtx", "the matrix is 2 x 3; solving needs as many rows as columns");
    refused("a.wsm --partition rcm", "leave --partition out");
    refused("a.wsm --solver direct", "the method direct needs the whole matrix");
    refused("a.wsm --scaling ruiz", "scaling needs the whole matrix");
    refused("--gen bidomain:3", "bidomain:3 is made as a whole");
    refused("none.wsm", "none.wsm");
    // A file that was damaged where the second rank reads.
    let mut bytes = fs::read(shell.path("a.wsm")).unwrap();
    let place = bytes.len() - 200;
    bytes[place] ^= 1;
    fs::write(shell.path("bad.wsm"), bytes).unwrap();
    refused("bad.wsm", "damaged: the checksum of the values does not agree");
    let (_, stderr) = shell.run("solve --gen tet:4 --by-rows --plan", 1);
    assert!(stderr.contains("cannot be used with '--plan'"), "{stderr}");
}
