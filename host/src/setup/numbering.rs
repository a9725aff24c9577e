//! A matrix on a device in another numbering of its unknowns, in which products find theirs in the caches.

use std::iter::repeat;
use std::ops::Range;
use std::sync::Arc;

use cuda_std::Real;
use cuda_std::host::Kernel;
use gpu_kernels::BLOCK;
use gpu_kernels::border::gather;
use gpu_kernels::setup::numbering::{
    SEARCH_BLOCKS, Search, claim_children, count_children, count_neighbours, place_children,
    reach_neighbours, reordered_columns, reordered_lengths, reordered_values, reverse_order, search_from,
};
use gpu_kernels::setup::parts::take_numbers;

use super::launch::{log2_lanes_for, mean};
use super::matrix::device::DeviceCsr;
use super::matrix::indices::DeviceIndices;
use crate::backend::gpu::buffer::{Buffer, download};
use crate::backend::gpu::{DeviceVector, Gpu, UNGUARDED, transfer};
use crate::error::Result;
use crate::launch::Address;

/// Levels that are queued before the host looks whether one was the last.
const LEVELS_AT_ONCE: u32 = 32;
/// Levels at most: the host finds its way through a longer graph faster.
pub(crate) const MOST_LEVELS: u32 = 4096;
/// Levels that there is room for.
const LEVELS: usize = (MOST_LEVELS + LEVELS_AT_ONCE) as usize + 1;

/// A numbering of the unknowns.
pub(crate) struct DeviceNumbering {
    /// The unknown in each place.
    order: DeviceIndices,
    /// The place of each unknown.
    places: DeviceIndices,
    /// A vector on its way between host and device. It has its place for good, so that vectors of one solve
    /// after the other are in the same places too.
    passing: Arc<Buffer>,
}

impl DeviceNumbering {
    /// That of [`reverse_cuthill_mckee`](crate::analysis::reverse_cuthill_mckee), of a matrix whose pattern
    /// is symmetric; `None` where its graph is not connected, or has more levels than that.
    ///
    /// # Errors
    /// Those of the device.
    pub fn reverse_cuthill_mckee<T: Real>(
        gpu: &Gpu,
        a: &DeviceCsr<T>,
        most_levels: u32,
    ) -> Result<Option<Self>> {
        let n = a.size.n_rows;
        let searches = Searches::of(gpu, a, most_levels.min(MOST_LEVELS))?;
        let of_all = |found: Levels| Some(found).filter(|found| found.last.end == n);
        // As far out as George and Liu (1979) come: the farthest, as long as that is farther away.
        let (mut root, mut depth) = (0, None);
        // The third search is mostly the last one, whose order is asked for.
        for within in [Within::Any; 2].into_iter().chain(repeat(Within::AsFound)) {
            let Some(found) = searches.from(root, within)?.and_then(of_all) else { return Ok(None) };
            if depth.is_some_and(|depth| found.beyond <= depth) {
                if within == Within::Any {
                    searches.from(root, Within::AsFound)?;
                }
                break;
            }
            (root, depth) = (searches.least(found.last)?, Some(found.beyond));
        }
        let device = gpu.device();
        let (order, places) = (DeviceIndices::new(device, n)?, DeviceIndices::new(device, n)?);
        let kernel = reverse_order {
            n: n as u64,
            order: searches.search.order,
            reversed: order.ptr_mut(),
            places: places.ptr_mut(),
        };
        // SAFETY: the search has found n unknowns, and the arrays were made for as many.
        unsafe { gpu.launch(n, &kernel) }?;
        Ok(Some(DeviceNumbering { order, places, passing: passing(gpu, n)? }))
    }

    /// That of the host: the unknown in each place, every one once.
    ///
    /// # Errors
    /// Those of the device.
    pub fn of_order(gpu: &Gpu, order: &[u32]) -> Result<Self> {
        let (n, mut places) = (order.len(), vec![u32::MAX; order.len()]);
        order.iter().enumerate().for_each(|(k, &i)| places[i as usize] = k as u32);
        // Kernels rely on it.
        assert!(!places.contains(&u32::MAX), "an unknown has no place");
        let [order, places] =
            [order, &places].map(|numbers| DeviceIndices::from_slice(gpu.device(), numbers));
        Ok(DeviceNumbering { order: order?, places: places?, passing: passing(gpu, n)? })
    }

