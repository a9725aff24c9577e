#!/usr/bin/env bash
# Solves and simulates by processes of MPI, and compares with one process.
#
#   scripts/mpi.sh PROGRAM      built with the feature mpi
set -euo pipefail

program=$(realpath "${1:?which program?}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
number() { sed -n "s/^ *\"$1\": \([0-9.e-]*\),*$/\1/p" "$2" | head -n 1; }
refuse() { printf 'error: %s\n' "$*" >&2; exit 1; }

"$program" gen tet 8 A.mtx --quiet
# The last, of an elastic body, interpolates its rigid motions.
for way in "cg jacobi A.mtx" "bicgstab jacobi A.mtx" "gmres ilu A.mtx" "gmres ilu A.mtx --ilu overlap=2" \
    "cg amg A.mtx" "cg amg --gen elasticity:5 --amg rank_rows=20,coarse_rows=60"; do
    read -r solver precond more <<<"$way"
    for n in 2 3; do
        asked=(solve --solver "$solver" --precond "$precond" --device cpu --threads 1)
        # shellcheck disable=SC2206
        asked+=($more)
        timeout 120 mpirun --oversubscribe -n "$n" "$program" "${asked[@]}" --out x.mtx --json mpi.json --quiet
        "$program" "${asked[@]}" --ranks "$n" --out y.mtx --json threads.json --quiet
        cmp x.mtx y.mtx || refuse "$way: $n processes and $n threads give different bits"
        [ "$(number iterations mpi.json)" = "$(number iterations threads.json)" ] ||
            refuse "$way: other iterations than with threads"
        grep -q "\"count\": $n" mpi.json || refuse "$way: the report does not have $n ranks"
        printf '%-64s %d processes: %s iterations, the bits of threads\n' "$way" "$n" "$(number iterations mpi.json)"
    done
done

"$program" convert A.mtx A.wsm --quiet
for asked in "A.wsm --solver cg --precond amg --amg rank_rows=50" "--gen convection-diffusion:20"; do
    # shellcheck disable=SC2206
    asked=(solve $asked --by-rows --device cpu --threads 1 --quiet)
    timeout 120 mpirun --oversubscribe -n 3 "$program" "${asked[@]}" --out x.mtx --json mpi.json
    "$program" "${asked[@]}" --ranks 3 --out y.mtx --json threads.json
    cmp x.mtx y.mtx || refuse "by rows: 3 processes and 3 threads give different bits"
    grep -q '"by_rows": true' mpi.json || refuse "by rows: the report says otherwise"
    printf 'by rows: 3 processes: %s iterations, the bits of threads\n' "$(number iterations mpi.json)"
done

for way in "monodomain" "bidomain"; do
    asked=("$way" --slab 3,1,1 --spacing 0.25 --model mitchell-schaeffer --every 3 --device cpu --threads 1 --quiet)
    timeout 120 mpirun --oversubscribe -n 3 "$program" "${asked[@]}" --t-end 6 --out mpi --checkpoint mpi.state
    "$program" "${asked[@]}" --t-end 6 --ranks 3 --out threads --checkpoint threads.state
    cmp mpi.state threads.state || refuse "$way: 3 processes and 3 threads give different bits"
    cmp mpi/activation.vtu threads/activation.vtu || refuse "$way: other activation times"
    cmp mpi/v_000002.vtu threads/v_000002.vtu || refuse "$way: other frames"
    timeout 120 mpirun --oversubscribe -n 2 "$program" "${asked[@]}" --t-end 7 --restart threads.state
    timeout 120 mpirun --oversubscribe -n 3 "$program" "${asked[@]}" --t-end 6 --out mpi-pieces --pieces
    "$program" "${asked[@]}" --t-end 6 --ranks 3 --out pieces --pieces
    for file in v.pvd {v_000000,v_000001,v_000002,activation}{.pvtu,_0.vtu,_1.vtu,_2.vtu}; do
        cmp "mpi-pieces/$file" "pieces/$file" || refuse "$way: another $file"
    done
    rm -r mpi-pieces pieces
    printf '%-16s 3 processes: the bits of threads, also in pieces\n' "$way"
done

# One has no room for its piece: one message, which names it, and no list of pieces.
mkdir full
ln -s /dev/full full/v_000001_2.vtu
status=0
timeout 60 mpirun --oversubscribe -n 3 "$program" monodomain --slab 3,1,1 --spacing 0.25 --t-end 6 --every 3 \
    --model mitchell-schaeffer --device cpu --threads 1 --out full --pieces >out.txt 2>err.txt || status=$?
[ "$status" != 0 ] && [ "$status" != 124 ] || refuse "a full disk: exit status $status"
[ "$(grep -c '^error: ' err.txt)" = 1 ] && grep -q '^error: rank 2: .*v_000001_2.vtu' err.txt ||
    refuse "a full disk: $(cat err.txt)"
[ -s full/v_000000.pvtu ] && [ ! -e full/v_000001.pvtu ] || refuse "a list of pieces that are not there"
echo "a full disk of one process ends all"

# One message, and an end.
for asked in "solve nothing.mtx" "solve nothing.wsm --by-rows" "solve --gen bidomain:3 --by-rows" "monodomain nothing.vtu" "bidomain --slab 1,1,1 --spacing 0.5 --stimulus ball:9,9,9,1"; do
    status=0
    # shellcheck disable=SC2086
    timeout 30 mpirun --oversubscribe -n 3 "$program" $asked --device cpu >out.txt 2>err.txt || status=$?
    [ "$status" != 0 ] && [ "$status" != 124 ] || refuse "$asked: exit status $status"
    [ "$(grep -c '^error: ' err.txt)" = 1 ] || refuse "$asked: $(cat err.txt)"
done
# What processes were given is compared, but for what is each one's own.
"$program" gen poisson2d 20 C.wsm --quiet
mkdir one two
cp A.wsm one/A.wsm && cp C.wsm two/A.wsm
cp A.mtx one/A.mtx && cp A.mtx two/A.mtx
# The last digit of the last entry.
printf 7 | dd of=two/A.mtx bs=1 seek=$(($(stat -c %s A.mtx) - 2)) conv=notrunc status=none
cmp -s one/A.mtx two/A.mtx && refuse "the files are the same"
differ() { # differ EXPECTED ONE : ANOTHER
    local expected=$1 status=0
    shift
    timeout 30 mpirun --oversubscribe -n 2 "${@//warpsolve/$program}" >out.txt 2>err.txt || status=$?
    [ "$status" != 0 ] && [ "$status" != 124 ] || refuse "$*: exit status $status"
    [ "$(grep -c '^error: ' err.txt)" = 1 ] && grep -qF "error: rank 2: $expected" err.txt || refuse "$*: $(cat err.txt)"
}
differ "--rtol is 1e-6 here, and not given on rank 0; file is C.wsm here, and A.wsm on rank 0" \
    warpsolve solve A.wsm : -n 1 warpsolve solve C.wsm --rtol 1e-6
differ "command is monodomain here, and bidomain on rank 0" \
    warpsolve bidomain --slab 3,1,1 --spacing 0.25 : -n 1 warpsolve monodomain --slab 3,1,1 --spacing 0.25
for file in A.wsm A.mtx; do
    differ "the matrix is " -wdir "$folder/one" warpsolve solve $file --by-rows --device cpu : \
        -n 1 -wdir "$folder/two" warpsolve solve $file --by-rows --device cpu
done
timeout 60 mpirun --oversubscribe -n 1 "$program" solve A.wsm --by-rows --device cpu --threads 2 --out x.mtx --quiet : \
    -n 1 "$program" solve A.wsm --by-rows --device cpu --threads 1
[ -s x.mtx ] || refuse "the first process writes"
echo "processes with other options or files are refused"

status=0
timeout 30 mpirun --oversubscribe -n 2 "$program" solve A.mtx --device cuda >out.txt 2>err.txt || status=$?
[ "$status" != 124 ] || refuse "processes without a GPU wait for each other"
# A process that is killed takes the others with it.
timeout 60 mpirun --oversubscribe -n 3 "$program" solve --gen tet:20 --solver cg --precond none --rtol 1e-300 \
    --max-iter 1000000 --device cpu --threads 1 >out.txt 2>err.txt &
job=$!
for _ in $(seq 100); do
    victim=$(pgrep -P "$(pgrep -P $job mpirun | head -n 1)" 2>/dev/null | tail -n 1 || true)
    [ -n "$victim" ] && break
    sleep 0.1
done
sleep 2
kill -9 "$victim"
start=$SECONDS status=0
wait $job || status=$?
[ "$status" != 0 ] && [ $((SECONDS - start)) -le 10 ] || refuse "a killed process: status $status after $((SECONDS - start)) s"
echo "faults end all processes"
