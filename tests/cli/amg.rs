//! `solve --precond amg`: its options and what is reported of the hierarchy.

use std::fmt::Write;

use serde_json::Value;
use warpsolve::precond::amg::{Coarsening, SmootherKind};

use super::{Shell, relative_residual, rhs, undocumented};

#[test]
fn the_hierarchy_is_reported() {
    let shell = Shell::new();
    let (help, _) = shell.run("solve --help", 0);
    for (device, size) in [("cpu", "8"), ("sim", "4")] {
        let line = format!("solve --gen tet:{size} --amg coarse_rows=10,max_levels=3 --device {device}");
        let report = shell.json(&line, 0);
        assert_eq!(report["precond"], "amg");
        let amg = &report["amg"];
        assert_eq!(undocumented(amg), [""; 0]);
        let documented = |key: &String| help.contains(&format!("\n            {key}: "));
        assert!(amg["parameters"].as_object().unwrap().keys().all(documented), "{help}");
        assert_eq!(amg["parameters"]["coarse_rows"], 10);
        assert_eq!(amg["parameters"]["coarsening"], "sa");
        assert_eq!(amg["parameters"]["omega"], Value::Null);
        assert_eq!(amg["hierarchy_precision"], "f32");

        let levels = amg["levels"].as_array().unwrap();
        assert!((2..=3).contains(&levels.len()), "{amg}");
        assert_eq!((&levels[0]["rows"], &levels[0]["nonzeros"]), (&report["rows"], &report["nonzeros"]));
        for (key, complexity) in [("rows", "grid_complexity"), ("nonzeros", "operator_complexity")] {
            let counts: Vec<f64> = levels.iter().map(|level| level[key].as_f64().unwrap()).collect();
            assert!(counts.is_sorted_by(|fine, coarse| fine > coarse), "{key}: {counts:?}");
            let expected = counts.iter().sum::<f64>() / counts[0];
            assert!((amg[complexity].as_f64().unwrap() - expected).abs() < 1e-12, "{complexity}");
        }
        for level in levels {
            assert_eq!(undocumented(level), [""; 0]);
            assert!(level["bytes"].as_u64().unwrap() > 4 * level["nonzeros"].as_u64().unwrap());
        }
        let phases = amg["phases"].as_array().unwrap();
        let seconds: f64 = phases.iter().map(|phase| phase["seconds"].as_f64().unwrap()).sum();
        assert!(phases.iter().any(|phase| phase["phase"] == "Galerkin product"), "{amg}");
        assert!(seconds > 0.0 && seconds <= report["setup_seconds"].as_f64().unwrap());
        assert_eq!(undocumented(&phases[0]), [""; 0]);

        // A product of A, 9 vectors and a cycle without its 2 passes between number types in every iteration.
        let [rows, nonzeros, iterations, cycle] =
            [&report["rows"], &report["nonzeros"], &report["iterations"], &amg["cycle_bytes"]]
                .map(|value| value.as_u64().unwrap());
        let (in_crs, vectors) = (12 * nonzeros + 4 * rows, (2 + 7) * 8 * rows);
        let moved = report["bytes_moved"].as_u64().unwrap();
        if report["format"] == "diagonal runs" {
            let runs = moved / iterations - vectors - cycle;
            assert!(device == "cpu" && 2 * runs > in_crs && runs < in_crs, "{runs} of {in_crs}");
        } else {
            assert_eq!(moved, iterations * (in_crs + vectors + cycle));
        }
        // Before and after the coarser level two sweeps each, of which the first from zero needs no matrix.
        let compressed = levels[0]["compressed"].as_bool().unwrap();
        assert!(device == "sim" || !compressed);
        assert!(cycle > 4 * if compressed { 4 } else { 8 } * nonzeros);
        if device == "cpu" {
            let held: u64 = levels.iter().map(|level| level["bytes"].as_u64().unwrap()).sum();
            assert!(report["device_bytes"].as_u64().unwrap() > held);
        }

        let (text, _) = shell.run(&line, 0);
        let complexity = amg["operator_complexity"].as_f64().unwrap();
        let count = levels.len();
        let summary = format!(
            "amg           sa, chebyshev, V-cycle, {count} levels, f32, operator complexity {complexity:.2}\n"
        );
        assert!(text.contains(&summary) && !text.contains("Galerkin"), "{summary}\n{text}");
        assert!(text.contains("solver        CG, AMG preconditioner, f64\n"), "{text}");
        let (text, _) = shell.run(&format!("{line} -v"), 0);
        let grid = amg["grid_complexity"].as_f64().unwrap();
        let complexities =
            format!(" grid complexity {grid:.2}, operator complexity {complexity:.2}, in f32\n");
        let lines: Vec<&str> = text.lines().collect();
        let heading = lines.iter().position(|line| line.starts_with("hierarchy     level ")).unwrap();
        for (l, level) in levels.iter().enumerate() {
            let fields: Vec<&str> = lines[heading + 1 + l].split_whitespace().collect();
            let [rows, nonzeros] = ["rows", "nonzeros"].map(|key| level[key].as_u64().unwrap());
            let a_row = format!("{:.1}", nonzeros as f64 / rows as f64);
            let numbers = [fields[0], &fields[1].replace(',', ""), &fields[2].replace(',', ""), fields[3]];
            assert_eq!(numbers, [&l.to_string(), &rows.to_string(), &nonzeros.to_string(), &a_row]);
        }
        for part in [summary.as_str(), &complexities, "its set-up    phase ", "Galerkin product ", " ms\n"] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
    }
}

