//! The set-up: from a matrix to a hierarchy of ever smaller ones.

use std::sync::Arc;

use cuda_std::Real;

use super::coarsening::near_null::{self, SpaceOf};
use super::coarsening::{Finer, SetupOptions, block_interpolation, interpolation, smoothed_aggregation};
use super::params::{Coarsening, Params, SetupOn};
use super::phases::Phases;
use super::spectrum::{Diagonal, diagonal};
use crate::backend::cpu::Cpu;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::{Algebra, Blocks};

/// The matrices of a level, except for the coarsest, as they are computed. A `Level` is made of them.
pub struct LevelMatrices<M, V> {
    /// The matrix.
    pub a: Blocks<M>,
    /// Interpolation from the next coarser level.
    pub p: Blocks<M>,
    /// Restriction to it, the transpose of `p`.
    pub r: Blocks<M>,
    /// Its smoothing diagonal.
    pub diagonal: Diagonal<V>,
    /// Kept if the first sweep after the coarser levels may be one pass with the interpolation, or if the
    /// hierarchy will be updated.
    pub products: Option<IntermediateProducts<M>>,
}

/// Intermediate results of a level.
pub struct IntermediateProducts<M> {
    /// `A P`, until the level makes its correction of it.
    pub ap: Blocks<M>,
    /// The factors of P, if the hierarchy will be updated (smoothed aggregation of a matrix without blocks).
    pub(super) factors: Option<smoothed_aggregation::Factors<M>>,
}

/// All levels except for the coarsest, the coarsest matrix, and the times of the phases.
pub struct Hierarchy<M, V> {
    /// From the finest on.
    pub levels: Vec<LevelMatrices<M, V>>,
    /// The last matrix.
    pub coarsest: Blocks<M>,
    /// Seconds by phase.
    pub phases: Phases,
}

/// [`build`] where `params` says, with the result where `backend` computes.
pub fn build_where_asked<T: Real, B: Algebra<T>>(
    backend: &B,
    a: Blocks<B::Csr>,
    product: Option<&B::Matrix>,
    params: &Params,
    options: SetupOptions,
) -> Result<Hierarchy<B::Csr, B::Vector>> {
    match params.setup {
        SetupOn::Device => build(backend, a, product, params, options),
        SetupOn::Host => {
            let a = a.map(|plane| backend.csr_to_host(plane))?;
            let host = Cpu::shared();
            host.install(|| build::<T, Cpu>(&host, a, None, params, options))?.upload(backend)
        }
    }
}

/// What a hierarchy, or the rest of one, is made from.
pub(super) struct Begin<'a, T: Real, B: Algebra<T>> {
    /// Its finest matrix.
    pub a: Blocks<B::Csr>,
    /// The same, ready to be multiplied, where it is there already.
    pub product: Option<&'a B::Matrix>,
    /// What is to be interpolated well, instead of the constant 1.
    pub near_null: Option<SpaceOf<T, B>>,
}

/// Which levels of a hierarchy are made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Range {
    /// The number of the first, from 0, the finest.
    pub first: usize,
    /// Rows of a level, other than the finest, from which on it is one of them.
    pub least_rows: usize,
}

/// Coarsens `a` until it is small, cannot be coarsened, or barely shrinks. `product` is the same matrix ready
/// to be multiplied, where there is one already.
pub fn build<T: Real, B: Algebra<T>>(
    backend: &B,
    a: Blocks<B::Csr>,
    product: Option<&B::Matrix>,
    params: &Params,
    options: SetupOptions,
) -> Result<Hierarchy<B::Csr, B::Vector>> {
    let SetupOptions { near_null, keep } = options;
    let near_null = near_null.map(|space| near_null::finest(backend, a.first(), space)).transpose()?;
    let begin = Begin { a, product, near_null };
    build_range(backend, begin, params, keep, Range::default()).map(|(hierarchy, _)| hierarchy)
}

