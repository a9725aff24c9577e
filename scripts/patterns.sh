#!/usr/bin/env bash
# What the source documents say of access patterns, layouts and residency, on one GPU: tables of access patterns, of unified
# memory, of shapes of launches and of programs by threads, and the small programs in both ways. PROGRAM is target/release/warpsolve.
#
#     scripts/patterns.sh PROGRAM [FOLDER]    the reports go to FOLDER as JSON, too
#
# Exit status 1: a result is wrong, or a program failed.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 1; }
program=$(realpath "$1")
folder=${2:-target/patterns}
mkdir -p "$folder"

"$program" bench patterns --device cuda --json "$folder/patterns.json" --quiet
"$program" bench patterns --device cuda --repeat 20
"$program" bench unified --device cuda --json "$folder/unified.json" --quiet
"$program" bench unified --device cuda
"$program" bench shapes --device cuda
# By as many threads as the tables have, as far as there are cores.
threads=1
for n in 2 4 6 8 16 28; do [ "$n" -le "$(nproc)" ] && threads+=,$n; done
"$program" bench programs --device cpu,cuda --threads "$threads" --repeat 3
"$program" bench programs --device cuda --grid 10000 --repeat 1
for line in "heat 8000 10" "heat 8000 10 --loops as-written" "laplace 1000" "laplace 1000 --lines 100" \
    "modified-gram-schmidt 1000 1000" "modified-gram-schmidt 5000 5000"; do
    "$program" example $line --device cuda
    echo
done
