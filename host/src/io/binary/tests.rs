use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use super::header::{Header, Layout, SIZE};
use super::*;
use crate::error::Error;
use crate::io::matrix::{self, Symmetry};
use crate::io::matrix_market::tests::properties::any_matrix;
use crate::matrix::{Coo, Csr};

/// A folder with one file in it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }
    fn path(&self) -> PathBuf {
        self.0.path().join("a.wsm")
    }
    fn bytes_of(&self, a: &Csr<f64>, symmetry: Symmetry, comment: &str) -> Vec<u8> {
        write_matrix(&self.path(), a, symmetry, comment).unwrap();
        std::fs::read(self.path()).unwrap()
    }
    fn fault(&self, bytes: &[u8]) -> Fault {
        std::fs::write(self.path(), bytes).unwrap();
        match read_matrix(&self.path(), &mut |_, _| {}) {
            Err(Error::Binary { path, fault }) => {
                assert_eq!(path, self.path());
                fault
            }
            other => panic!("{other:?}"),
        }
    }
}

/// ```text
/// [ 1.5  .  -0.0  .  ]
/// [  .   .    .   .  ]
/// [  .  0.1   .  1e300 ]
/// ```
fn sample() -> Csr<f64> {
    Csr::new(3, 4, vec![0, 2, 2, 4], vec![0, 2, 1, 3], vec![1.5, -0.0, 0.1, 1e300]).unwrap()
}

fn bits(a: &Csr<f64>) -> (&[usize], &[u32], Vec<u64>) {
    (a.row_ptr(), a.col_idx(), a.values().iter().map(|v| v.to_bits()).collect())
}

/// CRC-32 as its definition has it, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, &byte: &u8| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    };
    !bytes.iter().fold(!0, step)
}

/// A file with right offsets and checksums, whatever its sections hold.
fn crafted(
    n_rows: u64,
    n_cols: u64,
    row_ptr: &[u64],
    col_idx: &[u32],
    values: &[f64],
    comment: &[u8],
) -> Vec<u8> {
    let mut sections = [
        row_ptr.iter().flat_map(|p| p.to_le_bytes()).collect(),
        col_idx.iter().flat_map(|j| j.to_le_bytes()).collect(),
        values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        comment.to_vec(),
    ];
    sections
        .iter_mut()
        .for_each(|section: &mut Vec<u8>| section.resize(section.len().next_multiple_of(64), 0));
    let header = Header {
        symmetry: Symmetry::General,
        n_rows,
        n_cols,
        nnz: values.len() as u64,
        comment_len: comment.len() as u64,
        checksums: std::array::from_fn(|k| crc32(&sections[k])),
    };
    let mut bytes = header.to_bytes(&header.layout().unwrap()).to_vec();
    sections.iter().for_each(|section| bytes.extend(section));
    bytes
}

#[test]
fn a_claim_to_symmetry_is_checked() {
    let folder = Folder::new();
    let of = |upper: f64, diagonal: f64| {
        Csr::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![diagonal, upper, 3.0, diagonal]).unwrap()
    };
    for (a, claim, what) in [
        (
            of(2.0, 1.0),
            Symmetry::Symmetric,
            "symmetric, but not symmetric: entry (1, 2) is 2, entry (2, 1) is 3",
        ),
        (of(-3.0, 1.0), Symmetry::Skew, "skew-symmetric, but row 1 is not that of the negative transpose"),
        (of(3.0, 0.0), Symmetry::Skew, "skew-symmetric, but row 1"),
    ] {
        let bytes = folder.bytes_of(&a, claim, "");
        assert!(matches!(folder.fault(&bytes), Fault::Structure(text) if text.contains(what)), "{what}");
    }
}

#[test]
fn every_byte_is_where_the_documentation_has_it() {
    let bytes = Folder::new().bytes_of(&sample(), Symmetry::General, "from somewhere");
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(bytes[..8], [0x89, 0x57, 0x53, 0x4d, 0x0d, 0x0a, 0x1a, 0x0a]);
    assert_eq!((u32_at(8), bytes[12], bytes[13], bytes[14], bytes[15]), (1, 0, 1, 8, 4));
    assert_eq!([16, 24, 32].map(u64_at), [3, 4, 4]);
    let offsets = [40, 48, 56, 64].map(u64_at);
    assert_eq!((offsets, u64_at(72), u64_at(80)), ([128, 192, 256, 320], 14, 384));
    for (k, at) in [88, 92, 96, 100].into_iter().enumerate() {
        let start = offsets[k] as usize;
        assert_eq!(u32_at(at), crc32(&bytes[start..start + 64]), "section {k}");
    }
    assert!(bytes[104..124].iter().all(|&byte| byte == 0));
    assert_eq!(u32_at(124), crc32(&bytes[..124]));
    assert_eq!([128, 136, 144, 152].map(u64_at), [0, 2, 2, 4]);
    assert_eq!([192, 196, 200, 204].map(u32_at), [0, 2, 1, 3]);
    assert_eq!([256, 264, 272, 280].map(|at| f64::from_bits(u64_at(at))), [1.5, -0.0, 0.1, 1e300]);
    assert_eq!(&bytes[320..334], b"from somewhere");
    for padding in [160..192, 208..256, 288..320, 334..384] {
        assert!(bytes[padding].iter().all(|&byte| byte == 0));
    }
    assert_eq!(bytes.len(), 384);
    let by_hand = crafted(3, 4, &[0, 2, 2, 4], &[0, 2, 1, 3], &[1.5, -0.0, 0.1, 1e300], b"from somewhere");
    assert_eq!(bytes, by_hand);
}

