//! How fast neighbourhoods grow: on meshes with a power of the steps, in graphs of other origin by a factor.

use crate::matrix::Csr;

/// Rows that are looked at, far apart in the numbering.
const PLACES: usize = 9;
/// Growth that is told apart from more.
const MOST: usize = 100;

/// The rows within three steps of a row for each within one, at most 100: the median of some rows. About 5 on
/// meshes of surfaces, 9 to 15 on those of volumes.
pub fn expansion(a: &Csr<f64>) -> f64 {
    let n = a.n_rows();
    let mut of: Vec<f64> =
        (0..PLACES.min(n)).map(|k| expansion_at(a, (2 * k + 1) * n / (2 * PLACES.min(n)))).collect();
    of.sort_unstable_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(1.0)
}

fn expansion_at(a: &Csr<f64>, start: usize) -> f64 {
    let mut within = vec![start as u32];
    within.extend(a.row(start).0);
    sort(&mut within);
    let one = within.len();
    for _ in 0..2 {
        let mut next = within.clone();
        for &i in &within {
            next.extend(a.row(i as usize).0);
            if next.len() > 4 * MOST * one {
                sort(&mut next);
                if next.len() > MOST * one {
                    return MOST as f64;
                }
            }
        }
        sort(&mut next);
        within = next;
    }
    (within.len() as f64 / one as f64).min(MOST as f64)
}

fn sort(rows: &mut Vec<u32>) {
    rows.sort_unstable();
    rows.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::generate;
    use crate::problem::random::below;

    #[test]
    fn graphs_grow_faster_than_meshes() {
        let of = |problem: &str| expansion(&generate(&problem.parse().unwrap(), 1).unwrap());
        assert!((4.0..=5.0).contains(&of("poisson2d:40")), "{}", of("poisson2d:40"));
        assert!((6.0..=9.0).contains(&of("poisson3d:20")), "{}", of("poisson3d:20"));
        assert!((6.0..15.0).contains(&of("tet:16")), "{}", of("tet:16"));
        let n = 20_000;
        let edges = (0..4 * n).map(|k| (k / 4, below(1, k as u64, n as u64) as usize));
        let both = edges.flat_map(|(i, j)| [(i, j, 1.0), (j, i, 1.0), (i, i, 1.0)]);
        assert!(expansion(&Csr::from_triplets(n, n, both).unwrap()) > 30.0);
        assert_eq!(expansion(&Csr::from_triplets(0, 0, []).unwrap()), 1.0);
        assert_eq!(expansion(&Csr::from_triplets(1, 1, [(0, 0, 1.0)]).unwrap()), 1.0);
    }
}
