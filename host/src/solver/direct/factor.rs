//! The numbers of a factorisation, and solves with them.

use std::sync::atomic::{AtomicBool, Ordering};

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::linalg::LuError;
use faer::sparse::linalg::lu::supernodal::{self, SupernodalLu};
use faer::{Conj, MatMut, Par, Spec};

use super::blocks::Blocks;
use super::columns::Columns;
use super::normal::Normal;
use super::prediction::{Prediction, failed, workspace};
use super::sparse_lu::{Choice, SparseLu};
use super::symbolic::{Care, General, Symbolic, flops_before};
use super::symmetric::Symmetric;
use crate::error::Result;

/// The preferred pivot of LU is taken where it is at least this share of the largest,
const THRESHOLD: f64 = 0.1;
/// and this one where that leads to much more fill than was thought of (as in KLU, Davis and Palamadai 2010).
const RELAXED: f64 = 1e-3;

/// With more threads faer (0.24) divides the dense kernels of one block of columns after the other, which
/// gains little, since most blocks are small, and changes some bits.
const PAR: Par = Par::Seq;

const USUAL: Choice = Choice { threshold: THRESHOLD, comes_last: false };
const SMALLER: Choice = Choice { threshold: RELAXED, comes_last: false };
/// Columns without a pivot of that size come last.
const LAST: Choice = Choice { threshold: RELAXED, comes_last: true };

/// The factors of a matrix.
pub struct Factor {
    numbers: Numbers,
    /// Whether they are of a matrix with other numbers.
    is_of_other: bool,
}

enum Numbers {
    Symmetric(Symmetric),
    SparseLu { lu: SparseLu, choice: Choice },
    Normal(Normal),
    BlockLu { blocks: Blocks, rows: [Vec<usize>; 2], factors: SupernodalLu<usize, f64>, workspace: MemBuffer },
}

/// A factorisation that came to nothing.
pub enum Failure {
    /// A pivot is not positive.
    Indefinite,
    /// There is no pivot at all.
    Singular,
    /// There is much more fill than was thought of, and less would do.
    Filled,
    /// Nobody waited for it.
    Cancelled,
}

impl Factor {
    /// Factorises, in about so many seconds at most where it is by LU, unless that is `cancelled`. The inner
    /// error where the matrix has no such factors.
    pub fn of(
        a: &Columns,
        symbolic: Symbolic,
        is_definite: bool,
        care: Care,
        most_seconds: f64,
        cancelled: &AtomicBool,
    ) -> Result<std::result::Result<Factor, Failure>> {
        let made = match symbolic {
            Symbolic::Symmetric(symbolic) => Symmetric::of(a, symbolic, is_definite, cancelled)?
                .map(Numbers::Symmetric)
                .ok_or(Failure::Indefinite),
            Symbolic::General(symbolic) => match single_entries(a, &symbolic, care, most_seconds) {
                Some(lu) => Ok(lu),
                None if care == Care::Little => Err(Failure::Filled),
                None => in_blocks(a, symbolic, care, most_seconds)?,
            },
        };
        Ok(match made {
            _ if cancelled.load(Ordering::Relaxed) => Err(Failure::Cancelled),
            made => made.map(|numbers| Factor { numbers, is_of_other: false }),
        })
    }

    /// That of normal equations.
    pub fn normal(normal: Normal) -> Factor {
        Factor { numbers: Numbers::Normal(normal), is_of_other: false }
    }

    /// Computes those of a symmetric matrix again, with other numbers: `false` where nobody waits for them.
    pub fn recompute(&mut self, a: &Columns, cancelled: &AtomicBool) -> Result<bool> {
        let Numbers::Symmetric(symmetric) = &mut self.numbers else { return Ok(true) };
        self.is_of_other = true;
        symmetric.compute(a, cancelled)
    }

    /// Whether they are of a matrix with other numbers.
    pub fn is_of_other(&self) -> bool {
        self.is_of_other
    }

    /// `A^-1 x` in place of x.
    pub fn solve(&mut self, x: &mut [f64]) {
        self.apply(x, false);
    }

    /// `A^-T x` in place of x.
    pub fn solve_transposed(&mut self, x: &mut [f64]) {
        self.apply(x, true);
    }