#[test]
fn every_changed_byte_is_noticed() {
    let folder = Folder::new();
    let bytes = folder.bytes_of(&sample(), Symmetry::General, "from somewhere");
    for at in 0..bytes.len() {
        for mask in [0x01, 0x10, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= mask;
            let expected = match at {
                0..8 => Fault::Format,
                8..12 => Fault::Version(1 ^ (u32::from(mask) << (8 * (at - 8)))),
                12..128 => Fault::Checksum(Section::Header),
                128..192 => Fault::Checksum(Section::RowPtr),
                192..256 => Fault::Checksum(Section::ColIdx),
                256..320 => Fault::Checksum(Section::Values),
                _ => Fault::Checksum(Section::Comment),
            };
            assert_eq!(folder.fault(&changed), expected, "byte {at} ^ {mask:#x}");
        }
    }
}

#[test]
fn every_other_length_is_noticed() {
    let folder = Folder::new();
    let bytes = folder.bytes_of(&sample(), Symmetry::General, "from somewhere");
    for length in 0..bytes.len() {
        let expected = if length < SIZE { SIZE } else { bytes.len() };
        let expected = Fault::Truncated { expected: expected as u64, found: length as u64 };
        assert_eq!(folder.fault(&bytes[..length]), expected);
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(folder.fault(&longer), Fault::Sizes("1 bytes behind its end".into()));
}

#[test]
fn sizes_are_not_believed() {
    let folder = Folder::new();
    let good = Header {
        symmetry: Symmetry::General,
        n_rows: 3,
        n_cols: 3,
        nnz: 3,
        comment_len: 0,
        checksums: [0; 4],
    };
    let layout = good.layout().unwrap();
    let fault = |header: Header, layout: Layout| {
        let mut bytes = header.to_bytes(&layout).to_vec();
        bytes.resize(good.layout().unwrap().file_len as usize, 0);
        folder.fault(&bytes)
    };
    let size =
        |header: &Header, found: u64| Fault::Truncated { expected: header.layout().unwrap().file_len, found };
    for header in [
        Header { n_rows: u32::MAX.into(), ..good.clone() },
        Header { nnz: 1 << 58, ..good.clone() },
        Header { comment_len: 1 << 62, ..good.clone() },
    ] {
        let expected = size(&header, layout.file_len);
        assert_eq!(fault(header.clone(), header.layout().unwrap()), expected);
    }
    // 8 (nnz + 1) bytes overflow 64 bits, to something small.
    let contradiction = |header: Header, layout: Layout, expected: &str| match fault(header, layout) {
        Fault::Sizes(what) => assert!(what.contains(expected), "{what}"),
        other => panic!("{other:?}"),
    };
    for nnz in [u64::MAX, 1 << 61, 1 << 63] {
        contradiction(Header { nnz, ..good.clone() }, layout, "its sections are not where 3 rows and");
    }
    contradiction(Header { comment_len: u64::MAX, ..good.clone() }, layout, "its sections are not where");
    contradiction(Header { nnz: 100, ..good.clone() }, layout, "its sections are not where");
    let moved = Layout { offsets: [128, 128, 128, 128], ..layout };
    contradiction(good.clone(), moved, "its sections are not where");
    contradiction(
        good.clone(),
        Layout { file_len: layout.file_len + 64, ..layout },
        "its sections are not where",
    );
    contradiction(Header { n_cols: 1 << 32, ..good.clone() }, layout, "32-bit indices");
    let header = Header { symmetry: Symmetry::Skew, n_cols: 4, ..good.clone() };
    contradiction(header, layout, "3 x 4, but skew-symmetric");
    for (at, what) in
        [(12, "symmetry 7"), (13, "values of type 7"), (14, "7 bytes a row"), (15, "and 7 a column")]
    {
        let mut bytes = good.to_bytes(&layout).to_vec();
        bytes[at] = 7;
        let own = crc32(&bytes[..124]);
        bytes[124..].copy_from_slice(&own.to_le_bytes());
        assert!(matches!(folder.fault(&bytes), Fault::Sizes(text) if text.contains(what)), "{what}");
    }
}

#[test]
fn arrays_that_are_no_matrix_are_refused() {
    let folder = Folder::new();
    type Arrays<'a> = (&'a [u64], &'a [u32], &'a [f64], &'a [u8]);
    let cases: [(Arrays, &str); 8] = [
        ((&[0, 1, 2], &[1, 3], &[1.0, 2.0], b""), "row 2: column 4 of 3"),
        ((&[0, 1, 2], &[1, u32::MAX], &[1.0, 2.0], b""), "row 2: column 4294967296 of 3"),
        ((&[0, 2, 2], &[1, 1], &[1.0, 2.0], b""), "row 1: columns do not ascend strictly"),
        ((&[0, 2, 1], &[1, 2], &[1.0, 2.0], b""), "row_ptr ends at 1, but there are 2 columns"),
        ((&[0, u64::MAX, 2], &[1, 2], &[1.0, 2.0], b""), "row 1: row_ptr decreases"),
        ((&[1, 1, 2], &[1, 2], &[1.0, 2.0], b""), "start with 0"),
        ((&[0, 1, 2], &[1, 2], &[1.0, f64::NAN], b""), "matrix entry is NaN at row 2, column 3"),
        ((&[0, 1, 2], &[1, 2], &[1.0, 2.0], b"\xff"), "UTF-8"),
    ];
    for ((row_ptr, col_idx, values, comment), expected) in cases {
        match folder.fault(&crafted(2, 3, row_ptr, col_idx, values, comment)) {
            Fault::Structure(what) => assert!(what.contains(expected), "{what}"),
            other => panic!("{expected}: {other:?}"),
        }
    }
}

#[test]
fn empty_matrices_and_rows() {
    let folder = Folder::new();
    for (n_rows, n_cols) in [(0, 0), (0, 3), (3, 0), (5, 5)] {
        let a = Csr::new(n_rows, n_cols, vec![0; n_rows + 1], vec![], vec![]).unwrap();
        folder.bytes_of(&a, Symmetry::General, "");
        let (b, summary) = read_matrix(&folder.path(), &mut |_, _| {}).unwrap();
        assert_eq!((a, 0, ""), (b, summary.entries_in_file, summary.comment.as_str()));
    }
}

#[test]
fn many_pieces_are_put_together_whatever_the_threads() {
    let folder = Folder::new();
    // More row pointers than are read between two reports.
    let n = (1 << 22) + 1000;
    let values: Vec<f64> = (0..n).map(|k| (k as f64 * 0.37).sin()).collect();
    let a = Csr::new(n, n, (0..=n).collect(), (0..n as u32).rev().collect(), values).unwrap();
    let threads = |count: usize| rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
    let bytes = threads(3).install(|| folder.bytes_of(&a, Symmetry::General, "long"));
    assert!(bytes == threads(1).install(|| folder.bytes_of(&a, Symmetry::General, "long")));
    for count in [1, 3] {
        let mut reports = Vec::new();
        let read = || read_matrix(&folder.path(), &mut |done, all| reports.push((done, all))).unwrap();
        let (b, summary) = threads(count).install(read);
        assert!(a == b && summary.bytes == bytes.len() as u64);
        assert!(reports.is_sorted() && reports.len() > 4, "{reports:?}");
        assert_eq!(reports.last(), Some(&(summary.bytes, summary.bytes)));
    }
}

#[test]
fn files_are_known_by_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_matrix(&path("a.dat"), &sample(), Symmetry::General, "").unwrap();
    assert_eq!(matrix::read_matrix(&path("a.dat"), &mut |_, _| {}).unwrap().0, sample());
    std::fs::write(path("text.wsm"), "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")
        .unwrap();
    let error = matrix::read_matrix(&path("text.wsm"), &mut |_, _| {}).unwrap_err().to_string();
    assert!(error.contains("text.wsm: not a binary matrix"), "{error}");
    let missing = matrix::read_matrix(&path("no.wsm"), &mut |_, _| {}).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read ") && missing.contains("no.wsm: No such file"), "{missing}");
    assert!(matches!(read_matrix(folder.path(), &mut |_, _| {}), Err(Error::Io { .. })));
}

