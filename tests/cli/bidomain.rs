//! What only `bidomain` has: electrodes outside of the cells.

use serde_json::Value;
use std::fs;
use std::path::Path;

use super::Shell;

const SLAB: &str = "--slab 3,0.6,0.3 --spacing 0.15 --model mitchell-schaeffer --device cpu --every 0";
/// An anode at one end, a cathode at the other.
const POLES: &str = "--stimulus box:0,0,0,0.3,1,1 --stimulus box:2.7,0,0,3,1,1 --stimulus-kind extracellular \
                     --stimulus-strength 400 --stimulus-strength=-300 --stimulus-duration 3";

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_cathode_starts_a_wave() {
    let shell = Shell::new();
    for formulation in ["coupled", "splitting"] {
        for end in ["--balance-stimuli scale", "--balance-stimuli spread", "--ground ball:1.5,0.3,0,0.01"] {
            let line =
                format!("bidomain {SLAB} {POLES} --formulation {formulation} {end} --points 3,0,0;0,0,0");
            shell.run(&format!("{line} --t-end 5 --out r -q"), 0);
            let run = json(&shell.path("r/run.json"));
            let times = |k: usize| run["points"][k]["activation"].as_f64().unwrap_or(f64::INFINITY);
            assert!(times(0) < 4.0 && times(1) > times(0) + 1.0, "{formulation} {end}: {run}");
            let (kinds, grounds) = (&run["parameters"]["stimuli"], &run["parameters"]["grounds"]);
            assert_eq!(kinds[1]["kind"], "extracellular");
            assert_eq!(grounds.as_array().unwrap().len(), usize::from(end.starts_with("--ground")));
        }
    }
}

#[test]
fn electrodes_that_cannot_be_are_refused() {
    let shell = Shell::new();
    for (line, parts) in [
        (
            format!("bidomain {SLAB} {POLES}"),
            &["stimulus 1, stimulus 2 add up to ", " uA, but where nothing is grounded", "--balance-stimuli"]
                [..],
        ),
        (
            format!("bidomain {SLAB} --stimulus-kind extracellular --balance-stimuli scale"),
            &["stimulus 1 have one sign", "--balance-stimuli spread"],
        ),
        (format!("monodomain {SLAB} {POLES}"), &["stimulus 1 acts outside of the cells", "use a bidomain"]),
        (format!("monodomain {SLAB} --ground ball:0,0,0,1"), &["ground 1 acts outside of the cells"]),
        (format!("bidomain {SLAB} --ground ball:9,9,9,1"), &["ground 1 acts at no node"]),
        (format!("bidomain {SLAB} --ground ball:0,0,0,-1"), &["ground 1: a ball", "positive"]),
        (format!("bidomain {SLAB} --stimulus-kind outside"), &["transmembrane, extracellular"]),
        (format!("bidomain {SLAB} --balance-stimuli even"), &["refuse, spread, scale"]),
    ] {
        let (stdout, stderr) = shell.run(&line, 1);
        assert!(stdout.is_empty(), "{line}: {stdout}");
        for part in parts {
            assert!(stderr.contains(part), "{line}: {part:?} is not in\n{stderr}");
        }
    }
}
