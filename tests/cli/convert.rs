//! `convert`, and binary matrices wherever a matrix is taken.

use std::fs;

use super::{Shell, TRIDIAGONAL, relative_residual};

#[test]
fn there_and_back_is_the_same_file() {
    let shell = Shell::new();
    for (kind, symmetry) in [("tet 5", "symmetric"), ("convection-diffusion 6", "general")] {
        shell.run(&format!("gen {kind} a.mtx --seed 3 -q"), 0);
        let (stdout, stderr) = shell.run("convert a.mtx a.wsm", 0);
        for part in
            [&format!("a.mtx, stored as {symmetry}\n"), &format!("a.wsm, binary, {symmetry}\n"), " MB/s\n"]
        {
            assert!(stdout.contains(part), "{part:?} is not in\n{stdout}");
        }
        assert_eq!(stderr, "");
        assert_eq!(shell.run("convert a.wsm b.mtx.gz -q", 0), (String::new(), String::new()));
        shell.run("convert b.mtx.gz b.mtx --threads 1", 0);
        let read = |name: &str| fs::read(shell.path(name)).unwrap();
        assert_eq!(read("a.mtx"), read("b.mtx"), "{kind}");
        // `gen` writes what `convert` does, but that a comment read from text ends its line.
        shell.run(&format!("gen {kind} c.wsm --seed 3 -q"), 0);
        assert_eq!(shell.matrix("c.wsm"), shell.matrix("a.mtx"));
        let (stdout, _) = shell.run("convert c.wsm c.mtx", 0);
        assert!(stdout.contains(&format!("c.wsm, binary, {symmetry}\n")), "{stdout}");
        assert_eq!(read("a.mtx"), read("c.mtx"), "{kind}");
    }
}

#[test]
fn a_binary_matrix_is_solved_as_its_source_is() {
    let shell = Shell::new();
    shell.run("gen tet 6 a.mtx --seed 3 -q", 0);
    shell.run("convert a.mtx a.wsm -q", 0);
    // By what it holds, whatever its name.
    fs::copy(shell.path("a.wsm"), shell.path("a.dat")).unwrap();
    let common = "--device cpu --threads 2 --rtol 1e-10";
    let expected = shell.json(&format!("solve a.mtx {common} --out x.mtx"), 0);
    let a = shell.matrix("a.mtx");
    for name in ["a.wsm", "a.dat"] {
        let report = shell.json(&format!("solve {name} {common} --out y.mtx"), 0);
        for key in ["rows", "nonzeros", "symmetry", "duplicates", "iterations", "relative_residual", "format"]
        {
            assert_eq!(report[key], expected[key], "{name}: {key}");
        }
        assert_eq!(shell.vector("x.mtx"), shell.vector("y.mtx"), "{name}");
        assert!(relative_residual(&a, &shell.vector("y.mtx"), &vec![1.0; a.n_rows()]) < 1e-9);
    }
    let (stdout, _) = shell.run(&format!("solve a.wsm {common} -v"), 0);
    assert!(stdout.starts_with("matrix        a.wsm, binary, symmetric\n"), "{stdout}");
    assert_eq!(a.nnz(), 1998);
    assert!(stdout.contains("\nfile          1,998 entries, "), "{stdout}");
    let (stdout, _) = shell.run("spmv a.wsm --device cpu --repeat 1 --format crs", 0);
    assert!(stdout.contains(" ok "), "{stdout}");
}

#[test]
fn what_a_file_says_is_kept_and_what_it_repeats_is_said() {
    let shell = Shell::new();
    let text = TRIDIAGONAL.replacen('\n', "\n%  from a book\n%-----\n", 1);
    shell.file("a.mtx", &text);
    let (stdout, _) = shell.run("convert a.mtx a.wsm", 0);
    assert!(
        stdout.contains("3 rows, 7 nonzeros\n") && stdout.contains("1 duplicate entries summed"),
        "{stdout}"
    );
    shell.run("convert a.wsm b.mtx", 0);
    let expected = "%%MatrixMarket matrix coordinate real symmetric\n%  from a book\n% -----\n3 3 5\n\
        1 1 4.0\n2 1 -1.0\n2 2 4.0\n3 2 -1.0\n3 3 4.0\n";
    assert_eq!(fs::read_to_string(shell.path("b.mtx")).unwrap(), expected);
    shell.file("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 0.5\n");
    let (stdout, _) = shell.run("convert wide.mtx wide.wsm", 0);
    assert!(stdout.contains("2 rows, 3 columns, 1 nonzeros\n"), "{stdout}");
    assert_eq!(shell.matrix("wide.wsm").get(0, 2), Some(0.5));
}

#[test]
fn damaged_files_are_refused_by_name() {
    let shell = Shell::new();
    shell.run("gen poisson2d 5 a.wsm -q", 0);
    let good = fs::read(shell.path("a.wsm")).unwrap();
    let changed = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    for (bytes, expected) in [
        (b"nothing of the kind".to_vec(), "bad.wsm: not a binary matrix"),
        (vec![], "bad.wsm: cut short: 0 bytes of at least 128"),
        (good[..good.len() - 1].to_vec(), "bad.wsm: cut short: "),
        (changed(8), "bad.wsm: a binary matrix of version 0, but this program reads version 1"),
        (changed(40), "bad.wsm: damaged: the checksum of the header does not agree"),
        (changed(128), "bad.wsm: damaged: the checksum of the row pointers does not agree"),
        ([&good[..], b"more"].concat(), "bad.wsm: not a valid binary matrix: 4 bytes behind its end"),
    ] {
        fs::write(shell.path("bad.wsm"), bytes).unwrap();
        for line in ["solve bad.wsm --device cpu", "spmv bad.wsm --device cpu", "convert bad.wsm x.mtx"] {
            let (stdout, stderr) = shell.run(line, 1);
            assert!(
                stdout.is_empty() && stderr.starts_with(&format!("error: {expected}")),
                "{line}: {stderr}"
            );
            assert_eq!(stderr.lines().count(), 1, "{stderr}");
        }
    }
    assert!(!shell.path("x.mtx").exists());
    for (line, expected) in [
        ("convert a.wsm a.wsm", "a.wsm is an input"),
        ("convert a.wsm ./a.wsm", "./a.wsm is an input"),
        ("convert a.wsm nowhere/b.mtx", "nowhere/b.mtx is in a folder that does not exist"),
        ("convert missing.mtx b.wsm", "cannot read missing.mtx: No such file"),
        ("convert a.wsm", "<OUT>"),
    ] {
        let (_, stderr) = shell.run(line, 1);
        assert!(stderr.starts_with("error: ") && stderr.contains(expected), "{line}: {stderr}");
    }
    assert_eq!(fs::read(shell.path("a.wsm")).unwrap(), good);
}

#[test]
fn a_matrix_is_not_written_to_stdout() {
    let shell = Shell::new();
    shell.run("gen poisson2d 5 a.wsm -q", 0);
    for line in ["convert a.wsm -", "gen poisson2d 5 -"] {
        let (stdout, stderr) = shell.run(line, 1);
        assert!(stdout.is_empty() && stderr.contains("- is none; name an .mtx, .mtx.gz or .wsm"), "{stderr}");
    }
    assert!(!shell.path("-").exists());
}
