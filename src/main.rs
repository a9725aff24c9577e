//! The program `warpsolve`: solves, generates and multiplies sparse systems. See `warpsolve --help`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
