//! What kernels did to memory, by the lines of their source.

use super::occupancy::{Multiprocessor, Occupancy};
use crate::host::{Configuration, Dim3};
use std::cell::RefCell;
use std::fmt;
use std::panic::Location;

thread_local! {
    /// What the launches did since somebody asked for it.
    static EXPLAINED: RefCell<Option<Report>> = const { RefCell::new(None) };
}

/// What `launches` returns, and what the kernels did that it launched in the simulator on this host thread.
///
/// ```
/// use cuda_std::{kernel, memory::*, sim, thread};
///
/// /// y_i = x_2i
/// #[kernel]
/// pub unsafe fn every_second(n: u32, x: *const f32, y: *mut f32) {
///     let i = thread::index_x();
///     if i < n as usize {
///         y.st(i, x.ld_nc(2 * i));
///     }
/// }
///
/// let (x, mut y) = (vec![1.0; 128], vec![0.0; 64]);
/// // SAFETY: y has 64 elements, and x twice as many.
/// let launch = || unsafe { sim::launch!(every_second<<<1, 64>>>(64, x.as_ptr(), y.as_mut_ptr())) };
/// let (result, report) = sim::explain(launch);
/// result?;
/// let load = report.kernels[0].total(|operation| operation == sim::Operation::GlobalLoad);
/// // Two warps, whose 32 elements would fill 4 sectors; each takes the 8 of 64 elements, or, where these
/// // begin within a sector, 9.
/// assert_eq!((load.requests, load.least), (2, 2 * 4));
/// assert!((2 * 8..=2 * 9).contains(&load.moved));
/// println!("{report}");
/// # Ok::<(), sim::Fault>(())
/// ```
pub fn explain<R>(launches: impl FnOnce() -> R) -> (R, Report) {
    let before = EXPLAINED.replace(Some(Report::default()));
    let result = launches();
    (result, EXPLAINED.replace(before).unwrap_or_default())
}

/// Whether somebody asks.
pub(super) fn is_wanted() -> bool {
    EXPLAINED.with_borrow(Option::is_some)
}

/// Enters a launch.
pub(super) fn enter(name: &'static str, configuration: &Configuration, shared_bytes: u32, lines: Vec<Line>) {
    EXPLAINED.with_borrow_mut(|report| {
        if let Some(report) = report {
            report.kernel(name, configuration, shared_bytes).add(lines);
        }
    });
}

/// What kernels did to memory, as a table with [`Display`](fmt::Display).
///
/// The simulator sees what goes through [`crate::memory`], [`Shared`](crate::Shared) and atomic operations,
/// and nothing of plain pointers, slices and references. Which threads of a warp do something together it
/// infers: the same place in the source, in the same rounds of the loops around it. A branch is seen where
/// the lanes of a warp go on to different places; where neither side accesses memory or waits, it is not.
/// Caches, and what a compiler leaves out or moves, are not simulated.
///
/// ```
/// # use cuda_std::{kernel, memory::*, sim, thread};
/// # #[kernel]
/// # pub unsafe fn fill(y: *mut f32) {
/// #     y.st(thread::index_x(), 1.5);
/// # }
/// # let mut y = [0.0; 32];
/// // SAFETY: y has an element for each thread.
/// let (_, report) = sim::explain(|| unsafe { sim::launch!(fill<<<1, 32>>>(y.as_mut_ptr())) });
/// assert_eq!(report.kernels.len(), 1);
/// assert!(report.to_string().starts_with("fill: 1 launch, blocks of 32 threads"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// In the order in which they were launched first.
    pub kernels: Vec<KernelReport>,
}

/// What one kernel did, in all of its launches.
///
/// ```
/// # use cuda_std::{kernel, memory::*, sim, thread};
/// # #[kernel]
/// # pub unsafe fn fill(y: *mut f32) {
/// #     y.st(thread::index_x(), 1.5);
/// # }
/// # let mut y = [0.0; 32];
/// # // SAFETY: y has an element for each thread.
/// # let (_, report) = sim::explain(|| unsafe { sim::launch!(fill<<<1, 32>>>(y.as_mut_ptr())) });
/// let fill = &report.kernels[0];
/// assert_eq!((fill.name, fill.launches, fill.shared_bytes), ("fill", 1, 0));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelReport {
    /// Its name.
    pub name: &'static str,
    /// How often it was launched.
    pub launches: u64,
    /// Threads in a block of the last launch.
    pub block: Dim3,
    /// Bytes of shared memory in a block of the last launch, static (as far as a thread came to them) and
    /// dynamic.
    pub shared_bytes: u32,
    /// In the order of the source.
    pub lines: Vec<Line>,
}

