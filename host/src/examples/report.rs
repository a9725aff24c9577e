//! What a program takes, and what it did.

/// What a program takes: (name, smallest, largest) of each number, and their values where they are not given.
pub(super) struct Sizes {
    pub ranges: &'static [(&'static str, usize, usize)],
    pub cpu: &'static [usize],
    pub cuda: &'static [usize],
    pub sim: &'static [usize],
    /// Whether it can be asked for [transfers](super::Transfers) in every step.
    pub travels: bool,
    /// Whether it can be asked for its [loops](super::Loops) as they were written.
    pub has_loops: bool,
    /// Whether it has lines about its state while it runs.
    pub has_lines: bool,
}

/// What a program did.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What was computed, with its sizes.
    pub what: String,
    /// Results: (key, label, value, the value as text).
    pub figures: Vec<(&'static str, &'static str, f64, String)>,
    /// How long it took, and how many bytes had to be moved.
    pub timings: Vec<Timing>,
    /// Whether the result is right.
    pub passed: bool,
    /// How that was checked.
    pub check: String,
    /// Times that the program's source gives for these sizes: seconds, and where they were measured.
    pub published: Vec<(f64, &'static str)>,
    /// What was read of its state on the way.
    pub lines: Vec<String>,
}

/// The label of what one thread of the host computes beside the device.
pub const ONE_THREAD: &str = "one thread of the host";

/// One of a program's times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Of what; empty where there is one.
    pub label: &'static str,
    /// On a GPU its own time, between two events, else the wall clock's; kernels were warm.
    pub seconds: f64,
    /// Bytes that must be moved, whatever caches keep.
    pub bytes: u64,
}
