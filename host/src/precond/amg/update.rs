//! A hierarchy for a matrix of the same pattern: only its numbers are computed anew.

use std::sync::Arc;

use cuda_std::Real;

use super::hierarchy::{Hierarchy, Phases, damping};
use super::spectrum::spectral_radius;
use super::{Amg, Extras, Params, check, hierarchy_of};
use crate::backend::algebra::{Algebra, Mixed};
use crate::error::{Error, Result};
use crate::matrix::Csr;

/// What [`Amg::update_values`] starts from.
pub struct Reusable<T: Real, B: Algebra<T>> {
    /// The matrix that was set up.
    pattern: Arc<Csr<T>>,
    hierarchy: Hierarchy<B::Csr>,
    params: Params,
}

impl<T: Real, S: Real, B: Mixed<T, S> + Mixed<S, T>> Amg<T, S, B> {
    /// [`Amg::setup`], and keeps what [`Amg::update_values`] needs: the hierarchy in T with the intermediate products,
    /// about twice the memory.
    pub fn setup_reusable(backend: &B, a: &Arc<Csr<T>>, params: &Params) -> Result<Self> {
        params.check()?;
        check::check_square(a)?;
        check::check_diagonal(a, "amg")?;
        let extras = Extras { near_null: None, keep: true };
        let on_device = Algebra::<T>::csr(backend, a)?;
        let hierarchy = hierarchy_of::<T, B>(backend, on_device, params, extras)?;
        let mut amg = Self::from_hierarchy(backend, &hierarchy, params)?;
        amg.reusable = Some(Reusable { pattern: a.clone(), hierarchy, params: params.clone() });
        Ok(amg)
    }

    /// The preconditioner of `a`, which has the pattern of the matrix that was set up, with the aggregates or coarse
    /// unknowns of that: level matrices, smoothers and the coarsest inverse are computed anew. So is the interpolation of
    /// `sa`; with `pmis` and `mandel-brezina` it stays as it is.
    ///
    /// With `sa` and where the same entries are strong it is what [`Amg::setup`] gives, to the last bit.
    ///
    /// # Errors
    /// [`Error::Matrix`] for another pattern, and where the preconditioner was not made by [`Amg::setup_reusable`];
    /// [`Error::Diagonal`] as there: then nothing has changed. After an error of the device it is of no more use.
    pub fn update_values(&mut self, backend: &B, a: &Csr<T>) -> Result<()> {
        let Some(Reusable { pattern, .. }) = &self.reusable else {
            return Err(Error::Matrix(
                "this hierarchy keeps nothing to be updated; make it by setup_reusable".into(),
            ));
        };
        check_pattern(pattern, a)?;
        check::check_diagonal(a, "amg")?;
        let mut reusable = self.reusable.take().expect("looked at above");
        update::<T, B>(backend, &mut reusable.hierarchy, a, &reusable.params)?;
        *self = Self::from_hierarchy(backend, &reusable.hierarchy, &reusable.params)?;
        self.reusable = Some(reusable);
        Ok(())
    }
}

fn check_pattern<T: Real>(expected: &Csr<T>, a: &Csr<T>) -> Result<()> {
    let fault = |message: String| {
        Err(Error::Matrix(format!("{message}; a hierarchy can be updated for the same pattern only")))
    };
    let size = |a: &Csr<T>| (a.n_rows(), a.n_cols());
    if size(a) != size(expected) {
        let ((rows, columns), (n, _)) = (size(a), size(expected));
        return fault(format!("the matrix is {rows} x {columns}, the one set up {n} x {n}"));
    }
    if a.row_ptr() == expected.row_ptr() && a.col_idx() == expected.col_idx() {
        return Ok(());
    }
    let row = (0..a.n_rows()).find(|&i| a.row(i).0 != expected.row(i).0).map_or(0, |i| i + 1);
    fault(format!("row {row} has other columns than in the matrix that was set up"))
}

/// Every number of the hierarchy, for the values of `a`.
fn update<T: Real, B: Algebra<T>>(
    backend: &B,
    hierarchy: &mut Hierarchy<B::Csr>,
    a: &Csr<T>,
    params: &Params,
) -> Result<()> {
    let Hierarchy { levels, coarsest, phases } = hierarchy;
    *phases = Phases::default();
    phases.time(backend, "upload", || {
        backend.set_values(levels.first_mut().map_or(&mut *coarsest, |level| &mut level.a), a)
    })?;
    let mut rest = &mut levels[..];
    while let Some((level, coarser)) = std::mem::take(&mut rest).split_first_mut() {
        level.radius = phases
            .time(backend, "spectral radius", || spectral_radius(backend, &level.a, params.lanczos_steps))?;
        let products = level.products.as_mut().expect("kept in every level");
        if let Some((s, tentative)) = &mut products.smoothed {
            phases.time(backend, "interpolation", || {
                backend.strength_values(&level.a, true, s)?;
                backend.damp(s, damping(params, level.radius))?;
                backend.multiply_values(s, tentative, &mut level.p)
            })?;
            phases.time(backend, "transpose", || backend.transpose_values(&level.p, &mut level.r))?;
        }
        let next = coarser.first_mut().map_or(&mut *coarsest, |level| &mut level.a);
        phases.time(backend, "Galerkin product", || {
            backend.multiply_values(&level.a, &level.p, &mut products.ap)?;
            backend.multiply_values(&level.r, &products.ap, next)
        })?;
        rest = coarser;
    }
    Ok(())
}
