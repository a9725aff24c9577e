//! What `#[kernel]` says of functions that are no kernels, and what it makes of those that are.

use super::*;

/// The complaint about a kernel.
fn complaint(attribute: TokenStream, item: TokenStream) -> String {
    expand(attribute, item).expect_err("not a kernel").to_string()
}

#[test]
fn complaints_say_what_to_do() {
    let cases = [
        (
            quote!(),
            quote!(
                fn k() {}
            ),
            "a kernel is an `unsafe fn`",
        ),
        (
            quote!(),
            quote!(
                unsafe fn k() -> u32 {
                    0
                }
            ),
            "a kernel returns nothing",
        ),
        (
            quote!(),
            quote!(
                unsafe fn k((a, b): (u32, u32)) {}
            ),
            "a kernel's parameters are plain names",
        ),
        (
            quote!(),
            quote!(
                unsafe fn k(self) {}
            ),
            "a kernel is no method",
        ),
        (
            quote!(),
            quote!(
                unsafe fn k<'a>(x: &'a u32) {}
            ),
            "leave the lifetime out: a kernel's references live for as long",
        ),
        (
            quote!(),
            quote!(
                unsafe fn k<T>(x: T) {}
            ),
            "say what to compile for: #[kernel(T = [..])]",
        ),
        (
            quote!(T = [f32]),
            quote!(
                unsafe fn k() {}
            ),
            "no such generic parameter",
        ),
        (
            quote!(T = [3]),
            quote!(
                unsafe fn k<T>() {}
            ),
            "expected types for a type, literals for a const",
        ),
        (
            quote!(T = [(f32, f32)]),
            quote!(
                unsafe fn k<T>() {}
            ),
            "expected a named type",
        ),
        (
            quote!(wait),
            quote!(
                unsafe fn k() {}
            ),
            "expected `waits`, `batched` or a list: T = [..]",
        ),
        (
            quote!(W = [1.5]),
            quote!(
                unsafe fn k<const W: u32>() {}
            ),
            "expected an integer or a bool",
        ),
    ];
    for (attribute, item, expected) in cases {
        assert_eq!(complaint(attribute, item), expected);
    }
}

#[test]
fn every_combination_becomes_one_entry_point() {
    let attribute = quote!(T = [f32, f64], W = [2, 32]);
    let expanded = expand(
        attribute,
        quote!(
            unsafe fn k<T, const W: u32>(x: *const T) {}
        ),
    )
    .unwrap();
    let text = expanded.to_string();
    assert_eq!(text.matches("export_name").count(), 4);
    for name in ["k_f32_2", "k_f32_32", "k_f64_2", "k_f64_32"] {
        assert!(text.contains(&format!("export_name = \"{name}\"")), "{name} in {text}");
    }
}

#[test]
fn every_entry_point_waits_for_the_grid_in_front_unless_its_body_does() {
    let count = |attribute: TokenStream, what: &str| {
        let item = quote!(
            unsafe fn k<T, U>(x: *const T, y: *const U) {}
        );
        expand(attribute, item).unwrap().to_string().matches(what).count()
    };
    for (attribute, waits) in [
        // Before the body of both entry points, and of the simulated one.
        (quote!(T = [f32, f64], U = [u8]), 3),
        (quote!(T = [f32, f64], U = [u8], waits), 0),
        (quote!(waits, T = [f32, f64], U = [u8],), 0),
    ] {
        assert_eq!(count(attribute.clone(), "grid_dependency_wait"), waits, "{attribute}");
        assert_eq!(count(attribute.clone(), "grid_dependency_launch"), 2, "{attribute}");
    }
}

#[test]
fn an_entry_point_may_need_a_target() {
    let item = quote!(
        unsafe fn k(x: *const f32) {}
    );
    let text = expand(quote!(needs = sm_90, waits), item.clone()).unwrap().to_string();
    let place = "cfg (all (target_arch = \"nvptx64\" , target_feature = \"sm_90\"))";
    assert_eq!(text.matches(place).count(), 1, "{text}");
    let complaint = expand(quote!(needs = hopper), item).unwrap_err().to_string();
    assert_eq!(complaint, "expected a target, such as sm_90");
}

#[test]
fn a_batched_kernel_has_an_entry_point_for_several_launches() {
    let item = quote!(
        unsafe fn k<T>(n: u32, x: *const T) {}
    );
    let text = expand(quote!(T = [f32, f64], batched), item).unwrap().to_string();
    for name in ["k_f32", "k_f32_batch", "k_f64", "k_f64_batch"] {
        assert_eq!(text.matches(&format!("export_name = \"{name}\"")).count(), 1, "{name} in {text}");
    }
    assert_eq!(text.matches("grid_dependency_launch").count(), 4);
    let item = quote!(
        unsafe fn k(x: &[f32]) {}
    );
    let complaint = expand(quote!(batched), item).unwrap_err().to_string();
    assert_eq!(complaint, "a batched kernel takes pointers, not references");
}

#[test]
fn names_are_in_snake_case() {
    assert_eq!(snake_case("ScaledResidual"), "scaled_residual");
    assert_eq!(snake_case("f64"), "f64");
}
