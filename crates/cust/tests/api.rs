//! The crate's own promises, on the fake driver: what is copied where, and which mistakes are errors.

mod common;

use cust::context::*;
use cust::error::CudaError;
use cust::function::*;
use cust::link::Linker;
use cust::memory::*;
use cust::module::*;
use cust::prelude::*;
use cust::stream::StreamWaitEventFlags;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A context on the fake; None, with a printed reason, where there is none.
fn context() -> Option<Context> {
    common::fake()?;
    Some(cust::quick_init().unwrap())
}

#[test]
fn devices_are_described() {
    let Some(_context) = context() else { return };
    let devices: Vec<Device> = Device::devices().unwrap().map(Result::unwrap).collect();
    assert_eq!(devices.len(), 1);
    assert_eq!(devices[0].name().unwrap(), "Fake GPU");
    assert_eq!(devices[0].total_memory().unwrap(), 4 << 20);
    let attribute = |attribute| devices[0].get_attribute(attribute);
    assert_eq!(attribute(cust::device::DeviceAttribute::ComputeCapabilityMajor), Ok(9));
    assert_eq!(attribute(cust::device::DeviceAttribute::WarpSize), Err(CudaError::InvalidValue));
    assert_eq!(Device::get_device(1), Err(CudaError::InvalidDevice));
    let version = cust::CudaApiVersion::get().unwrap();
    assert_eq!((version.major(), version.minor()), (12, 8));
}

#[test]
fn the_current_context_is_asked_and_told() {
    let Some(context) = context() else { return };
    context.set_flags(ContextFlags::SCHED_BLOCKING_SYNC | ContextFlags::MAP_HOST).unwrap();
    assert_eq!(context.get_api_version().unwrap().major(), 3);
    assert_eq!(CurrentContext::get_device(), Device::get_device(0));
    assert_eq!(CurrentContext::get_flags(), Ok(ContextFlags::SCHED_BLOCKING_SYNC));
    assert_eq!(CurrentContext::get_resource_limit(ResourceLimit::MallocHeapSize), Ok(102));
    CurrentContext::set_resource_limit(ResourceLimit::MallocHeapSize, 1 << 33).unwrap();
    assert_eq!(CurrentContext::get_cache_config(), Ok(CacheConfig::PreferL1));
    CurrentContext::set_cache_config(CacheConfig::PreferEqual).unwrap();
    let priorities = CurrentContext::get_stream_priority_range().unwrap();
    assert_eq!((priorities.least, priorities.greatest), (0, -5));
    CurrentContext::synchronize().unwrap();
    // A driver without this function.
    assert_eq!(CurrentContext::get_shared_memory_config(), Err(CudaError::SharedObjectSymbolNotFound));

    std::thread::spawn(move || {
        assert_eq!(CurrentContext::synchronize(), Err(CudaError::InvalidContext));
        ContextStack::push(&context).unwrap();
        CurrentContext::synchronize().unwrap();
        assert_eq!(ContextStack::pop().unwrap().unwrap().as_raw(), context.as_raw());
        assert_eq!(ContextStack::pop().unwrap_err(), CudaError::InvalidContext);
        assert_eq!(DeviceBuffer::from_slice(&[1_u8]).unwrap_err(), CudaError::InvalidContext);
        CurrentContext::set_current(&context).unwrap();
        CurrentContext::synchronize().unwrap();
    })
    .join()
    .unwrap();
}

#[test]
fn buffers_are_copied_whole_and_in_parts() {
    let Some(_context) = context() else { return };
    let mut buffer = DeviceBuffer::from_slice(&[1_u32, 2, 3, 4, 5]).unwrap();
    assert_eq!((buffer.len(), buffer.size_in_bytes(), buffer.is_empty()), (5, 20, false));
    assert_eq!(buffer.as_host_vec().unwrap(), [1, 2, 3, 4, 5]);
    let parts =
        [buffer.index(..2), buffer.index(3..), buffer.index(1..=2), buffer.index(4), buffer.index(5..)];
    let parts = parts.map(|part| part.as_host_vec().unwrap());
    assert_eq!(parts, [vec![1, 2], vec![4, 5], vec![2, 3], vec![5], vec![]]);
    assert_eq!(buffer.index(2..).as_device_ptr().as_raw(), buffer.as_device_ptr().as_raw() + 8);

    buffer.index_mut(1..3).copy_from(&[20, 30]).unwrap();
    let (left, right) = buffer.split_at_mut(2);
    left.copy_from(right.index(..2)).unwrap();
    right.copy_to(left).unwrap_err();
    assert_eq!(buffer.as_host_vec().unwrap(), [30, 4, 30, 4, 5]);

    let other = DeviceBuffer::from_slice(&[9_u32; 5]).unwrap();
    buffer.copy_from(&other).unwrap();
    let mut found = vec![0; 5];
    buffer.copy_to(&mut found).unwrap();
    assert_eq!(found, [9; 5]);
    let mut found = [0; 4];
    assert_eq!(buffer.copy_to(&mut found).unwrap_err(), CudaError::InvalidValue);
    assert_eq!(buffer.copy_from(&found[..]).unwrap_err(), CudaError::InvalidValue);
    for range in [(3, 6), (4, 3), (6, 6)] {
        catch_unwind(|| buffer.index(range.0..range.1).len()).unwrap_err();
    }
    catch_unwind(|| buffer.index(..=usize::MAX).len()).unwrap_err();
}

