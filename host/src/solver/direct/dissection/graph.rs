//! Graphs, their parts, and coarser ones.

use std::cmp::Reverse;
use std::collections::HashMap;

use arithmetic::noise::hash;

use super::super::columns::Columns;

/// A vertex that has no place.
const NONE: u32 = u32::MAX;

/// An undirected graph. Vertices and edges weigh as much as what was put together in them.
#[derive(Debug)]
pub struct Graph {
    /// Where the edges of each vertex begin, and where the last ones end.
    first: Vec<usize>,
    /// Neighbours, and the weight of the edge to each.
    edges: Vec<(u32, u32)>,
    /// Weights of the vertices.
    weights: Vec<u32>,
}

impl Graph {
    /// That of a symmetric matrix, whose columns with the same entries are one vertex; and which these are.
    pub fn of_columns(a: &Columns) -> (Graph, Vec<Vec<u32>>) {
        let mut vertex_of: HashMap<&[usize], u32> = HashMap::new();
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut vertices = Vec::with_capacity(a.n);
        for j in 0..a.n {
            let vertex = *vertex_of.entry(a.rows(j)).or_insert(members.len() as u32);
            if vertex as usize == members.len() {
                members.push(Vec::new());
            }
            members[vertex as usize].push(j as u32);
            vertices.push(vertex);
        }
        let weights = members.iter().map(|members| members.len() as u32).collect();
        let graph = Graph::collected(weights, |v, add| {
            let others = a.rows(members[v][0] as usize).iter().map(|&i| vertices[i]);
            others.filter(|&other| other as usize != v).for_each(|other| add(other, 1));
        });
        (graph, members)
    }

    /// With the edges that `of` adds for each vertex. Those to one vertex become one.
    fn collected(weights: Vec<u32>, of: impl Fn(usize, &mut dyn FnMut(u32, u32))) -> Graph {
        let n = weights.len();
        let mut graph = Graph { first: vec![0], edges: Vec::new(), weights };
        // Behind the edge to each vertex that was added last.
        let mut place = vec![0; n];
        for v in 0..n {
            let (begin, edges) = (graph.edges.len(), &mut graph.edges);
            of(v, &mut |other, weight| match place[other as usize] {
                behind if behind > begin => edges[behind - 1].1 += weight,
                _ => {
                    edges.push((other, weight));
                    place[other as usize] = edges.len();
                }
            });
            graph.first.push(graph.edges.len());
        }
        graph
    }

    /// Vertices.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Where the edges of each vertex begin, and where the last ones end.
    pub fn first(&self) -> &[usize] {
        &self.first
    }

    /// Where they lead.
    pub fn others(&self) -> Vec<usize> {
        self.edges.iter().map(|&(other, _)| other as usize).collect()
    }

    /// The neighbours of a vertex, and the weight of the edge to each.
    pub fn neighbours(&self, v: u32) -> &[(u32, u32)] {
        &self.edges[self.first[v as usize]..self.first[v as usize + 1]]
    }

    pub fn weight(&self, v: u32) -> u64 {
        u64::from(self.weights[v as usize])
    }

    pub fn total_weight(&self) -> u64 {
        self.weights.iter().map(|&weight| u64::from(weight)).sum()
    }

    /// These vertices, which ascend, with the edges between them.
    pub fn part(&self, vertices: &[u32]) -> Graph {
        let mut place = vec![NONE; self.len()];
        vertices.iter().zip(0..).for_each(|(&v, k)| place[v as usize] = k);
        let weights = vertices.iter().map(|&v| self.weights[v as usize]).collect();
        Graph::collected(weights, |k, add| {
            let neighbours = self.neighbours(vertices[k]).iter();
            let inside = neighbours.map(|&(other, weight)| (place[other as usize], weight));
            inside.filter(|&(other, _)| other != NONE).for_each(|(other, weight)| add(other, weight));
        })
    }

    /// Neighbours put together in pairs, along the heaviest edges (Karypis and Kumar 1998) as long as they
    /// weigh no more than `most`; and the vertex that each one is in.
    pub fn coarsened(&self, most: u64) -> (Graph, Vec<u32>) {
        let mut pair_of = vec![NONE; self.len()];
        let mut pairs: Vec<[u32; 2]> = Vec::with_capacity(self.len());
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        // Those with few neighbours have the smallest choice; others come in no order.
        order.sort_unstable_by_key(|&v| (self.neighbours(v).len(), hash(v)));
        for v in order {
            if pair_of[v as usize] != NONE {
                continue;
            }
            let is_free = |&&(other, _): &&(u32, u32)| {
                pair_of[other as usize] == NONE && self.weight(v) + self.weight(other) <= most
            };
            let neighbours = self.neighbours(v).iter().filter(is_free);
            let heaviest =
                neighbours.max_by_key(|&&(other, weight)| (weight, Reverse(self.weight(other)), other));
            let other = heaviest.map_or(v, |&(other, _)| other);
            (pair_of[v as usize], pair_of[other as usize]) = (pairs.len() as u32, pairs.len() as u32);
            pairs.push([v, other]);
        }
        let members = |k: usize| {
            let [v, other] = pairs[k];
            std::iter::once(v).chain((other != v).then_some(other))
        };
        let weight = |k: usize| members(k).map(|v| self.weights[v as usize]).sum();
        let graph = Graph::collected((0..pairs.len()).map(weight).collect(), |k, add| {
            for &(other, weight) in members(k).flat_map(|v| self.neighbours(v)) {
                if pair_of[other as usize] as usize != k {
                    add(pair_of[other as usize], weight);
                }
            }
        });
        (graph, pair_of)
    }
}
