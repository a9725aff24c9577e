//! How fast neighbourhoods grow: on meshes with a power of the steps, in graphs of other origin by a factor;
//! and how long graphs are for their width.

use std::mem::replace;

use crate::matrix::Csr;

/// Rows that are looked at, far apart in the numbering.
const PLACES: usize = 9;
/// Growth that is told apart from more.
const MOST: usize = 100;
/// Rows with so many times the mean of entries are hubs, as supply nets of circuits and constraints on all
/// unknowns: what is near to one of them is not near to the others of its neighbours.
const HUB: usize = 10;

/// The rows within three steps of a row for each within one, at most 100, or twice those within four for each
/// within two where these are fewer: the median of some rows. About 5 on meshes of surfaces, 9 to 15 on those
/// of volumes; of quadratic elements the first step is shorter than others. No step leads on from a hub.
pub fn expansion(a: &Csr<f64>) -> f64 {
    let n = a.n_rows();
    let mut of: Vec<f64> =
        (0..PLACES.min(n)).map(|k| expansion_at(a, (2 * k + 1) * n / (2 * PLACES.min(n)))).collect();
    of.sort_unstable_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(1.0)
}

fn expansion_at(a: &Csr<f64>, place: usize) -> f64 {
    // Others are alone, whatever the graph is.
    let start = (place..a.n_rows()).chain(0..place).find(|&i| a.row(i).0.len() > 1).unwrap_or(place);
    let longest = HUB * a.nnz().div_ceil(a.n_rows());
    let around = |rows, most| around(a, longest, rows, most);
    let one = around(vec![start as u32], usize::MAX);
    let most = MOST * one.len();
    let ratio = |many: &[u32], few: &[u32]| many.len() as f64 / few.len() as f64;
    let two = around(one.clone(), most);
    let three = around(two.clone(), most);
    let growth = ratio(&three, &one).min(MOST as f64);
    let four = around(three, 4 * most);
    // Of small graphs these are nearly all.
    match four.len() < (4 * most).min(a.n_rows() / 2) {
        true => growth.min(2.0 * ratio(&four, &two)),
        false => growth,
    }
}

/// Rows, and those within a step of one of them that has at most `longest` entries; some of these where they
/// are more than `most`.
fn around(a: &Csr<f64>, longest: usize, rows: Vec<u32>, most: usize) -> Vec<u32> {
    let mut within = rows.clone();
    for neighbours in rows.iter().map(|&i| a.row(i as usize).0).filter(|row| row.len() <= longest) {
        within.extend(neighbours);
        if within.len() > most.saturating_mul(4) {
            sort(&mut within);
            if within.len() > most {
                return within;
            }
        }
    }
    sort(&mut within);
    within
}

/// The most rows that are equally far from a row at an end of a symmetric graph, or of the part of it that
/// row 0 is in: what it is wide where it is long. As few separate the others, however many rows there are.
pub fn width(a: &Csr<f64>) -> usize {
    if a.n_rows() == 0 {
        return 0;
    }
    let (end, _) = levels(a, 0);
    levels(a, end).1
}

