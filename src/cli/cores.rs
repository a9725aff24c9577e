//! The cores of a process of a launcher: its own where it was bound to some, else its share of the machine's.

use std::thread::available_parallelism;

/// What a process finds of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cores {
    /// Those that it may use.
    own: usize,
    /// Those that it and the others on this machine may use together.
    all: usize,
    /// The processes on this machine.
    processes: usize,
}

impl Cores {
    /// Those of this process, which is one of so many on this machine. What starts it may use more than it
    /// where it was bound to some of them. Slurm's daemon may use all of the machine, and says what the job
    /// may use.
    pub fn here(processes: usize) -> Cores {
        let own = available_parallelism().map_or(1, |n| n.get());
        let of_job = std::env::var("SLURM_CPUS_ON_NODE").ok().and_then(|cores| cores.trim().parse().ok());
        let mine = allowed("self");
        let of_parent = || allowed(&stated("self", "PPid:")?);
        let all = of_job.or_else(of_parent);
        // Fewer than it is bound to are all that a container gets.
        let all = all.filter(|_| mine.is_none_or(|mine| mine <= own)).unwrap_or(own);
        Cores { own, all: all.max(own), processes: processes.max(1) }
    }

    /// Threads of this process where nobody has chosen them.
    pub fn threads(self) -> usize {
        self.own.min(self.all / self.processes).max(1)
    }

    /// What to tell where the processes were bound to less than half of what there is.
    pub fn warning(self, launcher: &str) -> Option<String> {
        let Cores { own, all, processes } = self;
        let share = all / processes;
        let more = match launcher {
            "srun" => format!("--cpus-per-task={share} gives it more"),
            "mpirun" => format!("--bind-to none or --map-by slot:PE={share} gives it more"),
            _ => return None,
        };
        let cores = if own == 1 { "one core".into() } else { format!("{own} cores") };
        (2 * own <= share).then(|| {
            format!("{launcher} has bound each process to {cores} of the {all} that there are: {more}")
        })
    }
}

/// How many cores a process may use, as Linux says.
fn allowed(process: &str) -> Option<usize> {
    count(&stated(process, "Cpus_allowed_list:")?)
}

/// What the status of a process has behind a name.
fn stated(process: &str, name: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().into())
}

/// How many numbers a list has: 6 of "0-3,8,10".
fn count(list: &str) -> Option<usize> {
    let of_range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        (last + 1).checked_sub(first)
    };
    list.split(',').map(of_range).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_counted() {
        assert_eq!(["7", "0-3,8,10", "0-127"].map(count), [Some(1), Some(6), Some(128)]);
        assert_eq!(["", "3-", "5-3", "a"].map(count), [None; 4]);
    }

    #[test]
    fn a_process_uses_what_is_its_own() {
        let of = |own, all, processes| Cores { own, all, processes };
        // Not bound, bound to a part of its own each, two to one part, and too many.
        let threads = [of(64, 64, 2), of(4, 64, 2), of(32, 64, 4), of(2, 2, 5)].map(Cores::threads);
        assert_eq!(threads, [32, 4, 16, 1]);
    }

    #[test]
    fn cores_that_are_left_idle_are_told() {
        let of = |own, processes| Cores { own, all: 64, processes };
        let told = of(1, 2).warning("mpirun").unwrap();
        assert!(told.contains("to one core of the 64") && told.contains("--map-by slot:PE=32"), "{told}");
        assert!(of(8, 4).warning("srun").unwrap().contains("--cpus-per-task=16"));
        assert_eq!(
            [of(1, 64), of(32, 2), of(64, 2)].map(|cores| cores.warning("mpirun")),
            [const { None }; 3]
        );
    }
}
