//! How much device memory a plan takes, known before anything is allocated.

use std::ops::Range;

use super::plan::{Plan, choose_format};
use super::reorder::lines_where_bad;
use super::{Method, Options, Precision, Precond};
use crate::backend::gpu::{Gpu, check_memory};
use crate::error::Result;
use crate::matrix::{Csr, Target};
use crate::precond::amg::prediction::Prediction;
use crate::precond::{NullSpace, ilu};
use crate::setup::DeviceCsr;

/// Vectors of length n that a solve holds: x, b, the method's, the preconditioner's, and the basis of what
/// that is kept out of.
pub(super) fn vectors((method, precond): (Method, Precond), options: &Options, projections: usize) -> usize {
    let (method, precond, block_size) = (method.description(), precond.description(), options.block_size);
    let is_brought = method.own_preconditioner().is_some();
    let preconditioner = if is_brought { 0 } else { (precond.vectors)(block_size) };
    let is_fused = (precond.is_fused)(block_size) && projections == 0;
    2 + (method.vectors)(&options.method_parameters(), is_fused) + preconditioner + projections
}

/// Bytes of a number.
pub(super) fn number(options: &Options) -> u64 {
    match options.precision {
        Precision::F32 => 4,
        Precision::F64 => 8,
    }
}

/// About what a multigrid set-up takes at its peak, beside the matrix in its format.
struct SetUp {
    /// The matrix in CRS, interpolation and its transpose, the product of the first coarsening and A P, which
    /// stays for the way back. They are given back in the end, unless the hierarchy is to take other values.
    in_crs: u64,
    /// A hierarchy with 8 vectors.
    hierarchy: u64,
}

impl SetUp {
    /// In the systems measured the transfers are as large as the matrix together, each of the products is as
    /// large as it, and the hierarchy half as large again; the prediction may say more. What is there in its
    /// format is given back at once, but for what is kept.
    fn of(a: &Csr<f64>, options: &Options, hierarchy_in_f32: bool, prediction: Prediction) -> SetUp {
        let (nnz, n) = (a.nnz() as f64, a.n_rows() as f64);
        let number = number(options) as f64;
        let hierarchy_number = if hierarchy_in_f32 { 4.0 } else { 8.0 };
        let Prediction { product, coarser } = prediction;
        let in_crs = if options.reusable { 2.5 } else { 2.0 } + 2.0 * product.max(1.0);
        let hierarchy = 1.0 + coarser.max(0.5);
        // Two copies in f64 while the coarsest matrix is inverted, and the inverse.
        let inverse = n.min(options.amg.coarse_rows as f64).powi(2) * (2.0 * 8.0 + 4.0 + number);
        let vectors = n * (3.0 * (4.0 + number) + 8.0 * hierarchy_number);
        SetUp {
            in_crs: (nnz * in_crs * (4.0 + number)) as u64,
            hierarchy: (inverse + nnz * hierarchy * (4.0 + hierarchy_number) + vectors) as u64,
        }
    }

    fn bytes(&self) -> u64 {
        self.in_crs + self.hierarchy
    }
}

/// Rows of a matrix on a GPU. While they are copied its pool grows to most of what a multigrid set-up with
/// them may need, where there may be one: the system takes a millisecond for each GiB. Half of what is free
/// is left to others.
pub(super) fn copied(
    gpu: &Gpu,
    a: &Csr<f64>,
    rows: Range<usize>,
    options: &Options,
) -> Result<DeviceCsr<f64>> {
    let copy = DeviceCsr::with_room_for(gpu, a, rows.clone())?;
    let share = rows.len() as f64 / a.n_rows().max(1) as f64;
    std::thread::scope(|scope| {
        if options.may_coarsen() {
            scope.spawn(|| {
                let free = gpu.device().memory().map_or(0, |(free, _)| free);
                let (in_f32, prediction) =
                    (options.amg_precision != Some(Precision::F64), Prediction::of(a, &options.amg));
                // There are two for a moment.
                let again = lines_where_bad(a, options).map_or(0, |_| copy.bytes());
                let needed = (share * SetUp::of(a, options, in_f32, prediction).bytes() as f64) as u64;
                gpu.device().reserve(((0.8 * (needed + again) as f64) as u64).min(free / 2));
            });
        }
        copy.fill(gpu, a, rows)
    })?;
    Ok(copy)
}

