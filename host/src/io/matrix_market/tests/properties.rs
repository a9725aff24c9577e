//! Random matrices and random faults.

use super::*;

/// Any finite double, all magnitudes alike.
fn finite() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |v| v.is_finite())
}

pub(in crate::io) fn any_matrix() -> impl Strategy<Value = Csr<f64>> {
    (1usize..30, 1usize..30).prop_flat_map(|(n_rows, n_cols)| {
        let entry = (0..n_rows, 0..n_cols);
        let pattern = proptest::collection::btree_set(entry, 0..100);
        (pattern, proptest::collection::vec(finite(), 100)).prop_map(move |(pattern, values)| {
            let mut coo = Coo::new(n_rows, n_cols, 0).unwrap();
            pattern.into_iter().zip(values).for_each(|((i, j), v)| coo.push(i, j, v));
            coo.into_csr().0
        })
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back_to_the_same_bits(a in any_matrix(), gz in any::<bool>(), cut in 0usize..4) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(if gz { "a.mtx.gz" } else { "a.mtx" });
        write_matrix(&path, &a, Symmetry::General, "round trip").unwrap();
        let (b, summary) = matrix_from(Source::open(&path).unwrap(), CUTS[cut], &mut |_, _| {}).unwrap();
        prop_assert_eq!(bits(&a), bits(&b));
        prop_assert_eq!(summary.entries_in_file, a.nnz() as u64);
        prop_assert_eq!(a, b);
    }

    #[test]
    fn mutations_never_panic_and_do_not_depend_on_the_cut(
        a in any_matrix(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..6),
        gz in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(if gz { "a.mtx.gz" } else { "a.mtx" });
        write_matrix(&path, &a, Symmetry::General, "").unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        for (at, byte, kind) in edits {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, b"0123456789 .-eE%\n\r"[byte as usize % 18]),
                _ => drop(bytes.remove(at)),
            }
        }
        let _ = parse(&bytes);
    }

    #[test]
    fn garbage_below_a_good_header_never_panics(
        symmetry in 0usize..3,
        array in any::<bool>(),
        n in 0u32..6,
        body in "[0-4 .e%\n\r\t-]{0,80}",
        noise in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let word = [Symmetry::General, Symmetry::Symmetric, Symmetry::Skew][symmetry].word();
        let head = if array { format!("array integer {word}\n{n} {n}") } else { format!("coordinate real {word}\n{n} {n} 3") };
        let mut bytes = format!("%%MatrixMarket matrix {head}\n{body}").into_bytes();
        let _ = parse(&bytes);
        bytes.extend_from_slice(&noise);
        let _ = parse(&bytes);
        let _ = parse(&noise);
    }
}
