//! `solve`: what it computes, and its exit status.

use std::fs;

use serde_json::Value;
use warpsolve::io::matrix_market::{Symmetry, read_vectors, write_matrix, write_vector, write_vectors};
use warpsolve::matrix::Csr;

use super::{Shell, relative_residual, rhs};

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
fn sweeps_that_make_it_worse_are_named_with_what_helps() {
    let shell = Shell::new();
    for limit in ["", "--max-iter 300"] {
        let line = format!("solve --gen tet:8 --solver jacobi --device cpu {limit}");
        let (stdout, stderr) = shell.run(&line, 2);
        assert!(
            stdout.contains("the iteration diverges") && stdout.contains("a smaller --omega"),
            "{stdout}"
        );
        assert!(stderr.contains("worse than x = 0") && !stderr.contains("singular"), "{stderr}");
        assert_eq!(shell.json(&line, 2)["stop_reason"], "diverged");
    }
    // CG needs a positive definite preconditioner, which an even number of sweeps is not for every weight.
    let line = "solve --gen bidomain:6 --block-size 2 --precond jacobi-sweeps --sweeps 2 --device cpu";
    let (stdout, _) = shell.run(line, 2);
    assert!(stdout.contains("an odd number of --sweeps where it is even, a smaller --omega"), "{stdout}");
    shell.run(&format!("{line} --omega 0.9"), 0);
}

#[test]
fn an_unconverged_solve_exits_with_2_and_writes_everything() {
    let shell = Shell::new();
    shell.run("gen poisson2d 17 a.mtx", 0);
    let a = shell.matrix("a.mtx");
    let report =
        shell.json("solve a.mtx --solver cg --max-iter 5 --device cpu --out x.mtx --history h.csv", 2);
    assert_eq!((&report["stop_reason"], &report["iterations"]), (&"iteration_limit".into(), &5.into()));
    let residual = relative_residual(&a, &shell.vector("x.mtx"), &vec![1.0; a.n_rows()]);
    let reported = report["relative_residual"].as_f64().unwrap();
    assert!((residual - reported).abs() <= 1e-12 * residual, "{residual:e} {reported:e}");
    assert_eq!(fs::read_to_string(shell.path("h.csv")).unwrap().lines().count(), 7);
    let (stdout, _) = shell.run("solve a.mtx --solver cg --max-iter 5 --device cpu", 2);
    assert!(stdout.contains("NOT converged after 5 iterations: iteration limit reached"), "{stdout}");
    let (_, stderr) = shell.run("solve a.mtx --solver cg --max-iter 1 --device cpu --quiet", 2);
    assert_eq!(stderr, "warning: NOT converged after 1 iteration: iteration limit reached\n");
}

#[test]
fn an_indefinite_matrix_stops_cg() {
    let shell = Shell::new();
    shell.file("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 -1\n2 2 -3\n");
    let report = shell.json("solve a.mtx --solver cg --precond none --device cpu", 2);
    assert_eq!(report["stop_reason"], "indefinite_operator");
    assert!(report["stop_message"].as_str().unwrap().contains("--solver minres or gmres"));
    let report = shell.json("solve a.mtx --solver cg --device cpu", 2);
    let message = report["stop_message"].as_str().unwrap();
    assert!(message.contains("--solver gmres") && !message.contains("--precond none"), "{message}");
}

#[test]
fn no_right_hand_side_is_too_large_or_too_small() {
    let shell = Shell::new();
    shell.file("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 3\n");
    let columns = "1\n1\n1e308\n1e308\n1e-300\n1e-300\n3\n3\n";
    shell.file("b.mtx", &format!("%%MatrixMarket matrix array real general\n2 4\n{columns}"));
    for options in ["", "--solver cg", "--solver gmres --precond none", "--precision f32", "--scaling ruiz"] {
        let line = format!("solve a.mtx --rhs b.mtx --out x.mtx --device cpu {options}");
        let report = shell.json(&line, 0);
        for k in 0..4 {
            assert_eq!(report["columns"][k]["method"], report["columns"][0]["method"], "{options}: {report}");
        }
        let x = fs::read_to_string(shell.path("x.mtx")).unwrap();
        let x: Vec<f64> = x.lines().skip(2).map(|line| line.parse().unwrap()).collect();
        for (x, b) in x.chunks(2).zip([1.0, 1e308, 1e-300, 3.0]) {
            assert!(
                (x[0] / b - 0.5).abs() < 1e-7 && (x[1] * (3.0 / b) - 1.0).abs() < 1e-7,
                "{options}: {x:?}"
            );
        }
    }
    // x would be 5e320.
    shell.file("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2e-20\n");
    shell.file("b.mtx", "%%MatrixMarket matrix array real general\n1 1\n1e301\n");
    let report = shell.json("solve a.mtx --rhs b.mtx --out x.mtx --device cpu", 2);
    assert_eq!((&report["stop_reason"], &report["relative_residual"]), (&"out_of_range".into(), &1.0.into()));
    assert_eq!(shell.vector("x.mtx"), [0.0]);
}

