//! The elements of Gmsh.

/// Known elements.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Tetrahedron,
    Hexahedron,
    /// A linear one, as are the next two.
    Triangle,
    Line,
    Quad,
    /// A point, a line or a part of a surface.
    Flat {
        nodes: usize,
        is_surface: bool,
    },
}

impl Shape {
    /// The shape with this number in Gmsh. The error is the name of a shape that cannot be read.
    pub(super) fn numbered(shape: i32) -> std::result::Result<Shape, String> {
        let nodes = match shape {
            4 => return Ok(Shape::Tetrahedron),
            2 => return Ok(Shape::Triangle),
            1 => return Ok(Shape::Line),
            3 => return Ok(Shape::Quad),
            5 => return Ok(Shape::Hexahedron),
            15 => 1,
            8 => 3,
            26 => 4,
            27 => 5,
            9 | 28 => 6,
            16 => 8,
            10 | 20 => 9,
            21 => 10,
            22 => 12,
            23 | 24 => 15,
            25 => 21,
            6 => return Err("a prism".into()),
            7 => return Err("a pyramid".into()),
            11 => return Err("a quadratic tetrahedron".into()),
            other => return Err(format!("of Gmsh's type {other}")),
        };
        let is_line_or_point = matches!(shape, 8 | 15 | 26 | 27 | 28);
        Ok(Shape::Flat { nodes, is_surface: !is_line_or_point })
    }
}
