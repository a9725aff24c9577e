//! What a rank has set up, and solves with.

use std::sync::Arc;
use std::time::Instant;

use cuda_std::Real;

use super::observer::Agreed;
use super::orders::Choices;
use super::share::Share;
use crate::backend::distributed::{Borders, Distributed, DistributedMatrix, Exchanged};
use crate::backend::{Memory, Operator, Storage};
use crate::comm::{Comm, Partition, Piece, agree_within};
use crate::error::Result;
use crate::job::plan::{Plan, choose_format};
use crate::job::progress::Watch;
use crate::job::setup::{Computes, Number, Operators, Times, operators};
use crate::job::{Device, Options, Precision, Precond};
use crate::matrix::{AnyMatrix, Csr, Format};
use crate::precond::amg::{Cycle, OwnRows};
use crate::precond::{
    AmgOnRanks, Gathered, Identity, JacobiSweeps, Parameters, Preconditioner, Projected, Source, Subdomain,
    amg, ilu,
};
use crate::setup::{Blocks, Formats};
use crate::solver::{IterativeSolver, Observer, Outcome, Parts, Stop};

/// What rank 0 has that the others have not: the whole.
pub(super) struct Root<'a> {
    pub plan: &'a Plan,
    pub partition: &'a Arc<Partition>,
    pub watch: &'a mut Watch,
    pub times: &'a mut Times,
}

/// What a solve left on a rank.
pub(super) struct Solved {
    pub x: Vec<f64>,
    pub outcome: Outcome,
    pub exchanged: Exchanged,
    /// Bytes that the iterations had to move here.
    pub bytes_moved: u64,
    /// Seconds until every rank had its part of b, and from the last iteration until x was on the host.
    pub around: [f64; 2],
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

/// Sets a rank up with its share.
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

/// The rows of a rank, ready to be multiplied, and why they are stored so.
type Rows<T, B> = (Arc<DistributedMatrix<T, B>>, String);

/// The part of one rank, in T on B.
struct Local<T: Real, B: Borders<T>> {
    backend: Distributed<B>,
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
        Share { piece, basis }: Share,
        root: Option<Root>,
    ) -> Result<Self> {
        let backend = Distributed::connected::<T>(inner.clone(), comm.clone())?;
        let options = &choices.options;
        let (n, nnz) = (piece.local.n_rows(), piece.local.nnz() + piece.border.entries.nnz());
        let m: Box<dyn Preconditioner<T, _>>;
        let (a, matrix, reason);
        if choices.precond.description().has_hierarchy {
            // It is set up together: by all ranks or by none.
            (m, a, (matrix, reason)) = Self::with_hierarchy(&backend, device, &piece, choices, root)?;
        } else {
            a = T::matrix(&piece.local)?;
            (matrix, reason) = Self::rows(&backend, device, options, &a, &piece)?;
            let of_rows = Self::of_rows(&backend, choices, &a, &matrix);
            // Nobody begins the reductions of a basis where another has come to an end.
            m = if basis.is_empty() { of_rows? } else { agree_within(&**comm, of_rows)? };
        }
        let m: Box<dyn Preconditioner<T, _>> = match &basis[..] {
            [] => m,
            _ => {
                let vector = |v: &Vec<f64>| backend.vector(&rounded(v));
                let basis = basis.iter().map(vector).collect::<Result<_>>()?;
                Box::new(Projected::with_basis(&backend, m, basis)?)
            }
        };
        let solver = choices.method.make(&backend, &a, &*m, &options.method_parameters())?;
        inner.synchronize()?;
        Ok(Local { backend, n, nnz, reason, matrix, m, solver })
    }

    /// The rows of this rank, `a` in its own columns, ready to be multiplied, and why they are stored so.
    fn rows(
        backend: &Distributed<B>,
        device: &Device,
        options: &Options,
        a: &Arc<Csr<T>>,
        piece: &Piece,
    ) -> Result<Rows<T, B>> {
        let (format, sigma, reason) = match piece.local.n_rows() {
            0 => (Format::Crs, 1, String::new()),
            _ => {
                let choice = choose_format(&piece.local, options, false, device.target())?;
                (choice.format, choice.sigma, choice.reason)
            }
        };
        let matrix = backend.rows(&Arc::new(AnyMatrix::from_csr(a, format, sigma)?), &piece.border)?;
        Ok((Arc::new(matrix), reason))
    }

    /// The same where the rows are also there in CRS, in planes.
    fn rows_of_planes(
        backend: &Distributed<B>,
        device: &Device,
        options: &Options,
        (a, planes): (&Arc<Csr<T>>, &Blocks<B::Csr>),
        piece: &Piece,
    ) -> Result<Rows<T, B>> {
        if options.format.is_some() || a.nnz() == 0 {
            return Self::rows(backend, device, options, a, piece);
        }
        let matrix = Formats::<T, T>::operator(backend.inner(), planes)?;
        let matrix = Arc::new(backend.assembled(matrix, &piece.border)?);
        let reason = matrix.reason().unwrap_or_default().to_string();
        Ok((matrix, reason))
    }

