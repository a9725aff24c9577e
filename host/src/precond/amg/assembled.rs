//! Matrices that are assembled where they are solved with: all of one on one rank, or on each of several its
//! rows.

use std::sync::Arc;

use super::facade::{AnyPrecision, Hierarchies};
use super::ranks::{AmgOnRanks, Known, OwnRows, amg_from_rows};
use super::{Blocks, Info, Params};
use crate::backend::Products;
use crate::backend::distributed::{Borders, Distributed, DistributedMatrix, Exchanged};
use crate::comm::{Comm, Numbering, Piece, agree};
use crate::error::{Error, Result};
use crate::matrix::AnyMatrix;
use crate::precond::Preconditioner;
use crate::setup::{Formats, Parts};

/// Backends on which programs assemble their matrices, in f64: those of one rank, and of one of several.
pub trait Assembles: Products<f64> {
    /// The rows of this rank where it computes.
    type Rows;

    /// How this rank talks to the others; `None` where it is alone.
    fn comm(&self) -> Option<&Arc<dyn Comm>>;

    /// What this rank has told others so far.
    ///
    /// # Errors
    /// Those of a device that counts it.
    fn exchanged(&self) -> Result<Exchanged> {
        Ok(Exchanged::default())
    }

    /// Whether nothing between ranks goes through the host.
    fn is_connected(&self) -> bool {
        false
    }

    /// The rows of this rank where it computes, with `block` unknowns a node. All ranks call this, as all
    /// that follows.
    ///
    /// # Errors
    /// [`Error::Block`] where `block` does not divide the sizes; memory that runs out, here or on another
    /// rank.
    fn rows(&self, piece: Piece, block: usize) -> Result<Self::Rows>;

    /// The rows ready to be multiplied, in the format that [`crate::matrix::choose`] chooses.
    ///
    /// # Errors
    /// Memory that runs out, faults of the device.
    fn product(&self, rows: &Self::Rows) -> Result<Arc<Self::Matrix>>;

    /// Multigrid for a square matrix whose rows have these numbers, applied in f64 or in f32; alone there is
    /// no need for `numbers`. What was set up is told to the first rank.
    ///
    /// # Errors
    /// Those of [`Hierarchies::amg`].
    fn multigrid(
        &self,
        rows: &Self::Rows,
        numbers: Option<&Numbering>,
        params: &Params,
        in_f32: bool,
    ) -> Result<(Multigrid<Self>, Option<Info>)>
    where
        Self: Sized;
}

type Multigrid<B> = Box<dyn Preconditioner<f64, B>>;

impl<B: AnyPrecision<f64>> Assembles for B {
    type Rows = Blocks<B::Csr>;

    fn comm(&self) -> Option<&Arc<dyn Comm>> {
        None
    }
    fn rows(&self, piece: Piece, block: usize) -> Result<Blocks<B::Csr>> {
        self.assembled(piece.local.csr(), block)
    }
    fn product(&self, rows: &Blocks<B::Csr>) -> Result<Arc<B::Matrix>> {
        Hierarchies::operator(self, rows).map(Arc::new)
    }
    fn multigrid(
        &self,
        rows: &Blocks<B::Csr>,
        _: Option<&Numbering>,
        params: &Params,
        in_f32: bool,
    ) -> Result<(Multigrid<B>, Option<Info>)> {
        let (m, info) = self.amg(rows.clone(), None, params, None, in_f32)?;
        Ok((m, Some(info)))
    }
}

/// The rows of one of several ranks.
pub struct RowsOfRank<B: Parts<f64> + Borders<f64>> {
    piece: Piece,
    /// In its own columns.
    planes: Blocks<B::Csr>,
    product: Arc<DistributedMatrix<f64, B>>,
}

impl<B: AmgOnRanks<f64>> Assembles for Distributed<B> {
    type Rows = RowsOfRank<B>;

    fn comm(&self) -> Option<&Arc<dyn Comm>> {
        Some(Distributed::comm(self))
    }

    fn exchanged(&self) -> Result<Exchanged> {
        Distributed::exchanged(self)
    }
    fn is_connected(&self) -> bool {
        Distributed::is_connected(self)
    }

    fn rows(&self, piece: Piece, block: usize) -> Result<RowsOfRank<B>> {
        let inner = self.inner();
        let made = inner.in_planes(piece.local.csr(), block).and_then(|planes| {
            let local = match piece.local.nnz() {
                0 => inner.matrix(&Arc::new(AnyMatrix::Crs(piece.local.csr().clone())))?,
                _ => Formats::<f64, f64>::operator(inner, &planes)?,
            };
            Ok((planes, local))
        });
        // They join their rows together: none where another has come to an end.
        let (planes, local) = agree(&**Distributed::comm(self), made)?;
        let product = Arc::new(self.assembled(local, &piece.border)?);
        Ok(RowsOfRank { piece, planes, product })
    }

    fn product(&self, rows: &RowsOfRank<B>) -> Result<Arc<DistributedMatrix<f64, B>>> {
        Ok(rows.product.clone())
    }

    /// Where ranks do not set it up together, rank 0 computes all of it.
    fn multigrid(
        &self,
        rows: &RowsOfRank<B>,
        numbers: Option<&Numbering>,
        params: &Params,
        in_f32: bool,
    ) -> Result<(Multigrid<Self>, Option<Info>)> {
        params.check()?;
        let numbers = numbers.ok_or_else(|| {
            Error::Option("the rows of a rank have no numbers: a mistake of this library".into())
        })?;
        let RowsOfRank { piece, planes, product } = rows;
        let own = OwnRows { a: planes, piece, product, there: None };
        let known = Known { numbers: numbers.own_numbers(), total: numbers.total(), in_f32, near_null: None };
        let m = amg_from_rows(self, own, params, &known)?;
        let info = m.hierarchy().cloned();
        Ok((m, info))
    }
}
