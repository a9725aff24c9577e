#!/usr/bin/env bash
# Several right-hand sides on a GPU: every column against a solve alone, what they take together, and
# compute-sanitizer on the kernels.
#
#   scripts/columns.sh PROGRAM [DEVICE]     DEVICE is cuda
# shellcheck disable=SC2086
set -uo pipefail
program=$(realpath "${1:?which program?}") device=${2:-cuda}
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# rhs ROWS COLUMNS: noise.
rhs() {
    awk -v n="$1" -v k="$2" 'BEGIN { srand(7); print "%%MatrixMarket matrix array real general"; print n, k;
        for (i = 0; i < n * k; i++) print rand() - 0.5 }'
}
rhs $((24 * 24 * 23)) 5 >b.mtx
for c in 0 1 2 3 4; do
    awk -v n=$((24 * 24 * 23)) -v c=$c 'NR == 1 { print } NR == 2 { print n, 1 } NR > 2 + c * n && NR <= 2 + (c + 1) * n' b.mtx >"b$c.mtx"
done
failed=0
# together SOLVER OPTIONS: five at once, and each alone. CG takes as many iterations, block CG no more.
together() {
    "$program" solve --gen tet:24 --solver "$1" $2 --device "$device" --rhs b.mtx --json all.json --quiet || failed=1
    local counts= c
    for c in 0 1 2 3 4; do
        "$program" solve --gen tet:24 --solver cg $2 --device "$device" --rhs "b$c.mtx" --json one.json --quiet || failed=1
        counts="$counts $(python3 -c 'import json; print(json.load(open("one.json"))["iterations"])')"
    done
    python3 - "$1" "$2" $counts <<'PYTHON' || failed=1
import json, sys
solver, options = sys.argv[1:3]
found = [(c["iterations"], c["relative_residual"]) for c in json.load(open("all.json"))["columns"]]
alone = [int(count) for count in sys.argv[3:]]
print(f"{solver:9}{options:32} together {[i for i, _ in found]} alone {alone} residual {max(r for _, r in found):.1e}")
least = 0 if solver == "block-cg" else 1
sys.exit(any(i > j + 1 or (least and i < j - 1) or r > 1e-8 for (i, r), j in zip(found, alone)))
PYTHON
}
for options in "--precond jacobi --format sell" "--precond jacobi --format crs" "--precond none" "--precond amg"; do
    for solver in cg block-cg; do together $solver "$options"; done
done

# times SYSTEM ROWS: milliseconds of the solve for each right-hand side, the median of three.
times() {
    for precond in jacobi amg; do
        for count in 1 4 8; do
            rhs "$2" $count >many.mtx
            for solver in cg block-cg; do
                for k in 1 2 3; do
                    "$program" solve --gen "$1" --solver $solver --precond $precond --device "$device" --rhs many.mtx \
                        --json "$k.json" --quiet || failed=1
                done
                python3 - "$1" $solver $precond $count <<'PYTHON'
import json, statistics, sys
system, solver, precond, count = sys.argv[1:]
found = [json.load(open(f"{k}.json")) for k in (1, 2, 3)]
columns = [one.get("columns") or [one] for one in found]
most = max(c["iterations"] for c in columns[0])
seconds = statistics.median(c[0]["solve_seconds"] for c in columns)
print(f"{system:14}{solver:9}{precond:8} k = {count}: {most:5} iterations {1e3 * seconds:8.2f} ms a right-hand side")
PYTHON
            done
        done
    done
}
times tet:96 875520
times tet:160 4070400

[ -n "$sanitizer" ] || { echo "skipped: compute-sanitizer is not here"; exit $failed; }
rhs $((10 * 10 * 9)) 5 >small.mtx
for tool in memcheck racecheck; do
    for options in "cg --format sell" "cg --format crs" "cg --precond amg" "block-cg --precond none" "block-cg --precond amg"; do
        "$sanitizer" --tool "$tool" --error-exitcode 99 "$program" solve --gen tet:10 --solver $options --device "$device" \
            --rhs small.mtx --quiet >out.txt 2>&1 || failed=1
        echo "$tool, columns, $options: $(grep -h SUMMARY out.txt | tail -1)"
    done
    "$sanitizer" --tool "$tool" --error-exitcode 99 "$program" solve --gen elasticity:5 --device "$device" --precond amg --quiet \
        >out.txt 2>&1 || failed=1
    echo "$tool, near-null vectors: $(grep -h SUMMARY out.txt | tail -1)"
done
exit $failed
