//! Operators and hierarchies for programs that have a backend of their own choice.

use std::sync::Arc;

use cuda_std::Real;

use super::precisions::Precisions;
use super::{Amg, Info, NearNull, Params};
use crate::backend::{Backend, Operator};
use crate::error::{Error, Result};
use crate::matrix::Csr;
use crate::precond::Preconditioner;
use crate::setup::{Blocks, Formats, Matrices};

/// Backends on which matrices are brought to their formats, and hierarchies are built. All backends are.
pub trait Hierarchies<T: Real>: Backend<T> {
    /// A matrix, or a matrix of blocks, in the memory of this backend, and not yet in a format.
    type Assembled: Clone;

    /// The matrix in the memory of this backend, with `block` unknowns a node.
    ///
    /// # Errors
    /// [`Error::Block`] where `block` does not divide the sizes; memory that runs out.
    fn assembled(&self, a: &Arc<Csr<T>>, block: usize) -> Result<Self::Assembled>;

    /// The matrix in the format that [`crate::matrix::choose`] chooses.
    ///
    /// # Errors
    /// Memory that runs out, faults of the device.
    fn operator(&self, a: &Self::Assembled) -> Result<Self::Matrix>;

    /// Multigrid for a square matrix, applied in T or in f32, and what was set up. A diagonal entry must not
    /// be 0, nor a diagonal block singular: the hierarchy would have numbers that are not finite. `product`
    /// is the same matrix ready to be multiplied, if there is one; its memory is shared. `near_null` is what
    /// smoothed aggregation interpolates well, instead of the constant 1.
    ///
    /// # Errors
    /// [`Error::Matrix`] where `a` is not square, or `product` is of another size; [`Error::Option`] for a
    /// parameter out of its range; memory that runs out, faults of the device.
    fn amg(
        &self,
        a: Self::Assembled,
        product: Option<&Self::Matrix>,
        params: &Params,
        near_null: Option<&NearNull>,
        in_f32: bool,
    ) -> Result<AnyAmg<T, Self>>;
}

impl<T: Real, B: AnyPrecision<T>> Hierarchies<T> for B {
    type Assembled = Blocks<<B as Matrices<T>>::Csr>;

    fn assembled(&self, a: &Arc<Csr<T>>, block: usize) -> Result<Self::Assembled> {
        self.in_planes(a, block)
    }

    fn operator(&self, a: &Self::Assembled) -> Result<Self::Matrix> {
        Formats::<T, T>::operator(self, a)
    }

    fn amg(
        &self,
        a: Self::Assembled,
        product: Option<&Self::Matrix>,
        params: &Params,
        near_null: Option<&NearNull>,
        in_f32: bool,
    ) -> Result<AnyAmg<T, Self>> {
        params.check()?;
        let size = self.size(a.first());
        let [rows, columns] = [size.n_rows, size.n_cols].map(|n| n * a.block());
        if rows != columns {
            return Err(Error::Matrix(format!(
                "{rows} rows and {columns} columns: multigrid needs a square"
            )));
        }
        if let Some(product) = product.filter(|product| (product.n_rows(), product.n_cols()) != (rows, rows))
        {
            let (found, of) = (product.n_rows(), product.n_cols());
            return Err(Error::Matrix(format!(
                "a product of {found} x {of} for a matrix of {rows} x {rows}"
            )));
        }
        self.amg_of(a, product, params, near_null, in_f32)
    }
}

/// A hierarchy, whatever its number type, and what was set up.
pub type AnyAmg<T, B> = (Box<dyn Preconditioner<T, B>>, Info);

/// Backends on which the hierarchy's number type can be chosen.
pub trait AnyPrecision<T: Real>: Precisions<T, T> {
    /// [`Amg::of`] with the hierarchy applied in T, or in f32.
    fn amg_of(
        &self,
        a: Blocks<Self::Csr>,
        product: Option<&Self::Matrix>,
        params: &Params,
        near_null: Option<&NearNull>,
        in_f32: bool,
    ) -> Result<AnyAmg<T, Self>>;

    /// [`Amg::reusable_of`] with the hierarchy applied in T, or in f32.
    fn amg_reusable(
        &self,
        a: &Arc<Csr<T>>,
        there: Self::Csr,
        params: &Params,
        in_f32: bool,
    ) -> Result<AnyAmg<T, Self>>;
}

impl<T: Real, B> AnyPrecision<T> for B
where
    B: Precisions<T, T> + Precisions<T, f32>,
{
    fn amg_of(
        &self,
        a: Blocks<Self::Csr>,
        product: Option<&Self::Matrix>,
        params: &Params,
        near_null: Option<&NearNull>,
        in_f32: bool,
    ) -> Result<AnyAmg<T, Self>> {
        match in_f32 {
            true => Amg::<T, f32, B>::of(self, a, product, params, near_null).map(any),
            false => Amg::<T, T, B>::of(self, a, product, params, near_null).map(any),
        }
    }

    fn amg_reusable(
        &self,
        a: &Arc<Csr<T>>,
        there: Self::Csr,
        params: &Params,
        in_f32: bool,
    ) -> Result<AnyAmg<T, Self>> {
        match in_f32 {
            true => Amg::<T, f32, B>::reusable_of(self, a, there, params).map(any),
            false => Amg::<T, T, B>::reusable_of(self, a, there, params).map(any),
        }
    }
}

fn any<T: Real, S: Real, B: Precisions<T, S>>(amg: Amg<T, S, B>) -> AnyAmg<T, B> {
    let info = amg.info().clone();
    (Box::new(amg), info)
}