/// `a`, or a symmetric or skew-symmetric matrix with its entries below the diagonal.
fn mirrored(a: &Csr<f64>, symmetry: Symmetry) -> Csr<f64> {
    let sign = match symmetry {
        Symmetry::General => return a.clone(),
        Symmetry::Symmetric => 1.0,
        Symmetry::Skew => -1.0,
    };
    let n = a.n_rows().max(a.n_cols());
    let mut coo = Coo::new(n, n, 0).unwrap();
    for i in 0..a.n_rows() {
        let (columns, values) = a.row(i);
        for (&j, &value) in columns.iter().zip(values).filter(|&(&j, _)| (j as usize) < i) {
            coo.push(i, j as usize, value);
        }
    }
    coo.mirror(sign);
    coo.into_csr().0
}

proptest! {
    #[test]
    fn text_and_back_has_the_same_bits(a in any_matrix(), kind in 0usize..3, comment in "([!-~][ -~]{0,18}[!-~])?(\n[a-z]{1,5}){0,3}") {
        let a = mirrored(&a, [Symmetry::General, Symmetry::Symmetric, Symmetry::Skew][kind]);
        let folder = tempfile::tempdir().unwrap();
        let [first, binary, second] = ["a.mtx", "a.wsm", "b.mtx"].map(|name| folder.path().join(name));
        let symmetry = matrix::write_matrix(&first, &a, &comment).unwrap().1;
        let (b, text_summary) = matrix::read_matrix(&first, &mut |_, _| {}).unwrap();
        prop_assert_eq!(bits(&a), bits(&b));
        matrix::write_matrix(&binary, &b, &text_summary.comment).unwrap();
        let (c, binary_summary) = matrix::read_matrix(&binary, &mut |_, _| {}).unwrap();
        prop_assert_eq!(bits(&a), bits(&c));
        prop_assert_eq!((binary_summary.symmetry, binary_summary.layout), (symmetry, None));
        prop_assert_eq!(&binary_summary.comment, &text_summary.comment);
        prop_assert_eq!(binary_summary.explicit_zeros, a.values().iter().filter(|&&v| v == 0.0).count() as u64);
        matrix::write_matrix(&second, &c, &binary_summary.comment).unwrap();
        prop_assert_eq!(std::fs::read(first).unwrap(), std::fs::read(second).unwrap());
    }

    #[test]
    fn garbage_never_panics(noise in proptest::collection::vec(any::<u8>(), 0..300), after in 0usize..128) {
        let folder = Folder::new();
        let good = folder.bytes_of(&sample(), Symmetry::General, "");
        folder.fault(&[&good[..after], &noise].concat());
    }
}

