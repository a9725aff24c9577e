#!/usr/bin/env python3
"""Times warpsolve beside its peers: y = A x, CG + Jacobi, and CG + multigrid (set-up and solve), all in one run, in turns.

    python3 -m venv venv    # with --system-site-packages for PETSc (Debian's python3-petsc4py, compiled for 'numpy<2')
    venv/bin/pip install numpy scipy pyamg pybind11 setuptools wheel
    venv/bin/pip install --no-build-isolation pyamgcl    # a C++ compiler and Boost's headers compile it
    venv/bin/pip install cupy-cuda13x                    # on a machine with a GPU: cuSPARSE
    venv/bin/python scripts/compare_peers.py target/release/warpsolve [--system tet:96] [--repeat 5] [--threads 2]

SciPy and NumPy are needed; of the peers, those that are not installed are left out with the reason. Every solver gets the same
matrix (`warpsolve gen` with seed 0, or a Matrix Market file), b = 1, x = 0 at the start, and stops at
||b - A x|| <= 1e-8 ||b||. Each round runs everybody once, so that a machine whose speed drifts drifts for all. Times are
medians; the ratio is the median over the rounds of a peer's time over warpsolve's in the same round, above 1 where warpsolve is
faster. On the CPU all get the same number of threads, but SciPy and PyAMG use one for a product, and PETSc is one process.

Every solution is checked with SciPy's product; the exit status is 1 where one misses the tolerance.
"""

import argparse
import inspect
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

RTOL = 1e-8
LIMIT = 20000
# Methods stop by a recurrence, which rounding parts from the true residual.
SLACK = 1.01


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warpsolve", help="the release binary")
    parser.add_argument("--system", default="tet:96", help="KIND:SIZE of `warpsolve gen`, or a .mtx file [tet:96]")
    parser.add_argument("--repeat", type=int, default=5, help="rounds [5]")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="on the CPU [all cores]")
    parser.add_argument("--work", default="spmv,jacobi,amg", help="of spmv, jacobi, amg [all]")
    parser.add_argument("--peers", help="names, such as amgcl,scipy [all that are installed]")
    parser.add_argument("--device", choices=["all", "cpu", "cuda"], default="all", help="[all that are there]")
    return parser.parse_args()


class Solved:
    """A solve: seconds of set-up and of the iterations, their number, and x."""

    def __init__(self, setup, solve, iterations, x):
        self.setup, self.solve, self.iterations, self.x = setup, solve, iterations, x

    @property
    def total(self):
        return self.setup + self.solve


def timed(work):
    """Seconds of `work()`, and what it returns."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def seconds_each(work, count=10):
    """Seconds of one of `count` calls, after one that warms up."""
    work()
    return timed(lambda: [work() for _ in range(count)])[0] / count


class Warpsolve:
    """The program, on the CPU or on a GPU: times are those of its reports, so that starting it does not count."""

    def __init__(self, args, device, system, folder):
        self.program, self.solution = args.warpsolve, os.path.join(folder, f"x-{device}.mtx")
        self.options = [*system, "--device", device, "--threads", str(args.threads), "--json", "-"]
        # What is fastest for each; `solve` chooses the same by itself.
        self.format = "crs" if device == "cpu" else "sell"

    def report(self, command, *options, statuses=(0,)):
        run = subprocess.run([self.program, command, *self.options, *options], stdout=subprocess.PIPE)
        if run.returncode not in statuses:
            sys.exit(f"warpsolve {command} ended with status {run.returncode}")
        return json.loads(run.stdout)

    def spmv(self):
        return self.report("spmv", "--format", self.format, "--repeat", "20")["results"][0]["median_seconds"]

    def solve(self, precond):
        import scipy.io

        report = self.report("solve", "--solver", "cg", "--precond", precond, "--rtol", str(RTOL), "--max-iter", str(LIMIT),
                             "--out", self.solution, statuses=(0, 2))
        setup = report["setup_seconds"] + report["upload_seconds"]
        return Solved(setup, report["solve_seconds"], report["iterations"], scipy.io.mmread(self.solution).ravel())

    def jacobi(self):
        return self.solve("jacobi")

    def amg(self):
        return self.solve("amg")


class Amgcl:
    """AMGCL by pyamgcl. Its single-level relaxation `damped_jacobi` with damping 1 is the Jacobi preconditioner; its
    multigrid is smoothed aggregation with SPAI-0, its default."""

    def __init__(self, a, b):
        import pyamgcl

        self.pyamgcl, self.a, self.b = pyamgcl, a, b

    def solve(self, preconditioner):
        setup, m = timed(preconditioner)
        cg = self.pyamgcl.solver(m, {"type": "cg", "tol": RTOL, "maxiter": LIMIT})
        solve, x = timed(lambda: cg(self.b))
        return Solved(setup, solve, cg.iters, x)

    def jacobi(self):
        parameters = {"type": "damped_jacobi", "damping": 1.0}
        return self.solve(lambda: self.pyamgcl.relaxation(self.a, parameters))

    def amg(self):
        parameters = {"coarsening.type": "smoothed_aggregation", "relax.type": "spai0"}
        return self.solve(lambda: self.pyamgcl.amg(self.a, parameters))


class Counter:
    """A callback that counts iterations."""

    def __init__(self):
        self.count = 0

    def __call__(self, _):
        self.count += 1


def cg_with_diagonal(cg, linear_operator, a, b):
    """A `cg` of SciPy's interface, with the Jacobi preconditioner."""
    # Its name for the tolerance has changed, and not everywhere.
    tolerance = {"rtol" if "rtol" in inspect.signature(cg).parameters else "tol": RTOL}

    def diagonal():
        inverse = 1.0 / a.diagonal()
        return linear_operator(a.shape, matvec=lambda r: inverse * r, dtype=a.dtype)

    setup, m = timed(diagonal)
    iterations = Counter()
    solve, (x, _) = timed(lambda: cg(a, b, M=m, maxiter=LIMIT, callback=iterations, **tolerance))
    return Solved(setup, solve, iterations.count, x)


