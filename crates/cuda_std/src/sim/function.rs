//! Launching the function of a kernel, as rust-cuda's kernels are tested on the host.

use super::{Fault, FaultKind, Memory, Options, run_configured};
use crate::host::{Configuration, Kernel};
use std::cell::Cell;
use std::ffi::c_void;

thread_local! {
    /// What launches look for, and how their blocks run.
    static OPTIONS: Cell<Options> = const { Cell::new(Options::DEFAULT) };
}

/// What `launches` returns, in which [`launch!`](super::launch) runs kernels as `options` say.
///
/// ```
/// use cuda_std::atomic::{AtomicU32, Ordering};
/// use cuda_std::{kernel, sim};
///
/// /// A count in two steps, between which another block may count.
/// #[kernel]
/// pub unsafe fn count(count: &[AtomicU32]) {
///     let before = count[0].load(Ordering::Relaxed);
///     count[0].store(before + 1, Ordering::Relaxed);
/// }
///
/// let counts = [AtomicU32::new(0)];
/// let options = sim::Options { blocks_at_once: 4, ..sim::Options::DEFAULT };
/// // SAFETY: there is a count.
/// sim::with_options(options, || unsafe { sim::launch!(count<<<100, 1>>>(&counts)) })?;
/// assert!(counts[0].load(Ordering::Relaxed) < 100);
/// # Ok::<(), sim::Fault>(())
/// ```
pub fn with_options<R>(options: Options, launches: impl FnOnce() -> R) -> R {
    let before = OPTIONS.replace(options);
    let result = launches();
    OPTIONS.set(before);
    result
}

/// A call of a kernel's function.
struct Call<F> {
    name: &'static str,
    body: F,
}

// SAFETY: the threads of a grid run on the host thread that launches them.
unsafe impl<F> Sync for Call<F> {}

impl<F: Fn()> Kernel for Call<F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn arguments(&self, _: &mut dyn FnMut(&mut [*mut c_void])) {
        unreachable!("only the simulator calls it")
    }

    unsafe fn run(&self) {
        crate::thread::grid_dependency_wait();
        (self.body)()
    }
}

/// What [`launch!`](super::launch) does.
#[doc(hidden)]
pub fn call(name: &'static str, configuration: Configuration, body: impl Fn()) -> Result<(), Fault> {
    let Configuration { grid, block, shared_bytes, .. } = configuration;
    if grid.count() == 0 {
        // As the driver has it.
        let kind = FaultKind::Configuration { grid, block, shared_bytes };
        return Err(Fault { kernel: name, block: 0, thread: 0, place: None, kind });
    }
    run_configured(&Call { name, body }, configuration, &Memory::open(), &OPTIONS.get())
}

/// `launch!(kernel<<<grid, block, shared_bytes>>>(arguments))`: runs a kernel in the simulator, in CUDA's
/// notation.
///
/// The kernel is a path to its function, whose arguments are checked by the compiler as in every call. What
/// stands before `>>>` is one word, number or tuple. Accesses through plain pointers and references are not
/// checked: [`run`](super::run) is for kernels that load and store by [`crate::memory`].
/// [`with_options`](super::with_options) says what else to look for. The result is `Ok`, or the first
/// [`Fault`](super::Fault).
///
/// # Safety
/// The kernel's own conditions hold for its arguments.
///
/// ```
/// use cuda_std::prelude::*;
///
/// #[kernel]
/// pub unsafe fn add(a: &[f32], b: &[f32], c: *mut f32) {
///     let i = thread::index_1d() as usize;
///     if i < a.len() {
///         *c.add(i) = a[i] + b[i];
///     }
/// }
///
/// let mut c = [0.0; 3];
/// // SAFETY: c has as many elements as a.
/// unsafe { cuda_std::sim::launch!(add<<<1, 32>>>(&[1.0, 2.0, 3.0], &[0.5; 3], c.as_mut_ptr())) }?;
/// assert_eq!(c, [1.5, 2.5, 3.5]);
/// # Ok::<(), cuda_std::sim::Fault>(())
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! __sim_launch {
    ($($kernel:ident)::+ <<<$grid:expr, $block:tt>>> ( $($argument:expr),* $(,)? )) => {
        $crate::sim::launch!($($kernel)::+ <<<$grid, $block, 0>>>($($argument),*))
    };
    ($($kernel:ident)::+ <<<$grid:expr, $block:expr, $shared:tt>>> ( $($argument:expr),* $(,)? )) => {{
        let configuration = $crate::host::Configuration {
            shared_bytes: $shared,
            ..$crate::host::Configuration::new($grid, $block)
        };
        // Not called: the compiler's complaints point at the arguments as they are written.
        let _ = || $($kernel)::+($($argument),*);
        $crate::sim::launch!(@ [configuration, $($kernel)::+] [] $($argument,)*)
    }};
    // Arguments are computed once, and each thread gets a copy.
    (@ $launch:tt [$($bound:ident)*] $argument:expr, $($more:tt)*) => {
        match $argument {
            argument => $crate::sim::launch!(@ $launch [$($bound)* argument] $($more)*),
        }
    };
    (@ [$configuration:ident, $($kernel:ident)::+] [$($bound:ident)*]) => {
        $crate::sim::call(stringify!($($kernel)::+), $configuration, || $($kernel)::+($($bound),*))
    };
}
