//! `shared!`: arrays that the simulator checks.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::sync::atomic::{AtomicU32, Ordering};
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Token, Type};

/// `T; N`
pub struct Input {
    pub element: Type,
    pub length: Expr,
}

impl Parse for Input {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let element = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(Self { element, length: input.parse()? })
    }
}

/// The PTX name of the next array or variable: unique within the crate by its number, between crates by the
/// name.
pub fn unique_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let package = std::env::var("CARGO_CRATE_NAME").unwrap_or_default();
    format!("shared_{}_{}", package, COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Bytes of static shared memory that a block may have.
const STATIC_BYTES: usize = 48 << 10;

/// An item that is an error where so many bytes do not fit into static shared memory.
pub fn fits(bytes: TokenStream) -> TokenStream {
    let too_large = format!("static shared memory has {STATIC_BYTES} bytes at most; more is dynamic");
    quote!(
        const _: () = ::core::assert!(#bytes <= #STATIC_BYTES, #too_large);
    )
}

/// The size of an element: 8 where only its instances would tell.
fn bytes(element: &Type) -> usize {
    let four =
        matches!(element, Type::Path(path) if ["u32", "i32", "f32"].iter().any(|t| path.path.is_ident(t)));
    if four { 4 } else { 8 }
}

pub fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let Input { element, length } = syn::parse2(input)?;
    let name = unique_name();
    let bytes = bytes(&element);
    let module = format_ident!("{name}");
    let declaration = format!(".shared .align 16 .b8 {name}[{{}}];");
    let address = format!("mov.u32 {{}}, {name};");
    let fits = fits(quote!((#length) * #bytes));
    Ok(quote! {{
        #fits
        // A module, because `global_asm!` is an item that cannot stand in a function.
        #[cfg(target_arch = "nvptx64")]
        mod #module {
            #[allow(unused_imports)]
            use super::*;
            ::core::arch::global_asm!(#declaration, const (#length) * #bytes);
        }
        #[cfg(target_arch = "nvptx64")]
        {
            let address: u32;
            // SAFETY: reads the address of the array declared above; touches no memory.
            unsafe {
                ::core::arch::asm!(
                    #address, out(reg32) address, options(pure, nomem, nostack, preserves_flags)
                );
            }
            ::cuda_std::shared::Shared::<#element>::at(address)
        }
        #[cfg(not(target_arch = "nvptx64"))]
        ::cuda_std::shared::Shared::<#element>::named(#name, #length, #bytes)
    }})
}
