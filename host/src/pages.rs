//! Large pages for long arrays.

/// Bytes from which on large pages are asked for: such an array holds a page of 2 MiB wherever it starts.
const LONG: usize = 4 << 20;

/// Asks the system to use large pages for the array, if it is long, and returns it. Its memory should not
/// have been touched yet. With small pages, the first write to every 4 KiB is a page fault, which takes
/// longer than the writing.
///
/// The system may ignore this. Then everything works the same, but more slowly.
pub(crate) fn in_large_pages<E>(array: Vec<E>) -> Vec<E> {
    #[cfg(target_os = "linux")]
    if array.capacity() * size_of::<E>() >= LONG {
        const SMALL_PAGE: usize = 4096;
        let start = array.as_ptr().addr().next_multiple_of(SMALL_PAGE);
        let end = (array.as_ptr().addr() + array.capacity() * size_of::<E>()) / SMALL_PAGE * SMALL_PAGE;
        // SAFETY: pages within memory that the array owns, and the advice changes nothing of what is in them.
        // An error says that it is not followed.
        unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
    }
    array
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
