//! Real matrices beside the repository, without options.

use super::*;
use crate::io::matrix_market::{read_matrix, tests::collection};
use crate::norm::norm;
use crate::solver::direct::doubled_residual;

/// What is known of a matrix with b = 1.
enum Known {
    /// It has a solution.
    Solved,
    /// It has none: least squares leave this share of b.
    NoSolution(f64),
    /// f64 has no better x than one that leaves about so much.
    AtRounding(f64),
}

fn check(name: &str, known: Known) {
    let Some(path) = collection(name) else { return };
    let (a, _) = read_matrix(&path, &mut |_, _| {}).unwrap();
    let b = vec![1.0; a.n_rows()];
    let Solution { x, report } = solve(&a, &b, &Options::default(), &Device::cpu(2).unwrap()).unwrap();
    let left = norm(&doubled_residual(&a, &x, &b)) / norm(&b);
    let near = |expected: f64| (0.25..4.0).contains(&(left / expected));
    match (known, report.outcome.reason) {
        (Known::Solved, StopReason::Converged) => assert!(left <= 1e-8, "{name}: {left:.1e}"),
        (Known::NoSolution(share), StopReason::NoSolution { .. }) => {
            assert!(near(share), "{name}: {left:.1e}")
        }
        (Known::AtRounding(share), StopReason::AtRounding) => assert!(near(share), "{name}: {left:.1e}"),
        _ => panic!("{name}: {report}"),
    }
}

#[test]
fn those_with_a_solution_are_solved() {
    for name in [
        "1138_bus",
        "adder_dcop_05",
        "bayer10",
        "bcsstk13",
        "bcsstk24",
        "cavity14",
        "e05r0500",
        "hangGlider_2",
        "memplus",
        "olm1000",
        "rajat01",
        "resolve_ACTIVSg200_AC_01",
        "sherman3",
        "watt_2",
    ] {
        check(&format!("{name}.mtx.gz"), Known::Solved);
    }
}

#[test]
fn of_others_it_is_told_why_not() {
    check("fidap_ex6.mtx.gz", Known::NoSolution(2.5e-2));
    check("cryg2500.mtx.gz", Known::AtRounding(1.5e-2));
}
