//! warpsolve
