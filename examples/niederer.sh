#!/usr/bin/env bash
# The benchmark of Niederer et al. 2011 on its three meshes, with the equation that it asks for and with the bidomain
# equations. docs/niederer.md has figures.
#
#     examples/niederer.sh [FOLDER] [DEVICE]      # default: niederer, auto
#
# The program is `warpsolve` of the PATH, or $WARPSOLVE.
set -euo pipefail
folder=${1:-niederer} device=${2:-auto} warpsolve=${WARPSOLVE:-warpsolve}
mkdir -p "$folder"

for spacing in 0.5 0.2 0.1; do
    for command in monodomain "bidomain --formulation splitting" "bidomain --formulation coupled"; do
        name="${command##* }-$spacing"
        printf '\n=== %s, spacing %s mm\n' "$command" "$spacing"
        # Without quotes: a command and its options.
        "$warpsolve" $command --niederer --spacing "$spacing" --dt 0.005 --every 0 --device "$device" \
            --out "$folder/$name"
    done
done
