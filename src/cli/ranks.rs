//! Ranks: threads of this process with --ranks, processes under mpirun or srun.

use std::sync::Arc;

use warpsolve::comm::launcher::{Launched, launched};
use warpsolve::comm::{Comm, Partitioning};
use warpsolve::job::ranks::work as work_on_ranks;
use warpsolve::job::{Device, Ranks};
use warpsolve::{Error, Result};

use super::cores::Cores;
use super::device::{self, DeviceName};
use super::load;
use super::output::warn;
use super::status::{FAILURE, SUCCESS};

/// This process among those of a launcher; `None` where there is none.
///
/// # Errors
/// [`Error::Option`] where this program was built without MPI: it would do the same job many times.
pub fn processes(launched: Option<&Launched>) -> Result<Option<Arc<dyn Comm>>> {
    launched.map(of_launcher).transpose()
}

#[cfg(feature = "mpi")]
fn of_launcher(launched: &Launched) -> Result<Arc<dyn Comm>> {
    let processes = warpsolve::mpi::Processes::start()?;
    if processes.size() == launched.size {
        return Ok(Arc::new(processes));
    }
    let (Launched { by, size, .. }, found) = (launched, processes.size());
    Err(Error::Option(format!(
        "{by} has started {size} processes, but this program's MPI knows of {found}: was it built for another MPI?"
    )))
}

#[cfg(not(feature = "mpi"))]
fn of_launcher(launched: &Launched) -> Result<Arc<dyn Comm>> {
    let Launched { by, size, .. } = launched;
    Err(Error::Option(format!(
        "{by} has started this program {size} times, and it was built without MPI: each would solve the same \
         system. With an MPI library and libclang (Debian: libopenmpi-dev libclang-dev) this installs one that \
         can: cargo install --path . --features mpi"
    )))
}

/// Threads of each of so many ranks of this process, where nobody has chosen them.
pub fn threads(ranks: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    (cores / ranks.max(1)).max(1)
}

/// How many processes of the launcher are on this machine, and which of them this is.
fn on_this_machine(comm: &dyn Comm) -> (usize, usize) {
    let of = |names: &[&str]| names.iter().find_map(|name| std::env::var(name).ok()?.trim().parse().ok());
    let sizes = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"];
    let ranks = ["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"];
    let of_slurm = || {
        let tasks = std::env::var("SLURM_STEP_TASKS_PER_NODE").ok()?;
        tasks_of_node(&tasks, of(&["SLURM_NODEID"])?)
    };
    (of(&sizes).or_else(of_slurm).unwrap_or(comm.size()), of(&ranks).unwrap_or(comm.rank()))
}

/// The tasks of a node, as Slurm lists them: 4 of node 1 in "4(x2),3".
fn tasks_of_node(tasks: &str, node: usize) -> Option<usize> {
    let mut behind = 0;
    for of_nodes in tasks.split(',') {
        let (count, nodes) = of_nodes.split_once("(x").unwrap_or((of_nodes, "1"));
        behind += nodes.trim_end_matches(')').parse::<usize>().ok()?;
        if node < behind {
            return count.parse().ok();
        }
    }
    None
}

/// The threads and the device of this process of a launcher: what was asked for, or its share of the cores;
/// of `cuda` the GPU that is its turn. Rank 0 warns where cores are left idle.
pub fn share(comm: &dyn Comm, name: DeviceName, threads: usize) -> (DeviceName, usize) {
    let (size, rank) = on_this_machine(comm);
    let chosen = if threads == 0 { threads_of_process(comm, size) } else { threads };
    (device_of(name, rank), chosen)
}

fn threads_of_process(comm: &dyn Comm, processes: usize) -> usize {
    let cores = Cores::here(processes);
    let launched = launched(|name| std::env::var(name).ok());
    let warning = launched.filter(|_| comm.rank() == 0).and_then(|launched| cores.warning(launched.by));
    warning.iter().for_each(|warning| warn(warning));
    cores.threads()
}

/// The device of a rank: `cuda` stands for all GPUs of the machine, in turn.
pub fn device_of(name: DeviceName, rank: usize) -> DeviceName {
    match name {
        DeviceName::Cuda(0) => DeviceName::Cuda((rank % device::gpus().max(1)) as u32),
        DeviceName::Gpus(gpus) => gpus.nth(rank),
        other => other,
    }
}

/// How many ranks there are to be: as many as were `asked` for, one for each GPU of several, or else one.
///
/// # Errors
/// [`Error::Option`] where the two are not the same.
pub fn count(asked: Option<usize>, name: DeviceName) -> Result<usize> {
    let DeviceName::Gpus(gpus) = name else { return Ok(asked.unwrap_or(1)) };
    let count = gpus.count();
    match asked {
        // Without a driver there is none, which is said when the first is opened.
        Some(ranks) if ranks != count && count > 0 => Err(Error::Option(format!(
            "--ranks {ranks} does not go with --device {gpus}: a rank for each of {count} GPUs"
        ))),
        _ => Ok(count.max(1)),
    }
}

/// The device and the threads of this rank, where there are to be so many: under a launcher its share of the
/// machine, and with ranks as threads of one process the threads of each.
///
/// # Errors
/// [`Error::Option`] where both a launcher and `--ranks` are to start some.
pub fn device_and_threads(
    comm: Option<&Arc<dyn Comm>>,
    ranks: usize,
    name: DeviceName,
    threads: usize,
) -> Result<(DeviceName, usize)> {
    match comm {
        Some(_) if ranks > 1 && !matches!(name, DeviceName::Gpus(_)) => {
            Err(Error::Option("--ranks is for one process; the launcher has started many".into()))
        }
        Some(comm) => Ok(share(&**comm, name, threads)),
        None if ranks > 1 && threads == 0 => Ok((name, self::threads(ranks))),
        None => Ok((name, threads)),
    }
}

/// Ranks as threads, of which the caller is the first.
pub fn start(size: usize, partitioning: Partitioning, name: DeviceName, threads: usize) -> Result<Ranks> {
    Ranks::threads(size, partitioning, move |rank| open(device_of(name, rank), threads))
}

/// A device for a rank of its own.
pub fn open(name: DeviceName, threads: usize) -> Result<Device> {
    match name {
        DeviceName::Cpu => warpsolve::backend::cpu::Cpu::new(threads).map(Device::Cpu),
        DeviceName::Sim => Device::simulator(),
        DeviceName::Cuda(ordinal) => Device::cuda(ordinal),
        DeviceName::Gpus(gpus) => open(gpus.nth(0), threads),
        DeviceName::Auto => match Device::cuda(0) {
            Err(Error::NoDevice(_)) => open(DeviceName::Cpu, threads),
            opened => opened,
        },
    }
}

/// What every process but the first does: it serves, and says nothing.
pub fn work(comm: &Arc<dyn Comm>, name: DeviceName, threads: usize) -> Result<u8> {
    let (name, threads) = share(&**comm, name, threads);
    load::start_threads(threads)?;
    // What went wrong is said by rank 0, or has ended all.
    Ok(if work_on_ranks(comm, || open(name, threads)) { SUCCESS } else { FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_counted_node_by_node() {
        let of = |node| tasks_of_node("4(x2),3", node);
        assert_eq!([0, 1, 2, 3].map(of), [Some(4), Some(4), Some(3), None]);
        assert_eq!([tasks_of_node("16", 0), tasks_of_node("many", 0)], [Some(16), None]);
    }
}
