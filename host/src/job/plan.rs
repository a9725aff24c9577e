//! What is decided about a system before anything is allocated: checks, and choices with their reasons.

use std::sync::{Arc, OnceLock};

use super::choice::{Traits, choose_way};
use super::reorder;
use super::report::Warning;
use super::residual::{Equation, Norms, residual};
use super::{Method, Options, Precision, Precond};
use crate::backend::gpu::buffer::check_reach;
use crate::error::{Error, Result};
use crate::matrix::{
    AnyMatrix, Choice, Csr, Format, Magnitudes, Survey, Target, block, check, choose, choose_blocks,
};
use crate::precond::amg::prediction::Prediction;
use crate::precond::{self, Description, NullSpace, SingularBlocks};
use crate::solver;
use crate::solver::direct::Outlook;

/// A matrix and how it is going to be solved with.
#[derive(Clone)]
pub(super) struct Plan {
    pub a: Arc<Csr<f64>>,
    /// `||A||_inf`.
    pub norm: f64,
    pub options: Options,
    pub method: Method,
    pub precond: Precond,
    pub format: Choice,
    /// Whether the format is chosen and made where the matrix is used, from CRS.
    pub converts_on_device: bool,
    /// What the solution is kept out of, where the matrix is singular in a way that is known.
    pub null_space: Option<NullSpace>,
    /// Whether a hierarchy is applied in f32.
    pub hierarchy_in_f32: bool,
    /// How large the hierarchy will be, once somebody has asked.
    pub prediction: OnceLock<Prediction>,
    /// Whether it is known that nothing on the diagonal is 0,
    pub is_divisible: bool,
    /// and that the matrix is symmetric.
    pub is_symmetric: bool,
    /// What is known of a factorisation of the matrix.
    pub outlook: Outlook,
    /// Whether such a factorisation is left where it takes much longer than was predicted.
    pub is_bound: bool,
    pub warnings: Vec<Warning>,
}

impl Plan {
    /// Checks a square matrix of finite entries and chooses. What a look at it has found is not looked for
    /// again: whether it `is_symmetric` where that is known.
    ///
    /// # Errors
    /// What the method or the preconditioner cannot do with this matrix, and a format whose padding would
    /// explode.
    pub fn new(
        a: Arc<Csr<f64>>,
        options: Options,
        survey: &Survey,
        is_symmetric: bool,
        target: Target,
    ) -> Result<Plan> {
        if options.block_size != 1 {
            block::check_block(&a, options.block_size)?;
        }
        let empty_row = survey.empty_row.map(|row| Warning::EmptyRow { row: row + 1 });
        let mut warnings: Vec<Warning> = empty_row.into_iter().collect();
        let may_vanish = options.precision == Precision::F32
            && survey.diagonal_magnitudes.least < f64::from(f32::MIN_POSITIVE);
        let is_divisible = options.block_size == 1 && survey.diagonal.zero == 0 && !may_vanish;
        let check_divisible =
            |precond| if is_divisible { Ok(()) } else { check_divisible(&a, precond, &options) };
        let matrix = Traits {
            is_symmetric,
            has_positive_diagonal: survey.has_positive_diagonal(),
            symmetry: &|| a.is_symmetric(check::ROUNDING),
            check_divisible: &check_divisible,
        };
        let (method, precond) =
            choose_way(&matrix, &options, &mut warnings).map_err(|error| explain_empty_row(&a, error))?;
        let has_hierarchy = precond.description().has_hierarchy;
        let converts_on_device = converts_on_device(&a, &options, precond, target);
        // On a CPU the host chooses at once, but for blocks.
        let format = match converts_on_device && (target == Target::Gpu || options.block_size > 1) {
            true => Choice::to_be_made(options.block_size, a.nnz()),
            false => choose_format(&a, &options, target)?,
        };
        let null_space = NullSpace::of_any(&a, options.block_size);
        let hierarchy_in_f32 = has_hierarchy
            && match options.amg_precision {
                Some(precision) => precision == Precision::F32,
                None => fits_f32(survey.diagonal_magnitudes),
            };
        let outlook = Outlook::default();
        Ok(Plan {
            a,
            norm: survey.norm,
            options,
            method,
            precond,
            format,
            converts_on_device,
            null_space,
            hierarchy_in_f32,
            prediction: OnceLock::new(),
            is_divisible,
            is_symmetric,
            outlook,
            is_bound: false,
            warnings,
        })
    }

    /// Whether what was set up for `other`, a plan of a matrix of the same pattern, serves this one with
    /// other values.
    pub fn is_like(&self, other: &Plan) -> bool {
        let choices = |plan: &Plan| (plan.method, plan.precond, plan.hierarchy_in_f32);
        choices(self) == choices(other) && self.format == other.format && self.null_space == other.null_space
    }

    /// Whether its iterations gain by another numbering, on which what is kept out of x does not depend.
    pub fn gains_by_numbering(&self) -> bool {
        let is_kept_out = self.null_space.as_ref().is_some_and(|null_space| !null_space.is_of_all());
        reorder::gain(self.method, self.precond) && !is_kept_out
    }

    /// Whether the method makes the preconditioner that it iterates with.
    pub fn brings_preconditioner(&self) -> bool {
        self.method.description().own_preconditioner().is_some()
    }

    /// Whether the preconditioner is built of smaller and smaller problems.
    pub fn has_hierarchy(&self) -> bool {
        self.precond.description().has_hierarchy
    }

