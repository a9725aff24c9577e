//! Copies that overlap with kernels: a vector goes through the device in pieces, on one stream and on
//! several. The counterpart of `async(k)` and `wait` of OpenACC, of `nowait` and `depend` of OpenMP.
//!
//! Each stream has a backend of its own. A piece is copied to the device, multiplied by `FACTOR` again and
//! again, and copied back, all three queued on the piece's stream; events order the streams at the beginning
//! and at the end. `cargo run --release --example overlap` needs a GPU; with the name of a file behind `--`
//! it writes there when each part of the last run began and ended, for ui.perfetto.dev or chrome://tracing.

use std::sync::Arc;

use cust::event::{Event, EventFlags};
use cust::memory::{AsyncCopyDestination, DeviceSlice, LockedBuffer};
use cust::stream::{Stream, StreamFlags, StreamWaitEventFlags};
use warpsolve::backend::gpu::{DeviceVector, Gpu};
use warpsolve::backend::prelude::*;
use warpsolve::launch::{Cuda, driver::Driver};
use warpsolve::{Error, Result};

const PIECES: usize = 32;
/// Elements of a piece: 16 MiB.
const PIECE: usize = 1 << 21;
/// Products of each element: about as long as a copy.
const PRODUCTS: usize = 40;
const FACTOR: f64 = 1.0 + 1.0 / 1024.0;
/// What is queued for a piece, in this order.
const PARTS: [&str; 3] = ["copy to the device", "products", "copy to the host"];

/// A part of a piece, by the device's clock.
pub struct Span {
    /// Of [`PARTS`].
    pub part: usize,
    /// Counted from 0.
    pub stream: usize,
    /// ms since the run began.
    pub begin: f64,
    /// The same.
    pub end: f64,
}

/// A stream with a backend on it and memory for one piece.
struct Lane {
    gpu: Gpu,
    stream: Arc<Stream>,
    x: DeviceVector<f64>,
    scalars: <Gpu as Memory<f64>>::Scalars,
}

fn failed(error: cust::error::CudaError) -> Error {
    Error::Device { call: "overlap".into(), message: error.to_string() }
}

impl Lane {
    fn new(gpu: &Gpu) -> Result<Lane> {
        let Some(Cuda { context, .. }) = gpu.cuda() else {
            return Err(Error::NoDevice("the simulator has no streams; take a GPU".into()));
        };
        let stream = Arc::new(Stream::new(StreamFlags::DEFAULT, None).map_err(failed)?);
        let driver = Driver::on(Cuda { context, stream: stream.clone() }, &warpsolve::ptx::images())?;
        let gpu = Gpu::new(Arc::new(driver))?;
        let (x, scalars) = (gpu.zeros(PIECE)?, gpu.scalars(1)?);
        Ok(Lane { gpu, stream, x, scalars })
    }

    /// The memory of the piece, for copies.
    fn memory(&mut self) -> &mut DeviceSlice<f64> {
        // SAFETY: the vector has so many elements; all that uses them is queued on one stream.
        unsafe { DeviceSlice::from_raw_parts_mut(self.x.as_device_ptr(), PIECE) }
    }

    fn multiply(&mut self) -> Result<()> {
        (0..PRODUCTS).try_for_each(|_| self.gpu.scale(&self.scalars, Coef::constant(FACTOR), &mut self.x))
    }

    /// Queues a piece: there, products, back. `marks` are where the parts meet.
    ///
    /// # Safety
    /// `piece` is page-locked, and nothing uses it until the stream has come so far.
    unsafe fn queue(&mut self, piece: &mut [f64], marks: &[Event; 4]) -> Result<()> {
        let stream = self.stream.clone();
        let mark = |k: usize| marks[k].record(&stream).map_err(failed);
        mark(0)?;
        // SAFETY: the caller's promise.
        unsafe { self.memory().async_copy_from(&*piece, &stream) }.map_err(failed)?;
        mark(1)?;
        self.multiply()?;
        mark(2)?;
        // SAFETY: as above.
        unsafe { self.memory().async_copy_to(piece, &stream) }.map_err(failed)?;
        mark(3)
    }
}

/// So many events that know their times.
fn events<const N: usize>() -> Result<[Event; N]> {
    let events =
        (0..N).map(|_| Event::new(EventFlags::DEFAULT).map_err(failed)).collect::<Result<Vec<_>>>()?;
    events.try_into().map_err(|_| Error::Option("an event is missing".into()))
}

