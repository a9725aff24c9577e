use super::canvas::WHITE;
use super::*;
use crate::mesh::{TetMesh, TriMesh};

fn decode(path: &Path) -> (usize, usize, Vec<Colour>) {
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    (info.width as usize, info.height as usize, bytes.as_chunks().0.to_vec())
}

/// A face that looks at the viewer has the light of [`LIGHT`]'s third component.
fn lit(colour: Colour) -> Colour {
    mix(BLACK, colour, AMBIENT + (1.0 - AMBIENT) * LIGHT[2])
}

fn near(a: Colour, b: Colour) -> bool {
    (0..3).all(|k| a[k].abs_diff(b[k]) <= 6)
}

#[test]
fn a_surface_is_closed_turned_outwards_and_bounds_the_volume() {
    let mesh = TetMesh::slab([3.0, 2.0, 1.0], 0.5).unwrap();
    let faces = Surface::of(&mesh).faces(mesh.points());
    // Two triangles a square.
    assert_eq!(faces.len(), 2 * 2 * (6 * 4 + 4 * 2 + 6 * 2));
    let area: f64 = faces.iter().map(|face| dot(face.normal, face.normal).sqrt() / 2.0).sum();
    assert!((area - 22.0).abs() < 1e-12, "{area}");
    // Divergence theorem: the integral of p . n is three times the volume.
    let flux = |face: &surface::Face| dot(mesh.points()[face.nodes[0] as usize], face.normal) / 2.0;
    let volume = faces.iter().map(flux).sum::<f64>() / 3.0;
    assert!((volume - 6.0).abs() < 1e-12, "{volume}");
    // Light is not smoothed over the edges of a box.
    for face in &faces {
        for normal in face.corner_normals {
            assert!(
                dot(face.normal, normal)
                    > 0.999 * (dot(normal, normal) * dot(face.normal, face.normal)).sqrt()
            );
        }
    }
}

#[test]
fn colours_and_lines_stand_where_the_times_are() {
    let mesh = TetMesh::slab([10.0, 5.0, 1.0], 0.5).unwrap();
    // 3 ms/mm along x, from 0 to 30: isochrones every 2 ms.
    let times: Vec<f64> = mesh.points().iter().map(|p| 3.0 * p[0]).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    write_activation(&path, &mesh, &times, Some([0.0, 0.0, 7.0])).unwrap();
    let (width, height, pixels) = decode(&path);
    assert_eq!((width, pixels.len()), (WIDTH, WIDTH * height));
    let space = (WIDTH - LEGEND - 2 * MARGIN) as f64;
    assert_eq!(height, (space / 2.0) as usize + 2 * MARGIN);
    let at = |time: f64| pixels[height / 2 * WIDTH + MARGIN + (time / 30.0 * space) as usize];
    // The ends of viridis are #440154 and #fde725, its middle is #21918c.
    assert!(near(at(29.9), lit([253, 231, 37])), "{:?}", at(29.9));
    let middle = 30.0 * (0.5 - DARKEST) / (1.0 - DARKEST);
    assert!(near(at(middle), lit([33, 145, 140])), "{:?}", at(middle));
    for k in 1..15 {
        let [on, off] = [2.0 * f64::from(k), 2.0 * f64::from(k) + 1.0].map(at);
        let brightness = |c: Colour| c.iter().map(|&x| u32::from(x)).sum::<u32>();
        assert!(2 * brightness(on) < brightness(off), "line {k}: {on:?} {off:?}");
    }
    assert_eq!(pixels[0], WHITE);
}

#[test]
fn what_is_behind_is_hidden_and_what_never_fired_is_grey() {
    let mesh = TetMesh::slab([4.0, 4.0, 1.0], 1.0).unwrap();
    let centre = |canvas: &Canvas| canvas.at((WIDTH - LEGEND) / 2, canvas.height() / 2);
    let seen = |times: &[f64], from: Vec3| centre(&draw(&mesh, times, ACTIVATION, &View::new(from).unwrap()));
    let times: Vec<f64> = mesh.points().iter().map(|p| if p[2] > 0.5 { 13.0 } else { 1.5 }).collect();
    assert!(near(seen(&times, [0.0, 0.0, 1.0]), lit([253, 231, 37])));
    let first = colorous::VIRIDIS.eval_continuous(DARKEST);
    assert!(near(seen(&times, [0.0, 0.0, -1.0]), lit([first.r, first.g, first.b])));
    let times: Vec<f64> = times.iter().map(|&t| if t > 2.0 { -1.0 } else { t }).collect();
    assert!(near(seen(&times, [0.0, 0.0, 1.0]), lit(GREY)));
    assert!(near(seen(&[f64::NAN; 50], [0.0, 0.0, 1.0]), lit(GREY)));
}

#[test]
fn a_plane_is_seen_from_above() {
    let mesh = TriMesh::sheet([4.0, 2.0], None, 0.5).unwrap();
    let times: Vec<f64> = mesh.points().iter().map(|p| if p[0] > 2.0 { 13.0 } else { 1.5 }).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    write_activation(&path, &mesh, &times, None).unwrap();
    let (width, height, pixels) = decode(&path);
    let at = |share: f64| {
        pixels[height / 2 * width + MARGIN + (share * (WIDTH - LEGEND - 2 * MARGIN) as f64) as usize]
    };
    assert!(near(at(0.9), lit([253, 231, 37])), "{:?}", at(0.9));
    let first = colorous::VIRIDIS.eval_continuous(DARKEST);
    assert!(near(at(0.1), lit([first.r, first.g, first.b])), "{:?}", at(0.1));
}

#[test]
fn steps_are_round_and_few() {
    for (first, last, step) in [(0.0, 30.0, 2.0), (1.2, 42.9, 5.0), (0.0, 200.0, 10.0), (5.0, 5.3, 0.02)] {
        let scale = Scale::of(&[-1.0, last, f64::NAN, first]).unwrap();
        assert!((scale.step / step - 1.0).abs() < 1e-9, "{scale:?}");
        assert!(scale.marks().count() as f64 <= MOST_LINES + 1.0);
    }
    let alone = Scale::of(&[3.0]).unwrap();
    assert!(alone.last > alone.first && alone.marks().count() > 0);
    assert_eq!(Scale::of(&[-1.0, -1.0]), None);
    assert_eq!(Scale::of(&[0.0, 0.3]).unwrap().text(0.04), "0.04");
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let mesh = TetMesh::slab([1.0; 3], 1.0).unwrap();
    let path = Path::new("never.png");
    let short = write_activation(path, &mesh, &[1.0], None).unwrap_err().to_string();
    assert_eq!(short, "never.png: there are 1 activation times, but the mesh has 8 nodes");
    for view in [[0.0; 3], [f64::NAN, 1.0, 0.0], [f64::INFINITY, 0.0, 0.0]] {
        let error = write_activation(path, &mesh, &[1.0; 8], Some(view)).unwrap_err().to_string();
        assert!(error.contains("three finite numbers"), "{error}");
    }
    for view in [[1e300; 3], [1e-300, 0.0, 0.0], [0.0, 0.0, -1.0]] {
        assert!(View::new(view).is_ok());
    }
}
