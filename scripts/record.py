#!/usr/bin/env python3
"""Records what the program computes, bit by bit, and compares two records: a change of structure must change no number.

    python3 scripts/record.py target/release/warpsolve --out before.json     # before the change
    python3 scripts/record.py target/release/warpsolve --against before.json # after it: exit status 1 where bits differ

Each case is a call of the program on small generated systems, on the CPU (`cpu`) and with the kernels in the simulator (`sim`). Kept
are the number of iterations, hashes of the solution and of the residual history, which are written with enough digits to tell every
f64 apart, and the sizes of multigrid's levels; of the small programs their figures; of ten steps of a heart every file but the
times in it. Bits depend on the instruction sets of a CPU: compare records of one machine. `--only TEXT` runs the cases whose
name has TEXT in it. Files in ../shared/data/matrices are used where they are there.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "shared", "data", "matrices")
BOTH = ("cpu", "sim")

# (name, system, options, devices)
SOLVES = [
    ("cg-jacobi", "tet:9", "--solver cg --precond jacobi", BOTH),
    ("cg-none", "poisson2d:21", "--solver cg --precond none", BOTH),
    ("cg-crs", "tet:9", "--solver cg --format crs", BOTH),
    ("cg-ell", "tet:9", "--solver cg --format ell", BOTH),
    ("cg-sell", "tet:9", "--solver cg --format sell --sigma 64", BOTH),
    ("cg-shuffled", "tet:9 --shuffle --seed 3", "--solver cg", BOTH),
    ("cg-f32", "tet:9", "--solver cg --precision f32 --rtol 1e-4", BOTH),
    ("cg-large", "tet:40", "--solver cg", ("cpu",)),
    ("gmres-jacobi", "convection-diffusion:20:30", "--solver gmres --restart 12", BOTH),
    ("gmres-none", "convection-diffusion:12:10", "--solver gmres --precond none --restart none", BOTH),
    ("gmres-f32", "convection-diffusion:20:30", "--solver gmres --precision f32 --rtol 1e-4", BOTH),
    ("gmres-limit", "poisson2d:21", "--solver gmres --max-iter 17 --restart 7", BOTH),
    ("bicgstab", "convection-diffusion:20:30", "--solver bicgstab", BOTH),
    ("bicgstab-none", "convection-diffusion:20:30", "--solver bicgstab --precond none", BOTH),
    ("jacobi", "random-spd:211:7", "--solver jacobi --omega 0.9", BOTH),
    ("amg-solver", "poisson2d:25", "--solver amg --amg coarse_rows=40", BOTH),
    ("amg-sa", "tet:13", "--precond amg --amg coarse_rows=60", BOTH),
    ("amg-sa-large", "tet:40", "--precond amg", ("cpu",)),
    ("amg-sa-f64", "tet:13", "--precond amg --amg coarse_rows=60,precision=f64", BOTH),
    ("amg-f32", "tet:13", "--precond amg --precision f32 --rtol 1e-4 --amg coarse_rows=60", BOTH),
    ("amg-unpacked", "tet:13", "--precond amg --amg coarse_rows=60,compressed=false", BOTH),
    ("amg-crs", "tet:13", "--precond amg --format crs --amg coarse_rows=60", BOTH),
    ("amg-host", "tet:13", "--precond amg --amg coarse_rows=60,setup=host", BOTH),
    ("amg-pmis", "tet:13", "--precond amg --coarsening pmis --amg coarse_rows=60", BOTH),
    ("amg-pmis-aggressive", "poisson3d:12", "--precond amg --coarsening pmis --amg coarse_rows=60,aggressive=1", BOTH),
    ("amg-mandel-brezina", "tet:13", "--precond amg --coarsening mandel-brezina --amg coarse_rows=60", BOTH),
    ("amg-greedy", "tet:13", "--precond amg --coarsening mandel-brezina --amg coarse_rows=60,splitting=greedy", BOTH),
    ("amg-smoother-jacobi", "tet:13", "--precond amg --smoother jacobi --amg coarse_rows=60", BOTH),
    ("amg-smoother-l1", "tet:13", "--precond amg --smoother l1-jacobi --amg coarse_rows=60", BOTH),
    ("amg-smoother-spai0", "tet:13", "--precond amg --smoother spai0 --amg coarse_rows=60,pre=2,post=2", BOTH),
    ("amg-cycle-w", "tet:13", "--precond amg --cycle w --amg coarse_rows=20", BOTH),
    ("amg-cycle-f", "tet:13", "--precond amg --cycle f --amg coarse_rows=20", BOTH),
    ("amg-cycle-k", "tet:13", "--precond amg --cycle k --amg coarse_rows=20", BOTH),
    ("amg-gmres", "convection-diffusion:25:300", "--solver gmres --precond amg --amg coarse_rows=40", BOTH),
    ("amg-bicgstab", "convection-diffusion:25:300", "--solver bicgstab --precond amg --amg coarse_rows=40", BOTH),
    ("amg-coarse-sweeps", "tet:13", "--precond amg --amg max_levels=2,coarse_rows=1", BOTH),
    ("blocks-jacobi", "bidomain:7", "--block-size 2", BOTH),
    ("blocks-bcrs", "bidomain:7", "--block-size 2 --format bcrs2", BOTH),
    ("blocks-bsell", "bidomain:7", "--block-size 2 --format bsell2 --sigma 32", BOTH),
    ("blocks-amg", "bidomain:9", "--block-size 2 --precond amg --amg coarse_rows=60", BOTH),
    ("blocks-amg-pmis", "bidomain:9", "--block-size 2 --precond amg --coarsening pmis --amg coarse_rows=60", BOTH),
    ("scalar-bidomain", "bidomain:9", "--precond amg --amg coarse_rows=60", BOTH),
]
# The same for files.
FILES = [
    ("1138_bus", "--precond amg", BOTH),
    ("memplus", "--precond amg", ("cpu",)),
    ("bcsstk16", "--solver cg", ("cpu",)),
    ("watt_2", "--solver gmres", ("cpu",)),
    ("sherman3", "--precond amg", BOTH),
]
EXAMPLES = ["vadd 1000", "pi 1000", "heat 64 10", "laplace 32", "gram-schmidt 40", "jacobi-dense 50", "jacobi-grid 20"]
HEART = "--slab 3,0.9,0.6 --spacing 0.3 --stimulus box:0,0,0,0.3,0.9,0.6 --dt 0.05 --t-end 0.5 --every 0.25 --out r"
HEARTS = [
    ("heart-monodomain", f"monodomain {HEART}", BOTH),
    ("heart-bidomain", f"bidomain {HEART}", BOTH),
    ("heart-splitting", f"bidomain {HEART} --formulation splitting", BOTH),
    ("heart-mitchell-schaeffer", f"monodomain {HEART} --model mitchell-schaeffer", BOTH),
    ("heart-potentials", f"bidomain {HEART} --formulation potentials", BOTH),
    ("heart-bath", f"bidomain {HEART} --bath-layer 0.6 --ground ball:3,0,1.2,0.1", BOTH),
    ("heart-electrodes", f"bidomain {HEART} --stimulus-kind extracellular --balance-stimuli spread", BOTH),
    ("heart-plane", f"bidomain {HEART.replace('0.9,0.6', '0.9', 1)}", BOTH),
]


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def call(binary, line, folder):
    """Runs the program in a folder: its exit status and its text."""
    command = [binary, *line.split()]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def solved(binary, line, folder):
    status, text = call(binary, f"{line} --quiet --out x.mtx --history h.csv --json r.json", folder)
    if status not in (0, 2):
        return {"status": status, "text": text}
    with open(os.path.join(folder, "r.json")) as file:
        report = json.load(file)
    found = {
        "status": status,
        "iterations": contents(os.path.join(folder, "h.csv")).count(b"\n") - 2,
        "x": digest(contents(os.path.join(folder, "x.mtx"))),
        "history": digest(contents(os.path.join(folder, "h.csv"))),
    }
    levels = (report.get("amg") or {}).get("levels")
    if levels:
        found["levels"] = " ".join(f"{level['rows']}/{level['nonzeros']}" for level in levels)
    return found


def example(binary, line, folder):
    status, text = call(binary, f"{line} --json r.json", folder)
    if status != 0:
        return {"status": status, "text": text}
    with open(os.path.join(folder, "r.json")) as file:
        figures = json.load(file)["figures"]
    # A ratio of times is no result.
    kept = {name: repr(value) for name, value in figures.items() if name != "speedup"}
    return {"status": status, "figures": kept}


def heart(binary, line, folder):
    status, text = call(binary, f"{line} --quiet", folder)
    if status != 0:
        return {"status": status, "text": text}
    found = {"status": status}
    results = os.path.join(folder, "r")
    for name in sorted(os.listdir(results)):
        data = contents(os.path.join(results, name))
        if name == "steps.csv":
            # The last column is seconds.
            data = re.sub(rb",[^,\n]*\n", b"\n", data)
        if name.endswith((".vtu", ".csv", ".pvd")):
            found[name] = digest(data)
    return found


def cases(data):
    """(name, function, line) of every case."""
    for name, system, options, devices in SOLVES:
        for device in devices:
            yield f"{name} {device}", solved, f"solve --gen {system} {options} --device {device}"
    for name, options, devices in FILES:
        path = os.path.join(data, f"{name}.mtx.gz")
        for device in devices:
            if os.path.exists(path):
                yield f"{name} {device}", solved, f"solve {path} {options} --device {device}"
    for line in EXAMPLES:
        for device in BOTH:
            yield f"{line.split()[0]} {device}", example, f"example {line} --device {device}"
    for name, line, devices in HEARTS:
        for device in devices:
            yield f"{name} {device}", heart, f"{line} --device {device}"


def run(binary, case):
    name, function, line = case
    folder = tempfile.mkdtemp(prefix="record-")
    try:
        return name, function(binary, line, folder)
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warpsolve", help="the binary")
    parser.add_argument("--out", help="write the record")
    parser.add_argument("--against", help="compare with this record")
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--data", default=DATA, help="the folder of the matrices [../shared/data/matrices]")
    arguments = parser.parse_args()
    binary = os.path.abspath(arguments.warpsolve)
    chosen = [case for case in cases(os.path.abspath(arguments.data)) if arguments.only in case[0]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        record = dict(pool.map(lambda case: run(binary, case), chosen))
    failed = [name for name, found in record.items() if found["status"] not in (0, 2)]
    for name in failed:
        print(f"{name}: exit status {record[name]['status']}\n{record[name]['text']}")
    if arguments.out:
        with open(arguments.out, "w") as file:
            json.dump(record, file, indent=1)
    differing = []
    if arguments.against:
        with open(arguments.against) as file:
            before = json.load(file)
        expected = {name: found for name, found in before.items() if arguments.only in name}
        for name in sorted(set(expected) | set(record)):
            old, new = expected.get(name, {}), record.get(name, {})
            keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
            if keys:
                differing.append(name)
                print(f"{name}: " + ", ".join(f"{key} {old.get(key)} -> {new.get(key)}" for key in keys))
    print(f"{len(record)} cases, {len(failed)} failed, {len(differing)} differ")
    return 1 if failed or differing else 0


if __name__ == "__main__":
    sys.exit(main())
