//! The formats, the checks and the transformations, against entry-by-entry definitions.

use super::check::{check_diagonal, check_finite, check_square, check_vector};
use super::sell::NO_ROW;
use super::*;
use crate::Error;
use crate::io::matrix_market::{read_matrix, tests::collection};
use crate::problem::{self, random};
use proptest::prelude::*;
use std::sync::Arc;

mod checks;

/// A matrix from rows of (column, value).
fn csr(n_cols: usize, rows: &[&[(u32, f64)]]) -> Csr<f64> {
    let mut row_ptr = vec![0];
    let (mut col_idx, mut values) = (Vec::new(), Vec::new());
    for row in rows {
        col_idx.extend(row.iter().map(|e| e.0));
        values.extend(row.iter().map(|e| e.1));
        row_ptr.push(values.len());
    }
    Csr::new(rows.len(), n_cols, row_ptr, col_idx, values).unwrap()
}

/// A matrix whose row `i` has `lengths[i]` entries in columns spread over `n_cols`.
fn with_lengths(n_cols: usize, lengths: &[usize]) -> Csr<f64> {
    let mut row_ptr = vec![0];
    let (mut col_idx, mut values) = (Vec::new(), Vec::new());
    for (i, &length) in lengths.iter().enumerate() {
        for j in 0..length {
            col_idx.push((j * n_cols / length) as u32);
            values.push(random::uniform(i as u64, j as u64) - 0.5);
        }
        row_ptr.push(values.len());
    }
    Csr::new(lengths.len(), n_cols, row_ptr, col_idx, values).unwrap()
}

/// An arrow: the diagonal, and a full last row and column.
fn arrow(n: usize) -> Csr<f64> {
    let length = |i| if i + 1 == n { n } else { 2 };
    Csr::from_rows(n, n, length, |i, columns, values| {
        values.fill(0.25);
        for (k, c) in columns.iter_mut().enumerate() {
            *c = if i + 1 == n { k } else { [i, n - 1][k] } as u32;
        }
    })
}