/// The levels in `range` of the hierarchy that begins so; the coarsest is the matrix of the next one, and
/// beside it is what that is to interpolate well. With `keep` levels keep their intermediate products.
#[allow(clippy::type_complexity)]
pub(super) fn build_range<T: Real, B: Algebra<T>>(
    backend: &B,
    Begin { mut a, product, mut near_null }: Begin<T, B>,
    params: &Params,
    keep: bool,
    range: Range,
) -> Result<(Hierarchy<B::Csr, B::Vector>, Option<SpaceOf<T, B>>)> {
    let mut phases = Phases::default();
    let mut levels = Vec::new();
    let block = a.block();
    let singletons = params.coarsening.properties().singletons
        && !near_null.as_ref().is_some_and(|space| space.is_general);
    loop {
        let (level, rows) = (range.first + levels.len(), backend.size(a.first()).n_rows);
        let is_last = block * rows <= params.coarse_rows || level + 1 >= params.max_levels;
        if is_last || level > 0 && block * rows < range.least_rows {
            break;
        }
        a = backend.surrounded(&a)?;
        let product = product.filter(|_| level == 0);
        let diagonal =
            phases.time(backend, "spectral radius", || diagonal(backend, &a, product, params, singletons))?;
        let finer = Finer { backend, a: &a, diagonal: &diagonal, level, params };
        let (mut p, mut factors) = match block {
            1 => interpolation(&finer, &mut near_null, keep, &mut phases)?,
            _ => (block_interpolation(&finer, &mut phases)?, None),
        };
        let coarse_rows = backend.size(p.first()).n_cols;
        if coarse_rows == 0 || coarse_rows as f64 > params.stall * rows as f64 {
            break;
        }
        let nnz = |m: &Blocks<B::Csr>| backend.size(m.first()).nnz;
        let mut galerkin = galerkin(backend, &a, &p, &mut phases)?;
        // Neighbourhoods of a graph that is none of a mesh grow from level to level.
        let is_full = nnz(&galerkin.coarser) > nnz(&a);
        if is_full
            && params.coarsening == Coarsening::SmoothedAggregation
            && block == 1
            && near_null.is_none()
        {
            (p, factors) = (smoothed_aggregation::plain_interpolation(&finer, &mut phases)?, None);
            galerkin = self::galerkin(backend, &a, &p, &mut phases)?;
        }
        let Galerkin { r, ap, mut coarser } = galerkin;
        overcorrect(backend, params, level, &mut coarser)?;
        let products = (keep || sweeps_while_interpolating(params, block, nnz(&ap), nnz(&a) + nnz(&p)))
            .then_some(IntermediateProducts { ap, factors });
        // Rows of slivers are for the interpolation alone.
        let diagonal = Diagonal { slivers: None, ..diagonal };
        levels.push(LevelMatrices { a, p, r, diagonal, products });
        a = coarser;
    }
    Ok((Hierarchy { levels, coarsest: a, phases }, near_null))
}

/// `R = P^T`, `A P` and `R A P`.
struct Galerkin<M> {
    r: Blocks<M>,
    ap: Blocks<M>,
    coarser: Blocks<M>,
}

fn galerkin<T: Real, B: Algebra<T>>(
    backend: &B,
    a: &Blocks<B::Csr>,
    p: &Blocks<B::Csr>,
    phases: &mut Phases,
) -> Result<Galerkin<B::Csr>> {
    let r = phases.time(backend, "transpose", || backend.transpose_of_blocks(p))?;
    phases.time(backend, "Galerkin product", || {
        let ap = backend.product_of_blocks(a, p)?;
        let coarser = backend.product_of_blocks(&r, &ap)?;
        Ok(Galerkin { r, ap, coarser })
    })
}

/// Divides the Galerkin product of `level` by [`Params::overcorrection`].
pub(super) fn overcorrect<T: Real, B: Algebra<T>>(
    backend: &B,
    params: &Params,
    level: usize,
    product: &mut Blocks<B::Csr>,
) -> Result<()> {
    let factor = params.overcorrection(level);
    if factor == 1.0 {
        return Ok(());
    }
    product
        .planes_mut()
        .iter_mut()
        .try_for_each(|plane| backend.scale_values(plane, T::from_f64(1.0 / factor)))
}

/// Whether the first sweep after the coarser levels is one pass with the interpolation: a product with the
/// `fused` entries of A P, instead of two with the `apart` entries of A and P. Not for blocks.
pub(super) fn sweeps_while_interpolating(params: &Params, block: usize, fused: usize, apart: usize) -> bool {
    params.post > 0 && block == 1 && fused <= apart
}

