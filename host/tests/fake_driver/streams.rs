//! Streams, graphs and events.

use super::*;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreateWithPriority(handle: *mut usize, _flags: c_uint, _: c_int) -> u32 {
    unsafe { *handle = Box::into_raw(Box::<Mutex<Stream>>::default()) as usize };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamDestroy_v2(handle: usize) -> u32 {
    drop(unsafe { Box::from_raw(handle as *mut Mutex<Stream>) });
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(handle: usize) -> u32 {
    if CURRENT.get() == 0 {
        return INVALID_CONTEXT;
    }
    assert!(stream(handle).capture.is_none());
    stream(handle).drain(None)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamBeginCapture_v2(handle: usize, mode: c_uint) -> u32 {
    // Relaxed, so that kernels can be loaded meanwhile.
    assert_eq!(mode, 2);
    assert!(stream(handle).capture.replace(Graph::default()).is_none());
    ATTEMPTS.set(ATTEMPTS.get() + 1);
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCapture(handle: usize, graph: *mut usize) -> u32 {
    let captured = stream(handle).capture.take().unwrap();
    if ATTEMPTS.get() == 2 {
        ATTEMPTS.set(0);
    }
    let status = captured.ended;
    unsafe { *graph = if status == SUCCESS { Box::into_raw(Box::new(captured)) as usize } else { 0 } };
    status
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiateWithFlags(
    executable: *mut usize,
    graph: usize,
    flags: u64,
) -> u32 {
    assert_eq!(flags, 0);
    let graph = unsafe { &*(graph as *const Graph) };
    if graph.instantiated == SUCCESS {
        ATTEMPTS.set(0);
        unsafe { *executable = Box::into_raw(Box::new(graph.clone())) as usize };
    }
    graph.instantiated
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphLaunch(executable: usize, handle: usize) -> u32 {
    let graph = unsafe { &*(executable as *const Graph) };
    graph.work.iter().map(|work| queue(handle, work.clone())).max().unwrap_or(SUCCESS)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphDestroy(graph: usize) -> u32 {
    drop(unsafe { Box::from_raw(graph as *mut Graph) });
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecDestroy(executable: usize) -> u32 {
    assert_ne!(CURRENT.get(), 0);
    drop(unsafe { Box::from_raw(executable as *mut Graph) });
    SUCCESS
}

pub(super) struct Event {
    stream: usize,
    /// How much work its stream had carried out when it came to it: the fake's clock, in ms.
    pub(super) at: usize,
    /// Whether somebody has asked for it since it was recorded.
    was_asked: bool,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut usize, _flags: c_uint) -> u32 {
    unsafe { *event = Box::into_raw(Box::new(Event { stream: 0, at: 0, was_asked: false })) as usize };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventDestroy_v2(event: usize) -> u32 {
    drop(unsafe { Box::from_raw(event as *mut Event) });
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecord(event: usize, handle: usize) -> u32 {
    let this = unsafe { &mut *(event as *mut Event) };
    (this.stream, this.was_asked) = (handle, false);
    stream(handle).done.remove(&event);
    queue(handle, Work::Event(event))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventSynchronize(event: usize) -> u32 {
    let handle = unsafe { (*(event as *const Event)).stream };
    if handle == 0 {
        return SUCCESS;
    }
    let mut stream = stream(handle);
    if stream.done.contains(&event) { stream.sticky } else { stream.drain(Some(event)) }
}

/// Says once that it is not ready, and then carries out what is in front of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventQuery(event: usize) -> u32 {
    let this = unsafe { &mut *(event as *mut Event) };
    if this.stream == 0 {
        return SUCCESS;
    }
    let mut stream = stream(this.stream);
    if stream.done.contains(&event) {
        return stream.sticky;
    }
    match std::mem::replace(&mut this.was_asked, true) {
        false => NOT_READY,
        true => stream.drain(Some(event)),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(milliseconds: *mut f32, start: usize, end: usize) -> u32 {
    unsafe {
        *milliseconds = (*(end as *const Event)).at as f32 - (*(start as *const Event)).at as f32;
    }
    SUCCESS
}
