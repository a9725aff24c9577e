//! On a device, for factors with the pattern of A in the order of colours. Other orders and patterns are
//! computed on the host.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::incomplete::{self, FACTS, FactorRows, NewTriangle, UNCOLOURED};
use gpu_kernels::setup::sub_warp::Pattern;

use super::super::factors::Factored;
use super::super::info::Info;
use super::super::params::{Kind, Order, Params, Solves};
use super::super::solve::{DeviceTriangles, TriangleArrays};
use super::host::{SHIFT, SHIFTS};
use super::{FactoredOn, Factorisations};
use crate::backend::Memory;
use crate::backend::gpu::Gpu;
use crate::backend::gpu::buffer::{Buffer, check_reach, download};
use crate::error::Result;
use crate::matrix::{Csr, check};
use crate::setup::{Aggregation, DeviceCsr, DeviceIndices, Transposes};

/// Rows with more entries are factorised on the host: here few lanes would work at them, one after another.
const LONG: u32 = 1024;
/// Rounds of colouring between two times that the host asks whether somebody is left.
const ROUNDS: u32 = 4;

impl<T: Real> Factorisations<T> for Gpu {
    fn factorise(
        &self,
        a: &Csr<T>,
        there: Option<&DeviceCsr<T>>,
        params: &Params,
    ) -> Result<(FactoredOn<T, Self>, Info)> {
        let is_ours =
            params.keeps_pattern() && params.order() == Order::Multicolour && params.matching != Some(true);
        if is_ours && a.n_rows() > 0 {
            let uploaded;
            let there = match there {
                Some(there) => there,
                None => {
                    uploaded = DeviceCsr::upload(self, a)?;
                    &uploaded
                }
            };
            if let Some(factorised) = self.factorised_by_colours(there, params)? {
                return Ok(factorised);
            }
        }
        self.factorise_on_host(a, params)
    }
}

/// What decides how a matrix is factorised.
struct Facts {
    is_symmetric: bool,
    is_matched: bool,
    /// Whether each entry has a mirror image in the pattern.
    is_paired: bool,
    has_diagonal: bool,
    has_long_rows: bool,
}

/// The unknowns in the order of their colours.
struct Colours {
    order: Arc<Buffer>,
    /// Where each colour begins, and the end.
    starts: Vec<u32>,
}

/// A in the order of elimination, in f64.
struct Arranged {
    row_ptr: Arc<Buffer>,
    col_idx: Arc<Buffer>,
    values: Arc<Buffer>,
    /// Places of the diagonal.
    diagonal: Arc<Buffer>,
    nnz: usize,
}

impl Arranged {
    fn pattern(&self) -> Pattern {
        Pattern { row_ptr: self.row_ptr.address as *const u32, col_idx: self.col_idx.address as *const u32 }
    }

    fn rows(&self, values: &Buffer) -> FactorRows {
        FactorRows {
            pattern: self.pattern(),
            diagonal: self.diagonal.address as *const u32,
            values: values.address as *mut f64,
        }
    }
}

/// L and U, and what was done to their pivots.
struct Factors {
    values: Arc<Buffer>,
    changed: usize,
    shift: f64,
}

/// Values of L and U, changed pivots and shift.
#[cfg(test)]
type ValuesOnHost = (Vec<f64>, usize, f64);

