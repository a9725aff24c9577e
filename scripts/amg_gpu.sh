#!/usr/bin/env bash
# CG with algebraic multigrid on a GPU: set-up, solve and iterations, for the systems that the README names.
# Usage: scripts/amg_gpu.sh FOLDER [OUT] [MATRIX.mtx.gz ...]; FOLDER holds the program `warpsolve`.
set -euo pipefail
folder=$1
out=${2:-$(mktemp -d)}
shift $(($# > 1 ? 2 : 1))
program=$folder/warpsolve
mkdir -p "$out"

run() {
    local name=$1
    shift
    # The first run lets the driver translate the kernels; the second one counts.
    "$program" solve "$@" --precond amg --device cuda -q || true
    "$program" solve "$@" --precond amg --device cuda -v --json "$out/$name.json" >"$out/$name.txt" 2>&1 || true
    printf '\n=== %s\n' "$name"
    cat "$out/$name.txt"
}

run tet96 --gen tet:96 --seed 0
run tetshuf96 --gen tet:96 --shuffle --seed 1
run tet160 --gen tet:160 --seed 0
run poisson256 --gen poisson3d:256
for matrix in "$@"; do run "$(basename "$matrix" .mtx.gz)" "$matrix"; done