    fn apply(&mut self, x: &mut [f64], is_transposed: bool) {
        match &mut self.numbers {
            Numbers::Symmetric(symmetric) => symmetric.solve(x),
            Numbers::SparseLu { lu, .. } if is_transposed => lu.solve_transposed(x),
            Numbers::SparseLu { lu, .. } => lu.solve(x),
            Numbers::Normal(normal) if is_transposed => normal.solve_transposed(x),
            Numbers::Normal(normal) => normal.solve(x),
            Numbers::BlockLu { blocks, rows: [forward, inverse], factors, workspace } => {
                let (n, stack) = (x.len(), MemStack::new(workspace));
                let x = MatMut::from_column_major_slice_mut(x, n, 1);
                let (rows, columns) = (PermRef::new_checked(forward, inverse, n), blocks.order());
                match is_transposed {
                    false => factors.solve_in_place_with_conj(rows, columns, Conj::No, x, PAR, stack),
                    true => {
                        factors.solve_transpose_in_place_with_conj(rows, columns, Conj::No, x, PAR, stack)
                    }
                }
            }
        }
    }

    /// LU of single entries, which knows the rank.
    pub fn sparse_lu(&self) -> Option<&SparseLu> {
        match &self.numbers {
            Numbers::SparseLu { lu, .. } => Some(lu),
            _ => None,
        }
    }

    /// Whether pivots were taken that are rather small.
    pub fn is_relaxed(&self) -> bool {
        matches!(&self.numbers, Numbers::SparseLu { choice, .. } if choice.threshold == RELAXED)
    }
}

type Made = std::result::Result<Numbers, Failure>;

/// LU of single entries; `None` where it takes too much.
fn single_entries(a: &Columns, symbolic: &General, care: Care, most_seconds: f64) -> Option<Numbers> {
    let most = symbolic.most_flops.min(Prediction::entry_flops(most_seconds));
    let few = symbolic.surprising_flops().min(most);
    let in_blocks = symbolic.blocks.as_ref().map_or(f64::INFINITY, |(_, any_pivots)| any_pivots.seconds());
    let as_long = Prediction::entry_flops(in_blocks);
    let of = |choice, most_flops| sparse_lu(a, symbolic, choice, most_flops);
    match care {
        Care::Little => of(USUAL, few).or_else(|| of(SMALLER, few)),
        // After a surprise, blocks are known to take less than another attempt may.
        Care::Usual if as_long < few => of(USUAL, few),
        Care::Usual => of(USUAL, few)
            .or_else(|| of(SMALLER, few))
            .or_else(|| of(LAST, few))
            .or_else(|| of(SMALLER, most)),
        Care::Most => of(USUAL, most.min(few.max(as_long))),
    }
}

fn sparse_lu(a: &Columns, symbolic: &General, choice: Choice, most_flops: f64) -> Option<Numbers> {
    let General { order, preferred, .. } = symbolic;
    SparseLu::of(a, order, preferred, choice, most_flops).map(|lu| Numbers::SparseLu { lu, choice })
}

fn in_blocks(a: &Columns, mut symbolic: General, care: Care, most_seconds: f64) -> Result<Made> {
    let (blocks, any_pivots) = match symbolic.blocks.take() {
        Some(blocks) => blocks,
        None => {
            let (blocks, any_pivots) = Blocks::of(a)?;
            // A row with entries in nearly all columns may be anywhere, for all that blocks know, and they
            // full.
            let choice = if care == Care::Most { USUAL } else { SMALLER };
            let most_flops = flops_before(&any_pivots).min(Prediction::entry_flops(most_seconds));
            if let Some(lu) = sparse_lu(a, &symbolic, choice, most_flops) {
                return Ok(Ok(lu));
            }
            any_pivots.check_memory()?;
            (blocks, any_pivots)
        }
    };
    if any_pivots.seconds() > most_seconds {
        return Ok(Err(Failure::Filled));
    }
    let mut rows = [vec![0; a.n], vec![0; a.n]];
    let [forward, inverse] = &mut rows;
    let supernodes = &blocks.supernodes;
    let request =
        supernodal::factorize_supernodal_numeric_lu_scratch::<usize, f64>(supernodes, Spec::default());
    let (mut memory, mut factors) = (workspace(request)?, SupernodalLu::new());
    let (transposed, stack) = (a.transposed(), MemStack::new(&mut memory));
    let made = supernodal::factorize_supernodal_numeric_lu(
        forward,
        inverse,
        &mut factors,
        a.matrix(),
        transposed.matrix(),
        blocks.order(),
        supernodes,
        PAR,
        stack,
        Spec::default(),
    );
    match made {
        Ok(()) => {
            let request = supernodal::solve_in_place_scratch::<usize, f64>(a.n, 1, PAR);
            Ok(Ok(Numbers::BlockLu { blocks, rows, factors, workspace: workspace(request)? }))
        }
        Err(LuError::SymbolicSingular { .. }) => Ok(Err(Failure::Singular)),
        Err(LuError::Generic(error)) => Err(failed(error)),
    }
}
