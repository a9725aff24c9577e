#!/usr/bin/env bash
# GMRES(30) with incomplete factors to 1e-8: warpsolve beside cuSPARSE, on one GPU, in one run.
#
#   scripts/cusparse.sh FOLDER     FOLDER has the program warpsolve; nvcc compiles benches/cusparse/gmres_ilu.cu
#
# SYSTEMS and ILU in the environment name others. Medians of three; set-up of cuSPARSE: csrilu02 alone.
set -euo pipefail
bin=${1:?a folder with the program}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -O3 -arch=native "$(dirname "$0")/../benches/cusparse/gmres_ilu.cu" -o "$work/gmres_ilu" -lcusparse -lcublas \
    >"$work/nvcc" 2>&1 || { cat "$work/nvcc"; exit 1; }

line='%-26s %-34s %6s %9s %9s %9s\n'
printf "$line" system by its residual set-up 'solve ms'
for system in ${SYSTEMS:-tet:96 convection-diffusion:1000 convection-diffusion:1000:300}; do
    "$bin/warpsolve" gen "${system%%:*}" "${system#*:}" "$work/a.wsm" --quiet
    timeout 100 "$work/gmres_ilu" "$work/a.wsm" >"$work/theirs" || echo '{}' >"$work/theirs"
    python3 - "$work/theirs" <<'EOF' | xargs -d '\n' -n 4 printf "$line" "$system" 'cuSPARSE, natural order'
import json, sys
r = json.load(open(sys.argv[1]))
print(r.get("iterations", "-"), f'{r.get("residual", 0):.1e}', r.get("factors_ms", "-"), r.get("solve_ms", "-"), sep="\n")
EOF
    for ilu in ${ILU:-order=multicolour order=natural kind=dilu}; do
        for _ in 1 2 3; do
            timeout 100 "$bin/warpsolve" solve "$work/a.wsm" --solver gmres --ilu $ilu --device "${DEVICE:-cuda}" --quiet --json "$work/ours" 2>/dev/null || true
            python3 - "$work/ours" <<'EOF'
import json, sys
try:
    r = json.load(open(sys.argv[1]))
    print(f'{1e3 * r["solve_seconds"]:.2f} {r["iterations"]} {r["relative_residual"]:.1e} {1e3 * r["setup_seconds"]:.1f}')
except Exception as e:
    print("0 failed - -")
EOF
            rm -f "$work/ours"
        done | sort -n | sed -n 2p | awk '{print $2; print $3; print $4; print $1}' | xargs -d '\n' -n 4 printf "$line" "$system" "warpsolve, $ilu"
    done
done
