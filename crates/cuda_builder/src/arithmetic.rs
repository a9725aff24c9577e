//! What the arithmetic of f32 may give away for speed. Where nothing is asked for it is IEEE's, as in the
//! simulator.

/// The options of `nvcc` that `--use_fast_math` stands for, but for functions by approximation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Arithmetic {
    /// Subnormal numbers count as zero.
    pub ftz: bool,
    /// Square roots are approximations.
    pub fast_sqrt: bool,
    /// Quotients are approximations.
    pub fast_div: bool,
    /// A product and a sum become one instruction with one rounding, of f64 too.
    pub fma_contraction: bool,
}

impl Arithmetic {
    /// Arguments of rustc.
    pub fn code(self) -> Vec<&'static str> {
        let arguments = [
            (self.fast_sqrt, "-Cllvm-args=-nvptx-prec-sqrtf32=0"),
            (self.fast_div, "-Cllvm-args=-nvptx-prec-divf32=0"),
            (self.fma_contraction, "-Cllvm-args=-nvptx-fma-level=2"),
        ];
        arguments.into_iter().filter(|(wanted, _)| *wanted).map(|(_, argument)| argument).collect()
    }

    /// The PTX with what rustc has no argument for.
    pub fn apply(self, ptx: String) -> String {
        if self.ftz { flush(&ptx) } else { ptx }
    }
}

/// Instructions that can take subnormal numbers for zero.
const FLUSHING: [&str; 18] = [
    "add", "sub", "mul", "fma", "div", "min", "max", "abs", "neg", "rcp", "sqrt", "rsqrt", "sin", "cos",
    "lg2", "ex2", "setp", "set",
];
/// Modifiers that stand behind `.ftz`.
const BEHIND: [&str; 3] = ["sat", "NaN", "xorsign"];

/// Lets every instruction for f32 flush subnormal numbers to zero, as `nvcc -ftz=true` does.
fn flush(ptx: &str) -> String {
    let mut flushed = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        let instruction = line.split_whitespace().find(|word| !word.starts_with('@') && !word.ends_with(':'));
        match instruction.and_then(|word| Some((word, with_ftz(word)?))) {
            Some((word, with)) => flushed.push_str(&line.replacen(word, &with, 1)),
            None => flushed.push_str(line),
        }
        flushed.push('\n');
    }
    flushed
}

/// The name of an instruction with `.ftz`, if it is one that can have it and does not.
fn with_ftz(name: &str) -> Option<String> {
    let parts: Vec<&str> = name.split('.').collect();
    let (types, first) = match parts[0] {
        "cvt" => (2, parts.len().checked_sub(2)?),
        operation if FLUSHING.contains(&operation) => (1, parts.len() - 1),
        _ => return None,
    };
    let fits = match &parts[parts.len() - types..] {
        ["f32"] => parts.len() > 1,
        [to, from] => [*to, *from].iter().all(|t| ["f32", "f64"].contains(t)) && to != from,
        _ => false,
    };
    if !fits || parts.contains(&"ftz") {
        return None;
    }
    let at = parts.iter().position(|part| BEHIND.contains(part)).unwrap_or(first);
    Some([&parts[..at], &["ftz"], &parts[at..]].concat().join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ftz_stands_where_ptx_wants_it() {
        for (without, with) in [
            ("add.rn.f32", "add.rn.ftz.f32"),
            ("fma.rn.f32", "fma.rn.ftz.f32"),
            ("setp.lt.f32", "setp.lt.ftz.f32"),
            ("min.NaN.f32", "min.ftz.NaN.f32"),
            ("add.rn.sat.f32", "add.rn.ftz.sat.f32"),
            ("cvt.f64.f32", "cvt.ftz.f64.f32"),
            ("cvt.rn.f32.f64", "cvt.rn.ftz.f32.f64"),
        ] {
            assert_eq!(with_ftz(without).as_deref(), Some(with));
        }
        let others =
            "add.rn.f64 add.rn.ftz.f32 ld.global.f32 mov.f32 cvt.rn.f32.s32 selp.f32 atom.add.f32 add.s32";
        for name in others.split(' ') {
            assert_eq!(with_ftz(name), None);
        }
    }

    #[test]
    fn other_text_stays() {
        let ptx =
            "$L__BB0_1:\n\t@%p1 bra $L__BB0_2;\n\tadd.rn.f32 \t%f1, %f2, %f3;\n@%p2 neg.f32 a, b;\nret;\n";
        let flushed = "$L__BB0_1:\n\t@%p1 bra $L__BB0_2;\n\tadd.rn.ftz.f32 \t%f1, %f2, %f3;\n\
                       @%p2 neg.ftz.f32 a, b;\nret;\n";
        assert_eq!(flush(ptx), flushed);
        assert_eq!(Arithmetic::default().apply(ptx.into()), ptx);
    }
}
