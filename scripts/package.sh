#!/usr/bin/env bash
# Packs every crate of the workspace as `cargo publish` would and builds each from what was packed. Then builds a program
# outside of the workspace that depends on the last commit of this repository, as the README says: it solves on the CPU,
# and on a GPU where there is one.
#
#     scripts/package.sh [FOLDER]     what is built goes to FOLDER, or target
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-target}
mkdir -p "$folder"
folder=$(realpath "$folder")
# Ours compile three times as fast as what is meant to be used; what they depend on is as the tests have compiled it.
plain=(--config 'profile.dev.opt-level=0' --config 'profile.dev.package.warpsolve-host.opt-level=0')

# Cargo unpacks a package once for its name and version, and takes what it unpacked for an earlier commit otherwise.
rm -rf "$folder"/package "${CARGO_HOME:-$HOME/.cargo}"/registry/{cache,src}/-*/warpsolve-*

cargo package --workspace --exclude warpsolve-fuzz --allow-dirty --quiet --target-dir "$folder" "${plain[@]}"

app=$folder/package/app
rm -rf "$app"
mkdir -p "$app/src"
cat > "$app/Cargo.toml" <<EOF
[package]
name = "app"
version = "0.0.0"
edition = "2024"

[dependencies]
warpsolve = { git = "file://$PWD", default-features = false }

[workspace]
EOF
cat > "$app/src/main.rs" <<'EOF'
use warpsolve::matrix::Csr;

fn main() -> warpsolve::Result<()> {
    let a = Csr::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![4.0, -1.0, -1.0, 4.0])?;
    let solution = warpsolve::solve(&a, &[1.0, 2.0])?;
    println!("{}", solution.report);
    assert!((solution.x[0] - 0.4).abs() < 1e-8 && (solution.x[1] - 0.6).abs() < 1e-8);
    match warpsolve::open_gpu(0) {
        Ok(gpu) => println!("a GPU: {}", gpu.device().info().name),
        Err(error) => println!("skipped: {error}"),
    }
    Ok(())
}
EOF
# The versions that the workspace is built and tested with.
cp Cargo.lock "$app/Cargo.lock"
cargo run --quiet --manifest-path "$app/Cargo.toml" --target-dir "$folder" "${plain[@]}"