#[test]
fn the_options_of_amg_imply_it_and_arrive() {
    let shell = Shell::new();
    shell.run("gen tet 7 a.mtx", 0);
    let a = shell.matrix("a.mtx");
    let b = vec![1.0; a.n_rows()];
    for (options, key, value) in [
        ("--coarsening mandel-brezina", "coarsening", "mandel-brezina"),
        ("--smoother spai0", "smoother", "spai0"),
        ("--cycle k --solver gmres --amg precision=f64", "cycle", "k"),
        ("--amg cycle=w,setup=host --precond amg", "cycle", "w"),
        ("--precond auto --amg pre=2 --amg smoother=l1-jacobi", "smoother", "l1-jacobi"),
        ("--amg coarsening=pmis --solver bicgstab", "coarsening", "pmis"),
    ] {
        let report = shell.json(&format!("solve a.mtx {options} --device cpu --out x.mtx"), 0);
        assert_eq!(report["precond"], "amg", "{options}");
        assert_eq!(report["amg"]["parameters"][key], value, "{options}");
        let residual = relative_residual(&a, &shell.vector("x.mtx"), &b);
        assert!(residual <= 1e-7, "{options}: {residual:e}");
    }
    for (options, precision) in [
        ("precision=f64", "f64"),
        ("precision=f32", "f32"),
        ("precision=f64 --precision f32 --rtol 1e-4", "f32"),
    ] {
        let report = shell.json(&format!("solve a.mtx --amg {options} --device cpu"), 0);
        assert_eq!(report["amg"]["hierarchy_precision"], precision, "{options}");
    }
    let report = shell.json("solve a.mtx --solver cg --device cpu", 0);
    assert_eq!((&report["precond"], &report["amg"]), (&"jacobi".into(), &Value::Null));
    let report = shell.json("solve a.mtx --cycle auto --device cpu", 0);
    assert_eq!((&report["precond"], &report["amg"]["parameters"]["cycle"]), (&"amg".into(), &Value::Null));
}

