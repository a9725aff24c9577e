//! The names of the files in a folder of results.

use std::ffi::OsStr;

pub const FRAMES: &str = "v.pvd";
pub const STEPS: &str = "steps.csv";
pub const ACTIVATION: &str = "activation.vtu";
/// The same in pieces.
pub const ACTIVATION_LIST: &str = "activation.pvtu";
pub const PICTURE: &str = "activation.png";
pub const DIAGONAL: &str = "diagonal.csv";
pub const REPORT: &str = "report.txt";
pub const RUN: &str = "run.json";

/// Whether a file of this name is written into the folder of results.
pub fn is_of_a_run(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let is_digit = |c: char| c.is_ascii_digit();
    // The files of ranks have their number behind another '_'.
    let is_frame = name.strip_prefix("v_").is_some_and(|rest| {
        let rest = rest.trim_start_matches(is_digit);
        rest == ".pvtu" || rest.trim_start_matches('_').trim_start_matches(is_digit) == ".vtu"
    });
    let is_piece =
        name.strip_prefix("activation_").is_some_and(|rest| rest.trim_start_matches(is_digit) == ".vtu");
    let known = [FRAMES, STEPS, ACTIVATION, ACTIVATION_LIST, PICTURE, DIAGONAL, REPORT, RUN];
    is_frame || is_piece || known.contains(&&*name)
}
