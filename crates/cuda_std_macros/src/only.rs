//! `#[gpu_only]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemFn, Result};

/// The function on the device, and one that panics on the host.
pub fn expand(item: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    let (attributes, visibility, signature) = (&function.attrs, &function.vis, &function.sig);
    let message = format!("{} runs on a GPU only", signature.ident);
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #function

        #[cfg(not(target_arch = "nvptx64"))]
        #(#attributes)*
        #[allow(unused_variables)]
        #visibility #signature {
            ::core::unimplemented!(#message)
        }
    })
}