#[test]
fn wrong_options_of_amg_are_refused_with_advice() {
    let shell = Shell::new();
    let [smoothers, coarsenings] =
        [SmootherKind::NAMES, Coarsening::NAMES].map(|names| format!("there are {}", names.join(", ")));
    for (options, parts) in [
        (
            "--amg smother=jacobi",
            &["unknown key 'smother'; did you mean 'smoother'?", ", setup, compressed, precision"][..],
        ),
        ("--amg precison=f64", &["did you mean 'precision'?"]),
        ("--amg xyzzy", &["unknown key 'xyzzy'; there are coarsening, "]),
        ("--amg pre=1,,post=1", &["a parameter is empty; each is key=value, such as pre=2"]),
        ("--amg=", &["a parameter is empty; each is key=value, such as pre=2"]),
        ("--amg =2", &["unknown key ''; there are"]),
        ("--amg pre", &["pre lacks its value, pre=VALUE; it takes a whole number up to 100"]),
        (
            "--amg lanczos_steps=2",
            &["lanczos_steps takes a whole number from 4 to 100, or 0 for Gershgorin's bound"],
        ),
        ("--amg smoother=chebychev", &["unknown smoother 'chebychev'; did you mean 'chebyshev'?"]),
        ("--smoother spai", &["--smoother", "did you mean 'spai0'?", &smoothers]),
        ("--coarsening pmsi", &["--coarsening", "did you mean 'pmis'?", &coarsenings]),
        ("--coarsening mandel", &["did you mean 'mandel-brezina'?"]),
        ("--amg lanczos=3", &["unknown key 'lanczos'; did you mean 'lanczos_steps'?"]),
        ("--cycle x", &["--cycle", "unknown cycle 'x'; there are v, w, f, k, auto"]),
        ("--amg precision=f16", &["unknown precision 'f16'", "f32, f64"]),
        ("--precond agm", &["did you mean 'amg'?"]),
        ("--amg omega=2", &["omega takes a number between 0 and 2, both excluded"]),
        ("--amg omega=0", &["omega takes a number between 0 and 2, both excluded"]),
        ("--amg degree=0", &["degree takes a whole number from 1 to 32"]),
        ("--amg pre=0,post=0", &["pre and post are both 0"]),
        ("--amg strength=-0.1", &["strength takes a number of at least 0"]),
        ("--amg strength=nan", &["strength takes a number of at least 0"]),
        ("--amg coarse_rows=0", &["coarse_rows takes a whole number from 1 to 4096"]),
        ("--amg coarse_rows=4097", &["coarse_rows takes a whole number from 1 to 4096"]),
        ("--amg max_levels=0", &["max_levels takes a whole number from 1 to 64"]),
        ("--amg pre=1.5", &["pre takes a whole number"]),
        (
            "--precond jacobi --cycle w",
            &["cycle is a parameter of the preconditioner amg, but the preconditioner is jacobi"],
        ),
        (
            "--precond none --amg pre=2",
            &["pre is a parameter of the preconditioner amg, but the preconditioner is none"],
        ),
        ("--smoother spai0 --amg smoother=jacobi", &["smoother is given twice"]),
        ("--solver jacobi --precond amg", &["the Jacobi method takes no preconditioner"]),
    ] {
        let (stdout, stderr) = shell.run(&format!("solve --gen tet:4 {options} --device cpu"), 1);
        assert!(stdout.is_empty() && stderr.starts_with("error: "), "{options}: {stdout}{stderr}");
        for part in parts {
            assert!(stderr.contains(part), "{options}: {part:?} is not in\n{stderr}");
        }
    }
    let (help, _) = shell.run("solve --help", 0);
    for part in
        ["none, jacobi, jacobi-sweeps", "coarse_rows: a whole number from 1 to 4096", "precision: f32 or f64"]
    {
        assert!(help.contains(part), "{part:?} is not in\n{help}");
    }
}

