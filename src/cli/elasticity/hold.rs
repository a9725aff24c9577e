//! Whether clamped nodes hold a body.

use warpsolve::cardiac::mesh::Mesh;
use warpsolve::number::vector;
use warpsolve::{Error, Result};

/// Distances within this part of the nodes' extent are none.
const SLACK: f64 = 1e-9;

/// What a body can turn around whose clamped nodes are few.
#[derive(Debug, PartialEq)]
enum Pivot {
    Point([f64; 3]),
    /// From one clamped node to the one that is farthest from it.
    Line([[f64; 3]; 2]),
}

/// Refuses a piece of the mesh in which no node is clamped, or nodes around which it could turn, so that its
/// displacement would be anything: a single place, or in space places on one line.
///
/// # Errors
/// [`Error::Mesh`], with the piece, the place or the line.
pub fn check_held<const C: usize>(mesh: &Mesh<C>, is_clamped: &[bool]) -> Result<()> {
    let [low, high] = mesh.bounding_box();
    let slack = SLACK * (0..3).map(|x| high[x] - low[x]).fold(0.0, f64::max);
    let pieces = mesh.components();
    let count = pieces.iter().max().map_or(0, |&last| last as usize + 1);
    // Of each piece its nodes, the first of them, and the clamped ones.
    let mut found = vec![(0, 0, Vec::new()); count];
    for (node, (&piece, point)) in pieces.iter().zip(mesh.points()).enumerate() {
        let (nodes, first, clamped) = &mut found[piece as usize];
        *first = if *nodes == 0 { node + 1 } else { *first };
        *nodes += 1;
        clamped.extend(is_clamped[node].then_some(*point));
    }
    found.iter().try_for_each(|(nodes, first, clamped)| {
        let body = match count {
            1 => "the body".to_string(),
            _ => format!("a piece of the mesh, {nodes} nodes with node {first},"),
        };
        let (what, around) = match pivot(clamped, Mesh::<C>::DIRECTIONS, slack) {
            None if clamped.is_empty() => {
                return Err(Error::Mesh(format!(
                    "{body} is held by no clamp, and shares no node with the others; clamp it (--clamp), merge nodes that \
                     are there twice, or leave it out (--largest-component)"
                )));
            }
            None => return Ok(()),
            Some(Pivot::Point(p)) => (format!("are all at {}", vector(p)), "that place"),
            Some(Pivot::Line([p, q])) => {
                (format!("lie on a line, from {} to {}", vector(p), vector(q)), "that line")
            }
        };
        Err(Error::Mesh(format!(
            "the clamped nodes {what}: {body} can turn around {around}; clamp nodes beside it (--clamp)"
        )))
    })
}

fn pivot(clamped: &[[f64; 3]], directions: usize, slack: f64) -> Option<Pivot> {
    let from = *clamped.first()?;
    let to = |p: &[f64; 3]| -> [f64; 3] { std::array::from_fn(|x| p[x] - from[x]) };
    let length = |v: [f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let farthest = clamped.iter().max_by(|p, q| length(to(p)).total_cmp(&length(to(q))))?;
    let (axis, reach) = (to(farthest), length(to(farthest)));
    if reach <= slack {
        return Some(Pivot::Point(from));
    }
    // |axis x v| / |axis| is the distance from the line.
    let beside = |p: &[f64; 3]| {
        let v = to(p);
        let cross = |x: usize, y: usize| axis[x] * v[y] - axis[y] * v[x];
        length([cross(1, 2), cross(2, 0), cross(0, 1)]) / reach > slack
    };
    let is_line = directions == 3 && !clamped.iter().any(beside);
    is_line.then_some(Pivot::Line([from, *farthest]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_and_lines_hold_nothing_in_space() {
        let (o, x, far, y) = ([0.0; 3], [1.0, 0.0, 0.0], [-3.0, 0.0, 0.0], [0.0, 1e-3, 0.0]);
        assert_eq!(pivot(&[o], 3, 1e-9), Some(Pivot::Point(o)));
        assert_eq!(pivot(&[o, o], 2, 1e-9), Some(Pivot::Point(o)));
        assert_eq!(pivot(&[o, x, far], 3, 1e-9), Some(Pivot::Line([o, far])));
        assert_eq!(pivot(&[o, x, far, y], 3, 1e-9), None);
        // In a plane two places hold.
        assert_eq!(pivot(&[o, x, far], 2, 1e-9), None);
    }
}
