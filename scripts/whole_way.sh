#!/bin/sh
# The whole way on a GPU: from the system on the host to the solution there, first solve and tenth, by phases, and
# several right-hand sides at once against one. Prints tables; the JSON reports are in the folder OUT.
# NAME-default are those without options.
#
#   scripts/whole_way.sh [WARPSOLVE] [OUT] [PROBLEM..]
set -eu
warpsolve=${1:-target/release/warpsolve}
out=${2:-whole-way}
[ $# -gt 2 ] && shift 2 || set -- tet:96 "tet:96 --shuffle" tet:160 poisson3d:256
mkdir -p "$out"

run() { # name, arguments..
    name=$1
    shift
    echo "## $name"
    # The file is where phases are read from; the text is for people.
    "$warpsolve" solve "$@" --json "$out/$name.json" -v | sed -n '/^passes/,/wall/p;/^result/p;/^solve/p'
    echo
}

for problem in "$@"; do
    name=$(echo "$problem" | tr -d ' ' | tr ':' '-')
    # shellcheck disable=SC2086
    set -- --gen $problem --device cuda --rtol 1e-8
    run "$name-default" "$@" --repeat 10
    set -- "$@" --solver cg
    run "$name-amg" "$@" --precond amg --repeat 10
    run "$name-amg-new-values" "$@" --precond amg --repeat 10 --new-values
    run "$name-jacobi" "$@" --precond jacobi --repeat 3
done

# k right-hand sides: seconds of a solve for each, against one.
for k in 1 2 4 8; do
    n=$((96 * 96 * 95))
    awk -v n=$n -v k=$k 'BEGIN { srand(7); print "%%MatrixMarket matrix array real general"; print n, k;
        for (i = 0; i < n * k; i++) print rand() - 0.5 }' > "$out/b$k.mtx"
    for precond in jacobi amg; do
        run "tet96-$precond-$k" --gen tet:96 --device cuda --solver cg --precond "$precond" --rhs "$out/b$k.mtx" \
            --repeat 3
    done
    rm "$out/b$k.mtx"
done