    /// A square matrix, with as many rows as this numbers, in this numbering.
    ///
    /// # Errors
    /// Those of the device.
    pub fn matrix<T: Real>(&self, gpu: &Gpu, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        assert_eq!((a.size.n_rows, a.size.n_cols), (self.order.len, self.order.len), "another matrix");
        let (rows, n, log2_lanes) = (a.size.n_rows, a.size.n_rows as u64, a.log2_lanes());
        let (order, places) = (self.order.ptr(), self.places.ptr());
        let row_ptr = Buffer::new(gpu.device(), (rows + 1) * size_of::<u32>())?;
        let lengths = row_ptr.address as *mut u32;
        // SAFETY: the matrices are valid, and the arrays were made for their sizes, here and below.
        unsafe { gpu.launch(rows, &reordered_lengths { n, a: a.pattern(), order, lengths }) }?;
        gpu.row_pointers(&row_ptr, rows)?;
        let unsorted = Buffer::new(gpu.device(), a.size.nnz * size_of::<u32>())?;
        let (row_ptr_there, columns) = (row_ptr.address as *const u32, unsorted.address as *mut u32);
        let kernel = reordered_columns {
            n,
            log2_lanes,
            a: a.pattern(),
            order,
            places,
            row_ptr: row_ptr_there,
            columns,
        };
        // SAFETY: as above.
        unsafe { gpu.launch(rows << log2_lanes, &kernel) }?;
        let col_idx = gpu.sorted_rows(a.size, row_ptr_there, columns)?;
        drop(unsorted);
        let values = Buffer::new(gpu.device(), a.size.nnz * size_of::<T>())?;
        let reordered = DeviceCsr::of_arrays(a.size, [&row_ptr, &col_idx, &values]);
        let kernel = reordered_values::<T> {
            n,
            log2_lanes,
            a: a.rows(),
            order,
            reordered: reordered.pattern(),
            values: reordered.values_mut(),
        };
        // SAFETY: as above.
        unsafe { gpu.launch(rows << log2_lanes, &kernel) }?;
        Ok(reordered)
    }

    /// A vector of the host, in the given numbering, in this one.
    ///
    /// # Errors
    /// Those of the device.
    pub fn vector(&self, gpu: &Gpu, given: &[f64]) -> Result<DeviceVector<f64>> {
        assert_eq!(given.len(), self.order.len, "another vector");
        let v = gpu.allocate::<f64>(given.len())?;
        // SAFETY: the buffer and the vector have as many elements as the host's.
        unsafe {
            transfer::upload(&**gpu.device(), self.passing.address, given)?;
            self.gather(gpu, &self.order, self.passing.address, v.address())?;
        }
        Ok(v)
    }

    /// Fills `given` with a vector of this numbering in the given one.
    ///
    /// # Errors
    /// Those of the device.
    pub fn copy_to_host(&self, gpu: &Gpu, v: &DeviceVector<f64>, given: &mut [f64]) -> Result<()> {
        assert_eq!([v.len(), given.len()], [self.order.len; 2], "another vector");
        // SAFETY: the vector, the buffer and the host's have as many elements as are numbered.
        unsafe {
            self.gather(gpu, &self.places, v.address(), self.passing.address)?;
            transfer::download(&**gpu.device(), given, self.passing.address)
        }
    }

    /// # Safety
    /// There are as many numbers of 64 bits as places.
    unsafe fn gather(&self, gpu: &Gpu, places: &DeviceIndices, x: Address, out: Address) -> Result<()> {
        let (n, x, out) = (places.len as u64, x as *const f64, out as *mut f64);
        let kernel = gather::<f64> { n, places: places.ptr(), x, out, guard: UNGUARDED };
        // SAFETY: the caller's promise; the places are those of a vector of this length.
        unsafe { gpu.launch(places.len, &kernel) }
    }
}

/// Room for a vector.
fn passing(gpu: &Gpu, n: usize) -> Result<Arc<Buffer>> {
    Buffer::new(gpu.device(), n * size_of::<f64>())
}

