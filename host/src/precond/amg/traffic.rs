//! The bytes that a cycle must move through memory, whatever the caches keep: the matrices of each pass, and
//! each of its vectors once for reading and once for writing.

use super::params::{Cycle, Params};
use crate::matrix::matrix_traffic;
use crate::setup::Size;

/// A matrix that is read in passes.
#[derive(Clone, Copy)]
pub struct Stored {
    /// Its size.
    pub size: Size,
    /// Bytes of a value; 0 where values are compressed into the columns.
    pub value_bytes: usize,
}

/// The passes of a visit of a level but the coarsest.
pub struct Passes {
    /// The matrix.
    pub a: Stored,
    /// The way back from the next coarser level.
    pub correction: Stored,
    /// Restriction to it.
    pub r: Stored,
    /// Bytes of a smoothing step.
    pub step: f64,
    /// Bytes of one from zero, without what is part of other passes.
    pub step_from_zero: f64,
    /// Whether the first sweep from zero is part of the pass that computes the right-hand side.
    pub has_first_sweep: bool,
    /// Where the correction is one pass with the first sweep after it: bytes of such a sweep by itself.
    pub swept: Option<f64>,
}

/// All levels.
pub struct Traffic {
    /// Bytes of a value.
    pub value: usize,
    /// Rows of a block.
    pub block: usize,
    /// All levels but the coarsest.
    pub levels: Vec<Passes>,
    /// Bytes of solving on the coarsest.
    pub coarsest: f64,
}

/// `count` vectors of `n` values.
fn vectors(count: usize, n: usize, value: usize) -> f64 {
    (count * value) as f64 * n as f64
}

/// `y = A x` with vectors of values of this many bytes.
pub fn product(Stored { size, value_bytes }: Stored, value: usize, block: usize) -> f64 {
    let Size { n_rows, n_cols, nnz } = size;
    matrix_traffic(nnz, n_rows, value_bytes, block) as f64 + vectors(1, n_rows + n_cols, value)
}

/// `count` sweeps `y = x + w d .* (b - A x)`.
pub fn sweeps(count: usize, a: Stored, value: usize, block: usize) -> f64 {
    // b, x and the row's part of D in addition to the product's vectors.
    count as f64 * (product(a, value, block) + vectors(1 + block, a.size.n_rows, value))
}

impl Traffic {
    /// Bytes of one cycle from zero.
    pub fn cycle(&self, params: &Params) -> f64 {
        // Of a visit from zero and of one from an iterate: a V-cycle's, and that of the cycle at hand.
        let (mut v, mut chosen) = ([self.coarsest; 2], [self.coarsest; 2]);
        for (l, level) in self.levels.iter().enumerate().rev() {
            let own = [true, false].map(|zero| self.visit(level, zero, params));
            let below = match (self.levels.get(l + 1), params.cycle()) {
                (None, _) => self.coarsest,
                (Some(_), Cycle::V) => v[0],
                (Some(_), Cycle::W) => chosen[0] + chosen[1],
                (Some(_), Cycle::F) => chosen[0] + v[1],
                (Some(next), Cycle::K) => 2.0 * chosen[0] + self.flexible_cg(next, params),
            };
            v = own.map(|own| own + v[0]);
            chosen = own.map(|own| own + below);
        }
        // The finest level's first sweep is a pass of its own, x = w d .* b.
        let first = self.levels.first().filter(|level| params.pre > 0 && level.has_first_sweep);
        chosen[0] + first.map_or(0.0, |level| vectors(3, level.a.size.n_rows, self.value))
    }

    /// A visit of a level without those below it. The first sweep from zero is part of the restriction before
    /// it.
    fn visit(&self, level: &Passes, zero: bool, params: &Params) -> f64 {
        let &Passes { a, correction, r, step, step_from_zero, has_first_sweep, swept } = level;
        let (n, value, block) = (a.size.n_rows, self.value, self.block);
        let from_zero = u32::from(zero && params.pre > 0);
        let smoothing = f64::from(params.pre + params.post - from_zero) * step
            + f64::from(from_zero) * step_from_zero
            - swept.unwrap_or(0.0);
        let first_sweep = params.pre > 0 && has_first_sweep;
        let restriction =
            product(r, value, block) + vectors(if first_sweep { 2 } else { 0 }, r.size.n_rows, value);
        // Without an iterate the residual is b, and the correction is not added, or to zeros.
        let has_iterate = !zero || params.pre > 0;
        let residual = if has_iterate { product(a, value, block) + vectors(1, n, value) } else { 0.0 };
        let beside_product = match (swept.is_some(), has_iterate) {
            (true, true) => 3,
            (true, false) => 3 + 1,
            (false, has_iterate) => usize::from(has_iterate),
        };
        smoothing
            + restriction
            + residual
            + product(correction, value, block)
            + vectors(beside_product, n, value)
    }