#[test]
fn rows_are_those_of_the_whole_and_so_are_their_checksums() {
    let a = crate::problem::generate(&"random-spd:300".parse().unwrap(), 1).unwrap();
    let folder = Folder::new();
    let bytes = folder.bytes_of(&a, Symmetry::Symmetric, "comment");
    let ranges = [0..0, 0..7, 7..7, 7..201, 201..300, 300..300];
    let file = RowFile::open(&folder.path()).unwrap();
    assert_eq!((file.n_rows(), file.n_cols()), (300, 300));
    let mut sums = Vec::new();
    for range in &ranges {
        let lengths: Vec<usize> = range.clone().map(|i| a.row_len(i)).collect();
        assert_eq!(file.lengths(range.clone()).unwrap(), lengths);
        let (rows, its) = file.rows(range.clone()).unwrap();
        let numbers: Vec<u32> = range.clone().map(|i| i as u32).collect();
        assert_eq!(bits(&file.matrix(rows).unwrap()), bits(&a.chosen_rows(&numbers)));
        sums.push(its);
    }
    file.check(&sums).unwrap();
    assert!(file.check(&sums[1..4]).unwrap_err().to_string().contains("the row pointers"));

    // A bit of a value is another.
    let (_, layout) = Header::read(&bytes, bytes.len() as u64).unwrap();
    let mut damaged = bytes.clone();
    damaged[layout.offsets[2] as usize + 1700] ^= 1;
    std::fs::write(folder.path(), &damaged).unwrap();
    let file = RowFile::open(&folder.path()).unwrap();
    let sums: Vec<Sums> = ranges.iter().map(|range| file.rows(range.clone()).unwrap().1).collect();
    let error = file.check(&sums).unwrap_err().to_string();
    assert!(error.contains("the checksum of the values does not agree"), "{error}");

    // Row pointers that lead out of the file are no reason to read there.
    let mut damaged = bytes.clone();
    damaged[layout.offsets[0] as usize + 8 * 7 + 6] = 0x7f;
    std::fs::write(folder.path(), &damaged).unwrap();
    let file = RowFile::open(&folder.path()).unwrap();
    assert!(file.rows(0..7).err().unwrap().to_string().contains("row 7: row_ptr is beyond the last entry"));
    assert!(file.rows(7..9).err().unwrap().to_string().contains("row 8: row_ptr decreases"));
}
