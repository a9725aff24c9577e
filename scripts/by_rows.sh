#!/usr/bin/env bash
# Solves by rows on the GPUs of one machine, beside the same with the whole matrix on one host; needs
# neither cargo nor the sources.
#
#   scripts/by_rows.sh FOLDER [--ranks N] [--large SYSTEM] [--out FOLDER]
#
# FOLDER   holds the program `warpsolve`
# --ranks  parts of the systems, one a GPU [2]
# --large  a system that is solved by rows only [poisson3d:512]
#
# By rows and with the whole matrix x must be the same, bit for bit. Goes on after a failure; the exit status
# is 1 if anything failed.
set -uo pipefail

out=by-rows-results ranks=2 large=poisson3d:512 bin=
while [ $# -gt 0 ]; do
    case $1 in
    --out) out=${2:?--out needs a folder} && shift 2 ;;
    --ranks) ranks=${2:?--ranks needs a number} && shift 2 ;;
    --large) large=${2:?--large needs a system} && shift 2 ;;
    -*) echo "unknown option $1; see the head of $0" >&2 && exit 1 ;;
    *) bin=$1 && shift ;;
    esac
done
[ -x "$bin/warpsolve" ] || { echo "no program warpsolve in '$bin'; see the head of $0" >&2; exit 1; }
mkdir -p "$out" || exit 1
failed=0

# solve NAME OPTION ...: a report in NAME.json, and its line of the table, with the most memory of the host.
solve() {
    local name=$1
    shift
    if python3 - "$out/$name.txt" timeout 400 "$bin/warpsolve" solve --device cuda --ranks "$ranks" --json "$out/$name.json" "$@" <<'PYTHON'
import resource, subprocess, sys, time
begin = time.time()
with open(sys.argv[1], "w") as told:
    status = subprocess.call(sys.argv[2:], stdout=told, stderr=subprocess.STDOUT)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
open(sys.argv[1], "a").write(f"host {most:.1f} GiB, wall {time.time() - begin:.1f} s\n")
sys.exit(status)
PYTHON
    then
        python3 - "$out/$name.json" "$name" "$(tail -n 1 "$out/$name.txt")" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
seconds = [report[key] for key in ("setup_seconds", "upload_seconds", "solve_seconds")]
print(f"{sys.argv[2]:34} {report['iterations']:4} iterations  {report['relative_residual']:.1e}  set-up, upload, solve "
      + ", ".join(f"{s:.3f}" for s in seconds) + f" s  {sys.argv[3]}")
PYTHON
    else
        echo "$name FAILED"
        tail -n 5 "$out/$name.txt"
        failed=1
    fi
}

for system in tet:160 poisson3d:200; do
    for method in "cg amg" "cg jacobi"; do
        set -- $method
        name=${system/:/-}-$2
        solve "$name-whole" --gen "$system" --solver "$1" --precond "$2" --out "$out/whole.mtx"
        solve "$name-by-rows" --gen "$system" --solver "$1" --precond "$2" --by-rows --out "$out/rows.mtx"
        cmp "$out/whole.mtx" "$out/rows.mtx" && echo "$name: the same x" || failed=1
        rm -f "$out/whole.mtx" "$out/rows.mtx"
    done
done
solve "${large/:/-}-by-rows" --gen "$large" --by-rows
exit $failed
