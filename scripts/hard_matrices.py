#!/usr/bin/env python3
"""Writes matrices of difficult families, of sizes and numbers drawn at random, for scripts/try_all.py.

    pip install numpy scipy
    python3 scripts/hard_matrices.py FOLDER [--seed N] [--count N] [--only NAME] [--rows 500,60000]
    python3 scripts/try_all.py target/release/warpsolve FOLDER --superlu

A file FAMILY-ROWS-SEED.mtx for each; the same seed gives the same matrices. `--list` says what the families are.
"""

import argparse
import os
import sys

import numpy as np
import scipy.io
import scipy.sparse as sparse

FAMILIES = {}


def family(make):
    FAMILIES[make.__name__.replace("_", "-")] = make
    return make


def line(n, left=-1.0, middle=2.0, right=-1.0):
    return sparse.diags([left, middle, right], [-1, 0, 1], shape=(n, n), format="csr")


def laplacian(*sizes):
    """5 points in two dimensions, 7 in three."""
    total = sparse.csr_matrix((1, 1))
    for size in sizes:
        total = sparse.kronsum(line(size), total)
    return total.tocsr()


def grid(n):
    """The sides of a grid of about n points in the plane."""
    side = max(int(np.sqrt(n)), 3)
    return side, side


def network(n, rng, more=0.4):
    """A power grid's graph, of edges between near numbers and some far ones: two arrays of ends."""
    a = np.arange(1, n)
    b = np.maximum(a - 1 - rng.geometric(0.2, n - 1), 0)
    extra = rng.integers(0, n - 1, int(more * n))
    a, b = np.concatenate([a, extra]), np.concatenate([b, np.minimum(extra + 1 + rng.geometric(0.02, len(extra)), n - 1)])
    keep = a != b
    return a[keep], b[keep]


def weighted(n, a, b, weights):
    w = sparse.coo_matrix((np.broadcast_to(weights, len(a)), (a, b)), shape=(n, n)).tocsr()
    w = w + w.T
    return (sparse.diags(np.asarray(w.sum(axis=1)).ravel()) - w).tocsr()


def saddle(h, b, c=None):
    return sparse.bmat([[h, b.T], [b, c]]).tocsr()


def random_rows(rows, columns, each, rng):
    i = np.repeat(np.arange(rows), each)
    values = rng.normal(size=len(i))
    return sparse.coo_matrix((values, (i, rng.integers(0, columns, len(i)))), shape=(rows, columns)).tocsr()


