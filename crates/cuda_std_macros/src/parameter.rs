//! The value parameters of a kernel: as the driver passes them, and as the function takes them.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Lifetime, Type, TypeReference};

/// A value parameter.
pub struct Parameter {
    pub name: Ident,
    /// As written, but with every lifetime `'static`.
    kind: Type,
}

impl Parameter {
    pub fn new(name: Ident, mut kind: Type) -> Self {
        Eternal.visit_type_mut(&mut kind);
        Self { name, kind }
    }

    /// A reference, and the element if it is one to a slice.
    pub fn reference(&self) -> Option<(&TypeReference, Option<&Type>)> {
        let Type::Reference(reference) = &self.kind else { return None };
        match &*reference.elem {
            Type::Slice(slice) => Some((reference, Some(&slice.elem))),
            _ => Some((reference, None)),
        }
    }

    /// As parameters of the entry point, and the argument made of them.
    pub fn entry(&self) -> (TokenStream, TokenStream) {
        let Self { name, kind } = self;
        let Some((reference, Some(element))) = self.reference() else {
            return (quote!(#name: #kind), quote!(#name));
        };
        let length = format_ident!("{name}_length");
        let (pointer, make) = match reference.mutability {
            Some(_) => (quote!(*mut #element), quote!(from_raw_parts_mut)),
            None => (quote!(*const #element), quote!(from_raw_parts)),
        };
        (quote!(#name: #pointer, #length: usize), quote!(::core::slice::#make(#name, #length)))
    }

    /// The type of its field in the struct of arguments.
    pub fn field(&self) -> TokenStream {
        match self.reference() {
            Some((TypeReference { mutability: None, .. }, Some(element))) => {
                quote!(::cuda_std::host::Slice<#element>)
            }
            Some((_, Some(element))) => quote!(::cuda_std::host::SliceMut<#element>),
            _ => self.kind.to_token_stream(),
        }
    }

    /// What the driver gets of its field.
    pub fn passed(&self) -> TokenStream {
        let name = &self.name;
        match self.reference() {
            Some((_, Some(_))) => quote! {
                ::cuda_std::host::argument(&self.#name.pointer),
                ::cuda_std::host::argument(&self.#name.length)
            },
            _ => quote!(::cuda_std::host::argument(&self.#name)),
        }
    }

    /// The argument that its field stands for.
    pub fn given(&self) -> TokenStream {
        let name = &self.name;
        let make = match self.reference() {
            Some((TypeReference { mutability: None, .. }, Some(_))) => quote!(from_raw_parts),
            Some((_, Some(_))) => quote!(from_raw_parts_mut),
            _ => return quote!(self.#name),
        };
        quote!(::core::slice::#make(self.#name.pointer, self.#name.length))
    }

    /// A line that compiles where what is passed is `Copy`, and else points at the type.
    pub fn copied(&self) -> Option<TokenStream> {
        let kind = &self.kind;
        let check = quote_spanned!(kind.span()=> ::cuda_std::must_be_copy::<#kind>(););
        self.reference().is_none().then_some(check)
    }
}

/// Makes every lifetime `'static`: a struct of arguments has none of its own.
struct Eternal;

impl VisitMut for Eternal {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = Lifetime::new("'static", lifetime.span());
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime = Some(Lifetime::new("'static", reference.and_token.span()));
        visit_mut::visit_type_reference_mut(self, reference);
    }
}