/// What is done at a place.
///
/// ```
/// # use cuda_std::{kernel, memory::*, sim, thread};
/// assert_eq!(sim::Operation::SharedAtomic.to_string(), "shared atomic");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// The kernel begins.
    Start,
    /// A load from global memory.
    GlobalLoad,
    /// A store to global memory.
    GlobalStore,
    /// A read-modify-write of global memory.
    GlobalAtomic,
    /// A load from shared memory.
    SharedLoad,
    /// A store to shared memory.
    SharedStore,
    /// A read-modify-write of shared memory.
    SharedAtomic,
    /// A barrier, or an operation of the warp.
    Wait,
    /// The thread ends.
    End,
}

impl Operation {
    /// Whether it is of memory.
    ///
    /// ```
    /// # use cuda_std::{kernel, memory::*, sim, thread};
    /// assert!(sim::Operation::GlobalLoad.is_access());
    /// assert!(!sim::Operation::Wait.is_access());
    /// ```
    pub fn is_access(self) -> bool {
        !matches!(self, Operation::Start | Operation::Wait | Operation::End)
    }

    /// Whether it is of shared memory.
    ///
    /// ```
    /// # use cuda_std::{kernel, memory::*, sim, thread};
    /// assert!(sim::Operation::SharedStore.is_shared());
    /// assert!(!sim::Operation::GlobalStore.is_shared());
    /// ```
    pub fn is_shared(self) -> bool {
        matches!(self, Operation::SharedLoad | Operation::SharedStore | Operation::SharedAtomic)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Operation::Start => "start",
            Operation::GlobalLoad => "global load",
            Operation::GlobalStore => "global store",
            Operation::GlobalAtomic => "global atomic",
            Operation::SharedLoad => "shared load",
            Operation::SharedStore => "shared store",
            Operation::SharedAtomic => "shared atomic",
            Operation::Wait => "wait",
            Operation::End => "end",
        })
    }
}

/// What was done at one place of the source.
///
/// ```
/// # use cuda_std::{kernel, memory::*, sim, thread};
/// # #[kernel]
/// # pub unsafe fn fill(y: *mut f32) {
/// #     y.st(thread::index_x(), 1.5);
/// # }
/// # let mut y = [0.0; 32];
/// # // SAFETY: y has an element for each thread.
/// # let (_, report) = sim::explain(|| unsafe { sim::launch!(fill<<<1, 32>>>(y.as_mut_ptr())) });
/// let store = &report.kernels[0].lines[0];
/// assert_eq!((store.operation, store.requests, store.threads), (sim::Operation::GlobalStore, 1, 32));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Where; nowhere for the start of the kernel.
    pub place: Option<&'static Location<'static>>,
    /// What.
    pub operation: Operation,
    /// Accesses, each of them made by some lanes of a warp together.
    pub requests: u64,
    /// The lanes that took part, summed over the accesses: at most 32 an access.
    pub threads: u64,
    /// In global memory, sectors of 32 bytes that the accesses touched. In shared memory, wavefronts: passes
    /// over the 32 banks, each of which serves one word of 4 bytes in a pass.
    pub moved: u64,
    /// The least of these that would do for the same data, were it side by side.
    pub least: u64,
    /// Atomic operations on an address that another lane of the same access changes too.
    pub collisions: u64,
    /// How often the lanes of a warp went on from here to different places.
    pub partings: u64,
}

impl Line {
    pub(super) fn new(place: Option<&'static Location<'static>>, operation: Operation) -> Self {
        Self { place, operation, requests: 0, threads: 0, moved: 0, least: 0, collisions: 0, partings: 0 }
    }

    fn add(&mut self, other: &Line) {
        self.requests += other.requests;
        self.threads += other.threads;
        self.moved += other.moved;
        self.least += other.least;
        self.collisions += other.collisions;
        self.partings += other.partings;
    }

    fn is_empty(&self) -> bool {
        self.requests == 0 && self.partings == 0
    }
}

impl Report {
    fn kernel(
        &mut self,
        name: &'static str,
        configuration: &Configuration,
        shared_bytes: u32,
    ) -> &mut KernelReport {
        let known = self.kernels.iter().position(|kernel| kernel.name == name);
        let number = known.unwrap_or_else(|| {
            let block = configuration.block;
            self.kernels.push(KernelReport { name, launches: 0, block, shared_bytes, lines: Vec::new() });
            self.kernels.len() - 1
        });
        let kernel = &mut self.kernels[number];
        (kernel.block, kernel.shared_bytes) = (configuration.block, shared_bytes);
        kernel
    }
}

