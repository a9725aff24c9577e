//! `--profile` and `--profile-trace`.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;

use serde_json::Value;

use super::{Shell, TRIDIAGONAL, undocumented};

/// Launches of each kernel, as the table of `--profile` has them.
fn table(text: &str) -> BTreeMap<String, u64> {
    let rows = text.lines().skip_while(|line| !line.starts_with("kernel ")).skip(1);
    let row = |line: &str| {
        let mut cells = line.split_whitespace();
        let name = cells.next().unwrap().to_string();
        (name, cells.next().unwrap().replace(',', "").parse().unwrap())
    };
    rows.take_while(|line| !line.is_empty()).map(row).collect()
}

#[test]
fn notices_are_of_every_launch_and_copy() {
    let shell = Shell::new();
    let line = "solve --gen tet:5 --solver cg --precond jacobi --device sim -q --json r.json";
    let count = |stderr: &str, start: &str| stderr.lines().filter(|line| line.starts_with(start)).count();
    let (_, silent) = shell.run(line, 0);
    assert!(!silent.contains("launch kernel") && !silent.contains("upload data"), "{silent}");
    let (text, stderr) = shell.run(&format!("{line} --notify all --profile"), 0);
    let launches: u64 = table(&text).values().sum();
    assert_eq!(count(&stderr, "launch kernel  file="), launches as usize, "{stderr}");
    let place = "file=host/src/solver/cg/mod.rs";
    let of_cg = stderr.lines().find(|line| line.contains("kernel=cg_step_f64_f64")).unwrap();
    assert!(of_cg.contains(place) && of_cg.contains("grid=1 block=256"), "{of_cg}");
    let product = stderr.lines().find(|line| line.contains("product_dot")).unwrap();
    assert!(product.contains(place), "{product}");
    assert!(stderr.contains("type=f64 elements=") && count(&stderr, "download data") > 0, "{stderr}");
    let (_, copies) = shell.run(&format!("{line} --notify copies"), 0);
    assert_eq!((count(&copies, "launch"), count(&copies, "upload")), (0, count(&stderr, "upload")));
    let (_, refused) = shell.run("spmv --gen tet:3 --device sim --notify lunches", 1);
    assert!(refused.contains("did you mean 'launches'"), "{refused}");
    let (_, stderr) = shell.run("spmv --gen tet:3 --device cpu --notify all", 0);
    assert!(stderr.contains("warning: no notices: the CPU runs no kernels"), "{stderr}");
}

#[test]
fn notices_that_nobody_reads_stop_nothing() {
    let shell = Shell::new();
    let mut command = shell.command("spmv --gen tet:3 --device sim --repeat 1 --notify all");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert!(child.wait().unwrap().success());
}

/// Launches of each kernel, as the events of a trace have them.
fn events(trace: &Value) -> BTreeMap<String, u64> {
    let mut launches = BTreeMap::new();
    for event in trace["traceEvents"].as_array().unwrap() {
        if event["cat"] == "kernel" {
            *launches.entry(event["name"].as_str().unwrap().to_string()).or_default() += 1;
        }
    }
    launches
}

/// Launches of each kernel, as the profile in a trace has them.
fn summary(trace: &Value) -> BTreeMap<String, u64> {
    let kernels = trace["profiles"].as_array().unwrap().iter().flat_map(|p| p["kernels"].as_array().unwrap());
    let launches = |k: &Value| (k["name"].as_str().unwrap().to_string(), k["launches"].as_u64().unwrap());
    kernels.map(launches).collect()
}

fn trace(shell: &Shell) -> Value {
    serde_json::from_str(&fs::read_to_string(shell.path("t.json")).unwrap()).unwrap()
}

#[test]
fn every_launch_is_in_the_table_and_in_the_trace() {
    let shell = Shell::new();
    let slab = "--slab 4,2,2 --spacing 1 --t-end 0.2 --dt 0.1";
    for (line, kernels) in [
        (
            "solve --gen tet:8 --precond amg --device sim",
            &["spmv_", "strong_entries_f64_", "cg_step_f64"][..],
        ),
        (
            "solve --gen tet:5 --solver gmres --restart 4 --device sim",
            &["gram_schmidt_f64_8", "gmres_rotate"],
        ),
        ("spmv --gen tet:5 --device sim --format sell --repeat 2", &["spmv_sell_f64_indices16_product"]),
        ("example heat 30 4 --device sim", &["stencil_4"]),
        (&format!("monodomain {slab} --device sim"), &["react_ten_tusscher", "activate"]),
    ] {
        let (text, stderr) = shell.run(&format!("{line} --profile --profile-trace t.json"), 0);
        assert_eq!(stderr, "", "{line}");
        let (trace, table) = (trace(&shell), table(&text));
        assert!(table == summary(&trace) && table == events(&trace), "{line}: {text}");
        for name in kernels {
            assert!(table.keys().any(|kernel| kernel.starts_with(name)), "{line}: no {name} in\n{text}");
        }
        // The profile is behind the report.
        assert!(text.find("\nprofile       simulator: ").is_some_and(|at| at > 0), "{text}");
        let (plain, _) = shell.run(line, 0);
        assert!(!plain.contains("profile"), "{plain}");
    }
}