/// Small matrices of any shape, with empty rows, explicit zeros and negative zeros.
fn small() -> impl Strategy<Value = Csr<f64>> {
    let value = prop_oneof![4 => -9.75..9.75f64, 1 => Just(0.0), 1 => Just(-0.0)];
    (0usize..100, 0usize..20).prop_flat_map(move |(n_rows, n_cols)| {
        let row = proptest::collection::btree_map(0..n_cols.max(1) as u32, value.clone(), 0..8);
        proptest::collection::vec(row, n_rows).prop_map(move |rows| {
            let rows: Vec<Vec<(u32, f64)>> = rows
                .into_iter()
                .map(|row| row.into_iter().filter(|e| (e.0 as usize) < n_cols).collect())
                .collect();
            csr(n_cols, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
        })
    })
}

/// The same matrix, to the last bit.
fn same_bits(a: &Csr<f64>, b: &Csr<f64>) -> bool {
    let bits = |a: &Csr<f64>| a.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    a == b && bits(a) == bits(b)
}

/// A x by the definition of ELLPACK, padding and all.
fn ell_product(a: &Ell<f64>, x: &[f64]) -> Vec<f64> {
    let term = |k: usize| a.values()[k] * x[a.col_idx()[k] as usize];
    (0..a.n_rows()).map(|i| (0..a.width()).map(|j| term(j * a.stride() + i)).sum()).collect()
}

/// A x by the definition of reduced SELL, padding and all.
fn sell_product(a: &Sell<f64>, x: &[f64]) -> Vec<f64> {
    let mut y = vec![f64::NAN; a.n_rows()];
    for (s, ends) in a.slice_ptr().windows(2).enumerate() {
        for lane in 0..SLICE {
            let entries = (ends[0] as usize + lane..ends[1] as usize).step_by(SLICE);
            let sum = entries.map(|k| a.values()[k] * x[a.col_idx()[k] as usize]).sum();
            let r = SLICE * s + lane;
            let row = a.permutation().map_or(r, |p| p[r] as usize);
            if r < a.n_rows() {
                y[row] = sum;
            } else {
                assert_eq!(sum, 0.0, "position {r} holds something");
                assert!(a.permutation().is_none_or(|p| p[r] == NO_ROW));
            }
        }
    }
    y
}

fn assert_close(y: &[f64], expected: &[f64]) {
    assert_eq!(y.len(), expected.len());
    for (i, (y, e)) in y.iter().zip(expected).enumerate() {
        assert!((y - e).abs() <= 1e-13 * (1.0 + e.abs()), "row {i}: {y}, not {e}");
    }
}

proptest! {
    #[test]
    fn ell_and_sell_hold_the_same_matrix(a in small()) {
        let x: Vec<f64> = (0..a.n_cols() as u64).map(|i| random::uniform(5, i) - 0.5).collect();
        let y = a.mul_vec(&x);

        let ell = Ell::from_csr(&a).unwrap();
        prop_assert!(same_bits(&ell.to_csr(), &a));
        prop_assert_eq!(ell.padding(), ell_padding(&a));
        prop_assert_eq!(ell.stride() % 32, 0);
        prop_assert!(ell.stride() >= a.n_rows() && ell.stride() < a.n_rows() + 32);
        assert_close(&ell_product(&ell, &x), &y);

        for sigma in [1, 32, 64, 4096] {
            let sell = Sell::from_csr(&a, sigma).unwrap();
            prop_assert!(same_bits(&sell.to_csr(), &a));
            prop_assert_eq!(sell.padding(), sell_padding(&a, sigma).unwrap());
            prop_assert!(sell.stored() <= ell.stored());
            prop_assert!(sell.slice_ptr().iter().all(|p| p % 32 == 0));
            assert_close(&sell_product(&sell, &x), &y);
            // Each window holds its own rows, longest first, equal ones in their order.
            if let Some(order) = sell.permutation() {
                prop_assert_eq!(order.len(), 32 * sell.n_slices());
                for (w, window) in order[..a.n_rows()].chunks(sigma).enumerate() {
                    let mut expected: Vec<u32> =
                        (0..window.len() as u32).map(|i| (w * sigma) as u32 + i).collect();
                    expected.sort_by_key(|&i| std::cmp::Reverse(a.row_len(i as usize)));
                    prop_assert_eq!(window, &expected[..]);
                }
            }
        }
    }

    #[test]
    fn transposing_moves_every_entry(a in small()) {
        let t = a.transpose();
        prop_assert_eq!((t.n_rows(), t.n_cols(), t.nnz()), (a.n_cols(), a.n_rows(), a.nnz()));
        for i in 0..a.n_rows() {
            for j in 0..a.n_cols() {
                prop_assert_eq!(t.get(j, i).map(f64::to_bits), a.get(i, j).map(f64::to_bits));
            }
        }
        prop_assert!(same_bits(&t.transpose(), &a));
    }

    #[test]
    fn symmetry_is_what_the_transpose_says(a in small()) {
        let symmetry = a.is_symmetric(0.0);
        if a.n_rows() != a.n_cols() {
            prop_assert_eq!(symmetry, Symmetry::Rectangular);
        } else {
            let entry = |i, j| a.get(i, j).unwrap_or(0.0);
            let n = a.n_rows();
            let fault = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).find(|&(i, j)| entry(i, j) != entry(j, i));
            prop_assert_eq!(symmetry.is_symmetric(), fault.is_none());
            if let Symmetry::NotSymmetric { row, col, value, mirrored } = symmetry {
                prop_assert!(value == entry(row, col) && mirrored == entry(col, row) && value != mirrored);
            }
        }
    }
}

#[test]
fn ell_lies_column_by_column_and_pads_with_the_last_column() {
    let a = csr(4, &[&[(1, 1.5), (3, 2.5)], &[], &[(2, 3.5)]]);
    let ell = Ell::from_csr(&a).unwrap();
    assert_eq!((ell.n_rows(), ell.n_cols(), ell.nnz(), ell.width(), ell.stride()), (3, 4, 3, 2, 32));
    assert_eq!(ell.stored(), 64);
    assert_eq!(ell.row_lengths(), [2, 0, 1]);
    assert_eq!(
        (&ell.values()[..4], &ell.values()[32..36]),
        (&[1.5, 0.0, 3.5, 0.0][..], &[2.5, 0.0, 0.0, 0.0][..])
    );
    assert_eq!((&ell.col_idx()[..4], &ell.col_idx()[32..36]), (&[1, 1, 2, 0][..], &[3, 1, 2, 0][..]));
    // An empty row beyond the last column is padded with the last column.
    let tall = csr(2, &[&[(0, 1.0)], &[], &[], &[]]);
    assert_eq!(Ell::from_csr(&tall).unwrap().col_idx()[..4], [0, 1, 1, 1]);
}

