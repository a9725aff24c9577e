//! What a kernel is compiled for.
//!
//! ```
//! # use cuda_std::cfg::ComputeCapability;
//! // Two ways to do something, of which the kernel has the one for its target.
//! let stages = match ComputeCapability::from_cuda_arch_env() {
//!     ComputeCapability::Compute70 | ComputeCapability::Compute75 => 1,
//!     _ => 3,
//! };
//! assert_eq!(stages, 1); // on the host
//! ```
#![allow(unexpected_cfgs, reason = "targets that compilers for the host do not know")]

macro_rules! capabilities {
    ($($name:ident $feature:literal $text:literal;)*) => {
        /// A compute capability.
        ///
        /// ```
        /// # use cuda_std::cfg::ComputeCapability;
        /// assert!(ComputeCapability::Compute90 > ComputeCapability::Compute86);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ComputeCapability {
            $(#[doc = $text] $name,)*
        }

        impl ComputeCapability {
            /// What the kernel is compiled for, known when it is compiled: of two branches only one is left.
            ///
            /// On the host it is 7.0, the least that kernels are compiled for.
            ///
            /// ```
            /// # use cuda_std::cfg::ComputeCapability;
            /// assert_eq!(ComputeCapability::from_cuda_arch_env(), ComputeCapability::Compute70); // on the host
            /// ```
            #[inline(always)]
            pub fn from_cuda_arch_env() -> Self {
                #[allow(unused_mut)]
                let mut newest = ComputeCapability::Compute70;
                $(
                    #[cfg(target_feature = $feature)]
                    if newest < ComputeCapability::$name {
                        newest = ComputeCapability::$name;
                    }
                )*
                newest
            }
        }
    };
}

capabilities! {
    Compute35 "sm_35" "3.5";
    Compute37 "sm_37" "3.7";
    Compute50 "sm_50" "5.0";
    Compute52 "sm_52" "5.2";
    Compute53 "sm_53" "5.3";
    Compute60 "sm_60" "6.0";
    Compute61 "sm_61" "6.1";
    Compute62 "sm_62" "6.2";
    Compute70 "sm_70" "7.0";
    Compute72 "sm_72" "7.2";
    Compute75 "sm_75" "7.5";
    Compute80 "sm_80" "8.0";
    Compute86 "sm_86" "8.6";
    Compute87 "sm_87" "8.7";
    Compute89 "sm_89" "8.9";
    Compute90 "sm_90" "9.0";
    Compute100 "sm_100" "10.0";
    Compute103 "sm_103" "10.3";
    Compute120 "sm_120" "12.0";
    Compute121 "sm_121" "12.1";
}
