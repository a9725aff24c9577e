//! The figures of the source documents.
//!
//! S. Rosenberger, G. Haase: GPU Parallelization for Unstructured Sparse Matrix Problems with OpenMP 4.5 and
//! OpenACC, SFB-Report 2017-010: 862,515 unknowns, a GeForce GTX 1060 (192 GB/s) and an i7-7700; CG and GMRES
//! to a relative error of 1e-5. Their "SELL-C-sigma" pads all rows to the longest: ELLPACK here. Their
//! "reduced" one pads within a slice: SELL here.

use warpsolve::job::loops::Loops;
use warpsolve::job::ranks::exchange::Update;
use warpsolve::matrix::Format;

use super::report::Published;

/// Unknowns of their systems.
pub const UNKNOWNS: usize = 862_515;
/// The report above.
pub const REPORT: &str = "Rosenberger and Haase, SFB-Report 2017-010";
/// Another report of theirs, on a system of the same size, for threads of the host.
pub const ELASTICITY: &str = "for CG with Jacobi SFB-Report 2017-004 on elasticity, section 7";
const OPENACC: &str = "OpenACC, GTX 1060";
const OPENMP: &str = "OpenMP 4.5, GTX 1060";
const HOST: &str = "i7-7700";

fn pair(acc: (f64, f64), mp: (f64, f64), details: Option<[&str; 2]>) -> Vec<Published> {
    let of = |k: usize, by: &str, (seconds, deviation): (f64, f64)| Published {
        by: by.into(),
        seconds,
        deviation: Some(deviation),
        detail: details.map(|details| details[k].into()),
    };
    vec![of(0, OPENACC, acc), of(1, OPENMP, mp)]
}

/// Section 4.1: a scalar product that the host reads.
pub fn dot() -> Vec<Published> {
    let details = [
        "2002 copies in 1000 calls; 13 and 12 registers, grid 6739 and 1, block 128 and 256",
        "6002 copies in 1000 calls; 70 registers, grid 30 x 8, block 30",
    ];
    pair((129e-6, 31e-6), (701e-6, 115e-6), Some(details))
}

/// Sections 5.1 and 6.1: a product in a format.
pub fn spmv(format: Format) -> Vec<Published> {
    let mp = "registers 70, block 32 x 28";
    match format {
        Format::Crs => {
            let acc = "11 copies in 1000 calls; 32 registers, grid 6739, block 128";
            pair((3.03e-3, 0.05e-3), (7.77e-3, 0.12e-3), Some([acc, &format!("6011 copies; {mp}, grid 10")]))
        }
        Format::Ell => {
            let acc = "9 copies in 1000 calls; 32 registers, grid 6739, block 128";
            pair((2.23e-3, 0.03e-3), (26.77e-3, 0.4e-3), Some([acc, &format!("6009 copies; {mp}, grid 30")]))
        }
        _ => Vec::new(),
    }
}

/// Which solve of sections 7.1 and 7.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solve {
    CgJacobi,
    GmresJacobi,
    CgAmg,
    GmresAmg,
}

/// Sections 7.1 and 7.2: a solve in a format.
// One of the times looks like 1 / pi.
#[allow(clippy::approx_constant)]
pub fn solve(solve: Solve, format: Format) -> Vec<Published> {
    let (acc, mp) = match (solve, format) {
        (Solve::CgJacobi, Format::Crs) => ((1.58, 0.01), (4.82, 0.08)),
        (Solve::CgJacobi, Format::Ell) => ((1.33, 0.01), (11.27, 0.12)),
        (Solve::CgJacobi, Format::Sell) => ((0.94, 0.008), (9.38, 0.07)),
        (Solve::GmresJacobi, Format::Crs) => ((8.73, 0.07), (44.62, 0.58)),
        (Solve::GmresJacobi, Format::Ell) => ((8.55, 0.08), (60.62, 3.27)),
        (Solve::GmresJacobi, Format::Sell) => ((8.46, 0.08), (56.94, 1.53)),
        (Solve::CgAmg, Format::Crs) => ((0.396, 0.011), (1.61, 0.17)),
        (Solve::CgAmg, Format::Ell) => ((0.322, 0.008), (2.93, 0.03)),
        (Solve::CgAmg, Format::Sell) => ((0.221, 0.01), (2.29, 0.02)),
        (Solve::GmresAmg, Format::Crs) => ((0.380, 0.011), (1.19, 0.04)),
        (Solve::GmresAmg, Format::Ell) => ((0.318, 0.009), (2.57, 0.03)),
        (Solve::GmresAmg, Format::Sell) => ((0.230, 0.011), (2.16, 0.02)),
        _ => return Vec::new(),
    };
    pair(acc, mp, None)
}