#[test]
fn sell_sorts_rows_within_windows_and_slices_have_their_own_width() {
    // Rows 0..32 hold 1 entry, row 40 holds 5, the others 2.
    let mut lengths = vec![1; 32];
    lengths.extend([2; 38]);
    lengths[40] = 5;
    let a = with_lengths(9, &lengths);
    let sell = Sell::from_csr(&a, 1).unwrap();
    assert_eq!(sell.slice_ptr(), [0, 32, 32 + 5 * 32, 32 + 5 * 32 + 2 * 32]);
    assert_eq!((sell.permutation(), sell.n_slices(), sell.sigma()), (None, 3, 1));
    // Entry 4 of row 40: slice 1, lane 8.
    assert_eq!(sell.values()[32 + 4 * 32 + 8], a.row(40).1[4]);

    let sorted = Sell::from_csr(&a, 64).unwrap();
    let order = sorted.permutation().unwrap();
    assert_eq!(order[..3], [40, 32, 33]);
    assert_eq!(order[32..34], [0, 1]);
    assert_eq!(order[64..71], [64, 65, 66, 67, 68, 69, NO_ROW]);
    assert_eq!(sorted.slice_ptr(), [0, 5 * 32, 6 * 32, 8 * 32]);
    assert_eq!(sorted.row_lengths()[..2], [5, 2]);
    for sigma in [0, 2, 31, 33] {
        assert!(matches!(Sell::from_csr(&a, sigma), Err(Error::Option(_))));
    }
}

#[test]
fn no_rows_and_one_row() {
    for a in [csr(0, &[]), csr(5, &[]), csr(0, &[&[], &[]]), csr(1, &[&[(0, 2.5)]]), csr(1, &[&[]])] {
        assert_eq!(Ell::from_csr(&a).unwrap().to_csr(), a);
        assert_eq!(Sell::from_csr(&a, 1).unwrap().to_csr(), a);
        assert_eq!(Sell::from_csr(&a, 64).unwrap().to_csr(), a);
        assert_eq!(a.transpose().transpose(), a);
        for target in [Target::Cpu, Target::Gpu] {
            let choice = choose(&a, target);
            AnyMatrix::from_csr(&Arc::new(a.clone()), choice.format, choice.sigma).unwrap();
        }
    }
}

#[test]
fn the_transpose_does_not_depend_on_the_threads() {
    let in_pool = |threads, a: &Csr<f64>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| a.transpose())
    };
    // Pieces of unequal rows; fewer rows than threads; fewer entries than columns; nothing.
    let lengths: Vec<usize> = (0..997).map(|i| if i % 5 == 3 { 0 } else { i % 23 }).collect();
    let rectangular = with_lengths(61, &lengths);
    for a in
        [rectangular, arrow(53), with_lengths(40, &[40, 39, 1]), with_lengths(900, &[3, 0, 5]), csr(7, &[])]
    {
        let t = in_pool(1, &a);
        assert_eq!((t.n_rows(), t.n_cols(), t.nnz()), (a.n_cols(), a.n_rows(), a.nnz()));
        assert!(
            (0..a.n_rows()).all(|i| a.row(i).0.iter().all(|&j| t.get(j as usize, i) == a.get(i, j as usize)))
        );
        for threads in [2, 3, 8] {
            assert_eq!(in_pool(threads, &a), t);
        }
    }
}