/// The order of unknowns within a level.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Any,
    /// As one thread finds them.
    AsFound,
}

/// What a search has found.
struct Levels {
    /// Levels beyond the root.
    beyond: u32,
    /// The places of the last.
    last: Range<usize>,
}

/// Searches through one graph.
struct Searches<'a> {
    gpu: &'a Gpu,
    n: usize,
    log2_lanes: u32,
    most_levels: u32,
    search: Search,
    counts: Arc<Buffer>,
    /// What the search has addresses of.
    _arrays: [Arc<Buffer>; 5],
}

impl<'a> Searches<'a> {
    fn of<T: Real>(gpu: &'a Gpu, a: &DeviceCsr<T>, most_levels: u32) -> Result<Self> {
        let n = a.size.n_rows;
        let of_numbers = |count: usize| Buffer::new(gpu.device(), count * size_of::<u32>());
        let (of_unknowns, order, offered) = (of_numbers(n)?, of_numbers(n)?, of_numbers(n)?);
        let (starts, counts) = (of_numbers(LEVELS)?, of_numbers(LEVELS)?);
        let sums = of_numbers(SEARCH_BLOCKS as usize)?;
        let address = |buffer: &Buffer| buffer.address as *mut u32;
        let kernel = count_neighbours { n: n as u64, graph: a.pattern(), degrees: address(&of_unknowns) };
        // SAFETY: the matrix is valid, and there is room for a number for each row.
        unsafe { gpu.launch(n, &kernel) }?;
        let search = Search {
            graph: a.pattern(),
            degrees: address(&of_unknowns),
            order: address(&order),
            offered: address(&offered),
            starts: address(&starts),
            counts: address(&counts),
            sums: address(&sums),
        };
        let _arrays = [of_unknowns, order, offered, starts, sums];
        // Levels are short, and what a lane waits for is long: an entry for each.
        let log2_lanes = log2_lanes_for(mean(a.size), 1);
        Ok(Searches { gpu, n, log2_lanes, most_levels, search, counts, _arrays })
    }

    /// The levels from a root; `None` for too many.
    fn from(&self, root: u32, within: Within) -> Result<Option<Levels>> {
        let Searches { gpu, log2_lanes, search, .. } = *self;
        let blocks = (self.n << log2_lanes).div_ceil(BLOCK as usize).clamp(1, SEARCH_BLOCKS as usize);
        // SAFETY: the arrays were made for the graph, and levels follow each other, here and below.
        unsafe {
            gpu.device().zero(self.counts.address, LEVELS * size_of::<u32>())?;
            gpu.launch(self.n, &search_from { n: self.n as u64, root, search })?;
        }
        // SAFETY: as above.
        let on_blocks = |kernel: &dyn Kernel| unsafe { gpu.launch_blocks(blocks, kernel) };
        let mut level = 0;
        while level < self.most_levels {
            let end = level + LEVELS_AT_ONCE;
            for level in level..end {
                if within == Within::Any {
                    on_blocks(&reach_neighbours { level, log2_lanes, search })?;
                } else {
                    on_blocks(&claim_children { level, log2_lanes, search })?;
                    on_blocks(&count_children { level, log2_lanes, search })?;
                    on_blocks(&place_children { level, log2_lanes, search })?;
                }
            }
            let counts = download(&self.counts, end as usize + 1, 0u32)?;
            if let Some(behind) = counts.iter().position(|&count| count == 0) {
                if behind as u32 - 1 > self.most_levels {
                    return Ok(None);
                }
                let found = counts[..behind].iter().sum::<u32>() as usize;
                let last = found - counts[behind - 1] as usize..found;
                return Ok(Some(Levels { beyond: behind as u32 - 1, last }));
            }
            level = end;
        }
        Ok(None)
    }

