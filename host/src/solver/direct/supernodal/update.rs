//! What supernodes change of a later one: `C -= L_rows D L_columns^T`.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::reborrow::ReborrowMut;
use faer::{Accum, MatMut, MatRef, Par};

use super::block::Place;
use super::tiles::Tile;
use super::tree::Tree;

/// Multiply-adds below which it takes longer to call a kernel than to do them.
const FEW: usize = 3000;

/// Memory for intermediate results.
#[derive(Default)]
pub struct Scratch {
    product: Vec<f64>,
    scaled: Vec<f64>,
    rows: Vec<u32>,
}

/// Updates a part of the block of supernode s by all that change it, in their order. A row below its columns
/// is at `place[row]` of the block.
pub fn update(
    tile: &mut Tile,
    tree: &Tree,
    s: usize,
    places: &[Place],
    place: &[u32],
    scratch: &mut Scratch,
) {
    let (begin, columns, below) = (tree.begin(s), tree.columns(s), tree.below(s));
    let row_of = |place: usize| match place {
        place if place < columns => begin + place,
        place => below.get(place - columns).copied().unwrap_or(usize::MAX),
    };
    let rows_of_tile = row_of(tile.row)..row_of(tile.row + tile.values.nrows());
    let columns_of_tile = begin + tile.column..begin + tile.column + tile.values.ncols();
    for update in tree.updates(s) {
        let from = update.from as usize;
        // Nobody needs what is left where another has failed.
        let Some(done) = places[from].done() else { return };
        let rows = tree.below(from);
        let changed = among(rows, update.begin as usize..update.end as usize, &columns_of_tile);
        let changing = among(rows, changed.start..rows.len(), &rows_of_tile);
        if changed.is_empty() || changing.is_empty() {
            continue;
        }
        let Scratch { product, scaled, rows: places_of_rows } = &mut *scratch;
        let place_of = |&row: &usize| if row < begin + columns { (row - begin) as u32 } else { place[row] };
        places_of_rows.clear();
        places_of_rows.extend(rows[changing.clone()].iter().map(|row| place_of(row) - tile.row as u32));
        let l = tree.block(from, done.values);
        let part = |rows: &Range<usize>| l.subrows(l.ncols() + rows.start, rows.len());
        let lower = match done.below {
            Some(below) => times_d(part(&changed), l, below, scaled),
            None => part(&changed),
        };
        multiply(part(&changing), lower, product);
        let column_of = |k: usize| rows[changed.start + k] - columns_of_tile.start;
        subtract(&mut tile.values, product, places_of_rows, changed.len(), column_of);
    }
}

/// Where the rows are, of those in `places`, that are within some bounds.
fn among(rows: &[usize], places: Range<usize>, bounds: &Range<usize>) -> Range<usize> {
    let first_from = |bound: usize| places.start + rows[places.clone()].partition_point(|&row| row < bound);
    first_from(bounds.start)..first_from(bounds.end)
}

/// `L D`, with the diagonal of D on that of `block`, and what is below it.
fn times_d<'a>(
    l: MatRef<f64>,
    block: MatRef<f64>,
    below: &[f64],
    scaled: &'a mut Vec<f64>,
) -> MatRef<'a, f64> {
    let (m, k) = (l.nrows(), l.ncols());
    scaled.clear();
    for j in 0..k {
        let diagonal = block[(j, j)];
        // Of a pair of columns the first one has the number below the diagonal.
        let beside = match j.checked_sub(1).map_or(0.0, |before| below[before]) {
            0.0 => (below[j], (j + 1).min(k - 1)),
            before => (before, j - 1),
        };
        scaled.extend((0..m).map(|i| l[(i, j)] * diagonal + l[(i, beside.1)] * beside.0));
    }
    MatRef::from_column_major_slice(scaled, m, k)
}

/// `upper lower^T`, column by column.
fn multiply(upper: MatRef<f64>, lower: MatRef<f64>, product: &mut Vec<f64>) {
    let (m, n, k) = (upper.nrows(), lower.nrows(), upper.ncols());
    product.clear();
    product.resize(m * n, 0.0);
    if m * n * k >= FEW {
        let product = MatMut::from_column_major_slice_mut(product, m, n);
        return matmul(product, Accum::Replace, upper, lower.transpose(), 1.0, Par::Seq);
    }
    for p in 0..k {
        for j in 0..n {
            let factor = lower[(j, p)];
            let entries = product[j * m..][..m].iter_mut().zip(upper.col(p).iter());
            entries.for_each(|(sum, v)| *sum += factor * v);
        }
    }
}

/// Subtracts the columns of a product from those of a matrix, its rows from these.
fn subtract(
    c: &mut MatMut<f64>,
    product: &[f64],
    rows: &[u32],
    columns: usize,
    column_of: impl Fn(usize) -> usize,
) {
    for (k, product) in product.chunks_exact(rows.len()).enumerate().take(columns) {
        let mut column = c.rb_mut().col_mut(column_of(k));
        rows.iter().zip(product).for_each(|(&i, v)| column[i as usize] -= v);
    }
}
