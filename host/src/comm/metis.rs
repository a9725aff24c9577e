//! Partitions by METIS: multilevel k-way partitioning of a graph (Karypis and Kumar 1998, "Multilevel k-way
//! partitioning scheme for irregular graphs").

use std::sync::{Mutex, PoisonError};

use ::metis::{Graph, Idx, option};

use crate::error::{Error, Result};
use crate::matrix::Csr;

/// What METIS's choices by chance begin with: the same matrix, the same partition.
const SEED: Idx = 1;

/// Nodes of a part, at least: where there are hardly more nodes than parts METIS complains on stdout.
const LEAST_NODES: usize = 8;

/// The rank of each row of a square matrix; rows of a node, `block` each, stay together. What is minimised
/// are the entries of A that are cut; the nodes of each rank weigh about as much. Where there are fewer than
/// [`LEAST_NODES`] nodes for each rank some ranks get none.
///
/// # Errors
/// [`Error::Option`] where the matrix has more entries than METIS's 32-bit numbers count, or METIS fails.
pub(super) fn owners(
    a: &Csr<f64>,
    size: usize,
    block: usize,
    weight: impl Fn(usize) -> u64,
) -> Result<Vec<u32>> {
    let nodes = a.n_rows() / block;
    let parts = size.min(nodes / LEAST_NODES).max(1);
    if Idx::try_from(2 * a.nnz() + a.n_rows()).is_err() {
        return Err(Error::Option(format!(
            "METIS cannot partition a matrix of {} entries, as it counts in 32 bits; --partition rcm can",
            a.nnz()
        )));
    }
    let graph = graph_of_nodes(a, block);
    let first: Vec<Idx> = graph.row_ptr().iter().map(|&p| p as Idx).collect();
    let neighbours: &[Idx] = bytemuck::cast_slice(graph.col_idx());
    let entries: Vec<Idx> = graph.values().iter().map(|&count| count as Idx).collect();
    let weights: Vec<Idx> = (0..nodes).map(|node| weight(node) as Idx).collect();
    let mut part = vec![0; nodes];
    one_at_a_time(|| {
        let graph = Graph::new(1, parts as Idx, &first, neighbours).map_err(refused)?;
        let graph = graph.set_vwgt(&weights).set_adjwgt(&entries).set_option(option::Seed(SEED));
        graph.part_kway(&mut part).map_err(refused)
    })?;
    Ok(part.iter().flat_map(|&rank| std::iter::repeat_n(rank as u32, block)).collect())
}

/// The graph of the nodes of `A + A^T`: row i has the neighbours of node i, without itself, each with the
/// number of entries of A between the two.
fn graph_of_nodes(a: &Csr<f64>, block: usize) -> Csr<f32> {
    let (nodes, transpose) = (a.n_rows() / block, a.transpose());
    let edges = |node: usize| {
        let both = |i: usize| a.row(i).0.iter().chain(transpose.row(i).0);
        let columns = (node * block..(node + 1) * block).flat_map(both);
        let others = columns.map(|&j| j / block as u32).filter(|&other| other as usize != node);
        let mut others: Vec<u32> = others.collect();
        others.sort_unstable();
        others
    };
    let same = |a: &u32, b: &u32| a == b;
    let fill = |node: usize, columns: &mut [u32], values: &mut [f32]| {
        for ((column, value), run) in columns.iter_mut().zip(values).zip(edges(node).chunk_by(same)) {
            (*column, *value) = (run[0], run.len() as f32);
        }
    };
    Csr::from_rows(nodes, nodes, |node| edges(node).chunk_by(same).count(), fill)
}

/// METIS draws from the C library's generator, which all threads of a process share.
fn one_at_a_time<R>(work: impl FnOnce() -> R) -> R {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// What METIS says; also where it was asked to end by SIGTERM, which it takes for an error while it runs.
fn refused(error: impl std::fmt::Display) -> Error {
    Error::Option(format!("METIS does not partition this matrix: {error}; --partition rcm does"))
}
