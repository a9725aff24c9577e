//! Solutions that a device has computed: room for them on the host, and how much of b they leave.

use std::panic::resume_unwind;
use std::thread;

use cuda_std::Real;

use super::residual::Norms;
use crate::backend::{Backend, Slot, Then};
use crate::error::Result;
use crate::matrix::Target;
use crate::norm::holds;
use crate::pages::in_large_pages;
use crate::parallel::*;

/// Runs `work` on a GPU, and makes room for `count` vectors of n elements on the host meanwhile, where they
/// are long. The system hands pages out when they are written first, which takes longer than the copy from a
/// device.
pub(super) fn with_room<T: Real, R>(
    target: Target,
    (count, n): (usize, usize),
    work: impl FnOnce() -> R,
) -> (Vec<Vec<T>>, R) {
    /// Bytes that are worth a thread.
    const LONG: usize = 1 << 20;
    const PAGE: usize = 4096;
    /// Pages that a thread takes at a time, which may be a large one.
    const PAGES: usize = 512;
    let length = PAGE / size_of::<T>();
    let touch = |pages: &mut [T]| pages.chunks_mut(length).for_each(|page| page[0] = T::from_f64(f64::NAN));
    let vector = |_| {
        let mut values = in_large_pages(vec![T::ZERO; n]);
        values.par_chunks_mut(PAGES * length).for_each(touch);
        values
    };
    if target == Target::Cpu || count * n * size_of::<T>() < LONG {
        return (Vec::new(), work());
    }
    thread::scope(|scope| {
        let room = scope.spawn(|| (0..count).into_par_iter().map(vector).collect());
        let done = work();
        (room.join().unwrap_or_else(|panic| resume_unwind(panic)), done)
    })
}

/// How large `b - A x` is for each pair of x and b, computed where they are, in r; `None` where the squares
/// are out of the range of a sum. Of ranks all call this.
///
/// # Errors
/// Those of the device, and of ranks.
pub(super) fn norms<T: Real, B: Backend<T>>(
    backend: &B,
    a: &B::Matrix,
    pairs: &[(&B::Vector, &B::Vector)],
    r: &mut B::Vector,
) -> Result<Option<Vec<Norms>>> {
    let scalars = backend.scalars(2 * pairs.len())?;
    for (k, (x, b)) in pairs.iter().enumerate() {
        backend.multiply(a, x, Then::Residual { b, r })?;
        backend.dot(r, r, &scalars, Slot(2 * k))?;
        backend.norm_max(r, &scalars, Slot(2 * k + 1))?;
    }
    let found = backend.read_all(&scalars)?;
    let of_pair = |found: &[T]| {
        let [squares, max] = [found[0], found[1]].map(Real::to_f64);
        holds(squares).then_some(Norms { two: squares.sqrt(), max })
    };
    Ok(found.chunks_exact(2).map(of_pair).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::gpu::Gpu;
    use crate::backend::{Memory, Products, Vectors};
    use crate::error::Error;
    use crate::launch::sim::Sim;
    use crate::matrix::{AnyMatrix, Csr, Format};
    use crate::problem::generate;

    #[test]
    fn room_is_there_when_the_work_is_done() {
        let n = (1 << 17) + 3;
        let (room, done) = with_room::<f64, _>(Target::Gpu, (2, n), || 7);
        assert_eq!((room.len(), done), (2, 7));
        let gpu = Gpu::new(Arc::new(Sim::strict())).unwrap();
        let given: Vec<f64> = (0..n).map(|i| 0.5 + i as f64).collect();
        let x = gpu.vector(&given).unwrap();
        for mut values in room {
            gpu.copy_to_host(&x, &mut values).unwrap();
            assert_eq!(values, given);
        }
        // Not worth a thread.
        assert!(with_room::<f32, _>(Target::Gpu, (1, 1000), || ()).0.is_empty());
        let too_short = gpu.copy_to_host(&x, &mut [0.0; 5]);
        assert!(matches!(too_short, Err(Error::Length { found: 5, .. })));
    }

    /// Norms on the device and on the host, for `b = size` and x of ordinary size.
    fn both(a: &Csr<f64>, size: f64) -> (Option<Vec<Norms>>, Norms) {
        let gpu = Gpu::new(Arc::new(Sim::strict())).unwrap();
        let matrix = gpu
            .matrix(&Arc::new(AnyMatrix::from_csr(&Arc::new(a.clone()), Format::Sell, 1).unwrap()))
            .unwrap();
        let x: Vec<f64> = (0..a.n_rows()).map(|i| (i % 17) as f64 / 7.0 * size).collect();
        let b = vec![size; a.n_rows()];
        let (on_device, mut other) = (gpu.vector(&x).unwrap(), gpu.zeros(a.n_rows()).unwrap());
        gpu.fill(size / 3.0, &mut other).unwrap();
        let given = gpu.vector(&b).unwrap();
        let mut r = gpu.vector(&vec![f64::NAN; a.n_rows()]).unwrap();
        let found = norms(&gpu, &matrix, &[(&on_device, &given), (&other, &given)], &mut r).unwrap();
        (found, Norms::of(a, &x, &b))
    }

    #[test]
    fn norms_are_those_of_the_host() {
        for problem in ["tet:9", "poisson2d:33", "tet:2"] {
            let a = generate(&problem.parse().unwrap(), 3).unwrap();
            let (found, expected) = both(&a, 1.25);
            let Norms { two, max } = found.unwrap()[0];
            assert!((two / expected.two - 1.0).abs() < 1e-14 && (max / expected.max - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn squares_that_a_sum_does_not_hold_are_left_to_the_host() {
        let a = generate(&"poisson2d:5".parse().unwrap(), 1).unwrap();
        for size in [1e-160, 1e160, f64::NAN] {
            assert!(both(&a, size).0.is_none(), "{size}");
        }
    }
}