impl<T: Real> Hierarchy<Arc<Csr<T>>, Vec<T>> {
    /// A hierarchy computed on the host, where `backend` computes.
    fn upload<B: Algebra<T>>(self, backend: &B) -> Result<Hierarchy<B::Csr, B::Vector>> {
        let Hierarchy { levels, coarsest, mut phases } = self;
        let (levels, coarsest) = phases.time(backend, "upload", || {
            let levels = levels.iter().map(|level| level.upload(backend)).collect::<Result<_>>()?;
            Ok((levels, coarsest.map(|plane| backend.csr(plane))?))
        })?;
        Ok(Hierarchy { levels, coarsest, phases })
    }
}

impl<T: Real> LevelMatrices<Arc<Csr<T>>, Vec<T>> {
    fn upload<B: Algebra<T>>(&self, backend: &B) -> Result<LevelMatrices<B::Csr, B::Vector>> {
        let plane = |m: &Arc<Csr<T>>| backend.csr(m);
        let blocks = |m: &Blocks<Arc<Csr<T>>>| m.map(plane);
        let Diagonal { inverse, spectrum, .. } = &self.diagonal;
        let (a, p, r) = (blocks(&self.a)?, blocks(&self.p)?, blocks(&self.r)?);
        let diagonal = Diagonal { inverse: backend.vector(inverse)?, spectrum: *spectrum, slivers: None };
        let products = match &self.products {
            None => None,
            Some(IntermediateProducts { ap, factors }) => {
                let ap = blocks(ap)?;
                let factors = match factors {
                    None => None,
                    Some(smoothed_aggregation::Factors { smoother, tentative }) => {
                        let (smoother, tentative) = (plane(smoother)?, plane(tentative)?);
                        Some(smoothed_aggregation::Factors { smoother, tentative })
                    }
                };
                Some(IntermediateProducts { ap, factors })
            }
        };
        Ok(LevelMatrices { a, p, r, diagonal, products })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Amg, AnyPrecision, Coarsening, NearNull};
    use super::*;
    use crate::backend::cpu::Cpu;
    use crate::backend::gpu::Gpu;
    use crate::backend::reference::Reference;
    use crate::error::Error;
    use crate::matrix::{AnyMatrix, Csr};
    use crate::problem::generate;
    use crate::problem::random::uniform;
    use crate::solver::cg::CgSteps;
    use crate::solver::{Cg, IterativeSolver, Stop, StopReason};

    fn poisson(n: usize) -> Arc<Csr<f64>> {
        Arc::new(generate(&format!("poisson2d:{n}").parse().unwrap(), 1).unwrap())
    }

    fn params() -> Params {
        Params { coarse_rows: 10, ..Params::default() }
    }

    /// Iterations of CG; 1000 where it does not converge.
    fn iterations<B: AnyPrecision<f64> + CgSteps<f64>>(
        g: &B,
        a: &Arc<Csr<f64>>,
        m: &mut Amg<f64, f64, B>,
    ) -> u32 {
        let n = a.n_rows();
        let matrix = g.matrix(&Arc::new(AnyMatrix::Crs(a.clone()))).unwrap();
        let b: Vec<f64> = (0..n as u64).map(|i| uniform(3, i) - 0.4).collect();
        let (b, mut x) = (g.vector(&b).unwrap(), g.zeros(n).unwrap());
        let stop = Stop { max_iterations: 1000, ..Stop::default() };
        let mut cg = Cg::new(g, n, m).unwrap();
        let outcome = cg.solve(g, &matrix, m, &b, &mut x, &stop, &mut |_, _| ()).unwrap();
        if outcome.reason == StopReason::Converged { outcome.iterations } else { 1000 }
    }

    fn with_near_null<B: AnyPrecision<f64>>(
        g: &B,
        a: &Arc<Csr<f64>>,
        vectors: &[Vec<f64>],
    ) -> Amg<f64, f64, B> {
        Amg::setup_with_near_null(g, a, &params(), &NearNull::new(vectors.to_vec(), 1).unwrap()).unwrap()
    }

