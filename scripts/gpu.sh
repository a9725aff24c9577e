#!/usr/bin/env bash
# Checks and measures release binaries on a machine with an NVIDIA GPU; needs neither cargo nor the sources.
#
#   scripts/gpu.sh FOLDER [--out FOLDER] [--sections NAME,...] [--device NAME] [--sizes N,N] [--blocks N] [--spacing MM]
#
# FOLDER   holds the program `warpsolve` and, where they are to run, the test binaries `conformance` and
#          `driver`, the benchmark `amg`, matrices `*.mtx.gz` for it, and hearts `*.vtu` (CONTRIBUTING.md says how
#          to put them there).
# --out    where reports and logs go [gpu-results]
# --sections  what to do [tests,spmv,multigrid,solve,blocks,cardiac,file]; beside these there are
#          start: the first solve on a machine whose driver has translated nothing yet, from machine code and from PTX,
#          bench: the source documents' tables, as text, JSON and a page,
#          profile: multigrid on the larger tet system and on a Poisson problem, kernel by kernel,
#          sanitizer: compute-sanitizer (of $COMPUTE_SANITIZER, the PATH or /usr/local/cuda*) over one test of each family of
#          kernels, a set-up and cycles with every coarsening, and steps of the cardiac equations
# --device what to measure [cuda]; `--device cpu --sizes 16,20` tries the script without a GPU
# --blocks   edge of the bidomain system, and of the slab of its time steps [100]
# --spacing  of the finest grid of the Niederer benchmark [0.1]
# --sizes  edges of the two tet systems [96,160]; the first is also shuffled and goes through a file
#
# Goes on after a failure; the exit status is 1 if anything failed.
set -uo pipefail

out=gpu-results device=cuda sizes=96,160 blocks=100 spacing=0.1 bin=
sections=tests,spmv,multigrid,solve,blocks,cardiac,file
while [ $# -gt 0 ]; do
    case $1 in
    --out) out=${2:?--out needs a folder} && shift 2 ;;
    --device) device=${2:?--device needs a name} && shift 2 ;;
    --sizes) sizes=${2:?--sizes needs two numbers} && shift 2 ;;
    --blocks) blocks=${2:?--blocks needs a number} && shift 2 ;;
    --spacing) spacing=${2:?--spacing needs a number} && shift 2 ;;
    --sections) sections=${2:?--sections needs names} && shift 2 ;;
    -*) echo "unknown option $1; see the head of $0" >&2 && exit 1 ;;
    *) bin=$1 && shift ;;
    esac
done
if [ ! -x "$bin/warpsolve" ]; then
    echo "usage: $0 FOLDER [--out FOLDER] [--sections NAME,...] [--device NAME] ...; see its head" >&2
    echo "no program warpsolve in '$bin'" >&2
    exit 1
fi
bin=$(cd "$bin" && pwd)
mkdir -p "$out" || exit 1
small=${sizes%%,*} large=${sizes##*,}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failures=()

fail() {
    failures+=("$1")
    printf '%-28s FAILED: %s\n' "$1" "$2"
}

# step NAME SECONDS "STATUS ..." COMMAND ...: runs, logs to NAME.txt, and expects one of the statuses.
step() {
    local name=$1 limit=$2 expected=$3 start=$SECONDS status
    shift 3
    timeout -k 10 "$limit" "$@" >"$out/$name.txt" 2>&1 </dev/null
    status=$?
    if [[ " $expected " == *" $status "* ]]; then
        printf '%-28s ok, %d s\n' "$name" $((SECONDS - start))
        return 0
    fi
    if [ $status = 124 ] || [ $status = 137 ]; then
        fail "$name" "ran longer than $limit s; see $out/$name.txt"
    else
        fail "$name" "exit status $status; the end of $out/$name.txt:"
        tail -n 8 "$out/$name.txt" | sed 's/^/    /'
    fi
    return 1
}

# tests NAME SECONDS BINARY ARGUMENTS ...: tests that skip themselves have not run.
tests() {
    local name=$1 limit=$2
    shift 2
    step "$name" "$limit" 0 "$@" || return
    grep -E '^test result' "$out/$name.txt" | sed 's/^/    /'
    if [ "$device" != cpu ] && grep -q 'skipped: ' "$out/$name.txt"; then
        fail "$name" "$(grep -m 1 -o 'skipped: .*' "$out/$name.txt")"
    elif grep -q 'test result: ok\. 0 passed' "$out/$name.txt"; then
        fail "$name" "no test of that name"
    fi
}

# section NAME: whether it is asked for.
section() {
    [[ ",$sections," == *",$1,"* ]] && echo "== $1"
}

echo "== what there is"
step info 60 0 "$bin/warpsolve" info && sed 's/^/    /' "$out/info.txt"
step info-json 60 0 "$bin/warpsolve" info --json "$out/info.json"
case $device in
cuda*) grep -q '"auto": "cuda' "$out/info.json" 2>/dev/null || fail info "--device auto takes no GPU" ;;
esac