#[test]
fn a_hierarchy_in_f32_that_fails_is_made_anew_in_f64() {
    // Minus the Laplacian with Neumann conditions on a grid, plus 1e-11: f32 does not see that.
    const N: usize = 24;
    let mut lower = String::new();
    let mut entries = 0;
    for i in 0..N * N {
        let neighbours = [i % N > 0, i % N + 1 < N, i >= N, i + N < N * N];
        let degree = neighbours.iter().filter(|is| **is).count();
        let _ = writeln!(lower, "{} {} {:?}", i + 1, i + 1, degree as f64 + 1e-11);
        for j in [(i % N > 0).then(|| i - 1), i.checked_sub(N)].into_iter().flatten() {
            let _ = writeln!(lower, "{} {} -1", i + 1, j + 1);
        }
        entries += 1 + usize::from(i % N > 0) + usize::from(i >= N);
    }
    let n = N * N;
    let shell = Shell::new();
    shell.file(
        "a.mtx",
        &format!("%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {entries}\n{lower}"),
    );
    let b: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    warpsolve::io::matrix_market::write_vector(&shell.path("b.mtx"), &b).unwrap();

    let line = "solve a.mtx --rhs b.mtx --solver cg --precond amg --device cpu --max-iter 50 --out x.mtx";
    let report = shell.json(line, 0);
    assert_eq!(report["amg"]["hierarchy_precision"], "f64", "{report}");
    let residual = relative_residual(&shell.matrix("a.mtx"), &shell.vector("x.mtx"), &b);
    assert!(residual <= 1e-7, "{residual:e}");
    let warnings: Vec<&str> =
        report["warnings"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("with a hierarchy in f32 the solver stopped in iteration "),
        "{warnings:?}"
    );
    assert!(warnings[0].contains("once more with one in f64"), "{warnings:?}");
    // What was asked for is kept, and what could be asked for is said.
    let (_, stderr) = shell.run(&format!("{line} --amg precision=f32 -q"), 2);
    assert!(stderr.contains("in f32, as asked; try --amg precision=f64\n"), "{stderr}");
    let report = shell.json(&format!("{line} --amg precision=f64"), 0);
    assert_eq!(report["warnings"].as_array().unwrap().len(), 0);
}

#[test]
fn what_has_no_effect_or_a_bad_one_is_warned_of() {
    let shell = Shell::new();
    let ignored = |key: &str, by: &str| format!("warning: AMG's {key} is ignored: it goes with {by}\n");
    for (options, expected) in [
        ("--amg degree=3,smoother=jacobi", ignored("degree", "smoother=chebyshev")),
        ("--amg aggressive=1", ignored("aggressive", "coarsening=pmis")),
        ("--amg omega=auto,degree=3", String::new()),
        ("--amg compressed=false,precision=f64", String::new()),
        ("--amg compressed=true,precision=f64", ignored("compressed", "precision=f32 and without blocks")),
        ("--coarsening pmis --amg aggressive=1,splitting=greedy", ignored("splitting", "coarsening=mandel-brezina")),
        (
            "--amg precision=f64 --precision f32 --rtol 1e-4",
            "warning: AMG's precision is ignored: f64 goes with --precision f64\n".into(),
        ),
        (
            "--amg pre=2",
            "warning: with pre = 2 and post = 1 the multigrid preconditioner is not symmetric; CG needs a symmetric one, \
             with pre = post; use --solver gmres or bicgstab\n"
                .into(),
        ),
        ("--amg pre=2 --solver gmres", String::new()),
        ("--amg pre=2 --solver amg", String::new()),
        ("--amg pre=2,post=2", String::new()),
    ] {
        let (_, stderr) = shell.run(&format!("solve --gen tet:5 {options} --device cpu -q"), 0);
        assert_eq!(stderr, expected, "{options}");
    }
    shell.file("c.toml", "[amg]\ndegree = 4\nsmoother = \"spai0\"\n");
    let (_, stderr) = shell.run("solve --gen tet:5 --config c.toml --device cpu -q", 0);
    assert_eq!(stderr, ignored("degree", "smoother=chebyshev"));
}

