//! Access patterns, timed: which addresses neighbouring threads read, and which ways they go (programming
//! GPUs with OpenMP, SC21 tutorial: branching, coalesced memory accesses, memory layout).
//!
//! Each pattern is one kernel that computes n elements, f32 as in the tutorial, and each result is compared
//! with a sequential loop, bit by bit.

use arithmetic::patterns::{STEPS, long_way, other_way, strange};
use gpu_kernels::examples::patterns::{IN_FLIGHT, branch, read_fields, read_strangely, read_strided};

use super::Device;
use super::timing::{Timing, time};
use crate::backend::gpu::{DeviceVector, Gpu, Work, check_memory};
use crate::backend::{Memory, Vectors, cpu::Cpu};
use crate::error::Result;
use crate::named::named;
use crate::parallel::*;
use crate::problem::random::uniform;

pub mod unified;

named! {
    /// What neighbouring threads do, in the order of the tutorial.
    "pattern" Pattern {
        /// `y_i = x_i`
        Coalesced = "coalesced",
        /// `y_i = x[i + 3]`
        Shifted = "shifted by 3",
        /// `y_i = x[3 i]`
        Strided3 = "every 3rd",
        /// `y_i = x[32 i]`
        Strided32 = "every 32nd",
        /// `y_i = x[some_strange_func(i)]`
        Strange = "at random",
        /// One of the four fields of a point, the points side by side.
        OneOfStructures = "one field, array of structures",
        /// One of the four fields, each an array.
        OneOfArrays = "one field, structure of arrays",
        /// The sum of all fields of a point, the points side by side.
        AllOfStructures = "all fields, array of structures",
        /// The sum of all fields, each an array.
        AllOfArrays = "all fields, structure of arrays",
        /// A branch in which the threads of a warp agree.
        Uniform = "branch, warps agree",
        /// A branch in which every second thread goes the other way.
        Divergent = "branch, threads disagree",
        /// Both ways for every thread, and the result selected.
        Selected = "both ways, selected",
    }
}

/// What [`measure`] found.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Times of a call.
    pub timing: Timing,
    /// Elements that are not those of a sequential loop, to the last bit.
    pub wrong: usize,
    /// Bytes that the results are made of: those read of x, or of a and b, and those of y.
    pub bytes: u64,
    /// Multiplications and additions that a result needs, one way alone.
    pub operations: u64,
}

/// Elements of a task of the CPU.
const CHUNK: usize = 1 << 14;
/// Fields of a point.
const FIELDS: usize = 4;
/// Threads of a warp.
const WARP: usize = 32;

/// Where a thread reads x.
#[derive(Clone, Copy)]
struct Reads {
    /// From one element of y to the next.
    stride: usize,
    /// In front of all.
    offset: usize,
}

impl Pattern {
    /// The stride of patterns that have one.
    fn reads(self) -> Option<Reads> {
        let reads = |stride, offset| Some(Reads { stride, offset });
        match self {
            Pattern::Coalesced => reads(1, 0),
            Pattern::Shifted => reads(1, 3),
            Pattern::Strided3 => reads(3, 0),
            Pattern::Strided32 => reads(32, 0),
            _ => None,
        }
    }

    /// Fields that are read, from one point to the next, and from one field to the next.
    fn fields(self, n: usize) -> Option<(usize, usize, usize)> {
        match self {
            Pattern::OneOfStructures => Some((1, FIELDS, 1)),
            Pattern::OneOfArrays => Some((1, 1, n)),
            Pattern::AllOfStructures => Some((FIELDS, FIELDS, 1)),
            Pattern::AllOfArrays => Some((FIELDS, 1, n)),
            _ => None,
        }
    }

    /// Elements that x must have, or a and b each.
    fn source(self, n: usize) -> usize {
        match (self.reads(), self.fields(n)) {
            (Some(Reads { stride, offset }), _) => stride * n + offset,
            (None, Some(_)) => FIELDS * n,
            (None, None) => n,
        }
    }

    /// Whether it is a branch over a and b.
    fn branches(self) -> bool {
        matches!(self, Pattern::Uniform | Pattern::Divergent | Pattern::Selected)
    }

