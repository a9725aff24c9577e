//! The near-null space of a level, and the aggregation of nodes of several unknowns.

use cuda_std::Real;

use crate::backend::Memory;
use crate::error::Result;
use crate::precond::amg::near_null::NearNull;
use crate::setup::{Algebra, Blocks, Matrices, Orthonormal};

/// The near-null space of a level.
pub(in crate::precond::amg) struct Space<V, I> {
    /// Its vectors.
    pub vectors: Vec<V>,
    /// `None` where each unknown is a node.
    pub nodes: Option<Nodes<I>>,
    /// Whether it is more than the constant 1.
    pub is_general: bool,
}

/// The nodes of a level.
pub(in crate::precond::amg) struct Nodes<I> {
    /// The node of each unknown.
    pub of: I,
    pub count: usize,
}

/// The space where a backend computes.
pub(in crate::precond::amg) type SpaceOf<T, B> = Space<<B as Memory<T>>::Vector, <B as Matrices<T>>::Indices>;

/// That of the finest level, whose matrix is `a`.
pub(in crate::precond::amg) fn finest<T: Real, B: Algebra<T>>(
    backend: &B,
    a: &B::Csr,
    near_null: &NearNull,
) -> Result<SpaceOf<T, B>> {
    let unknowns = near_null.unknowns();
    let nodes = || Ok(Nodes { of: backend.nodes(a, unknowns)?, count: backend.size(a).n_rows / unknowns });
    Ok(Space {
        vectors: vectors(backend, near_null.vectors())?,
        nodes: (unknowns > 1).then(nodes).transpose()?,
        is_general: !near_null.is_constant(),
    })
}

/// Vectors where a backend computes.
pub(in crate::precond::amg) fn vectors<T: Real, B: Algebra<T>>(
    backend: &B,
    vectors: &[Vec<f64>],
) -> Result<Vec<B::Vector>> {
    let vector = |v: &Vec<f64>| backend.vector(&v.iter().map(|&x| T::from_f64(x)).collect::<Vec<T>>());
    vectors.iter().map(vector).collect()
}

/// What nodes are aggregated by, where a node has several unknowns: the sums of the magnitudes in the blocks
/// that couple two nodes.
pub(in crate::precond::amg) fn norms<T: Real, B: Algebra<T>>(
    backend: &B,
    a: &B::Csr,
    space: &SpaceOf<T, B>,
) -> Result<Option<B::Csr>> {
    let Some(nodes) = &space.nodes else { return Ok(None) };
    let of = backend.tentative(&nodes.of, nodes.count)?;
    let by_columns = backend.product(&backend.magnitudes(a)?, &of)?;
    let norms = backend.product(&backend.transpose(&of)?, &by_columns)?;
    backend.surrounded(&Blocks::scalar(norms)).map(|norms| Some(norms.first().clone()))
}

/// The interpolation that holds `space`, from aggregates of nodes; the space becomes that of the coarser
/// level.
pub(in crate::precond::amg) fn tentative<T: Real, B: Algebra<T>>(
    backend: &B,
    aggregates: B::Indices,
    count: usize,
    space: &mut SpaceOf<T, B>,
) -> Result<B::Csr> {
    let aggregates = match &space.nodes {
        Some(nodes) => backend.gather(&aggregates, &nodes.of)?,
        None => aggregates,
    };
    let constant = backend.tentative(&aggregates, count)?;
    let Orthonormal { p, vectors, aggregates } = backend.orthonormal(&constant, &space.vectors)?;
    space.vectors = vectors;
    space.nodes = space.nodes.is_some().then_some(Nodes { of: aggregates, count });
    Ok(p)
}
