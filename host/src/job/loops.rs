//! One weighted sweep of Jacobi's iteration with blocks of 2 x 2 on threads of the host, its loops written in
//! four ways (S. Rosenberger, G. Haase: OpenACC and CUDA parallelization for the elasticity problem in CARP,
//! SFB-Report 2017-004, section 8.4).
//!
//! ```text
//! v = f - A u,  u += omega D^-1 v
//! ```
//!
//! What OpenMP's clauses decide there, where a variable is declared decides in Rust. In the source's second
//! way all threads share the pointers to a row's entries, which is a race; here they share the arrays, and
//! look up where an entry is in each step.

use arithmetic::blocks::inverse_or_diagonal;

use super::timing::{Timing, time};
use crate::backend::cpu::Cpu;
use crate::error::{Error, Result};
use crate::matrix::{Csr, check, diagonal_blocks};
use crate::named::named;
use crate::parallel::*;
use crate::problem::random::uniform;

named! {
    /// How the loops of a sweep are written; numbered from 1 in the source.
    "way to write the loops" Loops {
        /// All variables are declared in the loop over the rows.
        InLoop = "variables in the loop",
        /// A row has no slices of its own: its entries are looked up in the arrays of the matrix.
        Shared = "entries looked up in shared arrays",
        /// As the first, without prefetching.
        NoPrefetch = "without prefetching",
        /// All variables are a thread's own, declared outside of the loop.
        Private = "all variables private",
    }
}

/// Rows of a task, a whole number of blocks.
const CHUNK: usize = 2048;
/// Entries from one that is multiplied to the one that is prefetched.
const AHEAD: usize = 64;
const OMEGA: f64 = 0.9;

/// What [`measure`] found.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Times of a sweep.
    pub timing: Timing,
    /// Elements that are not those of a sequential sweep, to the last bit.
    pub wrong: usize,
    /// Bytes that a sweep must move.
    pub bytes: u64,
}

/// What a sweep works with.
struct Sweep<'a> {
    a: &'a Csr<f64>,
    inverse_blocks: Vec<f64>,
    f: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
}

/// Times `repeat` sweeps, after a warm-up, on the threads of `cpu`; the unknowns 2 k and 2 k + 1 are a block.
///
/// # Errors
/// [`Error::Option`] for an odd number of rows, [`Error::Block`] for a block that is singular.
pub fn measure(cpu: &Cpu, a: &Csr<f64>, loops: Loops, repeat: usize) -> Result<Measurement> {
    let mut sweep = Sweep::new(a)?;
    let mut expected = sweep.u.clone();
    for i in (0..a.n_rows()).step_by(2) {
        let residual = [i, i + 1].map(|i| {
            let (columns, values) = a.row(i);
            let terms = columns.iter().zip(values);
            terms.fold(sweep.f[i], |sum, (&column, value)| sum - value * sweep.u[column as usize])
        });
        add_block(&mut expected[i..i + 2], &sweep.inverse_blocks[2 * i..2 * i + 4], residual);
    }
    cpu.install(|| sweep.run(loops));
    let differ = sweep.u.iter().zip(&expected).filter(|(u, expected)| u.to_bits() != expected.to_bits());
    let wrong = differ.count();
    let timing = cpu.install(|| {
        time::<f64, Cpu>(cpu, None, repeat, &mut || {
            sweep.run(loops);
            Ok(())
        })
    })?;
    // The residual and the blocks are written and read once more.
    let vectors = 8 * a.n_rows() * size_of::<f64>();
    let matrix = size_of_val(a.row_ptr()) + size_of_val(a.col_idx()) + size_of_val(a.values());
    Ok(Measurement { timing, wrong, bytes: (matrix + vectors) as u64 })
}

