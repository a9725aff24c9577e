//! Strength of connection, and numbers of rows.

use arithmetic::smoothing::Limits;
use cuda_std::Real;
use gpu_kernels::setup::strength::{
    Classical, Criterion, Given, Symmetric, damp, extract_diagonal, limit, row_weights, strong_entries,
    strong_lengths, weight,
};
use gpu_kernels::setup::team::Pattern;

use super::super::csr::download;
use super::super::matrix::log2_lanes;
use super::super::memory::Buffer;
use super::super::{DeviceCsr, DeviceVector, Gpu, pointer_or_null};
use crate::backend::algebra::{RowWeight, Strength};
use crate::error::Result;

impl<T: Real> DeviceCsr<T> {
    /// The pattern, for kernels.
    pub(in super::super) fn pattern(&self) -> Pattern {
        Pattern { row_ptr: self.row_ptr(), col_idx: self.col_idx() }
    }

    /// Logarithm of the number of lanes that share a row.
    pub(in super::super) fn log2_lanes(&self) -> u32 {
        log2_lanes(self.size.n_rows, self.size.nnz)
    }
}

impl Gpu {
    /// See [`crate::backend::Algebra::strength`].
    pub(in super::super) fn strong_entries<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        strength: Strength,
    ) -> Result<DeviceCsr<T>> {
        let diagonal = self.diagonal(a)?;
        let diagonal = diagonal.ptr();
        match strength {
            Strength::Symmetric { epsilon, lumped } => {
                self.kept_entries(a, Symmetric { epsilon: T::from_f64(epsilon), diagonal }, lumped)
            }
            Strength::Classical { theta } => {
                self.kept_entries(a, Classical { theta: T::from_f64(theta), diagonal }, false)
            }
        }
    }

    /// See [`crate::backend::Algebra::strength_values`].
    pub(in super::super) fn strong_values<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        lumped: bool,
        s: &mut DeviceCsr<T>,
    ) -> Result<()> {
        let diagonal = self.diagonal(a)?;
        let given = Given { col_idx: s.col_idx(), diagonal: diagonal.ptr() };
        self.launch_on_rows(a, &kept(a, given, lumped, s, std::ptr::null_mut()))
    }

    /// See [`crate::backend::Algebra::damp`].
    pub(in super::super) fn damped<T: Real>(
        &self,
        s: &mut DeviceCsr<T>,
        omega: T,
        outlying: Option<&DeviceVector<T>>,
    ) -> Result<()> {
        let (n, log2_lanes, values) = (s.size.n_rows as u64, s.log2_lanes(), s.values_mut());
        let outlying = pointer_or_null(outlying);
        self.launch_on_rows(s, &damp { n, log2_lanes, s: s.pattern(), values, omega, outlying })
    }

    /// See [`crate::backend::Algebra::limit`].
    pub(in super::super) fn limited<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        g: &DeviceVector<T>,
        d: &DeviceVector<T>,
        limits: Limits<T>,
    ) -> Result<(DeviceVector<T>, DeviceVector<T>, usize)> {
        let n = a.size.n_rows;
        let (mut limited, mut outlying) = (self.allocate(n)?, self.allocate(n)?);
        let count = Buffer::zeroed(&self.device, size_of::<u32>())?;
        let kernel = limit {
            n: n as u64,
            log2_lanes: a.log2_lanes(),
            a: a.pattern(),
            values: a.values(),
            g: g.ptr(),
            d: d.ptr(),
            limits,
            limited: limited.ptr_mut(),
            outlying: outlying.ptr_mut(),
            count: count.address as *mut u32,
        };
        self.launch_on_rows(a, &kernel)?;
        Ok((limited, outlying, download(&count, 1, 0u32)?[0] as usize))
    }

    /// See [`crate::backend::Algebra::row_weights`].
    pub(in super::super) fn weights_of_rows<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        weight: RowWeight,
    ) -> Result<DeviceVector<T>> {
        let mut weights = self.allocate(a.size.n_rows)?;
        let kernel = row_weights {
            n: a.size.n_rows as u64,
            log2_lanes: a.log2_lanes(),
            a: a.pattern(),
            values: a.values(),
            weight: match weight {
                RowWeight::InverseDiagonal => weight::INVERSE_DIAGONAL,
                RowWeight::InverseL1 => weight::INVERSE_L1,
                RowWeight::Spai0 => weight::SPAI0,
                RowWeight::GershgorinRadius => weight::GERSHGORIN_RADIUS,
            },
            weights: weights.ptr_mut(),
        };
        self.launch_on_rows(a, &kernel)?;
        Ok(weights)
    }

    /// Launches a kernel whose teams of [`DeviceCsr::log2_lanes`] take a row each.
    pub(in super::super) fn launch_on_rows<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        kernel: &dyn cuda_std::host::Kernel,
    ) -> Result<()> {
        self.launch(a.size.n_rows << a.log2_lanes(), kernel)
    }

    /// The diagonal, 0 where it is not stored.
    fn diagonal<T: Real>(&self, a: &DeviceCsr<T>) -> Result<DeviceVector<T>> {
        let mut diagonal = self.allocate(a.size.n_rows)?;
        let kernel = extract_diagonal {
            n: a.size.n_rows as u64,
            log2_lanes: a.log2_lanes(),
            a: a.pattern(),
            values: a.values(),
            diagonal: diagonal.ptr_mut(),
        };
        self.launch_on_rows(a, &kernel)?;
        Ok(diagonal)
    }

    /// The matrix of the entries of `a` that `criterion` keeps.
    fn kept_entries<T: Real, C: Criterion<T>>(
        &self,
        a: &DeviceCsr<T>,
        criterion: C,
        lumped: bool,
    ) -> Result<DeviceCsr<T>> {
        let n = a.size.n_rows;
        let row_ptr = Buffer::new(&self.device, (n + 1) * size_of::<u32>())?;
        let lengths = strong_lengths {
            n: n as u64,
            log2_lanes: a.log2_lanes(),
            a: a.pattern(),
            values: a.values(),
            criterion,
            lengths: row_ptr.address as *mut u32,
        };
        self.launch_on_rows(a, &lengths)?;
        let s = self.of_lengths(row_ptr, n, a.size.n_cols)?;
        self.launch_on_rows(a, &kept(a, criterion, lumped, &s, s.col_idx_mut()))?;
        Ok(s)
    }
}

