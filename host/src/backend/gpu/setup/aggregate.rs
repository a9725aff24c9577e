//! Aggregates, and the interpolation that is constant on each.

use cuda_std::Real;
use cuda_std::warp::WARP_SIZE;
use gpu_kernels::setup::aggregate::{
    aggregated, aggregated_lengths, join_neighbours, join_roots, number_aggregates, tentative,
    tentative_lengths,
};

use super::super::csr::download;
use super::super::memory::Buffer;
use super::super::{DeviceCsr, DeviceIndices, Gpu};
use super::product::{log2_lanes_for, mean};
use crate::error::Result;

impl Gpu {
    /// See [`crate::backend::Algebra::aggregate`].
    pub(in super::super) fn aggregates<T: Real>(
        &self,
        s: &DeviceCsr<T>,
        roots: &DeviceIndices,
    ) -> Result<(DeviceIndices, usize)> {
        let rows = s.size.n_rows;
        let (n, log2_lanes, values) = (rows as u64, s.log2_lanes(), s.values());
        let before = DeviceIndices::new(&self.device, rows)?;
        let root_of = DeviceIndices::new(&self.device, rows)?;
        let is_root = Buffer::new(&self.device, (rows + 1) * size_of::<u32>())?;
        let kernel = join_roots {
            n,
            log2_lanes,
            s: s.pattern(),
            values,
            roots: roots.ptr(),
            root_of: before.ptr_mut(),
        };
        self.launch_on_rows(s, &kernel)?;
        let kernel = join_neighbours {
            n,
            log2_lanes,
            s: s.pattern(),
            values,
            roots: roots.ptr(),
            before: before.ptr(),
            root_of: root_of.ptr_mut(),
            is_root: is_root.address as *mut u32,
        };
        self.launch_on_rows(s, &kernel)?;
        let count = self.row_pointers(&is_root, rows)?;
        let numbers = is_root.address as *const u32;
        self.launch(rows, &number_aggregates { n, numbers, root_of: root_of.ptr_mut() })?;
        Ok((root_of, count as usize))
    }

    /// See [`crate::backend::Algebra::tentative`].
    pub(in super::super) fn piecewise_constant<T: Real>(
        &self,
        aggregates: &DeviceIndices,
        n_aggregates: usize,
    ) -> Result<DeviceCsr<T>> {
        let (rows, n) = (aggregates.len, aggregates.len as u64);
        let row_ptr = Buffer::new(&self.device, (rows + 1) * size_of::<u32>())?;
        let lengths = row_ptr.address as *mut u32;
        self.launch(rows, &tentative_lengths { n, aggregates: aggregates.ptr(), lengths })?;
        let p = self.of_lengths(row_ptr, rows, n_aggregates)?;
        let kernel = tentative {
            n,
            aggregates: aggregates.ptr(),
            row_ptr: p.row_ptr(),
            col_idx: p.col_idx_mut(),
            values: p.values_mut(),
        };
        self.launch(rows, &kernel)?;
        Ok(p)
    }

    /// See [`crate::backend::Algebra::aggregated`]. The lanes of a team have an entry of the row each: first about as many
    /// as rows have in the mean, then a warp. `None` where a row has more than that.
    pub(in super::super) fn aggregated_rows<T: Real>(
        &self,
        s: &DeviceCsr<T>,
        aggregates: &DeviceIndices,
        n_aggregates: usize,
    ) -> Result<Option<DeviceCsr<T>>> {
        /// Lanes for an entry of a row of mean length: somewhat longer rows have room too.
        const LANES: f64 = 1.1;
        const WARP: u32 = WARP_SIZE.trailing_zeros();
        let lanes = log2_lanes_for(LANES * mean(s), 1);
        match self.aggregated_by(lanes, s, aggregates, n_aggregates)? {
            None if lanes < WARP => self.aggregated_by(WARP, s, aggregates, n_aggregates),
            found => Ok(found),
        }
    }

