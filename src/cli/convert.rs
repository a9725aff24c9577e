//! `warpsolve convert`: a matrix from one file format to another.

use std::path::Path;
use std::time::Instant;

use warpsolve::Result;
use warpsolve::io::matrix::{read_matrix, write_matrix};

use super::args::ConvertArgs;
use super::load::start_threads;
use super::output::{check_matrix_file, check_outputs, file_size, print};
use super::progress::Progress;
use super::report::stored;
use super::status::SUCCESS;
use super::table::{Lines, bytes, duration, thousands};

/// Reads and writes; returns the exit status.
pub fn run(args: ConvertArgs) -> Result<u8> {
    check_matrix_file(&args.out)?;
    check_outputs(&[Some(&args.out)], &[Some(&args.input)])?;
    start_threads(args.threads.unwrap_or(0).into())?;
    let progress = Progress::new(args.quiet);

    let start = Instant::now();
    let read = read_matrix(&args.input, &mut |done, all| progress.reading(done, all));
    progress.clear();
    let (a, summary) = read?;
    let read_seconds = start.elapsed().as_secs_f64();

    let start = Instant::now();
    progress.stage("writing");
    let written = write_matrix(&args.out, &a, &summary.comment);
    progress.clear();
    let (layout, symmetry) = written?;
    let write_seconds = start.elapsed().as_secs_f64();

    if !args.quiet {
        let mut lines = Lines::default();
        let (rows, columns, nonzeros) = (a.n_rows() as u64, a.n_cols() as u64, a.nnz() as u64);
        let shape = if rows == columns {
            format!("{} rows", thousands(rows))
        } else {
            format!("{} rows, {} columns", thousands(rows), thousands(columns))
        };
        lines.add("matrix", format!("{shape}, {} nonzeros", thousands(nonzeros)));
        if summary.duplicates > 0 {
            lines.add("", format!("{} duplicate entries summed", thousands(summary.duplicates)));
        }
        for (label, path, stored, seconds) in [
            ("read", &args.input, stored(summary.layout, summary.symmetry), read_seconds),
            ("written", &args.out, stored(layout, symmetry), write_seconds),
        ] {
            lines.add(label, format!("{}, {stored}", path.display()));
            lines.add("", rate(path, seconds)?);
        }
        print(&lines.text())?;
    }
    Ok(SUCCESS)
}

/// "7.3 MiB, 21.8 ms, 351 MB/s" of a file as it is on disk.
fn rate(path: &Path, seconds: f64) -> Result<String> {
    let size = file_size(path)?;
    Ok(format!("{}, {}, {:.0} MB/s", bytes(size), duration(seconds), size as f64 / seconds * 1e-6))
}
