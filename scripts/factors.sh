#!/usr/bin/env bash
# Incomplete factors and elasticity on one GPU: the factors' tests, compute-sanitizer on their kernels, times.
#
#   scripts/factors.sh FOLDER     FOLDER has the program warpsolve, the test binary conformance and, where they are to be solved,
#                                 ge_bracket_elasticity.mtx.gz and ge_bracket_coordinates.mtx.gz
set -uo pipefail
bin=${1:?a folder with the program}
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1)

echo "== tests"
"$bin/conformance" driver:: 2>&1 | grep -E '^test result|FAILED|failed' | head -20
for tool in memcheck racecheck initcheck; do
    "$sanitizer" --tool "$tool" --error-exitcode 99 "$bin/conformance" --exact driver::incomplete_factors::in_f64 --test-threads 1 \
        >/tmp/sanitized 2>&1
    echo "$tool, factors: exit $?; $(grep -h 'SUMMARY' /tmp/sanitized | tail -1)"
done

echo "== GMRES(30) with ILU beside cuSPARSE"
"$bin/warpsolve" solve --gen tet:96 --device cuda --precond jacobi --quiet
bash "$(dirname "$0")/cusparse.sh" "$bin"

matrix=$bin/ge_bracket_elasticity.mtx.gz coordinates=$bin/ge_bracket_coordinates.mtx.gz
if [ -f "$matrix" ]; then
    echo "== elasticity with rigid motions"
    for _ in 1 2 3; do
        "$bin/warpsolve" solve "$matrix" --coordinates "$coordinates" --device cuda -v | grep -E '^(result|residual|set-up|upload|warm-up|solve|amg|solver)'
    done
    for tool in memcheck racecheck; do
        "$sanitizer" --tool "$tool" --error-exitcode 99 "$bin/warpsolve" solve "$matrix" --coordinates "$coordinates" --device cuda \
            --max-iter 2 >/tmp/sanitized 2>&1
        echo "$tool, near-null vectors: $(grep -h 'SUMMARY' /tmp/sanitized | tail -1)"
    done
fi
