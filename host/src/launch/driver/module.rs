//! A PTX module cut into modules of one kernel each.
//!
//! The driver translates all of a module before the first of its kernels runs: seconds for a hundred
//! kernels, of which a solve uses ten. A kernel alone takes milliseconds.
//!
//! What rustc's NVPTX backend writes is cut without a parser:
//!
//! ```text
//! .version 7.8                             directives, for every kernel
//! .target sm_90
//! .address_size 64
//! .shared .align 16 .b8 buffer[2112];      declarations, one a line, for the kernels that mention them
//! .visible .entry axpby_f32(               kernels, each up to the next
//! ```
//!
//! It is complete for kernels that call nothing (tests/ptx.rs asserts that of all of them) and that share
//! no `.global` variable, which would become one variable for each.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// What stands before the name of a kernel.
const ENTRY: &str = ".visible .entry ";

/// A PTX module and where its kernels are.
pub(super) struct Modules {
    text: Cow<'static, str>,
    /// What stands before the first kernel.
    header: Range<usize>,
    entries: HashMap<String, Range<usize>>,
}

impl Modules {
    /// Finds the kernels of a module.
    pub(super) fn of(text: Cow<'static, str>) -> Modules {
        let starts: Vec<usize> = text.match_indices(ENTRY).map(|(at, _)| at).collect();
        let ends = starts.iter().skip(1).copied().chain([text.len()]);
        let entries = starts.iter().zip(ends).filter_map(|(&start, end)| {
            let (name, _) = text[start + ENTRY.len()..end].split_once('(')?;
            Some((name.trim().to_owned(), start..end))
        });
        let entries = entries.collect();
        let header = 0..starts.first().copied().unwrap_or(text.len());
        Modules { text, header, entries }
    }

    /// The text of one kernel.
    pub(super) fn entry(&self, name: &str) -> Option<&str> {
        Some(&self.text[self.entries.get(name)?.clone()])
    }

    /// The module of one kernel: the directives, the declarations it needs, and itself.
    ///
    /// Static shared memory is counted by declarations, so that those of other kernels must not come along.
    pub(super) fn module(&self, name: &str) -> Option<String> {
        let entry = self.entry(name)?;
        let mut mentioned: HashSet<&str> = words(entry).collect();
        // A declaration may mention only those before it.
        let mut header: Vec<&str> = self.text[self.header.clone()].lines().rev().collect();
        header.retain(|line| match declared(line) {
            None => true,
            Some(name) => {
                let needed = mentioned.contains(name);
                if needed {
                    mentioned.extend(words(line));
                }
                needed
            }
        });
        let lines = header.into_iter().rev().flat_map(|line| [line, "\n"]);
        Some(lines.chain([entry]).collect())
    }

    /// The name of the kernel with the least text, which translates fastest.
    pub(super) fn shortest(&self) -> Option<&str> {
        // By the name too: the order of a hash map is another one in every run.
        let entries = self.entries.iter().min_by_key(|(name, range)| (range.len(), *name));
        entries.map(|(name, _)| name.as_str())
    }
}

/// `buffer` of ".shared .align 16 .b8 buffer[2112];"; None for a directive, which has no semicolon.
fn declared(line: &str) -> Option<&str> {
    let declaration = line.trim_end().strip_suffix(';')?;
    declaration.split(['[', '=']).next()?.split_whitespace().last()
}

