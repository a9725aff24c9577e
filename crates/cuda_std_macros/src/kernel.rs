//! `#[kernel]`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, FnArg, GenericParam, ItemFn, Lit, Pat, Result, Token, Type, bracketed};

/// What one generic parameter stands for in one entry point.
#[derive(Clone)]
enum Choice {
    Type(Type),
    Const(Expr),
}

impl Choice {
    /// The part of the entry point's name that tells this choice from the others.
    fn suffix(&self) -> Result<String> {
        match self {
            Choice::Type(named @ Type::Path(path)) => match path.path.segments.last() {
                Some(segment) => Ok(snake_case(&segment.ident.to_string())),
                None => Err(Error::new_spanned(named, "expected a named type")),
            },
            Choice::Const(Expr::Lit(literal)) => match &literal.lit {
                Lit::Int(i) => Ok(i.base10_digits().to_owned()),
                Lit::Bool(b) => Ok(b.value.to_string()),
                other => Err(Error::new_spanned(other, "expected an integer or a bool")),
            },
            Choice::Type(other) => Err(Error::new_spanned(other, "expected a named type")),
            Choice::Const(other) => Err(Error::new_spanned(other, "expected a literal")),
        }
    }
}

/// `T = [f32, f64]`
struct List {
    parameter: Ident,
    choices: Vec<Choice>,
}

impl Parse for List {
    fn parse(input: ParseStream) -> Result<Self> {
        let parameter = input.parse()?;
        input.parse::<Token![=]>()?;
        let inside;
        bracketed!(inside in input);
        let choice = |input: ParseStream| {
            if input.peek(syn::Lit) {
                input.parse().map(Choice::Const)
            } else {
                input.parse().map(Choice::Type)
            }
        };
        let choices = inside.parse_terminated(choice, Token![,])?.into_iter().collect();
        Ok(Self { parameter, choices })
    }
}

/// What stands in the parentheses of `#[kernel(..)]`, in any order.
#[derive(Default)]
struct Attribute {
    lists: Vec<List>,
    /// The body calls `grid_dependency_wait` itself.
    waits: bool,
}

