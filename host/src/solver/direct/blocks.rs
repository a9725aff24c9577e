//! Blocks of columns that are eliminated together, for LU with any pivots.

use faer::dyn_stack::{MemStack, StackReq};
use faer::perm::PermRef;
use faer::sparse::linalg::lu::supernodal::{
    SymbolicSupernodalLu, factorize_supernodal_symbolic_lu, factorize_supernodal_symbolic_lu_scratch,
};
use faer::sparse::linalg::{colamd, qr};

use super::columns::Columns;
use super::kind::Kind;
use super::prediction::{Prediction, failed, workspace};
use crate::error::Result;

/// Multiply-adds for an entry of the factors from which on dense blocks are faster than single entries.
const SUPERNODAL_FLOPS: f64 = 40.0;

/// Blocks of columns with COLAMD's order.
pub struct Blocks {
    /// Column `forward[k]` comes k-th.
    pub forward: Vec<usize>,
    /// The inverse.
    pub inverse: Vec<usize>,
    /// The blocks.
    pub supernodes: SymbolicSupernodalLu<usize>,
}

impl Blocks {
    /// Those of a matrix, and what they take at most, whatever the pivots. As faer's `factorize_symbolic_lu`,
    /// which keeps its counts to itself.
    pub fn of(a: &Columns) -> Result<(Blocks, Prediction)> {
        let (n, pattern) = (a.n, a.symbolic());
        let request = StackReq::any_of(&[
            colamd::order_scratch::<usize>(n, n, a.row_idx.len()),
            qr::col_etree_scratch::<usize>(n, n),
            qr::postorder_scratch::<usize>(n),
            qr::column_counts_aat_scratch::<usize>(n, n),
            StackReq::new::<usize>(n).and(factorize_supernodal_symbolic_lu_scratch::<usize>(n, n)),
        ]);
        let mut memory = workspace(request)?;
        let zeros = || vec![0usize; n];
        let (mut forward, mut inverse) = (zeros(), zeros());
        let stack = MemStack::new(&mut memory);
        colamd::order(&mut forward, &mut inverse, pattern, colamd::Control::default(), stack)
            .map_err(failed)?;
        let order = PermRef::new_checked(&forward, &inverse, n);
        let (mut tree, mut post, mut counts, mut first) = (zeros(), zeros(), zeros(), zeros());
        let tree = qr::col_etree(pattern, Some(order), &mut tree, MemStack::new(&mut memory));
        qr::postorder(&mut post, tree, MemStack::new(&mut memory));
        let rows = a.transposed();
        let stack = MemStack::new(&mut memory);
        qr::column_counts_ata(&mut counts, &mut first, rows.symbolic(), Some(order), tree, &post, stack);
        let (entries, flops) = most(tree.into_inner(), &counts, &first);
        let stack = MemStack::new(&mut memory);
        let supernodes = factorize_supernodal_symbolic_lu(
            pattern,
            Some(order),
            &first,
            tree,
            &counts,
            stack,
            Default::default(),
        )
        .map_err(failed)?;
        let bytes = 9.0 * entries + 32.0 * a.row_idx.len() as f64;
        let prediction = Prediction { kind: Kind::Lu, entries, flops, in_blocks: true, bytes };
        Ok((Blocks { forward, inverse, supernodes }, prediction))
    }

    /// Whether they may be faster than single entries.
    pub fn is_worthwhile(&self, prediction: &Prediction) -> bool {
        prediction.flops > SUPERNODAL_FLOPS * prediction.entries
    }

    /// The order of the columns.
    pub fn order(&self) -> PermRef<'_, usize> {
        PermRef::new_checked(&self.forward, &self.inverse, self.forward.len())
    }
}

/// Entries and multiply-adds of L and U at most: those of a QR decomposition with Householder vectors, whose
/// pattern holds that of L and U for all pivots (George and Ng 1987). `first` is the first column of each
/// row.
fn most(tree: &[isize], counts: &[usize], first: &[usize]) -> (f64, f64) {
    let mut below = vec![0usize; counts.len()];
    for &column in first.iter().filter(|&&column| (column as isize) >= 0) {
        below[column] += 1;
    }
    let (mut entries, mut flops) = (0.0, 0.0);
    for k in 0..counts.len() {
        if tree[k] >= 0 {
            below[tree[k] as usize] += below[k].saturating_sub(1);
        }
        let (below, right) = (below[k] as f64, counts[k] as f64);
        entries += below + right;
        flops += below + below * right;
    }
    (entries, flops)
}
