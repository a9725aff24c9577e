//! `#[address_space(..)]` and `shared_array!`: variables in shared memory that are used like others.

use crate::shared::{Input, fits, unique_name};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Error, ItemStatic, Result, Type, Visibility};

pub fn expand_attribute(space: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let space: Ident = syn::parse2(space)?;
    let mut variable: ItemStatic = syn::parse2(item)?;
    match space.to_string().as_str() {
        "shared" => {}
        // Where variables are anyway.
        "global" | "constant" => return Ok(variable.into_token_stream()),
        _ => return Err(Error::new(space.span(), "expected `shared`, `global` or `constant`")),
    }
    let marker = format_ident!("{}_IN_SHARED_MEMORY", variable.ident);
    let place = place(&marker, &variable.vis, &variable.ty);
    *variable.ty = syn::parse_quote!(::cuda_std::shared::SharedStatic<#marker>);
    *variable.expr = syn::parse_quote!(::cuda_std::shared::SharedStatic::new());
    Ok(quote! { #place #variable })
}

pub fn expand_array(input: TokenStream) -> Result<TokenStream> {
    let Input { element, length } = syn::parse2(input)?;
    let marker = format_ident!("ARRAY_IN_SHARED_MEMORY");
    let place = place(&marker, &Visibility::Inherited, &syn::parse_quote!([#element; #length]));
    Ok(quote! {{
        #place
        <#marker as ::cuda_std::shared::SharedVariable>::address().cast::<#element>()
    }})
}

/// A type that knows where a variable of type `value` is.
///
/// On the device it is a global one here, used by no code but the line that takes its address, and
/// `cuda_builder` moves it to shared memory: Rust has no word for that.
fn place(marker: &Ident, visibility: &Visibility, value: &Type) -> TokenStream {
    let name = format!("cuda_std_{}", unique_name());
    let memory = format_ident!("{marker}_MEMORY");
    let fits = fits(quote!(::core::mem::size_of::<#value>()));
    let address = format!("{{{{ .reg .u64 a; mov.u64 a, {name}; cvta.shared.u64 {{}}, a; }}}}");
    quote! {
        #fits

        #[doc(hidden)]
        #[allow(non_camel_case_types, missing_docs)]
        #visibility struct #marker;

        #[cfg(target_arch = "nvptx64")]
        #[unsafe(export_name = #name)]
        static mut #memory: ::core::mem::MaybeUninit<#value> = ::core::mem::MaybeUninit::uninit();

        // SAFETY: the memory of a block, reserved under a name of its own.
        unsafe impl ::cuda_std::shared::SharedVariable for #marker {
            type Value = #value;

            #[inline(always)]
            fn address() -> *mut #value {
                #[cfg(target_arch = "nvptx64")]
                {
                    let address: *mut #value;
                    // SAFETY: makes an address; touches no memory.
                    unsafe {
                        ::core::arch::asm!(
                            #address, out(reg64) address, options(pure, nomem, nostack, preserves_flags)
                        );
                    }
                    address
                }
                #[cfg(not(target_arch = "nvptx64"))]
                ::cuda_std::shared::variable(#name)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shared_variables_change() {
        let item = quote!(
            static mut TILE: [f32; 4] = [0.0; 4];
        );
        assert_eq!(expand_attribute(quote!(constant), item.clone()).unwrap().to_string(), item.to_string());
        let shared = expand_attribute(quote!(shared), item.clone()).unwrap().to_string();
        assert!(shared.contains("static mut TILE : :: cuda_std :: shared :: SharedStatic"), "{shared}");
        let complaint = expand_attribute(quote!(local), item).unwrap_err().to_string();
        assert_eq!(complaint, "expected `shared`, `global` or `constant`");
    }
}
