//! Block triangular preconditioners of saddle points (Benzi, Golub and Liesen 2005, section 10).
//!
//! With the unknowns of the first block before the multipliers,
//!
//! ```text
//! A = [F  G]    P = [F  G ]    z = P^-1 r:   S y = r_2,   z_2 = -y,   F z_1 = r_1 + G y
//!     [B  C]        [0  -S]
//! ```
//!
//! With the Schur complement `S = B F^-1 G - C` the preconditioned matrix has the only eigenvalue 1, and
//! GMRES ends after two iterations. F is approximated by multigrid, or incomplete factors, and S by
//! `S_0 = B D^-1 G - C`, `D = diag(F)`, as SIMPLE has it: it is a matrix as a discretised Laplacian is, which
//! multigrid takes. Where F is more than a diagonal and C is zero, S is nearer to
//! `S_0 (B D^-1 F D^-1 G)^-1 S_0`, by least squares of a commutator (Elman, Howle, Shadid, Shuttleworth and
//! Tuminaro 2006): on Stokes' equations the iterations then hardly grow with the size.
//!
//! | file | what |
//! |---|---|
//! | `split` | which unknowns are multipliers |
//! | `complement` | `S_0` |

use std::sync::Arc;

use cuda_std::Real;

use super::amg::AnyPrecision;
use super::description::{Description, Parameters, Source};
use super::ilu::{self, Factorisations, Ilu};
use super::{Jacobi, NullSpace, Preconditioner, Projected, Traffic, amg};
use crate::analysis::Analysis;
use crate::backend::{Backend, Operator, Then};
use crate::error::Result;
use crate::matrix::{Csr, check};
use crate::setup::{Blocks, Formats};

mod complement;
mod split;
#[cfg(test)]
pub(crate) mod tests;

use complement::{diagonal, divided_columns, divided_rows, product_less};
pub(crate) use split::is_like_gradient;
pub use split::{Parts, Split};

pub(super) const DESCRIPTION: Description = Description {
    name: "schur",
    doc: "blocks of saddle points",
    title: "Schur complement",
    parameters: &["amg", "ilu", "split"],
    divides_by_diagonal: false,
    from_csr: false,
    has_hierarchy: false,
    factorises: false,
    is_fused: |_| false,
    vectors: |_| 3,
};

pub(super) fn make<T: Real, B: AnyPrecision<T> + Factorisations<T> + 'static>(
    source: Source<T, B>,
) -> Result<Box<dyn Preconditioner<T, B>>> {
    Ok(Box::new(Schur::setup(source.backend, source.a, source.parameters)?))
}

/// Sweeps of a smoother before and after a coarser level, at least.
const SWEEPS: u32 = 2;

/// `z = P^-1 r` for one matrix on one backend.
pub struct Schur<T: Real, B: Backend<T>> {
    /// Takes the elements of a vector that belong to the first block, and to the multipliers.
    take: [B::Matrix; 2],
    /// Puts them back, those of the multipliers with the other sign.
    put: [B::Matrix; 2],
    g: B::Matrix,
    commutator: Option<Commutator<B::Matrix>>,
    /// Nearly `F^-1`, and nearly `S_0^-1`.
    first: Box<dyn Preconditioner<T, B>>,
    complement: Box<dyn Preconditioner<T, B>>,
    /// Of the first block's length, two, and of the multipliers', two.
    v: [B::Vector; 2],
    y: [B::Vector; 2],
}

/// `B D^-1`, `F` and `D^-1 G`.
struct Commutator<M> {
    b: M,
    f: M,
    g: M,
}

impl<T: Real, B: AnyPrecision<T> + Factorisations<T> + 'static> Schur<T, B> {
    /// Takes a square matrix apart.
    ///
    /// # Errors
    /// [`Error::Option`](crate::Error::Option) for a split that leaves one kind of unknowns out,
    /// [`Error::Matrix`](crate::Error::Matrix) where the diagonal of the first block has zeros, memory that
    /// runs out.
    pub fn setup(backend: &B, a: &Arc<Csr<T>>, parameters: &Parameters) -> Result<Self> {
        check::check_square(a)?;
        let a: Arc<Csr<f64>> = Csr::in_type(a);
        let parts = Parts::of(&a, &parameters.split)?;
        let Parts { first: p, multipliers: q } = &parts;
        let [f, g, b, c] =
            [(p, p), (p, q), (q, p), (q, q)].map(|(rows, columns)| a.chosen_part(rows, columns));
        let d = diagonal(&f, p)?;
        let scaled_g = divided_rows(&g, &d);
        let s = product_less(&b, &scaled_g, &c)?;
        let is_diagonal = f.nnz() == p.len();
        let has_commutator = !is_diagonal && c.values().iter().all(|v| *v == 0.0);
        let matrix = |a: &Csr<f64>| operator::<T, B>(backend, a);
        let commutator = || {
            let b = matrix(&divided_columns(&b, &d))?;
            Ok(Commutator { b, f: matrix(&f)?, g: matrix(&scaled_g)? })
        };
        let n = a.n_rows();
        let taken = [p, q].map(|rows| selection(rows, n, 1.0));
        let put = [taken[0].transpose(), selection(q, n, -1.0).transpose()];
        Ok(Schur {
            take: [matrix(&taken[0])?, matrix(&taken[1])?],
            put: [matrix(&put[0])?, matrix(&put[1])?],
            g: matrix(&g)?,
            commutator: has_commutator.then(commutator).transpose()?,
            first: approximate(backend, &f, parameters)?,
            complement: approximate(backend, &s, parameters)?,
            v: [backend.zeros(p.len())?, backend.zeros(p.len())?],
            y: [backend.zeros(q.len())?, backend.zeros(q.len())?],
        })
    }
}

