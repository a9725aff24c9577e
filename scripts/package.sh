#!/usr/bin/env bash
# Packs every crate of the workspace as `cargo publish` would. Then builds of what was packed the program, and another
# program outside of the workspace that depends on the library: it solves on the CPU, and on a GPU where there is one.
#
#     scripts/package.sh [FOLDER]     what is built goes to FOLDER, or target
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-target}
mkdir -p "$folder"
folder=$(realpath "$folder")
packed=$folder/package

# Not verified by cargo, which builds each crate by itself: all are built together below, each once.
rm -rf "$packed"
cargo package --workspace --exclude warpsolve-fuzz --allow-dirty --no-verify --quiet --target-dir "$folder"
# With the time of now: cargo packs all files with the same one, and would take what it built before for what is new.
for crate in "$packed"/*.crate; do tar -xzmf "$crate" -C "$packed"; done

app=$packed/app
mkdir -p "$app/src"
cat > "$app/Cargo.toml" <<'EOF'
[package]
name = "app"
version = "0.0.0"
edition = "2024"

[dependencies]
warpsolve = "0.1.0"
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
# What was packed stands in for the registry. Nothing is optimised: what depends on it, and it, compile in half of the
# time then.
crates=$(cd "$packed" && ls -d warpsolve*/ | tr -d /)
{
    printf '[workspace]\nresolver = "3"\nmembers = ["app"%s]\n\n' "$(printf ', "%s"' $crates)"
    printf '[profile.dev]\nopt-level = 0\nlto = "off"\n[profile.dev.package."*"]\ndebug = false\n\n[patch.crates-io]\n'
    for crate in $crates; do printf '%s = { path = "%s" }\n' "${crate%-*}" "$crate"; done
} > "$packed/Cargo.toml"
# The versions that the workspace is built and tested with.
cp Cargo.lock "$packed/Cargo.lock"
cd "$packed"
cargo run --quiet --package app --target-dir "$folder"
cargo run --quiet --package warpsolve --target-dir "$folder" -- --version
