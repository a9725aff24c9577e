//! The tentative interpolation of given vectors (Vanek, Mandel, Brezina 1996, section 4): on each aggregate
//! their QR decomposition.

use cuda_std::Real;
use rayon::prelude::*;

use crate::matrix::Csr;
use crate::precond::amg::near_null::NearNull;
use crate::setup::NO_AGGREGATE;

/// The vectors on one aggregate of m unknowns: `B = Q R` with `Q^T Q = m I`.
struct Factors<T> {
    rank: usize,
    /// Row by row, an unknown after another.
    q: Vec<T>,
    /// Row by row, `rank` rows of a value for each vector.
    r: Vec<T>,
}

/// Tentative interpolation `P` and coarse vectors with `P b_c = b` for each of `vectors`, on all unknowns
/// that belong to an aggregate. The coarse unknowns of an aggregate follow one another: one for each vector
/// that does not depend there on those before it.
///
/// The third value has the first coarse unknown of each aggregate, and behind the last one their number.
///
/// Columns of `P` are orthogonal, each of root mean square 1 over its aggregate. So the constant 1 gives
/// [`crate::setup::Aggregation::tentative`], to the last bit, and again the constant 1.
pub(in crate::precond::amg) fn tentative<T: Real>(
    aggregates: &[u32],
    n_aggregates: usize,
    vectors: &[Vec<T>],
) -> (Csr<T>, Vec<Vec<T>>, Vec<u32>) {
    let mut members = vec![Vec::new(); n_aggregates];
    let mut place = vec![0; aggregates.len()];
    for (i, &aggregate) in aggregates.iter().enumerate().filter(|(_, a)| **a != NO_AGGREGATE) {
        place[i] = members[aggregate as usize].len();
        members[aggregate as usize].push(i);
    }
    let factors: Vec<Factors<T>> = members.par_iter().map(|members| factorise(members, vectors)).collect();
    let mut first = vec![0u32];
    for factors in &factors {
        first.push(first[first.len() - 1] + factors.rank as u32);
    }
    let row = |i: usize| {
        let aggregate = aggregates[i] as usize;
        let (first, q) = match factors.get(aggregate) {
            Some(Factors { rank, q, .. }) => (first[aggregate], &q[place[i] * rank..(place[i] + 1) * rank]),
            None => (0, &[][..]),
        };
        (first..).zip(q.iter().copied()).filter(|(_, q)| *q != T::ZERO)
    };
    let p = Csr::from_rows(
        aggregates.len(),
        first[n_aggregates] as usize,
        |i| row(i).count(),
        |i, columns, values| {
            for (k, (column, q)) in row(i).enumerate() {
                (columns[k], values[k]) = (column, q);
            }
        },
    );
    let coarse = |k: usize| {
        factors.iter().flat_map(move |Factors { r, .. }| r.iter().skip(k).step_by(vectors.len()).copied())
    };
    let coarse = (0..vectors.len()).map(|k| coarse(k).collect()).collect();
    (p, coarse, first)
}

/// The near-null space of a level.
pub(in crate::precond::amg) struct Space<T> {
    /// Its vectors.
    pub vectors: Vec<Vec<T>>,
    /// The first unknown of each node, and behind the last one their number; `None` where each unknown is a
    /// node.
    pub nodes: Option<Vec<u32>>,
    /// Whether it is more than the constant 1.
    pub is_general: bool,
}

impl<T: Real> Space<T> {
    /// That of the finest level.
    pub fn new(near_null: &NearNull) -> Self {
        let in_t = |v: &Vec<f64>| v.iter().map(|&x| T::from_f64(x)).collect();
        let unknowns = near_null.unknowns();
        let n = near_null.vectors()[0].len();
        Space {
            vectors: near_null.vectors().iter().map(in_t).collect(),
            nodes: (unknowns > 1).then(|| (0..=n as u32).step_by(unknowns).collect()),
            is_general: !near_null.is_constant(),
        }
    }
}

/// The Frobenius norms of the blocks that couple two nodes, where the unknowns of node k are
/// `nodes[k]..nodes[k + 1]`: a number for each pair of nodes with an entry.
pub(in crate::precond::amg) fn norms<T: Real>(a: &Csr<T>, nodes: &[u32]) -> Csr<T> {
    let node = unknowns_to_nodes(nodes);
    let row = |k: usize| {
        let rows = nodes[k] as usize..nodes[k + 1] as usize;
        let entries = rows.flat_map(|i| a.row(i).0.iter().zip(a.row(i).1));
        let mut squares: Vec<(u32, f64)> =
            entries.map(|(&j, v)| (node[j as usize], v.to_f64() * v.to_f64())).collect();
        squares.sort_by_key(|(node, _)| *node);
        squares.dedup_by(|next, sum| {
            let same = next.0 == sum.0;
            sum.1 += if same { next.1 } else { 0.0 };
            same
        });
        squares
    };
    let n = nodes.len() - 1;
    let rows: Vec<Vec<(u32, f64)>> = (0..n).into_par_iter().map(row).collect();
    Csr::from_rows(
        n,
        n,
        |k| rows[k].len(),
        |k, columns, values| {
            for (at, &(column, square)) in rows[k].iter().enumerate() {
                (columns[at], values[at]) = (column, T::from_f64(square.sqrt()));
            }
        },
    )
}

