#!/usr/bin/env python3
"""Compares the residuals that the program reports with those that SciPy computes from the x that it wrote.

    venv/bin/pip install numpy scipy
    venv/bin/python scripts/residuals.py target/release/warpsolve --device cuda

A row for each system, with three right-hand sides at random: what was asked for, and the residuals of both. The exit status is 1
where they differ in the first four digits. The systems take every format, blocks, f32, other numberings, and several methods.
Singular systems are left out: theirs is the residual of a projected b.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy
import scipy.io

COLUMNS = 3
SYSTEMS = [
    ("tet 40", "--precond amg"),
    ("tet 40", "--format crs --precond jacobi"),
    ("tet 40", "--format ell --precond jacobi"),
    ("tet 40", "--format sell --precond jacobi"),
    ("tet 40", "--precision f32 --rtol 1e-5"),
    ("tet 40", "--solver block-cg --precond jacobi"),
    ("tet 40", "--precond amg --ranks 2"),
    ("tet 30", "--reorder rcm"),
    ("tet 30", "--scaling ruiz"),
    ("poisson3d 40", "--precond amg"),
    ("poisson2d 300", "--solver bicgstab --precond ilu"),
    ("convection-diffusion 200", "--solver gmres --precond ilu"),
    ("elasticity 14", "--block-size 3 --precond amg"),
    ("random-spd 3000", ""),
]


def residuals(program, system, options, folder):
    """Those that the program reports, and those that SciPy computes."""
    paths = {name: os.path.join(folder, name) for name in ("A.mtx", "b.mtx", "x.mtx", "report.json")}
    subprocess.run([program, "gen", *system.split(), paths["A.mtx"]], check=True, capture_output=True)
    a = scipy.io.mmread(paths["A.mtx"]).tocsr()
    b = numpy.random.default_rng(3).random((a.shape[0], COLUMNS)) - 0.5
    scipy.io.mmwrite(paths["b.mtx"], b, precision=17)
    b = scipy.io.mmread(paths["b.mtx"])
    command = [program, "solve", paths["A.mtx"], "--rhs", paths["b.mtx"], "--out", paths["x.mtx"]]
    done = subprocess.run([*command, "--json", paths["report.json"], *options], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{system} {' '.join(options)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    with open(paths["report.json"]) as file:
        reported = [column["relative_residual"] for column in json.load(file)["columns"]]
    r = b - a @ scipy.io.mmread(paths["x.mtx"])
    return reported, list(numpy.linalg.norm(r, axis=0) / numpy.linalg.norm(b, axis=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    program, differ = os.path.abspath(arguments.program), 0
    for system, options in SYSTEMS:
        with tempfile.TemporaryDirectory() as folder:
            both = residuals(program, system, [*options.split(), "--device", arguments.device], folder)
        is_same = numpy.allclose(*both, rtol=1e-4)
        differ += not is_same
        numbers = "  ".join(" ".join(f"{number:.3e}" for number in numbers) for numbers in both)
        print(f"{'same  ' if is_same else 'DIFFER'}  {system:25} {options:36}  {numbers}", flush=True)
    print(f"{len(SYSTEMS)} systems, {differ} differ")
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