/// Section 7.3, AMG on threads of the host; and for CG with Jacobi, section 7 of the same authors' SFB-Report
/// 2017-004, "OpenACC and CUDA parallelization for the Elasticity Problem in CARP": as many unknowns, but
/// another matrix.
pub fn on_threads(solve: Solve, threads: usize) -> Vec<Published> {
    let of = |by: &str, seconds, deviation| Published { by: by.into(), seconds, deviation, detail: None };
    let found = |list: &[(usize, f64, f64)]| {
        let row = list.iter().find(|row| row.0 == threads)?;
        Some(of(HOST, row.1, Some(row.2).filter(|d| *d > 0.0)))
    };
    let published = match solve {
        Solve::CgAmg => {
            found(&[(1, 1.89, 0.20), (2, 1.29, 0.02), (4, 1.09, 0.02), (6, 0.95, 0.01), (8, 0.95, 0.02)])
        }
        Solve::GmresAmg => {
            found(&[(1, 1.87, 0.18), (2, 1.14, 0.05), (4, 0.95, 0.01), (6, 0.98, 0.01), (8, 0.99, 0.02)])
        }
        Solve::CgJacobi => found(&[(1, 9.60, 0.0), (2, 6.22, 0.0), (4, 5.70, 0.0), (8, 24.5, 0.0)]),
        Solve::GmresJacobi => None,
    };
    published.into_iter().collect()
}

/// S. Rosenberger, G. Haase: OpenACC and CUDA parallelization for the Elasticity Problem in CARP, SFB-Report
/// 2017-004, section 7: 862,515 unknowns of an elastic body, on the same machine.
pub const SECTION_7: &str = "Rosenberger and Haase, SFB-Report 2017-004, section 7";

/// Section 8.4 of the same: sweeps of block Jacobi on a bidomain system whose size is not given.
pub const SECTION_8_4: &str = "Rosenberger and Haase, SFB-Report 2017-004, section 8.4";

/// Section 8.4: 100 runs of which way to write the loops.
pub fn loops(way: Loops) -> Vec<Published> {
    let (number, of_100) = match way {
        Loops::InLoop => (1, 10.26),
        Loops::Shared => (2, 11.00),
        Loops::NoPrefetch => (3, 10.09),
        Loops::Private => (4, 10.08),
    };
    let detail = format!("way {number}: 100 runs in {of_100:.2} s");
    vec![Published { by: "OpenMP".into(), seconds: of_100 / 100.0, deviation: None, detail: Some(detail) }]
}

/// Where the programs are from: C, E and D of the source documents.
pub const TUTORIALS: &str = "Deakin, McIntosh-Smith and Mattson, SC21 tutorial (heat); slides of an OpenACC \
    workshop, exercises 1 and 2 (laplace); Farber, The OpenACC execution model, tables 3 and 4 \
    (modified-gram-schmidt)";

/// A program as the table calls it, by threads of the host, or on a GPU (`None`).
pub fn program(work: &str, threads: Option<usize>) -> Vec<Published> {
    let of = |by: &str, seconds, detail: &str| Published {
        by: by.into(),
        seconds,
        deviation: None,
        detail: Some(detail.to_string()).filter(|detail| !detail.is_empty()),
    };
    let openmp = |list: &[(usize, f64)], detail| {
        let row = list.iter().find(|row| Some(row.0) == threads);
        row.map(|row| of("OpenMP", row.1, detail)).into_iter().collect()
    };
    match (work, threads) {
        ("heat 8000 10, loops as written", None) => vec![of("OpenMP target", 0.161998, "")],
        ("heat 8000 10, loops as written, copied in every step", None) => {
            vec![of("OpenMP target", 4.589534, "")]
        }
        ("laplace 1000", None) => vec![of("OpenACC", 1.5, "")],
        ("laplace 1000", _) => openmp(&[(1, 18.0), (2, 9.4), (4, 4.7), (8, 2.5), (16, 1.4), (28, 0.9)], ""),
        ("laplace 1000, copied in every step", None) => vec![of("OpenACC", 29.0, "")],
        ("laplace 10000", None) => vec![of("OpenACC", 103.0, "")],
        ("laplace 10000", _) => openmp(&[(1, 2187.0), (16, 183.0), (28, 162.0)], ""),
        ("modified-gram-schmidt 1000 1000, transposed before and after", None) => {
            vec![of("OpenACC", 0.227207, "")]
        }
        ("modified-gram-schmidt 1000 1000, transposed before and after", _) => {
            openmp(&[(1, 2.39342), (4, 0.75971)], "")
        }
        ("modified-gram-schmidt 1000 1000, where it lies", None) => {
            vec![of("OpenACC", 1.44388, "modified-gram-schmidt 1000 1000, where it lies: first 1.66707 s")]
        }
        ("modified-gram-schmidt 1000 1000, where it lies", _) => openmp(&[(1, 9.22192), (4, 2.92685)], ""),
        ("modified-gram-schmidt 5000 5000, transposed before and after", None) => {
            vec![of("OpenACC", 11.0075, "modified-gram-schmidt 5000 5000: 10.4265 s with sums in f32")]
        }
        ("modified-gram-schmidt 5000 5000, transposed before and after", _) => openmp(&[(4, 87.3252)], ""),
        _ => Vec::new(),
    }
}

