use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::*;
use crate::io::scan::Encoding;
use crate::io::scan::testing::{FIBRES, POINTS, REGIONS, Sink, TETS, damage};
use crate::mesh::{ReadOptions, TetMesh, read};
use warpsolve_host::error::Result;

/// A way of storing arrays in a VTU file.
#[derive(Debug, Clone, Copy)]
struct Style {
    encoding: Encoding,
    header: usize,
    zlib: bool,
    /// "ascii", "binary", "raw" or "base64".
    place: &'static str,
}

fn styles() -> Vec<Style> {
    let mut styles = vec![Style { encoding: Encoding::Text, header: 4, zlib: false, place: "ascii" }];
    for encoding in [Encoding::Little, Encoding::Big] {
        for header in [4, 8] {
            for zlib in [false, true] {
                for place in ["binary", "raw", "base64"] {
                    styles.push(Style { encoding, header, zlib, place });
                }
            }
        }
    }
    styles
}

impl Style {
    fn numbers(self, numbers: &[usize]) -> Vec<u8> {
        let mut sink = Sink::new(self.encoding);
        match self.header {
            4 => sink.i32s(numbers.iter().map(|&n| n as i32)),
            _ => sink.u64s(numbers.iter().map(|&n| n as u64)),
        }
        sink.bytes
    }

    /// The header and the data of an array.
    fn store(self, bytes: &[u8]) -> Vec<u8> {
        let (header, data) = if self.zlib {
            // Blocks of an odd number of bytes, so that numbers are cut.
            let blocks: Vec<Vec<u8>> = bytes
                .chunks(37)
                .map(|block| {
                    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                    encoder.write_all(block).unwrap();
                    encoder.finish().unwrap()
                })
                .collect();
            let mut header = vec![blocks.len(), 37, bytes.len() % 37];
            header.extend(blocks.iter().map(Vec::len));
            (self.numbers(&header), blocks.concat())
        } else {
            (self.numbers(&[bytes.len()]), bytes.to_vec())
        };
        match self.place {
            "raw" => [header, data].concat(),
            // VTK pads the header of compressed data apart, and encodes that of plain data with it.
            _ if self.zlib => (BASE64_STANDARD.encode(header) + &BASE64_STANDARD.encode(data)).into_bytes(),
            _ => BASE64_STANDARD.encode([header, data].concat()).into_bytes(),
        }
    }
}

/// A triangle and the two tetrahedra, with regions, fibres, and an array that is not read.
fn vtu(style: Style) -> Vec<u8> {
    let mut appended = Vec::new();
    let mut array = |kind: &str, name: &str, components: usize, fill: &dyn Fn(&mut Sink)| {
        let mut sink = Sink::new(style.encoding);
        fill(&mut sink);
        let tag = format!("<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\"");
        let stored = if style.place == "ascii" { sink.bytes } else { style.store(&sink.bytes) };
        match style.place {
            "ascii" | "binary" => {
                let text = String::from_utf8(stored).unwrap();
                format!("{tag} format=\"{}\">\n  {text}\n</DataArray>\n", style.place)
            }
            _ => {
                let offset = appended.len();
                appended.extend(stored);
                format!("{tag} format=\"appended\" offset=\"{offset}\"/>\n")
            }
        }
    };
    let fibres = [[[0.0; 3]].as_flattened(), FIBRES.as_flattened()].concat();
    let corners = [&[0, 1, 2], TETS.as_flattened()].concat();
    let body = [
        "<CellData>\n".to_string(),
        array("Int32", "Region", 1, &|sink| sink.i32s([99].into_iter().chain(REGIONS))),
        array("Float64", "other", 1, &|sink| sink.f64s([1.5, 2.5, 3.5])),
        array("Float64", "fibers", 3, &|sink| sink.f64s(fibres.iter().copied())),
        "</CellData>\n<Points>\n".to_string(),
        array("Float64", "Points", 3, &|sink| sink.f64s(POINTS.as_flattened().iter().copied())),
        "</Points>\n<!-- a comment --><Cells>\n".to_string(),
        array("Int64", "connectivity", 1, &|sink| sink.i64s(corners.iter().map(|&node| i64::from(node)))),
        array("Int32", "offsets", 1, &|sink| sink.i32s([3, 7, 11])),
        array("UInt8", "types", 1, &|sink| sink.u8s([5, 10, 10])),
        "</Cells>\n".to_string(),
    ]
    .concat();
    let order = if style.encoding == Encoding::Big { "BigEndian" } else { "LittleEndian" };
    let header = if style.header == 8 { " header_type=\"UInt64\"" } else { "" };
    let compressor = if style.zlib { " compressor=\"vtkZLibDataCompressor\"" } else { "" };
    let mut file = format!(
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"{order}\"{header}{compressor}>\n\
         <UnstructuredGrid>\n<Piece NumberOfPoints=\"5\" NumberOfCells=\"3\">\n\
         {body}</Piece>\n</UnstructuredGrid>\n"
    )
    .into_bytes();
    if !appended.is_empty() {
        file.extend(format!("<AppendedData encoding=\"{}\">\n _", style.place).bytes());
        file.extend(appended);
        file.extend(b"\n</AppendedData>\n");
    }
    file.extend(b"</VTKFile>\n");
    file
}