#[test]
fn what_vanishes_in_f32_is_named_with_what_helps() {
    let shell = Shell::new();
    shell.file("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 3e-60\n");
    let (_, stderr) = shell.run("solve a.mtx --precision f32 --device cpu", 1);
    assert!(stderr.contains("row 2") && stderr.contains("--precision f64, or --scaling ruiz"), "{stderr}");
    shell.run("solve a.mtx --precision f32 --scaling ruiz --device cpu", 0);
}

#[test]
fn a_restart_that_nothing_uses_is_told() {
    let shell = Shell::new();
    let (_, stderr) = shell.run("solve --gen poisson2d:6 --restart 9 --device cpu -q", 0);
    assert!(stderr.contains("--restart is ignored") && stderr.contains("--solver gmres"), "{stderr}");
    let (_, stderr) = shell.run("solve --gen poisson2d:6 --restart 9 --device cpu -q --solver gmres", 0);
    assert_eq!(stderr, "");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_repeated_solves() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let shell = Shell::new();
    let line = "solve --gen tet:4 --solver cg --device sim --repeat 10000 --out x.mtx";
    for seconds in [1, 4, 16] {
        let mut child = shell.command(line).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(seconds));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let start = Instant::now();
        let code = child.wait().unwrap().code();
        assert!(start.elapsed() < Duration::from_secs(30));
        if code.is_some() {
            assert_eq!(code, Some(130));
            assert_eq!(shell.vector("x.mtx").len(), 48);
            return;
        }
        // It was not iterating yet, and the signal ended it at once.
    }
    panic!("no iteration within 16 s");
}

