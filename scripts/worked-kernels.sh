#!/usr/bin/env bash
# Times the eight kernels of examples/worked-kernels beside the same in CUDA C++, which nvcc compiles here. The machine
# needs nvcc, and for this folder's programs no Rust: they are built elsewhere by
#
#     cd examples/worked-kernels && cargo build --release --bin speeds
#
#     scripts/worked-kernels.sh PROGRAM [FOLDER]     PROGRAM is `speeds`; what nvcc makes goes to FOLDER
#
# The table goes to stdout and to FOLDER/speeds.md. Exit status 1: a result is wrong, or something is missing.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 1; }
program=$(realpath "$1")
folder=${2:-target/worked-kernels}
cd "$(dirname "$0")/.."
mkdir -p "$folder"

nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda*/bin/nvcc 2>/dev/null | tail -n 1)}
[ -x "$nvcc" ] || { echo "error: there is no nvcc; put it on the PATH, or its path into NVCC" >&2; exit 1; }
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader --id=0 | tr -d '. ')

for source in examples/worked-kernels/cuda/*.cu; do
    "$nvcc" -O3 -cubin "-arch=sm_$capability" -o "$folder/$(basename "$source" .cu).cubin" "$source"
done

{
    "$nvcc" --version | tail -n 2 | head -n 1
    nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader --id=0
    "$program" "$folder"
} | tee "$folder/speeds.md"
