//! Large pages for long arrays.

#[cfg(target_os = "linux")]
use std::sync::OnceLock;

/// Bytes from which on large pages are asked for: such an array holds a page of 2 MiB wherever it starts.
const LONG: usize = 4 << 20;

/// Asks the system to use large pages for the array, if it is long, and returns it. Its memory should not
/// have been touched yet. With small pages, the first write to every 4 KiB is a page fault, which takes
/// longer than the writing. Where [large pages come slowly](is_memory_reported) they are not asked for.
///
/// The system may ignore this. Then everything works the same, but more slowly.
pub(crate) fn in_large_pages<E>(array: Vec<E>) -> Vec<E> {
    #[cfg(target_os = "linux")]
    if array.capacity() * size_of::<E>() >= LONG && !is_memory_reported() {
        const SMALL_PAGE: usize = 4096;
        let start = array.as_ptr().addr().next_multiple_of(SMALL_PAGE);
        let end = (array.as_ptr().addr() + array.capacity() * size_of::<E>()) / SMALL_PAGE * SMALL_PAGE;
        // SAFETY: pages within memory that the array owns, and the advice changes nothing of what is in them.
        // An error says that it is not followed.
        unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
    }
    array
}

/// Whether this is a virtual machine that tells its host of free memory, which takes that back then. Only
/// what is free in large pieces is told of, so that small pages are mostly there, while a large one waits for
/// the host 512 times: 0.45 GB/s were measured beside 1.4 to 3 in small pages, and a set-up of multigrid took
/// 1.2 s beside 0.85.
#[cfg(target_os = "linux")]
fn is_memory_reported() -> bool {
    /// Feature bits of virtio's balloon: VIRTIO_BALLOON_F_REPORTING.
    const REPORTING: usize = 5;
    static FOUND: OnceLock<bool> = OnceLock::new();
    let reports = |device: std::fs::DirEntry| {
        let features = std::fs::read(device.path().join("features")).unwrap_or_default();
        features.get(REPORTING) == Some(&b'1')
    };
    let find = || {
        let devices = std::fs::read_dir("/sys/bus/virtio/drivers/virtio_balloon").ok()?;
        Some(devices.flatten().any(reports))
    };
    *FOUND.get_or_init(|| find().unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_what_they_were() {
        for n in [0, 1, LONG / 8, LONG + 4321] {
            let mut array = in_large_pages(vec![0u64; n]);
            assert!(array.len() == n && array.iter().all(|&v| v == 0));
            array.iter_mut().zip(7..).for_each(|(v, k)| *v = k);
            let array = in_large_pages(array);
            assert!(array.iter().zip(7..).all(|(&v, k)| v == k));
        }
    }
}
