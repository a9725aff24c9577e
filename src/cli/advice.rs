//! What to do about an error or a warning of the library, in the words of this program's options.

use warpsolve::Error;
use warpsolve::error::MeshFault;
use warpsolve::job::{Precision, Precond, Report, Warning};
use warpsolve::matrix::check;
use warpsolve::solver::StopReason;

/// The error, and what to do.
pub fn error(error: &Error) -> String {
    let advice = match error {
        Error::Diagonal { what: check::TOO_SMALL_FOR_F32, .. } => "use --precision f64".into(),
        Error::Diagonal { .. } => "use --precond ilu, which permutes the rows".into(),
        Error::Block { method, .. } => {
            let pseudo = if *method == "jacobi" { ", or --singular-blocks pseudo-inverse" } else { "" };
            format!("see whether the unknowns are numbered node by node, or use --block-size 1{pseudo}")
        }
        Error::Vanishes { .. } => "use --precision f64, or --scaling ruiz".into(),
        Error::Padding { advice, .. } => format!("use --format {advice}"),
        Error::NoDevice(_) => "--device cpu works without".into(),
        Error::DeviceMemory { .. } => {
            "use --device cpu, a smaller size or restart length, or a format with less padding".into()
        }
        Error::HostMemory { .. } => "use an iterative method, such as --precond amg".into(),
        Error::Threads { cores, most, .. } => format!("use --threads {cores}, at most {most}"),
        Error::Preconditioner { .. } => {
            "leave --precond out, or use --solver cg, gmres or bicgstab".to_string()
        }
        Error::Reach { .. } => "build the hierarchy on the host, --amg setup=host".into(),
        Error::MeshFault { fault, .. } => mesh_fault(*fault).into(),
        _ => return error.to_string(),
    };
    format!("{error}; {advice}")
}

fn mesh_fault(fault: MeshFault) -> &'static str {
    match fault {
        MeshFault::InsideOut => "--reorient swaps two nodes of each that is inside out",
        MeshFault::UnreferencedNodes => "--drop-unreferenced leaves them out",
        MeshFault::Components => "--largest-component leaves all but one out",
        MeshFault::NoFibres => {
            "give them with --fibres FILE, or use --isotropic, the same conductivity along and across"
        }
    }
}

/// The warning, and what to do.
pub fn warning(warning: &Warning) -> String {
    let advice = match warning {
        Warning::UnsymmetricMatrix { .. } | Warning::UnsymmetricCycle { .. } => {
            "use --solver gmres or bicgstab"
        }
        Warning::HierarchyInF32 => "try --amg precision=f64",
        Warning::HierarchyInF64 { failure: None, .. } => "--amg precision=f64 spares the first attempt",
        _ => return warning.to_string(),
    };
    format!("{warning}; {advice}")
}

/// Why a solve stopped, and what to do.
pub fn stop(report: &Report) -> String {
    let reason = report.outcome.reason;
    let advice = match (reason, report.method.description().after_breakdown) {
        (StopReason::IndefiniteOperator, _) => "use --solver minres or gmres".into(),
        (StopReason::IndefinitePreconditioner, _) => match report.precond {
            Precond::JacobiSweeps => {
                "use an odd number of --sweeps where it is even, a smaller --omega, or --solver gmres or bicgstab"
                    .into()
            }
            // That is the diagonal, which is positive where the matrix is definite.
            Precond::Jacobi => "nor is the matrix then; use --solver gmres or bicgstab".into(),
            _ => "use --solver gmres or bicgstab, or with a positive definite matrix --precond none".into(),
        },
        (StopReason::Diverged, _) => match report.method.description().takes_parameter("omega") {
            true => "use a smaller --omega, or --solver cg or gmres".into(),
            false => "use --solver cg or gmres with --precond amg".into(),
        },
        (StopReason::Breakdown(_) | StopReason::Stagnated, _) if report.precision == Precision::F32 => {
            "use --precision f64".into()
        }
        (StopReason::Breakdown(_), Some(other)) => format!("try --solver {other}"),
        (StopReason::Inaccurate { .. }, _) => match report.precision {
            Precision::F32 => "use --precision f64, or a larger --rtol".into(),
            Precision::F64 => "use a larger --rtol; is the matrix singular, or ill-conditioned?".into(),
        },
        _ => return reason.to_string(),
    };
    format!("{reason}; {advice}")
}
