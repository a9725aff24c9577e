//! Nodes shared out among ranks.

use std::ops::Range;

/// The rank of each point, of so many ranks. The points are cut in two across their longest extent, and the
/// parts again, until each rank has about as many (recursive coordinate bisection: M. J. Berger and S. H.
/// Bokhari, IEEE Transactions on Computers C-36, 1987).
pub(super) fn bisected(points: &[[f64; 3]], ranks: usize) -> Vec<u32> {
    let mut owners = vec![0; points.len()];
    let mut nodes: Vec<u32> = (0..points.len() as u32).collect();
    bisect(points, &mut nodes, 0..ranks, &mut owners);
    owners
}

fn bisect(points: &[[f64; 3]], nodes: &mut [u32], ranks: Range<usize>, owners: &mut [u32]) {
    if ranks.len() <= 1 || nodes.is_empty() {
        nodes.iter().for_each(|&node| owners[node as usize] = ranks.start as u32);
        return;
    }
    let half = ranks.len() / 2;
    let first = nodes.len() * half / ranks.len();
    let axis = longest_axis(points, nodes);
    // Points side by side on the cut go by their numbers.
    nodes.select_nth_unstable_by(first, |&a, &b| {
        points[a as usize][axis].total_cmp(&points[b as usize][axis]).then(a.cmp(&b))
    });
    let (low, high) = nodes.split_at_mut(first);
    bisect(points, low, ranks.start..ranks.start + half, owners);
    bisect(points, high, ranks.start + half..ranks.end, owners);
}

fn longest_axis(points: &[[f64; 3]], nodes: &[u32]) -> usize {
    let extent = |axis: usize| {
        let x = || nodes.iter().map(|&node| points[node as usize][axis]);
        x().fold(f64::NEG_INFINITY, f64::max) - x().fold(f64::INFINITY, f64::min)
    };
    (1..3).fold(0, |longest, axis| if extent(axis) > extent(longest) { axis } else { longest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_gets_a_box_of_as_many_points() {
        // 12 x 5 x 2 points.
        let points: Vec<[f64; 3]> = (0..120).map(|m| [m % 12, m / 12 % 5, m / 60].map(f64::from)).collect();
        for ranks in [1, 2, 3, 5, 7] {
            let owners = bisected(&points, ranks);
            let counts: Vec<usize> =
                (0..ranks as u32).map(|rank| owners.iter().filter(|&&owner| owner == rank).count()).collect();
            assert!(counts.iter().all(|&count| count.abs_diff(120 / ranks) <= 1), "{counts:?}");
        }
        // Two halves across x.
        let owners = bisected(&points, 2);
        assert!(points.iter().zip(owners).all(|(point, owner)| (point[0] > 5.5) == (owner == 1)));
    }

    #[test]
    fn there_may_be_more_ranks_than_points() {
        let owners = bisected(&[[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]], 8);
        assert!(owners[0] < owners[1] && owners[1] < owners[2] && owners[2] < 8, "{owners:?}");
        assert!(bisected(&[], 3).is_empty());
    }
}
