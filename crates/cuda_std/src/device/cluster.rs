//! Clusters of blocks. The barrier is not one of the aligned kind, which all threads of a warp must execute
//! together: it may be duplicated.

use super::shared::SharedBase;
use core::arch::asm;

macro_rules! registers {
    ($($name:ident $register:literal;)*) => {$(
        #[inline(always)]
        pub fn $name() -> u32 {
            let value: u32;
            // SAFETY: reads a special register.
            unsafe { asm!(concat!("mov.u32 {}, ", $register, ";"), out(reg32) value, options(pure, nomem, nostack)) };
            value
        }
    )*};
}

registers! {
    cluster_block_rank "%cluster_ctarank";
    cluster_num_blocks "%cluster_nctarank";
    cluster_block_idx_x "%cluster_ctaid.x";
    cluster_block_idx_y "%cluster_ctaid.y";
    cluster_block_idx_z "%cluster_ctaid.z";
    cluster_block_dim_x "%cluster_nctaid.x";
    cluster_block_dim_y "%cluster_nctaid.y";
    cluster_block_dim_z "%cluster_nctaid.z";
}

#[inline(always)]
pub fn cluster_block_idx() -> [u32; 3] {
    [cluster_block_idx_x(), cluster_block_idx_y(), cluster_block_idx_z()]
}

#[inline(always)]
pub fn cluster_block_dim() -> [u32; 3] {
    [cluster_block_dim_x(), cluster_block_dim_y(), cluster_block_dim_z()]
}

/// It releases what came before, and the wait acquires it: that is so where nothing else is said.
#[inline(always)]
pub fn cluster_arrive() {
    // SAFETY: a barrier has no conditions but that all threads come.
    unsafe { asm!("barrier.cluster.arrive;", options(nostack, preserves_flags)) }
}

#[inline(always)]
pub fn cluster_wait() {
    // SAFETY: as above.
    unsafe { asm!("barrier.cluster.wait;", options(nostack, preserves_flags)) }
}

/// An address in the window of the cluster, for instructions that say `shared::cluster`.
#[inline(always)]
pub unsafe fn map_shared(base: SharedBase, rank: u32) -> SharedBase {
    let mapped: SharedBase;
    // SAFETY: makes an address.
    unsafe {
        asm!(
            "mapa.shared::cluster.u32 {}, {}, {};",
            out(reg32) mapped, in(reg32) base, in(reg32) rank, options(pure, nomem, nostack, preserves_flags)
        );
    }
    mapped
}

macro_rules! accesses {
    ($bits:ty, $register:ty, $class:ident, $suffix:literal, $load:ident, $store:ident) => {
        #[inline(always)]
        pub unsafe fn $load(base: SharedBase, i: usize) -> $bits {
            let value: $register;
            let address = base + i as u32 * size_of::<$bits>() as u32;
            // SAFETY: the caller's promise.
            unsafe {
                asm!(
                    concat!("ld.shared::cluster", $suffix, " {}, [{}];"),
                    out($class) value, in(reg32) address, options(readonly, nostack, preserves_flags)
                );
            }
            value as $bits
        }

        #[inline(always)]
        pub unsafe fn $store(base: SharedBase, i: usize, value: $bits) {
            let address = base + i as u32 * size_of::<$bits>() as u32;
            // SAFETY: the caller's promise.
            unsafe {
                asm!(
                    concat!("st.shared::cluster", $suffix, " [{}], {};"),
                    in(reg32) address, in($class) value as $register, options(nostack, preserves_flags)
                );
            }
        }
    };
}

accesses!(u8, u16, reg16, ".b8", load_cluster_8, store_cluster_8);
accesses!(u16, u16, reg16, ".b16", load_cluster_16, store_cluster_16);
accesses!(u32, u32, reg32, ".b32", load_cluster_32, store_cluster_32);
accesses!(u64, u64, reg64, ".b64", load_cluster_64, store_cluster_64);

#[inline(always)]
pub unsafe fn atomic_add_cluster(base: SharedBase, i: usize, value: u32) -> u32 {
    let old: u32;
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "atom.relaxed.cluster.shared::cluster.add.u32 {old}, [{address}], {value};",
            old = out(reg32) old, address = in(reg32) base + i as u32 * 4, value = in(reg32) value,
            options(nostack, preserves_flags)
        );
    }
    old
}
