#!/usr/bin/env bash
# Matrices with few different values on a GPU, with the numbers of their values and (--format sell) with the values
# themselves: time, memory, the bits of the residual; and compute-sanitizer on the kernels.
#
#   scripts/coded.sh PROGRAM [FILE ..]     FILE: matrices beside the generated ones
set -uo pipefail
program=$(realpath "${1:?which program?}")
shift
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1)
report=$(mktemp)
trap 'rm -f "$report"' EXIT

# run SYSTEM METHOD OPTION ..: the median of three solves
run() {
    local system=$1 method=$2 results=() k
    shift 2
    for k in 1 2 3; do
        # shellcheck disable=SC2086
        "$program" solve $system --solver cg --precond "$method" --max-iter 300 --device cuda --quiet --json "$report" "$@"
        results+=("$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(1e3 * r["solve_seconds"],
            1e3 * r["setup_seconds"], r["iterations"], r["device_bytes"] / 2**30, r["relative_residual"])' "$report")")
    done
    printf '%s\n' "${results[@]}" | sort -g | sed -n 2p
}

failed=0
printf '%-40s %-7s %24s %24s\n' system method "values: ms, set-up, GiB" "numbers: ms, set-up, GiB"
for system in "--gen poisson3d:256" "--gen poisson2d:2000" "$@"; do
    for method in jacobi amg; do
        read -r ms set_up iterations gib residual <<<"$(run "$system" $method --format sell)"
        read -r ms2 set_up2 iterations2 gib2 residual2 <<<"$(run "$system" $method)"
        printf '%-40s %-7s %9.2f %7.1f %6.2f %9.2f %7.1f %6.2f\n' "$system" $method "$ms" "$set_up" "$gib" "$ms2" "$set_up2" "$gib2"
        [ "$iterations $residual" = "$iterations2 $residual2" ] || { echo "other bits: $residual $residual2"; failed=1; }
    done
done
[ -n "$sanitizer" ] || { echo "skipped: compute-sanitizer is not here"; exit $failed; }
for tool in memcheck racecheck; do
    "$sanitizer" --tool $tool --error-exitcode 3 "$program" solve --gen poisson3d:40 --solver cg --precond jacobi --device cuda --quiet || failed=1
done
exit $failed
