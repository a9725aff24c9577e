//! `cargo run -p warpsolve-cuda-builder -- keep|check <kernel crate> [sm_70 sm_90 ..] [--cubin sm_80 sm_90
//! ..]`
//!
//! `keep` compiles the kernels and keeps the PTX, stamped, in the crate's folder `ptx`. With `--cubin` it
//! also keeps machine code for the devices named after it (`--cubin none`: for none). `check` fails unless
//! what is kept is what the sources give. Targets and devices that are not named are those of the present
//! stamp.

use cuda_builder::{BuildError, CudaBuilder, Stamp, Toolchain};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo run -p warpsolve-cuda-builder -- \
                     keep|check <kernel crate> [sm_70 sm_90 ..] [--cubin sm_80 sm_90 ..]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["keep", path, names @ ..] => keep(path, names),
        ["check", path, names @ ..] => check(path, names),
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

/// A builder for the named targets and devices, or for those that are kept now.
fn builder(path: &str, names: &[&str]) -> Result<CudaBuilder, BuildError> {
    let mut parts = names.splitn(2, |&name| name == "--cubin");
    let targets = parts.next().unwrap_or_default();
    let devices = parts.next().map(|devices| if devices == ["none"] { &[] } else { devices });
    let builder = CudaBuilder::new(path);
    let stamp = Stamp::read(&builder.kept_folder());
    let builder = match (&stamp, targets) {
        (Ok(stamp), []) => builder.archs(&stamp.targets.keys().collect::<Vec<_>>()),
        (Err(why), []) => {
            let folder = builder.kept_folder();
            let message = format!("{} ({why}): name the targets\n{USAGE}", folder.display());
            return Err(BuildError::Usage(message));
        }
        (_, targets) => builder.archs(targets),
    };
    Ok(match (devices, stamp) {
        (Some(devices), _) => builder.machine_code(devices),
        (None, Ok(stamp)) => builder.machine_code(&stamp.cubins.into_keys().collect::<Vec<_>>()),
        (None, Err(_)) => builder,
    })
}

fn keep(path: &str, names: &[&str]) -> Result<(), BuildError> {
    let builder = builder(path, names)?;
    let stamp = builder.keep()?;
    let folder = builder.kept_folder();
    let targets: Vec<String> = stamp.targets.into_keys().collect();
    println!("{}: {} by {}", folder.display(), targets.join(" "), stamp.compiler);
    for (device, cubin) in stamp.cubins {
        println!(
            "{}: machine code for {device} of {} by ptxas {}",
            folder.display(),
            cubin.arch,
            cubin.ptxas
        );
    }
    Ok(())
}

fn check(path: &str, names: &[&str]) -> Result<(), BuildError> {
    let builder = builder(path, names)?;
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
