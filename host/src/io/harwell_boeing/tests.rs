use std::io::Write;
use std::path::Path;

use flate2::write::GzEncoder;

use super::format::Format;
use super::*;
use crate::error::Error;

fn parse(text: &str) -> Result<(Csr<f64>, Summary)> {
    matrix_from(Text::of_bytes(text.as_bytes(), Path::new("A.rua"))?)
}

/// The entries by rows.
fn entries(a: &Csr<f64>) -> Vec<(usize, u32, f64)> {
    let row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j, v));
    (0..a.n_rows()).flat_map(row).collect()
}

/// [[1.5, 0, -2e3], [0, 4, 0], [0.25, 0, 3]] with a right-hand side behind it.
const GENERAL: &str = "\
A matrix of three columns                                               KEY\r
             5             1             1             2             1
RUA                        3             3             5             0
(4I3)           (16I5)          (3D10.2)            (3D10.2)
F                          1             0
  1  3  4  6
    1    3    2    1    3
   1.5D+00   0.25D+0         4
    -2.+03       3.0
       1.0       1.0       1.0
";

#[test]
fn columns_become_rows() {
    let (a, summary) = parse(GENERAL).unwrap();
    assert_eq!(entries(&a), [(0, 0, 1.5), (0, 2, -2e3), (1, 1, 4.0), (2, 0, 0.25), (2, 2, 3.0)]);
    assert_eq!(summary.comment, "A matrix of three columns");
    assert_eq!((summary.entries_in_file, summary.duplicates, summary.explicit_zeros), (5, 0, 0));
    assert_eq!((summary.field, summary.symmetry), (Field::Real, Symmetry::General));
}

#[test]
fn one_triangle_stands_for_both() {
    let triangle = |kind: &str, rows: &str| {
        format!(
            "t\n 3 1 1 1\n{kind}           2 2 2 0\n(3I2) (2I2) (1P,2E8.1)\n 1 2 3\n{rows}\n 2.0     3.0\n"
        )
    };
    let (a, summary) = parse(&triangle("rsa", " 2 2")).unwrap();
    assert_eq!(entries(&a), [(0, 1, 2.0), (1, 0, 2.0), (1, 1, 3.0)]);
    assert_eq!((summary.symmetry, summary.duplicates), (Symmetry::Symmetric, 0));
    let refused = parse(&triangle("rsa", " 2 1")).unwrap_err().to_string();
    let expected = "A.rua:6: row index 1 of column 2 is outside of 2..2, the lower triangle; \
                    a file with both has U in its type, as RUA";
    assert_eq!(refused, expected);
    let skew = "t\n 3 1 1 1\nIZA 2 2 1 0\n(3I2) (2I2) (2I3)\n 1 2 2\n 2\n  7\n";
    assert_eq!(entries(&parse(skew).unwrap().0), [(0, 1, -7.0), (1, 0, 7.0)]);
}

#[test]
fn patterns_are_ones_and_files_may_be_packed() {
    let text = "t\n 2 1 1 0\npra 3 2 3 0\n(3I2) (3I2)\n 1 3 4\n 1 3 2\n";
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("A.RRA.gz");
    std::fs::write(&file, packed.finish().unwrap()).unwrap();
    assert!(has_its_name(&file));
    let (a, summary) = crate::io::matrix::read_matrix(&file, &mut |_, _| ()).unwrap();
    assert_eq!(entries(&a), [(0, 0, 1.0), (1, 1, 1.0), (2, 0, 1.0)]);
    assert_eq!((summary.field, a.n_cols()), (Field::Pattern, 2));
}

#[test]
fn names_and_formats() {
    let has_its_name = |name: &str| has_its_name(Path::new(name));
    assert!(["a.hb", "b.rb.gz", "c.RSA", "d.pua"].map(has_its_name).iter().all(|&is| is));
    assert!(!["a.mtx", "b.wsm", "c.mtx.gz", "rua", "d.raa"].map(has_its_name).iter().any(|&is| is));
    let format = |per_line, width| Some(Format { per_line, width });
    for (text, expected) in [
        ("(16I5)", format(16, 5)),
        (" (4E20.12)", format(4, 20)),
        ("(1P,5D16.8)", format(5, 16)),
        ("(1p5d16.8)", format(5, 16)),
        ("(3E26.18E3)", format(3, 26)),
        ("(F10.3)", format(1, 10)),
        ("( 5E 16.8)  ", format(5, 16)),
        ("(5(1X,D15.8))", None),
        ("(16A5)", None),
        ("(0I5)", None),
        ("(4I)", None),
        ("16I5", None),
        ("", None),
    ] {
        assert_eq!(Format::parse(text), expected, "{text}");
    }
}

#[test]
fn faults_are_told_with_their_lines() {
    let faults: [(&str, &str, u64, &str); 14] = [
        ("             5             1", "no numbers", 2, "no numbers of lines"),
        ("RUA ", "CUA ", 3, "complex numbers are not supported"),
        ("RUA ", "RUE ", 3, "assemble them first"),
        ("RUA ", "RAA ", 3, "'RAA' is no matrix type, as RUA and RSA are some"),
        ("RUA                        3 ", "RSA                        4 ", 3, "has 4 rows and 3 columns"),
        ("5             0\n(4I3)", "x\n(4I3)", 3, "no numbers of rows, columns and entries"),
        ("(16I5)", "(16J5)", 4, "no format of row indices, as (16I5)"),
        ("  1  3  4  6", "  1  3  2  6", 6, "column pointer 2 is outside of 3..6"),
        ("  1  3  4  6", "  2  3  4  6", 6, "column pointer 2 is outside of 1..6"),
        ("  1  3  4  6", "  1  3  4  5", 6, "the last column pointer is 5, of 5 entries it is 6"),
        ("    1    3    2", "    1    4    2", 7, "row index 4 of column 1 is outside of 1..3"),
        ("    1    3    2", "    1    x    2", 7, "'x' is no row index"),
        ("0.25D+0", "9E99999", 8, "is no finite value"),
        (
            "    -2.+03       3.0\n       1.0       1.0       1.0\n",
            "",
            9,
            "the file ends where value should be",
        ),
    ];
    for (from, to, line, message) in faults {
        assert!(GENERAL.contains(from), "{from}");
        match parse(&GENERAL.replacen(from, to, 1)) {
            Err(Error::Parse { line: found, message: text, .. }) => {
                assert!(found == line && text.contains(message), "{to}: {found}: {text}");
            }
            other => panic!("{to}: {other:?}"),
        }
    }
    let market = parse("%%MatrixMarket matrix coordinate real general\n1 1 0\n").unwrap_err().to_string();
    assert_eq!(market, "A.rua:1: this is a Matrix Market file; its name must end in .mtx");
    let written = crate::io::matrix::write_matrix(Path::new("b.rb"), &Csr::identity(1), "");
    assert!(matches!(written, Err(Error::Option(_))));
}

/// Any cut of the file is refused, or says the same; nothing panics.
#[test]
fn cut_and_changed_files_do_not_panic() {
    let whole = parse(GENERAL).unwrap().0;
    for end in 0..GENERAL.len() {
        if let Ok((found, _)) = parse(&GENERAL[..end]) {
            assert_eq!(found.nnz(), whole.nnz(), "{end}");
        }
        for byte in *b"9 -x\n" {
            let mut text = GENERAL.as_bytes().to_vec();
            text[end] = byte;
            let changed = Text::of_bytes(&text, Path::new("A.rua")).unwrap();
            let _ = matrix_from(changed);
        }
    }
}
