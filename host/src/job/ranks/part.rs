//! What a rank has set up, and solves with.

use std::sync::Arc;
use std::time::Instant;

use cuda_std::Real;

use super::observer::Agreed;
use super::orders::Choices;
use super::share::Share;
use super::whole::{Root, Whole};
use crate::backend::distributed::{Borders, Distributed, DistributedMatrix, Exchanged};
use crate::backend::gpu::buffer::check_reach;
use crate::backend::{Memory, Operator, Storage};
use crate::comm::{Block, Comm, Piece, Runs, agree_within, sums, told};
use crate::error::Result;
use crate::job::plan::{choose_format, converts_on_device};
use crate::job::residual::Norms;
use crate::job::setup::{Clock, Computes, Number, taken_as};
use crate::job::{Device, Options, Precision, Precond, download};
use crate::matrix::{AnyMatrix, Csr, Format, Padding, Target};
use crate::pages::in_large_pages;
use crate::precond::amg::{Cycle, Known, NearNull, OnAll, OwnRows};
use crate::precond::{
    AmgOnRanks, Gathered, Identity, Jacobi, JacobiSweeps, Preconditioner, Projected, RestrictedSchwarz,
    Source, Subdomain, amg, ilu,
};
use crate::setup::{Blocks, DeviceCsr, Formats};
use crate::solver::{IterativeSolver, Observer, Outcome, Parts, Stop};

/// What a solve left on a rank.
pub(super) struct Solved {
    pub x: Vec<f64>,
    pub outcome: Outcome,
    /// How large `b - A x` is on all ranks, as they compute it.
    pub norms: Option<Norms>,
    pub exchanged: Exchanged,
    /// Bytes that the iterations had to move here.
    pub bytes_moved: u64,
    pub around: Around,
}

/// Seconds around the iterations.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Around {
    /// Until every rank had its part of b.
    pub ahead: f64,
    /// In which the residual was looked at.
    pub check: f64,
    /// Until x was on the host.
    pub behind: f64,
}

impl Around {
    pub fn add(&mut self, other: Around) {
        self.ahead += other.ahead;
        self.check += other.check;
        self.behind += other.behind;
    }
}