#[test]
fn buffers_are_filled_and_cast() {
    let Some(_context) = context() else { return };
    let mut buffer = DeviceBuffer::<u32>::zeroed(3).unwrap();
    assert_eq!(buffer.as_host_vec().unwrap(), [0; 3]);
    buffer.set_8(0x11).unwrap();
    buffer.index_mut(1).set_16(0x2233).unwrap();
    buffer.index_mut(2..).set_32(7).unwrap();
    assert_eq!(buffer.as_host_vec().unwrap(), [0x1111_1111, 0x2233_2233, 7]);
    buffer.index_mut(..2).set_zero().unwrap();
    assert_eq!(buffer.as_host_vec().unwrap(), [0, 0, 7]);

    let buffer = buffer.try_cast::<u64>().map(drop).expect_err("12 bytes");
    assert_eq!(buffer, bytemuck_error());
    let bytes = DeviceBuffer::from_slice(&[1_u16, 2, 3]).unwrap().cast::<u8>();
    assert_eq!(bytes.as_host_vec().unwrap(), [1, 0, 2, 0, 3, 0]);
    let mut bytes = bytes;
    assert_eq!(bytes.index_mut(..3).set_16(0).unwrap_err(), CudaError::InvalidValue);
    assert_eq!(bytes.index_mut(1..3).set_16(0).unwrap_err(), CudaError::InvalidValue);

    // Nothing is taken for nothing.
    let mut nothing = DeviceBuffer::<f64>::zeroed(0).unwrap();
    assert!(nothing.is_empty() && nothing.as_device_ptr().is_null());
    nothing.set_32(1).unwrap();
    assert_eq!(nothing.as_host_vec().unwrap(), []);
    assert_eq!(DeviceBuffer::from_slice(&[(); 4]).unwrap().len(), 4);
    // SAFETY: refused.
    let refused = unsafe { (cuda_malloc::<u64>(usize::MAX / 4), cuda_malloc_locked::<u64>(0)) };
    assert_eq!(refused.0.unwrap_err(), CudaError::InvalidMemoryAllocation);
    assert_eq!(refused.1.unwrap_err(), CudaError::InvalidMemoryAllocation);
    assert_eq!(DeviceBuffer::<u8>::zeroed(5 << 20).unwrap_err(), CudaError::OutOfMemory);
}

fn bytemuck_error() -> cust::memory::bytemuck::PodCastError {
    cust::memory::bytemuck::PodCastError::OutputSliceWouldHaveSlop
}

#[test]
fn copies_are_queued_from_page_locked_memory() {
    let Some(_context) = context() else { return };
    let stream = Stream::new(StreamFlags::DEFAULT, None).unwrap();
    let mut host = LockedBuffer::from_slice(&[1.5_f64, 2.5, 3.5]).unwrap();
    host[1] = -2.5;
    let mut back = LockedBuffer::new(&0.0, 3).unwrap();
    let mut too_short = LockedBuffer::new(&0.0, 2).unwrap();
    // SAFETY: nothing is used before the stream has been waited for.
    unsafe {
        let mut buffer = DeviceBuffer::<f64>::zeroed_async(3, &stream).unwrap();
        buffer.async_copy_from(&host, &stream).unwrap();
        buffer.index_mut(2).set_16_async(0, &stream).unwrap();
        let mut other = DeviceBuffer::from_slice_async(&host, &stream).unwrap();
        other.async_copy_from(&buffer, &stream).unwrap();
        other.index_mut(..1).set_32_async(0, &stream).unwrap();
        other.async_copy_to(&mut back, &stream).unwrap();
        assert_eq!(other.async_copy_to(&mut too_short, &stream).unwrap_err(), CudaError::InvalidValue);
        stream.synchronize().unwrap();
        other.drop_async(&stream).unwrap();
    }
    assert_eq!(*back, [0.0, -2.5, 0.0]);
    let nothing = LockedBuffer::<u64>::from_slice(&[]).unwrap();
    assert!(nothing.as_slice().is_empty());
    LockedBuffer::drop(nothing).unwrap();
}

