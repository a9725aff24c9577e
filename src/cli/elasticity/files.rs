//! The names of the files in a folder of results.

pub const FIELDS: &str = "elasticity.vtu";
pub const DISPLACEMENT: &str = "displacement.png";
pub const STRESS: &str = "von-mises.png";
