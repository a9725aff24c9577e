//! `#[kernel]`.

use crate::module;
use crate::parameter::Parameter;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{
    Error, Expr, FnArg, GenericParam, ItemFn, Lit, Pat, Result, Token, Type, Visibility, bracketed,
    custom_keyword,
};

/// `cuda_std::BATCH`.
const BATCH: u32 = 8;

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

custom_keyword!(needs);

/// Whether it reads `sm_90`.
fn is_target(name: &str) -> bool {
    name.strip_prefix("sm_").is_some_and(|number| number.len() > 1 && number.parse::<u32>().is_ok())
}

/// What stands in the parentheses of `#[kernel(..)]`, in any order.
#[derive(Default)]
struct Attribute {
    lists: Vec<List>,
    /// The body calls `grid_dependency_wait` itself.
    waits: bool,
    /// Several launches can be made at once.
    batched: bool,
    /// The oldest target that can run it, "sm_90".
    needs: Option<String>,
}

impl Parse for Attribute {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut attribute = Self::default();
        while !input.is_empty() {
            if input.peek(needs) {
                input.parse::<needs>()?;
                input.parse::<Token![=]>()?;
                let target: Ident = input.parse()?;
                if !is_target(&target.to_string()) {
                    return Err(Error::new_spanned(target, "expected a target, such as sm_90"));
                }
                attribute.needs = Some(target.to_string());
            } else if input.peek2(Token![=]) {
                attribute.lists.push(input.parse()?);
            } else {
                let word: Ident = input.parse()?;
                match &*word.to_string() {
                    "waits" => attribute.waits = true,
                    "batched" => attribute.batched = true,
                    _ => {
                        let expected = "expected `waits`, `batched` or a list: T = [..]";
                        return Err(Error::new_spanned(word, expected));
                    }
                }
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

impl Entry {
    /// That of several launches at once.
    fn batch_name(&self) -> String {
        format!("{}_batch", self.name)
    }
}

/// A kernel taken apart.
struct Kernel {
    function: ItemFn,
    /// The value parameters.
    values: Vec<Parameter>,
    /// `T, E, W`
    parameters: Vec<Ident>,
    entries: Vec<Entry>,
    waits: bool,
    batched: bool,
    needs: Option<String>,
}

pub fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let kernel = Kernel::new(syn::parse2(item)?, syn::parse2(attribute)?)?;
    let (body, device) = (kernel.body(), kernel.device());
    let host = (!kernel.borrows()).then(|| kernel.host());
    Ok(quote! { #body #device #host })
}

impl Kernel {
    fn new(function: ItemFn, Attribute { lists, waits, batched, needs }: Attribute) -> Result<Self> {
        let signature = &function.sig;
        if !matches!(signature.safety, syn::Safety::Unsafe(_)) {
            return Err(Error::new_spanned(signature.fn_token, "a kernel is an `unsafe fn`"));
        }
        if let syn::ReturnType::Type(_, output) = &signature.output {
            return Err(Error::new_spanned(output, "a kernel returns nothing"));
        }
        let mut values = Vec::new();
        for input in &signature.inputs {
            match input {
                FnArg::Typed(argument) => match &*argument.pat {
                    Pat::Ident(name) => {
                        values.push(Parameter::new(name.ident.clone(), (*argument.ty).clone()))
                    }
                    other => return Err(Error::new_spanned(other, "a kernel's parameters are plain names")),
                },
                other => return Err(Error::new_spanned(other, "a kernel is no method")),
            }
        }
        if batched && let Some(reference) = values.iter().find_map(Parameter::reference) {
            return Err(Error::new_spanned(reference.0, "a batched kernel takes pointers, not references"));
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
        Ok(Self { function, values, parameters, entries, waits, batched, needs })
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
        let Self { values, parameters, .. } = self;
        let ident = &self.function.sig.ident;
        let wait = self.wait();
        let (passed, given): (Vec<_>, Vec<_>) = values.iter().map(Parameter::entry).unzip();
        let copied: Vec<_> = values.iter().map(Parameter::copied).collect();
        let place = match &self.needs {
            Some(target) => quote!(all(target_arch = "nvptx64", target_feature = #target)),
            None => quote!(target_arch = "nvptx64"),
        };
        let entries = self.entries.iter().map(|Entry { name, bindings }| {
            quote! {
                #[cfg(#place)]
                const _: () = {
                    #(#bindings)*
                    #[unsafe(export_name = #name)]
                    #[allow(improper_ctypes_definitions)]
                    unsafe extern "ptx-kernel" fn entry(#(#passed),*) {
                        #(#copied)*
                        ::cuda_std::thread::grid_dependency_launch();
                        #wait
                        // SAFETY: the same conditions as this function's.
                        unsafe { #ident::<#(#parameters),*>(#(#given),*) }
                    }
                };
            }
        });
        let batches = self.batched.then(|| self.entries.iter().map(|entry| self.batch(entry, &place)));
        let batches = batches.into_iter().flatten();
        quote! { #(#entries)* #(#batches)* }
    }

    /// The entry point of several launches at once: the blocks with the same index along y are one of them.
    fn batch(&self, entry: &Entry, place: &TokenStream) -> TokenStream {
        let Self { values, parameters, .. } = self;
        let (ident, wait) = (&self.function.sig.ident, self.wait());
        let (name, bindings) = (entry.batch_name(), &entry.bindings);
        let names: Vec<_> = values.iter().map(|value| &value.name).collect();
        let types: Vec<_> = values.iter().map(Parameter::field).collect();
        // A place that is known when it is compiled: the array would go through local memory otherwise.
        let others = 1..BATCH;
        quote! {
            #[cfg(#place)]
            const _: () = {
                #(#bindings)*
                #[repr(C)]
                #[derive(Clone, Copy)]
                struct Arguments { #(#names: #types,)* }
                #[unsafe(export_name = #name)]
                #[allow(improper_ctypes_definitions)]
                unsafe extern "ptx-kernel" fn entry(batch: [Arguments; #BATCH as usize]) {
                    ::cuda_std::thread::grid_dependency_launch();
                    #wait
                    let Arguments { #(#names),* } = match ::cuda_std::thread::block_idx_y() {
                        #(#others => batch[#others as usize],)*
                        _ => batch[0],
                    };
                    // SAFETY: the same conditions as this function's.
                    unsafe { #ident::<#(#parameters),*>(#(#names),*) }
                }
            };
        }
    }

    /// Whether an argument is a reference other than a slice. A struct cannot have it as a field: what it
    /// refers to may have lifetimes that are not written.
    fn borrows(&self) -> bool {
        self.values.iter().any(|value| matches!(value.reference(), Some((_, None))))
    }

    /// The struct of arguments.
    fn host(&self) -> TokenStream {
        let Self { values, parameters, .. } = self;
        let signature = &self.function.sig;
        let ident = &signature.ident;
        let visibility = &self.function.vis;
        // A kernel of rust-cuda's may be exported beside its module; those have no instances.
        let alone = parameters.is_empty() && module::is_named(&ident.to_string());
        let struct_visibility = if alone { &Visibility::Inherited } else { visibility };
        let names: Vec<_> = values.iter().map(|value| &value.name).collect();
        let types: Vec<_> = values.iter().map(Parameter::field).collect();
        let passed: Vec<_> = values.iter().map(Parameter::passed).collect();
        let given: Vec<_> = values.iter().map(Parameter::given).collect();
        let copied: Vec<_> = values.iter().map(Parameter::copied).collect();
        let docs = self.function.attrs.iter().filter(|a| a.path().is_ident("doc"));
        let wait = self.wait();
        let (generics, type_generics, predicates) = signature.generics.split_for_impl();
        let predicates = predicates.map(|p| p.predicates.to_token_stream());
        let type_parameters: Vec<_> = signature.generics.type_params().map(|t| &t.ident).collect();
        let entry_names: Vec<_> = self.entries.iter().map(|e| e.name.clone()).collect();
        let batch_names: Vec<_> = match self.batched {
            true => self.entries.iter().map(Entry::batch_name).collect(),
            false => Vec::new(),
        };
        let layout = self.batched.then(|| quote!(#[repr(C)]));
        let list_name = format_ident!("{}_ENTRIES", ident.to_string().to_uppercase());
        let list_doc = format!("Entry points of [`{ident}`](fn@{ident}) in the PTX module.");

        // A parameter that no argument's type mentions still has to appear in the struct.
        let used: String = types.iter().map(|t| format!(" {t} ")).collect();
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
        let identity_types = signature.generics.params.iter().map(|p| match p {
            GenericParam::Const(c) => c.ty.to_token_stream(),
            _ => quote!(::core::any::TypeId),
        });
        let identity_types: Vec<_> = identity_types.collect();
        let choose = |names: &[String]| {
            if parameters.is_empty() {
                let name = &names[0];
                quote!(#name)
            } else {
                let tests = self.entries.iter().zip(names).map(|(Entry { bindings, .. }, name)| {
                    quote! {{
                        #(#bindings)*
                        if wanted == #identity {
                            return Some(#name);
                        }
                    }}
                });
                let all = entry_names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(", ");
                // A function without parameters of its own: compiled once, not for every instance.
                quote! {
                    fn compiled(wanted: (#(#identity_types,)*)) -> ::core::option::Option<&'static str> {
                        #(#tests)*
                        None
                    }
                    let not_compiled =
                        || ::cuda_std::host::not_compiled(::core::any::type_name::<Self>(), #all);
                    compiled(#identity).unwrap_or_else(not_compiled)
                }
            }
        };
        let choice = choose(&entry_names);
        let batch = self.batched.then(|| {
            let name = choose(&batch_names);
            quote! {
                fn batched(&self) -> ::core::option::Option<::cuda_std::host::Batched<'_>> {
                    Some(::cuda_std::host::Batched::of(self, { #name }))
                }
            }
        });
        quote! {
            #[cfg(not(target_arch = "nvptx64"))]
            #(#docs)*
            #[allow(non_camel_case_types, missing_docs)]
            #layout
            #struct_visibility struct #ident #generics where #predicates {
                #(pub #names: #types,)*
                #marker
            }

            #[cfg(not(target_arch = "nvptx64"))]
            #[doc = #list_doc]
            #visibility const #list_name: &[&str] = &[#(#entry_names,)* #(#batch_names),*];

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
                        ::cuda_std::host::pass([#(#passed),*], use_them)
                    }
                    #batch
                    unsafe fn run(&self) {
                        #(#copied)*
                        #wait
                        // SAFETY: the same conditions as this function's.
                        unsafe { #ident::<#(#parameters),*>(#(#given),*) }
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
        other => {
            Err(Error::new_spanned(other, "leave the lifetime out: a kernel's references live for as long"))
        }
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
mod tests;
