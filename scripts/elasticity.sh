#!/usr/bin/env bash
# Measures elasticity, the source documents' multigrid and a kernel in CUDA C++ on a machine with an NVIDIA GPU; needs
# neither cargo nor the sources.
#
#   scripts/elasticity.sh FOLDER
#
# FOLDER holds the program `warpsolve`, and where they are to run the test binary `driver` and the example
# `native_cuda`. What is aimed at, on an H200: a bar of 984,312 nodes (elasticity:63) to 1e-8 in 150 ms, set-up
# included, in 30 iterations; the product in CUDA C++ no faster than the one in Rust.
set -uo pipefail
bin=${1:?"usage: $0 FOLDER"}
run() {
    printf '\n$ %s\n' "$*"
    "$@"
}
run "$bin/warpsolve" info -v
run "$bin/warpsolve" solve --gen elasticity:63 --seed 0 --device cuda -v
run "$bin/warpsolve" spmv --gen elasticity:63 --seed 0 --device cuda --format crs,sell,bcrs3,bsell3
run "$bin/warpsolve" bench elasticity --device cuda
run "$bin/warpsolve" bench amg --preset paper --restart none --device cuda
[ -x "$bin/driver" ] && run "$bin/driver" --exact a_kernel_in_cuda_takes_turns_with_those_in_rust --nocapture
[ -x "$bin/native_cuda" ] && run "$bin/native_cuda"
