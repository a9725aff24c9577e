//! What programs must know of a method that they offer by name.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::direct::Outlook;
use crate::precond::{Precond, SingularBlocks};

/// A method, before there is a matrix. Each is in the file of its method, and [`Method`](super::Method) lists
/// them.
pub struct Description {
    /// On command lines and in reports: "gmres".
    pub name: &'static str,
    /// What the name stands for, in lists of choices; empty where everybody knows it.
    pub doc: &'static str,
    /// For people: "GMRES".
    pub title: &'static str,
    /// What follows the title where parameters are shown: "(30)".
    pub title_parameters: fn(&Parameters) -> String,
    /// Those of [`Parameters`] that it alone takes.
    pub parameters: &'static [Parameter],
    /// What it is preconditioned with.
    pub takes: Takes,
    /// Whether matrix and preconditioner must be symmetric.
    pub needs_symmetry: bool,
    /// Whether residual norms may not grow, so that one cut short has nothing worse than its start.
    pub descends: bool,
    /// Whether it computes on the host, with the whole matrix.
    pub is_on_host: bool,
    /// The name of a method to try where this one breaks down.
    pub after_breakdown: Option<&'static str>,
    /// Vectors of length n in its workspace, with a preconditioner that is fused or not:
    /// [`Preconditioner::shape`](crate::precond::Preconditioner::shape).
    pub vectors: fn(&Parameters, is_fused: bool) -> usize,
}

/// The parameters of all methods.
#[derive(Debug, Clone)]
pub struct Parameters {
    /// Longest cycle of GMRES.
    pub restart: usize,
    /// Weight of the Jacobi method.
    pub omega: f64,
    /// Unknowns a node: with more than 1 the Jacobi method is that of blocks.
    pub block_size: usize,
    /// What that makes of singular blocks.
    pub singular_blocks: SingularBlocks,
    /// What is known of a factorisation.
    pub outlook: Outlook,
    /// Whether a factorisation is left that takes much longer than was predicted.
    pub is_bound: bool,
    /// Ends what cannot be asked for its progress, when it is raised.
    pub cancelled: Arc<AtomicBool>,
}

/// A parameter that a method takes.
pub struct Parameter {
    /// The option of this name sets it.
    pub name: &'static str,
    /// What it is, and what it can be.
    pub doc: &'static str,
}

/// The preconditioners of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Any.
    Any,
    /// This one alone: the method is its iteration.
    Only(Precond),
    /// None: the method is the iteration of this one, which it makes itself.
    Own(Precond),
}

impl Description {
    /// A method of any preconditioner, for any matrix, without parameters.
    pub(super) const fn new(
        name: &'static str,
        title: &'static str,
        vectors: fn(&Parameters, is_fused: bool) -> usize,
    ) -> Description {
        Description {
            name,
            doc: "",
            title,
            title_parameters: |_| String::new(),
            parameters: &[],
            takes: Takes::Any,
            needs_symmetry: false,
            descends: false,
            is_on_host: false,
            after_breakdown: None,
            vectors,
        }
    }

    /// The title with the parameters: "GMRES(30)".
    pub fn full_title(&self, parameters: &Parameters) -> String {
        format!("{}{}", self.title, (self.title_parameters)(parameters))
    }

    /// Whether it is the iteration of one preconditioner.
    pub fn is_stationary(&self) -> bool {
        self.takes != Takes::Any
    }

    /// The preconditioner that it makes itself.
    pub fn own_preconditioner(&self) -> Option<Precond> {
        match self.takes {
            Takes::Own(own) => Some(own),
            Takes::Any | Takes::Only(_) => None,
        }
    }

    /// Whether it takes the parameter of this name.
    pub fn takes_parameter(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == name)
    }
}
