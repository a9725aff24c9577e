//! `cargo run -p warpsolve-cuda-builder -- keep|check <kernel crate> [sm_70 sm_90 ...]`
//!
//! `keep` compiles the kernels and keeps the PTX, stamped, in the crate's folder `ptx`; `check` fails
//! unless what is kept is what the sources give. Without targets both take those of the present stamp.

use cuda_builder::{BuildError, CudaBuilder, Stamp, Toolchain};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str =
    "usage: cargo run -p warpsolve-cuda-builder -- keep|check <kernel crate> [sm_70 sm_90 ...]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["keep", path, targets @ ..] => keep(path, targets),
        ["check", path, targets @ ..] => check(path, targets),
        _ => Err(BuildError::Usage(USAGE.into())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A builder for the named targets, or for those that are kept now.
fn builder(path: &str, targets: &[&str]) -> Result<CudaBuilder, BuildError> {
    let builder = CudaBuilder::new(path);
    if !targets.is_empty() {
        return Ok(builder.archs(targets));
    }
    let folder = builder.kept_folder();
    let stamp = Stamp::read(&folder).map_err(|why| {
        BuildError::Usage(format!("{} ({why}): name the targets\n{USAGE}", folder.display()))
    })?;
    Ok(builder.archs(&stamp.targets.into_keys().collect::<Vec<_>>()))
}

fn keep(path: &str, targets: &[&str]) -> Result<(), BuildError> {
    let builder = builder(path, targets)?;
    let stamp = builder.keep()?;
    let targets: Vec<String> = stamp.targets.into_keys().collect();
    println!("{}: {} by {}", builder.kept_folder().display(), targets.join(" "), stamp.compiler);
    Ok(())
}

fn check(path: &str, targets: &[&str]) -> Result<(), BuildError> {
    let builder = builder(path, targets)?;
    let folder = builder.kept_folder();
    let stamp = builder.current_stamp()?;
    println!("{}: the stamp is that of the sources", folder.display());
    let compiler = Toolchain::find()?.version;
    let files = builder.build()?;
    if compiler != stamp.compiler {
        println!(
            "kept by {}, compiled now by {compiler}: the text may differ and is not compared",
            stamp.compiler
        );
        return Ok(());
    }
    for file in files {
        let kept = folder.join(format!("{}.ptx", file.arch));
        if read(&kept)? != read(&file.path)? {
            let why = format!("{} gives another text ({})", compiler, file.path.display());
            return Err(BuildError::Kept { folder: kept, why });
        }
        println!("{}: the same text compiled anew by {compiler}", kept.display());
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, BuildError> {
    let text = fs::read_to_string(path).map_err(|source| BuildError::Io {
        action: "read",
        path: path.into(),
        source,
    })?;
    Ok(text.replace('\r', ""))
}
