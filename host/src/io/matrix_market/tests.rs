use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;
use crate::error::Error;

pub mod properties;

/// Cuts that put every kind of boundary everywhere, and the one in use.
const CUTS: [Pieces; 4] = [
    Pieces { batch: 1, chunk: 1 },
    Pieces { batch: 7, chunk: 3 },
    Pieces { batch: 64, chunk: 16 },
    Pieces::DEFAULT,
];

fn parse_cut(bytes: &[u8], pieces: Pieces) -> Result<(Csr<f64>, Summary)> {
    matrix_from(Source::from_bytes(bytes, Path::new("t.mtx"))?, pieces, &mut |_, _| {})
}

/// Parses with every cut and insists on one answer.
fn parse(bytes: &[u8]) -> Result<(Csr<f64>, Summary)> {
    let outcome = parse_cut(bytes, Pieces::DEFAULT);
    for pieces in CUTS {
        match (&outcome, parse_cut(bytes, pieces)) {
            (Ok(a), Ok(b)) => assert_eq!(a, &b, "{pieces:?}"),
            (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string(), "{pieces:?}"),
            (a, b) => panic!("{pieces:?}: {a:?} and {b:?}"),
        }
    }
    outcome
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn dense(a: &Csr<f64>) -> Vec<Vec<f64>> {
    let mut dense = vec![vec![0.0; a.n_cols()]; a.n_rows()];
    for (i, row) in dense.iter_mut().enumerate() {
        let (cols, values) = a.row(i);
        cols.iter().zip(values).for_each(|(&j, &v)| row[j as usize] = v);
    }
    dense
}

fn bits(a: &Csr<f64>) -> Vec<u64> {
    a.values().iter().map(|v| v.to_bits()).collect()
}

const GENERAL: &str = "%%MatrixMarket matrix coordinate real general\n";

#[test]
fn every_way_to_write_a_line() {
    let text = "%%matrixMARKET Matrix  COORDINATE Double General \r\n% comment\n\n  \t\n%\n 3 4\t7 \n\
        1 1 1.5\n\t2   2\t-2d2  \r\n%in between\n   \n3 3 +.5\n1 4 5.\n2 1 1E-3\n3 1 1D+2\n0003 004 -7";
    let (a, summary) = parse(text.as_bytes()).unwrap();
    let expected = [[1.5, 0.0, 0.0, 5.0], [1e-3, -200.0, 0.0, 0.0], [100.0, 0.0, 0.5, -7.0]];
    assert_eq!(dense(&a), expected);
    assert_eq!(summary.field, Field::Real);
    assert_eq!((summary.entries_in_file, summary.duplicates, summary.explicit_zeros), (7, 0, 0));
    assert_eq!(summary.bytes, text.len() as u64);
}

#[test]
fn fields_and_symmetries() {
    let pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n3 1\n3 2\n";
    let expected = [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]];
    assert_eq!(dense(&parse(pattern.as_bytes()).unwrap().0), expected);
    let skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 3\n2 1 -4\n3 2 +7\n2 2 0\n";
    let (a, summary) = parse(skew.as_bytes()).unwrap();
    assert_eq!(dense(&a), [[0.0, 4.0, 0.0], [-4.0, 0.0, -7.0], [0.0, 7.0, 0.0]]);
    assert_eq!((summary.field, summary.symmetry), (Field::Integer, Symmetry::Skew));
    assert_eq!((summary.explicit_zeros, a.nnz()), (1, 5));
}

