//! What `#[kernel]` makes of a function on the host.

use cuda_std::host::Kernel;
use cuda_std::{Real, kernel};
use std::ffi::c_void;

mod shapes {
    pub trait Shape<T>: Copy + 'static {}

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct Product<T> {
        pub y: *mut T,
        pub scale: T,
    }
    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct ScaledResidual<T>(pub *mut T);
    #[derive(Clone, Copy)]
    pub struct Nothing;

    impl<T: 'static + Copy> Shape<T> for Product<T> {}
    impl<T: 'static + Copy> Shape<T> for ScaledResidual<T> {}
    impl<T: 'static + Copy> Shape<T> for Nothing {}
}
use shapes::Shape;

/// Plain.
#[kernel]
pub unsafe fn plain(n: u32, mut x: *const f64) {
    x = x.wrapping_add(n as usize);
    let _ = x;
}

/// Generic.
#[kernel(
    T = [f32, f64],
    E = [shapes::Product<T>, shapes::ScaledResidual<T>, shapes::Nothing],
    W = [1, 4],
    FLAG = [false, true]
)]
pub unsafe fn generic<T: Real, E, const W: u32, const FLAG: bool>(n: u64, x: *const T, e: E)
where
    E: Shape<T>,
{
    let _ = (n, x, e, W, FLAG);
}

/// A parameter that no argument mentions.
#[kernel(T = [f32, u32])]
pub unsafe fn marked<T: Copy + 'static>(n: u32) {
    let _ = (n, size_of::<T>());
}

#[test]
fn entries_are_listed() {
    assert_eq!(PLAIN_ENTRIES, ["plain"]);
    assert_eq!(MARKED_ENTRIES, ["marked_f32", "marked_u32"]);
    assert_eq!(GENERIC_ENTRIES.len(), 2 * 3 * 2 * 2);
    assert_eq!(
        GENERIC_ENTRIES[..3],
        ["generic_f32_product_1_false", "generic_f32_product_1_true", "generic_f32_product_4_false"]
    );
    assert_eq!(GENERIC_ENTRIES[23], "generic_f64_nothing_4_true");
}

#[test]
fn names_are_those_of_the_instance() {
    let (x, y) = (std::ptr::null(), std::ptr::null_mut());
    let e = shapes::ScaledResidual::<f64>(y);
    assert_eq!(generic::<f64, _, 4, true> { n: 1, x, e }.name(), "generic_f64_scaled_residual_4_true");
    let e = shapes::Product::<f32> { y: std::ptr::null_mut(), scale: 1.0 };
    let launch = generic::<f32, _, 1, false> { n: 1, x: std::ptr::null(), e };
    assert_eq!(launch.name(), "generic_f32_product_1_false");
    assert_eq!(plain { n: 1, x }.name(), "plain");
    assert_eq!(marked::<u32> { n: 1, instance: std::marker::PhantomData }.name(), "marked_u32");
}

#[test]
#[should_panic(expected = "has no entry point; add it to the lists of its #[kernel(..)]")]
fn an_instance_that_is_not_compiled_is_a_mistake_of_the_program() {
    generic::<f64, _, 2, true> { n: 1, x: std::ptr::null(), e: shapes::Nothing }.name();
}

/// The addresses that a launcher gets.
fn arguments(kernel: &dyn Kernel) -> Vec<*mut c_void> {
    let mut seen = Vec::new();
    kernel.arguments(&mut |list| seen = list.to_vec());
    seen
}

#[test]
fn arguments_come_in_order_and_without_empty_ones() {
    let x = std::ptr::without_provenance(0x1230);
    let e = shapes::Product { y: std::ptr::without_provenance_mut(0x4560), scale: 2.5 };
    let launch = generic::<f64, _, 1, true> { n: 7, x, e };
    let list = arguments(&launch);
    assert_eq!(list.len(), 3);
    // SAFETY: these are the addresses of the fields, which have these types.
    unsafe {
        assert_eq!(*list[0].cast::<u64>(), 7);
        assert_eq!(*list[1].cast::<*const f64>(), x);
        let product = *list[2].cast::<shapes::Product<f64>>();
        assert_eq!((product.y.addr(), product.scale), (0x4560, 2.5));
    }
    let nothing = generic::<f64, _, 1, true> { n: 7, x, e: shapes::Nothing };
    assert_eq!(arguments(&nothing).len(), 2);
    assert_eq!(arguments(&marked::<f32> { n: 1, instance: std::marker::PhantomData }).len(), 1);
}

#[test]
fn the_function_stays_callable() {
    // SAFETY: it does nothing.
    unsafe { generic::<f64, _, 9, true>(1, std::ptr::null(), shapes::Nothing) };
    // SAFETY: it only moves the pointer.
    unsafe { plain(3, std::ptr::null()) };
}