    /// The two steps of flexible CG around the visits of a K-cycle.
    fn flexible_cg(&self, level: &Passes, params: &Params) -> f64 {
        let first_sweep = if params.pre > 0 && level.has_first_sweep { 3 } else { 0 };
        2.0 * product(level.a, self.value, self.block)
            + vectors(17 + first_sweep, level.a.size.n_rows, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [usize; 4] = [1000, 130, 17, 3];

    fn traffic(sweeps: usize, params: &Params) -> Traffic {
        let size = |n_rows, n_cols, nnz| Size { n_rows, n_cols, nnz };
        let level = |w: &[usize]| {
            // The second level is neither compressed nor swept while it is corrected.
            let is_second = w[0] == SIZES[1];
            let value_bytes = if is_second { 4 } else { 0 };
            let a = Stored { size: size(w[0], w[0], 7 * w[0] + 3), value_bytes };
            Passes {
                a,
                correction: Stored { size: size(w[0], w[1], 3 * w[0]), value_bytes: 4 },
                r: Stored { size: size(w[1], w[0], 3 * w[0]), value_bytes: 4 },
                step: super::sweeps(sweeps, a, 4, 1),
                step_from_zero: super::sweeps(sweeps - 1, a, 4, 1),
                has_first_sweep: true,
                swept: (params.post > 0 && !is_second).then(|| super::sweeps(1, a, 4, 1)),
            }
        };
        let levels = SIZES.windows(2).map(level).collect();
        Traffic {
            value: 4,
            block: 1,
            levels,
            coarsest: product(Stored { size: size(3, 3, 9), value_bytes: 4 }, 4, 1),
        }
    }

    /// Every pass of `cycle.rs`, one after another.
    fn walk(t: &Traffic, l: usize, each: usize, cycle: Cycle, zero: bool, params: &Params) -> f64 {
        let Some(level) = t.levels.get(l) else { return t.coarsest };
        let (n, n_c) = (SIZES[l] as f64, SIZES[l + 1] as f64);
        let matrix = |m: Size| (8 * m.nnz + 4 * m.n_rows) as f64;
        let compressed =
            |level: &Passes| matrix(level.a.size) - ((4 - level.a.value_bytes) * level.a.size.nnz) as f64;
        let mut bytes = 0.0;
        for sweep in 0..params.pre as usize * each {
            if !(zero && sweep == 0) {
                bytes += compressed(level) + 4.0 * 4.0 * n;
            }
        }
        let iterate = !zero || params.pre > 0;
        if iterate {
            bytes += compressed(level) + 4.0 * 3.0 * n;
        }
        bytes += matrix(level.r.size) + 4.0 * (n + n_c) + if params.pre > 0 { 4.0 * 2.0 * n_c } else { 0.0 };
        bytes += match cycle {
            Cycle::K if l + 1 < t.levels.len() => {
                let a = compressed(&t.levels[l + 1]) + 4.0 * 2.0 * n_c;
                let dots = 3.0 * 2.0;
                let axpbys = 3.0 * 3.0;
                let scaled = if params.pre > 0 { 3.0 } else { 0.0 };
                2.0 * walk(t, l + 1, each, cycle, true, params)
                    + 2.0 * a
                    + 4.0 * n_c * (2.0 + dots + axpbys + scaled)
            }
            Cycle::W if l + 1 < t.levels.len() => {
                walk(t, l + 1, each, Cycle::W, true, params) + walk(t, l + 1, each, Cycle::W, false, params)
            }
            Cycle::F if l + 1 < t.levels.len() => {
                walk(t, l + 1, each, Cycle::F, true, params) + walk(t, l + 1, each, Cycle::V, false, params)
            }
            _ => walk(t, l + 1, each, cycle, true, params),
        };
        let zeros = if iterate { 0.0 } else { n };
        bytes += matrix(level.correction.size)
            + 4.0 * (n_c + if level.swept.is_some() { 4.0 * n + zeros } else { 2.0 * n - zeros });
        let sweeps = params.post as usize * each - usize::from(level.swept.is_some());
        bytes + sweeps as f64 * (compressed(level) + 4.0 * 4.0 * n)
    }

    #[test]
    fn every_pass_of_every_cycle_is_counted() {
        for cycle in [Cycle::V, Cycle::W, Cycle::F, Cycle::K] {
            for (pre, post, each) in [(1, 1, 1), (2, 1, 3), (0, 2, 1), (1, 0, 2)] {
                let params = Params { cycle: Some(cycle), pre, post, ..Params::default() };
                let traffic = traffic(each, &params);
                let first = if pre > 0 { 3.0 * 4.0 * 1000.0 } else { 0.0 };
                let expected = first + walk(&traffic, 0, each, cycle, true, &params);
                assert_eq!(traffic.cycle(&params), expected, "{cycle} {pre} {post} {each}");
            }
        }
    }

    #[test]
    fn a_single_level_is_the_coarsest() {
        let traffic = Traffic { value: 8, block: 1, levels: Vec::new(), coarsest: 1234.0 };
        assert_eq!(traffic.cycle(&Params::default()), 1234.0);
    }
}