    #[test]
    fn the_constant_gives_the_usual_hierarchy() {
        let (g, a) = (Reference::new(), poisson(21));
        for value in [1.0, -2.0] {
            for setup in [SetupOn::Device, SetupOn::Host] {
                let params = Params { setup, ..params() };
                let mut usual = Amg::<f64, f64, _>::setup(&g, &a, &params).unwrap();
                let constant = NearNull::new(vec![vec![value; 441]], 1).unwrap();
                let mut m = Amg::setup_with_near_null(&g, &a, &params, &constant).unwrap();
                assert_eq!(m.info().levels, usual.info().levels);
                assert!(m.info().levels.len() > 2);
                assert_eq!(iterations(&g, &a, &mut m), iterations(&g, &a, &mut usual));
            }
        }
    }

    /// With the near-null space of the scaled matrix, CG takes fewer iterations than without by this factor.
    fn scaled<B: AnyPrecision<f64> + CgSteps<f64>>(g: &B, n: usize, gain: f64) {
        let a = poisson(n);
        let d: Vec<f64> = (0..(n * n) as u64).map(|i| 10f64.powf(2.0 * uniform(1, i) - 1.0)).collect();
        let scaled = Arc::new(Csr::from_rows(
            n * n,
            n * n,
            |i| a.row_len(i),
            |i, columns, values| {
                columns.copy_from_slice(a.row(i).0);
                for (value, (&j, v)) in values.iter_mut().zip(a.row(i).0.iter().zip(a.row(i).1)) {
                    *value = v / (d[i] * d[j as usize]);
                }
            },
        ));
        let mut usual = Amg::setup(g, &a, &params()).unwrap();
        let expected = iterations(g, &a, &mut usual);
        let found = iterations(g, &scaled, &mut with_near_null(g, &scaled, &[d]));
        assert!(found <= expected + 4, "{found} for {expected}");
        let without = iterations(g, &scaled, &mut Amg::setup(g, &scaled, &params()).unwrap());
        assert!(f64::from(without) > gain * f64::from(found), "{without} without, {found} with");
    }

    #[test]
    fn a_scaled_matrix_converges_with_its_scaled_constant() {
        scaled(&Reference::new(), 31, 1.5);
        scaled(&Cpu::new(2).unwrap(), 25, 1.5);
        scaled(&Gpu::simulated().unwrap(), 15, 1.2);
    }

    #[test]
    fn the_coarse_levels_of_a_graph_are_not_full() {
        use crate::problem::random::below;
        let n = 3000;
        let edges =
            (0..3 * n).map(|k| (k / 3, below(7, k as u64, n as u64) as usize)).filter(|(i, j)| i != j);
        let entries = edges.flat_map(|(i, j)| [(i, j, -1.0), (j, i, -1.0), (i, i, 1.0), (j, j, 1.0)]);
        let shift = (0..n).map(|i| (i, i, 1e-2));
        let a = Arc::new(Csr::from_triplets(n, n, entries.chain(shift)).unwrap());
        let g = Cpu::new(2).unwrap();
        let mut m = Amg::<f64, f64, _>::setup(&g, &a, &params()).unwrap();
        assert!(m.info().operator_complexity() < 2.5, "{}", m.info().operator_complexity());
        assert!(iterations(&g, &a, &mut m) < 60);
    }

    /// Two unknowns a point, coupled: A (x) [[1, 1/4], [1/4, 1]], with a constant for each.
    #[test]
    fn two_vectors_for_two_fields() {
        let (g, a) = (Reference::new(), poisson(21));
        let n = 2 * a.n_rows();
        let coupled = Arc::new(Csr::from_rows(
            n,
            n,
            |i| 2 * a.row_len(i / 2),
            |i, columns, values| {
                let (neighbours, v) = a.row(i / 2);
                for k in 0..columns.len() {
                    columns[k] = 2 * neighbours[k / 2] + (k % 2) as u32;
                    values[k] = if k % 2 == i % 2 { 1.0 } else { 0.25 } * v[k / 2];
                }
            },
        ));
        let field = |of: usize| (0..n).map(|i| f64::from((i % 2 == of) as u8)).collect::<Vec<_>>();
        let expected = iterations(&g, &a, &mut Amg::setup(&g, &a, &params()).unwrap());
        let mut m = with_near_null(&g, &coupled, &[field(0), field(1)]);
        assert!(m.info().levels.len() > 2);
        let found = iterations(&g, &coupled, &mut m);
        assert!(found <= expected + 4, "{found} for {expected}");
        let one = iterations(&g, &coupled, &mut Amg::setup(&g, &coupled, &params()).unwrap());
        assert!(one > found + 4, "{one} with one constant, {found} with two");
    }

