//! cuda_std_macros
