//! The books of a [`Profiled`](super::Profiled) device.

use super::figures::{Activity, CopyProfile, KernelProfile, Profile, Span, TRACE_LIMIT};
use crate::error::Result;
use crate::launch::{Address, Event, Launch};
use std::collections::{HashMap, VecDeque};

/// The newest pieces of work, whose times are not asked for yet: the device need not have come to them.
const PENDING: usize = 1024;

/// What was queued, summed up as far as its times are known.
#[derive(Default)]
pub(super) struct Log {
    pending: VecDeque<Pending>,
    /// A moment in the past, on the device and in seconds.
    anchor: Option<(Event, f64)>,
    kernels: HashMap<&'static str, KernelProfile>,
    uploads: CopyProfile,
    downloads: CopyProfile,
    device_copies: CopyProfile,
    fills: CopyProfile,
    /// When the first piece of work began, and the last ended.
    span: Option<(f64, f64)>,
    busy_seconds: f64,
    memory: Memory,
    kept: Option<Kept>,
}

struct Pending {
    activity: Activity,
    start: Event,
    end: Event,
}

#[derive(Default)]
struct Memory {
    live: HashMap<Address, u64>,
    allocations: u64,
    allocated_bytes: u64,
    bytes: u64,
    peak_bytes: u64,
}

/// What a trace is made of.
#[derive(Default)]
struct Kept {
    spans: Vec<Span>,
    memory: Vec<(f64, u64)>,
    left_out: u64,
}

impl Log {
    pub(super) fn keep_trace(&mut self) {
        self.kept = Some(Kept::default());
    }

    /// Fixes the device's clock to the host's, the first time.
    pub(super) fn anchor(&mut self, now: impl FnOnce() -> Result<(Event, f64)>) -> Result<()> {
        if self.anchor.is_none() {
            self.anchor = Some(now()?);
        }
        Ok(())
    }

    /// Enters a piece of work between two events.
    pub(super) fn add(
        &mut self,
        device: &dyn Launch,
        activity: Activity,
        start: Event,
        end: Event,
    ) -> Result<()> {
        self.pending.push_back(Pending { activity, start, end });
        self.resolve(device, PENDING)
    }

    /// Asks for the times of all but the last `left` pieces of work, waiting for them, and gives their events
    /// back.
    pub(super) fn resolve(&mut self, device: &dyn Launch, left: usize) -> Result<()> {
        while self.pending.len() > left
            && let (Some(work), Some((anchor, at))) = (self.pending.front(), &self.anchor)
        {
            let start = at + device.elapsed(anchor, &work.start)?;
            let seconds = device.elapsed(&work.start, &work.end)?;
            let Some(Pending { activity, end, .. }) = self.pending.pop_front() else { break };
            // Near what comes next: the longer ago a moment is, the less exactly a device gives the time
            // since then.
            self.anchor = Some((end, start + seconds));
            self.enter(Span { activity, start, seconds });
        }
        Ok(())
    }

    fn enter(&mut self, span: Span) {
        let Span { activity, start, seconds } = span;
        let copies = match activity {
            Activity::Kernel { name, grid, block, bytes } => {
                self.enter_launch(name, grid, block, bytes, seconds);
                None
            }
            Activity::Upload(bytes) => Some((&mut self.uploads, bytes)),
            Activity::Download(bytes) => Some((&mut self.downloads, bytes)),
            Activity::Copy(bytes) => Some((&mut self.device_copies, bytes)),
            Activity::Fill(bytes) => Some((&mut self.fills, bytes)),
        };
        if let Some((copies, bytes)) = copies {
            copies.count += 1;
            copies.bytes += bytes;
            copies.seconds += seconds;
        }
        // Of threads that queue at the same time the pieces may overlap.
        let end = start + seconds;
        let (first, last) = self.span.unwrap_or((start, start));
        self.busy_seconds += (end - start.max(last)).max(0.0);
        self.span = Some((first.min(start), last.max(end)));
        if let Some(kept) = &mut self.kept {
            push(&mut kept.spans, span, &mut kept.left_out);
        }
    }

    fn enter_launch(&mut self, name: &'static str, grid: u32, block: u32, bytes: Option<u64>, seconds: f64) {
        let kernel = self.kernels.entry(name).or_insert_with(|| KernelProfile {
            name: name.into(),
            launches: 0,
            total_seconds: 0.0,
            min_seconds: seconds,
            max_seconds: seconds,
            grid: (grid, grid),
            block: (block, block),
            attributes: None,
            bytes: Some(0),
        });
        let widen = |(least, most): (u32, u32), size: u32| (least.min(size), most.max(size));
        kernel.launches += 1;
        kernel.total_seconds += seconds;
        kernel.min_seconds = kernel.min_seconds.min(seconds);
        kernel.max_seconds = kernel.max_seconds.max(seconds);
        kernel.grid = widen(kernel.grid, grid);
        kernel.block = widen(kernel.block, block);
        kernel.bytes = kernel.bytes.zip(bytes).map(|(sum, bytes)| sum + bytes);
    }

    pub(super) fn allocated(&mut self, now: f64, address: Address, bytes: u64) {
        let memory = &mut self.memory;
        memory.live.insert(address, bytes);
        memory.allocations += 1;
        memory.allocated_bytes += bytes;
        memory.bytes += bytes;
        memory.peak_bytes = memory.peak_bytes.max(memory.bytes);
        self.enter_memory(now);
    }

    pub(super) fn freed(&mut self, now: f64, address: Address) {
        // Memory that was allocated before, or is the host's, is not in the books.
        if let Some(bytes) = self.memory.live.remove(&address) {
            self.memory.bytes -= bytes;
            self.enter_memory(now);
        }
    }

    fn enter_memory(&mut self, now: f64) {
        if let Some(kept) = &mut self.kept {
            push(&mut kept.memory, (now, self.memory.bytes), &mut kept.left_out);
        }
    }

    /// What is known so far.
    pub(super) fn profile(&self, device: &dyn Launch) -> Profile {
        let with_attributes = |(&name, kernel): (&&'static str, &KernelProfile)| {
            // A device that failed tells nothing any more.
            let attributes = device.kernel_attributes(name).ok().flatten();
            KernelProfile { attributes, ..kernel.clone() }
        };
        let mut kernels: Vec<KernelProfile> = self.kernels.iter().map(with_attributes).collect();
        kernels.sort_by(|a, b| b.total_seconds.total_cmp(&a.total_seconds).then_with(|| a.name.cmp(&b.name)));
        Profile {
            kernels,
            uploads: self.uploads,
            downloads: self.downloads,
            device_copies: self.device_copies,
            fills: self.fills,
            allocations: self.memory.allocations,
            allocated_bytes: self.memory.allocated_bytes,
            peak_bytes: self.memory.peak_bytes,
            busy_seconds: self.busy_seconds,
            span_seconds: self.span.map_or(0.0, |(first, last)| last - first),
            untimed: self.pending.len() as u64,
        }
    }

    /// Spans, memory, and how many of them are left out.
    pub(super) fn trace(&self) -> (Vec<Span>, Vec<(f64, u64)>, u64) {
        match &self.kept {
            None => (Vec::new(), Vec::new(), 0),
            Some(Kept { spans, memory, left_out }) => (spans.clone(), memory.clone(), *left_out),
        }
    }
}

fn push<E>(entries: &mut Vec<E>, entry: E, left_out: &mut u64) {
    if entries.len() < TRACE_LIMIT {
        entries.push(entry);
    } else {
        *left_out += 1;
    }
}
