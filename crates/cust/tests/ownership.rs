//! What is made in a context keeps it, and is given back in it, on whichever thread.

mod common;

use cust::prelude::*;

/// How often the context is held; handles and allocations that have not been given back.
fn held(library: &std::path::Path) -> (usize, usize, usize) {
    let (mut contexts, mut handles, mut allocations) = (0, 0, 0);
    // SAFETY: the fake is loaded already, and its function has this signature.
    unsafe {
        let library = libloading::Library::new(library).unwrap();
        let held = library.get::<extern "C" fn(&mut usize, &mut usize, &mut usize)>(b"fake_held").unwrap();
        held(&mut contexts, &mut handles, &mut allocations);
    }
    (contexts, handles, allocations)
}

// One test: it counts what the whole process holds.
#[test]
fn what_is_made_in_a_context_keeps_it_and_is_given_back_in_it() {
    let Some(library) = common::fake() else { return };
    let context = cust::quick_init().unwrap();
    let again = Context::new(Device::get_device(0).unwrap()).unwrap();
    assert_eq!(again.as_raw(), context.as_raw());
    assert_eq!(held(library), (1, 0, 0));
    Context::drop(again.clone()).unwrap();
    drop(again);
    assert_eq!(held(library), (1, 0, 0));

    let stream = Stream::new(StreamFlags::DEFAULT, None).unwrap();
    let event = Event::new(EventFlags::DEFAULT).unwrap();
    let module = Module::from_ptx(".version 6.0", &[]).unwrap();
    let buffer = DeviceBuffer::from_slice(&[1_u8, 2, 3]).unwrap();
    let locked = cust::memory::LockedBuffer::new(&1.5_f64, 4).unwrap();
    drop(context);
    assert_eq!(held(library), (1, 3, 2));

    // No context is current on the other thread, and none is left there.
    std::thread::spawn(move || {
        drop((stream, event, module, locked));
        assert!(cust::context::CurrentContext::get_device().is_err());
        buffer
    })
    .join()
    .map(|buffer| {
        assert_eq!(held(library), (1, 0, 1));
        assert_eq!(buffer.as_host_vec().unwrap(), [1, 2, 3]);
        DeviceBuffer::drop(buffer).unwrap();
    })
    .unwrap();
    assert_eq!(held(library), (0, 0, 0));

    // It is taken anew where it was released.
    let context = cust::quick_init().unwrap();
    let buffer = DeviceBuffer::<u64>::zeroed(10).unwrap();
    let halves = buffer.cast::<u32>();
    let stream = Stream::new(StreamFlags::DEFAULT, None).unwrap();
    assert_eq!(held(library), (1, 1, 1));
    halves.drop_async(&stream).unwrap();
    Stream::drop(stream).unwrap();
    assert_eq!(held(library), (1, 0, 0));
    Context::drop(context).unwrap();
    assert_eq!(held(library), (0, 0, 0));
}