if section tests; then
    if [ -x "$bin/conformance" ]; then
        tests conformance 600 "$bin/conformance" driver:: --nocapture
    else
        echo "conformance                  not there, left out"
    fi
    if [ -x "$bin/driver" ]; then
        # That test looks at the program in the folder where cargo built it.
        tests driver 300 "$bin/driver" --nocapture --skip the_program_starts_without_a_driver
    else
        echo "driver                       not there, left out"
    fi
fi

if section sanitizer; then
    tool=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer || true)}
    for path in /usr/local/cuda*/bin/compute-sanitizer; do
        [ -z "$tool" ] && [ -x "$path" ] && tool=$path
    done
    cases=()
    for case in products products_with_dots sweeps_with_norm dots maxima orthogonalisation incomplete_factors \
        rotations_and_solution cg_steps directions updates \
        smoothing_operators rounded_corrections sweeps_of_corrections diagonals_of_blocks sweeps_of_blocks hierarchies_of_blocks multigrid_of_blocks; do
        cases+=("driver::$case::in_f64")
    done
    cases+=(driver::reactions driver::activations)
    [ -n "$tool" ] || fail compute-sanitizer "not found; name it in COMPUTE_SANITIZER"
    # sanitized NAME CHECK COMMAND ...
    sanitized() {
        local name=$2-$1 check=$2
        shift 2
        step "$name" 300 0 "$tool" --tool "$check" --error-exitcode 99 "$@"
        grep -h 'ERROR SUMMARY\|RACECHECK SUMMARY\|^test result' "$out/$name.txt" | sed 's/^=* */    /'
    }
    if [ -n "$tool" ]; then
        for check in memcheck racecheck; do
            if [ -x "$bin/conformance" ]; then
                sanitized tests $check "$bin/conformance" --exact "${cases[@]}" --test-threads 1 --nocapture
            fi
            if [ -x "$bin/amg" ]; then
                for coarsening in sa pmis mandel-brezina; do
                    sanitized $coarsening $check "$bin/amg" tet:12 coarsening=$coarsening
                done
            fi
            if [ -x "$bin/driver" ]; then
                sanitized device-memory $check "$bin/driver" --exact a_system_in_device_memory_is_solved_there --nocapture
            fi
            for formulation in coupled splitting; do
                sanitized $formulation $check "$bin/warpsolve" bidomain --slab 2,2,2 --spacing 0.2 --dt 0.05 \
                    --t-end 0.2 --formulation $formulation --device "$device" --out "$scratch/$formulation"
            done
        done
    fi
fi

# The systems of the tables in docs/performance. The seed decides the jitter of the nodes and the permutation.
name_of() { case $1 in *shuffle*) echo "tetshuf$small" ;; *) echo "tet$(grep -o 'tet:[0-9]*' <<<"$1" | cut -d: -f2)" ;; esac; }
tet_small="--gen tet:$small --seed 0"
tet_shuffled="--gen tet:$small --shuffle --seed 1"
tet_large="--gen tet:$large --seed 0"

if section spmv; then
    for system in "$tet_small" "$tet_shuffled" "$tet_large"; do
        name=spmv-$(name_of "$system")
        # shellcheck disable=SC2086
        step "$name" 300 0 "$bin/warpsolve" spmv $system --format crs,ell,sell --precision f64,f32 \
            --device "$device" --repeat 100 --json "$out/$name.json" && sed 's/^/    /' "$out/$name.txt"
    done
fi

