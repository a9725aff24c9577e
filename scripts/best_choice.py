#!/usr/bin/env python3
"""Solves every matrix of a folder without options and with explicit choices, and prints how far the default is from the best of them.

    python3 scripts/best_choice.py target/release/warpsolve FOLDER [--options '--device cpu --threads 1'] [--limit 20]

A row for each matrix: what the default took, what was tried before it, its seconds without the reading; the fastest choice that
solved it, its seconds, and how many times as long the default took. Choices that take longer than the default are ended. The
least of two runs counts for both.
"""

import argparse
import os

from try_all import named, run, seconds_of

CHOICES = [
    "--solver direct",
    "--solver cg --precond jacobi",
    "--solver cg --precond amg",
    "--solver cg --precond amg --amg coarsening=pmis,strength=0.35",
    "--solver cg --precond ilu",
    "--solver minres --precond jacobi",
    "--solver minres --precond none",
    "--solver gmres --precond amg",
    "--solver gmres --precond ilu",
    "--solver gmres --precond ilu --ilu kind=ilut",
    "--solver gmres --precond jacobi",
    "--solver bicgstab --precond ilu",
    "--solver idr --precond jacobi",
    "--solver idr --precond none",
    "--solver idr --precond ilu",
    "--solver idr --precond amg",
    "--solver lgmres --precond ilu",
]


def solve(binary, path, options, limit):
    """Seconds without the reading, and the report; None where there is none in time, or x is not the best that there is."""
    match run(binary, path, options.split(), limit):
        case (status, _, dict(found)) if status == 0 or found["stop_reason"] in ("at_rounding", "no_solution"):
            return seconds_of(found), found
        case _:
            return None


def row(binary, path, options, limit):
    runs = [run for run in (solve(binary, path, options, limit) for _ in range(2)) if run]
    default = min((seconds for seconds, _ in runs), default=limit)
    best, name = float("inf"), "-"
    for choice in CHOICES:
        run = solve(binary, path, f"{options} {choice}", min(limit, 1 + 1.2 * min(best, default)))
        if run and run[0] < best:
            best, name = run[0], choice
    if name != "-":
        again = solve(binary, path, f"{options} {name}", limit)
        best = min(best, again[0]) if again else best
    used, tried = ("-", "-") if not runs else (named(runs[0][1]), ", ".join(map(named, runs[0][1]["attempts"])) or "-")
    short = name.replace("--solver ", "").replace(" --precond ", "+").replace(" --ilu ", " ").replace(" --amg ", " ")
    return default, used, tried, best, short, default / best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warpsolve", help="the binary")
    parser.add_argument("folder", help="of .mtx, .mtx.gz and .wsm files")
    parser.add_argument("--only", default="", help="files with this in their name")
    parser.add_argument("--options", default="--device cpu --threads 1", help="of every run")
    parser.add_argument("--limit", type=float, default=30, help="seconds for a run [30]")
    arguments = parser.parse_args()
    binary = os.path.abspath(arguments.warpsolve)
    names = sorted(n for n in os.listdir(arguments.folder) if n.endswith((".mtx", ".mtx.gz", ".wsm")))
    print("| matrix | default | tried before | s | best | s | times |\n|---|---|---|---|---|---|---|")
    for name in (name for name in names if arguments.only in name):
        default, used, tried, best, choice, times = row(
            binary, os.path.join(arguments.folder, name), arguments.options, arguments.limit
        )
        print(f"| {name.split('.mtx')[0]} | {used} | {tried} | {default:.3f} | {choice} | {best:.3f} | {times:.1f} |", flush=True)


if __name__ == "__main__":
    main()
