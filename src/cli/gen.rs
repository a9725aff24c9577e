//! `warpsolve gen`: writes the matrix of a model problem.

use std::time::Instant;

use warpsolve::io::matrix_market::{symmetry_of, write_matrix};
use warpsolve::{Error, Result};

use super::SUCCESS;
use super::args::GenArgs;
use super::load::Source;
use super::output::print;
use super::progress::Progress;
use super::report::Lines;
use super::table::{bytes, duration, thousands};

/// Generates and writes; returns the exit status.
pub fn run(args: GenArgs) -> Result<u8> {
    let start = Instant::now();
    let problem = format!("{}:{}", args.kind, args.size).parse()?;
    let source = Source::Generated { problem, seed: args.seed, shuffled: args.shuffle };
    let progress = Progress::new(args.quiet);
    let (a, _) = source.matrix(&progress)?;
    progress.stage("writing");
    let symmetry = symmetry_of(&a);
    let written = write_matrix(&args.out, &a, symmetry, &format!("warpsolve {}", source.name()));
    progress.clear();
    written?;
    if !args.quiet {
        let size = std::fs::metadata(&args.out).map_err(|e| Error::io("read", &args.out, e))?.len();
        let mut lines = Lines::default();
        lines.add("matrix", source.name());
        let (rows, nonzeros) = (thousands(a.n_rows() as u64), thousands(a.nnz() as u64));
        lines.add("", format!("{rows} rows, {nonzeros} nonzeros"));
        let name = args.out.display();
        lines.add("file", format!("{name}, stored as {}, {}", symmetry.word(), bytes(size)));
        lines.add("time", duration(start.elapsed().as_secs_f64()));
        print(&lines.text())?;
    }
    Ok(SUCCESS)
}
