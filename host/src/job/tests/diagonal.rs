//! Whether the diagonal is tried, and before what.

use std::sync::Arc;

use super::ladder::{entries, problem, square};
use super::*;
use crate::analysis::Analysis;
use crate::job::ladder::ladder;
use crate::job::rung::{Cost, Rung, diagonal_iteration_seconds};
use crate::job::ways::Maker;
use crate::matrix::Csr;
use crate::problem::random::below;
use crate::solver::direct::Outlook;

/// A step in time, of which the diagonal is most: no factors are counted.
#[test]
fn what_a_piece_shows_to_be_near_its_diagonal_is_not_counted() {
    let elastic = problem("elasticity:12".into());
    let a = Arc::new(square(
        elastic.n_rows(),
        entries(&elastic).chain((0..elastic.n_rows()).map(|i| (i, i, 3.0))),
    ));
    let outlook = Outlook::default();
    let rungs = ladder(&a, &Analysis::of(&a), &Options::default(), &outlook, None, None);
    assert_eq!((rungs[0].method, rungs[0].precond), (Method::Cg, Precond::Jacobi), "{rungs:?}");
    assert!(rungs.iter().all(|rung| rung.method != Method::Direct || rung.cost.is_none()), "{rungs:?}");
    let report = solve(&*a, &rhs(a.n_rows()), &Options::default(), &Device::cpu(2).unwrap()).unwrap().report;
    assert!(report.converged() && behind_a_glance(&report) == 0, "{report}");
}

fn ways_after(a: &Arc<Csr<f64>>, glanced: Option<f64>) -> Vec<(Method, Precond)> {
    let rungs = ladder(a, &Analysis::of(a), &Options::default(), &Outlook::default(), None, glanced);
    rungs.iter().map(|rung| (rung.method, rung.precond)).collect()
}

/// Multigrid takes less than to count the entries of factors; of a flow, and of a line, it does not.
#[test]
fn small_diffusion_is_not_counted_after_a_glance() {
    let first = |a: Csr<f64>| ways_after(&Arc::new(a), Some(300.0))[0];
    for mesh in ["poisson3d:14", "tet:12"] {
        assert_eq!(first(problem(mesh.into())), (Method::Cg, Precond::Amg), "{mesh}");
    }
    assert_ne!(first(problem("convection-diffusion:60:1e5".into())).1, Precond::Amg);
    let n = 3000;
    let links = (1..n).flat_map(|i| [(i, i - 1, -1.0), (i - 1, i, -1.0)]);
    let line = square(n, links.chain((0..n).map(|i| (i, i, 2.0))));
    assert_eq!(first(line).0, Method::Direct);
}

/// Each unknown with five others anywhere, not as much of it in both directions.
#[test]
fn what_a_glance_has_shown_to_be_slow_is_not_tried_again() {
    let n = 12_000;
    let far = |k: usize| below(3, k as u64, n as u64) as usize;
    let links = (0..5 * n).flat_map(|k| [(k / 5, far(k), -1.0), (far(k), k / 5, -1.1)]);
    let a = square(n, links.filter(|(i, j, _)| i != j));
    let sums = (0..n).map(|i| (i, i, 1e-3 - a.row(i).1.iter().sum::<f64>()));
    let a = Arc::new(square(n, entries(&a).chain(sums)));
    let idr = (Method::Idr, Precond::Jacobi);
    assert_eq!(ways_after(&a, None)[0], idr);
    assert_eq!(ways_after(&a, Some(300.0))[0], idr);
    assert_ne!(ways_after(&a, Some(1e4))[0], idr);
}

#[test]
fn the_diagonal_is_tried_first_where_a_look_costs_little() {
    // Far entries fill factors, and the matrix is nearly its diagonal.
    let n = 15_000;
    let far = (0..4 * n).map(|k| (k / 4, below(3, k as u64, n as u64) as usize, 0.3 * (k % 3) as f64 - 0.2));
    let a = Arc::new(square(n, far.chain((0..n).map(|i| (i, i, 2.0)))));
    let rungs = ladder(&a, &Analysis::of(&a), &Options::default(), &Outlook::default(), None, None);
    assert_eq!((rungs[0].method, rungs[0].precond), (Method::Idr, Precond::Jacobi), "{rungs:?}");
    let b = a.mul_vec(&rhs(n));
    let report = solve(&*a, &b, &Options::default(), &Device::cpu(2).unwrap()).unwrap().report;
    assert!(report.converged() && report.attempts.is_empty() && report.outcome.iterations < 50, "{report}");
}

