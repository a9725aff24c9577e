//! `gen`, `spmv` and `info`.

use serde_json::Value;

use super::{Shell, relative_residual, undocumented};

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
    let mut arrow = String::from("%%MatrixMarket matrix coordinate pattern general\n3200 3200 6698\n");
    (1..=300).for_each(|j| arrow += &format!("1 {j}\n"));
    (2..=3200).for_each(|i| arrow += &format!("{i} {i}\n{i} 1\n"));
    shell.file("arrow.mtx", &arrow);
    let report = shell.json("spmv arrow.mtx --device cpu --repeat 3 --sigma 32 --format ell,sell,crs", 0);
    assert_eq!(report["schema"], "warpsolve.spmv/2");
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
        let bytes = row["bytes"].as_u64().unwrap();
        if format == "sell" {
            // 6698 nonzeros at 12 bytes, 3200 rows at 20.
            assert_eq!((&row["stored_as"], bytes), (&format.into(), 6698 * 12 + 3200 * 20));
        } else {
            // Copied to diagonal runs: the values, some columns and padding; two vectors.
            assert_eq!(row["stored_as"], "diagonal runs");
            assert!(bytes > 6698 * 8 + 3200 * 16, "{row}");
        }
        let bandwidth = bytes as f64 / seconds[1];
        assert!((row["bandwidth"].as_f64().unwrap() / bandwidth - 1.0).abs() < 1e-12);
        assert!(row["copy_bandwidth"].as_f64().unwrap() > 1e8);
    }
    assert_eq!(undocumented(&results[1]), [""; 0]);
    assert_eq!(undocumented(&report), [""; 0]);
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
    assert_eq!(undocumented(&info), [""; 0]);
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
        assert!(
            stdout.contains(" threads (no GPU: ") && stdout.contains(&reason["no GPU: ".len()..]),
            "{stdout}"
        );
        let (stdout, stderr) = shell.run("solve --gen poisson2d:9 --device cuda", 1);
        assert!(stdout.is_empty() && stderr.starts_with("error: no GPU: "), "{stdout}{stderr}");
        assert!(stderr.contains("--device cpu"), "{stderr}");
        // The devices that are there are measured all the same.
        let (stdout, stderr) = shell.run("spmv --gen poisson2d:9 --device cuda,cpu --repeat 1", 1);
        assert!(stdout.contains("CPU, ") && stderr.starts_with("error: no GPU: "), "{stdout}{stderr}");
    }
}