impl<'a> Sweep<'a> {
    fn new(a: &'a Csr<f64>) -> Result<Sweep<'a>> {
        if !a.n_rows().is_multiple_of(2) || a.n_rows() != a.n_cols() {
            let shape = format!("{} x {}", a.n_rows(), a.n_cols());
            let why = "sweeps over blocks of 2 x 2 need a square matrix with an even number of rows";
            return Err(Error::Option(format!("{why}, and this one is {shape}; take --gen bidomain:N")));
        }
        let mut inverse_blocks = diagonal_blocks(a, 2);
        check::check_diagonal_blocks(&inverse_blocks, 2, "Jacobi's sweeps")?;
        for block in inverse_blocks.chunks_mut(4) {
            let inverse = inverse_or_diagonal([[block[0], block[1]], [block[2], block[3]]]);
            block.copy_from_slice(inverse.as_flattened());
        }
        let random = |seed: u64| (0..a.n_rows()).map(|i| uniform(seed, i as u64) - 0.5).collect();
        Ok(Sweep { a, inverse_blocks, f: random(1), u: random(2), v: vec![f64::NAN; a.n_rows()] })
    }

    fn run(&mut self, loops: Loops) {
        let Sweep { a, inverse_blocks, f, u, v } = self;
        let (a, f) = (*a, &f[..]);
        let residual = match loops {
            Loops::InLoop => residual_in_loop::<true>,
            Loops::NoPrefetch => residual_in_loop::<false>,
            Loops::Shared => residual_shared,
            Loops::Private => residual_private,
        };
        v.par_chunks_mut(CHUNK).enumerate().for_each(|(k, v)| residual(a, f, u, k * CHUNK, v));
        let parts = u.par_chunks_mut(CHUNK).zip(v.par_chunks(CHUNK)).enumerate();
        parts.for_each(|(k, (u, v))| {
            let blocks = inverse_blocks[2 * k * CHUNK..].chunks(4);
            for ((u, v), block) in u.chunks_mut(2).zip(v.chunks(2)).zip(blocks) {
                add_block(u, block, [v[0], v[1]]);
            }
        });
    }
}

/// `u += omega B v` for one block.
fn add_block(u: &mut [f64], block: &[f64], v: [f64; 2]) {
    u[0] += OMEGA * (block[0] * v[0] + block[1] * v[1]);
    u[1] += OMEGA * (block[2] * v[0] + block[3] * v[1]);
}

/// Rows `first ..` of `v = f - A u`.
fn residual_in_loop<const PREFETCH: bool>(a: &Csr<f64>, f: &[f64], u: &[f64], first: usize, v: &mut [f64]) {
    for (k, v) in v.iter_mut().enumerate() {
        let (columns, values) = a.row(first + k);
        let mut s = f[first + k];
        for (column, value) in columns.iter().zip(values) {
            if PREFETCH {
                prefetch(column);
                prefetch(value);
            }
            s -= value * u[*column as usize];
        }
        *v = s;
    }
}

fn residual_shared(a: &Csr<f64>, f: &[f64], u: &[f64], first: usize, v: &mut [f64]) {
    let (row_ptr, col_idx, values) = (a.row_ptr(), a.col_idx(), a.values());
    for i in first..first + v.len() {
        v[i - first] = f[i];
        for j in 0..row_ptr[i + 1] - row_ptr[i] {
            prefetch(&col_idx[row_ptr[i] + j]);
            prefetch(&values[row_ptr[i] + j]);
            v[i - first] -= values[row_ptr[i] + j] * u[col_idx[row_ptr[i] + j] as usize];
        }
    }
}

fn residual_private(a: &Csr<f64>, f: &[f64], u: &[f64], first: usize, v: &mut [f64]) {
    let (mut i, mut s);
    let (mut columns, mut values);
    let mut k = 0;
    while k < v.len() {
        i = first + k;
        (columns, values) = a.row(i);
        s = f[i];
        for (column, value) in columns.iter().zip(values) {
            prefetch(column);
            prefetch(value);
            s -= value * u[*column as usize];
        }
        v[k] = s;
        k += 1;
    }
}

/// Asks for what is [`AHEAD`] elements behind, as `_MM_HINT_NTA` does; nothing on other processors.
#[inline(always)]
fn prefetch<E>(element: &E) {
    let ahead = std::ptr::from_ref(element).wrapping_add(AHEAD).cast::<i8>();
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is no access, and never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_NTA, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_NTA>(ahead);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = ahead;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Problem, generate};

    #[test]
    fn every_way_has_the_bits_of_a_sequential_sweep() {
        let a = generate(&Problem::Bidomain { n: 11 }, 0).unwrap();
        assert!(a.n_rows() > CHUNK);
        for threads in [1, 3] {
            let cpu = Cpu::new(threads).unwrap();
            for &loops in Loops::ALL {
                let m = measure(&cpu, &a, loops, 2).unwrap();
                assert_eq!(m.wrong, 0, "{loops}, {threads} threads");
                assert!(m.bytes > 12 * a.nnz() as u64);
            }
        }
        let odd = crate::problem::random_spd(97, 5, 3);
        assert!(measure(&Cpu::new(1).unwrap(), &odd, Loops::InLoop, 1).is_err());
    }
}