impl Gpu {
    /// `None` where the host must do it.
    fn factorised_by_colours<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        params: &Params,
    ) -> Result<Option<(FactoredOn<T, Self>, Info)>> {
        let Some((facts, colours)) = self.prepared(a, params)? else { return Ok(None) };
        let arranged = self.arranged(a, &colours)?;
        let factors = self.eliminated(a, &arranged, &colours, params.kind, facts.is_symmetric)?;
        let info = Info {
            params: params.clone(),
            is_symmetric: facts.is_symmetric,
            is_matched: false,
            entries: arranged.nnz,
            changed_pivots: factors.changed,
            shift: factors.shift,
            solves: Solves::Inverses,
            levels: [1; 2],
            bytes: 0,
        };
        let rows = DeviceCsr::of_arrays(a.size, [&arranged.row_ptr, &arranged.col_idx, &factors.values]);
        if let Some(inverses) =
            self.inverses_of_factors(&rows, &colours.order, (params, facts.is_symmetric))?
        {
            return Ok(Some((Factored::Inverses(inverses), info)));
        }
        let triangles = self.split(a, &arranged, &factors, &colours)?;
        let levels = [colours.starts.len() - 1; 2];
        let info = Info { solves: Solves::Exact, levels, bytes: triangles.bytes(), ..info };
        Ok(Some((Factored::Triangles(triangles), info)))
    }

    /// What is known of the matrix, and its colours. `None` where the host must factorise it: a diagonal that
    /// is not whole, or a pattern that this is not made for.
    fn prepared<T: Real>(&self, a: &DeviceCsr<T>, params: &Params) -> Result<Option<(Facts, Colours)>> {
        let facts = self.factor_facts(a, params)?;
        let is_lopsided = facts.is_symmetric && !facts.is_paired;
        if facts.is_matched || !facts.has_diagonal || facts.has_long_rows || is_lopsided {
            return Ok(None);
        }
        let at = if facts.is_paired { None } else { Some(self.transpose(a)?) };
        if at.as_ref().map_or(Ok(false), |at| self.has_longer_rows(at, LONG))? {
            return Ok(None);
        }
        let colours = self.coloured(a, at.as_ref())?;
        Ok(Some((facts, colours)))
    }

    /// The order and the factors, on the host.
    #[cfg(test)]
    pub(super) fn factors_by_colours(
        &self,
        a: &DeviceCsr<f64>,
        params: &Params,
    ) -> Result<Option<(Vec<u32>, ValuesOnHost)>> {
        let Some((facts, colours)) = self.prepared(a, params)? else { return Ok(None) };
        let arranged = self.arranged(a, &colours)?;
        let factors = self.eliminated(a, &arranged, &colours, params.kind, facts.is_symmetric)?;
        let order = download(&colours.order, a.size.n_rows, 0u32)?;
        let values = download(&factors.values, arranged.nnz, 0.0f64)?;
        Ok(Some((order, (values, factors.changed, factors.shift))))
    }

    fn factor_facts<T: Real>(&self, a: &DeviceCsr<T>, params: &Params) -> Result<Facts> {
        let n = a.size.n_rows;
        let largest = Buffer::new(self.device(), n * size_of::<f64>())?;
        let facts = Buffer::zeroed(self.device(), FACTS * size_of::<u32>())?;
        let (n, log2_lanes) = (n as u64, a.log2_lanes());
        let kernel = incomplete::row_largest::<T> {
            n,
            log2_lanes,
            a: a.pattern(),
            values: a.values(),
            largest: largest.address as *mut f64,
        };
        // SAFETY: the matrix is valid, and the arrays were made for its size.
        unsafe { self.launch(a.size.n_rows << log2_lanes, &kernel) }?;
        let kernel = incomplete::factor_facts::<T> {
            n,
            log2_lanes,
            a: a.pattern(),
            values: a.values(),
            largest: largest.address as *const f64,
            tolerance: check::ROUNDING,
            facts: facts.address as *mut u32,
        };
        // SAFETY: as above.
        unsafe { self.launch(a.size.n_rows << log2_lanes, &kernel) }?;
        self.find_long_rows(a, LONG, &facts)?;
        let facts = download(&facts, FACTS, 0u32)?;
        let holds = |fact: usize| facts[fact] != 0;
        let is_symmetric = !holds(incomplete::NOT_POSITIVE) && !holds(incomplete::UNSYMMETRIC);
        Ok(Facts {
            is_symmetric,
            is_matched: params.matching.unwrap_or(holds(incomplete::ZERO)) && !is_symmetric,
            is_paired: !holds(incomplete::UNPAIRED),
            has_diagonal: !holds(incomplete::MISSING),
            has_long_rows: holds(incomplete::LONG),
        })
    }

    fn find_long_rows<T: Real>(&self, a: &DeviceCsr<T>, most: u32, facts: &Buffer) -> Result<()> {
        let (n, facts) = (a.size.n_rows as u64, facts.address as *mut u32);
        // SAFETY: the matrix is valid, and there is a place for each fact.
        unsafe { self.launch(a.size.n_rows, &incomplete::find_long_rows { n, most, a: a.pattern(), facts }) }
    }

    /// Whether a row has more entries than so many.
    pub(super) fn has_longer_rows<T: Real>(&self, a: &DeviceCsr<T>, most: u32) -> Result<bool> {
        let facts = Buffer::zeroed(self.device(), FACTS * size_of::<u32>())?;
        self.find_long_rows(a, most, &facts)?;
        Ok(download(&facts, FACTS, 0u32)?[incomplete::LONG] != 0)
    }

    /// In rounds, as [`Order::Multicolour`] says; the neighbours are those in the rows of both.
    fn coloured<T: Real>(&self, a: &DeviceCsr<T>, at: Option<&DeviceCsr<T>>) -> Result<Colours> {
        let n = a.size.n_rows;
        let colours = DeviceIndices::from_slice(self.device(), &vec![UNCOLOURED; n])?;
        // An unknown has no more neighbours than both rows have entries.
        let most = 2 * LONG as usize + 1;
        let used = Buffer::zeroed(self.device(), (most + 1) * size_of::<u32>())?;
        let open = (used.address as *mut u32).wrapping_add(most);
        let null = Pattern { row_ptr: std::ptr::null(), col_idx: std::ptr::null() };
        let log2_lanes = a.log2_lanes();
        let mut round = 0;
        let used = loop {
            for _ in 0..ROUNDS {
                round += 1;
                let kernel = incomplete::colour {
                    n: n as u64,
                    log2_lanes,
                    a: a.pattern(),
                    at: at.map_or(null, |at| at.pattern()),
                    round,
                    colours: colours.ptr_mut(),
                    used: used.address as *mut u32,
                    open,
                };
                // SAFETY: the matrices are valid, and the arrays were made for their sizes.
                unsafe { self.launch(n << log2_lanes, &kernel) }?;
            }
            let state = download(&used, most + 1, 0u32)?;
            if state[most] < round {
                break state;
            }
        };
        let count = used[..most].iter().take_while(|&&is_used| is_used != 0).count();
        let by_colours =
            Transposes::<T>::transpose(self, &Aggregation::<T>::tentative(self, &colours, count)?)?;
        let starts = download(&by_colours.row_ptr, count + 1, 0u32)?;
        Ok(Colours { order: by_colours.col_idx, starts })
    }

    fn arranged<T: Real>(&self, a: &DeviceCsr<T>, colours: &Colours) -> Result<Arranged> {
        let (rows, nnz) = (a.size.n_rows, a.size.nnz);
        let numbers = |count: usize| Buffer::new(self.device(), count * size_of::<u32>());
        let (places, row_ptr) = (numbers(rows)?, numbers(rows + 1)?);
        let arranged = Arranged {
            row_ptr,
            col_idx: numbers(nnz)?,
            values: Buffer::new(self.device(), nnz * size_of::<f64>())?,
            diagonal: numbers(rows)?,
            nnz,
        };
        let (n, log2_lanes) = (rows as u64, a.log2_lanes());
        let order = colours.order.address as *const u32;
        let kernel = incomplete::arranged_lengths {
            n,
            a: a.pattern(),
            order,
            places: places.address as *mut u32,
            lengths: arranged.row_ptr.address as *mut u32,
        };
        // SAFETY: the matrix is valid, and the arrays were made for its size.
        unsafe { self.launch(rows, &kernel) }?;
        self.row_pointers(&arranged.row_ptr, rows)?;
        let kernel = incomplete::arranged_rows::<T> {
            n,
            log2_lanes,
            a: a.pattern(),
            values: a.values(),
            order,
            places: places.address as *const u32,
            row_ptr: arranged.row_ptr.address as *const u32,
            col_idx: arranged.col_idx.address as *mut u32,
            arranged: arranged.values.address as *mut f64,
            diagonal: arranged.diagonal.address as *mut u32,
        };
        // SAFETY: as above.
        unsafe { self.launch(rows << log2_lanes, &kernel) }?;
        Ok(arranged)
    }

    /// With larger shifts as long as pivots of a symmetric matrix are not positive, as on the host.
    fn eliminated<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        arranged: &Arranged,
        colours: &Colours,
        kind: Kind,
        is_symmetric: bool,
    ) -> Result<Factors> {
        let mut factors = self.eliminated_with(a, arranged, colours, kind, (is_symmetric, 0.0))?;
        let mut shift = SHIFT;
        for _ in 0..SHIFTS {
            if !is_symmetric || factors.changed == 0 {
                break;
            }
            factors = self.eliminated_with(a, arranged, colours, kind, (is_symmetric, shift))?;
            shift *= 2.0;
        }
        Ok(factors)
    }

    fn eliminated_with<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        arranged: &Arranged,
        colours: &Colours,
        kind: Kind,
        (are_positive, shift): (bool, f64),
    ) -> Result<Factors> {
        let bytes = arranged.nnz * size_of::<f64>();
        let values = Buffer::new(self.device(), bytes)?;
        let count = Buffer::zeroed(self.device(), size_of::<u32>())?;
        // SAFETY: both have that many bytes.
        unsafe { self.device().copy(values.address, arranged.values.address, bytes)? };
        let (factors, changed) = (arranged.rows(&values), count.address as *mut u32);
        let (log2_lanes, are_positive) = (a.log2_lanes(), u32::from(are_positive));
        for colour in colours.starts.windows(2) {
            let (first, end) = (u64::from(colour[0]), u64::from(colour[1]));
            let threads = ((end - first) as usize) << log2_lanes;
            // SAFETY: the factors have these rows, and the colours before are complete on the stream.
            unsafe {
                match kind {
                    Kind::Diagonal => self.launch(
                        threads,
                        &incomplete::eliminate_pivots {
                            first,
                            end,
                            log2_lanes,
                            factors,
                            are_positive,
                            shift,
                            changed,
                        },
                    ),
                    _ => self.launch(
                        threads,
                        &incomplete::eliminate_rows {
                            first,
                            end,
                            log2_lanes,
                            factors,
                            are_positive,
                            shift,
                            changed,
                        },
                    ),
                }
            }?;
        }
        let changed = download(&count, 1, 0u32)?[0] as usize;
        Ok(Factors { values, changed, shift })
    }

    fn split<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        arranged: &Arranged,
        factors: &Factors,
        colours: &Colours,
    ) -> Result<DeviceTriangles<T>> {
        let rows = a.size.n_rows;
        let numbers = || Buffer::new(self.device(), (rows + 1) * size_of::<u32>());
        let (lower, upper) = (numbers()?, numbers()?);
        let kernel = incomplete::triangle_lengths {
            n: rows as u64,
            pattern: arranged.pattern(),
            diagonal: arranged.diagonal.address as *const u32,
            lower: lower.address as *mut u32,
            upper: upper.address as *mut u32,
        };
        // SAFETY: the arrays were made for this many rows.
        unsafe { self.launch(rows, &kernel) }?;
        let (source, target) = (numbers()?, numbers()?);
        let last = colours.starts[colours.starts.len() - 1];
        let backwards: Vec<u32> = colours.starts.iter().rev().map(|&start| last - start).collect();
        let mut lower = self.new_triangle::<T>(rows, lower, colours.order.clone())?;
        let mut upper = self.new_triangle::<T>(rows, upper, source.clone())?;
        let of = |triangle: &mut TriangleArrays<T>| NewTriangle::<T> {
            row_ptr: triangle.row_ptr.address as *const u32,
            col_idx: triangle.col_idx.address as *mut u32,
            values: triangle.values.address as *mut T,
            diagonal: triangle.diagonal.ptr_mut(),
        };
        let log2_lanes = a.log2_lanes();
        let kernel = incomplete::triangles::<T> {
            n: rows as u64,
            log2_lanes,
            factors: arranged.rows(&factors.values),
            order: colours.order.address as *const u32,
            lower: of(&mut lower),
            upper: of(&mut upper),
            source: source.address as *mut u32,
            target: target.address as *mut u32,
        };
        // SAFETY: as above.
        unsafe { self.launch(rows << log2_lanes, &kernel) }?;
        DeviceTriangles::new(self, (lower, &colours.starts), (upper, &backwards), target)
    }

    /// Row lengths become row pointers; the entries are undefined.
    fn new_triangle<T: Real>(
        &self,
        rows: usize,
        lengths: Arc<Buffer>,
        source: Arc<Buffer>,
    ) -> Result<TriangleArrays<T>> {
        let entries = self.row_pointers(&lengths, rows)?;
        check_reach(entries)?;
        let entries = entries as usize;
        Ok(TriangleArrays {
            row_ptr: lengths,
            col_idx: Buffer::new(self.device(), entries * size_of::<u32>())?,
            values: Buffer::new(self.device(), entries * size_of::<T>())?,
            diagonal: self.zeros(rows)?,
            source,
            entries,
        })
    }
}
