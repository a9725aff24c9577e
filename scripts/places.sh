#!/usr/bin/env bash
# Shows that compute-sanitizer, ncu and cuda-gdb name the lines of a kernel in Rust. The machine needs all three, of the
# CUDA toolkit, and a GPU. PROGRAM is built elsewhere by
#
#     cd examples/worked-kernels && cargo build --release --bin places
#
#     scripts/places.sh PROGRAM [FOLDER]     what the tools write goes to FOLDER
#
# Exit status 1: one of them does not name a line of saxpy.rs, or it is missing.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 1; }
program=$(realpath "$1")
folder=${2:-target/places}
mkdir -p "$folder"
sources=$(realpath "$(dirname "$0")/../examples/worked-kernels")

tool() {
    command -v "$1" || ls /usr/local/cuda*/bin/"$1" /opt/nvidia/nsight-compute/*/"$1" 2>/dev/null | tail -n 1 | grep . ||
        { echo "error: there is no $1; put it on the PATH" >&2; exit 1; }
}
sanitizer=$(tool compute-sanitizer) ncu=$(tool ncu) gdb=$(tool cuda-gdb)

# A fault ends each of the first two with a status of its own.
"$sanitizer" --tool memcheck --print-limit 1 "$program" wrong >"$folder/memcheck.txt" 2>&1 || true
"$gdb" -batch -ex run -ex backtrace -ex 'info line' --args "$program" wrong >"$folder/gdb.txt" 2>&1 || true
# A table of the source, with how often a warp came to each line.
"$ncu" --clock-control none --section SourceCounters --metrics inst_executed --import-source yes --source-folders "$sources" \
    --page source --print-source cuda,sass --csv "$program" right >"$folder/ncu.txt" 2>&1 || true

status=0
for name in memcheck gdb ncu; do
    if grep -m 3 'saxpy\.rs' "$folder/$name.txt"; then
        echo "$name names a line"
    else
        echo "$name names no line; see $folder/$name.txt" >&2
        status=1
    fi
done
exit $status
