#!/usr/bin/env bash
# Solves on several ranks of a machine with one GPU or more; needs neither cargo nor the sources.
#
#   scripts/gpu2.sh FOLDER [--out FOLDER] [--device NAME] [--size N]
#
# FOLDER   holds the program `warpsolve`, and where processes are to be tried `warpsolve-mpi`, built with the
#          feature mpi for the MPI of that machine
# --out    where reports go [gpu2-results]
# --device what to solve on [cuda]; `--device sim --size 6` tries the script without a GPU
# --size   edge of the tet system [160]
#
# Ranks of one machine take its GPUs in turn, so two ranks on one GPU work too: they exchange through the host,
# as two GPUs do where WARPSOLVE_PEERS=0; otherwise these write each other's memory, as threads and as processes.
# All must give the same x to the last bit, and so must a second run. Wanted of two GPUs, CG with Jacobi: 1.8
# times as fast an iteration as one; of processes, within 10 % of threads. Goes on after a failure; the exit
# status is 1 if anything failed.
set -uo pipefail

out=gpu2-results device=cuda size=160 bin= limit=100
while [ $# -gt 0 ]; do
    case $1 in
    --out) out=${2:?--out needs a folder} && shift 2 ;;
    --device) device=${2:?--device needs a name} && shift 2 ;;
    --size) size=${2:?--size needs a number} && shift 2 ;;
    -*) echo "unknown option $1; see the head of $0" >&2 && exit 1 ;;
    *) bin=$1 && shift ;;
    esac
done
[ -x "$bin/warpsolve" ] || { echo "no program warpsolve in '$bin'; see the head of $0" >&2; exit 1; }
mkdir -p "$out" || exit 1
failed=0

# solve NAME COMMAND ...: a report in NAME.json, and its line of the table.
solve() {
    local name=$1
    shift
    if timeout "$limit" "$@" --device "$device" --json "$out/$name.json" --quiet >"$out/$name.txt" 2>&1; then
        python3 - "$out/$name.json" "$name" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
ranks = report["ranks"] or {"exchanges": 0, "exchanged_bytes": 0}
per_iteration = report["solve_seconds"] / max(report["iterations"], 1)
way = " peer memory" if ranks.get("peer_memory") else ""
print(f'{sys.argv[2]:28} {report["iterations"]:6} iterations {per_iteration * 1e6:10.1f} us each, residual '
      f'{report["relative_residual"]:.2e}, set-up {report["setup_seconds"]:.3f} s, {ranks["exchanges"]} exchanges of '
      f'{ranks["exchanged_bytes"]} bytes{way}')
PYTHON
    else
        printf '%-28s FAILED: %s\n' "$name" "$(tail -n 1 "$out/$name.txt")"
        failed=1
    fi
}

processes=(mpirun --allow-run-as-root --oversubscribe -n 2 "$bin/warpsolve-mpi")
if ! { [ -x "$bin/warpsolve-mpi" ] && command -v mpirun >/dev/null; }; then
    processes=()
    echo "skipped: processes, which need mpirun and $bin/warpsolve-mpi"
fi
for way in "cg jacobi" "bicgstab jacobi" "gmres amg" "cg ilu" "cg amg"; do
    read -r solver precond <<<"$way"
    name=$solver-$precond
    for ranks in 1 2; do
        solve "$name-$ranks" "$bin/warpsolve" solve --gen "tet:$size" --solver "$solver" --precond "$precond" \
            --ranks "$ranks" --out "$out/x-$ranks.txt"
    done
    solve "$name-2-again" "$bin/warpsolve" solve --gen "tet:$size" --solver "$solver" --precond "$precond" \
        --ranks 2 --out "$out/x-again.txt"
    WARPSOLVE_PEERS=0 solve "$name-2-host" "$bin/warpsolve" solve --gen "tet:$size" --solver "$solver" \
        --precond "$precond" --ranks 2 --out "$out/x-host.txt"
    others="again host"
    if [ ${#processes[@]} != 0 ]; then
        solve "$name-2-processes" "${processes[@]}" solve --gen "tet:$size" --solver "$solver" --precond "$precond" \
            --out "$out/x-processes.txt"
        others+=" processes"
    fi
    for other in $others; do
        cmp "$out/x-2.txt" "$out/x-$other.txt" || { echo "$name: other bits, $other"; failed=1; }
    done
    rm -f "$out"/x-*.txt
done
for rows in 1000 100000; do
    solve "cg-amg-rank_rows=$rows" "$bin/warpsolve" solve --gen "tet:$size" --solver cg --precond amg \
        --amg "rank_rows=$rows" --ranks 2
done
# compute-sanitizer waits for all devices where a kernel is loaded on its first use, while another rank's waits for
# this rank: kernels are loaded before.
export CUDA_MODULE_LOADING=EAGER
sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || true)}
if [ -n "$sanitizer" ] && [ "$device" != sim ]; then
    for tool in memcheck racecheck; do
        solve "$tool-jacobi" "$sanitizer" --tool "$tool" --error-exitcode 9 "$bin/warpsolve" solve --gen tet:12 \
            --solver jacobi --max-iter 20 --rtol 0.9 --ranks 2
        solve "$tool-amg" "$sanitizer" --tool "$tool" --error-exitcode 9 "$bin/warpsolve" solve --gen tet:12 \
            --solver cg --precond amg --amg rank_rows=1,coarse_rows=30 --ranks 2
        solve "$tool-cg" "$sanitizer" --tool "$tool" --error-exitcode 9 "$bin/warpsolve" solve --gen tet:12 \
            --solver cg --precond jacobi --ranks 2
        [ ${#processes[@]} = 0 ] ||
            solve "$tool-processes" "${processes[@]:0:5}" "$sanitizer" --tool "$tool" --error-exitcode 9 \
                "${processes[5]}" solve --gen tet:12 --solver cg --precond jacobi
    done
fi
exit $failed
