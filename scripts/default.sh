#!/usr/bin/env bash
# What a user gets without options, beside explicit choices: whole calls, warm, the median of three.
#
#   scripts/default.sh FOLDER [DEVICE]     FOLDER has the program warpsolve, and matrices *.mtx.gz; DEVICE is cuda
#
# A matrix NAME_elasticity.mtx.gz is also solved with NAME_coordinates.mtx.gz.
set -uo pipefail
bin=${1:?a folder with the program} device=${2:-cuda}

# row NAME ARGUMENTS ..: what was used, iterations, residual, milliseconds of set-up, solve and all but reading.
row() {
    local name=$1 report
    shift
    report=$(mktemp)
    for _ in 1 2 3; do
        "$bin/warpsolve" solve "$@" --device "$device" --quiet --json "$report" 2>/dev/null
        python3 - "$report" <<'EOF'
import json, sys
try:
    r = json.load(open(sys.argv[1]))
except ValueError:
    print("0 failed - - - 0 0 0")
    sys.exit()
tried = "+".join(a["solver"] + "/" + a["precond"] for a in r.get("attempts", [])) or "-"
whole = r["total_seconds"] - r["read_seconds"]
amg = (r.get("amg") or {}).get("parameters", {}).get("coarsening", "-")
print(f'{whole:.6f} {r["solver"]}/{r["precond"]} {amg} {tried} {r["iterations"]} {r["relative_residual"]:.1e} '
      f'{1e3 * r["setup_seconds"]:.1f} {1e3 * r["solve_seconds"]:.1f} {1e3 * whole:.1f}')
EOF
    done | sort -n | sed -n 2p | cut -d' ' -f2- | xargs printf '%-34s %-14s %-14s %-12s %6s %9s %10s %10s %10s\n' "$name"
    rm -f "$report"
}

printf '%-34s %-14s %-14s %-12s %6s %9s %10s %10s %10s\n' system used coarsening left its residual set-up solve whole
for gen in tet:96 poisson3d:128 poisson2d:1000 convection-diffusion:700:300; do
    row "$gen" --gen "$gen"
    row "$gen --precond amg" --gen "$gen" --precond amg
    row "$gen --precond jacobi" --gen "$gen" --precond jacobi
done
for blocks in 'bidomain:75 2' 'elasticity:63 3'; do
    for precond in amg jacobi; do
        row "${blocks% *} in blocks, $precond" --gen "${blocks% *}" --block-size "${blocks#* }" --solver cg --precond "$precond"
    done
done
for matrix in "$bin"/*.mtx.gz; do
    name=$(basename "$matrix" .mtx.gz)
    case $name in *_coordinates) continue ;; esac
    row "$name" "$matrix"
    row "$name --precond amg" "$matrix" --precond amg
    case $name in
    *_elasticity)
        row "$name --block-size 3" "$matrix" --precond amg --block-size 3
        row "$name --coordinates" "$matrix" --coordinates "$bin/${name%_elasticity}_coordinates.mtx.gz"
        ;;
    esac
done
