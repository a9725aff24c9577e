//! Which method, and which preconditioner, where no rank has the whole matrix to try ways with.

use super::checks::{Facts, check_divisible};
use crate::comm::{Comm, Piece, Ranges};
use crate::error::{Error, Result};
use crate::job::choice::{Traits, choose_way};
use crate::job::report::Warning;
use crate::job::{Method, Options, Permute, Precond, Reorder, Scale};
use crate::matrix::Symmetry;
use crate::precond::amg;

/// What was chosen.
pub(super) struct Chosen {
    pub method: Method,
    pub precond: Precond,
    /// Why, where nobody had named either.
    pub reason: Option<String>,
    pub warnings: Vec<Warning>,
}

/// Refuses options that ask for what needs the whole matrix.
///
/// # Errors
/// [`Error::Option`] with what, and what to do.
pub(super) fn check_options(options: &Options) -> Result<()> {
    let needs_whole = |is_asked: bool, what: &str| match is_asked {
        true => Err(Error::Option(format!(
            "{what} needs the whole matrix, of which no rank has more than its rows; leave it out, or let rank 0 have \
             the whole matrix"
        ))),
        false => Ok(()),
    };
    needs_whole(options.reorder == Reorder::Rcm, "another numbering of the unknowns")?;
    needs_whole(options.scaling != Scale::None, "scaling")?;
    needs_whole(options.permute != Permute::None, "a permutation of the rows")?;
    needs_whole(options.near_null.is_some(), "multigrid with near-null-space vectors")?;
    needs_whole(options.reusable, "a hierarchy that takes new values")?;
    let on_host = options.method.filter(|method| method.description().is_on_host);
    needs_whole(on_host.is_some(), &on_host.map_or(String::new(), |method| format!("the method {method}")))?;
    needs_whole(options.precond == Some(Precond::Schur), "the preconditioner schur")
}

/// Method and preconditioner as they were named, or else as they suit the matrix. All ranks call this.
///
/// # Errors
/// What does not go together, and what the preconditioner cannot do with this matrix or with rows alone.
pub(super) fn choose(
    comm: &dyn Comm,
    facts: &Facts,
    (piece, ranges): (&Piece, &Ranges),
    options: &Options,
) -> Result<Chosen> {
    let mut warnings = Vec::new();
    warnings.extend(facts.empty_row.map(|row| Warning::EmptyRow { row: row + 1 }));
    let is_symmetric = facts.symmetry.is_symmetric();
    let divides = |precond| match facts.is_divisible(options) {
        true => Ok(()),
        false => check_divisible(comm, piece.local.csr(), ranges, precond, options),
    };
    let (suggested, reason) = match options.name_a_way() {
        true => (options.clone(), None),
        false => suggest(facts, options, &divides)?,
    };
    let matrix = Traits {
        is_symmetric,
        has_positive_diagonal: facts.has_positive_diagonal,
        symmetry: &|| facts.symmetry,
        check_divisible: &divides,
    };
    let (method, precond) = choose_way(&matrix, &suggested, &mut warnings)?;
    if precond.description().has_hierarchy {
        check_hierarchy(options)?;
    }
    Ok(Chosen { method, precond, reason, warnings })
}

/// The options with the way that suits the matrix, and why it does.
fn suggest(
    facts: &Facts,
    options: &Options,
    divides: &dyn Fn(Precond) -> Result<()>,
) -> Result<(Options, Option<String>)> {
    let symmetry = facts.symmetry;
    let (method, precond, why) = match (symmetry.is_symmetric() && facts.has_positive_diagonal, symmetry) {
        (true, _) => (Method::Cg, Precond::Amg, "symmetric, with a positive diagonal".to_string()),
        (false, Symmetry::Symmetric) => {
            (Method::Gmres, Precond::Ilu, "symmetric, but its diagonal is not all positive".into())
        }
        (false, _) => (Method::Gmres, Precond::Ilu, symmetry.to_string()),
    };
    let (precond, why) = match divides(precond) {
        Ok(()) => (precond, why),
        Err(error @ Error::Rank { .. }) => return Err(error),
        Err(error) => (Precond::None, format!("{why}; {error}")),
    };
    let options = Options { method: Some(method), precond: Some(precond), ..options.clone() };
    Ok((options, Some(format!("the matrix is {why}"))))
}

/// Refuses multigrid that ranks do not set up together: rank 0 would have to have all rows.
fn check_hierarchy(options: &Options) -> Result<()> {
    let params = &options.amg;
    if params.smoother.is_of_sweeps() && amg::are_set_up_together(params, options.block_size) {
        return Ok(());
    }
    Err(Error::Option(
        "ranks that have but their rows set multigrid up together, which they cannot with these settings; leave out \
         --amg setup=host, splitting=greedy, and smoothers that are no sweeps, or let rank 0 have the whole matrix"
            .into(),
    ))
}