#[test]
fn a_trace_is_as_it_is_described() {
    let shell = Shell::new();
    shell.run("example heat 30 4 --device sim --profile-trace t.json", 0);
    let trace = trace(&shell);
    assert_eq!((&trace["schema"], &trace["left_out"]), (&"warpsolve.trace/1".into(), &0.into()));
    let profile = &trace["profiles"][0];
    let kernel = &profile["kernels"][0];
    for object in [&trace, profile, kernel, &profile["uploads"]] {
        assert_eq!(undocumented(object), [""; 0]);
    }
    // A sweep to warm up and 4 steps, each of which reads and writes every point.
    assert_eq!((&kernel["name"], &kernel["launches"]), (&"stencil_4".into(), &5.into()));
    assert_eq!(kernel["bytes"], 5 * 2 * 8 * 30 * 30);
    let events = trace["traceEvents"].as_array().unwrap();
    let (mut ends, mut busy) = (0.0, 0.0);
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let (ts, dur) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
        assert!(dur >= 0.0 && ts >= ends - 1e-3, "{event}");
        ends = ts + dur;
        busy += dur;
    }
    assert!(busy > 0.0, "no time was measured");
    let uploaded = events.iter().filter(|event| event["name"] == "to the device");
    let bytes: u64 = uploaded.map(|event| event["args"]["bytes"].as_u64().unwrap()).sum();
    assert_eq!(profile["uploads"]["bytes"], bytes);
    assert!(bytes > 0);
    let memory = events.iter().filter(|event| event["ph"] == "C");
    let most = memory.map(|event| event["args"]["bytes"].as_u64().unwrap()).max();
    assert_eq!(profile["peak_bytes"].as_u64(), most);
    assert!(most > Some(2 * 8 * 30 * 30), "{most:?} bytes, but there are two vectors");
}

#[test]
fn each_device_has_its_own() {
    let shell = Shell::new();
    let line =
        "spmv --gen tet:5 --device sim,cpu,sim --format sell --repeat 2 --profile --profile-trace t.json";
    let (text, _) = shell.run(line, 0);
    assert_eq!(text.matches("\nprofile       simulator: ").count(), 2, "{text}");
    let trace = trace(&shell);
    assert_eq!(trace["profiles"].as_array().unwrap().len(), 2);
    for pid in [1, 2] {
        let events = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["pid"] == pid);
        assert!(events.filter(|event| event["cat"] == "kernel").count() > 2);
    }
}

#[test]
fn reports_for_programs_stay_what_they_are() {
    let shell = Shell::new();
    shell.file("a.mtx", TRIDIAGONAL);
    let (stdout, stderr) = shell.run("solve a.mtx --solver cg --device sim --json - --profile", 0);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (&report["schema"], &report["stop_reason"]),
        (&"warpsolve.solve/2".into(), &"converged".into())
    );
    assert!(table(&stderr).contains_key("cg_step_f64_f64"), "{stderr}");
}

#[test]
fn a_run_that_fails_shows_what_it_did() {
    let shell = Shell::new();
    // Solutions overflow: found when the factors are tried, after the matrix was moved.
    let entries: String = (1..60).map(|i| format!("{i} {i} 1e-8\n{i} {} 1\n", i + 1)).collect();
    let head = "%%MatrixMarket matrix coordinate real general\n60 60 119\n60 60 1e-8\n";
    shell.file("a.mtx", &format!("{head}{entries}"));
    let options = "--solver direct --device sim --profile --profile-trace t.json";
    let (stdout, stderr) = shell.run(&format!("solve a.mtx {options}"), 1);
    assert!(stderr.contains("overflow f64"), "{stderr}");
    assert!(stdout.contains("\nprofile       simulator: "), "{stdout}");
    assert!(trace(&shell)["profiles"][0]["uploads"]["count"].as_u64() > Some(1));
}

#[test]
fn what_cannot_be_profiled_is_said_at_once() {
    let shell = Shell::new();
    shell.file("a.mtx", TRIDIAGONAL);
    fs::create_dir(shell.path("folder.json")).unwrap();
    for (line, part) in [
        ("gen tet 3 b.mtx --profile", "unexpected argument '--profile' found"),
        ("info --profile-trace t.json", "unexpected argument '--profile-trace' found"),
        ("solve a.mtx --device sim --profile-trace nowhere/t.json", "cannot create nowhere/t.json"),
        ("solve a.mtx --device sim --profile-trace folder.json", "cannot write folder.json"),
        ("solve a.mtx --device sim --profile-trace a.mtx", "a.mtx does not end in .json"),
        ("solve a.mtx --device sim --profile-trace r.json --json r.json", "has the name of the report"),
        ("solve a.mtx --device sim --profile-trace s.json --config s.json", "has the name of the settings"),
    ] {
        let (stdout, stderr) = shell.run(line, 1);
        assert!(stdout.is_empty() && stderr.contains(part), "{line}: {stdout}{stderr}");
    }
    assert!(!shell.path("b.mtx").exists() && !shell.path("t.json").exists());
    let (stdout, stderr) = shell.run("example pi 100 --device cpu --profile", 0);
    assert!(!stdout.contains("profile") && stderr.contains("use --device cuda or sim"), "{stdout}{stderr}");
}
