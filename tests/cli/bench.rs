//! The tables of the source documents.

use serde_json::Value;

use super::{Shell, undocumented};

fn rows(report: &Value) -> Vec<&Value> {
    let tables = report["tables"].as_array().unwrap();
    tables.iter().flat_map(|table| table["rows"].as_array().unwrap()).collect()
}

#[test]
fn every_table_is_measured_and_written_in_every_form() {
    let shell = Shell::new();
    let line = "bench all --gen bidomain:3 --device cpu,sim --threads 1,2 --repeat 3 --solves 2 --rtol 1e-6";
    let files = "--json r.json --csv r.csv --markdown r.md --html r.html";
    let (stdout, _) = shell.run(&format!("{line} {files}"), 0);
    let read = |name: &str| std::fs::read_to_string(shell.path(name)).unwrap();
    let report: Value = serde_json::from_str(&read("r.json")).unwrap();
    assert_eq!(report["schema"], "warpsolve.bench/1");
    assert_eq!(undocumented(&report), [""; 0]);
    let names: Vec<_> =
        report["tables"].as_array().unwrap().iter().map(|t| t["table"].as_str().unwrap()).collect();
    let expected =
        ["dot", "spmv", "cg", "gmres", "amg", "block", "threads", "elasticity", "patterns", "unified"];
    assert_eq!(names, [&expected[..], &["loops", "programs", "shapes", "exchange", "native"]].concat());
    // CPU on 1 and on 2 threads, of which the tables take the last.
    let devices = report["devices"].as_array().unwrap();
    let devices: Vec<_> = devices.iter().map(|d| d["name"].as_str().unwrap()).collect();
    assert_eq!(devices, ["CPU, 2 threads", "simulator", "CPU, 1 thread"]);

    let (mut history, mut kernels) = (0, 0);
    for row in rows(&report) {
        // Neither the CPU nor the simulator has a memory of its own; the CPU has no blocks.
        if let Some(why) = row["refused"].as_str() {
            let known = ["the host's memory", "are those of a GPU", "runs on a GPU"];
            let is_known = known.iter().any(|known| why.contains(known));
            assert!(row["figures"].is_null() && is_known, "{row}");
            continue;
        }
        assert_eq!(undocumented(row), [""; 0]);
        let figures = &row["figures"];
        assert!(row["refused"].is_null() && figures["correct"] == true, "{row}");
        assert_eq!(undocumented(figures), [""; 0]);
        let [first, third] = [0, 1].map(|k| figures["time"]["quartiles"][k].as_f64().unwrap());
        let median = figures["time"]["median"].as_f64().unwrap();
        assert!(0.0 < first && first <= median && median <= third, "{row}");
        let is_solve = figures["iterations"].is_u64();
        assert_eq!(figures["time"]["count"], if is_solve { 2 } else { 3 });
        // CG of `native` keeps none.
        let has_history = is_solve && !row["work"].as_str().unwrap().contains("kernel in");
        if has_history {
            let norms = figures["history"].as_array().unwrap();
            assert_eq!(norms[0], serde_json::json!([0, 1.0]), "from b, with x = 0");
            assert_eq!(norms.last().unwrap()[0], figures["iterations"]);
            assert!(norms.last().unwrap()[1].as_f64().unwrap() <= 1e-6);
            history += 1;
        } else if let Some(kernel) = figures["kernels"].get(0) {
            kernels += 1;
            assert_eq!(undocumented(kernel), [""; 0]);
            assert!(
                kernel["grid"].as_u64().unwrap() >= 1 && kernel["block"].as_u64().unwrap() >= 32,
                "{row}"
            );
        }
        if row["work"] == "dot" && row["device"] == "simulator" {
            assert_eq!(figures["copies"]["copies"], 0, "the sum stays where it is");
        }
    }
    assert_eq!(history, 2 * (3 + 3 + 6 + 8) + 6 + (4 + 4));
    // In the simulator: dot, spmv, those of block, each pattern, and each shape.
    assert_eq!(kernels, 2 + 3 + 4 + 12 + 12);

    // The same rows in every form.
    let all = rows(&report).len();
    assert_eq!(read("r.csv").lines().count(), 1 + all);
    let (html, markdown) = (read("r.html"), read("r.md"));
    let cells = |text: &str, mark: &str| text.matches(mark).count();
    assert_eq!(cells(&markdown, "\n| "), all + 2 * names.len());
    assert_eq!(cells(&html, "<tr>"), all + names.len());
    // Roofline, a plot of times for each table but threads, convergence, threads.
    assert_eq!(cells(&html, "<svg"), 1 + 14 + 1 + 1);
    assert!(
        !html.contains("http://") || html.contains("http://www.w3.org/2000/svg"),
        "it needs nothing else"
    );
    for text in
        ["registers", "grid x block", "SpMV", "GMRES + AMG", "bsell2", "3.03 ms", "OpenMP 4.5, GTX 1060"]
    {
        if text != "registers" {
            assert!(stdout.contains(text) && html.contains(text), "{text}\n{stdout}");
        }
    }
}

