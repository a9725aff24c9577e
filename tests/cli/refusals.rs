//! Bad input and wrong options.

use warpsolve::Format;
use warpsolve::job::{Method, Precond};

use super::{Shell, TRIDIAGONAL};

#[test]
fn malformed_input_is_refused_with_its_place() {
    let shell = Shell::new();
    let head = "%%MatrixMarket matrix coordinate real general\n";
    shell.file("short.mtx", &format!("{head}2 2 3\n1 1 1\n"));
    shell.file("index.mtx", &format!("{head}2 2 2\n1 1 1\n3 2 1\n"));
    shell.file("nan.mtx", &format!("{head}2 2 2\n1 1 nan\n2 2 1\n"));
    shell.file("wide.mtx", &format!("{head}2 3 2\n1 1 1\n2 2 1\n"));
    shell.file("hole.mtx", &format!("{head}2 2 2\n1 1 1\n2 1 1\n"));
    shell.file("empty.mtx", &format!("{head}2 2 2\n1 1 1\n1 2 1\n"));
    shell.file("complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
    shell.file("noise.mtx", "\u{0}\u{1}not a matrix");
    shell.file("ok.mtx", TRIDIAGONAL);
    for (line, expected) in [
        ("missing.mtx", "error: cannot read missing.mtx: No such file"),
        ("tet:8", "(os error 2); the model problem of this name is --gen tet:8"),
        ("short.mtx", "short.mtx:"),
        ("index.mtx", "index.mtx:4: "),
        ("nan.mtx", "nan.mtx:3: "),
        ("wide.mtx", "2 x 3"),
        ("hole.mtx --precond jacobi", "error: row 2: the diagonal entry is missing"),
        (
            "empty.mtx --precond jacobi",
            "row 2 is empty: the matrix is singular, and jacobi divides by its diagonal",
        ),
        (
            "empty.mtx --precond amg",
            "row 2 is empty: the matrix is singular, and amg divides by its diagonal",
        ),
        ("complex.mtx", "complex.mtx:1: complex"),
        ("noise.mtx", "noise.mtx:1: "),
        ("ok.mtx --rhs wide.mtx", "right-hand side has 2 entries, but the matrix has 3 rows"),
        ("ok.mtx --rhs one.mtx", "cannot read one.mtx"),
        ("ok.mtx --rhs two.mtx", "right-hand side has 2 entries, but the matrix has 3 rows"),
        ("ok.mtx --format sell --sigma 7", "sigma"),
        ("--gen tet:99999999", "99999999"),
    ] {
        shell.file("two.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n1\n");
        let (stdout, stderr) = shell.run(&format!("solve {line} --device cpu --out x.mtx"), 1);
        assert!(stderr.starts_with("error: ") && stderr.contains(expected), "{line}: {stderr}");
        assert_eq!(stderr.contains("permutes the rows"), line.starts_with("hole"), "{line}: {stderr}");
        assert_eq!(stderr.matches("No such file").count(), stderr.contains("No such file") as usize);
        assert!(stdout.is_empty() && !shell.path("x.mtx").exists(), "{line}: {stdout}");
    }
}

#[test]
fn wrong_options_are_named_and_exit_with_1() {
    let shell = Shell::new();
    shell.file("a.mtx", TRIDIAGONAL);
    std::fs::create_dir(shell.path("folder")).unwrap();
    let [methods, preconditioners] = [Method::NAMES, Precond::NAMES].map(|names| names.join(", ") + ", auto");
    let formats = [&["--format"], Format::NAMES, &["auto"]].concat();
    for (line, parts) in [
        ("solve", &["A.mtx", "--gen"][..]),
        ("solve a.mtx --gen tet:4", &["--gen"]),
        ("solve a.mtx --shuffle", &["--shuffle", "A.mtx"]),
        ("solve --gen tett:4", &["did you mean 'tet'"]),
        ("solve a.mtx --rtol -1", &["--rtol", "finite number, 0 or more"]),
        ("solve a.mtx --rtol=-1", &["--rtol", "finite number, 0 or more"]),
        ("solve a.mtx --rtol nan", &["--rtol", "finite number, 0 or more"]),
        ("solve a.mtx --atol inf", &["--atol", "finite number, 0 or more"]),
        ("solve a.mtx --rtol 0", &["--rtol 0", "--atol above 0"]),
        ("solve a.mtx --max-iter 0", &["--max-iter", "1..=10000000"]),
        ("solve a.mtx --restart 0", &["--restart", "1 to 1024, or none"]),
        ("solve a.mtx --restart 9 --solver cg", &["--restart goes with --solver gmres"]),
        ("solve a.mtx --omega 2", &["--omega", "between 0 and 2"]),
        ("solve a.mtx --omega 1", &["--omega goes with --solver jacobi or --precond jacobi-sweeps"]),
        ("solve a.mtx --sweeps 3", &["--sweeps goes with --precond jacobi-sweeps"]),
        ("solve a.mtx --precond jacobi-sweeps --sweeps 0", &["--sweeps", "1..=1000"]),
        ("solve a.mtx --sigma 32", &["--sigma goes with --format sell"]),
        ("solve a.mtx --solver lu", &["--solver", &methods]),
        ("solve a.mtx --precond ssor", &["--precond", &preconditioners]),
        ("solve a.mtx --format coo", &formats),
        ("solve a.mtx --precision f16", &["--precision", "f32, f64"]),
        ("solve a.mtx --device gpu", &["--device", "auto, cpu, cuda, cuda:N", "cuda:all", "sim"]),
        ("solve a.mtx --threads 0", &["--threads", "1..=4096"]),
        ("solve a.mtx --out a.mtx", &["a.mtx is an input"]),
        ("solve a.mtx --out x.mtx --json x.mtx", &["x.mtx is named twice"]),
        ("solve a.mtx --out nowhere/x.mtx", &["nowhere/x.mtx is in a folder that does not exist"]),
        ("solve a.mtx --out folder", &["folder is a folder"]),
        ("solve a.mtx --out x.wsm", &["--out x.wsm", ".mtx.gz"]),
        ("solve a.mtx --out -", &["--out -", ".mtx.gz"]),
        ("solve a.mtx --new-values", &["--repeat"]),
        ("solve a.mtx --block-size 2", &["3 rows are not whole blocks of 2"]),
        ("solve a.mtx --partition rcm", &["--partition goes with --ranks"]),
        ("solve a.mtx --coordinates a.mtx --block-size 3", &["--block-size does not go with --coordinates"]),
        ("solve a.mtx --solver direct --precond jacobi", &["direct takes no preconditioner", "jacobi"]),
        ("bench dot --amg cycle=w", &["--amg and --preset go with a table that has multigrid"]),
        ("bench cg --rtol 0", &["--rtol 0 is no tolerance"]),
        ("solve a.mtx --threads 4096", &["4096 threads on", "use --threads"]),
        ("solve a.mtx -q -v", &["--quiet"]),
        ("gen tet 1 b.mtx", &["at least 2"]),
        ("gen tet 9 nowhere/b.mtx", &["nowhere/b.mtx is in a folder that does not exist"]),
        ("spmv a.mtx --json a.mtx", &["a.mtx is an input"]),
        ("example vadd 9 --device cpu --json nowhere/r", &["nowhere/r is in a folder that does not exist"]),
        ("gen cube 9 b.mtx", &["unknown problem 'cube'"]),
        ("spmv a.mtx --repeat 0", &["--repeat"]),
        ("spmv a.mtx --format crs,coo", &["--format", "coo"]),
        ("frobnicate", &["frobnicate"]),
    ] {
        let (stdout, stderr) = shell.run(line, 1);
        assert!(stdout.is_empty(), "{line}: {stdout}");
        for part in parts {
            assert!(stderr.contains(part), "{line}: {part:?} is not in\n{stderr}");
        }
    }
    let metis = "solve a.mtx --ranks 2 --partition metis --solver cg";
    if cfg!(feature = "metis") {
        assert!(shell.run(metis, 0).0.contains("ranks         2 of 0 to 3 rows, metis"));
    } else {
        assert!(shell.run(metis, 1).1.contains("cargo install --path . --features metis"));
    }
    let (stdout, _) = shell.run("--version", 0);
    assert_eq!(stdout, format!("warpsolve {}\n", env!("CARGO_PKG_VERSION")));
    for line in ["--help", "solve --help", "gen --help", "spmv --help", "info --help"] {
        assert!(shell.run(line, 0).0.contains("Usage: warpsolve"), "{line}");
    }
}

#[test]
fn without_a_command_it_says_what_to_try() {
    let shell = Shell::new();
    let (stdout, stderr) = shell.run("", 0);
    assert!(stderr.is_empty(), "{stderr}");
    for command in ["warpsolve info", "warpsolve solve --gen", "warpsolve solve A.mtx", "warpsolve --help"] {
        assert!(stdout.contains(command), "{command:?} is not in\n{stdout}");
    }
}
