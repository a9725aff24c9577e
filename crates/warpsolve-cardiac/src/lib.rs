//! Electrical waves in heart tissue: the monodomain and the bidomain equations on a mesh of tetrahedra, or of
//! triangles in a plane.
//!
//! With the transmembrane voltage v and the extracellular potential phi (mV), the conductivities sigma_i and
//! sigma_e (mS/mm) along and across the fibres, the membrane's surface to volume ratio chi (1/mm) and its
//! capacity Cm (uF/mm^2)
//!
//! ```text
//! chi Cm dv/dt = div(sigma_i grad(v + phi)) - chi I_ion(v, w) + I_stim,   dw/dt = g(v, w)
//!            0 = div(sigma_i grad v) + div((sigma_i + sigma_e) grad phi) + I_e
//! ```
//!
//! without flux through the boundary. w are the cells' own variables, see [`Model`]. If sigma_e is a multiple
//! of sigma_i, phi can be eliminated. What is left is the monodomain equation: the first one, without phi,
//! with sigma_m = sigma_i sigma_e / (sigma_i + sigma_e) in place of sigma_i. For other tissue it is an
//! approximation.
//!
//! A step of dt is split (Godunov). First every cell reacts by itself, and v^n becomes v*. Then v* diffuses,
//! implicitly, with linear finite elements ([`fem`](warpsolve_host::fem)). K are stiffness matrices, M is the
//! mass matrix, kappa = chi Cm / dt, K_ie = K_i + K_e, and s = M I_e the currents of electrodes. The unknown
//! is the change by diffusion, d = v^(n+1) - v*, so that tolerances are relative to the currents of diffusion
//! and do not depend on the voltage at rest:
//!
//! ```text
//! monodomain   (kappa M + theta K_m) d = -K_m v*
//! splitting    (kappa M + theta K_i) d = -K_i (v* + phi^n),   then   K_ie phi^(n+1) = -K_i v^(n+1) + s
//! coupled      [ K_ie   K_i           ] [ phi^(n+1) ]   [ -K_i v* + s ]
//!              [ K_i    K_i + kappa M ] [ d         ] = [ -K_i v*     ]
//! potentials   [ C_t + K_i   -C_t      ] [ u_i^(n+1) - v* ] = [ -K_i v* ]
//!              [ -C_t        C_t + K_e ] [ u_e^(n+1)      ] = [ s       ]
//! ```
//!
//! The last one is the coupled one for u_e = phi, u_i = v + phi, with the lumped mass C_t = kappa M. K_i and
//! M are those of the tissue. A region without sigma_i is a bath: it has no cells and no v, but phi, which is
//! continuous where they meet.
//!
//! Every step is first order in dt. The systems of the monodomain equation and of v alone are solved by CG
//! with the diagonal as preconditioner. The others are singular (a constant phi is in their null space) and
//! solved by CG with multigrid; those of both in blocks of two unknowns a node. A solve starts from 2 x^n -
//! x^(n-1), extrapolated from the last two solutions. phi has mean 0 over the nodes. Where a place is
//! grounded, phi is 0 there instead, and nothing is singular.
//!
//! Sources: S. Rosenberger, G. Haase: OpenACC and CUDA parallelization for the Elasticity Problem in CARP
//! (2017), section 8; E. J. Vigmond, R. Weber dos Santos, A. J. Prassl, M. Deo, G. Plank: Solvers for the
//! cardiac bidomain equations, Progress in Biophysics and Molecular Biology 96, 2008 (the splitting).
//!
//! | file | what |
//! |---|---|
//! | `params` | the parameters |
//! | `stimulus`, `shape` | currents from outside: where and when |
//! | `electrodes` | those into the space outside of the cells, and their balance |
//! | `simulation` | the steps |
//! | `regions` | conductivities by region, and baths |
//! | `domain` | the mesh, checked and in order, with its tissue |
//! | `diffusion` | the second half of a step |
//! | `formulations` | the systems that it solves |
//! | `rows` | their matrices, and which row is whose |
//! | `system` | one linear system, solved again and again |
//! | `order` | nodes numbered along a space-filling curve |
//! | `checkpoint` | states in files |
//! | `ranks`, `requests` | several ranks, and what the first asks of the others |
//! | `share`, `bisection` | what each of them has |
//! | `whole` | how its values come to the nodes of the mesh |
//! | `assembled` | the elements that it assembles on |
//! | `piece`, `pieces` | those that it writes |
//! | `places` | where stimuli and grounds are |
//! | [`mesh`] | tetrahedra or triangles with regions and fibres |
//! | [`io`] | mesh files, VTK files, pictures |

mod assembled;
mod bisection;
mod checkpoint;
mod diffusion;
mod domain;
mod electrodes;
mod formulations;
pub mod io;
pub mod mesh;
mod order;
mod params;
mod piece;
mod pieces;
mod places;
mod ranks;
mod regions;
mod requests;
mod rows;
mod shape;
mod share;
mod simulation;
mod stimulus;
mod system;
#[cfg(test)]
mod tests;
mod whole;

pub use checkpoint::Checkpoint;
pub use domain::Domain;
pub use params::{Formulation, Params, Tissue};
pub use ranks::RanksInfo;
pub use regions::{Conductivities, Region};
pub use shape::Shape;
pub use simulation::{Simulation, StepReport};
pub use stimulus::{Balance, Stimulus, StimulusKind};
pub use system::SystemInfo;
pub use warpsolve_host::backend::cells::{Model, NOT_ACTIVATED};