    /// Points of a cubic lattice, each joined by springs to those at most one step away in every direction,
    /// and a wall behind the first layer; and the points' coordinates.
    fn lattice(nx: usize, ny: usize, nz: usize) -> (Arc<Csr<f64>>, Vec<Vec<f64>>) {
        let point = |i: usize| [i % nx, i / nx % ny, i / (nx * ny)].map(|x| x as f64);
        let n = nx * ny * nz;
        let mut triplets = Vec::new();
        let mut spring = |i: usize, j: Option<usize>, d: [f64; 3]| {
            let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
            for (k, l) in (0..9).map(|kl| (kl / 3, kl % 3)) {
                let v = d[k] * d[l] / length.powi(3);
                triplets.push((3 * i + k, 3 * i + l, v));
                if let Some(j) = j {
                    triplets.extend([(3 * j + k, 3 * j + l, v), (3 * i + k, 3 * j + l, -v)]);
                    triplets.push((3 * j + k, 3 * i + l, -v));
                }
            }
        };
        for i in 0..n {
            for j in 0..i {
                let d = [0, 1, 2].map(|k| point(i)[k] - point(j)[k]);
                if d.iter().all(|x| x.abs() <= 1.0) {
                    spring(i, Some(j), d);
                }
            }
            if point(i)[0] == 0.0 {
                for k in 0..3 {
                    spring(i, None, std::array::from_fn(|l| f64::from(k == l)));
                }
            }
        }
        let a = Csr::from_triplets(3 * n, 3 * n, triplets).unwrap();
        (Arc::new(a), (0..3).map(|k| (0..n).map(|i| point(i)[k]).collect()).collect())
    }

    fn rigid_motions<B: AnyPrecision<f64> + CgSteps<f64>>(
        g: &B,
        (nx, ny, nz): (usize, usize, usize),
        gain: f64,
    ) {
        let (a, x) = lattice(nx, ny, nz);
        let near_null = NearNull::rigid_motions(&x).unwrap();
        let params = Params { coarse_rows: 60, ..Params::default() };
        let mut m = Amg::setup_with_near_null(g, &a, &params, &near_null).unwrap();
        assert!(m.info().levels.len() > 1 && m.info().levels[1].rows.is_multiple_of(6), "{:?}", m.info());
        let found = iterations(g, &a, &mut m);
        let usual = iterations(g, &a, &mut Amg::setup(g, &a, &params).unwrap());
        assert!(found <= 25, "{found}");
        assert!(f64::from(usual) > gain * f64::from(found), "{usual} without, {found} with");
    }

    /// A bar of springs, clamped at one end.
    #[test]
    fn a_bar_converges_with_its_rigid_motions() {
        rigid_motions(&Reference::new(), (24, 4, 4), 2.0);
        rigid_motions(&Cpu::new(2).unwrap(), (40, 6, 6), 2.0);
        rigid_motions(&Gpu::simulated().unwrap(), (7, 3, 3), 1.0);
    }

    #[test]
    fn unfit_vectors_are_refused() {
        let (g, a) = (Reference::new(), poisson(5));
        let refused = |params: &Params, vectors: &[Vec<f64>]| {
            let near_null = NearNull::new(vectors.to_vec(), 1).unwrap();
            Amg::<f64, f64, _>::setup_with_near_null(&g, &a, params, &near_null).err().unwrap()
        };
        assert!(matches!(refused(&params(), &[vec![1.0; 24]]), Error::Dimension { found: 24, .. }));
        let pmis = Params { coarsening: Coarsening::Pmis, ..params() };
        assert!(matches!(refused(&pmis, &[vec![1.0; 25]]), Error::Option(_)));
    }
}
