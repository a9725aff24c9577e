#!/usr/bin/env bash
# Several right-hand sides on a GPU: every column against a solve alone, and compute-sanitizer on the kernels.
#
#   scripts/columns.sh PROGRAM [DEVICE]     DEVICE is cuda
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
for options in "--precond jacobi --format sell" "--precond jacobi --format crs" "--precond none" "--precond amg"; do
    # shellcheck disable=SC2086
    "$program" solve --gen tet:24 --solver cg $options --device "$device" --rhs b.mtx --json all.json --quiet || failed=1
    counts=
    for c in 0 1 2 3 4; do
        # shellcheck disable=SC2086
        "$program" solve --gen tet:24 --solver cg $options --device "$device" --rhs "b$c.mtx" --json one.json --quiet || failed=1
        counts="$counts $(python3 -c 'import json; print(json.load(open("one.json"))["iterations"])')"
    done
    python3 - "$options" $counts <<'PYTHON' || failed=1
import json, sys
found = [(c["iterations"], c["relative_residual"]) for c in json.load(open("all.json"))["columns"]]
alone = [int(count) for count in sys.argv[2:]]
print(f"{sys.argv[1]:36} together {[i for i, _ in found]} alone {alone} residual {max(r for _, r in found):.1e}")
sys.exit(any(abs(i - j) > 1 or r > 1e-8 for (i, r), j in zip(found, alone)))
PYTHON
done
[ -n "$sanitizer" ] || { echo "skipped: compute-sanitizer is not here"; exit $failed; }
rhs $((10 * 10 * 9)) 5 >small.mtx
for tool in memcheck racecheck; do
    for options in "--format sell" "--format crs" "--precond amg"; do
        # shellcheck disable=SC2086
        "$sanitizer" --tool "$tool" --error-exitcode 99 "$program" solve --gen tet:10 --solver cg $options --device "$device" \
            --rhs small.mtx --quiet >out.txt 2>&1 || failed=1
        echo "$tool, columns $options: $(grep -h SUMMARY out.txt | tail -1)"
    done
    "$sanitizer" --tool "$tool" --error-exitcode 99 "$program" solve --gen elasticity:5 --device "$device" --precond amg --quiet \
        >out.txt 2>&1 || failed=1
    echo "$tool, near-null vectors: $(grep -h SUMMARY out.txt | tail -1)"
done
exit $failed