class Scipy:
    """SciPy's product and CG."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def spmv(self):
        return seconds_each(lambda: self.a @ self.b)

    def jacobi(self):
        from scipy.sparse.linalg import LinearOperator, cg

        return cg_with_diagonal(cg, LinearOperator, self.a, self.b)


class Pyamg:
    """PyAMG: its CG, and smoothed aggregation with its defaults for symmetric matrices."""

    def __init__(self, a, b):
        import pyamg

        self.pyamg, self.a, self.b = pyamg, a, b

    def jacobi(self):
        from pyamg.krylov import cg
        from scipy.sparse.linalg import LinearOperator

        return cg_with_diagonal(cg, LinearOperator, self.a, self.b)

    def amg(self):
        setup, hierarchy = timed(lambda: self.pyamg.smoothed_aggregation_solver(self.a, symmetry="symmetric"))
        iterations = Counter()
        solve, x = timed(
            lambda: hierarchy.solve(self.b, tol=RTOL, maxiter=LIMIT, accel="cg", callback=iterations))
        return Solved(setup, solve, iterations.count, x)


class Petsc:
    """PETSc by petsc4py, one process: its product, CG with Jacobi, and CG with GAMG."""

    def __init__(self, a, b):
        from petsc4py import PETSc

        self.petsc = PETSc
        self.a = PETSc.Mat().createAIJ(size=a.shape, csr=(a.indptr, a.indices, a.data))
        self.b = PETSc.Vec().createWithArray(b.copy())
        self.x = self.b.duplicate()

    def spmv(self):
        return seconds_each(lambda: self.a.mult(self.b, self.x))

    def solve(self, preconditioner):
        ksp = self.petsc.KSP().create()
        ksp.setOperators(self.a)
        ksp.setType("cg")
        ksp.setNormType(self.petsc.KSP.NormType.UNPRECONDITIONED)
        ksp.setTolerances(rtol=RTOL, atol=0.0, max_it=LIMIT)
        ksp.getPC().setType(preconditioner)
        setup, _ = timed(ksp.setUp)
        self.x.set(0.0)
        solve, _ = timed(lambda: ksp.solve(self.b, self.x))
        return Solved(setup, solve, ksp.getIterationNumber(), self.x.getArray().copy())

    def jacobi(self):
        return self.solve("jacobi")

    def amg(self):
        return self.solve("gamg")


class Cupy:
    """CuPy: cuSPARSE's product of a CSR matrix, and CuPy's CG over it."""

    def __init__(self, a, b):
        import cupy
        from cupyx.scipy import sparse

        self.cupy = cupy
        self.a, self.b = sparse.csr_matrix(a), cupy.asarray(b)

    def spmv(self):
        start, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        self.a @ self.b
        start.record()
        for _ in range(20):
            self.a @ self.b
        end.record()
        end.synchronize()
        return 1e-3 * self.cupy.cuda.get_elapsed_time(start, end) / 20

    def jacobi(self):
        from cupyx.scipy.sparse.linalg import LinearOperator, cg

        # The norm that ends it comes behind x, so that the time is that of all of it.
        solved = cg_with_diagonal(cg, LinearOperator, self.a, self.b)
        solved.x = self.cupy.asnumpy(solved.x)
        return solved


PEERS = {
    "cpu": {"AMGCL": Amgcl, "PyAMG": Pyamg, "SciPy": Scipy, "PETSc": Petsc},
    "cuda": {"CuPy": Cupy},
}
WORK = {"spmv": "y = A x", "jacobi": "CG + Jacobi", "amg": "CG + multigrid"}


def install(peers, wanted, a, b):
    """Those of the peers that are there and wanted; says why the others are left out."""
    there = {}
    for name, peer in peers.items():
        if wanted is not None and name.lower() not in wanted:
            print(f"{name}: left out, not asked for")
            continue
        try:
            there[name] = peer(a, b)
        except Exception as error:  # whatever its import or its first call raises, the others go on
            print(f"{name}: left out, {str(error).splitlines()[0] if str(error) else type(error).__name__}")
    return there


def in_turns(solvers, work, rounds):
    """What each of the solvers that can do `work` gives in each round."""
    able = {name: getattr(solver, work) for name, solver in solvers.items() if hasattr(solver, work)}
    results = {name: [] for name in able}
    for _ in range(rounds):
        for name, run in able.items():
            results[name].append(run())
    return results


def ratio(times, ours):
    """A peer's time over ours, the median over rounds."""
    return f"{statistics.median(t / o for t, o in zip(times, ours)):.2f}"


