//! The part that a rank has of a level.

use std::sync::Arc;

use cuda_std::Real;

use crate::backend::distributed::{Borders, Distributed, DistributedMatrix};
use crate::backend::{Memory, Operator, Products};
use crate::comm::{Comm, Piece, Reader, Writer, agree_within};
use crate::error::{Error, Result};
use crate::matrix::rounding::Pivot;
use crate::matrix::{AnyMatrix, Csr};
use crate::precond::amg::flexible::FlexibleCg;
use crate::precond::amg::level::{Correction, Level, LevelMatrix, Vectors};
use crate::precond::amg::params::{Cycle, Params};
use crate::precond::amg::precisions::Precisions;
use crate::precond::amg::smoother::Sweeps;
use crate::setup::parts::{PartBorder, border_on};
use crate::setup::{Blocks, BorderFormat, Formats, Matrices, Parts, Size};

/// Backends on which ranks join their rows of the matrices of a level.
pub trait Joins<T: Real, S: Real>: Precisions<T, S> + Parts<T> + Borders<S> + BorderFormat<T, S> {}

impl<T: Real, S: Real, B: Precisions<T, S> + Parts<T> + Borders<S> + BorderFormat<T, S>> Joins<T, S> for B {}

/// The rows that one rank has of a matrix of a level, on the host.
pub struct PieceOfMatrix {
    pub piece: Piece,
    /// The pivots of the rounding, where values are rounded so that a GPU can compress them.
    pub pivot: Option<Pivot>,
}

/// The same where they are computed with: those in its own columns, and their border.
pub struct PartOfMatrix<M, I> {
    pub local: Blocks<M>,
    pub border: PartBorder<M, I>,
    pub pivot: Option<Pivot>,
}

/// A part of a matrix of T on B.
pub type PartOn<T, B> = PartOfMatrix<<B as Matrices<T>>::Csr, <B as Matrices<T>>::Indices>;

impl PieceOfMatrix {
    /// It where `backend` computes, of nodes of `block` unknowns.
    pub fn part<T: Real, B: Parts<T>>(self, backend: &B, block: usize) -> Result<PartOn<T, B>> {
        let PieceOfMatrix { piece: Piece { local, border }, pivot } = self;
        let local = backend.in_planes(&Csr::in_type(local.csr()), block)?;
        Ok(PartOfMatrix { local, border: border_on(backend, &border)?, pivot })
    }
}

/// The part that a rank has of a level.
pub struct Part {
    /// Unknowns of a node.
    pub block: usize,
    /// A, what the correction is multiplied by, R.
    pub matrices: [PieceOfMatrix; 3],
    /// Whether the correction is [`Correction::Swept`].
    pub is_swept: bool,
    /// The weights of the sweeps of the smoother, and their diagonal.
    pub weights: Vec<f64>,
    pub d: Vec<f64>,
}

impl Part {
    /// Sends it to a rank that [receives](Part::receive) it.
    pub fn send(&self, comm: &dyn Comm, to: usize) -> Result<()> {
        let pivots = self.matrices.each_ref().map(|matrix| code_of(matrix.pivot));
        let message = Writer::new().put(&[self.block as u64, u64::from(self.is_swept)]).put(&pivots);
        comm.send(to, &message.put(&self.weights).put(&self.d).bytes())?;
        self.matrices.iter().try_for_each(|matrix| matrix.piece.send(comm, to))
    }

    /// What rank 0 [sends](Part::send).
    pub fn receive(comm: &dyn Comm) -> Result<Part> {
        let message = comm.receive(0)?;
        let mut message = Reader::new(&message);
        let &[block, is_swept] = &message.take::<u64>()?[..] else { return Err(unknown()) };
        let &[a, correction, r] = &message.take::<u64>()?[..] else { return Err(unknown()) };
        let (weights, d) = (message.take()?, message.take()?);
        let matrix = |code: u64| {
            let pivot = PIVOTS.iter().copied().find(|&pivot| code_of(pivot) == code).ok_or_else(unknown)?;
            Ok::<_, Error>(PieceOfMatrix { pivot, piece: Piece::receive(comm, 0)? })
        };
        let matrices = [matrix(a)?, matrix(correction)?, matrix(r)?];
        Ok(Part { block: block as usize, matrices, is_swept: is_swept != 0, weights, d })
    }