/// A [`Local`] whose number type and backend are forgotten.
pub(super) trait Part: Send {
    /// Solves together with the other ranks.
    fn solve(
        &mut self,
        b: &[f64],
        start: Option<&[f64]>,
        stop: &Stop,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Solved>;
    /// Whether nothing between ranks goes through the host.
    fn is_connected(&self) -> bool;
    /// How the rows are stored.
    fn storage(&self) -> Storage;
    /// The hierarchy, where it is here.
    fn hierarchy(&self) -> Option<&amg::Info>;
    /// The incomplete factors of this rank.
    fn factors(&self) -> Option<&ilu::Info>;
}

/// Sets a rank up with its share; `root` is rank 0's, where that has the whole matrix.
pub(super) fn set_up(
    comm: &Arc<dyn Comm>,
    device: &Device,
    choices: &Choices,
    share: Share,
    root: Option<Root>,
) -> Result<Box<dyn Part>> {
    Ok(match (choices.options.precision, device) {
        (Precision::F64, Device::Cpu(cpu)) => {
            Box::new(Local::<f64, _>::new(comm, device, cpu, choices, share, root)?)
        }
        (Precision::F64, Device::Gpu(gpu)) => {
            Box::new(Local::<f64, _>::new(comm, device, gpu, choices, share, root)?)
        }
        (Precision::F32, Device::Cpu(cpu)) => {
            Box::new(Local::<f32, _>::new(comm, device, cpu, choices, share, root)?)
        }
        (Precision::F32, Device::Gpu(gpu)) => {
            Box::new(Local::<f32, _>::new(comm, device, gpu, choices, share, root)?)
        }
    })
}

/// Whether all that a solve is set up with is made on a GPU, of the rows as they are in the whole matrix: the
/// host copies none of them.
fn is_of_diagonal(device: &Device, choices: &Choices, piece: &Piece) -> bool {
    let options = &choices.options;
    matches!(choices.precond, Precond::Jacobi | Precond::None)
        && (options.block_size, options.format) == (1, None)
        && device.target() == Target::Gpu
        && check_reach(piece.local.nnz() as u64).is_ok()
}

/// The rows of a rank, ready to be multiplied.
struct Rows<T: Real, B: Borders<T>> {
    matrix: Arc<DistributedMatrix<T, B>>,
    /// Why they are stored so.
    reason: String,
}

/// The part of one rank, in T on B.
struct Local<T: Real, B: Borders<T>> {
    backend: Distributed<B>,
    device: Device,
    n: usize,
    nnz: usize,
    reason: String,
    matrix: Arc<DistributedMatrix<T, B>>,
    m: Box<dyn Preconditioner<T, Distributed<B>>>,
    solver: Box<dyn IterativeSolver<T, Distributed<B>>>,
}

impl<T: Number, B: Computes<T> + AmgOnRanks<T>> Local<T, B> {
    fn new(
        comm: &Arc<dyn Comm>,
        device: &Device,
        inner: &B,
        choices: &Choices,
        Share { piece, basis, near_null, known, there }: Share,
        root: Option<Root>,
    ) -> Result<Self> {
        let backend = Distributed::connected::<T>(inner.clone(), comm.clone())?;
        let options = &choices.options;
        let (n, nnz) = (piece.local.n_rows(), piece.nnz());
        let m: Box<dyn Preconditioner<T, _>>;
        let rows;
        if choices.precond.description().has_hierarchy {
            // It is set up together: by all ranks or by none.
            (m, rows) = match known {
                Some(known) => Self::with_hierarchy_of_rows(&backend, device, &piece, choices, &known)?,
                None => Self::with_hierarchy(&backend, device, (&piece, there), near_null, choices, root)?,
            };
        } else if is_of_diagonal(device, choices, &piece) {
            let planes;
            let there = there.and_then(taken_as);
            (rows, planes) = Self::rows_in_planes(&backend, device, options, &piece, there.as_ref())?;
            let of_diagonal = Self::of_diagonal(inner, choices.precond, &planes);
            // As below.
            m = if basis.is_empty() { of_diagonal? } else { agree_within(&**comm, of_diagonal)? };
        } else {
            let a;
            (rows, a) = Self::rows(&backend, device, options, &piece)?;
            let of_rows = match (choices.precond, options.ilu.overlap) {
                (Precond::Ilu, 1..) => Self::overlapping(&backend, &piece, (&a, &rows.matrix), &options.ilu),
                _ => Self::of_rows(&backend, choices, &a, &rows.matrix),
            };
            // Nobody begins the reductions of a basis where another has come to an end.
            m = if basis.is_empty() { of_rows? } else { agree_within(&**comm, of_rows)? };
        }
        let m: Box<dyn Preconditioner<T, _>> = match &basis[..] {
            [] => m,
            _ => {
                let vector = |v: &Vec<f64>| backend.vector(&T::rounded(v));
                let basis = basis.iter().map(vector).collect::<Result<_>>()?;
                Box::new(Projected::with_basis(&backend, m, basis)?)
            }
        };
        let Rows { matrix, reason } = rows;
        let solver = choices.method.make(&backend, &piece.local, &*m, &options.method_parameters())?;
        inner.synchronize()?;
        Ok(Local { backend, device: device.clone(), n, nnz, reason, matrix, m, solver })
    }

    /// The rows of this rank, and beside them those in its own columns, on the host. All ranks call this.
    #[allow(clippy::type_complexity)]
    fn rows(
        backend: &Distributed<B>,
        device: &Device,
        options: &Options,
        piece: &Piece,
    ) -> Result<(Rows<T, B>, Arc<Csr<T>>)> {
        let local = T::matrix(piece.local.csr()).and_then(|a| {
            let (local, reason) = Self::converted(backend.inner(), device, options, &a, piece)?;
            Ok((a, local, reason))
        });
        // They join their rows together: none where another has come to an end.
        let (a, local, reason) = agree_within(&**backend.comm(), local)?;
        Ok((Rows { matrix: Arc::new(backend.assembled(local, &piece.border)?), reason }, a))
    }

