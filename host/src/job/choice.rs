//! Which method, and which preconditioner, where not both were named.

use super::report::{Obstacle, Warning};
use super::{Method, Options, Precond};
use crate::error::{Error, Result};
use crate::matrix::Symmetry;
use crate::precond::amg;
use crate::solver::Takes;

/// What a choice depends on, of a matrix.
pub(super) struct Traits<'a> {
    /// Whether it is known to be symmetric without a look.
    pub is_symmetric: bool,
    pub has_positive_diagonal: bool,
    /// Looks whether it is.
    pub symmetry: &'a dyn Fn() -> Symmetry,
    /// Refuses a diagonal that the preconditioner cannot divide by.
    pub check_divisible: &'a dyn Fn(Precond) -> Result<()>,
}

/// Method and preconditioner as they were named, or else as they suit the matrix.
///
/// # Errors
/// What does not go together, and what the preconditioner cannot do with this matrix.
pub(super) fn choose_way(
    matrix: &Traits,
    options: &Options,
    warnings: &mut Vec<Warning>,
) -> Result<(Method, Precond)> {
    let precond = choose_preconditioner(matrix.check_divisible, options, warnings)?;
    let overlaps = precond == Precond::Ilu && options.ilu.overlap > 0;
    let method = choose_method(matrix, !overlaps, options, warnings);
    if overlaps && method.description().needs_symmetry {
        return Err(refuse_overlap(method, options.ilu.overlap));
    }
    (matrix.check_divisible)(method.description().own_preconditioner().unwrap_or(precond))?;
    let amg::Params { pre, post, .. } = options.amg;
    if precond.description().has_hierarchy && method.description().needs_symmetry && pre != post {
        warnings.push(Warning::UnsymmetricCycle { method, pre, post });
    }
    Ok((method, precond))
}

fn refuse_overlap(method: Method, overlap: u32) -> Error {
    Error::Option(format!(
        "with overlap={overlap} the preconditioner ilu is not symmetric on several ranks, and {method} needs one \
         that is; take --solver bicgstab or gmres, or overlap=0"
    ))
}

fn choose_preconditioner(
    check_divisible: &dyn Fn(Precond) -> Result<()>,
    options: &Options,
    warnings: &mut Vec<Warning>,
) -> Result<Precond> {
    let method = options.method.map(Method::description);
    let takes = method.map_or(Takes::Any, |method| method.takes);
    let name = method.map_or("", |method| method.name);
    match (takes, options.precond) {
        (Takes::Only(its) | Takes::Own(its), None) => Ok(its),
        (Takes::Only(its), Some(precond)) if precond != its => {
            Err(Error::Preconditioner { method: name, precond: precond.to_string() })
        }
        (Takes::Own(its), Some(precond)) if precond != its && precond != Precond::None => Err(Error::Option(
            format!("the method {name} takes no preconditioner, and it was given {precond}"),
        )),
        (_, Some(precond)) => Ok(precond),
        (Takes::Any, None) => {
            let obstacle = match check_divisible(Precond::Jacobi) {
                Ok(()) => return Ok(Precond::Jacobi),
                Err(Error::Diagonal { row, what, .. }) => Some(Obstacle::Entry { row, what }),
                Err(Error::Block { node, what, .. }) => Some(Obstacle::Block { node, what }),
                Err(_) => None,
            };
            warnings.extend(obstacle.map(Warning::NoPreconditioner));
            Ok(Precond::None)
        }
    }
}

/// The method; CG for a symmetric matrix with a positive diagonal where it `may_be_cg`.
fn choose_method(matrix: &Traits, may_be_cg: bool, options: &Options, warnings: &mut Vec<Warning>) -> Method {
    match options.method {
        Some(method) => {
            if method.description().needs_symmetry && !matrix.is_symmetric {
                let symmetry = (matrix.symmetry)();
                let warning = Warning::UnsymmetricMatrix { method, symmetry };
                warnings.extend((!symmetry.is_symmetric()).then_some(warning));
            }
            method
        }
        None if may_be_cg
            && matrix.has_positive_diagonal
            && (matrix.is_symmetric || (matrix.symmetry)().is_symmetric()) =>
        {
            Method::Cg
        }
        None => Method::Gmres,
    }
}
