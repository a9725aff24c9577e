//! Nested dissection (George 1973): vertices that separate a graph come last, and what they leave on either
//! side is ordered in the same way.
//!
//! | file | what |
//! |---|---|
//! | `graph` | graphs, their parts, and coarser ones |
//! | `bisection` | two halves with few edges between them |
//! | `separator` | the fewest vertices on these |

use std::sync::atomic::{AtomicBool, Ordering};

use faer::sparse::SymbolicSparseColMatRef;

use super::columns::Columns;
use super::minimum_degree::approximate;
use crate::error::Result;
use bisection::bisected;
use graph::Graph;
use separator::{Part, separated};

mod bisection;
mod graph;
mod separator;

/// Vertices that are not dissected any further.
const LEAF: usize = 200;
/// Vertices with more neighbours than so many times the square root of their number come last.
const DENSE: f64 = 10.0;

/// The order in which the columns of a symmetric matrix are eliminated. `a` has both triangles, and a
/// diagonal. The graph alone decides, whatever the number of threads. Once `is_left` it is soon any order.
pub fn nested_dissection(a: &Columns, is_left: &AtomicBool) -> Result<Vec<usize>> {
    let (graph, members) = Graph::of_columns(a);
    let most = DENSE * (graph.len() as f64).sqrt();
    let (dense, sparse): (Vec<u32>, Vec<u32>) =
        (0..graph.len() as u32).partition(|&v| graph.neighbours(v).len() as f64 > most);
    let mut order = dissected(graph.part(&sparse), sparse, is_left)?;
    order.extend(dense);
    Ok(order.into_iter().flat_map(|v| members[v as usize].iter().map(|&j| j as usize)).collect())
}

/// The vertices of a graph, which have these names, in their order.
fn dissected(graph: Graph, names: Vec<u32>, is_left: &AtomicBool) -> Result<Vec<u32>> {
    let named = |places: &[u32]| places.iter().map(|&v| names[v as usize]).collect::<Vec<u32>>();
    if graph.len() <= LEAF {
        return leaf(&graph, &names);
    }
    let halves = bisected(&graph, is_left);
    if is_left.load(Ordering::Relaxed) {
        return Ok(names);
    }
    let parts = separated(&graph, &halves)?;
    let of =
        |part: Part| -> Vec<u32> { (0..graph.len() as u32).filter(|&v| parts[v as usize] == part).collect() };
    let (first, second, separator) = (of(Part::First), of(Part::Second), of(Part::Separator));
    if first.is_empty() || second.is_empty() {
        return leaf(&graph, &names);
    }
    let half = |part: &[u32]| dissected(graph.part(part), named(part), is_left);
    let (before, behind) = rayon::join(|| half(&first), || half(&second));
    let mut order = before?;
    order.extend(behind?);
    order.extend(named(&separator));
    Ok(order)
}

/// By minimum degree.
fn leaf(graph: &Graph, names: &[u32]) -> Result<Vec<u32>> {
    let (n, others) = (graph.len(), graph.others());
    let pattern = SymbolicSparseColMatRef::new_unsorted_checked(n, n, graph.first(), None, &others);
    Ok(approximate(pattern)?.0.into_iter().map(|v| names[v]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Csr;
    use crate::problem::generate;
    use crate::problem::random::uniform;

    fn columns(problem: &str) -> Columns {
        Columns::of(&generate(&problem.parse().unwrap(), 1).unwrap())
    }

    fn is_permutation(order: &[usize]) -> bool {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        sorted.into_iter().eq(0..order.len())
    }

    #[test]
    fn every_column_is_ordered_once() {
        let disconnected: Vec<_> = (0..3000).map(|i| (i, i, 1.0)).collect();
        let star = (0..3000).flat_map(|i| [(i, i, 1.0), (0, i, 1.0), (i, 0, 1.0)]);
        let random = (0..9000u64).flat_map(|k| {
            let [i, j] = [2 * k, 2 * k + 1].map(|k| (1500.0 * uniform(3, k)) as usize);
            [(i, j, 1.0), (j, i, 1.0), (i, i, 1.0)]
        });
        let random = random.chain((0..1500).map(|i| (i, i, 1.0)));
        let matrices = [
            Csr::from_triplets(3000, 3000, disconnected).unwrap(),
            Csr::from_triplets(3000, 3000, star.collect::<Vec<_>>()).unwrap(),
            Csr::from_triplets(1500, 1500, random.collect::<Vec<_>>()).unwrap(),
            Csr::from_triplets(0, 0, []).unwrap(),
        ];
        for a in matrices.iter().map(Columns::of).chain([columns("elasticity:7"), columns("poisson2d:41")]) {
            let order = nested_dissection(&a, &AtomicBool::new(false)).unwrap();
            assert!(order.len() == a.n && is_permutation(&order), "{}", a.n);
        }
    }

    #[test]
    fn the_last_columns_separate_a_mesh() {
        let n = 40;
        let a = columns(&format!("poisson2d:{n}"));
        let order = nested_dissection(&a, &AtomicBool::new(false)).unwrap();
        let mut is_last = vec![false; a.n];
        order[a.n - n..].iter().for_each(|&j| is_last[j] = true);
        // What the first column is connected with, without those.
        let mut seen = vec![false; a.n];
        let mut queue = vec![order[0]];
        seen[order[0]] = true;
        while let Some(j) = queue.pop() {
            for &i in a.rows(j).iter().filter(|&&i| !is_last[i]) {
                if !std::mem::replace(&mut seen[i], true) {
                    queue.push(i);
                }
            }
        }
        let side = seen.iter().filter(|seen| **seen).count();
        assert!((a.n / 4..3 * a.n / 4).contains(&side), "{side} of {}", a.n);
    }
}