/// Another section of SFB-Report 2017-004: kernels in CUDA in a program with OpenACC.
pub const SECTION_4: &str = "Rosenberger and Haase, SFB-Report 2017-004, section 4.2: a simulation of 10 us on \
    a GTX 680, of which the solver is a part";

/// In which language a kernel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Cuda,
    Rust,
}

impl Language {
    /// As a report calls it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Cuda => "CUDA C++",
            Language::Rust => "Rust",
        }
    }
}

/// Section 4.2: a simulation with each kind of kernels.
pub fn native(language: Language) -> Vec<Published> {
    let of = |by: &str, seconds| Published { by: by.into(), seconds, deviation: None, detail: None };
    match language {
        Language::Cuda => vec![of("CUDA and OpenACC", 235.6), of("CUDA", 106.9)],
        Language::Rust => vec![of("OpenACC", 239.0)],
    }
}

/// Section 7, the host by threads.
pub fn elasticity_on_threads(solve: Solve, threads: usize) -> Vec<Published> {
    let times = match solve {
        Solve::CgJacobi => [(1, 9.60), (2, 6.22), (4, 5.70), (8, 24.5)],
        Solve::CgAmg => [(1, 2.47), (2, 1.40), (4, 1.15), (8, 4.60)],
        _ => return Vec::new(),
    };
    let found = times.into_iter().find(|(n, _)| *n == threads);
    let of =
        |(_, seconds)| Published { by: "OpenMP, i7-7700".into(), seconds, deviation: None, detail: None };
    found.map(of).into_iter().collect()
}

/// Section 7, the device: OpenACC in CRS and interleaved ELLPACK, and an older program in CUDA, of which the
/// factor over one thread is given.
pub fn elasticity(solve: Solve, format: Format) -> Vec<Published> {
    let (crs, ell, one_thread, factor) = match solve {
        Solve::CgJacobi => (2.80, 2.60, 9.60, 8.6),
        Solve::CgAmg => (1.05, 0.46, 2.47, 9.2),
        _ => return Vec::new(),
    };
    let of = |by: &str, seconds, detail| Published { by: by.into(), seconds, deviation: None, detail };
    match format {
        Format::Crs => vec![of(OPENACC, crs, None)],
        Format::Ell => {
            let detail = format!("{factor} times as fast as one thread, which took {one_thread} s");
            vec![of(OPENACC, ell, None), of("CUDA, GTX 1060", one_thread / factor, Some(detail))]
        }
        _ => Vec::new(),
    }
}

/// Another section of that report: copies of vectors between host and device, which an exchange between two
/// threads needs.
pub const SECTION_5: &str = "Rosenberger and Haase, SFB-Report 2017-004, section 5";

/// Section 5: the copies of one thread to the host and back, of 89,230 exchanges, for one of them.
pub fn exchange(update: Update) -> Vec<Published> {
    let (copied, seconds) = match update {
        Update::Nothing => return Vec::new(),
        Update::Shared => ("shared nodes", (1.363385 + 1.401693) / 89_230.0),
        Update::Whole => ("whole vectors", (15.509566 + 15.231985) / 89_230.0),
    };
    let detail = Some(format!("the copies alone, of {copied}; 2 threads"));
    vec![Published { by: "OpenACC".into(), seconds, deviation: None, detail }]
}
