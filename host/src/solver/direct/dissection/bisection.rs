//! A graph in two halves with few edges between them: halves of a coarser graph, improved on each finer one
//! (Karypis and Kumar 1998).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::graph::Graph;

/// Vertices of a graph that is not made coarser.
const COARSEST: usize = 120;
/// The share of its vertices that a coarser graph has at most.
const SHRUNK: f64 = 0.9;
/// Halves of the coarsest graph that are begun, each elsewhere.
const STARTS: usize = 8;
/// Improvements of two halves at most.
const PASSES: usize = 6;
/// Moves that may make things worse before they become better.
const PATIENCE: usize = 120;
/// The share of all that a half may weigh.
const MOST: f64 = 0.55;

/// Whether each vertex is in the second half; of no use once `is_left`.
pub fn bisected(graph: &Graph, is_left: &AtomicBool) -> Vec<bool> {
    if is_left.load(Ordering::Relaxed) {
        return vec![false; graph.len()];
    }
    if graph.len() > COARSEST {
        // Vertices that are still so light that halves are.
        let (coarser, place) = graph.coarsened(graph.total_weight().div_ceil(COARSEST as u64 / 3));
        if coarser.len() as f64 <= SHRUNK * graph.len() as f64 {
            let halves = bisected(&coarser, is_left);
            let mut halves = Halves::new(graph, place.iter().map(|&k| halves[k as usize]).collect());
            halves.improve();
            return halves.is_second;
        }
    }
    let begun = |k: usize| {
        let mut halves = Halves::new(graph, grown(graph, (k * graph.len() / STARTS) as u32));
        halves.improve();
        halves
    };
    let best = (0..STARTS).map(begun).min_by_key(|halves| (halves.excess(), halves.cut));
    best.map_or_else(Vec::new, |halves| halves.is_second)
}

/// The second half is what is nearest to the vertex that is farthest from `near`.
fn grown(graph: &Graph, near: u32) -> Vec<bool> {
    let farthest = breadth_first(graph, near).last().copied().unwrap_or(near);
    let (mut is_second, mut weight) = (vec![false; graph.len()], 0);
    for v in breadth_first(graph, farthest) {
        if 2 * weight >= graph.total_weight() {
            break;
        }
        is_second[v as usize] = true;
        weight += graph.weight(v);
    }
    is_second
}

/// All vertices in the order of their distance from one, other connected parts behind its own.
fn breadth_first(graph: &Graph, start: u32) -> Vec<u32> {
    let mut is_seen = vec![false; graph.len()];
    let mut order = Vec::with_capacity(graph.len());
    for root in std::iter::once(start).chain(0..graph.len() as u32) {
        let mut next = order.len();
        if !std::mem::replace(&mut is_seen[root as usize], true) {
            order.push(root);
        }
        while next < order.len() {
            for &(other, _) in graph.neighbours(order[next]) {
                if !std::mem::replace(&mut is_seen[other as usize], true) {
                    order.push(other);
                }
            }
            next += 1;
        }
    }
    order
}

/// Vertices that may move, those that take the most out of the cut first. What has moved or changed since
/// stays in, and is passed over.
type Queue = BinaryHeap<(i64, Reverse<u32>)>;

/// Two halves.
struct Halves<'a> {
    graph: &'a Graph,
    is_second: Vec<bool>,
    /// What each half weighs, and may weigh.
    weights: [u64; 2],
    most: u64,
    /// What the edges between them weigh.
    cut: u64,
}

impl<'a> Halves<'a> {
    fn new(graph: &'a Graph, is_second: Vec<bool>) -> Self {
        let (mut weights, mut cut) = ([0, 0], 0);
        for v in 0..graph.len() as u32 {
            let half = is_second[v as usize];
            weights[usize::from(half)] += graph.weight(v);
            let across = graph.neighbours(v).iter().filter(|&&(other, _)| is_second[other as usize] != half);
            cut += across.map(|&(_, weight)| u64::from(weight)).sum::<u64>();
        }
        let total = graph.total_weight();
        let heaviest = (0..graph.len() as u32).map(|v| graph.weight(v)).max().unwrap_or(0);
        let most = ((MOST * total as f64) as u64).max(total / 2 + heaviest);
        Halves { graph, is_second, weights, most, cut: cut / 2 }
    }