/// The kernel that fills the values of `s`, and its columns where they are not null.
fn kept<T: Real, C: Criterion<T>>(
    a: &DeviceCsr<T>,
    criterion: C,
    lumped: bool,
    s: &DeviceCsr<T>,
    col_idx: *mut u32,
) -> strong_entries<T, C> {
    strong_entries {
        n: a.size.n_rows as u64,
        log2_lanes: a.log2_lanes(),
        a: a.pattern(),
        values: a.values(),
        criterion,
        lumped: lumped as u32,
        row_ptr: s.row_ptr(),
        col_idx,
        strong: s.values_mut(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::reference::Reference;
    use crate::backend::{Algebra, Memory};
    use crate::launch::sim::Sim;
    use crate::matrix::Csr;
    use crate::problem::{generate, random};

    /// A simulated device that reports races and reads of memory never written.
    pub fn strict() -> Gpu {
        Gpu::new(Arc::new(Sim::strict())).unwrap()
    }

    /// A problem with its values changed a little, so that sums round, and symmetric all the same.
    fn rough(problem: &str) -> Csr<f64> {
        let mut a = generate(&problem.parse().unwrap(), 7).unwrap();
        let rows: Vec<usize> = (0..a.n_rows()).flat_map(|i| vec![i; a.row_len(i)]).collect();
        let columns = a.col_idx().to_vec();
        for ((v, i), j) in a.values_mut().iter_mut().zip(rows).zip(columns) {
            *v *= 1.0 + 0.4 * random::uniform(3, (i + j as usize) as u64);
        }
        a
    }

    /// No symmetry at all: a full row, isolated rows, both signs on and off the diagonal, zeros, equal values.
    fn irregular<T: Real>(n: usize) -> Csr<T> {
        let columns = |i: usize| -> Vec<usize> {
            let is_stored = |j: usize| random::below(5, (i * n + j) as u64, 17) == 0 || i == 3;
            (0..n).filter(|&j| j == i || i % 11 != 5 && is_stored(j)).collect()
        };
        Csr::from_rows(
            n,
            n,
            |i| columns(i).len(),
            |i, to, values| {
                for (k, j) in columns(i).into_iter().enumerate() {
                    let sign = if i % 3 == 0 { -1.0 } else { 1.0 };
                    let off_diagonal = (random::below(9, (i * n + j) as u64, 9) as f64 - 4.0) / 3.0;
                    to[k] = j as u32;
                    values[k] =
                        T::from_f64(if j == i { sign * (0.3 + (i % 7) as f64 / 3.0) } else { off_diagonal });
                }
            },
        )
    }

    fn path<T: Real>(n: usize) -> Csr<T> {
        let first = |i: usize| i.saturating_sub(1);
        let last = |i: usize| (i + 1).min(n - 1);
        Csr::from_rows(
            n,
            n,
            |i| last(i) - first(i) + 1,
            |i, to, values| {
                for (k, j) in (first(i)..=last(i)).enumerate() {
                    to[k] = j as u32;
                    values[k] = T::from_f64(if i == j { 2.1 } else { -1.0 / (1.0 + (i + j) as f64 % 3.0) });
                }
            },
        )
    }

    /// Symmetric matrices with all of their diagonal stored.
    pub fn symmetric_samples<T: Real>() -> Vec<Arc<Csr<T>>> {
        let fixed = [Csr::identity(1), Csr::identity(37), path(1), path(259)];
        let rough = ["poisson2d:13", "tet:5"].map(|problem| rough(problem).cast());
        fixed.into_iter().chain(rough).map(Arc::new).collect()
    }

    /// Those, and matrices without symmetry.
    pub fn all_samples<T: Real>() -> Vec<Arc<Csr<T>>> {
        let mut all = symmetric_samples();
        all.extend([203, 61].map(|n| Arc::new(irregular(n))));
        all
    }

    /// Fails unless pattern and bits of the values agree.
    pub fn assert_same<T: Real>(found: &Csr<T>, expected: &Csr<T>, what: &str) {
        let bits = |a: &Csr<T>| -> Vec<u64> { a.values().iter().map(|v| v.to_f64().to_bits()).collect() };
        assert_eq!((found.n_rows(), found.n_cols()), (expected.n_rows(), expected.n_cols()), "{what}");
        assert_eq!(found.row_ptr(), expected.row_ptr(), "{what}");
        assert_eq!(found.col_idx(), expected.col_idx(), "{what}");
        assert_eq!(bits(found), bits(expected), "{what}");
    }

    const STRENGTHS: [Strength; 5] = [
        Strength::Symmetric { epsilon: 0.0, lumped: true },
        Strength::Symmetric { epsilon: 0.04, lumped: false },
        Strength::Symmetric { epsilon: 0.09, lumped: true },
        Strength::Classical { theta: 0.25 },
        Strength::Classical { theta: 0.9 },
    ];

    fn strength_is_that_of_the_host<T: Real>() {
        let (gpu, host) = (strict(), Reference::new());
        let mut weak = 0;
        for a in all_samples::<T>() {
            let on_device = gpu.csr(&a).unwrap();
            for strength in STRENGTHS {
                let what = format!("{} rows, {strength:?}", a.n_rows());
                let expected = host.strength(&a, strength).unwrap();
                let mut s = gpu.strength(&on_device, strength).unwrap();
                assert_same(&s.to_host().unwrap(), &expected, &what);
                weak += a.nnz() - expected.nnz();

                let mut others = (*a).clone();
                for (k, v) in others.values_mut().iter_mut().enumerate() {
                    *v *= T::from_f64(1.0 + random::uniform(11, k as u64));
                }
                let others = Arc::new(others);
                let lumped = matches!(strength, Strength::Symmetric { lumped: true, .. });
                let mut expected = expected;
                host.strength_values(&others, lumped, &mut expected).unwrap();
                gpu.strength_values(&gpu.csr(&others).unwrap(), lumped, &mut s).unwrap();
                assert_same(&s.to_host().unwrap(), &expected, &what);
            }
        }
        assert!(weak > 1000, "{weak} weak entries");
    }

    #[test]
    fn strength_in_f64() {
        strength_is_that_of_the_host::<f64>();
    }

    #[test]
    fn strength_in_f32() {
        strength_is_that_of_the_host::<f32>();
    }

    /// As [`Algebra::limit`] might have it: every fifth row or so.
    pub fn outlying_by_chance<T: Real>(n: usize) -> Vec<T> {
        (0..n as u64)
            .map(|i| if random::below(11, i, 5) == 0 { T::from_f64(0.37) } else { T::ZERO })
            .collect()
    }

    fn numbers_of_rows<T: Real>() {
        let (gpu, host) = (strict(), Reference::new());
        let (mut limited, mut not_limited) = (0, 0);
        for a in all_samples::<T>() {
            let on_device = gpu.csr(&a).unwrap();
            let kinds = [
                RowWeight::InverseDiagonal,
                RowWeight::InverseL1,
                RowWeight::Spai0,
                RowWeight::GershgorinRadius,
            ];
            for kind in kinds {
                let found = gpu.row_weights(&on_device, kind).unwrap().to_host().unwrap();
                assert_eq!(found, host.row_weights(&a, kind).unwrap(), "{} rows, {kind:?}", a.n_rows());
            }
            let of_rows = outlying_by_chance(a.n_rows());
            let of_rows_on_device = gpu.vector(&of_rows).unwrap();
            for (on_host, outlying) in [(None, None), (Some(&of_rows), Some(&of_rows_on_device))] {
                let (mut found, mut expected) = (gpu.csr(&a).unwrap(), a.clone());
                gpu.damp(&mut found, T::from_f64(0.61), outlying).unwrap();
                host.damp(&mut expected, T::from_f64(0.61), on_host).unwrap();
                assert_same(&found.to_host().unwrap(), &expected, "damped");
            }
            let [bound, large] = [1.5, 1.8].map(T::from_f64);
            let limits = Limits { bound, large };
            let g = host.row_weights(&a, RowWeight::GershgorinRadius).unwrap();
            let d = host.row_weights(&a, RowWeight::InverseDiagonal).unwrap();
            let on_device = [&g, &d].map(|x| gpu.vector(x).unwrap());
            let (found, outlying, count) =
                gpu.limit(&gpu.csr(&a).unwrap(), &on_device[0], &on_device[1], limits).unwrap();
            let outlying = outlying.to_host().unwrap();
            let expected = host.limit(&a, &g, &d, limits).unwrap();
            assert_eq!((found.to_host().unwrap(), outlying.clone(), count), expected);
            assert_eq!(count, outlying.iter().filter(|&&of_row| of_row != T::ZERO).count());
            (limited, not_limited) = (limited + count, not_limited + outlying.len() - count);
        }
        assert!(limited > 0 && not_limited > 0, "{limited} outlying rows, {not_limited} others");
    }

    #[test]
    fn row_weights_and_damping_are_those_of_the_host() {
        numbers_of_rows::<f64>();
        numbers_of_rows::<f32>();
    }
}
