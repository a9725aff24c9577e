//! PTX as text: what is kept of the compiler's output.

use std::collections::BTreeSet;

/// Names of variables that are in shared memory: see `cuda_std::address_space`.
const SHARED_VARIABLE: &str = "cuda_std_shared_";
/// The name of dynamic shared memory: see `cuda_std::shared::dynamic_shared_mem`.
const DYNAMIC_SHARED: &str = "cuda_std_dynamic_shared";

/// Names of arrays in shared memory, which end with their bytes: see `cuda_std::shared!`.
const SHARED_ARRAY: &str = "cuda_std_array_";

/// The declarations of the arrays that are used.
fn arrays(ptx: &str) -> String {
    let names =
        ptx.match_indices(SHARED_ARRAY).filter_map(|(at, _)| ptx[at..].split([';', ' ', '\n']).next());
    let sizes = names.filter_map(|name| name.rsplit_once('_').map(|(_, bytes)| (name, bytes)));
    let declare = |(name, bytes)| format!(".shared .align 16 .b8 {name}[{bytes}];\n");
    sizes.collect::<BTreeSet<_>>().into_iter().map(declare).collect()
}

/// Puts into shared memory what `cuda_std` wants there, and Rust declares in global memory or not at all.
pub(crate) fn move_to_shared(ptx: &str) -> String {
    let mut moved = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        match line.strip_prefix(".visible .global ") {
            Some(variable) if variable.contains(SHARED_VARIABLE) => {
                moved.push_str(".shared ");
                moved.push_str(variable);
            }
            _ => moved.push_str(line),
        }
        moved.push('\n');
        if line.starts_with(".address_size") {
            if ptx.contains(DYNAMIC_SHARED) {
                moved.push_str(&format!(".extern .shared .align 16 .b8 {DYNAMIC_SHARED}[];\n"));
            }
            moved.push_str(&arrays(ptx));
        }
    }
    moved
}

/// The beginning of the declaration of `memcmp`, which `core` calls, and for which LLVM has no code of its
/// own.
const MEMCMP: &str = ".extern .func  (.param .b32 func_retval0) memcmp";
/// Its code.
const MEMCMP_BODY: &str = include_str!("memcmp.ptx");

/// Gives the routines that are declared and not there their code.
pub(crate) fn complete(ptx: &str) -> String {
    if !ptx.contains(MEMCMP) {
        return ptx.to_owned();
    }
    ptx.replace(MEMCMP, &MEMCMP[".extern ".len()..]) + MEMCMP_BODY
}

/// Removes comments and blank lines, and debug directives unless `lines` are wanted, which hold nothing but
/// names of files and of the compiler; what is left is the same on every machine.
pub(crate) fn strip(ptx: &str, lines: bool) -> String {
    let mut stripped = String::with_capacity(ptx.len());
    let mut debug_section = false;
    for line in ptx.lines() {
        let first = line.split_whitespace().next().unwrap_or_default();
        // Names of files may have slashes in them.
        let line =
            if first == ".file" { line } else { line.split("//").next().unwrap_or_default() }.trim_end();
        let word = line.split_whitespace().next().unwrap_or_default();
        if word == ".section" {
            debug_section = true;
        }
        let debug = debug_section || !lines && (word == ".file" || word == ".loc");
        if !(debug || word.is_empty()) {
            stripped.push_str(line);
            stripped.push('\n');
        }
        if debug_section && line.ends_with('}') {
            debug_section = false;
        }
    }
    stripped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memcmp_is_there_where_it_is_called() {
        let ptx = format!("{MEMCMP}\n(\n\t.param .b64 memcmp_param_0\n)\n;\n");
        let completed = complete(&ptx);
        assert!(completed.starts_with(".func  (.param .b32 func_retval0) memcmp\n(\n"), "{completed}");
        assert_eq!(completed.matches("memcmp(").count(), 1);
        assert_eq!(complete(".visible .entry k()\n"), ".visible .entry k()\n");
    }

    #[test]
    fn shared_variables_move() {
        let ptx = ".address_size 64\n.visible .global .align 4 .b8 cuda_std_shared_k_0[64];\n\
                   .visible .global .align 4 .b8 other[4];\nmov.u64 a, cuda_std_dynamic_shared;\n";
        assert_eq!(
            move_to_shared(ptx),
            ".address_size 64\n.extern .shared .align 16 .b8 cuda_std_dynamic_shared[];\n\
             .shared .align 4 .b8 cuda_std_shared_k_0[64];\n.visible .global .align 4 .b8 other[4];\n\
             mov.u64 a, cuda_std_dynamic_shared;\n"
        );
    }

    #[test]
    fn arrays_are_declared_once_for_each_size() {
        let ptx = ".address_size 64\nmov.u32 %r1, cuda_std_array_shared_k_0_512;\n\
                   mov.u32 %r2, cuda_std_array_shared_k_0_256;\nmov.u32 %r3, cuda_std_array_shared_k_0_512;\n";
        assert_eq!(
            arrays(ptx),
            ".shared .align 16 .b8 cuda_std_array_shared_k_0_256[256];\n\
             .shared .align 16 .b8 cuda_std_array_shared_k_0_512[512];\n"
        );
        assert!(move_to_shared(ptx).starts_with(".address_size 64\n.shared .align 16"));
    }

    #[test]
    fn paths_and_comments_go_and_code_stays() {
        let ptx = "//\n// Generated by LLVM NVPTX Back-End\n//\n\n.version 7.8\r\n.target sm_90, debug\n\
                   \t// .globl\tscale\n.visible .entry scale()\n{\n\t.loc\t1 7 3\n\
                   $L__BB0_1: // /home/me/src/lib.rs:7\n\tbar.sync \t0;\n\tret;\n\n}\n\
                   .file\t1 \"/home/me/src/lib.rs\"\n.section\t.debug_str\n{\n.b8 47\n}\n.extern .func f;\n";
        assert_eq!(
            strip(ptx, false),
            ".version 7.8\n.target sm_90, debug\n.visible .entry scale()\n{\n$L__BB0_1:\n\tbar.sync \t0;\n\tret;\n}\n\
             .extern .func f;\n"
        );
        let lines: Vec<String> = strip(ptx, true).lines().map(|line| line.trim().to_owned()).collect();
        assert!(
            lines.contains(&".loc\t1 7 3".to_owned()) && lines.iter().any(|line| line.starts_with(".file"))
        );
    }
}
