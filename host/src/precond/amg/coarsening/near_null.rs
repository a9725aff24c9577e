//! The near-null space of a level, and the aggregation of nodes of several unknowns.

use cuda_std::Real;

use crate::backend::Memory;
use crate::error::Result;
use crate::precond::amg::near_null::NearNull;
use crate::setup::{Algebra, Matrices, Orthonormal};

/// The near-null space of a level.
pub(in crate::precond::amg) struct Space<V, I> {
    /// Its vectors.
    vectors: Vec<V>,
    /// `None` where each unknown is a node.
    nodes: Option<Nodes<I>>,
    /// Whether it is more than the constant 1.
    pub is_general: bool,
}

/// The nodes of a level.
struct Nodes<I> {
    /// The node of each unknown.
    of: I,
    count: usize,
}

/// The space where a backend computes.
pub(in crate::precond::amg) type SpaceOf<T, B> = Space<<B as Memory<T>>::Vector, <B as Matrices<T>>::Indices>;

/// That of the finest level.
pub(in crate::precond::amg) fn finest<T: Real, B: Algebra<T>>(
    backend: &B,
    near_null: &NearNull,
) -> Result<SpaceOf<T, B>> {
    let unknowns = near_null.unknowns();
    let n = near_null.vectors()[0].len();
    let vector = |v: &Vec<f64>| backend.vector(&v.iter().map(|&x| T::from_f64(x)).collect::<Vec<T>>());
    let nodes = || {
        let of: Vec<u32> = (0..n).map(|i| (i / unknowns) as u32).collect();
        Ok(Nodes { of: backend.indices(&of)?, count: n / unknowns })
    };
    Ok(Space {
        vectors: near_null.vectors().iter().map(vector).collect::<Result<_>>()?,
        nodes: (unknowns > 1).then(nodes).transpose()?,
        is_general: !near_null.is_constant(),
    })
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
    backend.product(&backend.transpose(&of)?, &by_columns).map(Some)
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
    let members = backend.transpose(&backend.tentative(&aggregates, count)?)?;
    let Orthonormal { p, vectors, aggregates } =
        backend.orthonormal(&aggregates, &members, &space.vectors)?;
    space.vectors = vectors;
    space.nodes = space.nodes.is_some().then_some(Nodes { of: aggregates, count });
    Ok(p)
}