def show(rows):
    """Prints a table, the first column left, the others right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells))


def compare(solvers, works, rounds, residual):
    """Runs and prints all works; whether every solution is one."""
    right = True
    for work in works:
        print(f"\n{WORK[work]}")
        results = in_turns(solvers, work, rounds)
        ours = results["warpsolve"]
        if work == "spmv":
            rows = [["", "ms", "to warpsolve's"]]
            for name, times in results.items():
                rows.append([name, f"{1e3 * statistics.median(times):.4f}", ratio(times, ours)])
        else:
            rows = [["", "set-up ms", "solve ms", "iterations", "ms each", "to warpsolve's", "residual"]]
            for name, solved in results.items():
                setup, solve = (statistics.median(getattr(s, part) for s in solved) for part in ("setup", "solve"))
                worst = max(residual(s.x) for s in solved)
                # NaN is no residual either.
                missed = not worst <= SLACK * RTOL
                right &= not missed
                n = solved[-1].iterations
                rows.append([name, f"{1e3 * setup:.1f}", f"{1e3 * solve:.1f}", str(n), f"{1e3 * solve / max(n, 1):.3f}",
                             ratio([s.total for s in solved], [s.total for s in ours]),
                             f"{worst:.2e}" + (" MISSED" if missed else "")])
        show(rows)
    return right


def devices(args):
    """Those that are asked for and that there are."""
    info = json.loads(subprocess.run([args.warpsolve, "info", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    usable = any(device["error"] is None for device in info["devices"])
    if args.device != "cpu" and not usable:
        print(f"cuda: left out, {info['no_gpu'] or 'no GPU can be used'}")
    return [d for d in ("cpu", "cuda") if args.device in ("all", d) and (d == "cpu" or usable)]


def main():
    args = arguments()
    works = args.work.split(",")
    unknown = [work for work in works if work not in WORK]
    if unknown or args.repeat < 1:
        sys.exit(f"--work takes {', '.join(WORK)}, not {unknown[0]}" if unknown else "--repeat takes 1 or more")
    wanted = None if args.peers is None else {name.lower() for name in args.peers.split(",")}
    # Before the imports: OpenMP reads it once.
    os.environ["OMP_NUM_THREADS"] = str(args.threads)
    import numpy
    import scipy.io

    right = True
    with tempfile.TemporaryDirectory() as folder:
        if args.system.endswith((".mtx", ".mtx.gz")):
            matrix, system = args.system, [args.system]
        else:
            matrix = os.path.join(folder, "a.mtx")
            kind, size = args.system.split(":", 1)
            subprocess.run([args.warpsolve, "gen", kind, size, matrix, "--seed", "0", "--quiet"], check=True)
            system = ["--gen", args.system, "--seed", "0"]
        a = scipy.io.mmread(matrix).tocsr()
        b = numpy.ones(a.shape[0])
        norm = numpy.linalg.norm

        def residual(x):
            return norm(b - a @ x) / norm(b)

        for device in devices(args):
            what = f"{args.threads} threads" if device == "cpu" else "the first GPU"
            print(f"\n== {args.system}: {a.shape[0]:,} rows, {a.nnz:,} nonzeros, {what}, {args.repeat} rounds")
            solvers = {"warpsolve": Warpsolve(args, device, system, folder)}
            solvers.update(install(PEERS[device], wanted, a, b))
            right &= compare(solvers, works, args.repeat, residual)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