    /// The rows in their own columns, in a format that is chosen for them, and why.
    fn converted(
        inner: &B,
        device: &Device,
        options: &Options,
        a: &Arc<Csr<T>>,
        piece: &Piece,
    ) -> Result<(B::Matrix, String)> {
        let are_blocks = options.block_size > 1 && a.nnz() > 0;
        if are_blocks && converts_on_device(piece.local.csr(), options, Precond::None, device.target()) {
            let (local, _) = Formats::<T, T>::operator_of_nodes(inner, inner.csr(a)?, options.block_size)?;
            return Ok(with_its_reason(local));
        }
        let (format, sigma, reason) = match piece.local.n_rows() {
            0 => (Format::Crs, 1, String::new()),
            _ => {
                let choice = choose_format(piece.local.csr(), options, device.target())?;
                (choice.format, choice.sigma, choice.reason)
            }
        };
        Ok((inner.matrix(&Arc::new(AnyMatrix::from_csr(a, format, sigma)?))?, reason))
    }

    /// The rows in their own columns, where they compute, and where they may be `there` in all columns. Those
    /// that are rounded come by way of the host, which sees what overflows.
    fn inside(inner: &B, piece: &Piece, there: Option<&B::Csr>) -> Result<B::Csr> {
        match (there, piece.local.block()) {
            (Some(there), Some(Block { columns, .. })) => inner.in_columns(there, columns),
            _ if T::NAME == f64::NAME => inner.rows_inside(&piece.local),
            _ => inner.csr(&T::matrix(piece.local.csr())?),
        }
    }

    /// [`Self::rows`] beside the rows in CRS, in planes, from which they are converted where they compute.
    #[allow(clippy::type_complexity)]
    fn rows_in_planes(
        backend: &Distributed<B>,
        device: &Device,
        options: &Options,
        piece: &Piece,
        there: Option<&B::Csr>,
    ) -> Result<(Rows<T, B>, Blocks<B::Csr>)> {
        let inner = backend.inner();
        let made = Self::inside(inner, piece, there).and_then(|a| {
            let planes = inner.planes(a, options.block_size)?;
            let (local, reason) = match options.format.is_some() || piece.local.nnz() == 0 {
                true => Self::converted(inner, device, options, &T::matrix(piece.local.csr())?, piece)?,
                false => with_its_reason(Formats::<T, T>::operator(inner, &planes)?),
            };
            Ok((planes, local, reason))
        });
        let (planes, local, reason) = agree_within(&**backend.comm(), made)?;
        let matrix = Arc::new(backend.assembled(local, &piece.border)?);
        Ok((Rows { matrix, reason }, planes))
    }

    /// Multigrid of a matrix of which each rank has but its rows. Beside it the rows.
    fn with_hierarchy_of_rows(
        backend: &Distributed<B>,
        device: &Device,
        piece: &Piece,
        choices: &Choices,
        known: &Known,
    ) -> Result<(OnAll<T, B>, Rows<T, B>)> {
        let options = &choices.options;
        let there = agree_within(&**backend.comm(), backend.inner().rows_there(&piece.local))?;
        let (rows, planes) = Self::rows_in_planes(backend, device, options, piece, there.as_ref())?;
        let own = OwnRows { a: &planes, piece, product: &rows.matrix, there };
        let m = amg::amg_from_rows(backend, own, &options.amg, known);
        // They agree on the whole set-up later.
        Ok((m.map_err(|error| told(&**backend.comm(), error))?, rows))
    }

