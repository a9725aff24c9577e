//! The names of the files in a folder of results.

use std::ffi::OsStr;

pub const FRAMES: &str = "v.pvd";
pub const STEPS: &str = "steps.csv";
pub const ACTIVATION: &str = "activation.vtu";
pub const PICTURE: &str = "activation.png";
pub const DIAGONAL: &str = "diagonal.csv";
pub const REPORT: &str = "report.txt";
pub const RUN: &str = "run.json";

/// Whether a file of this name is written into the folder of results.
pub fn is_of_a_run(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let is_frame = name
        .strip_prefix("v_")
        .is_some_and(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()) == ".vtu");
    is_frame || [FRAMES, STEPS, ACTIVATION, PICTURE, DIAGONAL, REPORT, RUN].contains(&&*name)
}