/// Seconds for all pieces on these lanes in turn, by the device's clock, and their parts.
fn run(lanes: &mut [Lane], x: &mut LockedBuffer<f64>) -> Result<(f64, Vec<Span>)> {
    let [begin, end] = events()?;
    let marks = (0..PIECES).map(|_| events()).collect::<Result<Vec<[Event; 4]>>>()?;
    begin.record(&lanes[0].stream).map_err(failed)?;
    for lane in &lanes[1..] {
        lane.stream.wait_event(&begin, StreamWaitEventFlags::DEFAULT).map_err(failed)?;
    }
    let count = lanes.len();
    for (k, piece) in x.chunks_mut(PIECE).enumerate() {
        // SAFETY: the buffer is page-locked, every piece is another one, and all is waited for below.
        unsafe { lanes[k % count].queue(piece, &marks[k])? };
    }
    for lane in &lanes[1..] {
        let done = Event::new(EventFlags::DISABLE_TIMING).map_err(failed)?;
        done.record(&lane.stream).map_err(failed)?;
        lanes[0].stream.wait_event(&done, StreamWaitEventFlags::DEFAULT).map_err(failed)?;
    }
    end.record(&lanes[0].stream).map_err(failed)?;
    end.synchronize().map_err(failed)?;
    let since = |event: &Event| event.elapsed_time_f32(&begin).map(f64::from).map_err(failed);
    let mut spans = Vec::new();
    for (k, marks) in marks.iter().enumerate() {
        for part in 0..PARTS.len() {
            let (begin, end) = (since(&marks[part])?, since(&marks[part + 1])?);
            spans.push(Span { part, stream: k % count, begin, end });
        }
    }
    Ok((since(&end)? * 1e-3, spans))
}

/// A trace in Chrome's format: a thread for each stream.
pub fn trace(spans: &[Span]) -> String {
    let event = |span: &Span| {
        let (name, tid) = (PARTS[span.part], span.stream + 1);
        let (ts, dur) = (span.begin * 1e3, (span.end - span.begin) * 1e3);
        format!(r#"{{"ph":"X","pid":1,"tid":{tid},"name":"{name}","ts":{ts},"dur":{dur}}}"#)
    };
    format!("{{\"traceEvents\":[\n{}\n]}}\n", spans.iter().map(event).collect::<Vec<_>>().join(",\n"))
}

/// What is multiplied, and what must come out of `rounds` rounds, operation by operation.
fn element(i: usize, rounds: usize) -> f64 {
    let x = 1.0 + (i % 1000) as f64 / 1000.0;
    (0..rounds * PRODUCTS).fold(x, |x, _| x * FACTOR)
}

fn main() -> Result<()> {
    let gpu = match warpsolve::open_gpu(0) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("there is nothing to overlap without a GPU: {error}");
            return Ok(());
        }
    };
    let mut lanes = (0..4).map(|_| Lane::new(&gpu)).collect::<Result<Vec<Lane>>>()?;
    let n = PIECES * PIECE;
    // SAFETY: all of it is written below.
    let mut x = unsafe { LockedBuffer::<f64>::uninitialized(n) }.map_err(failed)?;
    x.iter_mut().enumerate().for_each(|(i, x)| *x = element(i, 0));
    // Kernels are loaded at their first use.
    for lane in &mut lanes {
        lane.multiply()?;
        lane.gpu.device().synchronize()?;
    }
    let bytes = 2 * n * size_of::<f64>();
    println!("{PIECES} pieces of {} MiB on {}", (PIECE * 8) >> 20, gpu.device().info().name);
    let (mut first, mut last) = (0.0, Vec::new());
    for (round, count) in [1, 2, 3, 4].into_iter().enumerate() {
        let (time, spans) = run(&mut lanes[..count], &mut x)?;
        last = spans;
        first = if round == 0 { time } else { first };
        let (rate, gain) = (bytes as f64 / time * 1e-9, first / time);
        println!(
            "{count} streams: {:.1} ms, {rate:.1} GB/s over the bus, {gain:.2} times as fast",
            time * 1e3
        );
    }
    let wrong = (0..n).step_by(997).filter(|&i| x[i] != element(i, 4)).count();
    println!("{wrong} elements are wrong");
    if let Some(path) = std::env::args_os().nth(1) {
        std::fs::write(&path, trace(&last)).map_err(|error| Error::io("write", &path, error))?;
    }
    if wrong > 0 { Err(Error::Option("copies and kernels were not in order".into())) } else { Ok(()) }
}
