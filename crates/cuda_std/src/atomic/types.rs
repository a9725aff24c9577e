//! The types.

use crate::ordering::{Ordering, Scope};
use crate::platform;
use core::cell::UnsafeCell;

/// An ordering that a load can have.
#[track_caller]
fn of_load(order: Ordering) -> Ordering {
    match order {
        Ordering::Relaxed | Ordering::Acquire | Ordering::SeqCst => order,
        _ => panic!("a load releases nothing"),
    }
}

/// An ordering that a store can have.
#[track_caller]
fn of_store(order: Ordering) -> Ordering {
    match order {
        Ordering::Relaxed | Ordering::Release | Ordering::SeqCst => order,
        _ => panic!("a store acquires nothing"),
    }
}

/// Methods that are one operation of the platform, on the bits of the value.
macro_rules! operations {
    ($parts:tt: $($(#[$note:meta])* $name:ident: $platform:ident, $result:tt;)*) => {
        $(operations!(@ $parts [$(#[$note])*] $name $platform $result);)*
    };
    (
        @ [$type:ident $scope:ident [$($safety:ident)?] $t:ty, $bits:ty, $to:expr, $from:expr, $start:literal $operand:literal]
        [$(#[$note:meta])*] $name:ident $platform:ident $result:tt
    ) => {
        $(#[$note])*
        #[doc = example!(
            [$type $($safety)?] $start,
            "assert_eq!(x.", stringify!($name), "(", $operand, ", Ordering::Relaxed), ", $start, ");\n",
            "assert_eq!(x.into_inner(), ", result!($result), ");"
        )]
        #[doc = ""]
        #[doc = safety!($($safety)?)]
        #[inline(always)]
        #[track_caller]
        pub $($safety)? fn $name(&self, value: $t, order: Ordering) -> $t {
            // SAFETY: the cell is valid, and all that use it do so atomically.
            $from(unsafe { platform::$platform(self.bits(), $to(value), Scope::$scope, order) })
        }
    };
}

/// An example: a cell `x` with a value, and what is done with it.
macro_rules! example {
    ([$type:ident] $start:literal, $($code:expr),*) => {
        concat!(
            "\n```\nuse cuda_std::atomic::{", stringify!($type), ", Ordering};\n\n",
            "let x = ", stringify!($type), "::new(", $start, ");\n", $($code,)* "\n```"
        )
    };
    ([$type:ident unsafe] $start:literal, $($code:expr),*) => {
        example!(
            [$type] $start, "// SAFETY: only this thread uses it.\nunsafe {\n", $($code,)* "\n}"
        )
    };
}

/// A result as text: a number, or an expression in brackets.
macro_rules! result {
    ([$($result:tt)*]) => {
        stringify!($($result)*)
    };
    ($result:literal) => {
        $result
    };
}

/// What makes an operation for a block unsafe.
macro_rules! safety {
    () => {
        ""
    };
    (unsafe) => {
        "# Safety\nOnly threads of this block use the cell meanwhile."
    };
}

macro_rules! atomic {
    (
        $name:ident, $scope:ident, $who:literal $($safety:ident)?, $t:ident, $bits:ident, $align:literal,
        $to:expr, $from:expr, $load:ident, $store:ident, $swap:ident, $cas:ident, $start:literal $operand:literal;
        $($operations:tt)*
    ) => {
        #[doc = concat!("A `", stringify!($t), "` that threads of ", $who, " change at the same time.")]
        ///
        /// It is laid out as the number.
        #[doc = example!(
            [$name $($safety)?] $start,
            "x.store(", $operand, ", Ordering::Relaxed);\n",
            "assert_eq!(x.load(Ordering::Relaxed), ", $operand, ");"
        )]
        #[derive(Debug, Default)]
        #[repr(C, align($align))]
        pub struct $name {
            value: UnsafeCell<$t>,
        }

        // SAFETY: it is used by atomic operations alone.
        unsafe impl Sync for $name {}

        impl $name {
            /// With a value.
            #[doc = example!([$name] $start, "assert_eq!(x.into_inner(), ", $start, ");")]
            pub const fn new(value: $t) -> Self {
                Self { value: UnsafeCell::new(value) }
            }

            /// Its value.
            #[doc = example!([$name] $start, "assert_eq!(x.into_inner(), ", $start, ");")]
            pub fn into_inner(self) -> $t {
                self.value.into_inner()
            }

            /// Where its value is.
            #[doc = example!(
                [$name] $start,
                "// SAFETY: nobody else uses it.\n",
                "assert_eq!(unsafe { *x.as_ptr() }, ", $start, ");"
            )]
            pub const fn as_ptr(&self) -> *mut $t {
                self.value.get()
            }

            #[inline(always)]
            fn bits(&self) -> *mut $bits {
                self.value.get().cast()
            }

            /// The value.
            #[doc = example!(
                [$name $($safety)?] $start, "assert_eq!(x.load(Ordering::Acquire), ", $start, ");"
            )]
            ///
            /// # Panics
            /// If the ordering releases something.
            #[doc = ""]
            #[doc = safety!($($safety)?)]
            #[inline(always)]
            #[track_caller]
            pub $($safety)? fn load(&self, order: Ordering) -> $t {
                // SAFETY: the cell is valid, and all that use it do so atomically.
                $from(unsafe { platform::$load(self.bits(), Scope::$scope, of_load(order)) })
            }

            /// Sets the value.
            #[doc = example!(
                [$name $($safety)?] $start,
                "x.store(", $operand, ", Ordering::Release);\n",
                "assert_eq!(x.into_inner(), ", $operand, ");"
            )]
            ///
            /// # Panics
            /// If the ordering acquires something.
            #[doc = ""]
            #[doc = safety!($($safety)?)]
            #[inline(always)]
            #[track_caller]
            pub $($safety)? fn store(&self, value: $t, order: Ordering) {
                // SAFETY: as above.
                unsafe { platform::$store(self.bits(), $to(value), Scope::$scope, of_store(order)) }
            }

            /// Sets the value to `new` if its bits are those of `current`. The result is what was there: `Ok`
            /// if it was set.
            #[doc = example!(
                [$name $($safety)?] $start,
                "let order = Ordering::Relaxed;\n",
                "assert_eq!(x.compare_exchange(", $start, ", ", $operand, ", order, order), Ok(", $start, "));\n",
                "assert_eq!(x.compare_exchange(", $start, ", ", $operand, ", order, order), Err(", $operand, "));"
            )]
            #[doc = ""]
            #[doc = safety!($($safety)?)]
            #[inline(always)]
            #[track_caller]
            pub $($safety)? fn compare_exchange(
                &self,
                current: $t,
                new: $t,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$t, $t> {
                let order = stronger(success, of_load(failure));
                // SAFETY: as above.
                let old = unsafe {
                    platform::$cas(self.bits(), $to(current), $to(new), Scope::$scope, order)
                };
                if old == $to(current) { Ok($from(old)) } else { Err($from(old)) }
            }

            operations! {
                [$name $scope [$($safety)?] $t, $bits, $to, $from, $start $operand]:
                /// Sets the value.
                swap: $swap, $operand;
                $($operations)*
            }
        }
    };
}

