#!/usr/bin/env bash
# Compares what the simulator counts of kernels' accesses to memory with what ncu counts on a GPU. The machine needs ncu
# (of the CUDA toolkit) with the right to read counters, and python3. PROGRAM is built elsewhere by
#
#     cd examples/worked-kernels && cargo build --release --bin counts
#
#     scripts/explain.sh PROGRAM [FOLDER]     what ncu writes goes to FOLDER
#
# The table goes to stdout and to FOLDER/counts.md. Exit status 1: counts differ by more than 2 %, or something is missing.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 1; }
program=$(realpath "$1")
folder=${2:-target/explain}
mkdir -p "$folder"
ncu=${NCU:-$(command -v ncu || ls /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -n 1)}
[ -x "$ncu" ] || { echo "error: there is no ncu; put it on the PATH, or its path into NCU" >&2; exit 1; }

metrics=(
    l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
    l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
    l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
    l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
    l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
)
"$program" sim >"$folder/sim.csv"
"$ncu" --csv --page raw --metrics "$(IFS=,; echo "${metrics[*]}")" "$program" cuda >"$folder/ncu.csv"

python3 - "$folder" "${metrics[@]}" <<'PYTHON' | tee "$folder/counts.md"
import csv, sys

folder, metrics = sys.argv[1], sys.argv[2:]
with open(f"{folder}/sim.csv") as file:
    simulated = list(csv.reader(file))
with open(f"{folder}/ncu.csv") as file:
    # Lines of ncu's own begin with ==; the second row has the units.
    rows = list(csv.DictReader(line for line in file if not line.startswith("==")))
counted = [row for row in rows if row["ID"].strip()]
if len(counted) != len(simulated):
    sys.exit(f"error: {len(simulated)} launches in the simulator, {len(counted)} by ncu")

names = ["loads", "sectors", "stores", "sectors", "wavefronts of loads", "wavefronts of stores"]
print("| launch | kernel | " + " | ".join(f"{name}, sim / ncu" for name in names) + " |")
print("|---|---|" + "---:|" * len(names))
worst = 0.0
for (title, kernel, *sim), row in zip(simulated, counted):
    if row["Kernel Name"].split("(")[0] != kernel:
        sys.exit(f"error: {kernel} in the simulator, {row['Kernel Name']} by ncu")
    ncu = [float(row[metric].replace(",", "")) for metric in metrics]
    cells = []
    for mine, theirs in zip(map(float, sim), ncu):
        difference = abs(mine - theirs) / max(theirs, 1.0)
        worst = max(worst, difference)
        cells.append(f"{mine:.0f} / {theirs:.0f}" + (" **" if difference > 0.02 else ""))
    print(f"| {title} | `{kernel}` | " + " | ".join(cells) + " |")
print(f"\nThe largest difference is {100 * worst:.2f} %.")
sys.exit(worst > 0.02)
PYTHON