fn read_vtu(bytes: &[u8]) -> Result<RawMesh> {
    parse_vtu(Path::new("heart.vtu"), bytes)?.into_solid()
}

fn is_the_mesh(mesh: &RawMesh) {
    assert_eq!((mesh.points.as_slice(), mesh.cells.as_slice()), (&POINTS[..], &TETS[..]));
    assert_eq!((mesh.regions.as_deref(), mesh.fibres.as_deref()), (Some(&REGIONS[..]), Some(&FIBRES[..])));
    assert_eq!((mesh.skipped, mesh.numbers.as_slice()), (1, &[2, 3][..]));
}

#[test]
fn every_style_of_vtu_gives_the_same() {
    for style in styles() {
        is_the_mesh(&read_vtu(&vtu(style)).unwrap_or_else(|e| panic!("{style:?}: {e}")));
        let with_mark = [b"\xef\xbb\xbf".to_vec(), vtu(style)].concat();
        is_the_mesh(&read_vtu(&with_mark).unwrap());
    }
}

#[test]
fn damaged_vtu_files_are_no_meshes() {
    let chosen =
        |style: &Style| style.place == "ascii" || (style.header == 8 && style.encoding == Encoding::Big);
    for style in styles().into_iter().filter(chosen) {
        let file = vtu(style);
        // The end of the XML is not needed behind appended data, nor is base64's padding.
        let behind = "==\n</AppendedData>\n</VTKFile>\n".len();
        for length in damage(&file, read_vtu) {
            assert!(length >= file.len() - behind, "{style:?}: {length} of {}", file.len());
            is_the_mesh(&read_vtu(&file[..length]).unwrap());
        }
    }
}

/// The same as a legacy file of version 3 or 5, with what ParaView adds.
fn legacy(major: u32, encoding: Encoding) -> Vec<u8> {
    let mut file = Sink::new(encoding);
    let word = if encoding == Encoding::Text { "ASCII" } else { "BINARY" };
    file.text(&format!("# vtk DataFile Version {major}.1\nby hand\n{word}\nDATASET UNSTRUCTURED_GRID\n"));
    file.text("FIELD FieldData 1\nTIME 1 1 double\n");
    file.f64s([0.5]);
    file.text("\nPOINTS 5 double\n");
    file.f64s(POINTS.into_iter().flatten());
    file.text("\nMETADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\nDATA 2 0 1\n\n");
    if major == 5 {
        file.text("CELLS 4 11\nOFFSETS vtktypeint64\n");
        file.i64s([0, 3, 7, 11]);
        file.text("\nCONNECTIVITY vtktypeint64\n");
        file.i64s([0, 1, 2].into_iter().chain(TETS.into_iter().flatten().map(i64::from)));
    } else {
        file.text("CELLS 3 14\n");
        file.i32s([3, 0, 1, 2]);
        for tet in TETS {
            file.i32s([4]);
            file.i32s(tet.map(|node| node as i32));
        }
    }
    file.text("\nCELL_TYPES 3\n");
    file.i32s([5, 10, 10]);
    file.text("\nPOINT_DATA 5\nSCALARS potential double 1\nLOOKUP_TABLE default\n");
    file.f64s([0.25; 5]);
    file.text("\nCELL_DATA 3\nFIELD FieldData 2\nregion 1 3 int\n");
    file.i32s([99].into_iter().chain(REGIONS));
    file.text("\nother 2 3 unsigned_char\n");
    file.u8s([1, 2, 3, 4, 5, 6]);
    file.text("\nVECTORS fibre double\n");
    file.f64s([[0.0; 3]].into_iter().chain(FIBRES).flatten());
    file.text("\n");
    file.bytes
}