    /// The unknown of least degree in some places, and of least number among such.
    fn least(&self, places: Range<usize>) -> Result<u32> {
        let device = self.gpu.device();
        let (n, count) = (places.len() as u64, places.len());
        let (there, of_them) = (DeviceIndices::new(device, count)?, DeviceIndices::new(device, count)?);
        let (first, degrees) = (self.search.order.wrapping_add(places.start), self.search.degrees);
        // SAFETY: the places are of what was found.
        unsafe {
            device.copy(there.ptr() as u64, first as u64, count * size_of::<u32>())?;
            let kernel = take_numbers { n, places: there.ptr(), all: degrees, some: of_them.ptr_mut() };
            self.gpu.launch(count, &kernel)?;
        }
        let pairs = of_them.to_host()?.into_iter().zip(there.to_host()?);
        Ok(pairs.min().map_or(0, |(_, unknown)| unknown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Neighbours, reverse_cuthill_mckee};
    use crate::backend::Memory;
    use crate::matrix::Csr;
    use crate::problem::{generate, shuffle};
    use crate::setup::testing::{scattered, strict};

    fn shuffled(problem: &str) -> Csr<f64> {
        shuffle(&generate(&problem.parse().unwrap(), 1).unwrap(), 1, 5).unwrap()
    }

    #[test]
    fn the_order_is_that_of_one_thread() {
        let ring = |n: usize| {
            let entries = (0..n).flat_map(move |i| [(i, (i + 1) % n, -1.0), ((i + 1) % n, i, -1.0)]);
            Csr::from_triplets(n, n, entries).unwrap()
        };
        let star =
            Csr::from_triplets(700, 700, (1..700).flat_map(|i| [(0, i, 1.0), (i, 0, 1.0), (i, i, 2.0)]));
        let one = Csr::from_triplets(1, 1, [(0, 0, 2.0)]);
        for a in [shuffled("tet:7"), shuffled("poisson2d:23"), ring(131), star.unwrap(), one.unwrap()] {
            let gpu = strict();
            let there = DeviceCsr::upload(&gpu, &a).unwrap();
            let found = DeviceNumbering::reverse_cuthill_mckee(&gpu, &there, MOST_LEVELS).unwrap().unwrap();
            let expected = reverse_cuthill_mckee(&Neighbours::of(&a, true));
            let [order, places] = [&found.order, &found.places].map(|numbers| numbers.to_host().unwrap());
            assert_eq!(order, expected);
            assert!(order.iter().enumerate().all(|(k, &i)| places[i as usize] == k as u32));
        }
    }

    #[test]
    fn graphs_in_parts_and_long_ones_are_left_to_the_host() {
        let parts = Csr::from_triplets(40, 40, (0..40).map(|i| (i, i, 1.0))).unwrap();
        let chain = (0..100).flat_map(|i| [(i, i + 1, -1.0), (i + 1, i, -1.0)]);
        for a in [parts, Csr::from_triplets(101, 101, chain).unwrap()] {
            let gpu = strict();
            let there = DeviceCsr::upload(&gpu, &a).unwrap();
            assert!(DeviceNumbering::reverse_cuthill_mckee(&gpu, &there, 60).unwrap().is_none());
        }
    }

    #[test]
    fn matrices_and_vectors_are_those_of_the_host() {
        // The last has a row that no table holds.
        let long = scattered::<f64>(600, 600, |i| if i == 7 { 590 } else { 1 + i % 3 });
        for a in [shuffled("tet:6"), scattered(257, 257, |i| i % 6), long] {
            let (gpu, n) = (strict(), a.n_rows() as u32);
            let order: Vec<u32> = (0..n).map(|k| (k * 7 + 3) % n).collect();
            let numbering = DeviceNumbering::of_order(&gpu, &order).unwrap();
            let there = numbering.matrix(&gpu, &DeviceCsr::upload(&gpu, &a).unwrap()).unwrap();
            assert_eq!(there.to_host().unwrap(), a.permute_symmetric(&order).unwrap());
            let given: Vec<f64> = (0..n).map(|i| 0.37 * f64::from(i)).collect();
            let v = numbering.vector(&gpu, &given).unwrap();
            let expected: Vec<f64> = order.iter().map(|&i| given[i as usize]).collect();
            assert_eq!(gpu.to_host(&v).unwrap(), expected);
            let mut found = vec![f64::NAN; given.len()];
            numbering.copy_to_host(&gpu, &v, &mut found).unwrap();
            assert_eq!(found, given);
        }
    }
}
