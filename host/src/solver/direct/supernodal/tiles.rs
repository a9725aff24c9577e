//! Parts of a block that several threads compute.

use faer::MatMut;

use crate::parallel::ParallelSlice;

/// Rows and columns of a part: the same for any number of threads.
const ROWS: usize = 512;
const COLUMNS: usize = 256;

/// Rows and columns of a matrix, which nobody else changes meanwhile.
pub struct Tile<'a> {
    /// Their numbers.
    pub values: MatMut<'a, f64>,
    /// The first row,
    pub row: usize,
    /// and the first column.
    pub column: usize,
}

impl<'a> Tile<'a> {
    /// A whole matrix.
    pub fn whole(values: MatMut<'a, f64>) -> Tile<'a> {
        Tile { values, row: 0, column: 0 }
    }

    /// The parts of a matrix that are not above its diagonal.
    pub fn of_lower(matrix: MatMut<'a, f64>) -> Vec<Tile<'a>> {
        let (mut tiles, mut rest, mut column) = (Vec::new(), matrix, 0);
        while rest.ncols() > 0 {
            let width = COLUMNS.min(rest.ncols());
            let (panel, others) = rest.split_at_col_mut(width);
            let (_, panel) = panel.split_at_row_mut(column);
            tiles.extend(Tile::of_rows(panel).into_iter().map(|t| Tile { row: t.row + column, column, ..t }));
            (rest, column) = (others, column + width);
        }
        tiles
    }

    /// Some rows each of a matrix.
    pub fn of_rows(matrix: MatMut<'a, f64>) -> Vec<Tile<'a>> {
        let (mut tiles, mut rest, mut row) = (Vec::new(), matrix, 0);
        while rest.nrows() > 0 {
            let height = ROWS.min(rest.nrows());
            let (values, others) = rest.split_at_row_mut(height);
            tiles.push(Tile { values, row, column: 0 });
            (rest, row) = (others, row + height);
        }
        tiles
    }
}

/// Calls `f` for all, on several threads where they are `wide`.
pub fn each(mut tiles: Vec<Tile>, is_wide: bool, f: impl Fn(&mut Tile) + Sync) {
    match is_wide {
        true => tiles.par_iter_mut().for_each(f),
        false => tiles.iter_mut().for_each(f),
    }
}