/// Where rows or columns are dominant by a factor, iterations with the diagonal do not grow with the mesh.
#[test]
fn dominance_by_a_factor_takes_the_diagonal_first() {
    let (side, n) = (250, 62_500);
    let first = |a: Csr<f64>| {
        let a = Arc::new(a);
        let rungs = ladder(&a, &Analysis::of(&a), &Options::default(), &Outlook::default(), None, None);
        let report = solve(&*a, &rhs(n), &Options::default(), &Device::cpu(2).unwrap()).unwrap().report;
        assert!(report.converged() && behind_a_glance(&report) == 0, "{report}");
        (rungs[0].method, rungs[0].precond)
    };
    // What leaves an unknown goes to four others, but for a fifth.
    let share = |i: usize, step: usize| if step == 1 { 0.15 + 0.2 * uniform(1, i as u64) } else { 0.15 };
    let link = |i: usize, step: usize| ((i + step) % n, i, -share(i, step));
    let links =
        |i: usize| [1, n - 1, side, n - side].map(|step| link(i, step)).into_iter().chain([(i, i, 1.0)]);
    let flow = square(n, (0..n).flat_map(links));
    assert_eq!(first(flow.transpose()), (Method::Idr, Precond::Jacobi));
    assert_eq!(first(flow), (Method::Idr, Precond::Jacobi));
    let mesh = problem(format!("poisson2d:{side}"));
    let step = square(n, entries(&mesh).chain((0..n).map(|i| (i, i, 1.0))));
    assert_eq!(first(step), (Method::Cg, Precond::Jacobi));
}

/// Of `I - q S` with the shift S of a cycle no method knows anything before as many iterations as there are
/// rows, or as the bound says.
#[test]
fn a_bound_of_the_diagonal_goes_before_a_guess_of_multigrid() {
    let n = 600;
    let a = square(n, (0..n).flat_map(|i| [(i, i, 1.0), (i, (i + 1) % n, -0.95)]));
    let (analysis, options) = (Analysis::of(&a), Options::default());
    let maker = Maker::new(&a, &analysis, &options, None);
    let bound = diagonal_iteration_seconds(&analysis.structure) * 1e8f64.ln() / -0.95f64.ln();
    let before = |share: f64| {
        let cost = Some(Cost { seconds: share * bound, bytes: 0.0 });
        maker.before(&Rung { cost, ..maker.multigrid() }).map(|rung| rung.seconds())
    };
    assert!((before(0.5).unwrap() / bound - 1.0).abs() < 1e-6);
    assert_eq!(before(0.3), None);
}

/// `curl curl u + u / 1000` in the plane, an unknown on each edge of the squares: multigrid knows nothing of
/// the gradients, which the first term maps to 0.
#[test]
fn what_a_piece_shows_not_to_suit_multigrid_is_not_begun_with_it() {
    let (n, edges) = (100, 2 * 100 * 100);
    // Periodic: edge 2 k lies below square k, and edge 2 k + 1 on its left.
    let around = |k: usize| {
        let (right, above) = (k - k % n + (k + 1) % n, (k + n) % (n * n));
        [(2 * k, 1.0), (2 * right + 1, 1.0), (2 * above, -1.0), (2 * k + 1, -1.0)]
    };
    let curls =
        (0..n * n).flat_map(|k| around(k).map(|(i, v)| around(k).map(|(j, w)| (i, j, v * w)))).flatten();
    let a = Arc::new(square(edges, curls.chain((0..edges).map(|i| (i, i, 1e-3)))));
    let rungs = ladder(&a, &Analysis::of(&a), &Options::default(), &Outlook::default(), None, None);
    let at =
        |precond| rungs.iter().position(|rung| rung.precond == precond && rung.method == Method::Cg).unwrap();
    let direct = rungs.iter().position(|rung| rung.method == Method::Direct).unwrap();
    assert!(direct < at(Precond::Amg) && at(Precond::Ilu) < at(Precond::Amg), "{rungs:?}");
    let report = solve(&*a, &rhs(edges), &Options::default(), &Device::cpu(2).unwrap()).unwrap().report;
    assert!(report.converged() && behind_a_glance(&report) == 0, "{report}");
}

#[test]
fn where_no_piece_promises_an_end_patience_has_one_however_long_the_next_way_takes() {
    let a = Arc::new(problem("convection-diffusion:60".into()));
    let (analysis, options) = (Analysis::of(&a), Options::default());
    let maker = Maker::new(&a, &analysis, &options, None);
    let next = Rung { cost: Some(Cost { seconds: 1e4, bytes: 1e9 }), ..maker.direct(None) };
    assert_eq!(maker.before(&next).unwrap().patience, Some(2000));
}
