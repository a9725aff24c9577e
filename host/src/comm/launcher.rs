//! Launchers that start one program many times: mpirun, mpiexec, srun.

/// What launchers tell a process of how many there are, and which it is.
const SIZES: [(&str, &str, &str); 3] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "mpirun"),
    ("PMI_SIZE", "PMI_RANK", "mpiexec"),
    // Of the step: a program that a batch script runs without srun is one, whatever was allocated.
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"),
];

/// A launcher that has started this process as one of many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launched {
    /// Its name: "mpirun".
    pub by: &'static str,
    /// The number of processes.
    pub size: usize,
    /// This one, counted from 0.
    pub rank: usize,
}

/// The launcher, as the environment `variable` says; `None` where there is none, or it has started one
/// process.
pub fn launched(variable: impl Fn(&str) -> Option<String>) -> Option<Launched> {
    let number = |name: &str| variable(name)?.trim().parse().ok();
    let of = |&(size, rank, by): &(&str, &str, &'static str)| {
        Some(Launched { by, size: number(size)?, rank: number(rank).unwrap_or(0) })
    };
    SIZES.iter().filter_map(of).find(|launched| launched.size > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_their_variables() {
        let one = |name: &'static str, value: &'static str| {
            launched(move |asked: &str| (asked == name).then(|| value.to_string()))
        };
        assert_eq!(one("OMPI_COMM_WORLD_SIZE", "3"), Some(Launched { by: "mpirun", size: 3, rank: 0 }));
        assert_eq!(one("SLURM_STEP_NUM_TASKS", "8"), Some(Launched { by: "srun", size: 8, rank: 0 }));
        assert_eq!(one("PMI_SIZE", "1"), None);
        assert_eq!(one("PMI_SIZE", "many"), None);
        assert_eq!(one("PATH", "3"), None);
    }
}