#[test]
fn single_values_and_unified_memory() {
    let Some(_context) = context() else { return };
    let mut one = 3.5_f32.as_dbox().unwrap();
    let mut other = DeviceBox::<f32>::zeroed().unwrap();
    other.copy_from(&one).unwrap();
    one.copy_from(&4.5).unwrap();
    assert_eq!((one.as_host_value(), other.as_host_value()), (Ok(4.5), Ok(3.5)));
    // SAFETY: taken over from where it was given up.
    let one = unsafe { DeviceBox::from_device(DeviceBox::into_device(one)) };
    assert_eq!(one.as_host_value(), Ok(4.5));
    DeviceBox::drop(one).unwrap();

    let mut variable = DeviceVariable::new(7_u64).unwrap();
    *variable += 1;
    variable.copy_htod().unwrap();
    *variable = 0;
    variable.copy_dtoh().unwrap();
    assert_eq!(*variable, 8);

    let mut unified = [1_u8, 2, 3].as_unified_buf().unwrap();
    unified[0] = 9;
    assert_eq!(*unified, [9, 2, 3]);
    assert_eq!(GpuBuffer::as_device_ptr(&unified).as_raw(), unified.as_unified_ptr().as_raw() as u64);

    let (free, total) = mem_get_info().unwrap();
    assert!(free <= total && total == 4 << 20);
}

/// A type of one's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, cust::DeviceCopy)]
#[repr(C)]
struct Particle<T> {
    position: [T; 3],
    kind: Kind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, cust::DeviceCopy)]
#[repr(u32)]
enum Kind {
    #[default]
    Resting,
    Moving,
}

#[test]
fn types_of_ones_own_are_copied() {
    let Some(_context) = context() else { return };
    let particles = [Particle { position: [1.0_f32, 2.0, 3.0], kind: Kind::Moving }, Particle::default()];
    let buffer = particles.as_dbuf().unwrap();
    assert_eq!(buffer.as_host_vec().unwrap(), particles);
}

#[test]
fn modules_have_kernels_and_variables() {
    let Some(_context) = context() else { return };
    let error = |module: Result<Module, CudaError>| module.map(drop).unwrap_err();
    assert_eq!(error(Module::from_ptx("this is no PTX", &[])), CudaError::InvalidPtx);
    assert_eq!(error(Module::from_ptx(".version\0", &[])), CudaError::InvalidPtx);
    assert_eq!(error(Module::from_cubin(".version", &[])), CudaError::InvalidImage);
    assert_eq!(error(Module::from_file("/no\0where")), CudaError::FileNotFound);

    let module = Module::from_ptx(".version 6.0", &[ModuleJitOption::MaxRegisters(64)]).unwrap();
    let mut variable = module.get_global::<u32>(c"variable").unwrap();
    let mut value = 0;
    variable.copy_to(&mut value).unwrap();
    assert_eq!(value, 7);
    variable.copy_from(&8).unwrap();
    variable.copy_to(&mut value).unwrap();
    assert_eq!(value, 8);
    assert_eq!(module.get_global::<u64>(c"variable").map(drop).unwrap_err(), CudaError::InvalidValue);
    assert_eq!(module.get_global::<u32>(c"other").map(drop).unwrap_err(), CudaError::NotFound);

    assert_eq!(module.get_function("other").map(drop).unwrap_err(), CudaError::NotFound);
    let mut add = module.get_function("add").unwrap();
    add.set_cache_config(CacheConfig::PreferShared).unwrap();
    assert_eq!(add.get_attribute(FunctionAttribute::NumRegisters), Ok(104));
    assert_eq!(add.available_dynamic_shared_memory_per_block((2, 3).into(), 64.into()), Ok(1 << 14));
    assert_eq!(add.max_active_blocks_per_multiprocessor((16, 16).into(), 48), Ok(8));
    assert_eq!(add.suggested_launch_configuration(48, 512.into()), Ok((264, 512)));
    let beyond = add.max_active_blocks_per_multiprocessor((1 << 20, 1 << 20).into(), 48);
    assert_eq!(beyond, Err(CudaError::InvalidValue));
    Module::drop(module).unwrap();
}