/// One ordering for an exchange that may fail.
fn stronger(success: Ordering, failure: Ordering) -> Ordering {
    match (success, failure) {
        (_, Ordering::SeqCst) => Ordering::SeqCst,
        (Ordering::Relaxed, Ordering::Acquire) => Ordering::Acquire,
        (Ordering::Release, Ordering::Acquire) => Ordering::AcqRel,
        _ => success,
    }
}

macro_rules! atomic_in_scopes {
    ($($device:ident $block:ident $system:ident: $parts:tt)*) => {$(
        atomic_in_scopes!(@ $device, Device, "the device",; $parts);
        atomic_in_scopes!(@ $block, Block, "a block", unsafe; $parts);
        atomic_in_scopes!(@ $system, System, "all devices and the host",; $parts);
    )*};
    (@ $name:ident, $scope:ident, $who:literal, $($safety:ident)?; { $($parts:tt)* }) => {
        atomic!($name, $scope, $who $($safety)?, $($parts)*);
    };
}

atomic_in_scopes! {
    AtomicU32 BlockAtomicU32 SystemAtomicU32: {
        u32, u32, 4, |v| v, |b| b, load_atomic_32, store_atomic_32, swap_32, cas_32, 12 10;
        /// Adds, wrapping.
        fetch_add: add_u32, 22;
        /// Subtracts, wrapping.
        fetch_sub: sub_u32, 2;
        /// The bits that both have.
        fetch_and: and_32, 8;
        /// The bits that either has.
        fetch_or: or_32, 14;
        /// The bits that one has.
        fetch_xor: xor_32, 6;
        /// The smaller.
        fetch_min: min_u32, 10;
        /// The larger.
        fetch_max: max_u32, 12;
    }
    AtomicI32 BlockAtomicI32 SystemAtomicI32: {
        i32, u32, 4, |v: i32| v as u32, |b: u32| b as i32, load_atomic_32, store_atomic_32, swap_32, cas_32, 12 10;
        /// Adds, wrapping.
        fetch_add: add_u32, 22;
        /// Subtracts, wrapping.
        fetch_sub: sub_u32, 2;
        /// The bits that both have.
        fetch_and: and_32, 8;
        /// The bits that either has.
        fetch_or: or_32, 14;
        /// The bits that one has.
        fetch_xor: xor_32, 6;
        /// The smaller.
        fetch_min: min_i32, 10;
        /// The larger.
        fetch_max: max_i32, 12;
    }
    AtomicU64 BlockAtomicU64 SystemAtomicU64: {
        u64, u64, 8, |v| v, |b| b, load_atomic_64, store_atomic_64, swap_64, cas_64, 12 10;
        /// Adds, wrapping.
        fetch_add: add_u64, 22;
        /// Subtracts, wrapping.
        fetch_sub: sub_u64, 2;
        /// The bits that both have.
        fetch_and: and_64, 8;
        /// The bits that either has.
        fetch_or: or_64, 14;
        /// The bits that one has.
        fetch_xor: xor_64, 6;
        /// The smaller.
        fetch_min: min_u64, 10;
        /// The larger.
        fetch_max: max_u64, 12;
    }
    AtomicI64 BlockAtomicI64 SystemAtomicI64: {
        i64, u64, 8, |v: i64| v as u64, |b: u64| b as i64, load_atomic_64, store_atomic_64, swap_64, cas_64, 12 10;
        /// Adds, wrapping.
        fetch_add: add_u64, 22;
        /// Subtracts, wrapping.
        fetch_sub: sub_u64, 2;
        /// The bits that both have.
        fetch_and: and_64, 8;
        /// The bits that either has.
        fetch_or: or_64, 14;
        /// The bits that one has.
        fetch_xor: xor_64, 6;
        /// The smaller.
        fetch_min: min_i64, 10;
        /// The larger.
        fetch_max: max_i64, 12;
    }
    AtomicF32 BlockAtomicF32 SystemAtomicF32: {
        f32, u32, 4, f32::to_bits, f32::from_bits, load_atomic_32, store_atomic_32, swap_32, cas_32, 1.5 1.0;
        /// Adds, rounded to nearest. Subnormal numbers count as zero on a device, in global memory.
        fetch_add: add_f32, 2.5;
        /// Subtracts, rounded to nearest: adds the negative number.
        fetch_sub: sub_f32, 0.5;
        /// The bits that both have.
        fetch_and: and_32, 1.0;
        /// The bits that either has.
        fetch_or: or_32, 1.5;
        /// The bits that one has.
        fetch_xor: xor_32, [f32::from_bits(0x0040_0000)];
    }
    AtomicF64 BlockAtomicF64 SystemAtomicF64: {
        f64, u64, 8, f64::to_bits, f64::from_bits, load_atomic_64, store_atomic_64, swap_64, cas_64, 1.5 1.0;
        /// Adds, rounded to nearest.
        fetch_add: add_f64, 2.5;
        /// Subtracts, rounded to nearest: adds the negative number.
        fetch_sub: sub_f64, 0.5;
        /// The bits that both have.
        fetch_and: and_64, 1.0;
        /// The bits that either has.
        fetch_or: or_64, 1.5;
        /// The bits that one has.
        fetch_xor: xor_64, [f64::from_bits(0x0008_0000_0000_0000)];
    }
}
