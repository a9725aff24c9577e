#!/usr/bin/env python3
"""Solves every matrix of a folder without options, and prints what came of it.

    python3 scripts/try_all.py target/release/warpsolve ../shared/data/matrices

A row for each: its rows and nonzeros, what solved it, what was tried before, the residual and the backward error, seconds without
the reading, and the exit status: 0 solved, 2 not solved, which the program says why, 1 an error. Matrices that are not square are
left out. With `--options` the options go to the program; with `--limit` it is ended after so many seconds. With `--superlu` SciPy
solves each too, by SuperLU with its defaults, in a process that is ended after the same time; the last column is how many times as
long the program took.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

COLUMNS = ("matrix", "rows", "nonzeros", "solved by", "tried before", "residual", "backward", "seconds", "status", "why")


SUPERLU = """
import sys, time, numpy, scipy.io, scipy.sparse, scipy.sparse.linalg as linalg
read = scipy.io.mmread if ".mtx" in sys.argv[1] else scipy.io.hb_read
a = scipy.sparse.csc_matrix(read(sys.argv[1])).astype(float)
b, start = numpy.ones(a.shape[0]), time.time()
x = linalg.splu(a).solve(b)
print(time.time() - start, numpy.linalg.norm(b - a @ x) / numpy.linalg.norm(b))
"""


def superlu(path, limit):
    """Seconds and residual of SciPy's SuperLU; None where it does not come to an end."""
    try:
        done = subprocess.run([sys.executable, "-c", SUPERLU, path], capture_output=True, text=True, timeout=limit)
        return tuple(float(word) for word in done.stdout.split()[-2:])
    except subprocess.TimeoutExpired:
        return ()


def is_matrix(name):
    """By its name: Matrix Market, or Harwell-Boeing."""
    return re.search(r"\.(mtx|hb|rb|[rcip][suzrh][ae])(\.gz)?$", name, re.IGNORECASE) is not None


def run(binary, path, options, limit):
    """The exit status, what was printed, and the report, None where there is none; None where it does not end in time."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "r.json")
        command = [binary, "solve", path, "--quiet", "--json", report, *options]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return None
        if not os.path.exists(report):
            return done.returncode, done.stdout, None
        with open(report) as file:
            return done.returncode, done.stdout, json.load(file)


def seconds_of(report):
    """Without the reading."""
    return report["total_seconds"] - report["read_seconds"]


def named(part):
    return part["solver"] + ("" if part["precond"] == "none" else "+" + part["precond"])


def solve(binary, path, options, limit):
    """The cells of a row, without the name; None for a matrix that is not square."""
    done = run(binary, path, options, limit)
    if done is None:
        return ["", "", "", "", "", "", f"> {limit:g}", "ended", ""]
    status, printed, found = done
    if found is None:
        message = printed.strip().splitlines()[-1:] or [""]
        if "square" in message[0]:
            return None
        return ["", "", "", "", "", "", "", str(status), message[0]]
    return [
        str(found["rows"]),
        str(found["nonzeros"]),
        named(found),
        ", ".join(named(attempt) for attempt in found["attempts"]),
        f"{found['relative_residual']:.1e}",
        f"{found['backward_error']:.1e}",
        f"{seconds_of(found):.3f}",
        str(status),
        "" if status == 0 else found["stop_reason"],
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("warpsolve", help="the binary")
    parser.add_argument("folder", help="of Matrix Market and Harwell-Boeing files")
    parser.add_argument("--only", default="", help="files with this in their name")
    parser.add_argument("--options", default="", help="options of the program, such as '--device cpu'")
    parser.add_argument("--superlu", action="store_true", help="SciPy's SuperLU beside it")
    parser.add_argument("--limit", type=float, default=300, help="seconds for a matrix [300]")
    arguments = parser.parse_args()
    binary = os.path.abspath(arguments.warpsolve)
    names = sorted(name for name in os.listdir(arguments.folder) if is_matrix(name))
    columns = COLUMNS + (("SuperLU", "its residual", "times it") if arguments.superlu else ())
    rows = []
    for name in (name for name in names if arguments.only in name):
        path = os.path.join(arguments.folder, name)
        cells = solve(binary, path, arguments.options.split(), arguments.limit)
        if cells and arguments.superlu:
            match superlu(path, arguments.limit):
                case (seconds, residual):
                    times = f"{float(cells[6]) / seconds:.2f}" if cells[6][:1].isdigit() else ""
                    cells += [f"{seconds:.3f}", f"{residual:.1e}", times]
                case _:
                    cells += ["-", "", ""]
        if cells:
            rows.append([name.removesuffix(".gz").removesuffix(".mtx"), *cells])
            print(f"{len(rows)}: {name}", file=sys.stderr)
    widths = [max(len(row[k]) for row in [columns, *rows]) for k in range(len(columns))]
    for row in [columns, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
    solved = sum(row[8] == "0" for row in rows)
    print(f"\n{solved} of {len(rows)} solved")
    return 0 if solved == len(rows) else 2


if __name__ == "__main__":
    sys.exit(main())
