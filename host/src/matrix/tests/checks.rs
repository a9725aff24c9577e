//! What a solve checks of a matrix.

use super::*;

#[test]
fn symmetry_reports_the_first_fault_and_honours_the_tolerance() {
    let mut a = problem::random_spd(9001, 6, 4);
    assert!(a.is_symmetric(0.0).is_symmetric());
    // Rounding in two rows of different tasks; both have a coupling to an earlier row, checked first.
    let couplings = [8999, 8000].map(|row| (row, a.row(row).0[0] as usize, a.row_ptr()[row]));
    for (row, col, k) in couplings {
        assert!(col < row);
        a.values_mut()[k] *= 1.0 + 1e-14;
    }
    let Symmetry::NotSymmetric { row, col, .. } = a.is_symmetric(0.0) else { panic!("not noticed") };
    let first = couplings.into_iter().map(|(row, col, _)| (col, row)).min();
    assert_eq!(Some((row, col)), first);
    assert!(a.is_symmetric(1e-12).is_symmetric());

    // A fault below the diagonal with nothing above it; the pattern alone does not matter.
    let below = csr(3, &[&[(0, 1.0)], &[(0, 0.0), (1, 1.0)], &[(0, 0.5), (2, 1.0)]]);
    let fault = Symmetry::NotSymmetric { row: 2, col: 0, value: 0.5, mirrored: 0.0 };
    assert_eq!(below.is_symmetric(0.0), fault);
    assert_eq!(fault.to_string(), "not symmetric: entry (3, 1) is 0.5, entry (1, 3) is 0");
    assert!(below.is_symmetric(0.6).is_symmetric());
    let nan = csr(2, &[&[(1, f64::NAN)], &[(0, f64::NAN)]]);
    assert!(!nan.is_symmetric(1.0).is_symmetric());
}

#[test]
fn bad_input_is_found_in_its_lowest_row() {
    let n = 20_011;
    let mut a = problem::random_spd(n, 5, 9);
    check_square(&a).unwrap();
    check_finite(&a).unwrap();
    check_diagonal(&a, "jacobi").unwrap();
    assert_eq!(Survey::of(&a).empty_row, None);

    for (row, value) in [(15_000, f64::NAN), (9_999, f64::NEG_INFINITY)] {
        let k = a.row_ptr()[row];
        a.values_mut()[k] = value;
    }
    let column = a.row(9_999).0[0] + 1;
    let Err(Error::NotFinite { what, value, position }) = check_finite(&a) else { panic!("not refused") };
    assert_eq!((what, value), ("matrix entry", f64::NEG_INFINITY));
    assert_eq!(position, format!("row 10000, column {column}"));

    // Empty rows before the entry at fault share its row pointer.
    let gaps = csr(3, &[&[], &[(1, 2.0)], &[], &[], &[(2, f64::INFINITY)]]);
    let Err(Error::NotFinite { position, .. }) = check_finite(&gaps) else { panic!("not refused") };
    assert_eq!(position, "row 5, column 3");
    assert_eq!(Survey::of(&gaps).empty_row, Some(0));
    assert!(check_square(&gaps).unwrap_err().to_string().starts_with("the matrix is 5 x 3"));

    for (entry, fault) in [(None, "missing"), (Some(0.0), "zero"), (Some(f64::NAN), "not finite")] {
        let diagonal = |i: usize| if i == 12_345 || i == 19_000 { entry } else { Some(1.5) };
        let a = Csr::from_rows(
            n,
            n,
            |i| diagonal(i).iter().len(),
            |i, columns, values| {
                columns.fill(i as u32);
                values.fill(diagonal(i).unwrap_or(f64::NAN));
            },
        );
        let Err(Error::Diagonal { row, what, method }) = check_diagonal(&a, "jacobi") else {
            panic!("{fault}: not refused")
        };
        assert_eq!((row, what, method), (12_346, fault, "jacobi"));
    }

    let mut b = vec![1.0; n];
    check_vector("right-hand side", &b, n).unwrap();
    assert!(matches!(
        check_vector("right-hand side", &b[1..], n),
        Err(Error::Dimension { what: "right-hand side", found: 20_010, expected: 20_011 })
    ));
    (b[3], b[19_999]) = (f64::NAN, f64::INFINITY);
    let Err(Error::NotFinite { position, .. }) = check_vector("right-hand side", &b, n) else {
        panic!("not refused")
    };
    assert_eq!(position, "entry 4");
}