    /// Whether what is set up keeps the matrix in CRS, for other values.
    pub fn keeps_pattern(&self) -> bool {
        let Options { reusable, block_size, near_null, .. } = &self.options;
        *reusable && self.has_hierarchy() && *block_size == 1 && near_null.is_none()
    }

    /// What the preconditioner is kept out of. One that the method brings is not: its part of x is removed in
    /// the end.
    pub fn projections(&self) -> Option<&NullSpace> {
        self.null_space.as_ref().filter(|_| !self.brings_preconditioner())
    }

    /// Takes the part in the null space out of x.
    pub fn project(&self, x: &mut [f64]) {
        if let Some(null_space) = &self.null_space {
            null_space.project(x);
        }
    }

    /// What the method is made with.
    pub fn method_parameters(&self) -> solver::Parameters {
        let (outlook, is_bound) = (self.outlook.clone(), self.is_bound);
        solver::Parameters { outlook, is_bound, ..self.options.method_parameters() }
    }

    /// What the preconditioner is made with.
    pub fn preconditioner_parameters(&self) -> precond::Parameters {
        let Plan { hierarchy_in_f32, is_divisible, .. } = *self;
        let outlook = self.outlook.clone();
        let of_options = self.options.preconditioner_parameters();
        precond::Parameters { hierarchy_in_f32, is_divisible, outlook, ..of_options }
    }

    /// Whether the matrix is factorised on the host.
    pub fn factorises(&self) -> bool {
        self.method.description().is_on_host || self.precond.description().factorises
    }

    /// Whether the preconditioner is made from the matrix in CRS where that is used.
    pub fn needs_csr(&self) -> bool {
        self.precond.description().from_csr
    }
}

impl Equation for Plan {
    fn residual(&self, x: &[f64], b: &[f64]) -> Result<Vec<f64>> {
        Ok(residual(&self.a, x, b))
    }
    fn norms(&self, x: &[f64], b: &[f64]) -> Result<Norms> {
        Ok(Norms::of(&self.a, x, b))
    }
    fn project(&self, x: &mut [f64]) -> Result<()> {
        Plan::project(self, x);
        Ok(())
    }
}

/// Whether f32 holds such numbers and their inverses with room for the residual's decrease.
pub(super) fn fits_f32(of: Magnitudes) -> bool {
    const ROOM: f64 = 1e15;
    of.most == 0.0 || (of.least > 1.0 / ROOM && of.most < ROOM)
}

/// Refuses a diagonal that the preconditioner would have to divide by, and cannot.
pub(super) fn check_divisible(a: &Csr<f64>, precond: Precond, options: &Options) -> Result<()> {
    let description = precond.description();
    let is_pseudo = options.singular_blocks == SingularBlocks::PseudoInverse
        && description.takes_parameter("singular-blocks");
    if !description.divides_by_diagonal || is_pseudo && options.block_size > 1 {
        return Ok(());
    }
    check::check_divisible(a, options.block_size, description.name)?;
    match options.precision {
        Precision::F64 => Ok(()),
        Precision::F32 => check::check_divisible(&a.cast::<f32>(), options.block_size, description.name)
            .map_err(|error| match error {
                Error::Diagonal { row, method, .. } => {
                    Error::Diagonal { row, what: check::TOO_SMALL_FOR_F32, method }
                }
                error => error,
            }),
    }
}

/// The error of a diagonal entry, which cannot be had by another order where the whole row is empty.
fn explain_empty_row(a: &Csr<f64>, error: Error) -> Error {
    match error {
        Error::Diagonal { row, method, .. } if a.row_len(row - 1) == 0 => Error::Matrix(format!(
            "row {row} is empty: the matrix is singular, and {method} divides by its diagonal entry; take the equation \
             and its unknown out of the system, or put an entry there"
        )),
        error => error,
    }
}

/// Whether a format that nobody asked for is chosen and made where a matrix is used, from CRS. A
/// preconditioner that is made from that has it there. A hierarchy of blocks is of blocks, however many of
/// their values are zero; without one a CPU's matrix needs no planes. A GPU's is made on the host where row
/// pointers of 32 bits do not reach.
pub(super) fn converts_on_device(a: &Csr<f64>, options: &Options, precond: Precond, target: Target) -> bool {
    let Description { has_hierarchy, from_csr, .. } = *precond.description();
    let is_needed = if options.block_size > 1 { has_hierarchy } else { from_csr };
    let is_quick = target == Target::Gpu && check_reach(a.nnz() as u64).is_ok();
    options.format.is_none() && (is_needed || is_quick)
}

/// The format of a matrix, or of the rows of one rank, that is made on the host.
pub(super) fn choose_format(a: &Csr<f64>, options: &Options, target: Target) -> Result<Choice> {
    match options.format {
        None if options.block_size > 1 => choose_blocks(a, options.block_size, target),
        None => Ok(choose(a, target)),
        Some(format) => as_asked(a, format, options.sigma.unwrap_or(1)),
    }
}

/// The format that somebody asked for. [`Error::Padding`] where it would explode.
fn as_asked(a: &Csr<f64>, format: Format, sigma: usize) -> Result<Choice> {
    let (padding, sigma) = AnyMatrix::padding_of(a, format, sigma)?;
    Ok(Choice { format, sigma, padding, reason: format!("as asked: {:.1} % padding", padding.percent()) })
}