/// A matrix ready to be multiplied, in a format that suits it.
fn operator<T: Real, B: AnyPrecision<T>>(backend: &B, a: &Csr<f64>) -> Result<B::Matrix> {
    Formats::<T, T>::operator(backend, &Blocks::scalar(backend.csr(&Arc::new(a.cast::<T>()))?))
}

/// The rows of `value I` with these numbers.
fn selection(rows: &[u32], n: usize, value: f64) -> Csr<f64> {
    let row = |k: usize, columns: &mut [u32], values: &mut [f64]| (columns[0], values[0]) = (rows[k], value);
    Csr::from_rows(rows.len(), n, |_| 1, row)
}

/// What comes near to the inverse of a block: its diagonal, where there is nothing else; multigrid where it
/// is made for the block, which a null space that is known is kept out of; incomplete factors for any other.
fn approximate<T: Real, B: AnyPrecision<T> + Factorisations<T> + 'static>(
    backend: &B,
    a: &Csr<f64>,
    parameters: &Parameters,
) -> Result<Box<dyn Preconditioner<T, B>>> {
    let here = Arc::new(a.cast::<T>());
    let analysis = Analysis::of(a);
    let is_for_multigrid = analysis.is_like_diffusion() || analysis.may_be_definite();
    if a.nnz() == a.n_rows() && analysis.values.diagonal.zero == 0 {
        return Ok(Box::new(Jacobi::setup(backend, &here)?));
    }
    if !is_for_multigrid {
        let params = ilu::Params { kind: ilu::Kind::Threshold, ..parameters.ilu.clone() };
        return Ok(Box::new(Ilu::setup(backend, &here, &params)?));
    }
    // What one sweep leaves, the commutator multiplies: two halve the iterations, at a tenth more for each.
    let amg::Params { pre, post, .. } = parameters.amg;
    let params = amg::Params { pre: pre.max(SWEEPS), post: post.max(SWEEPS), ..parameters.amg.clone() };
    let csr = Blocks::scalar(backend.csr(&here)?);
    let (m, _) = backend.amg_of(csr, None, &params, None, false)?;
    Ok(match NullSpace::of(a, 1) {
        Some(null_space) => Box::new(Projected::new(backend, m, &null_space)?),
        None => m,
    })
}

impl<T: Real, B: Backend<T>> Preconditioner<T, B> for Schur<T, B> {
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        let Schur { take, put, g, commutator, first, complement, v: [v, w], y: [x, y] } = self;
        // S y = r_2
        backend.multiply(&take[1], r, Then::Store { y: x })?;
        complement.apply(backend, x, y)?;
        if let Some(Commutator { b, f, g }) = commutator {
            backend.multiply(g, y, Then::Store { y: v })?;
            backend.multiply(f, v, Then::Store { y: w })?;
            backend.multiply(b, w, Then::Store { y: x })?;
            complement.apply(backend, x, y)?;
        }
        // F z_1 = r_1 + G y,  z_2 = -y
        backend.multiply(&take[0], r, Then::Store { y: v })?;
        backend.multiply(g, y, Then::Add { y: v })?;
        first.apply(backend, v, w)?;
        backend.multiply(&put[0], w, Then::Store { y: z })?;
        backend.multiply(&put[1], y, Then::Add { y: z })
    }

    fn is_fixed(&self) -> bool {
        self.first.is_fixed() && self.complement.is_fixed()
    }

    /// Each product reads a vector and writes one; two of them add to what is there.
    fn traffic(&self, vector: u64) -> Traffic {
        let Schur { take, put, g, commutator, first, complement, .. } = self;
        let n = (take[0].n_rows() + take[1].n_rows()) as u64;
        let bytes = |length: usize| vector / n.max(1) * length as u64;
        let [v, y] = [bytes(take[0].n_rows()), bytes(take[1].n_rows())];
        let product = |m: &B::Matrix| m.traffic() + bytes(m.n_rows()) + bytes(m.n_cols());
        let products =
            [&take[0], &take[1], &put[0], &put[1], g].map(product).iter().sum::<u64>() + v + vector;
        let inner = first.traffic(v).apply + complement.traffic(y).apply;
        let of_commutator = commutator.as_ref().map_or(0, |commutator| {
            let Commutator { b, f, g } = commutator;
            [b, f, g].map(product).iter().sum::<u64>() + complement.traffic(y).apply
        });
        Traffic::unfused(products + inner + of_commutator, vector)
    }
}
