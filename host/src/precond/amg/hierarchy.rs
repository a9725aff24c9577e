//! The set-up: from a matrix to a hierarchy of ever smaller ones.

use std::sync::Arc;
use std::time::Instant;

use cuda_std::Real;

use super::params::{Coarsening, Params, Splitting};
use super::spectrum::{Diagonal, Spectrum, diagonal};
use crate::backend::algebra::{Algebra, Blocks, Strength, Truncation};
use crate::backend::host_algebra::{greedy_splitting, near_null_tentative};
use crate::error::Result;

/// A matrix and its way to the next coarser one.
pub struct Level<M, V> {
    /// The matrix.
    pub a: Blocks<M>,
    /// Interpolation from the next coarser level.
    pub p: Blocks<M>,
    /// Restriction to it, the transpose of `p`.
    pub r: Blocks<M>,
    /// `D^-1` of [`diagonal`].
    pub d: V,
    /// Of `D^-1 A`.
    pub spectrum: Spectrum,
    /// Where the first sweep after the coarser levels may be one pass with the interpolation, or numbers shall be computed anew.
    pub products: Option<Products<M>>,
}

/// Intermediate results of a level.
pub struct Products<M> {
    /// `A P`, until the assembly of the cycle makes the correction of it.
    pub ap: Blocks<M>,
    /// With smoothed aggregation of a matrix without blocks, where numbers shall be computed anew: `I - omega D^-1 A_F`,
    /// and the tentative interpolation.
    pub smoothed: Option<(M, M)>,
}

/// What a set-up is asked for beside its parameters.
pub struct Extras<T> {
    /// Vectors that smoothed aggregation shall interpolate well, in place of the constant 1.
    pub near_null: Option<Vec<Vec<T>>>,
    /// Whether levels keep all of their [`Products`].
    pub keep: bool,
}

/// All levels but the coarsest, the coarsest matrix, and what the phases took.
pub struct Hierarchy<M, V> {
    /// From the finest on.
    pub levels: Vec<Level<M, V>>,
    /// The last matrix.
    pub coarsest: Blocks<M>,
    /// Seconds by phase.
    pub phases: Phases,
}

/// Seconds of the set-up's phases, over all levels, in the order in which they first came.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Phases(Vec<(&'static str, f64)>);

impl Phases {
    /// (phase, seconds).
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.0.iter().copied()
    }

    /// Runs `work`, waits for it, and books its time.
    pub(super) fn time<T: Real, B: Algebra<T>, R>(
        &mut self,
        backend: &B,
        phase: &'static str,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let start = Instant::now();
        let result = work()?;
        backend.synchronize()?;
        let seconds = start.elapsed().as_secs_f64();
        match self.0.iter_mut().find(|(name, _)| *name == phase) {
            Some((_, sum)) => *sum += seconds,
            None => self.0.push((phase, seconds)),
        }
        Ok(result)
    }
}

/// Coarsens `a` until it is small, cannot be coarsened, or barely shrinks. `product` is the same matrix ready to be
/// multiplied, where there is one already.
pub fn build<T: Real, B: Algebra<T>>(
    backend: &B,
    a: Blocks<B::Csr>,
    product: Option<&B::Matrix>,
    params: &Params,
    mut extras: Extras<T>,
) -> Result<Hierarchy<B::Csr, B::Vector>> {
    let keep = extras.keep;
    let mut phases = Phases::default();
    let mut levels = Vec::new();
    let mut a = a;
    let block = a.block();
    let alone = params.has_outlying_rows() && !is_general(&extras.near_null);
    while block * backend.size(a.first()).n_rows > params.coarse_rows && levels.len() + 1 < params.max_levels
    {
        let rows = backend.size(a.first()).n_rows;
        let product = product.filter(|_| levels.is_empty());
        let of_smoother = phases.time(backend, "spectral radius", || {
            diagonal(backend, &a, product, params.lanczos_steps, alone)
        })?;
        let (p, smoothed) = if block == 1 {
            let a = a.first();
            let (p, smoothed) =
                interpolation(backend, a, &of_smoother, levels.len(), params, &mut extras, &mut phases)?;
            (Blocks::scalar(p), smoothed)
        } else {
            let spectrum = of_smoother.spectrum;
            (block_interpolation(backend, &a, spectrum, levels.len(), params, &mut phases)?, None)
        };
        let Diagonal { inverse: d, spectrum, .. } = of_smoother;
        let coarse_rows = backend.size(p.first()).n_cols;
        if coarse_rows == 0 || coarse_rows as f64 > params.stall * rows as f64 {
            break;
        }
        let r = phases.time(backend, "transpose", || transpose(backend, &p))?;
        let (ap, coarser) = phases.time(backend, "Galerkin product", || {
            let ap = multiply(backend, &a, &p)?;
            let mut coarser = multiply(backend, &r, &ap)?;
            overcorrect(backend, params, levels.len(), &mut coarser)?;
            Ok((ap, coarser))
        })?;
        let nnz = |m: &Blocks<B::Csr>| backend.size(m.first()).nnz;
        let products = (keep || sweeps_while_interpolating(params, block, nnz(&ap), nnz(&a) + nnz(&p)))
            .then_some(Products { ap, smoothed });
        levels.push(Level { a, p, r, d, spectrum, products });
        a = coarser;
    }
    Ok(Hierarchy { levels, coarsest: a, phases })
}

