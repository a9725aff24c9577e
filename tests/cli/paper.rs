//! The source documents' multigrid: `--amg preset=paper`, and `bench amg --preset paper`.

use serde_json::Value;

use super::Shell;

fn levels<'a>(run: &'a Value, key: &str) -> Vec<&'a Value> {
    run["amg"]["levels"].as_array().unwrap().iter().map(|level| &level[key]).collect()
}

#[test]
fn the_preset_is_the_documents_multigrid_and_what_is_given_beside_it_stays() {
    let shell = Shell::new();
    let run = |amg: &str| {
        shell.json(&format!("solve --gen tet:11 --device cpu --threads 2 --amg coarse_rows=20,{amg}"), 0)
    };
    let paper = run("preset=paper");
    let parameters = &paper["amg"]["parameters"];
    for (key, value) in
        [("coarsening", "mandel-brezina"), ("splitting", "greedy"), ("smoother", "jacobi"), ("cycle", "v")]
    {
        assert_eq!(parameters[key], value, "{key}");
    }
    for (key, value) in [("omega", 0.9), ("strength_decay", 1.0), ("overcorrection", 1.0)] {
        assert_eq!(parameters[key].as_f64().unwrap(), value, "{key}");
    }
    assert_eq!((&parameters["compressed"], &parameters["plain_diagonal"]), (&false.into(), &true.into()));
    assert_eq!(paper["amg"]["hierarchy_precision"], "f64");
    assert_eq!(parameters["coarse_rows"], 20);
    for amg in ["preset=paper,omega=0.7,pre=2,post=2", "omega=0.7,pre=2,post=2,preset=paper"] {
        let other = run(amg);
        assert_eq!(other["amg"]["parameters"]["omega"].as_f64().unwrap(), 0.7);
        assert_eq!(other["amg"]["parameters"]["splitting"], "greedy");
        assert!(other["iterations"].as_u64() < paper["iterations"].as_u64(), "{other}");
    }

    let line = "solve --gen tet:11 --device cpu --threads 2 --amg preset=paper";
    let (text, _) = shell.run(line, 0);
    assert!(text.contains("mandel-brezina, greedy, jacobi, omega 0.9, V-cycle"), "{text}");

    // The last level's diagonal alone: what it costs.
    let diagonal = run("preset=paper,coarsest=diagonal,max_levels=2");
    let dense = run("preset=paper,max_levels=2");
    assert!(diagonal["converged"] == true || diagonal["stop_reason"] == "converged", "{diagonal}");
    assert!(levels(&dense, "rows").len() == 2 && levels(&diagonal, "rows").len() == 2);
    assert!(diagonal["iterations"].as_u64() > dense["iterations"].as_u64(), "{diagonal}");

    let (_, stderr) = shell.run("solve --gen tet:4 --amg preset=book --device cpu", 1);
    assert!(stderr.contains("paper"), "{stderr}");
    let (_, stderr) = shell.run("solve --gen tet:4 --amg format=bsell2 --device cpu", 1);
    assert!(stderr.contains("format takes crs, ell, sell or auto"), "{stderr}");
}

#[test]
fn a_format_is_that_of_every_level_but_the_inverse() {
    let shell = Shell::new();
    for format in ["crs", "ell", "sell"] {
        let line = format!(
            "solve --gen tet:5 --device sim --format {format} --amg preset=paper,coarse_rows=10,format={format}"
        );
        let run = shell.json(&line, 0);
        let formats = levels(&run, "format");
        assert!(
            formats.len() > 1 && formats[..formats.len() - 1].iter().all(|found| *found == format),
            "{run}"
        );
    }
}

#[test]
fn bench_takes_the_preset_and_other_parameters_and_the_restart() {
    let shell = Shell::new();
    let with = |options: &str| {
        let line = format!("bench amg --gen tet:5 --device sim --solves 1 {options} --json -");
        let (stdout, _) = shell.run(&line, 0);
        let report: Value = serde_json::from_str(&stdout).unwrap();
        let rows = report["tables"][0]["rows"].as_array().unwrap().clone();
        let iterations = |row: &Value| row["figures"]["iterations"].as_u64().unwrap();
        (
            rows.iter().map(iterations).collect::<Vec<_>>(),
            report["tables"][0]["title"].as_str().unwrap().to_string(),
        )
    };
    let (usual, title) = with("");
    assert!(title.contains("GMRES(30)"), "{title}");
    let (paper, title) = with("--preset paper --amg coarse_rows=10 --restart none");
    assert!(title.contains("GMRES,"), "{title}");
    assert_eq!(usual.len(), paper.len());
    // The same iterations in every format.
    assert!(
        paper[..3].iter().all(|n| *n == paper[0]) && paper[3..].iter().all(|n| *n == paper[3]),
        "{paper:?}"
    );
    assert_ne!(usual, paper);
}

#[test]
fn the_table_of_elasticity_has_the_published_times_beside_ours() {
    let shell = Shell::new();
    let line = "bench elasticity --device cpu,sim --threads 1,2 --solves 1 --json -";
    let report: Value = serde_json::from_str(&shell.run(line, 0).0).unwrap();
    let table = &report["tables"][0];
    assert_eq!(table["system"]["rows"], 216);
    let rows = table["rows"].as_array().unwrap();
    // Two methods on one and two threads, and in two formats on the device.
    assert_eq!(rows.len(), 8);
    let published = |k: usize| -> Vec<f64> {
        let times = rows[k]["published"].as_array().unwrap();
        times.iter().map(|p| p["seconds"].as_f64().unwrap()).collect()
    };
    assert_eq!(
        (published(0), published(1), published(2), published(3)),
        (vec![9.6], vec![6.22], vec![2.47], vec![1.4])
    );
    assert_eq!((published(4), published(6)), (vec![2.8], vec![1.05]));
    for (row, times) in [(5, [2.6, 9.6 / 8.6]), (7, [0.46, 2.47 / 9.2])] {
        assert_eq!(published(row), times);
    }
    assert!(rows.iter().all(|row| row["figures"]["correct"] == true), "{table}");
}