/// The node of each unknown.
fn unknowns_to_nodes(nodes: &[u32]) -> Vec<u32> {
    let unknowns = |k: usize| (nodes[k + 1] - nodes[k]) as usize;
    (0..nodes.len() - 1).flat_map(|k| std::iter::repeat_n(k as u32, unknowns(k))).collect()
}

/// The aggregate of each unknown, from those of the nodes.
pub(in crate::precond::amg) fn spread(aggregates: &[u32], nodes: &[u32]) -> Vec<u32> {
    unknowns_to_nodes(nodes).into_iter().map(|k| aggregates[k as usize]).collect()
}

/// Gram and Schmidt's method in f64, every vector twice.
fn factorise<T: Real>(members: &[usize], vectors: &[Vec<T>]) -> Factors<T> {
    // What is left of a dependent vector is rounding.
    let dependent = T::EPSILON.to_f64().sqrt();
    let m = members.len() as f64;
    let norm = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut q: Vec<Vec<f64>> = Vec::new();
    let mut r = vec![vec![0.0; vectors.len()]; vectors.len().min(members.len())];
    for (k, v) in vectors.iter().enumerate() {
        let mut w: Vec<f64> = members.iter().map(|&i| v[i].to_f64()).collect();
        let before = norm(&w);
        for _ in 0..2 {
            for (q, r) in q.iter().zip(&mut r) {
                let h = q.iter().zip(&w).map(|(q, w)| q * w).sum::<f64>() / m;
                w.iter_mut().zip(q).for_each(|(w, q)| *w -= h * q);
                r[k] += h;
            }
        }
        let length = norm(&w);
        if q.len() < r.len() && length > dependent * before {
            let scale = length / m.sqrt();
            r[q.len()][k] = scale;
            w.iter_mut().for_each(|w| *w /= scale);
            q.push(w);
        }
    }
    let rank = q.len();
    let in_t = |v: f64| T::from_f64(v);
    Factors {
        rank,
        q: (0..members.len()).flat_map(|i| q.iter().map(move |q| in_t(q[i]))).collect(),
        r: r[..rank].concat().into_iter().map(in_t).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::reference::Reference;
    use crate::problem::random::{below, uniform};
    use crate::setup::Aggregation;

    fn aggregates(n: usize, count: u64) -> Vec<u32> {
        let random = |i| match below(1, i, 9) {
            0 => NO_AGGREGATE,
            _ => below(2, i, count) as u32,
        };
        // The last two aggregates have one and two unknowns.
        (0..n as u64 - 3).map(random).chain([count as u32, count as u32 + 1, count as u32 + 1]).collect()
    }

    #[test]
    fn constants_give_the_piecewise_constant_interpolation() {
        let aggregates = aggregates(211, 19);
        let (p, coarse, _) = tentative(&aggregates, 21, &[vec![1.0f32; 211]]);
        assert_eq!(p, *Aggregation::<f32>::tentative(&Reference::new(), &aggregates, 21).unwrap());
        assert_eq!(coarse, [vec![1.0; 21]]);
    }

    #[test]
    fn vectors_are_interpolated_exactly_by_orthogonal_columns() {
        let (n, count) = (211, 21);
        let aggregates = aggregates(n, 19);
        let random = |seed| (0..n as u64).map(|i| uniform(seed, i) - 0.5).collect::<Vec<f64>>();
        // The third depends on the first two; the fourth is 0 on half of the aggregates.
        let (a, b) = (random(3), random(4));
        let c = a.iter().zip(&b).map(|(a, b)| 2.0 * a - b).collect();
        let d = random(5).iter().zip(&aggregates).map(|(d, a)| if a % 2 == 0 { 0.0 } else { *d }).collect();
        let vectors = [a, b, c, d];
        let (p, coarse, first) = tentative(&aggregates, count, &vectors);
        let mut sizes = vec![0usize; count];
        aggregates.iter().filter(|a| **a != NO_AGGREGATE).for_each(|&a| sizes[a as usize] += 1);
        let rank = |k: usize| sizes[k].min(if k.is_multiple_of(2) { 2 } else { 3 });
        assert_eq!(p.n_cols(), (0..count).map(rank).sum::<usize>());
        assert!(first.windows(2).zip(0..).all(|(pair, k)| (pair[1] - pair[0]) as usize == rank(k)));
        for (v, coarse) in vectors.iter().zip(&coarse) {
            let interpolated = p.mul_vec(coarse);
            for i in 0..n {
                let expected = if aggregates[i] == NO_AGGREGATE { 0.0 } else { v[i] };
                assert!((interpolated[i] - expected).abs() < 1e-12, "{i}");
            }
        }
        let columns = p.transpose();
        let mut numbers = (0..count).flat_map(|k| std::iter::repeat_n(k, rank(k)));
        for j in 0..p.n_cols() {
            let unit: Vec<f64> = (0..p.n_cols()).map(|k| f64::from(k == j)).collect();
            let products = columns.mul_vec(&p.mul_vec(&unit));
            let size = sizes[numbers.next().unwrap()] as f64;
            assert!((0..p.n_cols()).all(|k| (products[k] - if k == j { size } else { 0.0 }).abs() < 1e-11));
        }
    }
}