/// What the Galerkin product of `level` is divided by.
pub fn overcorrect<T: Real, B: Algebra<T>>(
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

/// Whether the first sweep after the coarser levels shall be one pass with the interpolation, a product with the `fused`
/// entries of A P, where A and P are worth `apart` entries. Not for blocks.
pub fn sweeps_while_interpolating(params: &Params, block: usize, fused: usize, apart: usize) -> bool {
    params.post > 0 && block == 1 && fused <= apart
}

/// `A B`: `C^kl = sum_m A^km B^ml`.
fn multiply<T: Real, B: Algebra<T>>(
    backend: &B,
    a: &Blocks<B::Csr>,
    b: &Blocks<B::Csr>,
) -> Result<Blocks<B::Csr>> {
    let first = backend.product(a.first(), b.first())?;
    let block = a.block();
    let mut planes = vec![first];
    for kl in 1..block * block {
        let mut plane = backend.zeros_like(&planes[0])?;
        backend.product_values(a.plane(kl / block, 0), b.plane(0, kl % block), &mut plane)?;
        planes.push(plane);
    }
    for (kl, plane) in planes.iter_mut().enumerate() {
        for m in 1..block {
            backend.add_product(a.plane(kl / block, m), b.plane(m, kl % block), plane)?;
        }
    }
    Ok(Blocks::of_planes(planes))
}

/// The transpose, of the blocks too.
fn transpose<T: Real, B: Algebra<T>>(backend: &B, a: &Blocks<B::Csr>) -> Result<Blocks<B::Csr>> {
    let block = a.block();
    let mut planes = vec![backend.transpose(a.first())?];
    for kl in 1..block * block {
        let mut plane = backend.zeros_like(&planes[0])?;
        backend.transpose_values(a.plane(kl % block, kl / block), &mut plane)?;
        planes.push(plane);
    }
    Ok(Blocks::of_planes(planes))
}

/// The interpolation of a matrix of blocks: aggregates or coarse nodes are those of its norm matrix (Rosenberger and
/// Haase 2017, section 9.3), and unknowns of a kind are interpolated from each other. With smoothed aggregation that is
/// multiplied by `I - omega D^-1 A_F`, D and A_F in blocks; otherwise it is `diag(1 / n_i, ..)` over the `n_i` coarse nodes
/// that node i is strongly connected to (section 10.1).
fn block_interpolation<T: Real, B: Algebra<T>>(
    backend: &B,
    a: &Blocks<B::Csr>,
    spectrum: Spectrum,
    level: usize,
    params: &Params,
    phases: &mut Phases,
) -> Result<Blocks<B::Csr>> {
    let block = a.block();
    let threshold = params.threshold(level);
    let strength = match params.coarsening {
        Coarsening::SmoothedAggregation | Coarsening::MandelBrezina => {
            Strength::Symmetric { epsilon: threshold, lumped: false }
        }
        Coarsening::Pmis => Strength::Classical { theta: threshold },
    };
    let s = phases.time(backend, "strength", || backend.strength(&backend.norms(a)?, strength))?;
    if params.coarsening != Coarsening::SmoothedAggregation {
        let coarse = phases.time(backend, "splitting", || match params.coarsening {
            Coarsening::Pmis => {
                let st = backend.transpose(&s)?;
                backend.independent_set(&s, Some(&st), 1, true, None)
            }
            _ => mandel_brezina(backend, &s, params),
        })?;
        return phases.time(backend, "interpolation", || {
            let p = backend.averaging(&s, &coarse)?;
            // The same for every unknown of a node.
            let plane =
                |kl: usize| if kl / block == kl % block { Ok(p.clone()) } else { backend.zeros_like(&p) };
            Ok(Blocks::of_planes((0..block * block).map(plane).collect::<Result<_>>()?))
        });
    }
    let (aggregates, count) = phases.time(backend, "aggregation", || {
        let roots = backend.independent_set(&s, None, 2, false, None)?;
        backend.aggregate(&s, &roots)
    })?;
    phases.time(backend, "interpolation", || {
        let mut smoothed = a.map(|plane| {
            let mut filtered = backend.zeros_like(&s)?;
            backend.strength_values(plane, true, &mut filtered)?;
            Ok(filtered)
        })?;
        let d = backend.invert_diagonal(&smoothed)?;
        backend.damp_blocks(&mut smoothed, &d, damping(params, spectrum))?;
        let tentative = backend.tentative(&aggregates, count)?;
        let first = backend.product(smoothed.first(), &tentative)?;
        let mut planes = vec![first];
        for plane in &smoothed.planes()[1..] {
            let mut p = backend.zeros_like(&planes[0])?;
            backend.product_values(plane, &tentative, &mut p)?;
            planes.push(p);
        }
        Ok(Blocks::of_planes(planes))
    })
}

/// The coarse unknowns of Mandel and Brezina's splitting.
fn mandel_brezina<T: Real, B: Algebra<T>>(backend: &B, s: &B::Csr, params: &Params) -> Result<B::Indices> {
    match params.splitting {
        Splitting::Parallel => backend.independent_set(s, None, 1, true, None),
        Splitting::Greedy => backend.indices(&greedy_splitting(&*backend.csr_to_host(s)?)),
    }
}

/// What smoothed aggregation multiplies `D^-1 A_F` by: less for a matrix that is not symmetric. Where D^-1 A turns what it is
/// applied to, a step of it does not smooth.
pub fn damping<T: Real>(params: &Params, spectrum: Spectrum) -> T {
    T::from_f64(params.prolongation_omega / spectrum.radius * spectrum.eccentricity_squared().max(0.0))
}

/// The interpolation, and with smoothed aggregation, where that shall be kept, what it is the product of. The near-null space
/// of `extras` becomes that of the coarser level.
#[allow(clippy::type_complexity)]
fn interpolation<T: Real, B: Algebra<T>>(
    backend: &B,
    a: &B::Csr,
    of_smoother: &Diagonal<B::Vector>,
    level: usize,
    params: &Params,
    extras: &mut Extras<T>,
    phases: &mut Phases,
) -> Result<(B::Csr, Option<(B::Csr, B::Csr)>)> {
    let Extras { near_null, keep } = extras;
    let threshold = params.threshold(level);
    let p = match params.coarsening {
        Coarsening::SmoothedAggregation => {
            let strength = Strength::Symmetric { epsilon: threshold, lumped: true };
            let mut s = phases.time(backend, "strength", || backend.strength(a, strength))?;
            let outlying = of_smoother.outlying.as_ref();
            let (aggregates, count) = phases.time(backend, "aggregation", || {
                let roots = backend.independent_set(&s, None, 2, false, outlying)?;
                backend.aggregate(&s, &roots)
            })?;
            if is_general(near_null) {
                // Lumping keeps A 1, but not A times another vector: then all entries stay.
                let all = Strength::Symmetric { epsilon: 0.0, lumped: true };
                s = phases.time(backend, "strength", || backend.strength(a, all))?;
            }
            // P = (I - omega D^-1 A_F) P_0; lumping weak entries moves the radius little.
            return phases.time(backend, "interpolation", || {
                let omega = damping(params, of_smoother.spectrum);
                if near_null.is_none() && !*keep {
                    let p = backend.damped_and_aggregated(s, (omega, outlying), &aggregates, count)?;
                    return Ok((p, None));
                }
                backend.damp(&mut s, omega, outlying)?;
                let (p, tentative) = match near_null {
                    None => {
                        let p = backend.aggregated(&s, &aggregates, count)?;
                        (p, backend.tentative(&aggregates, count)?)
                    }
                    Some(vectors) => {
                        let aggregates = backend.indices_to_host(&aggregates)?;
                        let (tentative, coarse) = near_null_tentative(&aggregates, count, vectors);
                        *vectors = coarse;
                        let tentative = backend.csr(&Arc::new(tentative))?;
                        (backend.product(&s, &tentative)?, tentative)
                    }
                };
                Ok((p, keep.then_some((s, tentative))))
            });
        }
        Coarsening::MandelBrezina => {
            let strength = Strength::Symmetric { epsilon: threshold, lumped: false };
            let s = phases.time(backend, "strength", || backend.strength(a, strength))?;
            let coarse = phases.time(backend, "splitting", || mandel_brezina(backend, &s, params))?;
            phases.time(backend, "interpolation", || backend.averaging(&s, &coarse))?
        }
        Coarsening::Pmis => {
            let p = classical(backend, a, threshold, params, phases)?;
            if level as u32 >= params.aggressive {
                return Ok((p, None));
            }
            // The level in between is passed over: P = P_1 P_2.
            let between = phases.time(backend, "Galerkin product", || {
                let r = backend.transpose(&p)?;
                backend.product(&r, &backend.product(a, &p)?)
            })?;
            let second = classical(backend, &between, threshold, params, phases)?;
            phases.time(backend, "interpolation", || backend.product(&p, &second))?
        }
    };
    Ok((p, None))
}

/// Whether other vectors than a constant shall be interpolated well.
fn is_general<T: Real>(near_null: &Option<Vec<Vec<T>>>) -> bool {
    near_null.as_ref().is_some_and(|vectors| !is_constant(vectors))
}

/// Whether they are one vector of equal elements.
pub(super) fn is_constant<T: Real>(vectors: &[Vec<T>]) -> bool {
    matches!(vectors, [v] if v.iter().all(|x| *x == v[0]))
}

fn classical<T: Real, B: Algebra<T>>(
    backend: &B,
    a: &B::Csr,
    theta: f64,
    params: &Params,
    phases: &mut Phases,
) -> Result<B::Csr> {
    let s = phases.time(backend, "strength", || backend.strength(a, Strength::Classical { theta }))?;
    let coarse = phases.time(backend, "splitting", || {
        let st = backend.transpose(&s)?;
        backend.independent_set(&s, Some(&st), 1, false, None)
    })?;
    let truncation = Truncation { max_entries: params.max_entries, factor: params.truncation };
    phases.time(backend, "interpolation", || backend.extended_i(a, &s, &coarse, truncation))
}

#[cfg(test)]
mod tests {
    use super::super::{Amg, AnyPrecision, Place};
    use super::*;
    use crate::backend::cpu::Cpu;
    use crate::backend::gpu::Gpu;
    use crate::backend::reference::Reference;
    use crate::error::Error;
    use crate::matrix::{AnyMatrix, Csr};
    use crate::problem::generate;
    use crate::problem::random::uniform;
    use crate::solver::{Cg, IterativeSolver, Steps, Stop, StopReason};

    fn poisson(n: usize) -> Arc<Csr<f64>> {
        Arc::new(generate(&format!("poisson2d:{n}").parse().unwrap(), 1).unwrap())
    }

    fn params() -> Params {
        Params { coarse_rows: 10, ..Params::default() }
    }

    /// Iterations of CG; 1000 where it does not converge.
    fn iterations<B: AnyPrecision<f64> + Steps<f64>>(
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

    fn with_near_null<B: AnyPrecision<f64> + Steps<f64>>(
        g: &B,
        a: &Arc<Csr<f64>>,
        vectors: &[Vec<f64>],
    ) -> Amg<f64, f64, B> {
        Amg::setup_with_near_null(g, a, &params(), vectors).unwrap()
    }

    #[test]
    fn the_constant_gives_the_usual_hierarchy() {
        let (g, a) = (Reference::new(), poisson(21));
        for value in [1.0, -2.0] {
            for setup in [Place::Device, Place::Host] {
                let params = Params { setup, ..params() };
                let mut usual = Amg::<f64, f64, _>::setup(&g, &a, &params).unwrap();
                let mut m = Amg::setup_with_near_null(&g, &a, &params, &[vec![value; 441]]).unwrap();
                assert_eq!(m.info().levels, usual.info().levels);
                assert!(m.info().levels.len() > 2);
                assert_eq!(iterations(&g, &a, &mut m), iterations(&g, &a, &mut usual));
            }
        }
    }

    fn scaled<B: AnyPrecision<f64> + Steps<f64>>(g: &B, n: usize) {
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
        assert!(n < 20 || 2 * without > 3 * found, "{without} without, {found} with");
    }

    #[test]
    fn a_scaled_matrix_converges_with_its_scaled_constant() {
        scaled(&Reference::new(), 31);
        scaled(&Cpu::new(2).unwrap(), 25);
        scaled(&Gpu::simulated().unwrap(), 9);
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
                let (of_a, v) = a.row(i / 2);
                for k in 0..columns.len() {
                    columns[k] = 2 * of_a[k / 2] + (k % 2) as u32;
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

    #[test]
    fn unfit_vectors_are_refused() {
        let (g, a) = (Reference::new(), poisson(5));
        let refused = |params: &Params, vectors: &[Vec<f64>]| {
            Amg::<f64, f64, _>::setup_with_near_null(&g, &a, params, vectors).err().unwrap()
        };
        assert!(matches!(refused(&params(), &[]), Error::Option(_)));
        assert!(matches!(refused(&params(), &[vec![1.0; 24]]), Error::Dimension { found: 24, .. }));
        assert!(matches!(refused(&params(), &[vec![f64::NAN; 25]]), Error::NotFinite { .. }));
        let pmis = Params { coarsening: Coarsening::Pmis, ..params() };
        assert!(matches!(refused(&pmis, &[vec![1.0; 25]]), Error::Option(_)));
    }
}