#[test]
fn what_is_published_stands_beside_the_format_it_was_measured_in() {
    let shell = Shell::new();
    let report = shell.json("bench spmv --gen tet:5 --device cpu --threads 1 --repeat 2", 0);
    let seconds = |format: &str| {
        let rows = rows(&report);
        let row = rows.iter().find(|row| row["format"] == format).unwrap();
        let published = row["published"].as_array().unwrap();
        published.iter().map(|p| p["seconds"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    // Sections 5.1 and 6.1: CRS, and what pads every row to the longest; the reduced one has no figure there.
    assert_eq!(
        [seconds("crs"), seconds("ell"), seconds("sell")],
        [vec![3.03e-3, 7.77e-3], vec![2.23e-3, 26.77e-3], vec![]]
    );
}

#[test]
fn programs_are_timed_in_the_ways_of_their_sources() {
    let shell = Shell::new();
    let report = shell.json("bench programs --device cpu,sim --threads 1 --grid 9 --repeat 1", 0);
    let works = |device: &str| {
        let rows = rows(&report).into_iter().filter(|row| row["device"] == device);
        rows.map(|row| row["work"].as_str().unwrap()).collect::<Vec<_>>()
    };
    let both = ["heat 9 10", "heat 9 10, loops as written", "laplace 9", "jacobi-grid 9"];
    let layouts = ["transposed before and after", "where it lies"];
    let layouts = layouts.map(|layout| format!("modified-gram-schmidt 9 9, {layout}"));
    for work in both.into_iter().chain(layouts.iter().map(String::as_str)) {
        assert!(works("CPU, 1 thread").contains(&work) && works("simulator").contains(&work), "{work}");
    }
    // The CPU has nothing to copy.
    for work in ["heat 9 10, loops as written", "laplace 9", "jacobi-grid 9"] {
        let copied = format!("{work}, copied in every step");
        assert!(
            works("simulator").contains(&&*copied) && !works("CPU, 1 thread").contains(&&*copied),
            "{copied}"
        );
    }
}

#[test]
fn one_thread_stands_there_once_and_numbers_that_are_too_large_are_left_out() {
    let shell = Shell::new();
    let line = "bench programs --device cpu --threads 1,2,4000 --grid 9 --repeat 1 --json r.json";
    let (_, stderr) = shell.run(line, 0);
    assert!(stderr.contains("warning: left out: 4000 threads on "), "{stderr}");
    let report = std::fs::read_to_string(shell.path("r.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let count = |work: &str| rows(&report).iter().filter(|row| row["work"] == work).count();
    assert_eq!((count("jacobi-grid 9"), count("jacobi-grid 9, one thread of the host")), (2, 1));
    let (_, stderr) = shell.run("bench threads --gen tet:4 --device cpu --threads 4000", 1);
    assert!(stderr.contains("would only wait"), "{stderr}");
}

#[test]
fn titles_say_which_multigrid_it_is() {
    let shell = Shell::new();
    for table in ["amg --format crs", "threads --threads 1", "elasticity --threads 1"] {
        let line = format!("bench {table} --gen tet:4 --device cpu --solves 1");
        let title = |line: &str| shell.json(line, 0)["tables"][0]["title"].as_str().unwrap().to_string();
        assert!(!title(&line).contains("preset"), "{table}");
        let title = title(&format!("{line} --preset paper --amg pre=2,post=2"));
        assert!(title.contains(" multigrid with preset=paper,pre=2,post=2, to"), "{title}");
        assert_eq!(title.matches("multigrid").count(), 1, "{title}");
    }
}

#[test]
fn a_kernel_in_cuda_stands_beside_the_one_in_rust() {
    let shell = Shell::new();
    let report = shell.json("bench native --gen tet:4 --device sim --repeat 1 --solves 1", 0);
    let rows = rows(&report);
    let refused: Vec<_> = rows.iter().map(|row| row["refused"].is_string()).collect();
    assert_eq!(refused, [true, true, false, false], "the simulator runs kernels in Rust");
    assert!(rows[3]["figures"]["iterations"].as_u64().unwrap() > 5 && rows[3]["figures"]["correct"] == true);
    let seconds = |row: usize| {
        let published = rows[row]["published"].as_array().unwrap();
        published.iter().map(|p| p["seconds"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!([seconds(1), seconds(3)], [vec![235.6, 106.9], vec![239.0]]);
}

#[test]
fn products_alone_can_have_other_slices_and_blocks() {
    let shell = Shell::new();
    let shapes = "--slice 64,128 --block 64";
    let report = shell.json(&format!("bench spmv --gen tet:4 --device sim --format crs,sell {shapes}"), 0);
    let works: Vec<_> = rows(&report).into_iter().map(|row| row["work"].as_str().unwrap()).collect();
    assert_eq!(works, ["SpMV", "SpMV", "slices of 64, blocks of 64", "slices of 128, blocks of 64"]);
    assert!(rows(&report).iter().all(|row| row["figures"]["correct"] == true));
    let (_, stderr) = shell.run(&format!("bench cg --gen tet:4 --device cpu {shapes}"), 1);
    assert!(stderr.contains("go with a table of products"), "{stderr}");
}

#[test]
fn refusals_and_solves_that_stop_early_are_rows_too() {
    let shell = Shell::new();
    // One full row among rows of one entry: ELLPACK would be nearly all padding.
    let n = 9000;
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n{n} {n} {}\n", 2 * n - 1);
    (1..=n).for_each(|j| text += &format!("1 {j} {}\n", if j == 1 { 2.0 * n as f64 } else { 0.5 }));
    (2..=n).for_each(|i| text += &format!("{i} {i} 2.5\n"));
    shell.file("arrow.mtx", &text);
    let report = shell.json("bench spmv arrow.mtx --device cpu --threads 1 --repeat 1", 0);
    let refused: Vec<_> = rows(&report).into_iter().filter(|row| !row["refused"].is_null()).collect();
    // The slice of the full row is nearly all padding too.
    let formats: Vec<_> = refused.iter().map(|row| row["format"].as_str().unwrap()).collect();
    assert_eq!(formats, ["ell", "sell"]);
    assert!(refused.iter().all(|row| row["figures"].is_null()));
    let (stdout, _) = shell.run("bench spmv arrow.mtx --device cpu --threads 1 --repeat 1", 0);
    assert!(stdout.contains("refused: "), "{stdout}");

    let line = "bench cg --gen tet:6 --format crs --device cpu --threads 1 --solves 1 --max-iter 3";
    let (stdout, _) = shell.run(line, 2);
    assert!(stdout.contains("NOT CONVERGED: "), "{stdout}");
    let report = shell.json(line, 2);
    assert_eq!(rows(&report)[0]["figures"]["iterations"], 3);
}

#[test]
fn bad_requests_are_refused_before_anything_is_measured() {
    let shell = Shell::new();
    for (line, expected) in [
        ("bench", "Usage"),
        ("bench spvm", "spmv"),
        ("bench spmv --gen tet:5 --format coo", "crs"),
        ("bench cg --gen tet:5 --solves 0", "--solves"),
        ("bench all --gen tet:5 --json no/such/folder/r.json", "a folder that does not exist"),
        ("bench all --gen tet:5 --json r --csv r", "named twice"),
        ("bench all --gen tet:5 --json - --csv -", "named twice"),
        ("bench spmv missing.mtx", "missing.mtx"),
    ] {
        let (stdout, stderr) = shell.run(line, 1);
        assert!(stdout.is_empty() && stderr.contains(expected), "{line}: {stdout}{stderr}");
    }
}

#[test]
fn compare_marks_what_changed_beyond_its_spread() {
    let shell = Shell::new();
    let line = "bench spmv --gen tet:5 --device cpu --threads 1 --repeat 2 --json old.json -q";
    shell.run(line, 0);
    let mut report: Value =
        serde_json::from_str(&std::fs::read_to_string(shell.path("old.json")).unwrap()).unwrap();
    let times = |report: &mut Value, row: usize, median: f64| {
        let time =
            serde_json::json!({"median": median, "quartiles": [0.99 * median, 1.01 * median], "count": 5});
        report["tables"][0]["rows"][row]["figures"]["time"] = time;
    };
    (0..3).for_each(|row| times(&mut report, row, 1.0));
    shell.file("old.json", &report.to_string());
    times(&mut report, 0, 1.2);
    times(&mut report, 1, 0.5);
    times(&mut report, 2, 1.01);
    shell.file("new.json", &report.to_string());

    let (stdout, _) = shell.run("bench compare old.json new.json", 2);
    let line = |format: &str| stdout.lines().find(|line| line.contains(&format!(" {format} "))).unwrap();
    assert!(line("crs").contains("+20.0 %") && line("crs").ends_with("SLOWER"), "{stdout}");
    assert!(line("ell").contains("-50.0 %") && line("ell").ends_with("faster"), "{stdout}");
    assert!(line("sell").trim_end().ends_with("+1.0 %"), "{stdout}");
    assert!(stdout.contains("1 faster, 1 slower or no longer right, 3 rows"), "{stdout}");
    shell.run("bench compare new.json new.json", 0);
    let mut wrong = report.clone();
    wrong["tables"][0]["rows"][0]["figures"]["correct"] = false.into();
    shell.file("wrong.json", &wrong.to_string());
    let (stdout, _) = shell.run("bench compare new.json wrong.json", 2);
    assert!(stdout.contains("NO LONGER RIGHT"), "{stdout}");
    let mut refused = report.clone();
    refused["tables"][0]["rows"][0]["figures"] = Value::Null;
    refused["tables"][0]["rows"][0]["refused"] = "no room".into();
    shell.file("refused.json", &refused.to_string());
    let (stdout, _) = shell.run("bench compare new.json refused.json", 2);
    assert!(stdout.contains("REFUSED: no room"), "{stdout}");
    let mut once = report.clone();
    once["tables"][0]["rows"][0]["figures"]["time"]["count"] = 1.into();
    shell.file("once.json", &once.to_string());
    let (stdout, _) = shell.run("bench compare new.json once.json", 0);
    assert!(stdout.contains("1 times were taken only once"), "{stdout}");
    shell.run("bench dot --gen tet:5 --device cpu --threads 1 --repeat 2 --json dot.json -q", 0);
    let (_, stderr) = shell.run("bench compare new.json dot.json", 1);
    assert!(stderr.contains("no row in common"), "{stderr}");
    shell.run("bench compare old.json new.json --threshold 30", 0);

    shell.file("other.json", "{\"schema\": \"warpsolve.spmv/1\"}");
    shell.file("bad.json", "{\"schema\": \n");
    for (file, expected) in [
        ("other.json", "warpsolve.spmv/1"),
        ("bad.json", "bad.json:2: this is no report of `bench --json`"),
        ("none.json", "none.json"),
    ] {
        let (_, stderr) = shell.run(&format!("bench compare old.json {file}"), 1);
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn what_is_named_twice_is_measured_once() {
    let line =
        "bench spmv --gen poisson2d:5 --device cpu,cpu --format crs,sell,crs --precision f64,f64 --repeat 3";
    let report = Shell::new().json(line, 0);
    let formats: Vec<_> = rows(&report).into_iter().map(|row| row["format"].as_str().unwrap()).collect();
    assert_eq!(formats, ["crs", "sell"]);
}

#[test]
fn an_empty_matrix_has_a_page_too() {
    let shell = Shell::new();
    shell.file("empty.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    shell.run("bench spmv empty.mtx --device cpu --repeat 3 --html page.html -q", 0);
    assert!(shell.path("page.html").exists());
}

#[test]
fn one_file_under_two_names_is_refused() {
    let shell = Shell::new();
    shell.run("gen tet 4 in.mtx -q", 0);
    std::fs::rename(shell.path("in.mtx"), shell.path("in.json")).unwrap();
    let before = std::fs::read(shell.path("in.json")).unwrap();
    let line = "bench spmv in.json --device sim --repeat 1 -q";
    for (outputs, expected) in [
        ("--json x.json --csv ./x.json", "is named twice"),
        ("--profile-trace in.json", "has the name of another file of this command"),
        ("--profile-trace ./in.json", "has the name of another file of this command"),
        ("--json q.json --profile-trace ./q.json", "has the name of the report"),
    ] {
        let (_, stderr) = shell.run(&format!("{line} {outputs}"), 1);
        assert!(stderr.contains(expected), "{outputs}: {stderr}");
    }
    assert_eq!(std::fs::read(shell.path("in.json")).unwrap(), before);
}

#[test]
fn whole_vectors_are_more_than_shared_elements() {
    let shell = Shell::new();
    let report = shell.json("bench exchange --gen tet:6 --device cpu,sim --ranks 2,3 --repeat 2", 0);
    let rows = rows(&report);
    assert_eq!(rows.len(), 2 * 2 * 3);
    for ways in rows.chunks(3) {
        let bytes = |k: usize| ways[k]["figures"]["bytes"].as_u64().unwrap();
        assert!(bytes(0) == 0 && bytes(1) > 0 && bytes(2) > bytes(1), "{ways:?}");
        let published = |k: usize| ways[k]["published"].as_array().unwrap().len();
        assert_eq!([published(0), published(1), published(2)], [0, 1, 1]);
    }
}
