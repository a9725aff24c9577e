//! The arithmetic that GPU kernels and the CPU's code share: one source, so that both give the same bits.
//!
//! | module | what |
//! |---|---|
//! | [`status`] | why an iteration stopped |
//! | [`gmres`] | limits of GMRES |
//! | [`block_cg`] | the small dense matrices of block CG |
//! | [`angle`] | steps of least residual, lengthened |
//! | [`noise`] | numbers that look random |
//! | [`blocks`] | small dense blocks: inverses, norms |
//! | [`smoothing`] | the diagonal that multigrid smooths with |
//! | [`orthonormal`] | the QR decomposition of a few vectors |
//! | [`pivots`] | pivots of incomplete factorisations that are too small |
//! | [`compression`] | a column and a rounded value in 32 bits |
//! | [`coding`] | a column and the number of a value in 32 bits |
//! | [`unroll`](mod@unroll) | loops that vanish on a device |
//! | [`survey`] | what one look at every entry of a matrix finds |
//! | [`cells`] | ionic models of heart cells |
//! | [`stencil`], [`pi`], [`patterns`] | the small programs |
#![cfg_attr(target_arch = "nvptx64", no_std)]

pub mod angle;
pub mod block_cg;
pub mod blocks;
pub mod cells;
pub mod coding;
pub mod compression;
pub mod gmres;
pub mod noise;
pub mod orthonormal;
pub mod patterns;
pub mod pi;
pub mod pivots;
pub mod smoothing;
pub mod status;
pub mod stencil;
pub mod survey;
pub mod unroll;
