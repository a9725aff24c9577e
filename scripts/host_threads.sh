#!/usr/bin/env bash
# The source documents' host table: CG with Jacobi and with multigrid on 1, 2, 4, 8 threads.
# Usage: scripts/host_threads.sh PROGRAM [SYSTEM] [THREADS...], as in scripts/host_threads.sh target/release/warpsolve tet:96 1 2 4 8
set -euo pipefail
program=$1
system=${2:-tet:96}
shift $(($# > 1 ? 2 : 1))
[ $# -gt 0 ] || set -- 1 2 4 8

printf '%-8s %-8s %10s %12s %12s\n' threads precond iterations 'set-up ms' 'solve ms'
for threads in "$@"; do
    for precond in jacobi amg; do
        "$program" solve --gen "$system" --seed 0 --solver cg --precond $precond --device cpu --threads "$threads" --json - |
            python3 -c "
import json, sys
r = json.load(sys.stdin)
print(f\"{$threads:<8} {'$precond':<8} {r['iterations']:>10} {1e3 * r['setup_seconds']:>12.1f} {1e3 * r['solve_seconds']:>12.1f}\")"
    done
done
