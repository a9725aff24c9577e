#!/usr/bin/env bash
# Packs every crate of the workspace as `cargo publish` would, and builds from what was packed a program outside of the
# workspace that depends on them: it solves on the CPU, and on a GPU where there is one.
#
#     scripts/package.sh [FOLDER]     target/packaged
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-target/packaged}
mkdir -p "$folder"
folder=$(realpath "$folder")

# The program below compiles them from what was packed.
cargo package --workspace --allow-dirty --no-verify --quiet --target-dir "$folder"

app=$folder/app
rm -rf "$app"
mkdir -p "$app/src" "$app/crates"
for package in "$folder"/package/*.crate; do tar -xzf "$package" -C "$app/crates"; done
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
cat > "$app/Cargo.toml" <<EOF
[package]
name = "app"
version = "0.0.0"
edition = "2024"

[dependencies]
warpsolve = { version = "$version", default-features = false }

[workspace]

# In place of a registry.
[patch.crates-io]
EOF
for crate in "$app"/crates/*/; do
    name=$(basename "${crate%-"$version"/}")
    printf '%s = { path = "crates/%s-%s" }\n' "$name" "$name" "$version" >> "$app/Cargo.toml"
done
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
cp Cargo.lock "$app/Cargo.lock"
cargo run --quiet --manifest-path "$app/Cargo.toml" --target-dir "$folder"