    /// `a_i > b_i`, the first way.
    fn takes_first(self, i: usize) -> bool {
        if self == Pattern::Uniform { (i / WARP).is_multiple_of(2) } else { i.is_multiple_of(2) }
    }

    fn bytes(self, n: usize) -> u64 {
        let read = match self.fields(n) {
            Some((fields, ..)) => fields,
            None => 1 + usize::from(self.branches()),
        };
        (size_of::<f32>() * n * (read + 1)) as u64
    }

    fn operations(self, n: usize) -> u64 {
        match self {
            _ if self.branches() => 2 * u64::from(STEPS) * n as u64,
            Pattern::AllOfStructures | Pattern::AllOfArrays => 3 * n as u64,
            _ => 0,
        }
    }

    /// x, or a and b.
    fn data(self, n: usize) -> [Vec<f32>; 2] {
        let random = |seed: u64, len: usize| -> Vec<f32> {
            (0..len).into_par_iter().map(|i| uniform(seed, i as u64) as f32).collect()
        };
        if !self.branches() {
            return [random(1, self.source(n)), vec![]];
        }
        let (mut a, mut b) = (random(2, n), random(3, n));
        a.par_iter_mut().zip(b.par_iter_mut()).enumerate().for_each(|(i, (a, b))| {
            if (*a > *b) != self.takes_first(i) {
                std::mem::swap(a, b);
            }
            if a == b && self.takes_first(i) {
                *a = b.next_up();
            }
        });
        [a, b]
    }

    /// `y_i`
    fn element(self, n: usize, [a, b]: &[Vec<f32>; 2], i: usize) -> f32 {
        if let Some(Reads { stride, offset }) = self.reads() {
            return a[stride * i + offset];
        }
        if let Some((fields, point, field)) = self.fields(n) {
            return (0..fields).fold(0.0, |sum, k| sum + a[point * i + field * k]);
        }
        match self {
            Pattern::Strange => a[strange(i as u32, n as u32) as usize],
            _ if a[i] > b[i] => long_way(a[i], b[i]),
            _ => other_way(a[i], b[i]),
        }
    }
}

/// Times `repeat` calls of a pattern over `n` elements on `device`: on a GPU by its own clock.
///
/// # Errors
/// [`crate::Error::DeviceMemory`] where the device cannot hold the arrays.
pub fn measure(device: &Device, pattern: Pattern, n: usize, repeat: usize) -> Result<Measurement> {
    let data = pattern.data(n);
    let (timing, y) = match device {
        Device::Cpu(cpu) => cpu.install(|| on_cpu(cpu, pattern, n, &data, repeat)),
        Device::Gpu(gpu) => on_gpu(gpu, pattern, n, &data, repeat),
    }?;
    let is_wrong = |i: usize| usize::from(y[i].to_bits() != pattern.element(n, &data, i).to_bits());
    let wrong = (0..n).into_par_iter().map(is_wrong).sum();
    Ok(Measurement { timing, wrong, bytes: pattern.bytes(n), operations: pattern.operations(n) })
}

fn on_cpu(
    cpu: &Cpu,
    pattern: Pattern,
    n: usize,
    data: &[Vec<f32>; 2],
    repeat: usize,
) -> Result<(Timing, Vec<f32>)> {
    let mut y = vec![f32::NAN; n];
    let timing = time::<f32, Cpu>(cpu, None, repeat, &mut || {
        y.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, y)| {
            let first = chunk * CHUNK;
            for (k, y) in y.iter_mut().enumerate() {
                *y = pattern.element(n, data, first + k);
            }
        });
        Ok(())
    })?;
    Ok((timing, y))
}

fn on_gpu(
    gpu: &Gpu,
    pattern: Pattern,
    n: usize,
    [a, b]: &[Vec<f32>; 2],
    repeat: usize,
) -> Result<(Timing, Vec<f32>)> {
    let bytes = (a.len() + b.len() + n) * size_of::<f32>();
    check_memory(&**gpu.device(), &[("vectors", bytes as u64)])?;
    let (a, b, mut y) = (gpu.vector(a)?, gpu.vector(b)?, Memory::<f32>::zeros(gpu, n)?);
    gpu.fill(f32::NAN, &mut y)?;
    let timing = time::<f32, Gpu>(gpu, Some(gpu), repeat, &mut || launch(gpu, pattern, n, &a, &b, &mut y))?;
    Ok((timing, gpu.to_host(&y)?))
}

