#!/usr/bin/env python3
"""Iterations and seconds on problems of PyAMG's gallery that are hard for multigrid, without options and with explicit ones.

    pip install pyamg
    python3 scripts/gallery.py target/release/warpsolve [--device cuda] [--folder FOLDER] [--only NAME] [--pyamg]

The matrices are written to FOLDER, and kept for the next run. A row for each: what the program chose by itself, its iterations and
seconds without the reading, then the same for each explicit choice; in the last column, how many times as long the default took as
the best of them. With --pyamg also what PyAMG's own measures of strength and interpolations come to: iterations of CG, and
its operator complexity.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import pyamg
import scipy.io
import scipy.sparse as sparse

CHOICES = {
    "sa": ["--precond", "amg"],
    "pmis": ["--precond", "amg", "--coarsening", "pmis"],
    "pmis 0.5": ["--precond", "amg", "--coarsening", "pmis", "--amg", "strength=0.5"],
    "blocks": ["--precond", "amg", "--block-size", "2"],
}
EVOLUTION = ("evolution", {"k": 2, "epsilon": 4.0})
PYAMG = {
    "SA, evolution": lambda a: pyamg.smoothed_aggregation_solver(a, strength=EVOLUTION),
    "SA, evolution, energy": lambda a: pyamg.smoothed_aggregation_solver(
        a, strength=EVOLUTION, smooth=("energy", {"krylov": "cg", "maxiter": 4, "degree": 2})),
    "SA, affinity": lambda a: pyamg.smoothed_aggregation_solver(a, strength=("affinity", {"epsilon": 4.0})),
    "root nodes, evolution": lambda a: pyamg.rootnode_solver(a, strength=EVOLUTION),
    "Ruge-Stuben": pyamg.ruge_stuben_solver,
}


def jumps(n):
    """Diffusion with coefficients that are random over 8 decades: five points, harmonic means."""
    k = 10.0 ** np.random.default_rng(1).uniform(-4, 4, (n, n))
    number = np.arange(n * n).reshape(n, n)
    rows, columns, values = [], [], []
    diagonal = np.zeros(n * n)
    for a, b, ka, kb in (
        (number[:-1], number[1:], k[:-1], k[1:]),
        (number[:, :-1], number[:, 1:], k[:, :-1], k[:, 1:]),
    ):
        a, b, weight = a.ravel(), b.ravel(), (2 * ka * kb / (ka + kb)).ravel()
        rows += [a, b]
        columns += [b, a]
        values += [-weight, -weight]
        np.add.at(diagonal, a, weight)
        np.add.at(diagonal, b, weight)
    for edge in (number[0], number[-1], number[:, 0], number[:, -1]):
        np.add.at(diagonal, edge, 2 * k.ravel()[edge])
    off = sparse.coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))))
    return (off.tocsr() + sparse.diags(diagonal)).tocsr()


def rotated(n, kind, epsilon, degrees):
    stencil = pyamg.gallery.diffusion_stencil_2d(epsilon=epsilon, theta=np.radians(degrees), type=kind)
    return pyamg.gallery.stencil_grid(stencil, (n, n), format="csr")


def graph(n, edges, seed=1):
    """The Laplacian of a random graph, with one node held."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, n, edges), rng.integers(0, n, edges)
    # A path keeps it connected.
    a, b = np.concatenate([a, np.arange(n - 1)]), np.concatenate([b, np.arange(1, n)])
    keep = a != b
    w = sparse.coo_matrix((np.ones(keep.sum()), (a[keep], b[keep])), shape=(n, n)).tocsr()
    w = w + w.T
    return (sparse.diags(np.asarray(w.sum(axis=1)).ravel() + (np.arange(n) == 0)) - w).tocsr()


def problems():
    yield "jumps-120", lambda: jumps(120)
    for kind in ("FE", "FD"):
        for epsilon in (1e-3, 1e-5):
            for degrees in (0, 22.5, 45, 60):
                name = f"rotated-{kind}-{epsilon:g}-{degrees:g}"
                yield name, lambda kind=kind, epsilon=epsilon, degrees=degrees: rotated(150, kind, epsilon, degrees)
    yield "elasticity-80", lambda: pyamg.gallery.linear_elasticity((80, 80), format="csr")[0].tocsr()
    yield "graph-20000", lambda: graph(20_000, 60_000)
    yield "poisson-9-points", lambda: pyamg.gallery.poisson((150, 150), format="csr", type="FE")
    yield "poisson-27-points", lambda: pyamg.gallery.poisson((30, 30, 30), format="csr", type="FE")


def solve(binary, path, options):
    """What was used, iterations or None, seconds."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "r.json")
        subprocess.run([binary, "solve", path, "--quiet", "--json", report, *options],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
        if not os.path.exists(report):
            return "refused", None, float("inf")
        found = json.load(open(report))
    amg = found.get("amg") or {}
    used = amg.get("parameters", {}).get("coarsening", found["precond"]) if found["precond"] == "amg" else found["precond"]
    used = found["solver"] if used == "none" else used
    seconds = found["total_seconds"] - found["read_seconds"]
    return used, found["iterations"] if found["stop_reason"] == "converged" else None, seconds


def pyamg_iterations(make_solver, a):
    """Iterations of CG to 1e-8, at most 500, and the operator complexity."""
    try:
        hierarchy = make_solver(a)
    except (ValueError, MemoryError) as fault:
        return str(fault)
    residuals = []
    hierarchy.solve(np.ones(a.shape[0]), tol=1e-8, accel="cg", maxiter=500, residuals=residuals)
    return f"{len(residuals) - 1} ({hierarchy.operator_complexity():.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warpsolve", help="the binary")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--folder", default="target/gallery")
    parser.add_argument("--only", default="", help="problems with this in their name")
    parser.add_argument("--pyamg", action="store_true", help="PyAMG's own solvers too")
    arguments = parser.parse_args()
    binary, device = os.path.abspath(arguments.warpsolve), ["--device", arguments.device]
    os.makedirs(arguments.folder, exist_ok=True)
    peers = PYAMG if arguments.pyamg else {}
    print("| problem | default | | " + " | ".join([*CHOICES, *peers]) + " | times the best |")
    print("|---|---|---|" + "---|" * len({**CHOICES, **peers}) + "---|")
    for name, make in problems():
        if arguments.only not in name:
            continue
        path = os.path.join(arguments.folder, name + ".mtx")
        if not os.path.exists(path):
            scipy.io.mmwrite(path, make(), symmetry="symmetric")

        def best(options):
            return min((solve(binary, path, device + options) for _ in range(3)), key=lambda found: found[2])

        used, iterations, seconds = best([])
        cells, least = [], float("inf")
        for options in CHOICES.values():
            _, count, took = best(options)
            cells.append("-" if count is None else f"{count} in {1e3 * took:.0f} ms")
            least = least if count is None else min(least, took)
        if peers:
            a = scipy.io.mmread(path).tocsr()
            cells += [pyamg_iterations(make_solver, a) for make_solver in peers.values()]
        shown = "fails" if iterations is None else f"{iterations} in {1e3 * seconds:.0f} ms"
        print(f"| {name} | {used} | {shown} | " + " | ".join(cells) + f" | {seconds / least:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