#[test]
fn too_much_padding_is_refused_with_the_figures() {
    // The longest of 1000 rows has 1000 entries: ELLPACK stores 1024 * 1000, SELL widens one slice.
    let a = arrow(1000);
    let Err(Error::Padding { format, stored, nnz, factor, longest, mean, advice }) = Ell::from_csr(&a) else {
        panic!("not refused")
    };
    assert_eq!((format, stored, nnz, longest, advice), ("ell", 1_024_000, 2998, 1000, "crs"));
    assert!((factor - 1_024_000.0 / 2998.0).abs() < 1e-9 && (mean - 2.998).abs() < 1e-12);
    assert_eq!(sell_padding(&a, 1).unwrap().stored, 31 * 64 + 32 * 1000);
    assert!(matches!(
        Sell::from_csr(&arrow(10_000), 1),
        Err(Error::Padding { format: "sell", advice: "crs", .. })
    ));
    // In a longer matrix the one wide slice is forgiven, and is what ELLPACK's refusal advises.
    let mut lengths = vec![4; 10_000];
    lengths[77] = 500;
    let a = with_lengths(10_000, &lengths);
    assert!(matches!(Ell::from_csr(&a), Err(Error::Padding { advice: "sell", .. })));
    assert_eq!(Sell::from_csr(&a, 1).unwrap().to_csr(), a);
}

#[test]
fn memplus_is_refused_as_ellpack() {
    let Some(path) = collection("memplus.mtx.gz") else { return };
    let (a, _) = read_matrix(&path, &mut |_, _| ()).unwrap();
    let Err(Error::Padding { stored, longest, .. }) = Ell::from_csr(&a) else { panic!("not refused") };
    assert_eq!((a.n_rows(), longest), (17_758, 574));
    assert_eq!(stored, 17_760 * 574);
}

#[test]
fn row_statistics_count_every_row() {
    let mut lengths = vec![3; 9000];
    (lengths[0], lengths[8999], lengths[4500]) = (0, 0, 11);
    let stats = row_stats(&with_lengths(20, &lengths));
    assert_eq!((stats.min, stats.max, stats.empty), (0, 11, 2));
    assert!((stats.mean - (8997.0 * 3.0 + 11.0) / 9000.0).abs() < 1e-12);
    assert_eq!(row_stats(&csr(3, &[])), RowStats { min: 0, mean: 0.0, max: 0, empty: 0 });
}

#[test]
fn the_choice_follows_the_padding() {
    let even = with_lengths(50, &[7; 3200]);
    let choice = choose(&even, Target::Gpu);
    assert_eq!((choice.format, choice.sigma), (Format::Sell, 1));
    assert_eq!(choice.reason, "reduced SELL-32, sigma 1: 0.0 % padding");
    assert_eq!(choose(&even, Target::Cpu).format, Format::Crs);

    // Two lengths, mixed: in order every slice has both, a window of 256 parts them.
    let mixed: Vec<usize> = (0..10_240).map(|i| if i % 2 == 0 { 4 } else { 12 }).collect();
    let choice = choose(&with_lengths(50, &mixed), Target::Gpu);
    assert_eq!((choice.format, choice.sigma), (Format::Sell, 256));
    assert_eq!(choice.reason, "reduced SELL-32, sigma 256: 0.0 % padding (50.0 % with the rows in order)");

    // One longer row in each 300: a window of 256 has too few of them.
    let rare: Vec<usize> = (0..40_960).map(|i| if i % 300 == 0 { 16 } else { 4 }).collect();
    let choice = choose(&with_lengths(50, &rare), Target::Gpu);
    assert_eq!((choice.format, choice.sigma), (Format::Sell, 1024));
    assert!(choice.padding.factor() <= 1.15, "{choice:?}");

    // One long row in each 1000: no window has enough of them.
    let rarer: Vec<usize> = (0..40_960).map(|i| if i % 1000 == 0 { 40 } else { 4 }).collect();
    let choice = choose(&with_lengths(50, &rarer), Target::Gpu);
    assert_eq!((choice.format, choice.sigma), (Format::Crs, 1));
    assert!(choice.reason.contains("(sigma 1024)"), "{}", choice.reason);

    let choice = choose(&arrow(3000), Target::Gpu);
    assert_eq!((choice.format, choice.sigma, choice.padding.factor()), (Format::Crs, 1, 1.0));
    assert!(choice.reason.contains("would have") && choice.reason.contains('%'), "{}", choice.reason);
}

