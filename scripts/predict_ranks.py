#!/usr/bin/env python3
"""Predicts how long an iteration takes on many GPUs, from what one, two and four were measured to take.

    scripts/predict_ranks.py             # the model beside the measurements, then weak and strong scaling up to 1024 GPUs
    scripts/predict_ranks.py --hosts 4   # four GPUs a host and not eight

An iteration is the bytes that it moves, each GPU its share, and what ranks wait for each other:

    t(P) = work / P + wait(P),    wait(1) = 0

`work` and the waiting on one host are fitted to the measurements (FITTED, with their machine). Between hosts nothing was measured.
There these are ASSUMED: shared elements go through page-locked memory of the host and over the network, both at its bandwidth, with
a latency for each exchange and a tree of hosts for each reduction. Multigrid exchanges on every level that all ranks have. What
rank 0 does alone is taken to stay as long as it was: with rank_rows=1000 its levels grow with the ranks, so that hundreds of them
do worse than this says. Set-ups are not in it.
"""

import argparse
import math

# Microseconds an iteration by number of GPUs: NVIDIA H200, one host, NVLink, 2026-11-26 (docs/guide/ranks.md).
MEASURED = {
    "CG + Jacobi, tet:160": (4_070_400, {1: 273.0, 2: 165.6, 4: 95.6}),
    "CG + Jacobi, tet:256": (16_711_680, {1: 1159.0, 2: 618.0, 4: 331.6}),
    "CG + multigrid, tet:256": (16_711_680, {1: 3323.0, 2: 2328.0, 4: 1740.0}),
    "CG + multigrid, poisson3d:640": (262_144_000, {2: 24_800.0, 4: 12_600.0}),
}
# Microseconds for a million rows on one GPU, and waiting on one host.
FITTED = {
    "CG + Jacobi, tet": {"work": 67.0, "wait": 28.0, "alone": 0.0, "exchanges": 1, "reductions": 2},
    "CG + multigrid, tet": {"work": 146.0, "wait": 220.0, "alone": 890.0, "exchanges": 21, "reductions": 2},
}
# Not measured here.
ASSUMED = {
    "bandwidth of the network of a GPU, GB/s": 50.0,
    "latency of an exchange between hosts, us: copies to the host and back, and a message": 20.0,
    "latency of a step of a reduction over hosts, us": 2.0,
    "latency of a reduction to and from the host, us": 16.0,
}
NETWORK, EXCHANGE, STEP, STAGING = ASSUMED.values()


def iteration(method, rows, gpus, a_host):
    """Microseconds an iteration of a system of so many rows."""
    model = FITTED[method]
    time = model["work"] * rows * 1e-6 / gpus + model["alone"]
    if gpus > 1:
        time += model["wait"]
    hosts = math.ceil(gpus / a_host)
    if hosts > 1:
        # A cube of rows for each GPU: two of its sides are the neighbours' in the worst case of blocks of rows.
        shared = 8 * 2 * (rows / gpus) ** (2 / 3)
        time += model["exchanges"] * EXCHANGE + 2 * shared / (NETWORK * 1e3)
        time += model["reductions"] * (STAGING + STEP * math.ceil(math.log2(hosts)))
    return time


def check():
    print("| | GPUs | measured | model | |")
    print("|---|---|---|---|---|")
    for name, (rows, times) in MEASURED.items():
        method = next((method for method in FITTED if name.startswith(method)), None)
        for gpus, measured in times.items():
            if method is None:
                print(f"| {name} | {gpus} | {measured:.0f} us | not fitted | |")
                continue
            model = iteration(method, rows, gpus, 8)
            print(f"| {name} | {gpus} | {measured:.0f} us | {model:.0f} us | {100 * (model / measured - 1):+.0f} % |")


def scaling(a_host):
    counts = [1, 2, 4, 8, 16, 64, 256, 1024]
    for method in FITTED:
        for rows in (4_000_000, 16_000_000):
            one = iteration(method, rows, 1, a_host)
            shares = [one / iteration(method, rows * gpus, gpus, a_host) for gpus in counts]
            print(f"| {method}, {rows // 10**6} million rows a GPU | " + " | ".join(f"{100 * s:.0f} %" for s in shares) + " |")
        one = iteration(method, 16_711_680, 1, a_host)
        speeds = [one / iteration(method, 16_711_680, gpus, a_host) for gpus in counts]
        print(f"| {method}, tet:256 in all | " + " | ".join(f"{s:.1f}x" for s in speeds) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hosts", type=int, default=8, metavar="N", help="GPUs of a host [8]")
    a_host = parser.parse_args().hosts
    if a_host < 1:
        parser.error("a host has one GPU at least")
    check()
    print("\nassumed: " + "; ".join(f"{what}: {value:g}" for what, value in ASSUMED.items()) + "\n")
    print("| GPUs | 1 | 2 | 4 | 8 | 16 | 64 | 256 | 1024 |")
    print("|---|" + "---|" * 8)
    scaling(a_host)


if __name__ == "__main__":
    main()
