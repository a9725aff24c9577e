//! Instructions that not every version of PTX and not every target has, and that LLVM does not know of,
//! because they are inline assembly.

use crate::error::BuildError;
use crate::ptx::compute_capability;

/// What an instruction needs, by the notes of the PTX ISA.
struct Newer {
    /// How it begins.
    name: &'static str,
    /// The version of PTX that has it.
    version: (u32, u32),
    /// The oldest target.
    target: (u32, u32),
}

const fn newer(name: &'static str, version: (u32, u32), target: (u32, u32)) -> Newer {
    Newer { name, version, target }
}

/// Of two that fit, the later counts.
const NEWER: [Newer; 16] = [
    newer("nanosleep.", (6, 2), (7, 0)),
    newer("activemask.", (6, 2), (7, 0)),
    newer("tanh.approx.", (7, 0), (7, 5)),
    newer("redux.sync.", (7, 0), (8, 0)),
    newer("cp.async.", (7, 0), (8, 0)),
    newer("mbarrier.", (7, 0), (8, 0)),
    newer("mma.sync.aligned.m8n8k4.row.col.f64.", (7, 0), (8, 0)),
    newer("mma.sync.aligned.m16n8k16.", (7, 0), (8, 0)),
    newer("mapa.", (7, 8), (9, 0)),
    newer("%cluster", (7, 8), (9, 0)),
    newer("barrier.cluster.", (7, 8), (9, 0)),
    newer("mbarrier.try_wait.", (7, 8), (9, 0)),
    newer("mbarrier.expect_tx.", (8, 0), (9, 0)),
    newer("fence.proxy.async.", (8, 0), (9, 0)),
    newer("griddepcontrol.", (7, 8), (9, 0)),
    newer("cp.async.bulk.", (8, 0), (9, 0)),
];

/// Says the version of PTX that inline assembly needs, where LLVM has written an older one.
pub(crate) fn raise_version(ptx: &str) -> String {
    let needed =
        instructions(ptx).filter_map(|(_, instruction)| Some(requirement(instruction)?.version)).max();
    let said = ptx.strip_prefix(".version ").and_then(|rest| rest.split_once('\n'));
    let version = said.and_then(|(version, _)| version.split_once('.'));
    let version = version.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    match (said, version, needed) {
        (Some((_, rest)), Some(version), Some(needed)) if version < needed => {
            format!(".version {}.{}\n{rest}", needed.0, needed.1)
        }
        _ => ptx.to_owned(),
    }
}

/// Refuses an instruction that the target does not have: `ptxas`, or the driver of whoever runs the program,
/// would refuse all kernels for it.
pub(crate) fn check(ptx: &str, arch: &str) -> Result<(), BuildError> {
    let Some(target) = compute_capability(arch) else { return Ok(()) };
    for (function, instruction) in instructions(ptx) {
        if let Some(Newer { target: (major, minor), .. }) = requirement(instruction)
            && (*major, *minor) > target
        {
            return Err(BuildError::Target {
                function: function.to_owned(),
                instruction: instruction.to_owned(),
                needed: format!("sm_{major}{minor}"),
                arch: arch.to_owned(),
            });
        }
    }
    Ok(())
}

fn requirement(instruction: &str) -> Option<&'static Newer> {
    NEWER.iter().rfind(|newer| instruction.starts_with(newer.name))
}

/// The instructions and the registers that they read, each with the function that it is in.
fn instructions(ptx: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut function = "";
    ptx.lines().flat_map(move |line| {
        if let Some(name) = function_of(line) {
            function = name;
        }
        // Inline assembly may have several in a line.
        let statements = line.split([';', '{', '}']);
        let words = statements.flat_map(|statement| {
            let mut words = statement.split_whitespace();
            let instruction = words.find(|word| !word.starts_with('@') && !word.ends_with(':'));
            instruction.into_iter().chain(words.filter(|word| word.starts_with('%')))
        });
        words.map(move |word| (function, word))
    })
}

/// The name in the first line of a function: ".visible .entry vadd(", or ".func  (.param .b32 result) f(".
fn function_of(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(".entry ").or_else(|| line.split_once(".func "))?;
    let rest = rest.trim_start();
    let rest =
        rest.strip_prefix('(').and_then(|result| result.split_once(')')).map_or(rest, |(_, name)| name);
    rest.trim_start().split('(').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_fits_the_instructions() {
        for (version, code, raised) in [
            ("6.0", "\tnanosleep.u32 5;", "6.2"),
            ("6.3", "activemask.b32 a;\n@%p1 tanh.approx.f32 b, c;", "7.0"),
            ("7.8", "\t{ .reg .u64 a; cp.async.bulk.commit_group; }", "8.0"),
            ("6.0", "add.s32", "6.0"),
            ("7.8", "activemask.b32", "7.8"),
            ("10.0", "mapa.u64", "10.0"),
        ] {
            let raise = raise_version(&format!(".version {version}\n{code}"));
            assert_eq!(raise, format!(".version {raised}\n{code}"));
        }
    }

    #[test]
    fn an_instruction_that_the_target_lacks_is_named_with_its_kernel() {
        let ptx = ".visible .entry first(\n)\n{\n\tret;\n}\n.func  (.param .b32 result) second(\n)\n\
                   {\n@%p1 tanh.approx.f32 a, b;\n}\n.visible .entry third()\n{\n{ .reg .u32 a; mov.u32 a, %cluster_ctarank; }\n}\n";
        assert!(check(ptx, "sm_90").is_ok());
        for (arch, parts) in [
            ("sm_70", ["second", "tanh.approx.f32", "needs sm_75", "sm_70"]),
            ("sm_80", ["third", "%cluster_ctarank", "needs sm_90", "sm_80"]),
        ] {
            let message = check(ptx, arch).unwrap_err().to_string();
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        }
    }
}
