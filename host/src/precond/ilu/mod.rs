//! Incomplete factorisations: `A` is nearly `L U`, and `M = U^-1 L^-1` (Saad 2003, chapter 10).
//!
//! The factors are computed on the host, in f64, in an order of elimination, and solved with where the vectors
//! are. Everything is deterministic: the factors do not depend on the threads, and the sums of a solution have
//! an order of their own.

use cuda_std::Real;

use super::amg::AnyPrecision;
use super::description::{Description, Source};
use super::preconditioner::{Preconditioner, Traffic};
use crate::error::Result;
use crate::matrix::{Csr, check};
use arrangement::Arrangement;
use factors::Factors;
use schedule::{Triangle, Unscheduled};

mod arrangement;
mod factors;
mod order;
mod params;
mod pattern;
mod schedule;
mod solve;
#[cfg(test)]
mod tests;
mod threshold;

pub use params::{Kind, Order, Params};
pub use solve::{Triangles, TriangularSolves};

pub(super) const DESCRIPTION: Description = Description {
    name: "ilu",
    doc: "incomplete factorisation",
    title: "ILU",
    parameters: &["ilu"],
    divides_by_diagonal: false,
    has_hierarchy: false,
    is_fused: |_| false,
    vectors: |_| 2,
};

pub(super) fn make<T: Real, B: AnyPrecision<T> + TriangularSolves<T> + 'static>(
    source: Source<T, B>,
) -> Result<Box<dyn Preconditioner<T, B>>> {
    Ok(Box::new(Ilu::setup(source.backend, source.a, &source.parameters.ilu)?))
}

/// What was factorised, for reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// What it was factorised with.
    pub params: Params,
    /// Whether it is `L D L^T` with a positive D.
    pub is_symmetric: bool,
    /// Whether rows were permuted to bring large entries to the diagonal.
    pub is_matched: bool,
    /// Entries of L and U, the diagonal once.
    pub entries: usize,
    /// Pivots that were too small, and changed.
    pub changed_pivots: usize,
    /// What was added to the diagonal of a symmetric matrix to keep pivots positive, as a share of it.
    pub shift: f64,
    /// Levels of L and of U: steps of a solution, one after the other.
    pub levels: [usize; 2],
    /// Bytes of the factors.
    pub bytes: u64,
}

/// About how many bytes the factors will take of a matrix with so many rows and entries.
pub(crate) fn expected_bytes(params: &Params, n_rows: usize, nnz: usize, number: usize) -> u64 {
    let entries = match params.kind {
        Kind::Levels => nnz as f64 * f64::from(1 + params.fill),
        Kind::Threshold => nnz as f64 * params.growth,
        Kind::Diagonal => nnz as f64,
    };
    (entries * (4 + number) as f64) as u64 + (n_rows * 2 * (12 + number)) as u64
}

impl Info {
    /// "ILU(0)", "IC(1)", "ILUT", "DILU", ..
    pub fn title(&self) -> String {
        let Params { kind, fill, .. } = self.params;
        match (kind, self.is_symmetric) {
            (Kind::Levels, false) => format!("ILU({fill})"),
            (Kind::Levels, true) => format!("IC({fill})"),
            (Kind::Threshold, false) => "ILUT".into(),
            (Kind::Threshold, true) => "ICT".into(),
            (Kind::Diagonal, _) => "DILU".into(),
        }
    }
}

/// `M = U^-1 L^-1` for one matrix on one backend.
pub struct Ilu<T: Real, B: TriangularSolves<T>> {
    info: Info,
    triangles: B::Triangles,
}

impl<T: Real, B: TriangularSolves<T>> Ilu<T, B> {
    /// Factorises a square matrix. Pivots that are too small are changed, and counted.
    ///
    /// # Errors
    /// [`crate::Error::Matrix`] where `a` is not square, [`crate::Error::NotFinite`] where it is not finite,
    /// [`crate::Error::Option`] for a parameter out of its range, memory that runs out.
    pub fn setup(backend: &B, a: &Csr<T>, params: &Params) -> Result<Self> {
        params.check()?;
        check::check_square(a)?;
        check::check_finite(a)?;
        let (triangles, info) = factorised(a, params)?;
        Ok(Ilu { triangles: backend.triangles(triangles)?, info })
    }

    /// What was factorised.
    pub fn info(&self) -> &Info {
        &self.info
    }
}

/// The factors of `a` in the order of their solution.
fn factorised<T: Real>(a: &Csr<T>, params: &Params) -> Result<(Triangles<T>, Info)> {
    let diagonal = a.diagonal();
    let is_symmetric =
        diagonal.iter().all(|&d| d > T::ZERO) && a.is_symmetric(check::ROUNDING).is_symmetric();
    let is_matched = params.matching.unwrap_or_else(|| diagonal.contains(&T::ZERO)) && !is_symmetric;
    let arrangement = Arrangement::of(a, params, is_matched, is_symmetric)?;
    let factors = Factors::of(&|| arrangement.apply(a), params, is_symmetric);
    let triangles = scheduled(&factors, &arrangement);
    let info = Info {
        params: params.clone(),
        is_symmetric,
        is_matched,
        entries: factors.whole.nnz(),
        changed_pivots: factors.changed,
        shift: factors.shift,
        levels: [triangles.lower.levels(), triangles.upper.levels()],
        bytes: triangles.bytes(),
    };
    Ok((triangles, info))
}

/// `z = C Q U^-1 L^-1 P R r` as two triangles, which take the scales of R and C in.
fn scheduled<T: Real>(factors: &Factors, arrangement: &Arrangement) -> Triangles<T> {
    let (row_scale, column_scale) =
        (|e: usize| arrangement.row_scale(e), |e: usize| arrangement.column_scale(e));
    let lower = Unscheduled {
        factors: &factors.whole,
        row: &|i| factors.lower(i),
        is_upper: false,
        diagonal: &row_scale,
        scale: &|i, _| 1.0 / row_scale(i),
    };
    let (lower, lower_places) = Triangle::of(&lower, &arrangement.rows);
    let upper = Unscheduled {
        factors: &factors.whole,
        row: &|i| factors.upper(i),
        is_upper: true,
        diagonal: &|e| column_scale(e) / factors.pivot(e),
        scale: &|_, j| 1.0 / column_scale(j),
    };
    let (upper, upper_places) = Triangle::of(&upper, &lower_places);
    let columns = arrangement.column_places();
    let places = columns.into_iter().map(|e| upper_places[e as usize]).collect();
    Triangles { lower, upper, places }
}

impl<T: Real, B: crate::backend::Backend<T> + TriangularSolves<T>> Preconditioner<T, B> for Ilu<T, B> {
    fn apply(&mut self, backend: &B, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        backend.solve_triangles(&mut self.triangles, r, z)
    }

    fn traffic(&self, vector: u64) -> Traffic {
        // r, y and w written, y and w read, z.
        Traffic::unfused(self.info.bytes + 6 * vector, vector)
    }

    fn factors(&self) -> Option<&Info> {
        Some(&self.info)
    }
}