    /// Multigrid on all ranks, set up there or on rank 0; where ranks cannot compute the smoother together on
    /// rank 0 alone. Beside it the rows.
    #[allow(clippy::type_complexity)]
    fn with_hierarchy(
        backend: &Distributed<B>,
        device: &Device,
        piece: &Piece,
        choices: &Choices,
        root: Option<Root>,
    ) -> Result<(Box<dyn Preconditioner<T, Distributed<B>>>, Arc<Csr<T>>, Rows<T, B>)> {
        let (comm, inner, options) = (&**backend.comm(), backend.inner(), &choices.options);
        let (params, block) = (&options.amg, options.block_size);
        let is_shared = params.smoother.is_of_sweeps();
        if is_shared && amg::are_set_up_together(params, block, choices.has_near_null) {
            let planes = T::matrix(&piece.local).and_then(|a| Ok((inner.in_planes(&a, block)?, a)));
            let (planes, a) = agree_within(comm, planes)?;
            let rows = Self::rows_of_planes(backend, device, options, (&a, &planes), piece);
            let rows = agree_within(comm, rows)?;
            let known = root
                .as_ref()
                .map(|root| (&**root.partition, root.plan.preconditioner_parameters().hierarchy_in_f32));
            let own = OwnRows { a: &planes, piece, product: &rows.0 };
            if let Some(m) = B::amg_set_up_together(backend, &own, params, known)? {
                return Ok((m, a, rows));
            }
        }
        let a = T::matrix(&piece.local);
        let rows = a.and_then(|a| Ok((Self::rows(backend, device, options, &a, piece)?, a)));
        let (rows, a) = agree_within(comm, rows)?;
        let whole = root.map(|root| Whole::new(inner, root)).transpose();
        let mut whole = agree_within(comm, whole)?;
        if is_shared {
            let root = whole.as_mut().map(|whole| (whole.partition.clone(), whole.source(inner)));
            return Ok((B::amg_on_ranks(backend, a.n_rows(), params, root)?, a, rows));
        }
        let m = whole
            .as_mut()
            .map(|whole| Ok((whole.precond.make(whole.source(inner))?, whole.partition.clone())));
        let m = agree_within(comm, m.transpose())?;
        Ok((Box::new(Gathered::new(backend, m, params.cycle != Some(Cycle::K))?), a, rows))
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
}

/// The whole matrix, on rank 0, and what a hierarchy is set up from beside.
struct Whole<T: Real, B: Computes<T>> {
    a: Arc<Csr<T>>,
    operators: Operators<B::Matrix, B::Csr>,
    parameters: Parameters,
    precond: Precond,
    partition: Arc<Partition>,
}

impl<T: Number, B: Computes<T>> Whole<T, B> {
    fn new(backend: &B, Root { plan, partition, watch, times }: Root) -> Result<Self> {
        let a = T::matrix(&plan.a)?;
        let operators = operators(plan, backend, &a, watch, times)?;
        // New values are set up anew.
        let parameters = Parameters { reusable: false, ..plan.preconditioner_parameters() };
        Ok(Whole { a, operators, parameters, precond: plan.precond, partition: partition.clone() })
    }

    fn source<'a>(&'a mut self, backend: &'a B) -> Source<'a, T, B> {
        let Whole { a, operators: Operators { matrix: product, csr }, parameters, .. } = self;
        Source { backend, a, csr: csr.take(), product, parameters }
    }
}

fn rounded<T: Real>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&v| T::from_f64(v)).collect()
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
        let b = backend.vector(&rounded::<T>(b))?;
        let mut x = match start {
            None => backend.zeros(self.n)?,
            Some(x) => backend.vector(&rounded::<T>(x))?,
        };
        let before = backend.exchanged()?;
        let comm = backend.comm().clone();
        // They begin together.
        comm.all_gather(&[])?;
        let ahead = begin.elapsed().as_secs_f64();
        let mut observer = Agreed { comm: &*comm, observer };
        let outcome = solver.solve(backend, matrix, &mut **m, &b, &mut x, stop, &mut observer)?;
        let end = Instant::now();
        let x = backend.to_host(&x)?.into_iter().map(Real::to_f64).collect();
        let vector = (self.n * size_of::<T>()) as u64;
        let parts = Parts { product: matrix.traffic() + 2 * vector, vector, m: m.traffic(vector) };
        let bytes_moved = solver.traffic(outcome.iterations, &parts);
        let (exchanged, around) = (backend.exchanged()?.since(before), [ahead, end.elapsed().as_secs_f64()]);
        Ok(Solved { x, outcome, exchanged, bytes_moved, around })
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
