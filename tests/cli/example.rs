//! The small programs.

use serde_json::Value;

use super::{Shell, undocumented};

fn figure(report: &Value, name: &str) -> f64 {
    report["figures"][name].as_f64().unwrap_or_else(|| panic!("no {name}: {report}"))
}

#[test]
fn every_program_is_right_on_cpu_and_simulator() {
    let shell = Shell::new();
    for (line, exact, close) in [
        ("vadd 1001", &["wrong"][..], &[][..]),
        ("pi 1001", &[], &["pi"]),
        ("heat 37 5", &["r", "l2_error"], &[]),
        ("laplace 17", &["steps", "change"], &[]),
        ("gram-schmidt 21", &[], &[]),
        ("modified-gram-schmidt 21 19", &["differ"], &[]),
        ("heat 37 5 --loops as-written", &["r", "l2_error"], &[]),
        ("laplace 17 --lines 50", &["steps", "change"], &[]),
        ("jacobi-dense 21", &["steps"], &[]),
        ("jacobi-grid 41", &["steps", "change", "difference"], &[]),
    ] {
        let [cpu, sim] =
            ["cpu", "sim"].map(|device| shell.json(&format!("example {line} --device {device}"), 0));
        for report in [&cpu, &sim] {
            assert_eq!(report["schema"], "warpsolve.example/1");
            assert_eq!(report["correct"], true, "{report}");
            assert_eq!(undocumented(report), [""; 0]);
            for timing in report["timings"].as_array().unwrap() {
                assert!(timing["seconds"].as_f64().unwrap() > 0.0, "{report}");
                assert_eq!(undocumented(timing), [""; 0]);
            }
        }
        assert_eq!((&cpu["device_kind"], &sim["device_kind"]), (&"cpu".into(), &"sim".into()));
        for name in exact {
            assert_eq!(figure(&cpu, name), figure(&sim, name), "{line}: {name}");
        }
        for name in close {
            approx::assert_relative_eq!(figure(&cpu, name), figure(&sim, name), max_relative = 1e-14);
        }
    }
}

#[test]
fn heat_has_the_figures_of_its_source() {
    let shell = Shell::new();
    let report = shell.json("example heat 8000 10 --device cpu", 0);
    assert_eq!(format!("{:.6}", figure(&report, "r")), "0.320080");
    assert!((figure(&report, "l2_error") / 1.499275e-10 - 1.0).abs() < 0.01, "{report}");
    assert_eq!(report["published"][0]["seconds"], 0.161998);
    let (text, _) = shell.run("example heat 50 3 --device cpu", 0);
    assert!(text.contains("check         passed: ") && !text.contains("published"), "{text}");
}

#[test]
fn data_travel_in_every_step_where_that_is_asked_for() {
    let shell = Shell::new();
    let report = shell.json("example laplace 9 --device sim --transfers every-step", 0);
    assert_eq!((&report["transfers"], &report["correct"]), (&"every-step".into(), &true.into()));
    let (_, stderr) = shell.run("example heat 9 --device cpu --transfers every-step", 1);
    assert!(stderr.contains("take a GPU, or --device sim"), "{stderr}");
    let (_, stderr) = shell.run("example pi --device sim --transfers every-step", 1);
    assert!(stderr.contains("heat, laplace and jacobi-grid do"), "{stderr}");
}

#[test]
fn laplace_takes_exactly_as_many_steps_as_its_source() {
    let report = Shell::new().json("example laplace --device cpu", 0);
    assert_eq!(figure(&report, "steps"), 3372.0);
}

#[test]
fn gram_schmidt_twice_loses_no_orthogonality() {
    let report = Shell::new().json("example gram-schmidt 201 --device cpu", 0);
    let [once, twice] = ["classical_max", "twice_max"].map(|name| figure(&report, name));
    assert!(twice < 2e-15 && once > 10.0 * twice, "{report}");
}

#[test]
fn names_and_sizes_are_refused_with_advice() {
    let shell = Shell::new();
    for (line, parts) in [
        ("example", &["<NAME>"][..]),
        ("example lapalce", &["unknown example 'lapalce'", "did you mean 'laplace'?", "jacobi-grid"]),
        ("example heat 0", &["example heat: N is 0; use 1 to "]),
        ("example heat 9 0", &["example heat: STEPS is 0; use 1 to "]),
        ("example jacobi-grid 2", &["N is 2; use 3 to "]),
        ("example laplace 9 9", &["takes N, and nothing more; 2 numbers are given"]),
        ("example pi 1e6", &["'1e6'"]),
        ("example pi --device gpu", &["--device", "auto, cpu, cuda, cuda:N"]),
        ("example heat 9000 1 --device sim", &["simulator has", "--device cpu"]),
    ] {
        let (stdout, stderr) = shell.run(line, 1);
        assert!(stdout.is_empty(), "{line}: {stdout}");
        for part in parts {
            assert!(stderr.contains(part), "{line}: {part:?} is not in\n{stderr}");
        }
    }
}

#[test]
fn explained_kernels_have_their_sectors() {
    let shell = Shell::new();
    let text = shell.run("example vadd 1024 --device sim --explain", 0).0;
    // 32 warps load 256 bytes each, which are 8 sectors.
    let load = text.lines().find(|line| line.contains("global load")).unwrap();
    let words: Vec<&str> = load.split_whitespace().collect();
    assert!(words[0].contains("pointwise.rs:"), "{text}");
    assert_eq!(words[3..].len(), 4, "{text}");
    let [accesses, lanes, moved, least] = words[3..].try_into().unwrap();
    let [accesses, moved, least] = [accesses, moved, least].map(|word: &str| word.parse::<u64>().unwrap());
    assert_eq!((lanes, accesses % 32, moved, least), ("32.0", 0, 8 * accesses, 8 * accesses), "{text}");
    assert!(text.contains("Occupancy"), "{text}");

    let report = shell.json("example vadd 1024 --device sim --explain", 0);
    assert_eq!(undocumented(&report), [""; 0]);
    let kernel =
        report["kernels"].as_array().unwrap().iter().find(|kernel| kernel["name"] == "vadd").unwrap();
    let load = kernel["lines"].as_array().unwrap().iter().find(|line| line["operation"] == "global load");
    let load = load.unwrap();
    assert!(load["file"].as_str().unwrap().ends_with("pointwise.rs"), "{report}");
    let count = |key: &str| load[key].as_u64().unwrap();
    let requests = count("requests");
    assert_eq!(
        (count("moved"), count("least"), count("threads")),
        (8 * requests, 8 * requests, 32 * requests)
    );
    // Without a ptxas there are none.
    assert_eq!(kernel["registers"].is_null(), kernel["warps_at_once"].is_null(), "{report}");
}

#[test]
fn kernels_are_in_the_report_of_who_asked() {
    let report = Shell::new().json("example vadd 1024 --device sim", 0);
    assert!(report["kernels"].is_null(), "{report}");
}

#[test]
fn only_the_simulator_explains() {
    let shell = Shell::new();
    let error = shell.run("example vadd --device cpu --explain", 1).1;
    assert!(error.contains("--explain") && error.contains("--device sim"), "{error}");
}
