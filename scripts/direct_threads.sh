#!/usr/bin/env bash
# Seconds of direct solution on the host, by the number of threads; x must have the same bits for all of them.
#
#     scripts/direct_threads.sh PROGRAM [THREADS..]
set -euo pipefail
program=$1
shift
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
echo "| system | threads | set-up | solve | residual | x |"
echo "|---|---|---|---|---|---|"
for system in poisson3d:60 tet:48 elasticity:26; do
    for method in "--solver direct" "--solver gmres --precond direct"; do
        sum=
        for threads in "${@:-1}"; do
            # shellcheck disable=SC2086
            "$program" solve --gen "$system" $method --device cpu --threads "$threads" \
                --out "$scratch/x.mtx" --json "$scratch/report.json" >/dev/null
            now=$(sha256sum <"$scratch/x.mtx")
            sum=${sum:-$now}
            if [ "$sum" = "$now" ]; then same="same bits"; else same="OTHER BITS"; fi
            python3 - "$scratch/report.json" "$system, ${method#--}" "$threads" "$same" <<'P'
import json, sys
path, system, threads, same = sys.argv[1:]
report = json.load(open(path))
seconds = [report[key] for key in ("setup_seconds", "solve_seconds")]
print(f"| {system} | {threads} | {seconds[0]:.2f} | {seconds[1]:.2f} | {report['relative_residual']:.1e} | {same} |")
P
        done
    done
done