    /// The level, the `l`-th, of this rank, in S.
    pub fn level<T: Real, S: Real, B: Joins<T, S>>(
        self,
        backend: &Distributed<B>,
        l: usize,
        params: &Params,
    ) -> Result<Level<S, Distributed<B>>> {
        let Part { block, matrices, is_swept, weights, d } = self;
        let matrix =
            |piece: PieceOfMatrix| matrix::<T, S, B>(backend, piece.part(backend.inner(), block), params);
        let [a, correction, r] = matrices.map(matrix);
        let (a, correction, r) = (a?, correction?, r?);
        let rounded = |values: Vec<f64>| values.into_iter().map(S::from_f64).collect::<Vec<S>>();
        let (len, d) = (d.len(), Memory::<S>::vector(backend.inner(), &rounded(d))?);
        let sweeps = Sweeps::of_diagonal(d, rounded(weights), block, len);
        let correction =
            if is_swept { Correction::Swept(correction) } else { Correction::Interpolated(correction) };
        level(backend, l, params, (a, correction, r), sweeps)
    }
}

/// The `l`-th level of a rank, of A, correction and R.
pub fn level<S: Real, B: Borders<S> + 'static>(
    backend: &Distributed<B>,
    l: usize,
    params: &Params,
    (a, correction, r): Matrices3<S, B>,
    sweeps: Sweeps<S, Distributed<B>>,
) -> Result<Level<S, Distributed<B>>> {
    let n = a.matrix.n_rows();
    let flexible = match params.cycle() {
        Cycle::K if l > 0 => Some(FlexibleCg::new(backend, n)?),
        _ => None,
    };
    let vectors = Vectors::new::<S, Distributed<B>>(backend, n)?;
    Ok(Level { a, r, correction, smoother: Box::new(sweeps), vectors, flexible })
}

/// A, the correction and R of a level.
type Matrices3<S, B> = (
    LevelMatrix<DistributedMatrix<S, B>>,
    Correction<DistributedMatrix<S, B>>,
    LevelMatrix<DistributedMatrix<S, B>>,
);

const PIVOTS: [Option<Pivot>; 3] = [None, Some(Pivot::Diagonal), Some(Pivot::Largest)];

fn code_of(pivot: Option<Pivot>) -> u64 {
    PIVOTS.iter().position(|&other| other == pivot).unwrap_or(0) as u64
}

fn unknown() -> Error {
    Error::Option("rank 0 describes an unknown level: do all ranks run the same program?".into())
}

/// The rows of a matrix as they are multiplied, in S. All ranks call this, also after an error.
pub fn matrix<T: Real, S: Real, B: Joins<T, S>>(
    backend: &Distributed<B>,
    part: Result<PartOn<T, B>>,
    params: &Params,
) -> Result<LevelMatrix<DistributedMatrix<S, B>>> {
    let inner = backend.inner();
    let made = part.and_then(|PartOfMatrix { local, border, pivot }| {
        let (block, plane) = (local.block(), Matrices::<T>::size(inner, local.first()));
        let (n_rows, n_cols) = (block * plane.n_rows, block * plane.n_cols);
        let operator = operator::<T, S, B>(inner, &local, pivot, params)?;
        let of_border = border.operator::<T, S, B>(inner, n_rows)?;
        let nnz = block * block * plane.nnz + of_border.1[1];
        Ok((Size { n_rows, n_cols, nnz }, operator, of_border, border.links))
    });
    // Ranks join their rows together: none where another has come to an end.
    let (size, operator, border, links) = agree_within(&**backend.comm(), made)?;
    Ok(LevelMatrix::new(size, backend.assembled_there(operator, border, &links)?))
}

/// The rows in their own columns.
fn operator<T: Real, S: Real, B: Precisions<T, S>>(
    backend: &B,
    local: &Blocks<<B as Matrices<T>>::Csr>,
    pivot: Option<Pivot>,
    params: &Params,
) -> Result<<B as Products<S>>::Matrix> {
    let Size { n_rows, n_cols, nnz } = Matrices::<T>::size(backend, local.first());
    if nnz == 0 {
        // Rows without entries of their own: nothing that a format is chosen by.
        let block = local.block();
        let empty = Csr::<S>::from_rows(block * n_rows, block * n_cols, |_| 0, |_, _, _| ());
        return Products::<S>::matrix(backend, &Arc::new(AnyMatrix::Crs(Arc::new(empty))));
    }
    match (pivot, params.format) {
        (Some(pivot), _) => Formats::<T, S>::smoothing_operator(backend, local, pivot),
        (None, Some(format)) => Formats::<T, S>::operator_in(backend, local, format),
        (None, None) => Formats::<T, S>::operator(backend, local),
    }
}
