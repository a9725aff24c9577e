//! `shared!`: arrays that the simulator checks.

use proc_macro2::TokenStream;
use quote::quote;
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

fn too_large() -> String {
    format!("static shared memory has {STATIC_BYTES} bytes at most; more is dynamic")
}

/// An item that is an error where so many bytes do not fit into static shared memory.
pub fn fits(bytes: TokenStream) -> TokenStream {
    let too_large = too_large();
    quote!(
        const _: () = ::core::assert!(#bytes <= #STATIC_BYTES, #too_large);
    )
}

/// The size of an element whose type tells it.
fn bytes(element: &Type) -> Option<usize> {
    let Type::Path(path) = element else { return None };
    let is_one_of = |names: &[&str]| names.iter().any(|name| path.path.is_ident(name));
    let sizes = [(&["u32", "i32", "f32"], 4), (&["u64", "i64", "f64"], 8)];
    sizes.iter().find(|(names, _)| is_one_of(*names)).map(|(_, size)| *size)
}

/// The check that an array is not too large: at once where that can be told, else where the function around
/// it is compiled for its types.
fn check(element: &Type, length: &Expr) -> TokenStream {
    match (bytes(element), length) {
        (Some(bytes), Expr::Lit(_)) => fits(quote!(#length * #bytes)),
        _ => {
            let too_large = too_large();
            quote! {
                const {
                    ::core::assert!((#length) * ::core::mem::size_of::<#element>() <= #STATIC_BYTES, #too_large)
                };
            }
        }
    }
}

/// On the device `cuda_builder` declares the array, whose name ends with its bytes: of a generic function
/// each size has its own.
pub fn expand(input: TokenStream) -> syn::Result<TokenStream> {
    let Input { element, length } = syn::parse2(input)?;
    let name = unique_name();
    let check = check(&element, &length);
    let address = format!("mov.u32 {{}}, cuda_std_array_{name}_{{}};");
    Ok(quote! {{
        #check
        #[cfg(target_arch = "nvptx64")]
        {
            let address: u32;
            // SAFETY: reads the address of an array; touches no memory.
            unsafe {
                ::core::arch::asm!(
                    #address,
                    out(reg32) address,
                    const (#length) * ::core::mem::size_of::<#element>(),
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            ::cuda_std::shared::Shared::<#element>::at(address)
        }
        #[cfg(not(target_arch = "nvptx64"))]
        ::cuda_std::shared::Shared::<#element>::named(#name, #length)
    }})
}