#[test]
fn arrays_run_down_the_columns() {
    let array = |kind: &str, size: &str, values: &str| {
        let text = format!("%%MatrixMarket matrix array {kind}\n{size}\n{}\n", values.replace(' ', "\n"));
        let (a, summary) = parse(text.as_bytes()).unwrap();
        assert_eq!(summary.layout, Some(Layout::Array));
        (dense(&a), a.nnz())
    };
    assert_eq!(
        array("real general", "2 3", "1 2 0 4 .5 6"),
        (vec![vec![1.0, 0.0, 0.5], vec![2.0, 4.0, 6.0]], 5)
    );
    assert_eq!(
        array("integer symmetric", "3 3", "1 2 3 4 5 6"),
        (vec![vec![1.0, 2.0, 3.0], vec![2.0, 4.0, 5.0], vec![3.0, 5.0, 6.0]], 9)
    );
    assert_eq!(
        array("real skew-symmetric", "3 3", "1 2 3"),
        (vec![vec![0.0, -1.0, -2.0], vec![1.0, 0.0, -3.0], vec![2.0, 3.0, 0.0]], 6)
    );
}

#[test]
fn duplicates_are_summed_and_counted_as_they_stand_in_the_file() {
    let body = "2 2 5\n1 1 .5\n2 1 1\n2 1 .25\n2 1 .5\n1 1 1\n";
    let (a, summary) = parse(format!("{GENERAL}{body}").as_bytes()).unwrap();
    assert_eq!((dense(&a), summary.duplicates), (vec![vec![1.5, 0.0], vec![1.75, 0.0]], 3));
    let symmetric = format!("%%MatrixMarket matrix coordinate real symmetric\n{body}");
    let (a, summary) = parse(symmetric.as_bytes()).unwrap();
    assert_eq!((dense(&a), summary.duplicates), (vec![vec![1.5, 1.75], vec![1.75, 0.0]], 3));
    let overflow = parse(format!("{GENERAL}2 3 2\n2 3 1e308\n2 3 1e308\n").as_bytes()).unwrap_err();
    assert!(overflow.to_string().contains("inf at row 2, column 3"), "{overflow}");
}

#[test]
fn sizes_zero_and_one() {
    assert_eq!(parse(format!("{GENERAL}0 0 0").as_bytes()).unwrap().0.n_rows(), 0);
    assert_eq!(parse(format!("{GENERAL}2 3 0\n\n% end").as_bytes()).unwrap().0.row_ptr(), [0, 0, 0]);
    assert_eq!(dense(&parse(format!("{GENERAL}1 1 1\n1 1 3").as_bytes()).unwrap().0), [[3.0]]);
    let skew = "%%MatrixMarket matrix array real skew-symmetric\n1 1\n";
    assert_eq!(parse(skew.as_bytes()).unwrap().0.nnz(), 0);
}