if section multigrid; then
    if [ -x "$bin/amg" ]; then
        shopt -s nullglob
        step amg 400 0 "$bin/amg" "tet:$small" "tet:$small+shuffled" "tet:$large" poisson3d:$((16 * (large / 10))) "$bin"/*.mtx.gz &&
            sed 's/^/    /' "$out/amg.txt"
        shopt -u nullglob
    else
        echo "amg                          not there, left out"
    fi
fi

# solve NAME "STATUS ..." ARGUMENTS ...
solve() {
    local name=$1 expected=$2
    shift 2
    step "$name" 300 "$expected" "$bin/warpsolve" solve "$@" --device "$device" -v \
        --json "$out/$name.json" --history "$out/$name.csv"
}
# shellcheck disable=SC2086
if section solve; then
    for system in "$tet_small" "$tet_shuffled" "$tet_large"; do
        for format in auto crs; do
            solve "cg-$(name_of "$system")-$format" 0 $system --solver cg --precond jacobi --format $format
        done
    done
    # f32 reaches no small residual on this matrix; the time counts all the same.
    solve "cg-f32-tet$small" "0 2" $tet_small --solver cg --precond jacobi --precision f32 --rtol 1e-4
    solve "bicgstab-tet$small" 0 $tet_small --solver bicgstab --precond jacobi
    solve "bicgstab-tet$large" 0 $tet_large --solver bicgstab --precond jacobi
    # A restart after 30 iterations slows convergence: the limit may come first, and the time still counts.
    solve "gmres30-tet$small" "0 2" $tet_small --solver gmres --restart 30 --precond jacobi
    solve "gmres30-tet$large" "0 2" $tet_large --solver gmres --restart 30 --precond jacobi --max-iter 3000
fi

if section start; then
    for precond in jacobi amg; do
        for cubin in 1 0; do
            name=start-$precond-$([ $cubin = 1 ] && echo cubin || echo ptx)
            start=$(date +%s%N)
            if CUDA_CACHE_DISABLE=1 WARPSOLVE_CUBIN=$cubin step "$name" 60 0 "$bin/warpsolve" solve --gen tet:32 \
                --seed 0 --precond $precond --device "$device" -q --json "$out/$name.json"; then
                printf '    from start to exit %d ms, %s\n' $((($(date +%s%N) - start) / 1000000)) \
                    "$(grep -o '"\(warm_up\|setup\|device\|solve\)_seconds": [0-9.e-]*' "$out/$name.json" | tr '\n' ' ')"
            fi
        done
    done
fi

coupled="--gen bidomain:$blocks"
# shellcheck disable=SC2086
if section blocks; then
    step spmv-blocks 300 0 "$bin/warpsolve" spmv $coupled --format crs,sell,bcrs2,bsell2 --precision f64,f32 \
        --device "$device" --repeat 100 --json "$out/spmv-blocks.json" && sed 's/^/    /' "$out/spmv-blocks.txt"
    solve "blocks-amg" 0 $coupled --block-size 2 --precond amg
    solve "blocks-amg-1e-6" 0 $coupled --block-size 2 --precond amg --rtol 1e-6
    solve "blocks-amg-scalar" "0 2" $coupled --block-size 1 --precond amg --max-iter 300
    # Badly conditioned: what counts is the time of an iteration.
    solve "blocks-jacobi" "0 2" $coupled --block-size 2 --precond jacobi --max-iter 300
    solve "blocks-jacobi-scalar" "0 2" $coupled --precond jacobi --max-iter 300
fi

# cardiac NAME SECONDS COMMAND ARGUMENTS ...
cardiac() {
    local name=$1 limit=$2
    shift 2
    step "$name" "$limit" 0 "$bin/warpsolve" "$@" --device "$device" --out "$out/$name" && sed 's/^/    /' "$out/$name.txt"
    rm -f "$out/$name"/*.vtu
}
if section bench; then
    step bench 500 0 "$bin/warpsolve" bench all --device "$device" --solves 5 --threads 1,2,4,8 \
        --json "$out/bench.json" --html "$out/bench.html" --markdown "$out/bench.md" && sed 's/^/    /' "$out/bench.txt"
fi

if section profile; then
    for system in "tet:$large" "poisson3d:$((small * 8 / 3))"; do
        name=profile-${system%%:*}
        step "$name" 120 0 "$bin/warpsolve" solve --gen "$system" --seed 0 --precond amg --device "$device" -v --profile \
            --profile-trace "$out/$name.json" && sed 's/^/    /' "$out/$name.txt"
    done
fi

if section cardiac; then
    edge=$(awk "BEGIN { print 0.2 * ($blocks - 1) }")
    for formulation in coupled splitting; do
        cardiac step-$formulation 300 bidomain --slab "$edge,$edge,$edge" --spacing 0.2 --dt 0.05 --t-end 2 \
            --formulation $formulation
    done
    for h in 0.5 0.2 "$spacing"; do
        for dt in 0.05 0.01 0.005; do
            cardiac "niederer-$h-$dt" 300 monodomain --niederer --spacing "$h" --dt $dt --every 0
        done
    done
    shopt -s nullglob
    for heart in "$bin"/*.vtu; do
        cardiac "$(basename "$heart" .vtu)" 300 bidomain "$heart" --isotropic --dt 0.05 --t-end 60 --every 20
    done
    shopt -u nullglob
fi

if section file; then
    file=$scratch/tet$small.mtx
    if step "gen-tet$small" 300 0 "$bin/warpsolve" gen tet "$small" "$file" --seed 0; then
        sed 's/^/    /' "$out/gen-tet$small.txt"
        step "file-tet$small" 300 0 "$bin/warpsolve" solve "$file" --device "$device" --solver cg --precond jacobi \
            -v --json "$out/file-tet$small.json" && sed 's/^/    /' "$out/file-tet$small.txt"
        # Without a report the copy bandwidth is not measured: this is what the solve itself takes.
        for run in 1 2 3; do
            start=$(date +%s%N)
            step "file-tet$small-quiet$run" 300 0 "$bin/warpsolve" solve "$file" --device "$device" --solver cg \
                --precond jacobi -q --out "$scratch/x.mtx" &&
                printf '    from start to exit, x written: %d ms\n' $((($(date +%s%N) - start) / 1000000))
        done
    fi
fi

echo "== summary"
if command -v python3 >/dev/null 2>&1; then
    python3 - "$out" <<'PYTHON' || fail summary "python3 could not make it"
import json, pathlib, sys

reports = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
    try:
        reports[path.stem] = json.loads(path.read_text())
    except ValueError as error:
        print(f"{path}: {error}")


def table(heading, rows):
    rows = [heading] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in rows) for k in range(len(heading))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    print()


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if part and whole else "-"


def of(schema):
    return {name: r for name, r in reports.items() if str(r.get("schema", "")).startswith(schema)}


rows = []
for name, report in of("warpsolve.spmv/").items():
    for r in report["results"]:
        head = [name, r["format"], r["precision"]]
        if r["refused"]:
            rows.append(head + ["refused", "", "", "", ""])
            continue
        check = f"{r['error']:.0e} " + ("ok" if r["correct"] else "WRONG")
        rows.append(head + [f"{1e3 * r['median_seconds']:.4f}", f"{1e3 * r['min_seconds']:.4f}",
                            f"{1e-9 * r['bandwidth']:.0f}", share(r["bandwidth"], r["copy_bandwidth"]), check])
if rows:
    table(["spmv", "format", "type", "median ms", "min ms", "GB/s", "of copy", "check"], rows)

rows = []
for name, r in of("warpsolve.solve/").items():
    n = r["iterations"]
    each = f"{1e3 * r['solve_seconds'] / n:.4f}" if n else "-"
    launches = f"{r['counts']['launches'] / n:.1f}" if r["counts"] and n else "-"
    allocations = str(r["counts"]["allocations"]) if r["counts"] else "-"
    rows.append([name, r["format"], r["stop_reason"], n, each, f"{r['relative_residual'] or float('nan'):.2e}",
                 share(r["bandwidth"], r["copy_bandwidth"]), launches, allocations]
                + [f"{1e3 * r[key + '_seconds']:.0f}" for key in ("read", "device", "setup", "upload", "solve", "total")]
                + [f"{r['device_bytes'] / 2**20:.0f}"])
if rows:
    table(["solve", "format", "stop", "it", "ms/it", "residual", "of copy", "launches/it", "allocs",
           "read ms", "open", "set-up", "upload", "solve", "total", "MiB"], rows)
PYTHON
else
    echo "no python3; the reports as text:"
    for text in "$out"/spmv-*.txt "$out"/cg-*.txt "$out"/bicgstab-*.txt "$out"/gmres30-*.txt; do
        [ -f "$text" ] && printf '\n-- %s\n' "$text" && cat "$text"
    done
fi

if [ ${#failures[@]} -gt 0 ]; then
    printf 'FAILED: %s\n' "${failures[@]}"
    exit 1
fi
echo "All is well; reports and logs are in $out"