    fn aggregated_by<T: Real>(
        &self,
        log2_lanes: u32,
        s: &DeviceCsr<T>,
        aggregates: &DeviceIndices,
        n_aggregates: usize,
    ) -> Result<Option<DeviceCsr<T>>> {
        let (rows, n) = (s.size.n_rows, s.size.n_rows as u64);
        let (list, long) = self.long_rows(rows)?;
        let row_ptr = Buffer::new(&self.device, (rows + 1) * size_of::<u32>())?;
        let lengths = row_ptr.address as *mut u32;
        let (pattern, aggregates) = (s.pattern(), aggregates.ptr());
        let kernel = aggregated_lengths { n, log2_lanes, s: pattern, aggregates, lengths, long };
        self.launch(rows << log2_lanes, &kernel)?;
        let p = self.of_lengths(row_ptr, rows, n_aggregates)?;
        if download(&list, 1, 0u32)? != [0] {
            return Ok(None);
        }
        let kernel = aggregated {
            n,
            log2_lanes,
            s: pattern,
            values: s.values(),
            aggregates,
            row_ptr: p.row_ptr(),
            col_idx: p.col_idx_mut(),
            sums: p.values_mut(),
        };
        self.launch(rows << log2_lanes, &kernel)?;
        Ok(Some(p))
    }
}

#[cfg(test)]
mod tests {
    use cuda_std::Real;

    use super::super::strength::tests::{all_samples, assert_same, outlying_by_chance, strict};
    use crate::backend::Algebra;
    use crate::backend::algebra::{NO_AGGREGATE, Strength};
    use crate::backend::reference::Reference;

    fn are_those_of_the_host<T: Real>() {
        let (gpu, host) = (strict(), Reference::new());
        let (mut left_over, mut nowhere) = (0, 0);
        let (mut short, mut long) = (0, 0);
        for a in all_samples::<T>() {
            let s = host.strength(&a, Strength::Symmetric { epsilon: 0.01, lumped: false }).unwrap();
            let on_device = gpu.csr(&s).unwrap();
            let far = host.independent_set(&s, None, 2, false, None).unwrap();
            let outlying = outlying_by_chance(s.n_rows());
            let some = host.independent_set(&s, None, 2, false, Some(&outlying)).unwrap();
            // Some are missing, so that both later steps have something to do.
            let few: Vec<u32> = far.iter().enumerate().map(|(i, &root)| root * (i % 3 == 0) as u32).collect();
            let all = vec![1; s.n_rows()];
            for roots in [far, few, all, some] {
                let (expected, count) = host.aggregate(&s, &roots).unwrap();
                let (found, found_count) =
                    gpu.aggregate(&on_device, &Algebra::<T>::indices(&gpu, &roots).unwrap()).unwrap();
                assert_eq!(found.to_host().unwrap(), expected, "{} rows", s.n_rows());
                assert_eq!(found_count, count);
                left_over += count - roots.iter().filter(|&&root| root > 0).count();
                nowhere += expected.iter().filter(|&&a| a == NO_AGGREGATE).count();

                let p = Algebra::<T>::tentative(&gpu, &found, count).unwrap();
                let expected = Algebra::<T>::tentative(&host, &expected, count).unwrap();
                assert_same(&p.to_host().unwrap(), &expected, "tentative");

                let expected = host.product(&s, &expected).unwrap();
                let p = gpu.aggregated(&on_device, &found, count).unwrap();
                assert_same(&p.to_host().unwrap(), &expected, "aggregated");
                let fits = gpu.aggregated_rows(&on_device, &found, count).unwrap().is_some();
                (short, long) = (short + usize::from(fits), long + usize::from(!fits));
            }
        }
        assert!(left_over > 0 && nowhere > 0, "{left_over} became roots, {nowhere} belong nowhere");
        assert!(short > 0 && long > 0, "{short} with short rows, {long} with a long one");
    }

    #[test]
    fn aggregates_in_f64() {
        are_those_of_the_host::<f64>();
    }

    #[test]
    fn aggregates_in_f32() {
        are_those_of_the_host::<f32>();
    }
}
