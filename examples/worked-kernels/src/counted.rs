//! Launches whose accesses to memory the simulator counts, and ncu on a GPU.

use super::{fractions, integers};
use cuda_std::host::{Configuration, Kernel};
use kernels::{access, scan, stencil};

/// A launch.
pub struct Counted {
    /// What it shows.
    pub title: &'static str,
    /// The kernel, with its arguments.
    pub kernel: Box<dyn Kernel>,
    /// Blocks and threads.
    pub configuration: Configuration,
}

/// Elements of the vectors; a multiple of no block.
const N: u32 = 10_007;

/// The launches, with data where `place` puts it: words of 32 bits, at an address that is a multiple of 256.
pub fn counted(mut place: impl FnMut(Vec<u32>) -> *mut u32) -> Vec<Counted> {
    let mut all = Vec::new();
    let mut numbers = |n: u32| -> *mut f32 {
        place(fractions(n as usize, 37).into_iter().map(f32::to_bits).collect()).cast()
    };
    let x = numbers(3 * N);
    let [y, z] = [numbers(3 * N), numbers(3 * N)];
    let mut add = |title, kernel, configuration| all.push(Counted { title, kernel, configuration });
    let one_each = Configuration::new(N.div_ceil(access::BLOCK), access::BLOCK);

    for (title, stride, shift) in
        [("side by side", 1, 0), ("every second element", 2, 0), ("shifted by one element", 1, 1)]
    {
        add(title, Box::new(access::gather { n: N, stride, shift, x, y }), one_each);
    }
    let (n, by) = (N, 0.5);
    add("array of structures", Box::new(access::drift_structures { n, by, coordinates: y }), one_each);
    add("structure of arrays", Box::new(access::drift_arrays { n, by, coordinates: y }), one_each);
    let (side, tile) = (96, access::TILE);
    for (title, width) in [("columns in one bank", tile), ("rows padded by one", tile + 1)] {
        let squares = Configuration::new((side / tile, side / tile), (tile, tile));
        add(title, Box::new(access::transpose { n: side, width, x, y }), squares);
    }
    let (nx, ny, nz) = (33_u32, 17_u32, 19_u32);
    let (bx, by, bz) = stencil::BLOCK;
    let boxes = Configuration::new((nx.div_ceil(bx), ny.div_ceil(by), nz.div_ceil(bz)), stencil::BLOCK);
    add("seven points", Box::new(stencil::heat_step { nx, ny, nz, c: 0.1, u: x, v: y }), boxes);

    let (row_ptr, nonzeros) = rows(N);
    let values = fractions(nonzeros, 37).into_iter().map(f32::to_bits).collect();
    let [row_ptr, values] = [row_ptr, values].map(&mut place);
    let sum = access::sum_rows { n: N, row_ptr, values: values.cast(), y: z };
    all.push(Counted { title: "a row a thread", kernel: Box::new(sum), configuration: one_each });
    let blocks = N.div_ceil(scan::BLOCK);
    let [x, y, totals] = [N, N, blocks].map(|n| place(integers(n as usize, 37)));
    let mut add = |title, kernel, grid| {
        all.push(Counted { title, kernel, configuration: Configuration::new(grid, scan::BLOCK) });
    };
    add("sums of blocks", Box::new(scan::scan_blocks { n: N, x, y, totals }), blocks);
    add("sums by one block", Box::new(scan::scan_totals { n: blocks, x: totals }), 1);
    add("one for a block", Box::new(scan::add_totals { n: N, totals, y }), blocks);
    all
}

/// Rows of 0 to 7 entries: where each begins, and how many there are.
fn rows(n: u32) -> (Vec<u32>, usize) {
    let mut row_ptr = vec![0];
    row_ptr.extend(integers(n as usize, 41).iter().scan(0, |end, number| {
        *end += number >> 29;
        Some(*end)
    }));
    let nonzeros = row_ptr[n as usize] as usize;
    (row_ptr, nonzeros)
}
