//! `warpsolve gen`: writes the matrix of a model problem.

use std::time::Instant;

use warpsolve::Result;
use warpsolve::io::matrix::write_matrix;

use super::args::GenArgs;
use super::load::Source;
use super::output::{check_matrix_file, check_outputs, file_size, print};
use super::progress::Progress;
use super::report::stored;
use super::status::SUCCESS;
use super::table::{Lines, bytes, duration, thousands};

/// Generates and writes; returns the exit status.
pub fn run(args: GenArgs) -> Result<u8> {
    check_matrix_file(&args.out)?;
    check_outputs(&[Some(&args.out)], &[])?;
    let start = Instant::now();
    let problem = format!("{}:{}", args.kind, args.size).parse()?;
    let source = Source::Generated { problem, seed: args.seed, shuffled: args.shuffle };
    let progress = Progress::new(args.quiet);
    let (a, _) = source.matrix(&progress)?;
    progress.stage("writing");
    let written = write_matrix(&args.out, &a, &format!("warpsolve {}", source.name()));
    progress.clear();
    let (layout, symmetry) = written?;
    if !args.quiet {
        let size = bytes(file_size(&args.out)?);
        let mut lines = Lines::default();
        lines.add("matrix", source.name());
        let (rows, nonzeros) = (thousands(a.n_rows() as u64), thousands(a.nnz() as u64));
        lines.add("", format!("{rows} rows, {nonzeros} nonzeros"));
        let name = args.out.display();
        lines.add("file", format!("{name}, {}, {size}", stored(layout, symmetry)));
        lines.add("time", duration(start.elapsed().as_secs_f64()));
        print(&lines.text())?;
    }
    Ok(SUCCESS)
}
