//! What a rank has set up, and solves with.

use std::sync::Arc;

use cuda_std::Real;

use super::observer::Agreed;
use super::orders::Choices;
use crate::backend::distributed::{Borders, Distributed, DistributedMatrix, Exchanged};
use crate::backend::{Memory, Operator, Storage};
use crate::comm::{Comm, Partition, Piece};
use crate::error::Result;
use crate::job::plan::{Plan, choose_format};
use crate::job::progress::Watch;
use crate::job::setup::{Computes, Number, Operators, Times, operators, preconditioner};
use crate::job::{Device, Precision, Precond};
use crate::matrix::{AnyMatrix, Csr, Format};
use crate::precond::amg::Cycle;
use crate::precond::{
    Gathered, Identity, JacobiSweeps, Preconditioner, Projected, Source, Subdomain, Whole, amg, ilu,
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
    matrix: Arc<DistributedMatrix<T, B>>,
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
        let backend = Distributed::new(inner.clone(), comm.clone());
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
        let rows = backend.rows(&Arc::new(AnyMatrix::from_csr(&a, format, sigma)?), &piece)?;
        let matrix = Arc::new(rows);
        let m = match choices.precond.description().has_hierarchy {
            true => Box::new(Gathered::new(
                inner,
                Self::whole(inner, root)?,
                options.amg.cycle != Some(Cycle::K),
            )?),
            false => Self::of_rows(&backend, choices, &a, &matrix, basis)?,
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

    /// The preconditioner that is made of each rank's rows, kept out of the null space.
    fn of_rows(
        backend: &Distributed<B>,
        choices: &Choices,
        a: &Arc<Csr<T>>,
        matrix: &Arc<DistributedMatrix<T, B>>,
        basis: &[Vec<f64>],
    ) -> Result<Box<dyn Preconditioner<T, Distributed<B>>>> {
        let m: Box<dyn Preconditioner<T, Distributed<B>>> = match choices.precond {
            // Its products are those of the whole matrix.
            Precond::JacobiSweeps => {
                let parameters = &choices.options.preconditioner_parameters();
                Box::new(JacobiSweeps::setup(backend, a, matrix.clone(), parameters)?)
            }
            _ => Self::of_subdomain(backend.inner(), choices, a, matrix.local())?,
        };
        if basis.is_empty() {
            return Ok(m);
        }
        let vector = |v: &Vec<f64>| backend.vector(&rounded(v));
        let basis = basis.iter().map(vector).collect::<Result<_>>()?;
        Ok(Box::new(Projected::with_basis(backend, m, basis)?))
    }

    fn of_subdomain(
        backend: &B,
        choices: &Choices,
        a: &Arc<Csr<T>>,
        product: &Arc<B::Matrix>,
    ) -> Result<Box<dyn Preconditioner<T, Distributed<B>>>> {
        let parameters = &choices.options.preconditioner_parameters();
        let m: Box<dyn Preconditioner<T, B>> = match a.n_rows() {
            0 => Box::new(Identity),
            _ => choices.precond.make(Source { backend, a, csr: None, product, parameters })?,
        };
        let is_fused = (choices.precond.description().is_fused)(choices.options.block_size);
        Ok(Box::new(Subdomain::new(m, is_fused)))
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
        let before = backend.exchanged();
        let comm = backend.comm().clone();
        let mut observer = Agreed { comm: &*comm, observer };
        let outcome = solver.solve(backend, matrix, &mut **m, &b, &mut x, stop, &mut observer)?;
        let x = backend.to_host(&x)?.into_iter().map(Real::to_f64).collect();
        let vector = (self.n * size_of::<T>()) as u64;
        let parts = Parts { product: matrix.traffic() + 2 * vector, vector, m: m.traffic(vector) };
        let bytes_moved = solver.traffic(outcome.iterations, &parts);
        Ok(Solved { x, outcome, exchanged: backend.exchanged().since(before), bytes_moved })
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
