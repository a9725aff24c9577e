//! The fewest vertices that all edges between two halves end at.

use super::graph::Graph;
use crate::analysis::Matching;
use crate::error::Result;
use crate::matrix::Csr;

/// Where a vertex is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// On one side,
    First,
    /// on the other,
    Second,
    /// or between them.
    Separator,
}

/// Where each vertex is, when the separator covers all edges between the halves. It is a minimum cover of
/// these edges, which follows from a maximum matching of their ends (Konig 1931): the ends in the first half
/// that alternating paths from unmatched ones do not reach, and those in the second that they do.
pub fn separated(graph: &Graph, is_second: &[bool]) -> Result<Vec<Part>> {
    let half = |v: u32| is_second[v as usize];
    let others = |v: u32| {
        let neighbours = graph.neighbours(v).iter().map(|&(other, _)| other);
        neighbours.filter(move |&other| half(other) != half(v))
    };
    let ends = |second: bool| -> Vec<u32> {
        (0..graph.len() as u32).filter(|&v| half(v) == second && others(v).next().is_some()).collect()
    };
    let (firsts, seconds) = (ends(false), ends(true));
    let mut place = vec![0; graph.len()];
    seconds.iter().enumerate().for_each(|(k, &v)| place[v as usize] = k);
    let edges = firsts
        .iter()
        .enumerate()
        .flat_map(|(k, &v)| others(v).map(move |other| (k, other)))
        .map(|(k, other)| (k, place[other as usize], 1.0));
    let between = Csr::from_triplets(firsts.len(), seconds.len(), edges.collect::<Vec<_>>())?;
    let (reached, reached_seconds) = Matching::of(&between).overdetermined(&between);
    let side = |&second: &bool| if second { Part::Second } else { Part::First };
    let mut parts: Vec<Part> = is_second.iter().map(side).collect();
    firsts.iter().for_each(|&v| parts[v as usize] = Part::Separator);
    reached.into_iter().for_each(|k| parts[firsts[k] as usize] = Part::First);
    reached_seconds.into_iter().for_each(|k| parts[seconds[k] as usize] = Part::Separator);
    Ok(parts)
}
