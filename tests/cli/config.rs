//! `solve --config`.

use std::fs;

use serde_json::Value;

use super::Shell;

const TOML: &str = "# For a mesh of tetrahedra.
solver = \"gmres\"
restart = 17
max_iter = 321
rtol = 1e-5
device = \"cpu\"
threads = 1
cycle = \"w\"

[amg]
smoother = \"spai0\"
pre = 2
omega = 0.75
precision = \"f64\"
";

const JSON: &str = r#"{
  "solver": "gmres", "restart": 17, "max_iter": 321, "rtol": 1e-5, "device": "cpu", "threads": 1, "cycle": "w",
  "amg": { "smoother": "spai0", "pre": 2, "omega": 0.75, "precision": "f64" }
}"#;

fn shell() -> Shell {
    let shell = Shell::new();
    shell.file("c.toml", TOML);
    shell.file("c.json", JSON);
    shell
}

#[test]
fn both_kinds_set_what_the_command_line_would() {
    let shell = shell();
    let line = "--solver gmres --restart 17 --max-iter 321 --rtol 1e-5 --device cpu --threads 1";
    let expected = shell.json(
        &format!("solve --gen tet:6 {line} --cycle w --amg smoother=spai0,pre=2,omega=0.75,precision=f64 --history h.csv"),
        0,
    );
    let history = fs::read_to_string(shell.path("h.csv")).unwrap();
    for file in ["c.toml", "c.json"] {
        let report = shell.json(&format!("solve --gen tet:6 --config {file} --history h.csv"), 0);
        for key in ["solver", "restart", "max_iterations", "rtol", "device_kind", "threads", "precond"] {
            assert_eq!(report[key], expected[key], "{file}: {key}");
        }
        for key in ["parameters", "hierarchy_precision"] {
            assert_eq!(report["amg"][key], expected["amg"][key], "{file}: {key}");
        }
        assert_eq!(fs::read_to_string(shell.path("h.csv")).unwrap(), history, "{file}");
    }
    assert_eq!(expected["amg"]["parameters"]["omega"], 0.75);
    assert_eq!(expected["amg"]["hierarchy_precision"], "f64");
}