    /// How much the heavier half weighs too much.
    fn excess(&self) -> u64 {
        self.weights[0].max(self.weights[1]).saturating_sub(self.most)
    }

    /// Moves vertices while that makes the cut smaller (Fiduccia and Mattheyses 1982).
    fn improve(&mut self) {
        for _ in 0..PASSES {
            if !self.pass() {
                break;
            }
        }
    }

    /// What moving each vertex would take out of the cut.
    fn gains(&self) -> Vec<i64> {
        let gain = |v: u32| {
            let half = self.is_second[v as usize];
            let sign = |other: u32| if self.is_second[other as usize] == half { -1 } else { 1 };
            self.graph.neighbours(v).iter().map(|&(other, weight)| sign(other) * i64::from(weight)).sum()
        };
        (0..self.graph.len() as u32).map(gain).collect()
    }

    /// Moves every vertex once at most, and takes back what has not made the cut smaller in the end; whether
    /// anything did.
    fn pass(&mut self) -> bool {
        let mut gains = self.gains();
        let mut has_moved = vec![false; self.graph.len()];
        let mut queues = [Queue::new(), Queue::new()];
        for v in 0..self.graph.len() as u32 {
            let half = self.is_second[v as usize];
            let is_between = |&(other, _): &(u32, u32)| self.is_second[other as usize] != half;
            if self.excess() > 0 || self.graph.neighbours(v).iter().any(is_between) {
                queues[usize::from(half)].push((gains[v as usize], Reverse(v)));
            }
        }
        let begin = (self.excess(), self.cut);
        let (mut best, mut kept, mut moves) = (begin, 0, Vec::new());
        while moves.len() < kept + PATIENCE {
            let Some(v) = self.next(&mut queues, &gains, &has_moved) else { break };
            has_moved[v as usize] = true;
            self.cut = (self.cut as i64 - gains[v as usize]) as u64;
            self.turn(v);
            moves.push(v);
            for &(other, weight) in self.graph.neighbours(v) {
                let is_same = self.is_second[other as usize] == self.is_second[v as usize];
                let change = 2 * i64::from(weight);
                gains[other as usize] += if is_same { -change } else { change };
                if !has_moved[other as usize] {
                    let half = usize::from(self.is_second[other as usize]);
                    queues[half].push((gains[other as usize], Reverse(other)));
                }
            }
            if (self.excess(), self.cut) < best {
                (best, kept) = ((self.excess(), self.cut), moves.len());
            }
        }
        moves[kept..].iter().rev().for_each(|&v| self.turn(v));
        self.cut = best.1;
        best < begin
    }

    /// Moves a vertex into the other half.
    fn turn(&mut self, v: u32) {
        let half = usize::from(self.is_second[v as usize]);
        self.weights[half] -= self.graph.weight(v);
        self.weights[1 - half] += self.graph.weight(v);
        self.is_second[v as usize] = half == 0;
    }

    /// The vertex to be moved next: of the half that weighs too much, or else of either one with room in the
    /// other.
    fn next(&self, queues: &mut [Queue; 2], gains: &[i64], has_moved: &[bool]) -> Option<u32> {
        let mut best: Option<(i64, u64, usize)> = None;
        for (half, queue) in queues.iter_mut().enumerate() {
            let is_old = |&(gain, Reverse(v)): &(i64, Reverse<u32>)| {
                has_moved[v as usize]
                    || gain != gains[v as usize]
                    || usize::from(self.is_second[v as usize]) != half
            };
            while queue.peek().is_some_and(is_old) {
                queue.pop();
            }
            let Some(&(gain, Reverse(v))) = queue.peek() else { continue };
            let is_too_heavy = self.weights[half] > self.most;
            let has_room = self.weights[1 - half] + self.graph.weight(v) <= self.most;
            let candidate = (gain, self.weights[half], half);
            if is_too_heavy {
                best = Some(candidate);
                break;
            }
            if has_room && best.is_none_or(|best| candidate > best) {
                best = Some(candidate);
            }
        }
        let (_, _, half) = best?;
        queues[half].pop().map(|(_, Reverse(v))| v)
    }
}