/// Queues the pattern's kernel.
fn launch(
    gpu: &Gpu,
    pattern: Pattern,
    n: usize,
    a: &DeviceVector<f32>,
    b: &DeviceVector<f32>,
    y: &mut DeviceVector<f32>,
) -> Result<()> {
    let threads = if pattern.branches() { n } else { n.div_ceil(IN_FLIGHT) };
    let work = Work::moving(threads, pattern.bytes(n));
    let (x, b, y) = (a.ptr(), b.ptr(), y.ptr_mut());
    // SAFETY: `Pattern::source` says how many elements the arrays must have, and they were made for it.
    unsafe {
        if let Some(Reads { stride, offset }) = pattern.reads() {
            let (stride, offset) = (stride as u64, offset as u64);
            return gpu.launch(work, &read_strided { n: n as u64, stride, offset, x, y });
        }
        if let Some((fields, point, field)) = pattern.fields(n) {
            let (n, point, field) = (n as u64, point as u64, field as u64);
            return match fields {
                1 => gpu.launch(work, &read_fields::<1> { n, point, field, x, y }),
                _ => gpu.launch(work, &read_fields::<4> { n, point, field, x, y }),
            };
        }
        match pattern {
            Pattern::Strange => gpu.launch(work, &read_strangely { n: n as u32, x, y }),
            Pattern::Selected => gpu.launch(work, &branch::<1> { n: n as u64, a: x, b, y }),
            _ => gpu.launch(work, &branch::<0> { n: n as u64, a: x, b, y }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::sim::Sim;
    use std::sync::Arc;

    #[test]
    fn every_pattern_has_the_bits_of_a_sequential_loop() {
        let strict = Gpu::new(Arc::new(Sim::strict())).unwrap();
        for device in [Device::Cpu(Cpu::new(3).unwrap()), Device::Gpu(strict)] {
            for &pattern in Pattern::ALL {
                for n in [1, 33, 257, 1000] {
                    let m = measure(&device, pattern, n, 1).unwrap();
                    assert_eq!(m.wrong, 0, "{pattern}, {n}");
                    assert!(m.bytes >= 8 * n as u64 && m.timing.median() > 0.0, "{m:?}");
                }
            }
        }
    }

    #[test]
    fn elements_are_those_that_the_patterns_say() {
        let x = [(0..400).map(|i| i as f32).collect(), vec![]];
        let read = |pattern: Pattern, i| pattern.element(12, &x, i);
        assert_eq!(read(Pattern::Coalesced, 7), 7.0);
        assert_eq!(read(Pattern::Shifted, 7), 10.0);
        assert_eq!(read(Pattern::Strided3, 7), 21.0);
        assert_eq!(read(Pattern::Strided32, 7), 224.0);
        assert_eq!([read(Pattern::OneOfStructures, 7), read(Pattern::OneOfArrays, 7)], [28.0, 7.0]);
        assert_eq!(read(Pattern::AllOfStructures, 7), 28.0 + 29.0 + 30.0 + 31.0);
        assert_eq!(read(Pattern::AllOfArrays, 7), 7.0 + 19.0 + 31.0 + 43.0);
        // Random places are spread over all of x.
        let places: Vec<u32> = (0..10_000).map(|i| strange(i, 100)).collect();
        assert!((0..100).all(|k| places.iter().filter(|&&p| p == k).count() > 50));
    }

    #[test]
    fn warps_agree_or_disagree_as_they_say() {
        for (pattern, disagree) in
            [(Pattern::Uniform, false), (Pattern::Divergent, true), (Pattern::Selected, true)]
        {
            let [a, b] = pattern.data(320);
            for warp in 0..10 {
                let first = (0..32).filter(|lane| a[32 * warp + lane] > b[32 * warp + lane]).count();
                assert_eq!(first == 16, disagree);
                assert!(disagree || first == if warp % 2 == 0 { 32 } else { 0 });
            }
        }
    }
}