#[test]
fn the_command_line_goes_before_the_file() {
    let shell = shell();
    let run = |options: &str| shell.json(&format!("solve --gen tet:6 --config c.toml {options}"), 0);
    let report = run("--rtol 1e-4 --amg pre=1 --smoother chebyshev --restart none");
    let parameters = &report["amg"]["parameters"];
    assert_eq!((&report["rtol"], &report["restart"]), (&1e-4.into(), &321.into()));
    assert_eq!((&parameters["pre"], &parameters["smoother"]), (&1.into(), &"chebyshev".into()));
    assert_eq!((&parameters["cycle"], &parameters["omega"]), (&"w".into(), &0.75.into()));

    // What belongs to the file's choice goes with it.
    let report = run("--precond jacobi --solver cg");
    assert_eq!((&report["precond"], &report["solver"]), (&"jacobi".into(), &"cg".into()));
    assert_eq!((&report["restart"], &report["amg"]), (&Value::Null, &Value::Null));
    let report = run("--solver jacobi --max-iter 100000 --rtol 0.1");
    assert_eq!(
        (&report["solver"], &report["restart"], &report["amg"]),
        (&"jacobi".into(), &Value::Null, &Value::Null)
    );
    shell.file("plain.json", r#"{"precond": "jacobi", "format": "sell", "sigma": 32, "device": "cpu"}"#);
    let report = shell.json("solve --gen tet:6 --config plain.json --cycle f", 0);
    assert_eq!((&report["precond"], &report["sigma"]), (&"amg".into(), &32.into()));
    let report = shell.json("solve --gen tet:6 --config plain.json --solver amg", 0);
    assert_eq!((&report["solver"], &report["sigma"]), (&"amg".into(), &32.into()));
    let report = shell.json("solve --gen tet:6 --config plain.json --format ell", 0);
    assert_eq!((&report["precond"], &report["format"]), (&"jacobi".into(), &"ell".into()));

    // pre = 0 of one source and post = 0 of the other are refused together, each being permitted alone.
    shell.file("pre.toml", "[amg]\npre = 0\n");
    let (_, stderr) = shell.run("solve --gen tet:6 --config pre.toml --amg post=0 --device cpu", 1);
    assert!(stderr.contains("pre and post are both 0"), "{stderr}");
    shell.run("solve --gen tet:6 --config pre.toml --amg post=2 --device cpu --rtol 1e-4 -q", 0);
}

#[test]
fn the_command_line_settles_what_the_file_contradicts_itself_in() {
    let shell = Shell::new();
    shell.file(
        "c.json",
        r#"{"precond": "jacobi", "smoother": "spai0", "amg": {"smoother": "jacobi", "degree": 3}}"#,
    );
    let line = "solve --gen tet:4 --config c.json --device cpu";
    let (_, stderr) = shell.run(line, 1);
    assert_eq!(stderr, "error: c.json: AMG's smoother is given twice\n");
    let (_, stderr) = shell.run(&format!("{line} --smoother jacobi --precond jacobi"), 1);
    assert!(stderr.contains("error: smoother is a parameter of the preconditioner amg"), "{stderr}");
    // Parameters of amg imply it.
    for options in ["--smoother chebyshev", "--amg smoother=chebyshev --precond amg"] {
        let report = shell.json(&format!("{line} {options}"), 0);
        let parameters = &report["amg"]["parameters"];
        assert_eq!((&parameters["smoother"], &parameters["degree"]), (&"chebyshev".into(), &3.into()));
    }
    shell.run(&format!("{line} --precond amg"), 1);
    let report = shell.json(&format!("{line} --precond none"), 0);
    assert_eq!((&report["precond"], &report["amg"]), (&"none".into(), &Value::Null));
    shell.file("p.toml", "precond = \"none\"\n[amg]\npre = 2\npost = 2\n");
    let report = shell.json("solve --gen tet:4 --config p.toml --device cpu --precond auto", 0);
    assert_eq!(report["amg"]["parameters"]["pre"], 2);
}

#[test]
fn a_wrong_file_is_refused_with_its_fault() {
    let shell = Shell::new();
    fs::create_dir(shell.path("folder.toml")).unwrap();
    fs::write(shell.path("binary.json"), [0xff, 0xfe, 0]).unwrap();
    let refused = |file: &str, start: &str, expected: &str| {
        let (stdout, stderr) = shell.run(&format!("solve --gen tet:4 --config {file} --device cpu"), 1);
        assert!(
            stdout.is_empty() && stderr.starts_with(&format!("error: {start}")),
            "{file}: {stdout}{stderr}"
        );
        assert!(stderr.contains(expected), "{file}: {expected:?} is not in\n{stderr}");
        assert!(stderr.lines().count() == 1, "{file}: {stderr}");
    };
    for (kind, line, text, expected) in [
        ("toml", 2, "rtol = 1e-6\nsolver = cg\n", ""),
        ("toml", 2, "rtol = 1\nrtol = 2\n", "duplicate key"),
        ("toml", 1, "[amg\npre = 2\n", ""),
        ("toml", 4, "rtol = 1e-6\n[amg]\npre = 2\ndegre = 2\n", "unknown key 'degre'; did you"),
        ("toml", 2, "\nmax_itr = 9\n", "unknown key 'max_itr'; did you mean 'max_iter'?"),
        ("toml", 3, "rtol = 1e-9\n[amg]\ndegree = 0\n", "invalid value '0' for 'degree': degree takes"),
        ("toml", 1, "threads = 0\n", "invalid value '0' for 'threads': 0 is not in 1..=4096\n"),
        ("toml", 1, "rtol = 1979-05-27\n", "invalid type: map, expected a finite number"),
        ("toml", 2, "[amg]\npre = \"1,post=3\"\n", "invalid value '1,post=3' for 'pre'"),
        ("toml", 1, "max-iter = 3\n", "unknown key 'max-iter'; did you mean 'max_iter'? there are amg, atol"),
        ("toml", 2, "[amg]\nsmother = \"spai0\"\n", "unknown key 'smother'; did you mean 'smoother'?"),
        ("toml", 1, "[gmres]\nrestart = 9\n", "unknown key 'gmres'"),
        ("toml", 1, "amg = 3\n", "invalid type: integer `3`, expected a table of parameters for 'amg'\n"),
        (
            "toml",
            1,
            "rtol = [1e-8]\n",
            "invalid type: sequence, expected a finite number or a name for 'rtol'\n",
        ),
        ("toml", 1, "rtol = nan\n", "invalid value: floating point `NaN`, expected a finite number"),
        ("toml", 1, "rtol = \"small\"\n", "invalid value 'small' for 'rtol': it takes a finite number"),
        ("toml", 2, "[amg]\npre = true\n", "invalid value 'true' for 'pre': pre takes a whole number"),
        ("toml", 2, "[amg]\nomega = 2\n", "omega takes a number between 0 and 2, both excluded"),
        (
            "toml",
            2,
            "[amg]\npre = { up = 1 }\n",
            "invalid type: map, expected a finite number or a name for 'pre'\n",
        ),
        ("toml", 1, "solver = \"lu\"\n", "unknown solver 'lu'; there are cg"),
        ("toml", 1, "omega = -1\n", "invalid value '-1' for 'omega': it takes a number between 0 and 2"),
        ("json", 3, "{\n  \"rtol\": 1e-6,\n}\n", "trailing comma\n"),
        ("json", 3, "{ \"rtol\": 1,\n\n\"rtol\": 1e-6}", "'rtol' is given twice\n"),
        ("json", 3, "{\n\"amg\": {\"pre\": 2,\n\"pre\": 2}}", "'pre' is given twice\n"),
        ("json", 2, "{\"amg\": {},\n\"amg\": {}}", "'amg' is given twice\n"),
        ("json", 3, "{\n\n\"max_itr\": 9}", "unknown key 'max_itr'; did you mean"),
        ("json", 2, "{\"amg\":\n{\"cycle\": \"x\"}}", "invalid value 'x' for 'cycle': unknown cycle 'x'"),
        ("json", 1, "", ""),
        ("json", 1, "[1, 2]", "invalid type: sequence, expected an object, {\"solver\""),
        ("json", 1, "{\"presond\": \"amg\"}", "unknown key 'presond'; did you mean 'precond'?"),
        (
            "json",
            1,
            "{\"rtol\": null}",
            "invalid type: null, expected a finite number or a name for 'rtol'\n",
        ),
        ("json", 1, "{\"max_iter\": 2.5}", "invalid value '2.5' for 'max_iter': "),
    ] {
        let file = format!("c.{kind}");
        shell.file(&file, text);
        refused(&file, &format!("{file}:{line}: "), expected);
    }
    for (file, text, expected) in [
        (
            "c.json",
            "{\"solver\": \"cg\", \"restart\": 9}",
            "with c.json: --restart goes with --solver gmres or lgmres\n",
        ),
        (
            "c.toml",
            "precond = \"jacobi\"\n[amg]\npre = 2\n",
            "c.toml: pre is a parameter of the preconditioner amg",
        ),
        (
            "c.toml",
            "smoother = \"spai0\"\n[amg]\nsmoother = \"jacobi\"\n",
            "c.toml: AMG's smoother is given twice",
        ),
        ("c.yaml", "rtol: 1\n", "--config takes a .json or a .toml file, not 'c.yaml'"),
        ("c.toml", "rtol = 0\n", "--rtol 0 needs an --atol above 0"),
    ] {
        shell.file(file, text);
        refused(file, "", expected);
    }
    for (file, expected) in [
        ("missing.toml", "cannot read missing.toml: No such file"),
        ("folder.toml", "cannot read folder.toml: Is a directory"),
        ("binary.json", "cannot read binary.json: "),
        ("no-extension", "a .json or a .toml file"),
    ] {
        refused(file, "", expected);
    }
    shell.file("good.toml", "rtol = 1e-6\n");
    let (_, stderr) = shell.run("solve --gen tet:4 --config good.toml --json good.toml --device cpu", 1);
    assert!(stderr.contains("good.toml is an input"), "{stderr}");
}