    /// Multigrid on all ranks, set up there or on rank 0; where ranks cannot compute the smoother together on
    /// rank 0 alone. Beside it the rows.
    fn with_hierarchy(
        backend: &Distributed<B>,
        device: &Device,
        (piece, there): (&Piece, Option<DeviceCsr<f64>>),
        near_null: Option<NearNull>,
        choices: &Choices,
        root: Option<Root>,
    ) -> Result<(OnAll<T, B>, Rows<T, B>)> {
        let (comm, inner, options) = (&**backend.comm(), backend.inner(), &choices.options);
        let (params, block) = (&options.amg, options.block_size);
        let is_shared = params.smoother.is_of_sweeps();
        let is_split = choices.has_near_null && near_null.is_none();
        if is_shared && !is_split && amg::are_set_up_together(params, block) {
            let there = there.and_then(taken_as);
            let (rows, planes) = Self::rows_in_planes(backend, device, options, piece, there.as_ref())?;
            let known = root
                .as_ref()
                .map(|root| (&**root.partition, root.plan.preconditioner_parameters().hierarchy_in_f32));
            let own = OwnRows { a: &planes, piece, product: &rows.matrix, there };
            let known = Known::told(comm, known, near_null)?;
            if let Some(m) = B::amg_set_up_together(backend, own, params, known)? {
                return Ok((m, rows));
            }
        }
        let (rows, _) = Self::rows(backend, device, options, piece)?;
        let whole = root.map(|root| Whole::new(inner, root)).transpose();
        let mut whole = agree_within(comm, whole)?;
        if is_shared {
            let root = whole.as_mut().map(|whole| (whole.partition.clone(), whole.source(inner)));
            return Ok((B::amg_on_ranks(backend, piece.local.n_rows(), params, root)?, rows));
        }
        let m = whole
            .as_mut()
            .map(|whole| Ok((whole.precond.make(whole.source(inner))?, whole.partition.clone())));
        let m = agree_within(comm, m.transpose())?;
        Ok((Box::new(Gathered::new(backend, m, params.cycle != Some(Cycle::K))?), rows))
    }

    /// The preconditioner of a rank that is its diagonal or nothing, made where it computes.
    fn of_diagonal(
        inner: &B,
        precond: Precond,
        planes: &Blocks<B::Csr>,
    ) -> Result<Box<dyn Preconditioner<T, Distributed<B>>>> {
        let m: Box<dyn Preconditioner<T, B>> = match precond {
            Precond::Jacobi => Box::new(Jacobi::of_inverse(inner.invert_diagonal(planes)?)),
            _ => Box::new(Identity),
        };
        Ok(Box::new(Subdomain::new(m, true)))
    }

    /// The preconditioner that each rank makes of its rows.
    fn of_rows(
        backend: &Distributed<B>,
        choices: &Choices,
        a: &Arc<Csr<T>>,
        matrix: &Arc<DistributedMatrix<T, B>>,
    ) -> Result<Box<dyn Preconditioner<T, Distributed<B>>>> {
        let parameters = &choices.options.preconditioner_parameters();
        if choices.precond == Precond::JacobiSweeps {
            // Its products are those of the whole matrix.
            return Ok(Box::new(JacobiSweeps::setup(backend, a, matrix.clone(), parameters)?));
        }
        let (backend, product) = (backend.inner(), matrix.local());
        let m: Box<dyn Preconditioner<T, B>> = match a.n_rows() {
            0 => Box::new(Identity),
            _ => choices.precond.make(Source { backend, a, csr: None, product, parameters })?,
        };
        let is_fused = (choices.precond.description().is_fused)(choices.options.block_size);
        Ok(Box::new(Subdomain::new(m, is_fused)))
    }