impl KernelReport {
    /// Adds a launch.
    fn add(&mut self, lines: Vec<Line>) {
        self.launches += 1;
        for line in lines.into_iter().filter(|line| !line.is_empty()) {
            let same = |other: &&mut Line| (other.place, other.operation) == (line.place, line.operation);
            match self.lines.iter_mut().find(same) {
                Some(known) => known.add(&line),
                None => self.lines.push(line),
            }
        }
        self.lines.sort_by_key(|line| (line.place, line.operation));
    }

    /// The sum over the lines with such operations.
    ///
    /// ```
    /// # use cuda_std::{kernel, memory::*, sim, thread};
    /// # #[kernel]
    /// # pub unsafe fn twice(y: *mut f32) {
    /// #     y.st(thread::index_x(), 2.0 * y.ld(thread::index_x()));
    /// # }
    /// # let mut y = [0.0; 32];
    /// # // SAFETY: y has an element for each thread.
    /// # let (_, report) = sim::explain(|| unsafe { sim::launch!(twice<<<1, 32>>>(y.as_mut_ptr())) });
    /// // A load and a store of a warp.
    /// assert_eq!(report.kernels[0].total(sim::Operation::is_access).requests, 2);
    /// ```
    pub fn total(&self, of: impl Fn(Operation) -> bool) -> Line {
        let mut total = Line::new(None, Operation::Start);
        self.lines.iter().filter(|line| of(line.operation)).for_each(|line| total.add(line));
        total
    }

    /// How many blocks fit on a multiprocessor at once if a thread has so many registers, as `ptxas -v` says.
    ///
    /// ```
    /// # use cuda_std::{kernel, memory::*, sim, thread};
    /// # #[kernel]
    /// # pub unsafe fn fill(y: *mut f32) {
    /// #     y.st(thread::index_x(), 1.5);
    /// # }
    /// # let mut y = [0.0; 128];
    /// # // SAFETY: y has an element for each thread.
    /// # let (_, report) = sim::explain(|| unsafe { sim::launch!(fill<<<1, 128>>>(y.as_mut_ptr())) });
    /// let h100 = sim::Multiprocessor::of((9, 0)).expect("known");
    /// // With the 16 registers that `ptxas -v` gives.
    /// assert_eq!(report.kernels[0].occupancy(16, &h100).warps, 64);
    /// ```
    pub fn occupancy(&self, registers: u32, on: &Multiprocessor) -> Occupancy {
        on.occupancy(self.block.count() as u32, registers, self.shared_bytes)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kernels.iter().try_for_each(|kernel| writeln!(f, "{kernel}"))?;
        f.write_str(
            "Global memory: sectors of 32 bytes. Shared memory: wavefronts, passes over its 32 banks.\n\
             Not seen: plain pointers, slices and references; branches without memory or waits in them.\n",
        )
    }
}

impl fmt::Display for KernelReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let launches =
            if self.launches == 1 { "1 launch".into() } else { format!("{} launches", self.launches) };
        let (name, block, shared) = (self.name, self.block, self.shared_bytes);
        writeln!(f, "{name}: {launches}, blocks of {block} threads, {shared} bytes of shared memory")?;
        let places: Vec<String> = self.lines.iter().map(Line::place).collect();
        let width = places.iter().map(String::len).max().unwrap_or(0);
        let heads = ["accesses", "lanes", "moved", "least"];
        let [accesses, lanes, moved, least] = heads;
        writeln!(f, "  {:width$}  {:13} {accesses:>10} {lanes:>5} {moved:>10} {least:>10}", "place", "what")?;
        for (line, place) in self.lines.iter().zip(places) {
            write!(f, "  {place:width$}  {:13}", line.operation)?;
            if line.operation.is_access() {
                let Line { requests, threads, moved, least, .. } = line;
                let lanes = *threads as f64 / *requests as f64;
                write!(f, " {requests:>10} {lanes:>5.1} {moved:>10} {least:>10}")?;
            } else {
                write!(f, " {:>10} {:>5} {:>10} {:>10}", "", "", "", "")?;
            }
            writeln!(f, "{}", line.remarks())?;
        }
        Ok(())
    }
}

impl Line {
    fn place(&self) -> String {
        self.place.map_or_else(|| "start".into(), ToString::to_string)
    }

    /// What there is to say of it.
    fn remarks(&self) -> String {
        let mut remarks = String::new();
        if self.moved > self.least {
            remarks += &format!("  {:.2} times the least", self.moved as f64 / self.least as f64);
        }
        if self.collisions > 0 {
            remarks += &format!("  {} collide", self.collisions);
        }
        if self.partings > 0 {
            remarks += &format!("  lanes part {} times after it", self.partings);
        }
        remarks
    }
}
