//! `#[derive(DeviceCopy)]`; see `cust::memory::DeviceCopy`.
//!
//! ```
//! use cust::DeviceCopy;
//!
//! /// What a kernel gets by value.
//! #[derive(Clone, Copy, DeviceCopy)]
//! #[repr(C)]
//! struct Step {
//!     length: f32,
//!     count: u32,
//! }
//! ```

use proc_macro::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Field, Type, parse_macro_input, parse_quote};

/// Implements `cust::memory::DeviceCopy` for a struct, enum or union. It does not compile where a field does
/// not implement it.
///
/// ```
/// use cust::memory::DeviceCopy;
///
/// #[derive(Clone, Copy, DeviceCopy)]
/// #[repr(C)]
/// struct Particle<T> {
///     position: [T; 3],
///     charge: f32,
/// }
///
/// fn may_be_copied<T: DeviceCopy>() {}
/// may_be_copied::<Particle<f64>>();
/// ```
#[proc_macro_derive(DeviceCopy)]
pub fn device_copy(input: TokenStream) -> TokenStream {
    let DeriveInput { ident, mut generics, data, .. } = parse_macro_input!(input as DeriveInput);
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::cust::memory::DeviceCopy));
    }
    let conditions = generics.make_where_clause();
    for kind in field_types(&data) {
        conditions.predicates.push(parse_quote!(#kind: ::cust::memory::DeviceCopy));
    }
    let (parameters, arguments, conditions) = generics.split_for_impl();
    quote! {
        // SAFETY: all fields may be copied.
        unsafe impl #parameters ::cust::memory::DeviceCopy for #ident #arguments #conditions {}
    }
    .into()
}

/// The types of all fields, of all variants.
fn field_types(data: &Data) -> Vec<&Type> {
    let fields: Vec<&Field> = match data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        Data::Union(data) => data.fields.named.iter().collect(),
    };
    fields.into_iter().map(|field| &field.ty).collect()
}