#[test]
fn any_matrix_counts_its_bytes() {
    let a = Arc::new(with_lengths(9, &[3; 70]));
    let held = |format, sigma| {
        let m = AnyMatrix::from_csr(&a, format, sigma).unwrap();
        assert_eq!((m.format(), m.n_rows(), m.n_cols(), m.nnz()), (format, 70, 9, 210));
        (m.stored(), m.bytes())
    };
    assert_eq!(held(Format::Crs, 1), (210, 210 * 12 + 71 * 4));
    assert_eq!(held(Format::Ell, 1), (288, 288 * 12));
    assert_eq!(held(Format::Sell, 1), (288, 288 * 12 + 4 * 8));
    assert_eq!(held(Format::Sell, 32), (288, 288 * 12 + 4 * 8 + 96 * 4));
    let single = AnyMatrix::from_csr(&Arc::new(a.cast::<f32>()), Format::Ell, 1).unwrap();
    assert_eq!(single.bytes(), 288 * 8);
    // tet96 in f64, as the figures are stated.
    assert_eq!(spmv_bytes(12_914_298, 875_520, 8, 1), 12 * 12_914_298 + 20 * 875_520);
    assert_eq!(spmv_bytes(4 * 1000, 200, 8, 2), 36 * 1000 + 18 * 200);
}

#[test]
fn formats_are_read_as_they_print() {
    for format in [Format::Crs, Format::Ell, Format::Sell] {
        assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
    }
    assert_eq!("csr".parse::<Format>().unwrap(), Format::Crs);
    let message = "coo".parse::<Format>().unwrap_err().to_string();
    assert!(message.contains("'coo'") && message.contains("crs (or csr), ell, sell"), "{message}");
}

#[test]
fn permuting_moves_rows_and_columns() {
    let a = csr(3, &[&[(0, 1.0), (2, 2.0)], &[(1, 3.0)], &[(0, 4.0), (1, 5.0)]]);
    let order = [2, 0, 1];
    let b = a.permute_symmetric(&order).unwrap();
    for i in 0..3 {
        for j in 0..3 {
            assert_eq!(b.get(i, j), a.get(order[i] as usize, order[j] as usize));
        }
    }
    for wrong in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, u32::MAX]] {
        assert!(matches!(a.permute_symmetric(wrong), Err(Error::Matrix(_))), "{wrong:?}");
    }
    assert!(csr(2, &[&[(0, 1.0)]]).permute_symmetric(&[0]).is_err());
    // And back, on more rows than a task has.
    let a = problem::random_spd(3001, 6, 1);
    let order = random::permutation(3001, 2);
    let mut back = vec![0; 3001];
    order.iter().enumerate().for_each(|(r, &i)| back[i as usize] = r as u32);
    assert_eq!(a.permute_symmetric(&order).unwrap().permute_symmetric(&back).unwrap(), a);
}

#[test]
fn small_csr_operations() {
    let a = csr(3, &[&[(0, 1.25), (2, 2.0)], &[(0, -0.5)]]);
    assert_eq!(a.mul_vec(&[2.0, 7.0, 0.5]), [3.5, -1.0]);
    assert_eq!(a.diagonal(), [1.25, 0.0]);
    assert_eq!(a.map_values(|v| v * 2.0).values(), [2.5, 4.0, -1.0]);
    assert_eq!(a.cast::<f32>().values(), [1.25f32, 2.0, -0.5]);
    assert_eq!((a.get(0, 1), a.get(1, usize::MAX)), (None, None));
    let identity = Csr::<f64>::identity(5);
    assert_eq!(identity.mul_vec(&[1.0, 2.0, 3.0, 4.0, 5.0]), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(Csr::<f32>::identity(0).nnz(), 0);
}

#[test]
fn a_part_has_its_rows_in_its_columns() {
    let a = csr(3, &[&[(0, 2.0), (1, 1.0)], &[(0, 1.0), (2, -1.0)], &[(1, -1.0), (2, 3.0)]]);
    let b = a.chosen_part(&[1], &[0, 2]);
    assert_eq!((b.n_rows(), b.n_cols(), b.row(0)), (1, 2, (&[0u32, 1][..], &[1.0, -1.0][..])));
}
