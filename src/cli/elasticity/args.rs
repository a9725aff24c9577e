//! The arguments of `elasticity`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgGroup, Args};
use warpsolve::cardiac::Shape;
use warpsolve::named;
use warpsolve::problem::Elements;

use super::super::cardiac::{Lengths, direction, lengths, shape};
use super::super::names::named;
use super::super::profile::ProfileArgs;
use super::super::settings::Settings;
use super::super::values::{finite, not_negative, numbers, positive};
use super::place::Place;

/// Lengths are in mm, forces in N, moduli and stresses in N/mm^2.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("body").args(["file", "slab"]).required(true))]
pub struct ElasticityArgs {
    /// Tetrahedra, hexahedra, or triangles in a plane: .vtu, .vtk (VTK), .msh (Gmsh); tetrahedra: .node and
    /// .ele (TetGen); also with .gz
    #[arg(value_name = "MESH")]
    pub file: Option<PathBuf>,
    /// A box from the origin on instead of a file, or with two lengths a rectangle of triangles: its lengths,
    /// mm
    #[arg(long, value_name = "LX,LY[,LZ]", value_parser = lengths, requires = "spacing", allow_hyphen_values = true)]
    pub slab: Option<Lengths>,
    /// Between the nodes of a box at most, mm; the sides are cut into equal parts
    #[arg(long, value_name = "H", value_parser = positive, allow_negative_numbers = true, conflicts_with = "file")]
    pub spacing: Option<f64>,
    /// What a box is made of: tetrahedra, hexahedra [default: tetrahedra]
    #[arg(long, value_name = "NAME", value_parser = named::<Elements>(&[Elements::NAMES]), hide_possible_values = true, conflicts_with = "file")]
    pub elements: Option<Elements>,
    /// Coordinates of the file are multiplied by this: 1000 for m [default: 1]
    #[arg(long, value_name = "X", value_parser = positive, allow_negative_numbers = true, conflicts_with = "slab")]
    pub scale: Option<f64>,
    /// Turn tetrahedra that are inside out while others are not
    #[arg(long, conflicts_with = "slab")]
    pub reorient: bool,
    /// Leave out nodes without tetrahedra
    #[arg(long, conflicts_with = "slab")]
    pub drop_unreferenced: bool,
    /// Leave out all parts of a mesh in pieces but the one with the most tetrahedra
    #[arg(long, conflicts_with = "slab")]
    pub largest_component: bool,
    /// Young's modulus, N/mm^2; the default is that of steel
    #[arg(long, value_name = "E", value_parser = positive, allow_negative_numbers = true, default_value_t = 210_000.0)]
    pub young: f64,
    /// Poisson's ratio, between -1 and 0.5
    #[arg(long, value_name = "NU", value_parser = finite, allow_negative_numbers = true, default_value_t = 0.3)]
    pub poisson: f64,
    /// What triangles are a section of: strain (a body that is long along z and cannot move there) or stress
    /// (a thin sheet) [default: strain]
    #[arg(long, value_name = "NAME", value_parser = named::<Plane>(&[Plane::NAMES]), hide_possible_values = true)]
    pub plane: Option<Plane>,
    /// What cannot move: a side of the mesh's box (xmin, xmax, ymin, .., zmax), the number of a surface of
    /// the file or in a plane of a line, box:X0,Y0,Z0,X1,Y1,Z1 or ball:X,Y,Z,R; may be given several times
    #[arg(long = "clamp", value_name = "PLACE", required = true, allow_negative_numbers = true)]
    pub clamps: Vec<Place>,
    /// A force on the faces of a place, spread evenly, N; may be given several times
    #[arg(long = "load", value_name = "PLACE=FX,FY,FZ", allow_hyphen_values = true)]
    pub loads: Vec<Load>,
    /// A force on the volume, N/mm^3
    #[arg(long, value_name = "FX,FY,FZ", value_parser = numbers::<3>, allow_hyphen_values = true)]
    pub body_force: Option<[f64; 3]>,
    #[command(flatten)]
    pub settings: Settings,
    /// A folder for the results: elasticity.vtu with displacement and von Mises stress, displacement.png,
    /// von-mises.png
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// From where the pictures are seen: a direction towards the viewer [default: what shows most]
    #[arg(long, value_name = "X,Y,Z", value_parser = direction, allow_hyphen_values = true, requires = "out")]
    pub view: Option<[f64; 3]>,
    /// The pictures show the body under load, with displacements times this [default: 0, the body at rest]
    #[arg(long, value_name = "X", value_parser = not_negative, allow_negative_numbers = true, requires = "out")]
    pub exaggerate: Option<f64>,
    /// Write the report as JSON; - for stdout, in place of the text
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// No report and no progress, only warnings and errors
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub profile: ProfileArgs,
}

named! {
    /// What a plane mesh is a section of.
    "plane" Plane {
        /// A body that is long along z and cannot move there.
        Strain = "strain",
        /// A thin sheet.
        Stress = "stress",
    }
}

/// A force (N) on the faces of a place.
#[derive(Debug, Clone)]
pub struct Load {
    pub place: Place,
    pub force: [f64; 3],
}

impl FromStr for Load {
    type Err = String;

    fn from_str(text: &str) -> Result<Load, String> {
        let (place, force) = text.split_once('=').ok_or("it takes PLACE=FX,FY,FZ")?;
        Ok(Load { place: place.parse()?, force: numbers(force)? })
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        let side = |(name, axis, is_high): (&str, usize, bool)| {
            (name == text).then_some(Place::Side { axis, is_high })
        };
        let sides = [
            ("xmin", 0, false),
            ("xmax", 0, true),
            ("ymin", 1, false),
            ("ymax", 1, true),
            ("zmin", 2, false),
            ("zmax", 2, true),
        ];
        if let Some(side) = sides.into_iter().find_map(side) {
            return Ok(side);
        }
        if let Ok(tag) = text.parse() {
            return Ok(Place::Tag(tag));
        }
        let shape: Shape = shape(text).map_err(|_| {
            "it takes xmin, xmax, ymin, ymax, zmin, zmax, the number of a surface or line, box:X0,Y0,Z0,X1,Y1,Z1 or \
             ball:X,Y,Z,R"
        })?;
        Ok(Place::Shape(shape))
    }
}