#[test]
fn a_singular_matrix_is_named_and_leaves_no_exploded_solution() {
    let shell = Shell::new();
    // A chain with fluxes to both sides: 1^T A = 0, A 1 is not 0.
    let mut text = String::new();
    let n = 30;
    for i in 1..n {
        let (forth, back) = (1.0 + 0.3 * (i as f64).sin(), 0.4 + 0.1 * (i as f64).cos());
        let _ = writeln!(text, "{i} {i} {forth}\n{} {i} {:?}", i + 1, -forth);
        let _ = writeln!(text, "{} {} {back}\n{i} {} {:?}", i + 1, i + 1, i + 1, -back);
    }
    let entries = 4 * (n - 1);
    shell.file("a.mtx", &format!("%%MatrixMarket matrix coordinate real general\n{n} {n} {entries}\n{text}"));
    let a = shell.matrix("a.mtx");
    warpsolve::io::matrix_market::write_vector(&shell.path("b.mtx"), &rhs(n)).unwrap();
    for options in [
        "--solver gmres",
        "--solver gmres --restart 5",
        "--solver gmres --precond amg",
        "--solver bicgstab",
        "--solver bicgstab --precond amg",
    ] {
        let line = format!("solve a.mtx --rhs b.mtx {options} --device cpu --max-iter 500 --out x.mtx");
        let report = shell.json(&line, 2);
        let warnings = report["warnings"].to_string();
        assert!(
            warnings.contains("the entries of every column add up to 0: there is no solution"),
            "{warnings}"
        );
        let x = shell.vector("x.mtx");
        assert!(x.iter().all(|v| v.is_finite()));
        let residual = relative_residual(&a, &x, &rhs(n));
        let reported = report["relative_residual"].as_f64().unwrap();
        assert!((residual - reported).abs() <= 1e-9 * residual, "{options}: {residual:e} {reported:e}");
        // A method that fails, other than by its iteration limit, leaves no x worse than 0.
        let cut_short = report["stop_reason"] == "iteration_limit";
        assert!(residual <= 1.0 || cut_short, "{options}: {residual:e}");
        assert!(residual <= 2.0 || options.contains("bicgstab"), "{options}: {residual:e}");
    }
    // -1, 2 - 1, ..., 2, -1 with rows and columns scaled: singular, but the null vector is not constant.
    let mut text = String::new();
    let d = |i: usize| 1.0 + (i as f64 * 0.7310585786).fract();
    for i in 0..n {
        let degree = if i == 0 || i + 1 == n { 1.0 } else { 2.0 };
        let _ = writeln!(text, "{} {} {:?}", i + 1, i + 1, degree * d(i) * d(i));
        if i > 0 {
            let _ = writeln!(text, "{} {i} {:?}", i + 1, -d(i) * d(i - 1));
        }
    }
    shell.file(
        "s.mtx",
        &format!("%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {}\n{text}", 2 * n - 1),
    );
    for options in ["--precond jacobi", "--precond amg"] {
        let report = shell.json(&format!("solve s.mtx --solver cg {options} --device cpu --out x.mtx"), 2);
        let residual = relative_residual(&shell.matrix("s.mtx"), &shell.vector("x.mtx"), &vec![1.0; n]);
        assert!(residual <= 1.0, "{options}: {residual:e}");
        let returns_zero = report["warnings"].to_string().contains("worse than x = 0, which is returned");
        assert_eq!(returns_zero, shell.vector("x.mtx") == vec![0.0; n], "{options}: {report}");
        // Without a multigrid hierarchy, whose M is singular too, (p, A p) is what vanishes first.
        assert!(returns_zero || options.contains("amg"), "{report}");
    }
}

/// The guide's table of keys is what is declared.
#[test]
fn the_guide_has_every_key() {
    use warpsolve::precond::{Key, amg, ilu};
    fn row<P>(key: Key<P>) -> String {
        format!("| `{}` | {} | {} | {} |", key.name, key.takes, (key.default)(), key.doc())
    }
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guide/solve.md")).unwrap();
    for row in amg::Params::KEYS.map(row).into_iter().chain(ilu::Params::KEYS.map(row)) {
        assert!(guide.lines().any(|line| line == row), "docs/guide/solve.md lacks the line\n{row}");
    }
}