@family
def quadratic_program(n, rng):
    """[H B^T; B 0] of a quadratic program: H positive definite with few entries, constraints of three unknowns near each other."""
    m, k = n // 3, n - n // 3
    h = sparse.diags(10.0 ** rng.uniform(-3, 3, k)) + weighted(k, *network(k, rng), 1.0)
    near = (np.repeat(np.arange(m) * k // m, 3) + rng.integers(0, 12, 3 * m)) % k
    b = sparse.coo_matrix((rng.normal(size=3 * m), (np.repeat(np.arange(m), 3), near)), shape=(m, k))
    return saddle(h, b + sparse.eye(m, k))


@family
def interior_point(n, rng):
    """The same with barrier terms over 12 decades, late in an interior point method, and constraints far apart."""
    m, k = n // 4, n - n // 4
    h = sparse.diags(10.0 ** rng.uniform(-6, 6, k))
    near = (np.repeat(np.arange(m) * k // m, 3) + rng.integers(0, 40, 3 * m)) % k
    b = sparse.coo_matrix((rng.normal(size=3 * m), (np.repeat(np.arange(m), 3), near)), shape=(m, k))
    return saddle(h, b + sparse.eye(m, k))


@family
def power_flow(n, rng):
    """The system of an optimal power flow's interior point step: four unknowns and two balances a bus."""
    buses = n // 6
    a, b = network(buses, rng)
    flow, other = (weighted(buses, a, b, rng.uniform(1, 40, len(a))) for _ in range(2))
    j = sparse.bmat([[flow, 0.3 * other, sparse.identity(buses), None], [-0.3 * other, flow, None, sparse.identity(buses)]])
    barrier = 10.0 ** rng.uniform(-4, 5, 4 * buses)
    barrier[: 2 * buses] *= rng.random(2 * buses) < 0.5
    h = sparse.diags(barrier) + sparse.block_diag([flow * 0.1, flow * 0.1, sparse.csr_matrix((2 * buses, 2 * buses))])
    return saddle(h, j.tocsr())


@family
def grid_jacobian(n, rng):
    """Newton's matrix of a power flow: two unknowns a bus."""
    buses = n // 2
    a, b = network(buses, rng)
    flow, other = (weighted(buses, a, b, rng.uniform(1, 100, len(a))) for _ in range(2))
    shift = sparse.diags(rng.normal(size=buses))
    return sparse.bmat([[flow + shift, 0.3 * other], [-0.3 * other - shift, flow + sparse.diags(rng.normal(size=buses))]]).tocsr()


def mac(side):
    """Velocities on the edges of a grid and the divergence of them: viscosity and B."""
    u = sparse.kron(sparse.identity(side), line(side - 1)) + sparse.kron(line(side), sparse.identity(side - 1))
    v = sparse.kron(sparse.identity(side - 1), line(side)) + sparse.kron(line(side - 1), sparse.identity(side))
    d = sparse.diags([1.0, -1.0], [0, -1], shape=(side, side - 1))
    b = sparse.bmat([[sparse.kron(sparse.identity(side), d), sparse.kron(d, sparse.identity(side))]])
    return sparse.block_diag([u, v]).tocsr(), b.tocsr()


@family
def stokes(n, rng):
    """Stokes on staggered points, one pressure taken out."""
    k, b = mac(max(int(np.sqrt(n / 3)), 4))
    return saddle(10.0 ** rng.uniform(-3, 1) * k, b[1:])


@family
def stokes_stabilised(n, rng):
    """The same with a pressure Laplacian below."""
    side = max(int(np.sqrt(n / 3)), 4)
    k, b = mac(side)
    return saddle(k, b, -0.05 * (laplacian(side, side) + 1e-3 * sparse.identity(side * side)))


@family
def oseen(n, rng):
    """Stokes with a wind: not symmetric."""
    side = max(int(np.sqrt(n / 3)), 4)
    k, b = mac(side)
    wind = sparse.diags(rng.uniform(0, 2, k.shape[0] - 1), 1, shape=k.shape)
    return saddle(k / 10 + wind - wind.T, b[1:])


@family
def control(n, rng):
    """The state, control and adjoint of a Poisson equation, as cont-201."""
    side = max(int(np.sqrt(n / 3)), 4)
    k, m = laplacian(side, side), sparse.identity(side * side) / side**2
    return sparse.bmat([[m, None, k], [None, 10.0 ** rng.uniform(-6, -1) * m, -m], [k, -m, None]]).tocsr()


@family
def mixed_diffusion(n, rng):
    """Fluxes and pressures of Darcy's law with coefficients over 6 decades."""
    side = max(int(np.sqrt(n / 3)), 4)
    _, b = mac(side)
    return saddle(sparse.diags(10.0 ** rng.uniform(-3, 3, b.shape[1])), b[1:])


@family
def shifted_2d(n, rng):
    """A Laplacian with a shift into its spectrum."""
    return (laplacian(*grid(n)) - rng.uniform(0.02, 0.5) * sparse.identity(grid(n)[0] ** 2)).tocsr()


@family
def shifted_3d(n, rng):
    """The same in three dimensions, up to 30,000 rows."""
    side = max(int(min(n, 30_000) ** (1 / 3)), 4)
    return (laplacian(side, side, side) - rng.uniform(0.05, 0.8) * sparse.identity(side**3)).tocsr()


@family
def vibrations(n, rng):
    """A stiffness matrix of bending less a multiple of the mass."""
    k = laplacian(*grid(n))
    return (k @ k - rng.uniform(1e-3, 0.1) * sparse.identity(k.shape[0])).tocsr()


@family
def biharmonic(n, rng):
    """The Laplacian squared: definite, badly conditioned."""
    k = laplacian(*grid(n))
    return (k @ k).tocsr()


@family
def convection(n, rng):
    """Diffusion in a recirculating wind, central differences: cell numbers above 1."""
    side, _ = grid(n)
    y, x = np.meshgrid(np.linspace(-1, 1, side), np.linspace(-1, 1, side), indexing="ij")
    strength = 10.0 ** rng.uniform(-1, 1.5)
    u, v = (strength * w.ravel() for w in (y * (1 - x**2), -x * (1 - y**2)))
    d = line(side, -0.5, 0.0, 0.5)
    dx, dy = sparse.kron(sparse.identity(side), d), sparse.kron(d, sparse.identity(side))
    return (laplacian(side, side) + sparse.diags(u) @ dx + sparse.diags(v) @ dy).tocsr()


@family
def convection_3d(n, rng):
    """The same with a straight wind, in three dimensions, upwind."""
    side = max(int(n ** (1 / 3)), 4)
    winds = 10.0 ** rng.uniform(-1, 3, 3)
    total, one = sparse.csr_matrix((side**3, side**3)), sparse.identity(side)
    for k, wind in enumerate(winds):
        parts = [line(side, -1 - wind, 2 + wind, -1.0) if k == axis else one for axis in range(3)]
        total = total + sparse.kron(sparse.kron(parts[0], parts[1]), parts[2])
    return total.tocsr()


@family
def circuit(n, rng):
    """Conductances over 9 decades, voltage sources with a row each, controlled sources: zeros on the diagonal."""
    sources = n // 20
    nodes = n - sources
    a, b = network(nodes, rng, 1.0)
    g = weighted(nodes, a, b, 10.0 ** rng.uniform(-9, 0, len(a))) + sparse.diags(10.0 ** rng.uniform(-12, -3, nodes))
    count = nodes // 10
    g = g + sparse.coo_matrix((10.0 ** rng.uniform(-4, -1, count), rng.integers(0, nodes, (2, count))), shape=(nodes, nodes))
    at = rng.permutation(nodes)[:sources]
    e = sparse.coo_matrix((np.ones(sources), (at, np.arange(sources))), shape=(nodes, sources))
    return saddle(g, e.T.tocsr())


@family
def circuit_with_rails(n, rng):
    """The same kind with three nodes to which a tenth of all others are connected."""
    a, b = network(n, rng)
    hubs = rng.integers(0, n, n // 10)
    a, b = np.concatenate([a, hubs]), np.concatenate([b, rng.integers(0, 3, len(hubs))])
    keep = a != b
    g = weighted(n, a[keep], b[keep], 10.0 ** rng.uniform(-6, 0, keep.sum())) + sparse.diags(10.0 ** rng.uniform(-12, -6, n))
    return (g + random_rows(n, n, 1, rng).multiply(1e-3)).tocsr()


@family
def chemistry(n, rng):
    """Stages of a column, a full block each, coupled to the next, rows and columns scaled over 12 decades."""
    block = 8
    stages = max(n // block, 3)
    parts = [[rng.normal(size=(block, block)) * (rng.random((block, block)) < share) for share in (0.2, 0.5, 0.2)]
             for _ in range(stages)]
    rows = [[None] * stages for _ in range(stages)]
    for i, (before, own, after) in enumerate(parts):
        rows[i][i] = sparse.csr_matrix(own + np.roll(np.identity(block), 1, axis=1))
        if i:
            rows[i][i - 1] = sparse.csr_matrix(before)
        if i + 1 < stages:
            rows[i][i + 1] = sparse.csr_matrix(after)
    a = sparse.bmat(rows).tocsr()
    scales = [sparse.diags(10.0 ** rng.uniform(-6, 6, a.shape[0])) for _ in range(2)]
    return (scales[0] @ a @ scales[1]).tocsr()


@family
def permuted(n, rng):
    """A dominant matrix whose rows are in another order."""
    a = random_rows(n, n, 3, rng) + 6 * sparse.identity(n)
    return a.tocsr()[rng.permutation(n)]


@family
def scaled_laplacian(n, rng):
    """D L D with entries of D over 15 decades."""
    d = sparse.diags(10.0 ** rng.uniform(-7, 8, grid(n)[0] ** 2))
    return (d @ laplacian(*grid(n)) @ d).tocsr()


@family
def scaled_rows(n, rng):
    """Convection with rows and columns scaled over 15 decades each."""
    a = convection(n, rng)
    left, right = (sparse.diags(10.0 ** rng.uniform(-8, 7, a.shape[0])) for _ in range(2))
    return (left @ a @ right).tocsr()


@family
def skew(n, rng):
    """Skew-symmetric and a little of the identity."""
    side, _ = grid(n)
    d = line(side, -1.0, 0.0, 1.0)
    return (sparse.kron(sparse.identity(side), d) + sparse.kron(d, sparse.identity(side))
            + 10.0 ** rng.uniform(-4, -1) * sparse.identity(side * side)).tocsr()


@family
def nearly_singular(n, rng):
    """A Laplacian without a boundary, and a little of the identity."""
    a, b = (np.concatenate(pair) for pair in zip(*[
        (at[:-1].ravel(), at[1:].ravel()) for at in (np.arange(grid(n)[0] ** 2).reshape(grid(n)),
                                                    np.arange(grid(n)[0] ** 2).reshape(grid(n)).T)]))
    size = grid(n)[0] ** 2
    return (weighted(size, a, b, np.ones(len(a))) + 10.0 ** rng.uniform(-13, -4) * sparse.identity(size)).tocsr()


@family
def disconnected(n, rng):
    """Parts of different kinds."""
    makers = [stokes, convection, circuit, laplacian_of_graph]
    return sparse.block_diag([make(max(n // 4, 200), rng) for make in makers]).tocsr()


@family
def arrow(n, rng):
    """A diagonal of both signs, and full last rows and columns."""
    wide = 3
    edge = sparse.csr_matrix(rng.normal(size=(wide, n - wide)))
    diagonal = sparse.diags(rng.normal(size=n - wide))
    return sparse.bmat([[diagonal, edge.T], [edge, sparse.identity(wide)]]).tocsr()


@family
def dense_row(n, rng):
    """A mean prescribed: a Laplacian without a boundary, bordered by ones."""
    size = min(n, 20_000)
    path = weighted(size, *network(size, rng), 1.0)
    ones = sparse.csr_matrix(np.ones((1, size)))
    return saddle(path, ones)


@family
def laplacian_of_graph(n, rng):
    """A graph without a mesh, weights over 6 decades, one node held."""
    ends = rng.integers(0, n, (2, 3 * n))
    a, b = np.concatenate([ends[0], np.arange(n - 1)]), np.concatenate([ends[1], np.arange(1, n)])
    keep = a != b
    return (weighted(n, a[keep], b[keep], 10.0 ** rng.uniform(-3, 3, keep.sum())) + sparse.diags((np.arange(n) == 0) * 1.0)).tocsr()


@family
def markov(n, rng):
    """I - 0.9999 P of a random walk with far steps."""
    p = abs(random_rows(n, n, 4, rng)) + sparse.identity(n, format="csr")[(np.arange(n) + 1) % n]
    p = sparse.diags(1 / np.asarray(p.sum(axis=1)).ravel()) @ p
    return (sparse.identity(n) - 0.9999 * p).tocsr()


@family
def random_5(n, rng):
    """Five entries a row in random places, no diagonal to speak of."""
    return (random_rows(n, n, 5, rng) + 1e-3 * sparse.identity(n)).tocsr()


@family
def random_symmetric(n, rng):
    """A random symmetric indefinite matrix with a band and some far entries."""
    ends = network(n, rng, 0.05)
    w = sparse.coo_matrix((rng.normal(size=len(ends[0])), ends), shape=(n, n)).tocsr()
    return (w + w.T + sparse.diags(rng.normal(size=n))).tocsr()


@family
def grcar(n, rng):
    """A Toeplitz matrix that is far from normal."""
    return sparse.diags([-1.0, 1.0, 1.0, 1.0, 1.0], [-1, 0, 1, 2, 3], shape=(n, n), format="csr")


@family
def jumps(n, rng):
    """Diffusion with coefficients over 8 decades."""
    side, _ = grid(n)
    at = np.arange(side * side).reshape(side, side)
    k = 10.0 ** rng.uniform(-4, 4, (side, side))
    pairs = [(at[:-1], at[1:], k[:-1], k[1:]), (at[:, :-1], at[:, 1:], k[:, :-1], k[:, 1:])]
    ends = [np.concatenate([pair[e].ravel() for pair in pairs]) for e in (0, 1)]
    weights = np.concatenate([(2 * p[2] * p[3] / (p[2] + p[3])).ravel() for p in pairs])
    return (weighted(side * side, *ends, weights) + sparse.diags((at == 0).ravel() * k.ravel())).tocsr()


@family
def anisotropic_3d(n, rng):
    """Diffusion ten thousand times as strong along one direction."""
    side = max(int(n ** (1 / 3)), 4)
    one, k = sparse.identity(side), line(side)
    three = lambda *parts: sparse.kron(sparse.kron(parts[0], parts[1]), parts[2])
    return (three(k, one, one) + 1e-2 * three(one, k, one) + 1e-4 * three(one, one, k)).tocsr()


@family
def plate(n, rng):
    """Plane elasticity, nearly incompressible, numbered node by node: springs along edges and diagonals, one side held."""
    side = max(int(np.sqrt(n / 2)), 4)
    at = np.arange(side * side).reshape(side, side)
    total = sparse.csr_matrix((2 * side * side, 2 * side * side))
    for (dx, dy), (a, b) in {(1, 0): (at[:, :-1], at[:, 1:]), (0, 1): (at[:-1], at[1:]), (1, 1): (at[:-1, :-1], at[1:, 1:]),
                             (1, -1): (at[1:, :-1], at[:-1, 1:])}.items():
        unit = np.array([dx, dy]) / np.hypot(dx, dy)
        springs = weighted(side * side, a.ravel(), b.ravel(), 10.0 ** rng.uniform(-2, 2, a.size))
        total = total + sparse.kron(springs, np.outer(unit, unit))
    return (total + sparse.kron(sparse.diags((at[0].repeat(side).reshape(side, side).T == at).ravel() * 1.0), np.identity(2))).tocsr()


@family
def reduced_model(n, rng):
    """A damper and springs as a system of first order: [0 I; -K -D] shifted along the real axis."""
    k = n // 2
    stiffness = line(k) * 10.0 ** rng.uniform(0, 6)
    a = sparse.bmat([[None, sparse.identity(k)], [-stiffness, -0.01 * sparse.identity(k)]])
    return (a - 10.0 ** rng.uniform(-3, 1) * sparse.identity(2 * k)).tocsr()



def mac_3d(side):
    """Velocities on the faces of a grid in space and the divergence of them: viscosity and B."""
    one, short, long, few = sparse.identity(side), line(side - 1), line(side), sparse.identity(side - 1)
    three = lambda parts: sparse.kron(sparse.kron(parts[0], parts[1]), parts[2])
    d = sparse.diags([1.0, -1.0], [0, -1], shape=(side, side - 1))
    blocks, divergence = [], []
    for axis in range(3):
        ones = [few if k == axis else one for k in range(3)]
        lines = [short if k == axis else long for k in range(3)]
        blocks.append(sum(three([lines[k] if k == j else ones[k] for k in range(3)]) for j in range(3)))
        divergence.append(three([d if k == axis else one for k in range(3)]))
    return sparse.block_diag(blocks).tocsr(), sparse.hstack(divergence).tocsr()


@family
def stokes_3d(n, rng):
    """Stokes on staggered points in space, one pressure taken out."""
    k, b = mac_3d(max(int((n / 4) ** (1 / 3)), 3))
    return saddle(10.0 ** rng.uniform(-3, 1) * k, b[1:])


@family
def oseen_3d(n, rng):
    """The same with a wind: not symmetric."""
    k, b = mac_3d(max(int((n / 4) ** (1 / 3)), 3))
    wind = sparse.diags(rng.uniform(0, 0.5, k.shape[0] - 1), 1, shape=k.shape)
    return saddle(k + wind - wind.T, b[1:])


def assembled(stiffness, nodes, count):
    """The sum of element matrices, one or one for each element, over the nodes of each element."""
    each = stiffness.shape[-1] // nodes.shape[1]
    unknowns = (each * nodes[:, :, None] + np.arange(each)).reshape(len(nodes), -1)
    rows = np.repeat(unknowns, unknowns.shape[1], 1)
    columns = np.tile(unknowns, (1, unknowns.shape[1]))
    values = np.broadcast_to(stiffness.reshape(-1, rows.shape[1]), rows.shape)
    a = sparse.coo_matrix((values.ravel(), (rows.ravel(), columns.ravel())), shape=(each * count, each * count)).tocsr()
    a.data[np.abs(a.data) < 1e-14 * np.abs(a.data).max()] = 0
    return (a + a.T) / 2


def bar(n, rng):
    """Cells in each direction of a bar with so many nodes, short or long."""
    slenderness = 10.0 ** rng.uniform(0, 2)
    width = max(int((n / slenderness) ** (1 / 3)), 2)
    return max(n // (width + 1) ** 2, 2), width, width


def cells(sizes, corners):
    """The nodes at these corners of the cells of a grid; x comes last in their numbers."""
    first = np.array(np.meshgrid(*(range(size) for size in sizes), indexing="ij")).reshape(3, -1)
    nodes = [np.ravel_multi_index(first + np.array(corner)[:, None], [size + 1 for size in sizes]) for corner in corners]
    return np.stack(nodes, 1)


@family
def hexahedra(n, rng):
    """An elastic bar of trilinear hexahedra that is held at one end, of one material or of many; zeros of elements are left out."""
    size = bar(n // 3, rng)
    corners = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    signs, h = 2.0 * np.array(corners) - 1, np.array([1, 1, 10.0 ** rng.uniform(-1, 0)])
    law = np.zeros((6, 6))
    law[:3, :3] = 0.3 / 1.3 / 0.4
    law += np.diag([1 / 1.3] * 3 + [0.5 / 1.3] * 3)
    k = np.zeros((24, 24))
    for point in signs / np.sqrt(3):
        factors = 1 + signs * point
        slopes = np.stack([signs[:, d] * np.prod(np.delete(factors, d, 1), 1) / 4 / h[d] for d in range(3)], 1)
        strain = np.zeros((6, 8, 3))
        for d, e in ((0, 0), (1, 1), (2, 2), (3, 0), (4, 1), (5, 2)):
            strain[d, :, e] = slopes[:, e if d < 3 else (e + 1) % 3]
            if d > 2:
                strain[d, :, (e + 1) % 3] = slopes[:, e]
        b = strain.reshape(6, 24)
        k += b.T @ law @ b * h.prod() / 8
    nodes = cells(size, corners)
    young = 10.0 ** (rng.uniform(-1, 1, len(nodes)) if rng.random() < 0.5 else np.zeros(len(nodes)))
    held = 3 * (size[1] + 1) * (size[2] + 1)
    return assembled(young[:, None, None] * k, nodes, np.prod(np.array(size) + 1))[held:, held:]


@family
def frame(n, rng):
    """A lattice of beams, three displacements and three rotations a node, which is held at one end."""
    size = bar(n // 6, rng)
    area, bending, torsion = 1e-2, 10.0 ** rng.uniform(-6, -3), 1e-4
    total = 0
    for axis in range(3):
        k = np.zeros((12, 12))
        for unknown, stiffness in ((axis, area), (3 + axis, torsion)):
            k[np.ix_([unknown, 6 + unknown], [unknown, 6 + unknown])] += stiffness * np.array([[1, -1], [-1, 1]])
        # Across the beam, and the rotation that belongs to it: d across = +- rotation.
        for across, sign in (((axis + 1) % 3, 1), ((axis + 2) % 3, -1)):
            turned = 3 + (axis + (2 if sign == 1 else 1)) % 3
            places = [across, turned, 6 + across, 6 + turned]
            of_beam = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]], float)
            k[np.ix_(places, places)] += bending * np.outer([1, sign, 1, sign], [1, sign, 1, sign]) * of_beam
        step = np.eye(3, dtype=int)[axis]
        # The beams of the last planes begin at nodes that begin no cell.
        inner = [s + 1 - d for s, d in zip(size, step)]
        first = np.array(np.meshgrid(*(range(s) for s in inner), indexing="ij")).reshape(3, -1)
        ends = [np.ravel_multi_index(first + offset[:, None], [s + 1 for s in size]) for offset in (0 * step, step)]
        total = total + assembled(k, np.stack(ends, 1), np.prod(np.array(size) + 1))
    held = 6 * (size[1] + 1) * (size[2] + 1)
    return total.tocsr()[held:, held:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--seed", type=int, default=1, help="of the first matrix of a family [1]")
    parser.add_argument("--count", type=int, default=1, help="matrices of each family [1]")
    parser.add_argument("--rows", default="500,60000", help="from, to; as many small as large ones [500,60000]")
    parser.add_argument("--only", default="", help="families with this in their name")
    parser.add_argument("--list", action="store_true", help="print what the families are, and end")
    arguments = parser.parse_args()
    if arguments.list:
        for name, make in FAMILIES.items():
            print(f"{name}: {make.__doc__}")
        return 0
    if not arguments.folder:
        parser.error("a folder is needed")
    os.makedirs(arguments.folder, exist_ok=True)
    least, most = (float(rows) for rows in arguments.rows.split(","))
    for number, (name, make) in enumerate(FAMILIES.items()):
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            rng = np.random.default_rng([number, seed])
            n = int(np.exp(rng.uniform(np.log(least), np.log(most))))
            if arguments.only not in name:
                continue
            a = make(n, rng).tocsr()
            a.sum_duplicates()
            a.eliminate_zeros()
            is_symmetric = abs(a - a.T).max() == 0
            path = os.path.join(arguments.folder, f"{name}-{a.shape[0]}-{seed}.mtx")
            scipy.io.mmwrite(path, a, symmetry="symmetric" if is_symmetric else "general")
            print(path, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
