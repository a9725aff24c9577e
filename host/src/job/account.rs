//! From a solve to its report.

use super::report::{Report, Warning};
use super::residual::relative;
use super::setup::Times;
use super::solved::Solved;
use super::{Device, Method, Options, Precond};

/// What is reported of a system and its solve, beside what came of that.
pub(super) struct About<'a> {
    pub n_rows: usize,
    pub nnz: usize,
    pub method: Method,
    pub precond: Precond,
    pub options: &'a Options,
    pub device: &'a Device,
    pub norm_b: f64,
    pub backward_error: f64,
    pub times: Times,
    pub warnings: Vec<Warning>,
}

impl Report {
    /// Of a solve as it was asked for, alone, in the given numbering.
    pub(super) fn new(about: About, solved: &Solved) -> Report {
        let About { n_rows, nnz, method, precond, options, device, norm_b, backward_error, times, warnings } =
            about;
        Report {
            n_rows,
            nnz,
            format: solved.format.clone(),
            reordered: None,
            scaled: None,
            method,
            precond,
            block_size: options.block_size,
            precision: options.precision,
            device: device.name(),
            columns: 1,
            outcome: solved.outcome.clone(),
            refinements: solved.refinements,
            relative_residual: relative(solved.residual.two, norm_b),
            backward_error,
            norm_b,
            projected: false,
            setup_seconds: times.setup,
            warm_up_seconds: times.warm_up,
            upload_seconds: times.upload,
            solve_seconds: solved.seconds,
            download_seconds: times.download,
            check_seconds: times.check,
            expected_bytes: None,
            device_bytes: solved.bytes,
            bytes_moved: solved.bytes_moved,
            counts: solved.counts,
            amg: solved.hierarchy.clone(),
            ilu: solved.ilu.clone(),
            factorisation: solved.factorisation,
            ranks: solved.ranks.clone(),
            analysis: None,
            attempts: Vec::new(),
            warnings,
        }
    }
}