#[test]
fn kernels_are_launched_in_every_notation() {
    let Some(_context) = context() else { return };
    let module = Module::from_ptx(".version 6.0", &[]).unwrap();
    let stream = Stream::new(StreamFlags::DEFAULT, Some(-1)).unwrap();
    let a = [1.0_f32, 2.0, 3.0].as_dbuf().unwrap();
    let sum = [0.0_f32; 3].as_dbuf().unwrap();
    let (add, nothing) = (module.get_function("add").unwrap(), module.get_function("nothing").unwrap());
    let grid = GridSize::xy(1, 1);
    // SAFETY: the fake adds that many numbers.
    unsafe {
        launch!(add<<<1, 3, 0, stream>>>(a.as_device_ptr(), a.as_device_ptr(), sum.as_device_ptr(), 3_u32))
            .unwrap();
        let n = 2_u32;
        launch!(module.add<<<&grid, BlockSize::x(3), 0, stream>>>(
            a.as_device_ptr(), sum.as_device_ptr(), sum.as_device_ptr(), n,
        ))
        .unwrap();
        launch!(nothing<<<(1, 1, 1), (1, 1), 0, stream>>>()).unwrap();
        let together = stream.cooperative();
        launch!(nothing<<<(2, 2), 32, 0, together>>>()).unwrap();
        let too_many = launch!(module.nothing<<<5, 32, 0, together>>>());
        assert_eq!(too_many, Err(CudaError::CooperativeLaunchTooLarge));
        let by_four = stream.clusters((4, 2));
        launch!(nothing<<<(8, 2), 32, 0, by_four>>>()).unwrap();
        let divided = launch!(module.nothing<<<(6, 2), 32, 0, by_four>>>());
        assert_eq!(divided, Err(CudaError::InvalidClusterSize));
        let missing = launch!(module.missing<<<1, 1, 0, stream>>>());
        assert_eq!(missing, Err(CudaError::NotFound));
        let too_large = launch!(nothing<<<1, 2048, 0, stream>>>());
        assert_eq!(too_large, Err(CudaError::InvalidValue));
    }
    assert_eq!(sum.as_host_vec().unwrap(), [3.0, 6.0, 6.0]);
}

#[test]
fn streams_wait_and_call_back_and_events_tell_the_time() {
    let Some(_context) = context() else { return };
    // The fake asserts that the flag does not come through.
    let stream = Stream::new(StreamFlags::NON_BLOCKING, Some(-1)).unwrap();
    assert_eq!((stream.get_flags(), stream.get_priority()), (Ok(StreamFlags::DEFAULT), Ok(-1)));
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    stream.add_callback(Box::new(move || counted.store(1, Ordering::Relaxed))).unwrap();
    stream.add_callback(Box::new(|| panic!("lost"))).unwrap();
    stream.synchronize().unwrap();
    assert_eq!((calls.load(Ordering::Relaxed), Arc::strong_count(&calls)), (1, 1));

    let [start, end] = [(); 2].map(|()| Event::new(EventFlags::DEFAULT).unwrap());
    start.record(&stream).unwrap();
    end.record(&stream).unwrap();
    // The fake has not come to the first event that it is asked for.
    assert_eq!((end.query(), end.query()), (Ok(EventStatus::NotReady), Ok(EventStatus::Ready)));
    end.synchronize().unwrap();
    assert_eq!(end.elapsed_time_f32(&start), Ok(1.5));
    assert_eq!(end.elapsed(&start), Ok(std::time::Duration::from_micros(1500)));
    assert_eq!(start.elapsed(&end), Ok(std::time::Duration::ZERO));
    stream.wait_event(&end, StreamWaitEventFlags::DEFAULT).unwrap();
    stream.wait_event(end, StreamWaitEventFlags::DEFAULT).unwrap();
    Event::drop(start).unwrap();
}

#[test]
fn single_values_on_the_host() {
    let Some(_context) = context() else { return };
    let mut locked = LockedBox::new(&2.5_f64).unwrap();
    *locked += 1.0;
    let raw = locked.into_raw();
    // SAFETY: taken over from where it was given up.
    let locked = unsafe { LockedBox::from_raw(raw) };
    assert_eq!((*locked, locked.as_raw(), locked.to_string()), (3.5, raw, "3.5".into()));
    LockedBox::drop(locked).unwrap();

    let mut unified = UnifiedBox::new(7_u32).unwrap();
    *unified += 1;
    let pointer = UnifiedBox::into_unified(unified);
    // SAFETY: as above.
    let unified = unsafe { UnifiedBox::from_unified(pointer) };
    assert_eq!((*unified, unified.as_unified_ptr()), (8, pointer));
    assert_eq!(unified.as_device_ptr().as_raw(), pointer.as_raw() as u64);
    assert!(unified == UnifiedBox::new(8).unwrap());
    assert_eq!(UnifiedBox::leak(unified), &8);
}

#[test]
fn parts_are_linked() {
    let Some(_context) = context() else { return };
    let mut linker = Linker::new().unwrap();
    assert_eq!(linker.add_ptx("this is no PTX"), Err(CudaError::InvalidPtx));
    assert_eq!(linker.add_ptx(".version\0"), Err(CudaError::InvalidPtx));
    linker.add_ptx(".version 6.0").unwrap();
    linker.add_cubin([1, 2, 3]).unwrap();
    linker.add_fatbin([4]).unwrap();
    // The fake answers with the kinds of the parts.
    assert_eq!(linker.complete(), Ok(vec![1, 0, 2]));
}