fn read_legacy(bytes: &[u8]) -> Result<RawMesh> {
    parse_legacy(Path::new("heart.vtk"), bytes)?.into_solid()
}

#[test]
fn legacy_files_of_both_kinds_give_the_same() {
    for encoding in [Encoding::Text, Encoding::Big] {
        for major in [3, 5] {
            is_the_mesh(&read_legacy(&legacy(major, encoding)).unwrap());
        }
    }
}

#[test]
fn damaged_legacy_files_are_no_other_meshes() {
    for encoding in [Encoding::Text, Encoding::Big] {
        for major in [3, 5] {
            let file = legacy(major, encoding);
            for length in damage(&file, read_legacy) {
                let mesh = read_legacy(&file[..length]).unwrap();
                // Data may be missing without a trace, and a last number may be cut; the cells are complete.
                let text = String::from_utf8_lossy(&file[..length]);
                let last = text.rsplit("CELL_TYPES 3\n").next().unwrap().trim() == "5 10 1";
                assert!(last || mesh.cells == TETS, "{encoding:?} {length}");
            }
        }
    }
}

#[test]
fn errors_say_where_and_what_to_do() {
    let text = String::from_utf8(vtu(styles()[0])).unwrap();
    let error = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        read_vtu(text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
    };
    let found = error("5 10 10", "5 13 10");
    assert!(found.starts_with("heart.vtu: element 2 is a wedge; only linear tetrahedra are read"), "{found}");
    assert!(error("5 10 10", "5 12 10").contains("element 2 is a hexahedron, but has 4 nodes"));
    assert!(error("5 10 10", "24 10 10").contains("element 1 is a quadratic tetrahedron"));
    assert!(error("5 10 10", "5 10").contains("nothing is left"));
    assert!(
        error("1 2 3 4 \n", "1 2 3 5 \n").contains("element 3 has node 5, but there are 5, counted from 0")
    );
    assert!(error("3 7 11", "3 2 11").contains("cell 2 ends at entry 2"));
    let expected = "heart.vtu:7: array 'Region' must be a whole number, but there is 'x' here";
    assert_eq!(error("99 7 -12", "99 7 x"), expected);
    assert!(
        error("99 7 -12", "99 7")
            .ends_with("array 'Region' must be a whole number, but nothing is left here")
    );
    assert!(error("99 7 -12", "99 7 8 9").contains("array 'Region' has more than the 3 numbers"));
    assert!(error("</Points>", "</Point>").starts_with("heart.vtu:"));
    assert!(error("Name=\"types\"", "Name=\"type\"").contains("there is no array 'types' in <Cells>"));
    let zlib = "type=\"UnstructuredGrid\" compressor=\"vtkLZ4DataCompressor\"";
    assert!(
        error("type=\"UnstructuredGrid\"", zlib)
            .contains("compressed by vtkLZ4DataCompressor cannot be read")
    );
    assert!(
        error("NumberOfPoints=\"5\"", "NumberOfPoints=\"99999999\"")
            .contains("are left; is the file complete?")
    );
    let second = "<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\"></Piece></UnstructuredGrid>";
    assert!(error("</UnstructuredGrid>", second).contains("there is a second piece"));
    assert!(
        read_legacy(b"# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\n")
            .unwrap_err()
            .to_string()
            .starts_with("heart.vtk:")
    );
}

#[test]
fn fibres_at_points_are_averaged_without_their_signs() {
    let text = String::from_utf8(vtu(styles()[0])).unwrap();
    let point_data = "<PointData><DataArray type=\"Float32\" Name=\"Fibre\" \
                      NumberOfComponents=\"3\" format=\"ascii\">\
                      1 0 0 -1 0 0 0 1 0 1 0 0 0 1 0</DataArray></PointData><Points>";
    let mesh = read_vtu(text.replace("fibers", "f").replace("<Points>", point_data).as_bytes()).unwrap();
    assert_eq!(mesh.fibres.unwrap(), [[3.0, 1.0, 0.0], [-2.0, 2.0, 0.0]]);
}