impl Plan {
    /// [`vectors`] of this plan.
    fn vectors(&self) -> usize {
        let projections = self.projections().map_or(0, NullSpace::dimension);
        vectors((self.method, self.precond), &self.options, projections)
    }

    /// Bytes of a number.
    fn number(&self) -> u64 {
        number(&self.options)
    }

    fn matrix_bytes(&self) -> u64 {
        let pointers = 8 * self.a.n_rows() as u64;
        self.format.padding.stored * (4 + self.number()) + pointers
    }

    /// What multigrid takes, where that is the preconditioner.
    fn set_up(&self) -> Option<SetUp> {
        let prediction = || *self.prediction.get_or_init(|| Prediction::of(&self.a, &self.options.amg));
        let of = || SetUp::of(&self.a, &self.options, self.hierarchy_in_f32, prediction());
        self.has_hierarchy().then(of)
    }

    /// Bytes of vectors beside the set-up of a hierarchy: they are made after it, in what it has given back.
    fn vectors_beside(&self, set_up: Option<&SetUp>) -> u64 {
        let given_back = set_up.filter(|_| !self.options.reusable).map_or(0, |set_up| set_up.in_crs);
        self.vector_bytes().saturating_sub(given_back)
    }

    /// About what incomplete factors take.
    fn factor_bytes(&self) -> u64 {
        match self.precond {
            Precond::Ilu => {
                ilu::expected_bytes(&self.options.ilu, self.a.n_rows(), self.a.nnz(), self.number() as usize)
            }
            _ => 0,
        }
    }

    /// Bytes of x, b, and the vectors of method and preconditioner.
    pub fn vector_bytes(&self) -> u64 {
        (self.vectors() * self.a.n_rows()) as u64 * self.number()
    }

    /// About what CRS takes while a format is made from it, where that is not counted with what needs it
    /// longer.
    fn conversion_bytes(&self) -> u64 {
        let is_counted = self.has_hierarchy() || self.options.block_size == 1 && self.needs_csr();
        if self.converts_on_device && !is_counted { self.matrix_bytes() } else { 0 }
    }

    /// Bytes on the device at most, set-up and all.
    pub fn expected_bytes(&self) -> u64 {
        let set_up = self.set_up();
        let hierarchy = set_up.as_ref().map_or(0, SetUp::bytes);
        let around = self.conversion_bytes() + self.factor_bytes();
        self.matrix_bytes() + self.vectors_beside(set_up.as_ref()) + hierarchy + around
    }

    /// The copy of the matrix, if that leaves room enough for the plan. Where a conversion on the GPU takes
    /// too much, it is left to the host.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`](crate::Error::DeviceMemory) where there is too little all the same.
    pub fn fitted(&mut self, gpu: &Gpu, copy: Option<DeviceCsr<f64>>) -> Result<Option<DeviceCsr<f64>>> {
        if self.check_memory(gpu).is_ok() {
            return Ok(copy);
        }
        drop(copy);
        if self.check_memory(gpu).is_err() && self.conversion_bytes() > 0 && self.options.block_size == 1 {
            self.converts_on_device = false;
            self.format = choose_format(&self.a, &self.options, Target::Gpu)?;
        }
        self.check_memory(gpu).map(|()| None)
    }

    /// [`Error::DeviceMemory`](crate::Error::DeviceMemory) where the GPU has less free.
    pub fn check_memory(&self, gpu: &Gpu) -> Result<()> {
        let vectors = format!("{} vectors", self.vectors());
        let set_up = self.set_up();
        let mut parts = vec![
            ("matrix", self.matrix_bytes()),
            (vectors.as_str(), self.vectors_beside(set_up.as_ref())),
            ("multigrid set-up, about", set_up.as_ref().map_or(0, SetUp::bytes)),
            ("conversion from CRS, about", self.conversion_bytes()),
            ("incomplete factors, about", self.factor_bytes()),
        ];
        parts.retain(|(_, bytes)| *bytes > 0);
        check_memory(&**gpu.device(), &parts)
    }
}