/// The identifiers in a text, and its numbers and keywords.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_builder::Ptxas;
    use std::collections::{BTreeSet, HashSet};
    use std::path::Path;
    use std::process::Command;

    const DIRECTIVES: &str = ".version 7.8\n.target sm_90\n.address_size 64\n";
    const FIRST: &str = ".visible .entry first(\n\t.param .u32 p\n)\n{\n\tmov.u32 %r1, array_10;\n}\n";
    const PLAIN: &str = ".visible .entry plain()\n{\n\tret;\n}\n";
    const AGAIN: &str =
        ".visible .entry first_again(\n\t.param .u32 array_1_p\n)\n{\n\tld.global.u64 %rd1, [table+8];\n}\n";

    #[test]
    fn a_kernel_comes_with_what_it_mentions() {
        let rest = ".extern .shared .align 16 .b8 rest[];\n";
        let one = ".shared .align 16 .b8 array_1[8];\n";
        let ten = ".shared .align 16 .b8 array_10[16];\n";
        let table = ".global .align 8 .u64 table[2] = {generic(rest), 0};\n";
        let modules = Modules::of([DIRECTIVES, rest, one, ten, table, FIRST, PLAIN, AGAIN].concat().into());
        assert_eq!(modules.module("first").unwrap(), [DIRECTIVES, ten, FIRST].concat());
        assert_eq!(modules.module("plain").unwrap(), [DIRECTIVES, PLAIN].concat());
        assert_eq!(modules.module("first_again").unwrap(), [DIRECTIVES, rest, table, AGAIN].concat());
        assert_eq!(modules.module("firs"), None);
        assert_eq!(modules.shortest(), Some("plain"));
        let empty = Modules::of(DIRECTIVES.into());
        assert_eq!((empty.module("first"), empty.shortest()), (None, None));
    }

    /// The kept PTX of gpu-kernels: target and text.
    fn kept() -> [(&'static str, String); 2] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu-kernels/ptx");
        ["sm_70", "sm_90"].map(|target| {
            let text = std::fs::read_to_string(folder.join(format!("{target}.ptx"))).unwrap();
            (target, text)
        })
    }

    #[test]
    fn the_kernels_of_gpu_kernels_are_cut_without_a_rest() {
        for (target, text) in kept() {
            let modules = Modules::of(text.clone().into());
            assert!(modules.entries.len() > 50, "{target}: {} kernels", modules.entries.len());
            assert_eq!(modules.entries.len(), text.matches(".entry").count(), "{target}");
            let header: Vec<&str> = text[modules.header.clone()].lines().collect();
            let (declarations, directives): (Vec<&str>, Vec<&str>) =
                header.iter().partition(|line| declared(line).is_some());
            assert_eq!(directives.len(), 3, "{target}: {directives:?}");
            assert!(declarations.iter().all(|line| line.starts_with(".shared ")), "{declarations:?}");
            let mut unused: BTreeSet<&str> = declarations.iter().copied().collect();
            let mut length = text[modules.header.clone()].len();
            for (name, range) in &modules.entries {
                let module = modules.module(name).unwrap();
                let entry = &text[range.clone()];
                assert!(module.starts_with(&(directives.join("\n") + "\n")), "{target} {name}: {module}");
                assert!(module.ends_with(entry) && entry.trim_end().ends_with('}'), "{target} {name}");
                assert_eq!(module.matches(".entry").count(), 1, "{target} {name}");
                let words: HashSet<&str> = words(entry).collect();
                let lines: HashSet<&str> = module.lines().collect();
                for line in &declarations {
                    let mentions = declared(line).is_some_and(|name| words.contains(name));
                    assert_eq!(lines.contains(line), mentions, "{target} {name}: {line}");
                    if mentions {
                        unused.remove(line);
                    }
                }
                length += entry.len();
            }
            assert_eq!(length, text.len(), "{target}: text between the kernels");
            assert!(unused.is_empty(), "{target}: no kernel mentions {unused:?}");
        }
    }

    #[test]
    fn ptxas_takes_every_kernel_alone_with_its_own_shared_memory() {
        let Some(Ptxas { path: ptxas, .. }) = Ptxas::find().unwrap() else {
            println!(
                "skipped: no ptxas in WARPSOLVE_PTXAS, on the PATH or in Python's packages (nvidia-cuda-nvcc)"
            );
            return;
        };
        use rayon::prelude::*;
        let folder = tempfile::tempdir().unwrap();
        // Today's ptxas does not know devices as old as sm_70; any newer one takes its PTX.
        for ((target, text), device) in kept().into_iter().zip(["sm_75", "sm_90"]) {
            let modules = Modules::of(text.into());
            let is_first = device == "sm_75";
            modules.entries.par_iter().for_each(|(name, _)| {
                let module = modules.module(name).unwrap();
                // What the first target has seen need not be seen again where nothing is shared.
                if !is_first && !module.contains(".shared ") {
                    return;
                }
                let file = folder.path().join(format!("{target}-{name}.ptx"));
                std::fs::write(&file, &module).unwrap();
                let mut command = Command::new(&ptxas);
                // Unoptimised: what is asked is whether all is declared.
                command
                    .args(["-v", "-O0", "-arch", device, "-o"])
                    .arg(file.with_extension("cubin"))
                    .arg(&file);
                let output = command.output().unwrap();
                let report = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{target} {name}: {report}");
                let words: Vec<&str> = report.split_whitespace().collect();
                let found =
                    words.windows(3).find(|w| w[1..] == ["bytes", "smem,"] || w[1..] == ["bytes", "smem"]);
                let found: usize = found.map_or(0, |w| w[0].parse().unwrap());
                let sizes = module.lines().filter(|line| line.starts_with(".shared "));
                let sizes =
                    sizes.map(|line| line.split(['[', ']']).nth(1).unwrap().parse::<usize>().unwrap());
                let expected = sizes.fold(0_usize, |sum, size| sum.next_multiple_of(16) + size);
                assert_eq!(found, expected, "{target} {name}: {report}");
            });
        }
    }
}
