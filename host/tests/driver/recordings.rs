//! Work that is recorded as a graph and replayed.

use super::*;

/// Uploads `value`, does `work` with its address, and returns the bytes that are there then.
fn after(device: &Driver, value: f64, work: impl FnOnce(u64)) -> f64 {
    let address = device.alloc(8).unwrap();
    let mut found = [0; 8];
    // SAFETY: the allocation has one f64; not used afterwards.
    unsafe {
        device.upload(address, &value.to_le_bytes()).unwrap();
        work(address);
        device.download(&mut found, address).unwrap();
        device.free(address);
    }
    f64::from_le_bytes(found)
}

#[test]
fn a_recording_is_carried_out_at_every_replay_and_only_then() {
    if !fake() {
        return;
    }
    let device = open(0);
    let found = after(&device, 1.0, |data| {
        // SAFETY: the callers' memory has one f64, here and below.
        let scale =
            |block, factor, shift| unsafe { device.launch(1, block, &Scale { data, n: 1, factor, shift }) };
        let mut work = || {
            // What another thread queues is carried out now, x = x + 4.
            std::thread::scope(|scope| scope.spawn(|| scale(32, 1.0, 4.0)).join().unwrap())?;
            scale(32, 2.0, 1.0)?;
            scale(64, 3.0, 0.0)
        };
        let graph = device.record_graph(&mut work).unwrap().unwrap();
        assert_eq!((counts(&device).launches, counts(&device).graph_launches), (1, 0));
        // SAFETY: as above.
        let replay = || unsafe { device.replay(&graph) }.unwrap();
        replay();
        scale(32, 1.0, -1.0).unwrap();
        replay();
        // The driver keeps the work that is queued.
        drop(graph);
    });
    assert_eq!(found, (((1.0 + 4.0) * 2.0 + 1.0) * 3.0 - 1.0) * 6.0 + 3.0);
    assert_eq!((counts(&device).launches, counts(&device).graph_launches), (6, 2));
}

#[test]
fn recorded_memory_is_zeroed_at_every_replay() {
    if !fake() {
        return;
    }
    let device = open(0);
    let found = after(&device, 1.0, |data| {
        // SAFETY: the memory has one f64.
        let mut work = || unsafe {
            device.zero(data, 8)?;
            device.launch(1, 32, &Scale { data, n: 1, factor: 2.0, shift: 3.0 })
        };
        let graph = device.record_graph(&mut work).unwrap().unwrap();
        for _ in 0..2 {
            // SAFETY: as above.
            unsafe { device.replay(&graph) }.unwrap();
        }
    });
    assert_eq!(found, 3.0);
}

/// A call that cannot be recorded.
type Refused<'a> = &'a dyn Fn() -> Result<(), Error>;

#[test]
fn what_cannot_be_recorded_fails_and_leaves_no_recording() {
    if !fake() {
        return;
    }
    let device = open(0);
    let found = after(&device, 1.0, |data| {
        // SAFETY: the memory has one f64.
        let scale = || unsafe { device.launch(1, 32, &Scale { data, n: 1, factor: 2.0, shift: 3.0 }) };
        // SAFETY: as above; one byte of another is never reached.
        let refused: [(&str, Refused); 8] = unsafe {
            [
                ("cuMemAlloc(8 bytes)", &|| device.alloc(8).map(drop)),
                ("cuMemAllocHost(262144 bytes of", &|| device.alloc_host_visible(8).map(drop)),
                ("cuMemcpyHtoDAsync(3 bytes to", &|| device.upload(data, &[1, 2, 3])),
                ("cuMemcpyDtoHAsync(4 bytes from", &|| device.download(&mut [0; 4], data)),
                ("cuMemcpyDtoDAsync(4 bytes from", &|| device.copy(data + 4, data, 4)),
                ("cuStreamSynchronize failed", &|| device.synchronize()),
                ("cuEventRecord failed", &|| device.record().map(drop)),
                ("cuStreamBeginCapture failed", &|| device.record_graph(&mut || Ok(())).map(drop)),
            ]
        };
        for (call, work) in refused {
            let graph = device.record_graph(&mut || {
                scale()?;
                let error = work().expect_err(call);
                let text = error.to_string();
                assert!(
                    text.starts_with(call) && text.contains("must not allocate, copy, or wait"),
                    "{text}"
                );
                Err(error)
            });
            assert!(graph.unwrap().is_none(), "{call}");
        }
        // SAFETY: not launched.
        let missing = &mut || unsafe { device.launch(1, 32, &Named("spmv_f16")) };
        let error = device.record_graph(missing).err().unwrap().to_string();
        assert!(error.starts_with("cuModuleGetFunction(spmv_f16) failed"), "{error}");
        // From here on work is queued again.
        scale().unwrap();
    });
    assert_eq!(found, 5.0);
    assert_eq!(counts(&device).launches, 1);
}

#[test]
fn old_drivers_record_without_overlap_or_not_at_all() {
    if !fake() {
        return;
    }
    let device = open(0);
    let recorded = |device: &Driver, block| {
        let mut calls = 0;
        let graph = device.record_graph(&mut || {
            calls += 1;
            // SAFETY: never carried out.
            unsafe { device.launch(1, block, &Scale { data: 0, n: 0, factor: 1.0, shift: 0.0 }) }
        });
        (graph.unwrap(), calls)
    };
    // The fake knows no overlap within graphs where blocks have 160 threads, and no graphs where they have
    // 224.
    for (block, some, calls) in [(32, true, 1), (160, true, 2), (224, false, 2)] {
        let found = recorded(&device, block);
        assert_eq!((found.0.is_some(), found.1), (some, calls), "blocks of {block}");
    }
    assert_eq!(counts(&device), Counts::default());

    let (graph, _) = recorded(&device, 32);
    let other = open(0).without_graphs();
    let (none, calls) = recorded(&other, 32);
    assert!(none.is_none() && calls == 0);
    // SAFETY: refused.
    let error = unsafe { other.replay(&graph.unwrap()) }.unwrap_err().to_string();
    assert_eq!(error, "cuGraphLaunch failed: the graph was recorded by another device");
}