#[test]
fn what_is_written_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heart.vtu");
    // More than one block of points, and of corners.
    let slab = TetMesh::slab([3.0, 2.0, 1.0], 0.05).unwrap();
    let regions = (0..slab.cells().len() as i32).collect();
    let mesh = TetMesh::new(
        slab.points().to_vec(),
        slab.cells().to_vec(),
        Some(regions),
        slab.fibres().map(Vec::from),
    )
    .unwrap();
    let potential: Vec<f64> = mesh.points().iter().map(|p| p[0].sin() - 85.23).collect();
    write_vtu(&path, &mesh, &[("V <mV>", &potential)]).unwrap();
    assert_eq!(read(&path, &ReadOptions::default()).unwrap(), mesh);

    // The values are the first array, block by block.
    let bytes = fs::read(&path).unwrap();
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let start = bytes.windows(mark.len()).position(|window| window == mark).unwrap();
    let text = std::str::from_utf8(&bytes[..start]).unwrap();
    let tag = "<PointData>\n<DataArray type=\"Float64\" Name=\"V &lt;mV&gt;\" NumberOfComponents=\"1\" \
               format=\"appended\" offset=\"0\"/>";
    assert!(text.contains(tag), "{text}");
    let data = &bytes[start + mark.len()..];
    let number = |i: usize| u64::from_le_bytes(data[8 * i..8 * i + 8].try_into().unwrap()) as usize;
    let (mut at, mut plain) = (8 * (3 + number(0)), Vec::new());
    for block in 0..number(0) {
        let before = plain.len();
        ZlibDecoder::new(&data[at..]).read_to_end(&mut plain).unwrap();
        assert_eq!(plain.len() - before, if block + 1 == number(0) { number(2) } else { number(1) });
        at += number(3 + block);
    }
    assert!(number(0) > 1);
    assert_eq!(plain, potential.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>());
    let error = write_vtu(&path, &mesh, &[("V", &potential[1..])]).unwrap_err().to_string();
    assert!(error.contains("'V' has") && error.contains("nodes"), "{error}");
}

#[test]
fn a_series_lists_complete_frames_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let pvd = folder.path().join("wave & more.pvd");
    let mesh = TetMesh::slab([1.0; 3], 1.0).unwrap();
    let values = |time: f64| vec![time; 8];
    let writer = VtuWriter::new(&mesh);
    let add = |series: &mut Series, time: f64| {
        series.add(time, "vtu", |path| writer.write(path, &[("V", &values(time))]))
    };
    let mut series = Series::create(&pvd).unwrap();
    for time in [0.0, 0.5, 1.25] {
        add(&mut series, time).unwrap();
    }
    assert!(add(&mut series, 1.25).unwrap_err().to_string().contains("cannot follow"));
    let list = fs::read_to_string(&pvd).unwrap();
    assert!(
        list.contains("<DataSet timestep=\"1.25\" part=\"0\" file=\"wave &amp; more_000002.vtu\"/>"),
        "{list}"
    );
    assert!(folder.path().join("wave & more_000002.vtu").is_file());

    let mut series = Series::resume(&pvd, 1.0).unwrap();
    assert_eq!(series.times().collect::<Vec<_>>(), [0.0, 0.5]);
    add(&mut series, 1.5).unwrap();
    assert_eq!(read_point_data(&folder.path().join("wave & more_000002.vtu"), "V").unwrap(), values(1.5));
    assert_eq!(Series::resume(&pvd, 9.0).unwrap().times().collect::<Vec<_>>(), [0.0, 0.5, 1.5]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);

    fs::write(&pvd, "<Collection>\n<DataSet timestep=\"x\" file=\"y\"/>").unwrap();
    let error = Series::resume(&pvd, 9.0).err().unwrap().to_string();
    assert!(error.contains("wave & more.pvd:2: a DataSet needs a timestep"), "{error}");
}