#[test]
fn faults_are_reported_with_their_line() {
    let coordinate = |kind: &str, body: &str| format!("%%MatrixMarket matrix coordinate {kind}\n{body}");
    let general = |body: &str| coordinate("real general", body);
    let cases: Vec<(String, u64, &str)> = vec![
        ("".into(), 1, "empty"),
        ("\n".into(), 1, "not a Matrix Market file"),
        ("PK\x03\x04\0\0".into(), 1, "starts with \"PK\\x03\\x04\\x00\\x00\""),
        ("%%MatrixMarket matrix coordinate real\n".into(), 1, "4 words instead of 5"),
        ("\u{feff}%%MatrixMarket matrix coordinate real general\n".into(), 1, "a byte order mark"),
        ("%%MatrixMarket matrix coordinate real general\r1 1 1\r1 1 2.0\r".into(), 1, "as on old Macs"),
        ("%%MatrixMarket vector coordinate real general\n".into(), 1, "unknown object \"vector\""),
        ("%%MatrixMarket matrix sparse real general\n".into(), 1, "unknown format \"sparse\""),
        (coordinate("reel general", ""), 1, "unknown field \"reel\" in the banner; expected real, integer"),
        (coordinate("real diagonal", ""), 1, "unknown symmetry \"diagonal\""),
        (coordinate("complex general", "1 1 1\n1 1 1 0\n"), 1, "complex matrices are not supported"),
        (coordinate("real hermitian", "1 1 1\n1 1 1\n"), 1, "hermitian matrices are complex"),
        (coordinate("pattern skew-symmetric", "1 1 0\n"), 1, "no signs"),
        ("%%MatrixMarket matrix array pattern general\n1 1\n1\n".into(), 1, "no values"),
        (general(""), 1, "ends before the size line (rows columns entries)"),
        (general("% only\n\n%comments"), 4, "ends before the size line"),
        (general("3 3\n"), 2, "3 numbers, but it has 2 fields"),
        (general("%\n3 3 3 3\n"), 3, "but it has 4 fields"),
        (general("3 -3 1\n"), 2, "\"-3\" in the size line"),
        (general("3 3 99999999999999999999999\n"), 2, "is not a count"),
        (general("4294967296 3 1\n1 1 1\n"), 2, "32-bit indices"),
        (general("4000000000 4000000000 5\n1 1 1\n"), 2, "4000000000 rows, but only 5 entries"),
        (coordinate("real symmetric", "3 4 1\n1 1 1\n"), 2, "must be square, not 3 x 4"),
        (general("3 3 2\n1 1 1\n0 2 1\n"), 4, "row index 0: indices count from 1"),
        (general("3 3 2\n1 1 1\n2 0 1\n"), 4, "column index 0"),
        (general("3 4 2\n4 1 1\n2 0 1\n"), 3, "row index 4 is outside of 1..3"),
        (general("3 4 1\n3 5 1\n"), 3, "column index 5 is outside of 1..4"),
        (general("3 4 1\n-1 1 1\n"), 3, "row index -1 is outside of 1..3"),
        (general("3 4 1\n18446744073709551617 1 1\n"), 3, "is outside of 1..3"),
        (general("3 4 1\n1.0 1 1\n"), 3, "\"1.0\" is not a row index"),
        (general("3 4 1\n1 x 1\n"), 3, "\"x\" is not a column index"),
        (general("3 4 1\n1\n"), 3, "the column index is missing"),
        (general("3 4 2\n1 1 1\n\n% c\n2 2\n"), 6, "the value is missing"),
        (general("3 4 1\n1 1 1 0\n"), 3, "\"0\" is one field too many"),
        (general("3 4 1\n1 1 abc\n"), 3, "\"abc\" is not a number"),
        (general("3 4 1\n1 1 1,5\n"), 3, "\"1,5\" is not a number"),
        (general("3 4 1\n1 1 -\n"), 3, "\"-\" is not a number"),
        (general("3 4 1\n1 1 1e\n"), 3, "\"1e\" is not a number"),
        (general("3 4 1\n1 1 NaN\n"), 3, "\"NaN\" is not a finite number"),
        (general("3 4 1\n1 1 -inf\n"), 3, "\"-inf\" is not a finite number"),
        (general("3 4 1\n1 1 1e999\n"), 3, "\"1e999\" is not a finite number"),
        (general("3 4 1\n1 1 \x001\n"), 3, "\"\\x001\" is not a number"),
        (coordinate("integer general", "3 3 1\n1 1 1.5\n"), 3, "\"1.5\" is not an integer"),
        (coordinate("integer general", "3 3 1\n1 1\n"), 3, "the value is missing"),
        (coordinate("pattern general", "3 3 1\n1 1 1\n"), 3, "\"1\" is one field too many"),
        (coordinate("real symmetric", "3 3 2\n2 1 1\n1 2 1\n"), 4, "entry (1, 2) lies above the diagonal"),
        (coordinate("real skew-symmetric", "3 3 1\n2 2 1\n"), 3, "entry (2, 2) lies on the diagonal"),
        (
            general("3 3 3\n1 1 1\n2 2 1\n\n"),
            5,
            "truncated: the header announces 3 entries, but the file has 2",
        ),
        (
            general("3 3 9999999999999\n1 1 1\n2 2 1"),
            4,
            "announces 9999999999999 entries, but the file has 2",
        ),
        (general("4294967295 4294967295 99999999999\n1 1 1\n"), 3, "announces 99999999999 entries"),
        (general("3 3 1\n\n1 1 1\n%\n\n2 2 1\nrubbish\n"), 7, "announces 1 entries, but here is one more"),
        (general("3 3 1\n1 1 1\nrubbish\n"), 4, "here is one more"),
        (general("3 3 2\n1 1 1\nrubbish\n2 2 2\n3 3 3\n"), 4, "\"rubbish\" is not a row index"),
        (general("3 3 0\n1 1 1\n"), 3, "announces 0 entries, but here is one more"),
        ("%%MatrixMarket matrix array real general\n2 2 4\n1\n".into(), 2, "2 numbers, but it has 3 fields"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n".into(), 5, "announces 4 values"),
        ("%%MatrixMarket matrix array real general\n2 1\n1 2\n".into(), 3, "\"2\" is one field too many"),
        ("%%MatrixMarket matrix array real general\n1 1\n1\n\n2\n".into(), 5, "announces 1 values"),
    ];
    for (text, line, message) in cases {
        let found = parse(text.as_bytes()).expect_err(&text).to_string();
        assert!(
            found.starts_with(&format!("t.mtx:{line}: ")) && found.contains(message),
            "{text:?}: {found}"
        );
        let crlf = text.replace('\n', "\r\n");
        let found = parse(crlf.as_bytes()).expect_err(&crlf).to_string();
        assert!(
            found.starts_with(&format!("t.mtx:{line}: ")) && found.contains(message),
            "{crlf:?}: {found}"
        );
        if !text.is_empty() {
            assert_eq!(parse(&gzip(crlf.as_bytes())).expect_err(&crlf).to_string(), found);
        }
        let (_folder, path) = on_disk(text.as_bytes());
        for count in [1, 2, 5].into_iter().filter(|_| !text.contains(" array ")) {
            let in_parts = by_parts(&path, count).expect_err(&text).to_string();
            let found = in_parts.split_once("t.mtx:").map(|(_, found)| found);
            let is_same = |found: &str| found.starts_with(&format!("{line}: ")) && found.contains(message);
            assert!(found.is_some_and(is_same), "{text:?} in {count} parts: {in_parts}");
        }
    }
}

/// Row, column and the bits of a value.
type Entry = (u32, u32, u64);

/// Reads a file in so many parts, one after the other; entries as they are in the file.
fn by_parts(path: &Path, count: usize) -> Result<(Vec<Entry>, Option<f64>)> {
    let file = EntryFile::open(path)?;
    let parts = (0..count).map(|k| file.part(k, count)).collect::<Result<Vec<Part>>>()?;
    let counts: Vec<Count> = parts.iter().map(Part::count).collect();
    parts.iter().enumerate().try_for_each(|(k, part)| file.check(part, k, &counts))?;
    let entries = |Part { rows, cols, values, .. }: Part| {
        let places = rows.into_iter().zip(cols).zip(values);
        places.map(|((row, col), value)| (row, col, value.to_bits())).collect::<Vec<_>>()
    };
    Ok((parts.into_iter().flat_map(entries).collect(), file.mirrored()))
}

/// A file of this text, in a folder that goes with it.
fn on_disk(text: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.mtx");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn parts_of_a_file_are_the_whole() {
    let lines: Vec<String> = (1..=300).map(|k| format!("{k} {} -0.{k}", 1 + k * 7 % k)).collect();
    for (kind, sign) in [("general", None), ("symmetric", Some(1.0)), ("skew-symmetric", Some(-1.0))] {
        for end in ["\n", "\r\n"] {
            let kept = lines.iter().skip(usize::from(sign == Some(-1.0)));
            let kept: Vec<String> = kept.cloned().collect();
            let body = kept.join(end).replace("100 ", &format!("% note{end}{end}100 "));
            let text =
                format!("%%MatrixMarket matrix coordinate real {kind}{end}300 300 {}{end}", kept.len());
            let (_folder, path) = on_disk(format!("{text}{body}").as_bytes());
            let (whole, _) = by_parts(&path, 1).unwrap();
            assert_eq!(whole.len(), kept.len());
            for count in [2, 3, 7, 64, 5000] {
                assert_eq!(by_parts(&path, count).unwrap(), (whole.clone(), sign), "{kind}, {count}");
            }
        }
    }
}

#[test]
fn the_first_of_many_faults_in_a_long_file_is_reported() {
    let lines: Vec<String> = (1..=30_000).map(|k| format!("{k} {k} 0.{k}")).collect();
    let text = |spoilt: &[usize]| {
        let mut lines = lines.clone();
        spoilt.iter().for_each(|&k| lines[k] = "1 1 one".into());
        format!("{GENERAL}30000 30000 30000\n{}", lines.join("\n"))
    };
    for spoilt in [&[29_999][..], &[11_111, 11_112, 29_000], &[0, 29_999]] {
        let pieces = Pieces { batch: 40_000, chunk: 1000 };
        let found = parse_cut(text(spoilt).as_bytes(), pieces).unwrap_err().to_string();
        assert!(found.starts_with(&format!("t.mtx:{}: \"one\"", spoilt[0] + 3)), "{found}");
    }
}

#[test]
fn compressed_files_are_known_by_their_content() {
    let text = format!("{GENERAL}2 2 2\n1 1 1.25\n2 1 -3\n");
    let expected = parse(text.as_bytes()).unwrap();
    let whole = gzip(text.as_bytes());
    assert_eq!(parse(&whole).unwrap(), expected);
    let (front, back) = text.as_bytes().split_at(60);
    assert_eq!(parse(&[gzip(front), gzip(b""), gzip(back)].concat()).unwrap(), expected);

    // Without its last 12 bytes the file lacks the checksum and some of the data.
    let cut_short = parse(&whole[..whole.len() - 12]).unwrap_err().to_string();
    assert!(cut_short.contains("t.mtx:") && cut_short.contains("cut short"), "{cut_short}");
    let mut damaged = whole.clone();
    let checksum = damaged.len() - 7;
    damaged[checksum] ^= 0x40;
    let damaged = parse(&damaged).unwrap_err().to_string();
    assert!(damaged.starts_with("t.mtx:5: ") && damaged.contains("damaged"), "{damaged}");
}

#[test]
fn lines_without_end_are_refused_before_they_fill_the_memory() {
    // 64 MiB of one character compress to 64 KiB.
    for (head, line) in [("", 1), (GENERAL, 2), ("%%MatrixMarket matrix coordinate real general\n1 1 1\n", 3)]
    {
        let mut text = head.as_bytes().to_vec();
        text.resize(64 << 20, b'7');
        let found = parse_matrix(&gzip(&text), Path::new("t.mtx")).unwrap_err().to_string();
        assert!(found.starts_with(&format!("t.mtx:{line}: the line is longer than")), "{found}");
    }
}

#[test]
fn vectors() {
    let read =
        |text: &str| vector_from(Source::from_bytes(text.as_bytes(), Path::new("b.mtx")).unwrap(), CUTS[1]);
    assert_eq!(
        read("%%MatrixMarket matrix array real general\n3 1\n1\n0\n-2.5\n").unwrap(),
        [1.0, 0.0, -2.5]
    );
    assert_eq!(
        read("%%MatrixMarket matrix coordinate integer general\n4 1 3\n4 1 7\n2 1 1\n2 1 2\n").unwrap(),
        [0.0, 3.0, 0.0, 7.0]
    );
    let wide = read("%%MatrixMarket matrix array real general\n1 3\n1\n0\n-2.5\n").unwrap_err().to_string();
    assert!(wide.starts_with("b.mtx:2: ") && wide.contains("one column, but this is 1 x 3"), "{wide}");
    let absurd = read("%%MatrixMarket matrix coordinate real general\n4000000000 1 0\n").unwrap_err();
    assert!(absurd.to_string().contains("4000000000 rows, but only 0 entries"), "{absurd}");
    let overflow = read(&format!("{GENERAL}2 1 2\n2 1 -1e308\n2 1 -1e308\n")).unwrap_err();
    assert!(overflow.to_string().contains("-inf at entry 2"), "{overflow}");
}

#[test]
fn writing_checks_the_symmetry_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let matrix = |entries: &[(usize, usize, f64)]| {
        let mut coo = Coo::new(3, 3, 0).unwrap();
        entries.iter().for_each(|&(i, j, v)| coo.push(i, j, v));
        coo.into_csr().0
    };
    let symmetric = matrix(&[(0, 0, 0.1), (0, 2, 1e-300), (2, 0, 1e-300), (1, 2, 3.0), (2, 1, 3.0)]);
    let skew = matrix(&[(0, 2, 0.5), (2, 0, -0.5)]);
    let general = matrix(&[(0, 0, 0.5), (2, 0, -0.5)]);
    for (a, symmetry) in
        [(&symmetric, Symmetry::Symmetric), (&skew, Symmetry::Skew), (&general, Symmetry::General)]
    {
        assert_eq!(symmetry_of(a), symmetry);
        write_matrix(&path, a, symmetry, "two\nlines").unwrap();
        let (b, summary) = read_matrix(&path, &mut |_, _| {}).unwrap();
        assert_eq!((&b, summary.symmetry, summary.comment.as_str()), (a, symmetry, "two\nlines\n"));
    }
    write_matrix(&path, &symmetric, Symmetry::Symmetric, "two\nlines").unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let expected = "%%MatrixMarket matrix coordinate real symmetric\n% two\n% lines\n3 3 3\n\
        1 1 0.1\n3 1 1e-300\n3 2 3.0\n";
    assert_eq!(text, expected);
    let refused = write_matrix(&path, &general, Symmetry::Symmetric, "").unwrap_err().to_string();
    assert!(refused.contains("entry (3, 1) has no equal"), "{refused}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let mut rectangular = Coo::new(2, 3, 0).unwrap();
    rectangular.push(1, 2, 0.3f32);
    let rectangular = rectangular.into_csr().0;
    assert_eq!(symmetry_of(&rectangular), Symmetry::General);
    assert!(write_matrix(&path, &rectangular, Symmetry::Symmetric, "").is_err());
    write_matrix(&path, &rectangular, Symmetry::General, "").unwrap();
    assert_eq!(read_matrix(&path, &mut |_, _| {}).unwrap().0.values(), [0.3f32 as f64]);
}

#[test]
fn long_files_survive_blocks_and_batches() {
    let folder = tempfile::tempdir().unwrap();
    let n = 100_003;
    let x: Vec<f64> = (0..n).map(|k| (k as f64 * 0.37).sin() * 10f64.powi(k % 613 - 306)).collect();
    let mut coo = Coo::new(n as usize, n as usize, 0).unwrap();
    for (k, &value) in x.iter().enumerate() {
        coo.push(k, k * 31 % n as usize, value);
        coo.push(k, k, value + 1.0);
    }
    let a = coo.into_csr().0;
    for name in ["a.mtx", "a.mtx.gz"] {
        let path = folder.path().join(name);
        write_matrix(&path, &a, Symmetry::General, "").unwrap();
        let size = std::fs::metadata(&path).unwrap().len();
        let mut reports = Vec::new();
        let (b, _) = read_matrix(&path, &mut |done, total| reports.push((done, total))).unwrap();
        assert!(a == b && bits(&a) == bits(&b), "{name}");
        assert!(reports.is_sorted() && reports.last() == Some(&(size, size)), "{reports:?}");
        assert_eq!(std::fs::read(&path).unwrap().starts_with(&[0x1f, 0x8b]), name.ends_with("gz"));
        write_vector(&path, &x).unwrap();
        assert!(read_vector(&path).unwrap().iter().zip(&x).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}

#[test]
fn vectors_are_columns_of_arrays_and_of_coordinate_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.mtx");
    let columns = [vec![0.1, -2.5e-300, 3.0], vec![0.0, 7.0, 1.0 / 3.0]];
    write_vectors(&path, &columns).unwrap();
    assert_eq!(read_vectors(&path).unwrap(), columns);
    assert!(read_vector(&path).is_err());
    assert!(write_vectors(&path, &[vec![1.0], vec![]]).is_err());
    let read = |text: &str| {
        std::fs::write(&path, format!("%%MatrixMarket matrix {text}")).unwrap();
        read_vectors(&path)
    };
    let coordinates = read("coordinate real general\n3 2 3\n1 1 4\n3 2 0.5\n3 2 0.25\n").unwrap();
    assert_eq!(coordinates, [vec![4.0, 0.0, 0.0], vec![0.0, 0.0, 0.75]]);
    assert_eq!(read("array real general\n2 1\n1\n2\n").unwrap(), [[1.0, 2.0]]);
    for refused in [
        "array real symmetric\n2 2\n1\n2\n3\n",
        "array real general\n2 0\n",
        "array real general\n2 2\n1\n2\n3\n",
        "coordinate real general\n1048576 4000000000 1\n1 1 1\n",
    ] {
        assert!(matches!(read(refused), Err(Error::Parse { .. })), "{refused}");
    }
}

#[test]
fn missing_files_and_folders() {
    let missing = read_matrix(Path::new("no/such.mtx"), &mut |_, _| {}).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read no/such.mtx"), "{missing}");
    assert!(matches!(read_vector(Path::new(".")), Err(Error::Io { .. })));
}

/// A matrix of a benchmark collection, if it is in a folder next to the repository.
pub(crate) fn collection(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/matrices").join(name);
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

#[test]
fn matrices_of_the_collections() {
    let known = [
        // name, rows, nonzeros, field, symmetry, entry (1, 1)
        ("G3_circuit", 1_585_478, 7_660_826, Field::Real, Symmetry::Symmetric, 2.54843),
        ("memplus", 17_758, 126_150, Field::Real, Symmetry::General, 8.3208769837292e-2),
        ("bayer10", 13_436, 94_926, Field::Real, Symmetry::General, 0.0),
        ("rajat01", 6_833, 43_250, Field::Pattern, Symmetry::General, 1.0),
        ("bcsstk16", 4_884, 290_378, Field::Real, Symmetry::Symmetric, 2.855598749195e8),
        ("1138_bus", 1_138, 4_054, Field::Real, Symmetry::Symmetric, 1474.779),
    ];
    for (name, n, nnz, field, symmetry, first) in known {
        let Some(path) = collection(&format!("{name}.mtx.gz")) else { continue };
        let (a, summary) = read_matrix(&path, &mut |_, _| {}).unwrap();
        assert_eq!((a.n_rows(), a.n_cols(), a.nnz()), (n, n, nnz), "{name}");
        assert_eq!((summary.field, summary.symmetry, summary.duplicates), (field, symmetry, 0), "{name}");
        let (cols, values) = a.row(0);
        assert_eq!(if cols.first() == Some(&0) { values[0] } else { 0.0 }, first, "{name}");
    }
    if let Some(path) = collection("memplus_rhs1.mtx.gz") {
        let b = read_vector(&path).unwrap();
        assert_eq!((b.len(), b[0]), (17_758, -2.3401143219373e-13));
    }
}

#[test]
fn parts_of_a_vector_make_the_file_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, parts] = ["whole.mtx", "parts.mtx"].map(|name| folder.path().join(name));
    let x: Vec<f64> = (0..100).map(|i| (f64::from(i)).sqrt() - 3.0).collect();
    write_vector(&whole, &x).unwrap();
    let pieces = || [0..40, 40..40, 40..100].into_iter().map(|rows| Ok(x[rows].to_vec()));
    write_parts(&parts, 100, pieces()).unwrap();
    assert_eq!(std::fs::read(&whole).unwrap(), std::fs::read(&parts).unwrap());
    // Without one of them the old file stays.
    let lost = Error::Rank { rank: 2, message: "lost".into() };
    let error = write_parts(&parts, 100, pieces().take(1).chain([Err(lost)])).unwrap_err();
    assert_eq!(error.to_string(), "rank 2: lost");
    assert_eq!(std::fs::read(&whole).unwrap(), std::fs::read(&parts).unwrap());
}