impl Parse for Attribute {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut attribute = Self::default();
        while !input.is_empty() {
            if input.peek2(Token![=]) {
                attribute.lists.push(input.parse()?);
            } else {
                let word: Ident = input.parse()?;
                if word != "waits" {
                    return Err(Error::new_spanned(word, "expected `waits` or a list: T = [..]"));
                }
                attribute.waits = true;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(attribute)
    }
}

/// One entry point: its name, and `type T = f64; const W: u32 = 4;`
struct Entry {
    name: String,
    bindings: Vec<TokenStream>,
}

/// A kernel taken apart.
struct Kernel {
    function: ItemFn,
    /// Names of the value parameters.
    names: Vec<Ident>,
    types: Vec<Type>,
    /// `T, E, W`
    parameters: Vec<Ident>,
    entries: Vec<Entry>,
    waits: bool,
}

pub fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let kernel = Kernel::new(syn::parse2(item)?, syn::parse2(attribute)?)?;
    let (body, device, host) = (kernel.body(), kernel.device(), kernel.host());
    Ok(quote! { #body #device #host })
}

impl Kernel {
    fn new(function: ItemFn, Attribute { lists, waits }: Attribute) -> Result<Self> {
        let signature = &function.sig;
        if !matches!(signature.safety, syn::Safety::Unsafe(_)) {
            return Err(Error::new_spanned(signature.fn_token, "a kernel is an `unsafe fn`"));
        }
        if let syn::ReturnType::Type(_, output) = &signature.output {
            return Err(Error::new_spanned(output, "a kernel returns nothing"));
        }
        let (mut names, mut types) = (Vec::new(), Vec::new());
        for input in &signature.inputs {
            match input {
                FnArg::Typed(argument) => match &*argument.pat {
                    Pat::Ident(name) => {
                        names.push(name.ident.clone());
                        types.push((*argument.ty).clone());
                    }
                    other => return Err(Error::new_spanned(other, "a kernel's parameters are plain names")),
                },
                other => return Err(Error::new_spanned(other, "a kernel is no method")),
            }
        }
        let generics = signature.generics.params.iter();
        let parameters = generics.map(|p| name_of(p).cloned()).collect::<Result<Vec<_>>>()?;
        if let Some(list) = lists.iter().find(|l| !parameters.contains(&l.parameter)) {
            return Err(Error::new_spanned(&list.parameter, "no such generic parameter"));
        }
        let mut entries = vec![Entry { name: signature.ident.to_string(), bindings: Vec::new() }];
        for parameter in &signature.generics.params {
            entries = extend(entries, parameter, &lists)?;
        }
        Ok(Self { function, names, types, parameters, entries, waits })
    }

    /// The function itself.
    fn body(&self) -> TokenStream {
        let function = &self.function;
        quote! {
            #[allow(unsafe_op_in_unsafe_fn, clippy::too_many_arguments, clippy::missing_safety_doc)]
            #[cfg_attr(target_arch = "nvptx64", inline(always))]
            #function
        }
    }

    /// What stands before the body.
    fn wait(&self) -> Option<TokenStream> {
        (!self.waits).then(|| quote!(::cuda_std::thread::grid_dependency_wait();))
    }

    /// The entry points.
    fn device(&self) -> TokenStream {
        let Self { names, types, parameters, .. } = self;
        let ident = &self.function.sig.ident;
        let wait = self.wait();
        let entries = self.entries.iter().map(|Entry { name, bindings }| {
            quote! {
                #[cfg(target_arch = "nvptx64")]
                const _: () = {
                    #(#bindings)*
                    #[unsafe(export_name = #name)]
                    #[allow(improper_ctypes_definitions)]
                    unsafe extern "ptx-kernel" fn entry(#(#names: #types),*) {
                        ::cuda_std::thread::grid_dependency_launch();
                        #wait
                        // SAFETY: the same conditions as this function's.
                        unsafe { #ident::<#(#parameters),*>(#(#names),*) }
                    }
                };
            }
        });
        quote! { #(#entries)* }
    }

    /// The struct of arguments.
    fn host(&self) -> TokenStream {
        let Self { names, types, parameters, .. } = self;
        let signature = &self.function.sig;
        let (ident, visibility) = (&signature.ident, &self.function.vis);
        let docs = self.function.attrs.iter().filter(|a| a.path().is_ident("doc"));
        let wait = self.wait();
        let (generics, type_generics, predicates) = signature.generics.split_for_impl();
        let predicates = predicates.map(|p| p.predicates.to_token_stream());
        let type_parameters: Vec<_> = signature.generics.type_params().map(|t| &t.ident).collect();
        let entry_names: Vec<_> = self.entries.iter().map(|e| &e.name).collect();
        let list_name = format_ident!("{}_ENTRIES", ident.to_string().to_uppercase());
        let list_doc = format!("Entry points of [`{ident}`](fn@{ident}) in the PTX module.");

        // A parameter that no argument's type mentions still has to appear in the struct.
        let used: String = types.iter().map(|t| format!(" {} ", t.to_token_stream())).collect();
        let unused: Vec<_> = type_parameters.iter().filter(|t| !used.contains(&format!(" {t} "))).collect();
        let marker = (!unused.is_empty()).then(|| {
            quote! { pub instance: ::core::marker::PhantomData<(#(#unused,)*)>, }
        });

        // Two kernels are the same when all their type and constant parameters are.
        let identity = signature.generics.params.iter().map(|p| match p {
            GenericParam::Const(c) => c.ident.to_token_stream(),
            GenericParam::Type(t) => {
                let t = &t.ident;
                quote!(::core::any::TypeId::of::<#t>())
            }
            GenericParam::Lifetime(_) => TokenStream::new(),
        });
        let identity = quote!((#(#identity,)*));
        let choice = if parameters.is_empty() {
            let name = ident.to_string();
            quote!(#name)
        } else {
            let tests = self.entries.iter().map(|Entry { name, bindings }| {
                quote! {{
                    #(#bindings)*
                    if wanted == #identity {
                        return #name;
                    }
                }}
            });
            let all = entry_names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(", ");
            quote! {
                let wanted = #identity;
                #(#tests)*
                ::cuda_std::host::not_compiled(::core::any::type_name::<Self>(), #all)
            }
        };
        quote! {
            #[cfg(not(target_arch = "nvptx64"))]
            #(#docs)*
            #[allow(non_camel_case_types, missing_docs)]
            #visibility struct #ident #generics where #predicates {
                #(pub #names: #types,)*
                #marker
            }

            #[cfg(not(target_arch = "nvptx64"))]
            #[doc = #list_doc]
            #visibility const #list_name: &[&str] = &[#(#entry_names),*];

            #[cfg(not(target_arch = "nvptx64"))]
            const _: () = {
                // SAFETY: the arguments are plain values that a launcher copies; the pointers among
                // them mean nothing on the host before the kernel runs.
                unsafe impl #generics ::core::marker::Sync for #ident #type_generics where #predicates {}
                // SAFETY: as above.
                unsafe impl #generics ::core::marker::Send for #ident #type_generics where #predicates {}

                impl #generics ::cuda_std::host::Kernel for #ident #type_generics
                where
                    #(#type_parameters: 'static,)*
                    #predicates
                {
                    fn name(&self) -> &'static str {
                        #choice
                    }
                    fn arguments(&self, use_them: &mut dyn FnMut(&mut [*mut ::core::ffi::c_void])) {
                        ::cuda_std::host::pass([#(::cuda_std::host::argument(&self.#names)),*], use_them)
                    }
                    unsafe fn run(&self) {
                        #wait
                        // SAFETY: the same conditions as this function's.
                        unsafe { #ident::<#(#parameters),*>(#(self.#names),*) }
                    }
                }
            };
        }
    }
}

/// The name of a type or constant parameter.
fn name_of(parameter: &GenericParam) -> Result<&Ident> {
    match parameter {
        GenericParam::Type(t) => Ok(&t.ident),
        GenericParam::Const(c) => Ok(&c.ident),
        other => Err(Error::new_spanned(other, "a kernel borrows nothing: use raw pointers")),
    }
}

/// Multiplies `entries` by the choices for `parameter`.
fn extend(entries: Vec<Entry>, parameter: &GenericParam, lists: &[List]) -> Result<Vec<Entry>> {
    let ident = name_of(parameter)?;
    let Some(list) = lists.iter().find(|l| l.parameter == *ident) else {
        let advice = format!("say what to compile for: #[kernel({ident} = [..])]");
        return Err(Error::new_spanned(ident, advice));
    };
    let mut extended = Vec::new();
    for entry in entries {
        for choice in &list.choices {
            let binding = match (parameter, choice) {
                (GenericParam::Type(_), Choice::Type(t)) => quote!(#[allow(dead_code)] type #ident = #t;),
                (GenericParam::Const(c), Choice::Const(value)) => {
                    let t = &c.ty;
                    quote!(#[allow(dead_code)] const #ident: #t = #value;)
                }
                _ => {
                    return Err(Error::new_spanned(ident, "expected types for a type, literals for a const"));
                }
            };
            let mut bindings = entry.bindings.clone();
            bindings.push(binding);
            extended.push(Entry { name: format!("{}_{}", entry.name, choice.suffix()?), bindings });
        }
    }
    Ok(extended)
}

/// `ScaledResidual` -> `scaled_residual`
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (i, c) in name.char_indices() {
        if c.is_uppercase() && i > 0 {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
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
                "a kernel borrows nothing: use raw pointers",
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
                "expected `waits` or a list: T = [..]",
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
    fn names_are_in_snake_case() {
        assert_eq!(snake_case("ScaledResidual"), "scaled_residual");
        assert_eq!(snake_case("f64"), "f64");
    }
}