#[test]
fn multipliers_are_found_or_named() {
    let shell = Shell::new();
    let head = "%%MatrixMarket matrix coordinate real symmetric\n4 4 7\n";
    shell.file("saddle.mtx", &format!("{head}1 1 4\n2 1 -1\n2 2 4\n3 2 -1\n3 3 4\n4 1 1\n4 3 -1\n"));
    shell.file("rows", "4\n");
    for options in ["--precond schur", "--split 3", "--split rows --solver gmres"] {
        let report = shell.json(&format!("solve saddle.mtx --device cpu {options}"), 0);
        assert_eq!((&report["solver"], &report["precond"]), (&"gmres".into(), &"schur".into()));
    }
    for (options, expected) in [
        ("--split 4", "both kinds of the 4"),
        ("--split 3 --precond ilu", "--split goes with --precond schur"),
        ("--split 3 --permute matching", "a permutation of rows does not go with a split"),
        ("--split 3 --reorder rcm", "a reordering does not go with a split"),
        ("--split nothing", "cannot read nothing"),
        ("--precond schur --ranks 2", "schur is for one rank"),
    ] {
        let (_, stderr) = shell.run(&format!("solve saddle.mtx --device cpu {options}"), 1);
        assert!(stderr.contains(expected), "{options}: {stderr}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_factorisation() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let shell = Shell::new();
    // When it begins to factorise, and how long that takes, depends on the machine.
    for seconds in [0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0, 16.0] {
        let line = "solve --gen poisson3d:44 --solver direct --device cpu --out x.mtx";
        let mut child = shell.command(line).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs_f64(seconds));
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let start = Instant::now();
        if child.wait().unwrap().code() == Some(130) {
            assert!(start.elapsed() < Duration::from_secs(5));
            assert_eq!(shell.vector("x.mtx"), vec![0.0; 44 * 44 * 44]);
            return;
        }
        // It was not factorising yet, and the signal ended it at once, or it was done.
    }
    panic!("no factorisation was under way at any of these times");
}

/// The factors of a random graph end in a full matrix, which several threads take apart.
#[test]
fn one_thread_is_enough_for_a_factorisation() {
    let (shell, n) = (Shell::new(), 1500);
    let row = |i: usize| (1..6).map(move |k| (i, (i * (7 * k + 1) * (7 * k + 1) + 131 * k) % n, k as f64));
    let entries = (0..n).flat_map(|i| row(i).chain([(i, i, 7.5)]));
    let a = Csr::from_triplets(n, n, entries).unwrap();
    write_matrix(&shell.path("A.mtx"), &a, Symmetry::General, "").unwrap();
    let report = shell.json("solve A.mtx --solver direct --device cpu --threads 1", 0);
    assert!(report["factorisation"]["entries"].as_u64() > Some(100_000), "{report}");
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
    // What f32 alone misses, restarts from the true residual reach; beyond f64 they do not help.
    let line = "solve --gen poisson2d:40 --precision f32 --device cpu --solver cg -q --rtol";
    let (_, stderr) = shell.run(&format!("{line} 1e-12"), 0);
    assert!(stderr.is_empty(), "{stderr}");
    let (_, stderr) = shell.run(&format!("{line} 1e-17"), 2);
    assert!(stderr.starts_with("warning: NOT converged after ") && stderr.lines().count() == 1, "{stderr}");
    assert!(
        stderr.contains("own residual meets the tolerance, but b - A x, recomputed, does not"),
        "{stderr}"
    );
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
fn jacobi_takes_the_blocks_of_the_nodes() {
    let shell = Shell::new();
    // No diagonal entry, but blocks (0 2; 2 0): a solve that only blocks can do.
    let mut text = String::from("%%MatrixMarket matrix coordinate real general\n12 12 22\n");
    for node in 0..6 {
        let (i, j) = (2 * node + 1, 2 * node + 2);
        text += &format!("{i} {j} 2\n{j} {i} 2\n");
        if node < 5 {
            text += &format!("{i} {} 0.5\n{} {i} 0.5\n", j + 2, j + 2);
        }
    }
    shell.file("a.mtx", &text);
    for device in ["cpu", "sim"] {
        for options in [
            "--solver jacobi",
            "--solver jacobi --omega 0.9",
            "--solver gmres --precond jacobi",
            "--solver gmres --precond jacobi-sweeps --sweeps 3 --omega 0.9",
        ] {
            let report = shell.json(&format!("solve a.mtx --block-size 2 {options} --device {device}"), 0);
            assert!(report["relative_residual"].as_f64().unwrap() < 1.01e-8, "{options}");
            assert!(report["iterations"].as_u64().unwrap() < 60, "{options}");
        }
    }
    let (_, stderr) = shell.run("solve a.mtx --solver jacobi --device cpu", 1);
    assert!(stderr.contains("row 1: the diagonal entry is"), "{stderr}");
    // Blocks (1 2; 2 4) have no inverse; x is what the pseudo-inverse gives where b is in their range.
    shell.file(
        "s.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n4 4 6\n1 1 1\n2 1 2\n2 2 4\n3 3 1\n4 3 2\n4 4 4\n",
    );
    shell.file("b.mtx", "%%MatrixMarket matrix array real general\n4 1\n1\n2\n-3\n-6\n");
    let line = "solve s.mtx --rhs b.mtx --block-size 2 --device cpu --solver jacobi";
    let (_, stderr) = shell.run(line, 1);
    assert!(stderr.contains("node 1 (rows 1 to 2): the diagonal block is singular"), "{stderr}");
    let report = shell.json(&format!("{line} --singular-blocks pseudo-inverse"), 0);
    assert_eq!(report["iterations"], 1);
    let (_, stderr) = shell.run("solve s.mtx --singular-blocks pseudo-inverse", 1);
    assert!(stderr.contains("--singular-blocks goes with --block-size 2 or 3"), "{stderr}");
}

#[test]
fn the_bidomain_equations_are_solved_in_every_format() {
    let shell = Shell::new();
    for options in
        ["", "--precond amg", "--block-size 2 --precond amg --shuffle", "--format bsell2", "--block-size 2"]
    {
        let line = format!("solve --gen bidomain:6 {options} --device cpu");
        let report = shell.json(&line, 0);
        assert!(report["relative_residual"].as_f64().unwrap() < 1.01e-8, "{line}");
        let (stdout, stderr) = shell.run(&line, 0);
        assert!(stderr.contains("its null space has the constants of one unknown of each node"), "{stderr}");
        assert_eq!(stdout.contains(", 2 x 2 blocks"), options.contains("--block-size"), "{stdout}");
    }
    // It diverges: no garbage is written.
    let line =
        "solve --gen bidomain:8 --block-size 2 --solver jacobi --max-iter 2000 --device cpu --out x.mtx";
    let (_, stderr) = shell.run(line, 2);
    assert!(stderr.contains("x = 0"), "{stderr}");
}

#[test]
fn several_right_hand_sides_are_columns_of_an_array_and_so_are_their_solutions() {
    let shell = Shell::new();
    shell.run("gen tet 7 a.mtx", 0);
    let a = shell.matrix("a.mtx");
    let column = |c: usize| rhs(a.n_rows() + 11 * c)[11 * c..].to_vec();
    let b: Vec<Vec<f64>> = (0..3).map(column).collect();
    write_vectors(&shell.path("b.mtx"), &b).unwrap();
    for (options, at_once) in [
        ("--solver cg --device cpu", 3),
        ("--solver cg --precond amg --device cpu", 3),
        ("--solver cg --device sim", 3),
        ("--solver gmres --device cpu", 1),
    ] {
        let report = shell.json(&format!("solve a.mtx --rhs b.mtx --out x.mtx --history h.csv {options}"), 0);
        let x = read_vectors(&shell.path("x.mtx")).unwrap();
        let columns = report["columns"].as_array().unwrap();
        assert_eq!((x.len(), columns.len()), (3, 3), "{options}");
        let mut lines = 1;
        for ((x, b), column) in x.iter().zip(&b).zip(columns) {
            assert!(relative_residual(&a, x, b) <= 1e-8, "{options}");
            assert_eq!((&column["stop_reason"], &column["at_once"]), (&"converged".into(), &at_once.into()));
            assert!(column["relative_residual"].as_f64() <= report["relative_residual"].as_f64());
            lines += 1 + column["iterations"].as_u64().unwrap();
        }
        assert_eq!(fs::read_to_string(shell.path("h.csv")).unwrap().lines().count() as u64, lines);
    }
    let (text, _) = shell.run("solve a.mtx --rhs b.mtx --solver cg --device cpu", 0);
    assert!(text.contains("3 of 3 right-hand sides converged"), "{text}");
    // The first column converges at once, the others do not.
    write_vectors(&shell.path("b.mtx"), &[vec![0.0; a.n_rows()], b[1].clone()]).unwrap();
    let report = shell.json("solve a.mtx --rhs b.mtx --solver cg --max-iter 2 --device cpu", 2);
    let reasons = [&report["stop_reason"], &report["columns"][0]["stop_reason"]];
    assert_eq!(reasons, ["iteration_limit", "converged"]);
}

#[test]
fn a_repeated_solve_tells_where_each_spends_its_time() {
    let shell = Shell::new();
    for options in ["--device cpu --new-values", "--device sim --new-values", "--device cpu"] {
        let report = shell.json(&format!("solve --gen tet:4 --precond amg --repeat 3 {options}"), 0);
        let passes = report["passes"].as_array().unwrap();
        assert_eq!(passes.len(), 3, "{options}");
        for (k, pass) in passes.iter().enumerate() {
            let seconds = |name: &str| pass[format!("{name}_seconds")].as_f64().unwrap();
            let parts = ["upload", "setup", "warm_up", "solve", "download", "check"].map(seconds);
            assert!(parts.iter().all(|&part| part >= 0.0), "{pass}");
            assert!(parts.iter().sum::<f64>() <= 1.01 * seconds("wall"), "{pass}");
            assert!(seconds("solve") > 0.0 && (seconds("setup") > 0.0 || k > 0), "{pass}");
        }
    }
    let (text, _) = shell.run("solve --gen tet:7 --precond amg --repeat 3 --device cpu", 0);
    assert!(text.contains("2 later"), "{text}");
}
