#!/usr/bin/env python3
"""Takes the real square matrices out of archives of sources, for scripts/try_all.py.

    apt-get source --download-only trilinos suitesparse octave rmatrix
    python3 scripts/real_matrices.py *.orig.tar.* --out real
    python3 scripts/try_all.py target/release/warpsolve real --superlu

Many libraries bring matrices of well-known collections for their tests. Matrix Market and Harwell-Boeing files of at least 20
rows are taken, each content once, under names that end as the program expects it. Nothing is fetched.
"""

import argparse
import hashlib
import os
import re
import tarfile

NAMES = re.compile(r"\.(mtx|mm|hb|rb|[rip][su]a)$", re.IGNORECASE)
LEAST_ROWS = 20


def is_wanted(name, content):
    """Whether a file holds a real square matrix of enough rows, as far as its head tells."""
    lines = content[:100_000].decode("latin-1").splitlines()
    if lines and lines[0].startswith("%%MatrixMarket"):
        kind = lines[0].lower().split()
        sizes = next((line.split() for line in lines[1:] if line.strip() and not line.startswith("%")), [])
        is_real = "coordinate" in kind and "complex" not in kind
    elif name.lower().endswith((".mtx", ".mm")) or len(lines) < 4:
        return False
    else:
        kind, sizes = lines[2][:3].lower(), lines[2][3:].split()
        is_real = re.fullmatch(r"[rip][su]a", kind) is not None
    square = len(sizes) >= 2 and sizes[0] == sizes[1] and sizes[0].isdigit()
    return is_real and square and int(sizes[0]) >= LEAST_ROWS


def free_path(folder, name):
    """A path in the folder that is not there yet: name.mtx, name-1.mtx, .."""
    stem, ending = os.path.splitext(name)
    ending = ".mtx" if ending.lower() == ".mm" else ending
    paths = (os.path.join(folder, stem + suffix + ending) for suffix in ["", *(f"-{k}" for k in range(1, 1000))])
    return next(path for path in paths if not os.path.exists(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", nargs="+", help="tar files, compressed or not")
    parser.add_argument("--out", default="real", help="the folder that the matrices are written to [real]")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    seen = set()
    for archive in arguments.archives:
        before = len(seen)
        with tarfile.open(archive) as tar:
            for member in tar:
                name = os.path.basename(member.name)
                if not member.isfile() or not NAMES.search(name):
                    continue
                content = tar.extractfile(member).read()
                digest = hashlib.sha256(content).digest()
                if digest not in seen and is_wanted(name, content):
                    seen.add(digest)
                    with open(free_path(arguments.out, name), "wb") as file:
                        file.write(content)
        print(f"{len(seen) - before:4} of {archive}")
    print(f"{len(seen):4} in {arguments.out}")


if __name__ == "__main__":
    main()
