use super::*;
use crate::matrix::Diagonal;
use crate::problem::generate;

fn problem(name: &str) -> Csr<f64> {
    generate(&name.parse().unwrap(), 1).unwrap()
}

#[test]
fn a_laplacian_is_like_diffusion() {
    let a = problem("poisson2d:9");
    let analysis = Analysis::of(&a);
    assert!(analysis.may_be_definite() && analysis.is_like_diffusion(), "{analysis}");
    assert_eq!(analysis.values.diagonal, Diagonal { positive: 81, negative: 0, zero: 0 });
    assert_eq!((analysis.values.dominant_rows, analysis.values.m_share), (81, 1.0));
    assert_eq!((analysis.values.least, analysis.values.most), (1.0, 4.0));
    assert_eq!((analysis.structure.symmetry, analysis.structure.block_size), (1.0, 1));
    let negative = Analysis::of(&a.map_values(|v: f64| -v));
    assert!(negative.may_be_negative_definite() && negative.is_like_diffusion(), "{negative}");
}

#[test]
fn indefinite_matrices_with_a_positive_diagonal_show_it() {
    let laplacian = problem("poisson2d:9");
    let shifted = |shift: f64| {
        let entries = (0..81).flat_map(|i| {
            let (columns, values) = laplacian.row(i);
            columns.iter().zip(values).map(move |(&j, &v)| {
                let j = j as usize;
                (i, j, if i == j { v - shift } else { v })
            })
        });
        Csr::from_triplets(81, 81, entries.collect::<Vec<_>>()).unwrap()
    };
    // The smallest eigenvalue is 8 sin^2(pi / 20), 0.196; x = 1 has the quotient 36 / 81.
    for (shift, is_seen) in [(0.0, false), (0.19, false), (0.45, true), (1.0, true)] {
        let a = shifted(shift);
        let of = [Analysis::of(&a), Analysis::of(&a.map_values(|v: f64| -v))];
        assert_eq!(of.map(|analysis| analysis.values.is_indefinite), [is_seen; 2], "{shift}");
        assert_eq!(Analysis::of(&a).may_be_definite(), !is_seen);
    }
    let of = |v: f64| {
        let entries = [(0, 0, 1.0), (1, 1, 4.0), (0, 1, v), (1, 0, v), (2, 2, 1e6)];
        Analysis::of(&Csr::from_triplets(3, 3, entries).unwrap()).values.is_indefinite
    };
    assert!(of(2.1) && of(-2.1) && !of(1.9) && !of(-2.0));
}

#[test]
fn convection_is_symmetric_in_its_pattern_alone() {
    let analysis = Analysis::of(&problem("convection-diffusion:9:50"));
    assert!(!analysis.may_be_definite() && analysis.structure.symmetry == 1.0, "{analysis}");
}

/// The pattern of trilinear hexahedra in a grid of `n^3` nodes without a border: of one equation, or of
/// elasticity, whose directions k and l act on each other where nodes are apart in both.
fn hexahedra(n: i64, directions: usize) -> Csr<f64> {
    let node = |[x, y, z]: [i64; 3]| ((z * n + y) * n + x) as usize;
    let mut entries = Vec::new();
    for i in 0..n * n * n {
        let at = [i % n, i / n % n, i / n / n];
        for step in (0..27).map(|k| [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1]) {
            let to: [i64; 3] = std::array::from_fn(|k| (at[k] + step[k]).rem_euclid(n));
            for (k, l) in (0..directions * directions).map(|kl| (kl / directions, kl % directions)) {
                if k == l || step[k] * step[l] != 0 {
                    entries.push((directions * node(at) + k, directions * node(to) + l, 1.0));
                }
            }
        }
    }
    let size = directions * (n * n * n) as usize;
    Csr::from_triplets(size, size, entries).unwrap()
}

#[test]
fn directions_of_hexahedra_are_unknowns_of_a_node() {
    for (directions, block) in [(3, 3), (1, 1)] {
        assert_eq!(Analysis::of(&hexahedra(9, directions)).structure.block_size, block);
    }
    // The first nodes, as those of a border, have blocks that are less full than others.
    let a = hexahedra(11, 3);
    let is_there = |i: usize, j: u32| i >= 75 || (i + j as usize).is_multiple_of(2) || i == j as usize;
    let row =
        |i: usize| a.row(i).0.iter().filter(move |&&j| is_there(i, j)).map(move |&j| (i, j as usize, 1.0));
    let all = Csr::from_triplets(a.n_rows(), a.n_cols(), (0..a.n_rows()).flat_map(row)).unwrap();
    assert_eq!(Analysis::of(&all).structure.block_size, 3);
}

#[test]
fn blocks_parts_and_faults_are_found() {
    let entries =
        |b: usize| (0..5).flat_map(move |i| (0..b * b).map(move |k| (b * i + k / b, b * i + k % b, 1.5)));
    for b in [2, 3] {
        let a = Csr::from_triplets(5 * b, 5 * b, entries(b)).unwrap();
        assert_eq!((Analysis::of(&a).structure.block_size, components(&a)), (b, 5));
    }
    // Row 3 and its column have nothing; row 2 adds up to 0.
    let a = Csr::from_triplets(3, 3, [(0, 0, 2.0), (1, 0, -1.5), (1, 1, 1.5)]).unwrap();
    let analysis = Analysis::of(&a);
    assert_eq!((analysis.values.diagonal.zero, analysis.values.zero_sums), (1, 2));
    let text = analysis.to_string();
    assert!(text.contains("structurally singular: row 3 has no entries"), "{text}");
    assert_eq!(components(&a), 2);
    let few = Deficiency { rows: (0..9).collect(), columns: vec![1, 3], empty_column: None };
    assert_eq!(
        few.to_string(),
        "structurally singular: rows 1, 2, 3, 4, 5 and 4 others have entries in 2 columns alone, 2, 4"
    );
    let text = Deficiency { empty_column: Some(5), ..few }.to_string();
    assert!(text.ends_with("in 2 columns alone, 2, 4; column 6 has no entries"), "{text}");
}
