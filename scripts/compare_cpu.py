#!/usr/bin/env python3
"""Times CG + Jacobi (or, with --precond amg, CG + multigrid with its set-up) of warpsolve's CPU backend beside AMGCL
(pyamgcl from PyPI), and y = A x beside a triad.

    python3 -m venv venv
    venv/bin/pip install numpy scipy pybind11 setuptools wheel
    venv/bin/pip install --no-build-isolation pyamgcl    # a C++ compiler and Boost's headers compile it
    venv/bin/python scripts/compare_cpu.py target/release/warpsolve [--size 96] [--threads 2] [--repeat 5]

Both solve the same system, `warpsolve gen tet SIZE` with seed 0 and b = 1, from x = 0 to
||b - A x|| <= 1e-8 ||b||, in turns (A B A B ...). AMGCL's single-level relaxation `damped_jacobi` with damping 1
is the Jacobi preconditioner; its multigrid is smoothed aggregation with SPAI-0, its default. Time an iteration is the time of the solve, without set-up, by the iterations.
The exit status is 1 where a solver misses the tolerance, which is checked here with SciPy's product.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

RTOL = 1e-8


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warpsolve", help="the release binary")
    parser.add_argument("--size", type=int, default=96, help="edge of the tet system [96]")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of both [all cores]")
    parser.add_argument("--repeat", type=int, default=5, help="solves of each [5]")
    parser.add_argument("--precond", choices=["jacobi", "amg"], default="jacobi", help="of both [jacobi]")
    return parser.parse_args()


def report(arguments):
    """What warpsolve prints as JSON."""
    return json.loads(subprocess.run(arguments, check=True, stdout=subprocess.PIPE).stdout)


def spread(name, times):
    """The median in milliseconds, printed with the extremes."""
    median = statistics.median(times)
    print(f"{name:28} {median:7.2f} ms an iteration (of {min(times):.2f} to {max(times):.2f})")
    return median


def compare_amg(args, a, b, generated, solution, norm, read):
    """Set-up + solve of both, in turns; the worst relative residual."""
    import pyamgcl

    solve = [args.warpsolve, "solve", *generated, "--solver", "cg", "--precond", "amg", "--rtol", str(RTOL),
             "--out", solution]
    ours, theirs, residuals = [], [], []
    for _ in range(args.repeat):
        start = time.perf_counter()
        hierarchy = pyamgcl.amg(a, {"coarsening.type": "smoothed_aggregation", "relax.type": "spai0"})
        middle = time.perf_counter()
        amgcl = pyamgcl.solver(hierarchy, {"type": "cg", "tol": RTOL, "maxiter": 500})
        x = amgcl(b)
        theirs.append((1e3 * (middle - start), 1e3 * (time.perf_counter() - middle)))
        residuals.append(norm(b - a @ x) / norm(b))
        result = report(solve)
        ours.append((1e3 * result["setup_seconds"], 1e3 * result["solve_seconds"]))
        x = read(solution).ravel()
        residuals.append(norm(b - a @ x) / norm(b))
    print(f"{amgcl.iters} iterations of AMGCL, {result['iterations']} of warpsolve")
    for name, times in (("warpsolve", ours), ("AMGCL", theirs)):
        setup, solve_time = (statistics.median(t[k] for t in times) for k in (0, 1))
        print(f"{name:28} set-up {setup:7.0f} ms, solve {solve_time:7.0f} ms, together {setup + solve_time:7.0f} ms")
    pairs = statistics.median(sum(o) / sum(t) for o, t in zip(ours, theirs))
    print(f"{'warpsolve / AMGCL':28} {pairs:7.2f} median of neighbouring pairs")
    return max(residuals)


def main():
    args = arguments()
    # Before the import: OpenMP reads it once.
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    import numpy
    import pyamgcl
    import scipy.io

    threads = ["--threads", str(args.threads)]
    with tempfile.TemporaryDirectory() as folder:
        matrix, solution = (os.path.join(folder, name) for name in ("a.mtx", "x.mtx"))
        subprocess.run(
            [args.warpsolve, "gen", "tet", str(args.size), matrix, "--seed", "0", "--quiet"], check=True)
        a = scipy.io.mmread(matrix).tocsr()
        b = numpy.ones(a.shape[0])
        print(f"tet:{args.size}, seed 0: {a.shape[0]} rows, {a.nnz} nonzeros, {args.threads} threads")

        generated = ["--gen", f"tet:{args.size}", "--seed", "0", "--device", "cpu", *threads, "--json", "-"]
        if args.precond == "amg":
            worst = compare_amg(args, a, b, generated, solution, numpy.linalg.norm, scipy.io.mmread)
            print(f"{'largest ||b - A x|| / ||b||':28} {worst:.3e}")
            return 0 if worst <= 1.01 * RTOL else 1

        relaxation = pyamgcl.relaxation(a, {"type": "damped_jacobi", "damping": 1.0})
        amgcl = pyamgcl.solver(relaxation, {"type": "cg", "tol": RTOL, "maxiter": 5000})
        solve = [args.warpsolve, "solve", *generated, "--solver", "cg", "--precond", "jacobi",
                 "--rtol", str(RTOL), "--out", solution]
        ours, theirs, residuals = [], [], []
        for _ in range(args.repeat):
            start = time.perf_counter()
            x = amgcl(b)
            theirs.append(1e3 * (time.perf_counter() - start) / amgcl.iters)
            residuals.append(numpy.linalg.norm(b - a @ x) / numpy.linalg.norm(b))

            result = report(solve)
            ours.append(1e3 * result["solve_seconds"] / result["iterations"])
            x = scipy.io.mmread(solution).ravel()
            residuals.append(numpy.linalg.norm(b - a @ x) / numpy.linalg.norm(b))

    print(f"{amgcl.iters} iterations of AMGCL, {result['iterations']} of warpsolve")
    ratio = spread("warpsolve", ours) / spread("AMGCL", theirs)
    print(f"{'warpsolve / AMGCL':28} {ratio:7.2f} of the medians,",
          f"{statistics.median(o / t for o, t in zip(ours, theirs)):.2f} median of neighbouring pairs")

    shares = []
    for _ in range(args.repeat):
        spmv = report([args.warpsolve, "spmv", *generated, "--format", "crs"])["results"][0]
        shares.append(spmv["bandwidth"] / spmv["copy_bandwidth"])
    print(f"{'y = A x / triad':28} {statistics.median(shares):7.2f} of its bandwidth",
          f"(of {min(shares):.2f} to {max(shares):.2f}; the last: {spmv['bandwidth'] * 1e-9:.1f} of",
          f"{spmv['copy_bandwidth'] * 1e-9:.1f} GB/s)")
    worst = max(residuals)
    print(f"{'largest ||b - A x|| / ||b||':28} {worst:.3e}")
    # Both stop by a recurrence, which rounding parts from the true residual.
    return 0 if worst <= 1.01 * RTOL else 1


if __name__ == "__main__":
    sys.exit(main())