/// The last of the rows that are furthest from a row, and the most that are equally far.
fn levels(a: &Csr<f64>, start: usize) -> (usize, usize) {
    let mut is_reached = vec![false; a.n_rows()];
    is_reached[start] = true;
    let (mut level, mut last, mut widest) = (vec![start as u32], start, 0);
    while let Some(&row) = level.last() {
        (last, widest) = (row as usize, widest.max(level.len()));
        let mut next = Vec::new();
        for &i in &level {
            next.extend(a.row(i as usize).0.iter().filter(|&&j| !replace(&mut is_reached[j as usize], true)));
        }
        level = next;
    }
    (last, widest)
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
    fn the_width_of_a_mesh_is_that_of_its_short_sides() {
        let n = 40;
        let points = (0..n * 5 * 5).map(|k| [k / 25, k / 5 % 5, k % 5]);
        let place = |[x, y, z]: [usize; 3]| 25 * x + 5 * y + z;
        let beside = points.flat_map(|p| {
            let next = (0..3).map(move |axis| {
                let mut q = p;
                q[axis] += 1;
                q
            });
            next.filter(|q| q[0] < n && q[1] < 5 && q[2] < 5).map(move |q| (place(p), place(q)))
        });
        let both = beside.flat_map(|(i, j)| [(i, j, 1.0), (j, i, 1.0)]);
        let beam = Csr::from_triplets(25 * n, 25 * n, both).unwrap();
        assert!((19..=25).contains(&width(&beam)), "{}", width(&beam));
        let cube = generate(&"poisson3d:20".parse().unwrap(), 1).unwrap();
        assert!((200..=400).contains(&width(&cube)), "{}", width(&cube));
        assert_eq!(width(&Csr::from_triplets(0, 0, []).unwrap()), 0);
        assert_eq!(width(&Csr::from_triplets(2, 2, []).unwrap()), 1);
    }

    /// A cube of cells with unknowns at their corners, and two more inside of each, whose rows are short.
    fn cells_of_two_more(n: usize) -> Csr<f64> {
        let corner = |[x, y, z]: [usize; 3]| (x * (n + 1) + y) * (n + 1) + z;
        let corners = (n + 1).pow(3);
        let of_cell = |k: usize| {
            let [x, y, z] = [k / (n * n), k / n % n, k % n];
            let at_corners = (0..8).map(move |c| corner([x + c / 4, y + c / 2 % 2, z + c % 2]));
            at_corners.chain([corners + 2 * k, corners + 2 * k + 1]).collect::<Vec<_>>()
        };
        let pairs = (0..n.pow(3)).map(of_cell).flat_map(|all| {
            let others = all.clone();
            all.into_iter().flat_map(move |i| others.clone().into_iter().map(move |j| (i, j, 1.0)))
        });
        let rows = corners + 2 * n.pow(3);
        Csr::from_triplets(rows, rows, pairs).unwrap()
    }

    #[test]
    fn graphs_grow_faster_than_meshes() {
        let of = |problem: &str| expansion(&generate(&problem.parse().unwrap(), 1).unwrap());
        assert!((4.0..=5.0).contains(&of("poisson2d:40")), "{}", of("poisson2d:40"));
        assert!((6.0..=9.0).contains(&of("poisson3d:20")), "{}", of("poisson3d:20"));
        assert!((6.0..15.0).contains(&of("tet:16")), "{}", of("tet:16"));
        assert!(
            (8.0..20.0).contains(&expansion(&cells_of_two_more(14))),
            "{}",
            expansion(&cells_of_two_more(14))
        );
        let n = 20_000;
        let edges = (0..4 * n).map(|k| (k / 4, below(1, k as u64, n as u64) as usize));
        let both = edges.flat_map(|(i, j)| [(i, j, 1.0), (j, i, 1.0), (i, i, 1.0)]);
        assert!(expansion(&Csr::from_triplets(n, n, both).unwrap()) > 30.0);
        assert_eq!(expansion(&Csr::from_triplets(0, 0, []).unwrap()), 1.0);
        // A supply that every node of a plane is at, and rows that are alone.
        let n = 40 * 40;
        let plane = generate(&"poisson2d:40".parse().unwrap(), 1).unwrap();
        let inside = (0..n).flat_map(|i| plane.row(i).0.iter().map(move |&j| (i, j as usize, 1.0)));
        let supply = (0..n).flat_map(|i| [(i, n, 1.0), (n, i, 1.0)]);
        let alone = (n + 1..3 * n).map(|i| (i, i, 1.0));
        let circuit = Csr::from_triplets(3 * n, 3 * n, inside.chain(supply).chain(alone)).unwrap();
        assert!((2.5..=5.0).contains(&expansion(&circuit)), "{}", expansion(&circuit));
        assert_eq!(expansion(&Csr::from_triplets(1, 1, [(0, 0, 1.0)]).unwrap()), 1.0);
    }
}
