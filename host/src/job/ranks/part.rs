//! What a rank has set up, and solves with.

use std::sync::Arc;

use cuda_std::Real;

use super::observer::Agreed;
use super::orders::Choices;
use crate::backend::distributed::{Borders, Distributed, DistributedMatrix, Exchanged};
use crate::backend::{Memory, Operator, Storage};
use crate::comm::{Comm, Partition, Piece, agree_within};
use crate::error::Result;
use crate::job::plan::{Plan, choose_format};
use crate::job::progress::Watch;
use crate::job::setup::{Computes, Number, Operators, Times, operators, preconditioner};
use crate::job::{Device, Precision};
use crate::matrix::{AnyMatrix, Csr, Format};
use crate::precond::amg::Cycle;
use crate::precond::{
    Gathered, Identity, Parameters, Preconditioner, Projected, Source, Subdomain, Whole, amg, ilu,
};
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

/// Sets a rank up with its piece, and its part of the basis of a null space.
pub(super) fn set_up(
    comm: &Arc<dyn Comm>,
    device: &Device,
    choices: &Choices,
    piece: Piece,
    basis: &[Vec<f64>],
    root: Option<Root>,
) -> Result<Box<dyn Part>> {
    Ok(match (choices.options.precision, device) {
        (Precision::F64, Device::Cpu(cpu)) => {
            Box::new(Local::<f64, _>::new(comm, device, cpu, choices, piece, basis, root)?)
        }
        (Precision::F64, Device::Gpu(gpu)) => {
            Box::new(Local::<f64, _>::new(comm, device, gpu, choices, piece, basis, root)?)
        }
        (Precision::F32, Device::Cpu(cpu)) => {
            Box::new(Local::<f32, _>::new(comm, device, cpu, choices, piece, basis, root)?)
        }
        (Precision::F32, Device::Gpu(gpu)) => {
            Box::new(Local::<f32, _>::new(comm, device, gpu, choices, piece, basis, root)?)
        }
    })
}

/// The part of one rank, in T on B.
struct Local<T: Real, B: Borders<T>> {
    backend: Distributed<B>,
    n: usize,
    nnz: usize,
    reason: String,
    matrix: DistributedMatrix<T, B>,
    m: Box<dyn Preconditioner<T, Distributed<B>>>,
    solver: Box<dyn IterativeSolver<T, Distributed<B>>>,
}

impl<T: Number, B: Computes<T> + Borders<T>> Local<T, B> {
    fn new(
        comm: &Arc<dyn Comm>,
        device: &Device,
        inner: &B,
        choices: &Choices,
        piece: Piece,
        basis: &[Vec<f64>],
        root: Option<Root>,
    ) -> Result<Self> {
        let backend = Distributed::connected::<T>(inner.clone(), comm.clone())?;
        let options = &choices.options;
        let (n, nnz) = (piece.local.n_rows(), piece.local.nnz() + piece.border.nnz());
        let (format, sigma, reason) = match n {
            0 => (Format::Crs, 1, String::new()),
            _ => {
                let choice = choose_format(&piece.local, options, false, device.target())?;
                (choice.format, choice.sigma, choice.reason)
            }
        };
        let a: Arc<Csr<T>> = T::matrix(&Arc::new(piece.local.clone()))?;
        let matrix = backend.rows(&Arc::new(AnyMatrix::from_csr(&a, format, sigma)?), &piece)?;
        let m = match choices.precond.description().has_hierarchy {
            true => Box::new(Gathered::new(
                inner,
                Self::whole(inner, root)?,
                options.amg.cycle != Some(Cycle::K),
            )?),
            false => Self::of_subdomain(&backend, choices, &a, &matrix, basis)?,
        };
        let solver = choices.method.make(&backend, &a, &*m, &options.method_parameters())?;
        inner.synchronize()?;
        Ok(Local { backend, n, nnz, reason, matrix, m, solver })
    }

    /// The preconditioner of the whole matrix, on rank 0.
    fn whole(inner: &B, root: Option<Root>) -> Result<Option<Whole<T, B>>> {
        let Some(Root { plan, partition, watch, times }) = root else { return Ok(None) };
        let a = T::matrix(&plan.a)?;
        let Operators { matrix, csr } = operators(plan, inner, &a, watch, times)?;
        Ok(Some((preconditioner(plan, inner, &a, csr, &matrix)?, partition.clone())))
    }

    fn of_subdomain(
        backend: &Distributed<B>,
        choices: &Choices,
        a: &Arc<Csr<T>>,
        matrix: &DistributedMatrix<T, B>,
        basis: &[Vec<f64>],
    ) -> Result<Box<dyn Preconditioner<T, Distributed<B>>>> {
        let make = || -> Result<Box<dyn Preconditioner<T, B>>> {
            if a.n_rows() == 0 {
                return Ok(Box::new(Identity));
            }
            let options = &choices.options;
            let parameters = &Parameters {
                block_size: options.block_size,
                singular_blocks: options.singular_blocks,
                amg: options.amg.clone(),
                ilu: options.ilu.clone(),
                near_null: None,
                hierarchy_in_f32: false,
                reusable: false,
            };
            let (backend, product) = (backend.inner(), matrix.local());
            choices.precond.make(Source { backend, a, csr: None, product, parameters })
        };
        // Nobody begins the reductions of a basis where another has come to an end.
        let m = if basis.is_empty() { make()? } else { agree_within(&**backend.comm(), make())? };
        let is_fused = (choices.precond.description().is_fused)(choices.options.block_size);
        let m = Box::new(Subdomain::new(m, is_fused));
        if basis.is_empty() {
            return Ok(m);
        }
        let vector = |v: &Vec<f64>| backend.vector(&rounded(v));
        let basis = basis.iter().map(vector).collect::<Result<_>>()?;
        Ok(Box::new(Projected::with_basis(backend, m, basis)?))
    }
}

fn rounded<T: Real>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&v| T::from_f64(v)).collect()
}

impl<T: Number, B: Computes<T> + Borders<T>> Part for Local<T, B> {
    fn solve(
        &mut self,
        b: &[f64],
        start: Option<&[f64]>,
        stop: &Stop,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Solved> {
        let Local { backend, matrix, m, solver, .. } = self;
        let b = backend.vector(&rounded::<T>(b))?;
        let mut x = match start {
            None => backend.zeros(self.n)?,
            Some(x) => backend.vector(&rounded::<T>(x))?,
        };
        let before = backend.exchanged()?;
        let comm = backend.comm().clone();
        let mut observer = Agreed { comm: &*comm, observer };
        let outcome = solver.solve(backend, matrix, &mut **m, &b, &mut x, stop, &mut observer)?;
        let x = backend.to_host(&x)?.into_iter().map(Real::to_f64).collect();
        let vector = (self.n * size_of::<T>()) as u64;
        let parts = Parts { product: matrix.traffic() + 2 * vector, vector, m: m.traffic(vector) };
        let bytes_moved = solver.traffic(outcome.iterations, &parts);
        Ok(Solved { x, outcome, exchanged: backend.exchanged()?.since(before), bytes_moved })
    }

    fn is_connected(&self) -> bool {
        self.backend.is_connected()
    }
    fn storage(&self) -> Storage {
        Storage::of(&self.matrix, self.nnz, &self.reason)
    }
    fn hierarchy(&self) -> Option<&amg::Info> {
        self.m.hierarchy()
    }
    fn factors(&self) -> Option<&ilu::Info> {
        self.m.factors()
    }
}