    /// Incomplete factors of the rows of each rank and of layers around them. All ranks call this.
    fn overlapping(
        backend: &Distributed<B>,
        piece: &Piece,
        (a, matrix): (&Arc<Csr<T>>, &Arc<DistributedMatrix<T, B>>),
        params: &ilu::Params,
    ) -> Result<Box<dyn Preconditioner<T, Distributed<B>>>> {
        let (comm, inner, n) = (&**backend.comm(), backend.inner(), a.n_rows());
        // Numbered one rank after the other: any numbers do that all ranks know.
        let counts = comm.all_gather(&[n as f64])?;
        let of = |ranks: &[f64]| ranks.iter().sum::<f64>() as usize;
        let (first, total) = (of(&counts[..comm.rank()]), of(&counts));
        let there = backend.agreed(inner.csr(a))?;
        let rows = OwnRows { a: &Blocks::scalar(there), piece, product: matrix, there: None };
        let rows = rows.numbered(backend, &Runs::from(first..first + n), total)?;
        let make = |block: &B::Csr| ilu::make_there(inner, block, params);
        Ok(Box::new(RestrictedSchwarz::setup(backend, rows.first(), params.overlap, make)?))
    }
}

/// How this rank stores its rows, with the bytes and entries of all, of which the matrix has `nnz`. All ranks
/// call this.
pub(super) fn storage_of_all(comm: &dyn Comm, own: Storage, nnz: usize) -> Result<Storage> {
    let of_all = sums(comm, &[own.bytes as f64, own.traffic as f64, own.padding.stored as f64])?;
    let padding = Padding { stored: of_all[2] as u64, nnz: nnz as u64 };
    Ok(Storage { bytes: of_all[0] as u64, traffic: of_all[1] as u64, padding, ..own })
}

fn with_its_reason<M: Operator>(matrix: M) -> (M, String) {
    let reason = matrix.reason().unwrap_or_default().to_string();
    (matrix, reason)
}

impl<T: Number, B: Computes<T> + AmgOnRanks<T>> Part for Local<T, B> {
    fn solve(
        &mut self,
        b: &[f64],
        start: Option<&[f64]>,
        stop: &Stop,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Solved> {
        let Local { backend, matrix, m, solver, .. } = self;
        let begin = Instant::now();
        let b = backend.vector(&T::rounded(b))?;
        let mut x = match start {
            None => backend.zeros(self.n)?,
            Some(x) => backend.vector(&T::rounded(x))?,
        };
        // Rounded numbers say nothing of those that were given.
        let mut r = if T::NAME == f64::NAME { Some(backend.zeros(self.n)?) } else { None };
        let before = backend.exchanged()?;
        let comm = backend.comm().clone();
        // They begin together.
        comm.barrier()?;
        let ahead = begin.elapsed().as_secs_f64();
        let mut observer = Agreed { comm: &*comm, observer };
        let solve = || solver.solve(backend, matrix, &mut **m, &b, &mut x, stop, &mut observer);
        let (mut room, outcome) = download::with_room(self.device.target(), (1, self.n), solve);
        let outcome = outcome?;
        let exchanged = backend.exchanged()?.since(before);
        let clock = Clock::start(&self.device);
        let norms = match &mut r {
            Some(r) => download::norms(backend, matrix, &[(&x, &b)], r)?,
            None => None,
        };
        let (check, start) = (clock.seconds(), Instant::now());
        let mut on_host = room.pop().unwrap_or_else(|| in_large_pages(vec![T::ZERO; self.n]));
        backend.copy_to_host(&x, &mut on_host)?;
        let x = on_host.into_iter().map(Real::to_f64).collect();
        let behind = start.elapsed().as_secs_f64();
        let vector = (self.n * size_of::<T>()) as u64;
        let parts = Parts { product: matrix.traffic() + 2 * vector, vector, m: m.traffic(vector) };
        let bytes_moved = solver.traffic(outcome.iterations, &parts);
        let (norms, around) = (norms.map(|norms| norms[0]), Around { ahead, check, behind });
        Ok(Solved { x, outcome, norms, exchanged, bytes_moved, around })
    }

    fn is_connected(&self) -> bool {
        self.backend.is_connected()
    }
    fn storage(&self) -> Storage {
        Storage::of(&*self.matrix, self.nnz, &self.reason)
    }
    fn hierarchy(&self) -> Option<&amg::Info> {
        self.m.hierarchy()
    }
    fn factors(&self) -> Option<&ilu::Info> {
        self.m.factors()
    }
}
